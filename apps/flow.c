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

enum { LEAST_BYTES = 1 << 19, BYTES_EACH = 1 << 20, MOST_BYTES = 1 << 23 }; /* of a block; a processor's share */

struct passage {
    const struct flow *flow;
    atomic_ullong total; /* samples that were read */
    int code;            /* of the source; told */
};

size_t flow_most_bytes(void)
{
    const size_t bytes = (size_t)usable_cpus() * BYTES_EACH;
    return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

bool flow_blocks_init(struct flow_blocks *blocks, penstock_source *source, penstock_format format)
{
    const size_t most = flow_most_bytes();
    *blocks = (struct flow_blocks){.source = source,
                                   .samples = malloc(most),
                                   .sample_bytes = penstock_format_bytes(format),
                                   .bytes = LEAST_BYTES,
                                   .most = most};
    return blocks->samples;
}

int flow_blocks_read(struct flow_blocks *blocks, size_t *count)
{
    const double moment_s = 0.02, long_s = 0.1,
                 took_s = blocks->since_s > 0 ? seconds_now() - blocks->since_s : moment_s;
    if (took_s < moment_s)
        blocks->bytes = 2 * blocks->bytes < blocks->most ? 2 * blocks->bytes : blocks->most;
    else if (took_s > long_s && blocks->bytes > LEAST_BYTES)
        blocks->bytes /= 2;
    int status = penstock_source_read(blocks->source, blocks->samples, blocks->bytes / blocks->sample_bytes, count);
    blocks->since_s = seconds_now();
    return status;
}

void flow_blocks_free(struct flow_blocks *blocks)
{
    free(blocks->samples);
    blocks->samples = NULL;
}

int flow_nothing_read(void)
{
    return interrupted() ? fail(EXIT_DONE, "interrupted before a sample was read: nothing is written")
                         : fail(EXIT_DATA, "the input has no whole sample: nothing is written");
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
static int read_all(struct passage *p, const penstock_source_info *info, struct flow_blocks *blocks)
{
    size_t count = 0;
    int status;
    progress_begin_samples((double)info->total_samples, info->rate_hz);
    while (!(status = flow_blocks_read(blocks, &count)) && count) {
        if ((status = push_all(p->flow, blocks->samples, count, blocks->sample_bytes)))
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
        return p->code ? p->code : flow_nothing_read();
    int code = p->flow->conclude(p->flow->owner, p->code);
    return p->code ? p->code : code;
}

int flow_run(const struct flow *flow)
{
    struct passage p = {.flow = flow};
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    struct flow_blocks blocks;
    int status = penstock_source_get_info(flow->source, &info);
    if (status)
        return fail_status(status);
    if (!flow_blocks_init(&blocks, flow->source, info.format))
        return fail(EXIT_DATA, "out of memory");
    interrupt_conclude_by(conclude, &p, EXIT_DONE);
    interrupt_watch(flow->source);
    status = read_all(&p, &info, &blocks);
    if (!status && !(status = flow->finish(flow->owner)))
        status = flow->pull(flow->owner, true);
    interrupt_watch(NULL);
    progress_clear();
    int code = status ? outfile_fail(status) : interrupt_conclude(conclude, &p);
    interrupt_conclude_by(NULL, NULL, code);
    flow_blocks_free(&blocks);
    return code;
}
