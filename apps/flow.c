/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "flow.h"

#include "shared/command.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "shared/targets.h"

#include <stdatomic.h>
#include <stdlib.h>

struct passage {
    const struct flow *flow;
    atomic_ullong total; /* samples that were read */
    int code;            /* of the source; told */
};

size_t flow_most_bytes(void)
{
    enum { EACH = 1 << 20, MOST = 1 << 23 };
    const size_t bytes = (size_t)usable_cpus() * EACH;
    return bytes < MOST ? bytes : MOST;
}

size_t flow_next_block(size_t bytes, double took_s, size_t most)
{
    const double moment_s = 0.02, long_s = 0.1;
    if (took_s < moment_s)
        return 2 * bytes < most ? 2 * bytes : most;
    return took_s > long_s && bytes > FLOW_FIRST_BYTES ? bytes / 2 : bytes;
}

static int push_all(const struct flow *flow, const char *next, size_t count, size_t sample_bytes)
{
    int status = PENSTOCK_OK;
    while (count && !status) {
        size_t taken = 0;
        status = flow->push(flow->owner, next, count, &taken);
        next += taken * sample_bytes;
        count -= taken;
        if (!status)
            status = flow->pull(flow->owner, false);
    }
    return status;
}

/* A status of the stream object and the outputs; of the source's failure p->code tells. */
static int read_all(struct passage *p, const penstock_source_info *info, void *samples, size_t most)
{
    const struct flow *flow = p->flow;
    const size_t sample_bytes = penstock_format_bytes(info->format);
    size_t count = 0, block = FLOW_FIRST_BYTES;
    int status;
    progress_begin_samples((double)info->total_samples, info->rate_hz);
    while (!(status = penstock_source_read(flow->source, samples, block / sample_bytes, &count)) && count) {
        const double began = seconds_now();
        if ((status = push_all(flow, samples, count, sample_bytes)))
            return status;
        block = flow_next_block(block, seconds_now() - began, most);
        p->total += count;
        progress_done((double)p->total, "%s", "");
    }
    if (status)
        p->code = fail_status(status);
    return PENSTOCK_OK;
}

static int conclude(void *passage)
{
    struct passage *p = passage;
    if (!p->total)
        return p->code ? p->code : fail(EXIT_DONE, "interrupted before a sample was read: nothing is written");
    int code = p->flow->conclude(p->flow->owner, p->code);
    return p->code ? p->code : code;
}

int flow_run(const struct flow *flow)
{
    struct passage p = {.flow = flow};
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    int status = penstock_source_get_info(flow->source, &info);
    if (status)
        return fail_status(status);
    const size_t most = flow_most_bytes();
    void *samples = malloc(most);
    if (!samples)
        return fail(EXIT_DATA, "out of memory");
    interrupt_conclude_by(conclude, &p, EXIT_DONE);
    interrupt_watch(flow->source);
    status = read_all(&p, &info, samples, most);
    if (!status && !(status = flow->finish(flow->owner)))
        status = flow->pull(flow->owner, true);
    interrupt_watch(NULL);
    progress_clear();
    int code = status ? outfile_fail(status) : interrupt_conclude(conclude, &p);
    interrupt_conclude_by(NULL, NULL, code);
    free(samples);
    return code;
}
