/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "flow.h"

#include "command.h"
#include "progress.h"

#include <stdlib.h>

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

static int read_all(const struct flow *flow, const penstock_source_info *info, void *samples)
{
    uint64_t total = 0;
    size_t count = 0;
    int status;
    while (!(status = penstock_source_read(flow->source, samples, FLOW_BLOCK, &count)) && count) {
        if ((status = push_all(flow, samples, count, penstock_format_bytes(info->format))))
            break;
        total += count;
        progress_show("%.3f s of signal", (double)total / info->rate_hz);
    }
    return status;
}

int flow_run(const struct flow *flow)
{
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    int status = penstock_source_get_info(flow->source, &info);
    if (status)
        return fail_status(status);
    void *samples = malloc(FLOW_BLOCK * penstock_format_bytes(info.format));
    if (!samples)
        return fail(EXIT_DATA, "out of memory");
    status = read_all(flow, &info, samples);
    free(samples);
    int code = status ? fail_status(status) : EXIT_DONE;
    if (!(status = flow->finish(flow->owner)))
        status = flow->pull(flow->owner, true);
    progress_clear();
    return code || !status ? code : fail_status(status);
}
