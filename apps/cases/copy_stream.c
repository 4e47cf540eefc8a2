/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream that copies, by transforms of one point: the library's own way to a device and back. */
#include "copy_stream.h"

#include "peers/peers.h"

#include <penstock/fft_stream.h>

#include <stdlib.h>
#include <string.h>

struct copy {
    penstock_stream *stream;
    const penstock_cf32 *in;
    penstock_cf32 *out;
    size_t samples;
};

static int pull(struct copy *copy, bool wait, size_t *count)
{
    size_t got = 0;
    int status;
    do {
        size_t room = copy->samples - *count;
        room = room < SCHEDULER_CHUNK ? room : SCHEDULER_CHUNK;
        status = penstock_stream_pull(copy->stream, copy->out + *count, room, wait, &got);
        *count += got;
    } while (!status && got);
    return status;
}

static int run(void *state)
{
    struct copy *copy = state;
    size_t done = 0, count = 0, taken = 0;
    int status = penstock_stream_reset(copy->stream);
    for (; !status && done < copy->samples; done += taken) {
        size_t left = copy->samples - done, chunk = left < SCHEDULER_CHUNK ? left : SCHEDULER_CHUNK;
        if (!(status = penstock_stream_push(copy->stream, copy->in + done, chunk, &taken)))
            status = pull(copy, false, &count);
    }
    if (!status && !(status = penstock_stream_finish(copy->stream)))
        status = pull(copy, true, &count);
    if (status)
        return fail_status(status);
    return count == copy->samples ? EXIT_DONE : fail(EXIT_DATA, "%zu samples of %zu were copied", count, copy->samples);
}

/* Once, and what came is what went. */
static int check(struct copy *copy)
{
    int code = run(copy);
    if (!code && memcmp(copy->in, copy->out, copy->samples * sizeof *copy->in))
        code = fail(EXIT_DATA, "the stream that copies changed the samples");
    return code;
}

int copy_stream_bench(struct bench_row *row, const struct case_target *target, const struct workload *ours,
                      const void *samples, size_t count)
{
    static const struct peer plain_copy = {.name = "copy", .version = penstock_version};
    struct copy copy = {.in = samples, .samples = count, .out = malloc(count * sizeof *copy.out)};
    int status = copy.out ? penstock_fft_stream_open(&copy.stream, target->context, &PENSTOCK_FFT_STREAM_DESC(.n = 1),
                                                     target->device)
                          : PENSTOCK_ERR_MEMORY;
    int code = status ? bench_status(row, status) : check(&copy);
    row->peer = &plain_copy;
    if (!code)
        code = bench_measure(row, ours, &(struct workload){run, &copy}, 1);
    penstock_stream_free(copy.stream);
    free(copy.out);
    return code;
}
