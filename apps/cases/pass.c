/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One pass of items through a stream. */
#include "pass.h"
#include "flow.h"
#include "lent.h"
#include "shared/random.h"

/* One channel after the other, from item `done` on. */
static void find_channels(const struct pass *pass, size_t done)
{
    const size_t value = pass->out_bytes / pass->channel_count;
    for (size_t c = 0; c < pass->channel_count; c++)
        pass->channels[c] = pass->out + (c * pass->room + done) * value;
}

static int pull_some(const struct pass *pass, bool wait, size_t done, size_t *got)
{
    const size_t room = pass->room - done;
    penstock_stream *last = pass->last ? pass->last : pass->stream;
    if (pass->acquire)
        return lent_pull(last, pass->random_chunk, pass->out + done * pass->out_bytes, room, wait, got);
    if (!pass->channels)
        return penstock_stream_pull(last, pass->out + done * pass->out_bytes, room, wait, got);
    find_channels(pass, done);
    return penstock_stream_pull_channels(last, pass->channels, room, wait, got);
}

static int pull(const struct pass *pass, bool wait, size_t *count)
{
    size_t got = 1;
    int status = PENSTOCK_OK;
    for (; !status && got && *count < pass->room; *count += got)
        status = pull_some(pass, wait, *count, &got);
    return status;
}

/* Items `done` on, of each channel. */
static int push_channels(const struct pass *pass, size_t done, size_t items, size_t *taken)
{
    const size_t value = pass->in_bytes / pass->channel_count;
    for (size_t c = 0; c < pass->channel_count; c++)
        pass->in_channels[c] = (const char *)pass->in + (c * pass->items + done) * value;
    return penstock_stream_push_channels(pass->stream, pass->in_channels, items, taken);
}

static int push_some(const struct pass *pass, size_t done, size_t items, size_t *taken, size_t *count)
{
    const char *from = (const char *)pass->in + done * pass->in_bytes;
    const size_t room = pass->room - *count;
    size_t given = 0;
    int status;
    if (pass->acquire)
        return lent_push(pass->stream, pass->random_chunk || !*pass->filled, from, items, taken);
    if (pass->in_channels)
        return push_channels(pass, done, items, taken);
    if (!pass->run)
        return penstock_stream_push(pass->stream, from, items, taken);
    if (pass->channels) {
        find_channels(pass, *count);
        status = penstock_stream_run_channels(pass->stream, from, items, taken, pass->channels, room, &given);
    } else {
        status =
            penstock_stream_run(pass->stream, from, items, taken, pass->out + *count * pass->out_bytes, room, &given);
    }
    *count += given;
    return status;
}

int pass_run(const struct pass *pass, size_t *count)
{
    size_t taken, chunk = flow_most_bytes() / pass->in_bytes + 1;
    uint64_t seed = 1;
    int status = penstock_stream_reset(pass->stream);
    *count = 0;
    for (size_t done = 0; !status && done < pass->items && *count < pass->room; done += taken) {
        size_t left = pass->items - done;
        if (pass->random_chunk)
            chunk = 1 + (size_t)(random_uniform(&seed) * (double)pass->random_chunk);
        left = left < chunk ? left : chunk;
        taken = 0;
        status = push_some(pass, done, left, &taken, count);
        if (!status && !pass->run)
            status = pull(pass, false, count);
    }
    *pass->filled = true;
    if (!status)
        status = penstock_stream_finish(pass->stream);
    return status ? status : pull(pass, true, count);
}
