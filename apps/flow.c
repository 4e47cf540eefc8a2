/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "flow.h"

#include "shared/command.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"

#include <stdatomic.h>
#include <stdlib.h>

struct passage {
    const struct flow *flow;
    atomic_ullong total; /* samples that were read */
    int code;            /* of the source; told */
};

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
static int read_all(struct passage *p, const penstock_source_info *info, void *samples)
{
    const struct flow *flow = p->flow;
    const size_t sample_bytes = penstock_format_bytes(info->format);
    size_t count = 0;
    int status;
    progress_begin_samples((double)info->total_samples, info->rate_hz);
    while (!(status = penstock_source_read(flow->source, samples, FLOW_BYTES / sample_bytes, &count)) && count) {
        if ((status = push_all(flow, samples, count, sample_bytes)))
            return status;
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
    void *samples = malloc(FLOW_BYTES);
    if (!samples)
        return fail(EXIT_DATA, "out of memory");
    interrupt_conclude_by(conclude, &p, EXIT_DONE);
    interrupt_watch(flow->source);
    status = read_all(&p, &info, samples);
    if (!status && !(status = flow->finish(flow->owner)))
        status = flow->pull(flow->owner, true);
    interrupt_watch(NULL);
    progress_clear();
    int code = status ? outfile_fail(status) : interrupt_conclude(conclude, &p);
    interrupt_conclude_by(NULL, NULL, code);
    free(samples);
    return code;
}
