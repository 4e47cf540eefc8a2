/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What every kind of stream does with a push that it cannot take at once: nothing is lost without a word, planar
 * samples are taken all or none, and any split gives the bits that interleaved samples give.
 */
#include "test.h"

#include <penstock/penstock.h>

enum { MOST = 5 << 20, LONGEST = 256, CHANNELS = 16, MANY_THREADS = 9 };

/* ---------------------------------------------------------------- the streams ----------------- */

enum kind { SPECTRUM, FILTER, FILTER_RUN, CHANNELIZER, KINDS };

static const char *const kind_names[] = {"spectrum", "filter", "filter by run", "channelizer"};

struct stream {
    enum kind kind;
    penstock_stream *spectrum;
    penstock_stream *filter;
    penstock_stream *channelizer;
    size_t item; /* floats of what is pulled */
    float *out;
    size_t capacity, pulled; /* floats */
};

static int make(struct stream *s, penstock_context *context, penstock_format format, const char *device)
{
    static float taps[33];
    CHECK_OK(penstock_taps_design(taps, 33, PENSTOCK_LOW_PASS, 0.1, 0, 60));
    if (s->kind == SPECTRUM) {
        s->item = LONGEST;
        return penstock_spectrum_open(&s->spectrum, context,
                                      &PENSTOCK_SPECTRUM_DESC(.n = LONGEST, .format = format, .average = 3,
                                                              .output = PENSTOCK_OUTPUT_POWER, .flush_partial = true),
                                      device);
    }
    if (s->kind == CHANNELIZER) {
        s->item = 2 * CHANNELS;
        return penstock_channelizer_open(
            &s->channelizer, context,
            &PENSTOCK_CHANNELIZER_DESC(.channels = CHANNELS, .hop = CHANNELS - 4, .format = format, .tail = true),
            device);
    }
    s->item = 2;
    return penstock_filter_open(&s->filter, context,
                                &PENSTOCK_FILTER_DESC(.format = format, .real_taps = taps, .tap_count = 33, .n = 256,
                                                      .decimation = 2, .shift = 0.01, .tail = true),
                                device);
}

static void free_stream(struct stream *s)
{
    penstock_stream_free(s->spectrum);
    penstock_stream_free(s->filter);
    penstock_stream_free(s->channelizer);
    free(s->out);
}

static int push(struct stream *s, const void *samples, size_t count, size_t *taken)
{
    size_t made = 0, room = s->capacity - s->pulled;
    if (s->kind == SPECTRUM)
        return penstock_stream_push(s->spectrum, samples, count, taken);
    if (s->kind == CHANNELIZER)
        return penstock_stream_push(s->channelizer, samples, count, taken);
    if (s->kind == FILTER || !taken)
        return penstock_stream_push(s->filter, samples, count, taken);
    int status = penstock_stream_run(s->filter, samples, count, taken, s->out + s->pulled,
                                     (room < 20000 ? room : 20000) / s->item, &made);
    s->pulled += made * s->item;
    return status;
}

/* Up to `most` items; how many came. */
static size_t pull(struct stream *s, size_t most)
{
    size_t count = 0, room = (s->capacity - s->pulled) / s->item;
    most = most < room ? most : room;
    float *to = s->out + s->pulled;
    if (s->kind == SPECTRUM)
        CHECK_OK(penstock_stream_pull(s->spectrum, to, most, false, &count));
    else if (s->kind == CHANNELIZER)
        CHECK_OK(penstock_stream_pull(s->channelizer, (penstock_cf32 *)(void *)to, most, false, &count));
    else
        CHECK_OK(penstock_stream_pull(s->filter, to, most, false, &count));
    s->pulled += count * s->item;
    return count;
}

static int finish(struct stream *s)
{
    return s->kind == SPECTRUM      ? penstock_stream_finish(s->spectrum)
           : s->kind == CHANNELIZER ? penstock_stream_finish(s->channelizer)
                                    : penstock_stream_finish(s->filter);
}

static uint64_t pushed(const struct stream *s)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    CHECK_OK(s->kind == SPECTRUM      ? penstock_stream_get_stats(s->spectrum, &stats)
             : s->kind == CHANNELIZER ? penstock_stream_get_stats(s->channelizer, &stats)
                                      : penstock_stream_get_stats(s->filter, &stats));
    return stats.in;
}

