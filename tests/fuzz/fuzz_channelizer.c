/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Descriptions of filter banks, sensible or not, and samples. Each of ten 16-bit words is a field of the description;
 * the rest is cs8 samples. A bank is refused with a reason, or gives as many frames and samples as it says, the same in
 * other chunks.
 */
#include <penstock/penstock.h>

#include <stdlib.h>
#include <string.h>

#define WORDS       10
#define MOST_VALUES (1 << 18)
#define MOST_TAPS   4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static penstock_cf32 values[MOST_VALUES], others[MOST_VALUES];
static float taps[MOST_TAPS];
static size_t select_words[64];

static void must(bool condition)
{
    if (!condition)
        abort();
}

struct words {
    size_t channels, hop, tap_count, advance, delay, selected, chunk;
    bool tail, designed, twice;
};

static struct words read_words(const uint8_t *data)
{
    size_t w[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        w[i] = (size_t)data[2 * i] | (size_t)data[2 * i + 1] << 8;
    return (struct words){.channels = w[0] % 600,
                          .hop = w[1] % 700,
                          .tap_count = w[2] % (MOST_TAPS + 1),
                          .advance = w[3] % 5000,
                          .delay = w[4] % 9000,
                          .selected = w[5] % 65,
                          .chunk = w[6] % 3000 + 1,
                          .tail = w[7] & 1,
                          .designed = w[7] >> 1 & 1,
                          .twice = w[7] >> 2 & 1};
}

static size_t analyse(penstock_stream *bank, size_t kept, const uint8_t *samples, size_t count, size_t chunk,
                      penstock_cf32 *out)
{
    size_t room = MOST_VALUES / kept, made = 0, got = 1;
    must(!penstock_stream_reset(bank));
    for (size_t at = 0, taken; at < count; at += taken) {
        must(!penstock_stream_push(bank, samples + 2 * at, count - at < chunk ? count - at : chunk, &taken));
        must(!penstock_stream_pull(bank, out + made * kept, room - made, false, &got));
        must(taken || got || made == room);
        made += got;
        if (made == room)
            return made;
    }
    must(!penstock_stream_finish(bank));
    for (got = 1; got && made < room; made += got)
        must(!penstock_stream_pull(bank, out + made * kept, room - made, true, &got));
    return made;
}

static void analysis(penstock_context *context, const struct words *w, const uint8_t *samples, size_t count)
{
    penstock_stream *bank;
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    int status = penstock_channelizer_open(
        &bank, context,
        &PENSTOCK_CHANNELIZER_DESC(.channels = w->channels, .hop = w->hop, .taps = w->designed ? NULL : taps,
                                   .tap_count = w->tap_count, .select = w->selected ? select_words : NULL,
                                   .select_count = w->selected, .format = PENSTOCK_CS8, .advance = w->advance,
                                   .tail = w->tail),
        "cpu");
    must(!status == (bank != NULL) && (!status || *penstock_error_text()));
    if (status)
        return;
    must(!penstock_channelizer_get_info(bank, &info));
    size_t made = analyse(bank, info.kept, samples, count, w->chunk, values);
    size_t end = w->tail && count ? count + info.tap_count - 1 - w->advance : count;
    size_t expected = (end + info.hop - 1) / info.hop, room = MOST_VALUES / info.kept;
    must(made == (expected < room ? expected : room));
    must(analyse(bank, info.kept, samples, count, 1 + count / 3, others) == made);
    must(!memcmp(values, others, made * info.kept * sizeof *values));
    penstock_stream_free(bank);
}

static size_t synthesise(penstock_stream *bank, size_t frames, size_t kept, size_t chunk, penstock_cf32 *out)
{
    size_t made = 0, got = 1;
    must(!penstock_stream_reset(bank));
    for (size_t at = 0, taken; at < frames; at += taken) {
        size_t some = frames - at < chunk ? frames - at : chunk;
        must(!penstock_stream_push(bank, values + at * kept, some, &taken));
        must(!penstock_stream_pull(bank, out + made, MOST_VALUES - made, false, &got));
        must(taken || got || made == MOST_VALUES);
        made += got;
        if (made == MOST_VALUES)
            return made;
    }
    must(!penstock_stream_finish(bank));
    for (got = 1; got && made < MOST_VALUES; made += got)
        must(!penstock_stream_pull(bank, out + made, MOST_VALUES - made, true, &got));
    return made;
}

static void synthesis(penstock_context *context, const struct words *w, size_t count)
{
    static penstock_cf32 again[MOST_VALUES];
    penstock_stream *bank;
    penstock_synthesizer_info info = PENSTOCK_SYNTHESIZER_INFO;
    int status = penstock_synthesizer_open(
        &bank, context,
        &PENSTOCK_SYNTHESIZER_DESC(.channels = w->channels, .hop = w->hop, .taps = w->designed ? NULL : taps,
                                   .tap_count = w->tap_count, .delay = w->delay, .advance = w->advance,
                                   .select = w->selected ? select_words : NULL, .select_count = w->selected,
                                   .tail = w->tail),
        "cpu");
    must(!status == (bank != NULL) && (!status || *penstock_error_text()));
    if (status)
        return;
    must(!penstock_synthesizer_get_info(bank, &info));
    size_t frames = count / info.hop < MOST_VALUES / info.kept ? count / info.hop : MOST_VALUES / info.kept;
    size_t made = synthesise(bank, frames, info.kept, w->chunk, others);
    size_t end = !frames ? 0 : w->tail ? (frames - 1) * info.hop + info.tap_count : frames * info.hop;
    size_t expected = end > info.delay ? end - info.delay : 0;
    must(made == (expected < MOST_VALUES ? expected : MOST_VALUES));
    must(synthesise(bank, frames, info.kept, 1 + frames / 3, again) == made);
    must(!memcmp(others, again, made * sizeof *again));
    penstock_stream_free(bank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static penstock_context *context;
    if (size < 2 * WORDS)
        return 0;
    if (!context)
        must(!penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .cache_dir = "")));
    struct words w = read_words(data);
    for (size_t k = 0; k < MOST_TAPS; k++)
        taps[k] = (float)data[k % size] / 256;
    for (size_t c = 0; c < 64; c++)
        select_words[c] = w.twice ? data[c % size] : c;
    memset(values, 0, sizeof values);
    analysis(context, &w, data + 2 * WORDS, (size - 2 * WORDS) / 2);
    synthesis(context, &w, (size - 2 * WORDS) / 2);
    return 0;
}