/* ---------------------------------------------------------------- splits ---------------------- */

static penstock_cf32 *samples;
static float *planes;

/* A push as the header says: what was not taken, after a pull. */
static void push_all(struct stream *s, size_t first, size_t count, bool planar, size_t most)
{
    for (size_t i = 0; i < count && planar; i++) {
        planes[i] = samples[first + i].re;
        planes[count + i] = samples[first + i].im;
    }
    for (size_t done = 0, taken; done < count; done += taken) {
        size_t left = count - done;
        CHECK_OK(push(s, planar ? (const void *)planes : samples + first + done, left, &taken));
        CHECK(!planar || taken == 0 || taken == left, "%s: %zu of a planar push of %zu", kind_names[s->kind], taken,
              left);
        if (taken < left && !pull(s, most) && !taken) {
            CHECK(s->kind == FILTER_RUN, "%s: neither takes nor gives", kind_names[s->kind]);
            if (test_failures)
                return;
        }
    }
}

/* All that `count` samples make, pushed in chunks of up to `longest`. */
static void make_all(struct stream *s, penstock_context *context, const char *device, bool planar, size_t count,
                     size_t longest, uint64_t seed)
{
    s->capacity = 2 * (size_t)MOST * 2;
    s->out = malloc(s->capacity * sizeof *s->out);
    CHECK_OK(make(s, context, planar ? PENSTOCK_PLANAR : PENSTOCK_CF32, device));
    for (size_t done = 0, some; done < count; done += some) {
        some = longest >= count ? count : 1 + test_random(&seed) % longest;
        some = some < count - done ? some : count - done;
        push_all(s, done, some, planar, 1 + test_random(&seed) % 5000);
    }
    CHECK_EQ(pushed(s), count);
    CHECK_OK(finish(s));
    while (pull(s, 5000))
        ;
}

/* Interleaved samples and planar ones, each in a context. */
static void splits_agree(penstock_context *context, penstock_context *planar_context, enum kind kind,
                         const char *device, size_t count, size_t longest, size_t planar_longest)
{
    struct stream planar = {.kind = kind}, other = {.kind = kind == FILTER_RUN ? FILTER : kind};
    make_all(&other, context, device, false, count, longest, 5);
    make_all(&planar, planar_context, device, true, count, planar_longest, planar_longest);
    CHECK(planar.pulled == other.pulled && planar.pulled > count / 10, "%s on %s: %zu values, %zu of interleaved",
          kind_names[kind], device, planar.pulled, other.pulled);
    size_t wrong = 0;
    for (size_t i = 0; i < planar.pulled && i < other.pulled; i++)
        wrong += planar.out[i] != other.out[i];
    CHECK(!wrong, "%s on %s, pushes of up to %zu: %zu of %zu values are others", kind_names[kind], device,
          planar_longest, wrong, planar.pulled);
    free_stream(&planar);
    free_stream(&other);
}

/* ---------------------------------------------------------------- refused --------------------- */

static void refused(int status, const char *what)
{
    CHECK(status == PENSTOCK_ERR_ARGUMENT && *penstock_error_text(), "%s returned %d: \"%s\"", what, status,
          penstock_error_text());
}

/* Without `taken` nothing is taken, and more than memory can have is an error. */
static void says_what_it_takes(penstock_context *context, enum kind kind, penstock_format format, const char *device)
{
    const size_t huge[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)1 << (sizeof(size_t) * 8 - 3)};
    struct stream s = {.kind = kind, .capacity = 2 * MOST, .out = malloc(2 * MOST * sizeof *s.out)};
    size_t taken;
    CHECK_OK(make(&s, context, format, device));
    refused(push(&s, samples, 1000, NULL), kind_names[kind]);
    CHECK_EQ(pushed(&s), 0);
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
        refused(push(&s, samples, huge[i], &taken), kind_names[kind]);
    CHECK_EQ(pushed(&s), 0);
    CHECK_OK(push(&s, samples, 1000, &taken));
    CHECK_EQ(taken, 1000);
    free_stream(&s);
}

static void vectors_and_frames(penstock_context *context, const char *device)
{
    const size_t huge = SIZE_MAX / 512;
    penstock_stream *stream = NULL;
    penstock_stream *synthesizer = NULL;
    const penstock_cf32 *streams[CHANNELS] = {samples};
    size_t taken;
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 128), device));
    refused(penstock_stream_push(stream, samples, 4, NULL), "fft stream");
    refused(penstock_stream_push(stream, samples, huge, &taken), "fft stream");
    penstock_stream_free(stream);
    CHECK_OK(penstock_synthesizer_open(&synthesizer, context,
                                       &PENSTOCK_SYNTHESIZER_DESC(.channels = CHANNELS, .hop = CHANNELS / 2), device));
    refused(penstock_stream_push(synthesizer, samples, 4, NULL), "synthesizer");
    refused(penstock_stream_push(synthesizer, samples, SIZE_MAX / 64, &taken), "synthesizer");
    refused(penstock_stream_push_channels(synthesizer, (const void *const *)streams, 4, &taken),
            "synthesizer with a stream NULL");
    for (size_t c = 0; c < CHANNELS; c++)
        streams[c] = samples;
    refused(penstock_stream_push_channels(synthesizer, (const void *const *)streams, 4, NULL), "synthesizer");
    penstock_stream_free(synthesizer);
}

/* Batches are longer and fewer for many threads. */
static void threads_agree(penstock_context *context)
{
    penstock_context *many = NULL;
    CHECK_OK(penstock_context_new(&many, &PENSTOCK_CONTEXT_DESC(.threads = MANY_THREADS)));
    for (enum kind kind = SPECTRUM; kind < KINDS; kind++) {
        splits_agree(many, context, kind, "cpu", MOST, MOST / 3, MOST);
        splits_agree(many, context, kind, "cpu", MOST / 8, 3000, 100000);
    }
    penstock_context_free(many);
}

/* Streams whose pushes take all. */
static void without_taken(penstock_context *context, const char *device)
{
    static const int32_t carriers[] = {1, 2, 3};
    penstock_stream *stream = NULL;
    penstock_stream *receiver = NULL;
    CHECK_OK(penstock_ofdm_stream_open(
        &stream, context,
        &PENSTOCK_OFDM_STREAM_DESC(.n = 16, .carriers = carriers, .carrier_count = 3, .continuous = 1), device));
    refused(penstock_stream_push(stream, samples, SIZE_MAX / 8, NULL), "ofdm stream");
    penstock_stream_free(stream);
    CHECK_OK(
        penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = PENSTOCK_CS16), device));
    refused(penstock_stream_push(receiver, samples, SIZE_MAX / 4, NULL), "receiver");
    penstock_stream_free(receiver);
}

static bool device_there(penstock_context *context, const char *device)
{
    size_t index;
    return !penstock_device_find(context, device, &index);
}

int main(void)
{
    static const char *const devices[] = {"cpu", "reference", "trace"};
    penstock_context *context = NULL;
    uint64_t seed = 11;
    unsigned ran = 0;
    samples = malloc(MOST * sizeof *samples);
    planes = malloc(2 * (size_t)MOST * sizeof *planes);
    for (size_t i = 0; i < MOST; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        if (!device_there(context, devices[d]))
            continue;
        ran++;
        for (enum kind kind = SPECTRUM; kind < KINDS; kind++) {
            splits_agree(context, context, kind, devices[d], d ? MOST / 16 : MOST, 7000, MOST); /* all at once */
            splits_agree(context, context, kind, devices[d], MOST / 16, 7000, 100000);
            splits_agree(context, context, kind, devices[d], MOST / 64, 7000, 300);
            says_what_it_takes(context, kind, PENSTOCK_CF32, devices[d]);
            says_what_it_takes(context, kind, PENSTOCK_PLANAR, devices[d]);
        }
        vectors_and_frames(context, devices[d]);
        without_taken(context, devices[d]);
    }
    threads_agree(context);
    CHECK(ran > 0, "no device");
    penstock_context_free(context);
    free(samples);
    free(planes);
    return test_finish();
}
