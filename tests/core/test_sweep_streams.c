/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Allocation k fails, for every k, in the life of a stream of each public kind at five sizes. An error has a text.
 * Either the stream was not opened; or the call is made again, and all results come, right and none twice; or a batch
 * failed, every call says so (penstock/stream.h), what came before is right, and after a reset all comes. Nothing
 * leaks. Usage: test_sweep_streams [DEVICE]
 */
#include "core/base/memory.h"
#include "wifi_frames.h"

#include <penstock/fec.h>
#include <penstock/penstock.h>

enum { LONGEST = 4096, ROOM = 1 << 21, PARTS = 3 };

/* What a stream gave: numbers that another way to compute them may change in their last bits, and bytes that it may
 * not. */
struct result {
    size_t floats, bytes;
    float number[ROOM];
    uint8_t byte[ROOM];
};

struct life {
    penstock_stream *stream;
    size_t items, in_bytes, out_bytes;
    int status, errors; /* the first one, and how many */
    struct result *to;
};

struct kind {
    const char *name;
    int (*open)(penstock_stream **stream, penstock_context *context, const char *device);
    size_t per_n, more; /* items: per_n * n + more */
    const void *from;
    int (*pull)(struct life *life, bool wait, size_t *given); /* NULL: items are floats */
    int (*announce)(penstock_stream *stream, size_t frame);   /* of two frames, before samples */
    bool untraced;
};

static size_t n; /* the size */
static penstock_cf32 samples[14 * LONGEST], training[LONGEST], air[4 * LONGEST];
static float reals[14 * LONGEST], taps[4 * LONGEST + 1];
static int8_t soft[sizeof samples];
static int32_t carriers[LONGEST];
static size_t air_count;
static struct result expected, got;
static long failed_in_all, resets;

/* ---------------------------------------------------------------- kinds ----------------------- */

static int open_fft(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_fft_stream_open(stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = n), device);
}

static int open_fft_real(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_fft_stream_open(stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = n, .real = true, .window = taps),
                                    device);
}

static int open_spectrum(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_spectrum_open(
        stream, context,
        &PENSTOCK_SPECTRUM_DESC(.n = n, .hop = n / 2, .average = 2, .window = "hann", .output = PENSTOCK_OUTPUT_POWER),
        device);
}

static int open_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_filter_open(stream, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = n, .tail = true),
                                device);
}

static int open_filter_down(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_filter_open(
        stream, context,
        &PENSTOCK_FILTER_DESC(.taps = samples, .tap_count = n, .decimation = 3, .shift = 0.1, .advance = n / 2),
        device);
}

static int open_resampler(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_resampler_open(stream, context, &PENSTOCK_RESAMPLER_DESC(.interpolation = n, .decimation = n + 1),
                                   device);
}

static int open_resampler_taps(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_resampler_open(
        stream, context, &PENSTOCK_RESAMPLER_DESC(.ratio = 0.777, .real_taps = taps, .tap_count = n, .arms = 16),
        device);
}

static int open_channelizer(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_channelizer_open(
        stream, context, &PENSTOCK_CHANNELIZER_DESC(.channels = n, .taps = taps, .tap_count = 4 * n + 1), device);
}

static int open_channelizer_over(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_channelizer_open(
        stream, context,
        &PENSTOCK_CHANNELIZER_DESC(.channels = n, .hop = n / 2, .taps = taps, .tap_count = 3 * n, .tail = true),
        device);
}

static int open_synthesizer(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_synthesizer_open(
        stream, context,
        &PENSTOCK_SYNTHESIZER_DESC(.channels = n, .hop = n / 2, .taps = taps, .tap_count = 3 * n, .tail = true),
        device);
}

static int open_ofdm(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_ofdm_stream_open(stream, context,
                                     &PENSTOCK_OFDM_STREAM_DESC(.n = n, .guard = n / 4, .carriers = carriers,
                                                                .carrier_count = n - 1, .training = training,
                                                                .training_symbols = 2),
                                     device);
}

static int announce(penstock_stream *stream, size_t frame)
{
    return penstock_ofdm_stream_frame(stream, 10 + frame * 5 * (n + n / 4), 3, 1e-4);
}

static int open_ofdm_on(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_ofdm_stream_open(stream, context,
                                     &PENSTOCK_OFDM_STREAM_DESC(.n = n, .guard = n / 4, .carriers = carriers,
                                                                .carrier_count = n - 1, .continuous = true),
                                     device);
}

static int open_viterbi(penstock_stream **stream, penstock_context *context, const char *device)
{
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = n, .batch = 3);
    int status = penstock_viterbi_code(&desc, "wifi:3/4");
    desc.end = PENSTOCK_TRELLIS_OPEN;
    return status ? status : penstock_viterbi_stream_open(stream, context, &desc, device);
}

static int open_wifi(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_wifi_receiver_open(stream, context, &PENSTOCK_WIFI_RECEIVER_DESC(), device);
}

/* ---------------------------------------------------------------- results --------------------- */

static void keep_floats(struct life *life, const void *from, size_t count)
{
    CHECK(life->to->floats + count <= ROOM, "no room");
    if (!count || life->to->floats + count > ROOM)
        return;
    memcpy(life->to->number + life->to->floats, from, count * sizeof(float));
    life->to->floats += count;
}

static void keep_bytes(struct life *life, const void *from, size_t count)
{
    CHECK(life->to->bytes + count <= ROOM, "no room");
    if (!count || life->to->bytes + count > ROOM)
        return;
    memcpy(life->to->byte + life->to->bytes, from, count);
    life->to->bytes += count;
}

static int pull_items(struct life *life, bool wait, size_t *given, void (*keep)(struct life *, const void *, size_t),
                      size_t each)
{
    static char items[3 * LONGEST * sizeof(penstock_cf32)];
    size_t capacity = sizeof items / life->out_bytes;
    int status = penstock_stream_pull(life->stream, items, capacity < 500 ? capacity : 500, wait, given);
    keep(life, items, *given * life->out_bytes / each);
    return status;
}

static int pull_floats(struct life *life, bool wait, size_t *given)
{
    return pull_items(life, wait, given, keep_floats, sizeof(float));
}

static int pull_bytes(struct life *life, bool wait, size_t *given)
{
    return pull_items(life, wait, given, keep_bytes, 1);
}

static int pull_symbols(struct life *life, bool wait, size_t *given)
{
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    int status = penstock_ofdm_stream_pull(life->stream, &result);
    (void)wait;
    *given = status == 1 ? result.symbols : 0;
    keep_floats(life, result.points, 2 * *given * (n - 1));
    keep_bytes(life, result.soft, 2 * *given * (n - 1));
    return status == 1 ? PENSTOCK_OK : status;
}

static int pull_frames(struct life *life, bool wait, size_t *given)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    int status = penstock_wifi_receiver_pull(life->stream, &frame);
    (void)wait;
    *given = status == 1;
    if (*given) {
        keep_bytes(life, &frame.sample, sizeof frame.sample);
        keep_bytes(life, frame.psdu, frame.psdu ? frame.length : 0);
    }
    return status == 1 ? PENSTOCK_OK : status;
}

static const struct kind kinds[] = {
    {.name = "fft", .open = open_fft, .per_n = 0, .more = 7, .from = samples},
    {.name = "fft:real", .open = open_fft_real, .per_n = 0, .more = 7, .from = reals},
    {.name = "spectrum", .open = open_spectrum, .per_n = 6, .from = samples},
    {.name = "filter", .open = open_filter, .per_n = 2, .more = 1000, .from = samples},
    {.name = "filter:down", .open = open_filter_down, .per_n = 2, .more = 1000, .from = samples},
    {.name = "resampler", .open = open_resampler, .per_n = 2, .more = 1000, .from = samples, .untraced = true},
    {.name = "resampler:taps",
     .open = open_resampler_taps,
     .per_n = 2,
     .more = 1000,
     .from = samples,
     .untraced = true},
    {.name = "channelizer", .open = open_channelizer, .per_n = 9, .from = samples},
    {.name = "channelizer:over", .open = open_channelizer_over, .per_n = 6, .from = samples},
    {.name = "synthesizer", .open = open_synthesizer, .more = 7, .from = samples},
    {.name = "ofdm",
     .open = open_ofdm,
     .per_n = 13,
     .more = 20,
     .from = samples,
     .pull = pull_symbols,
     .announce = announce},
    {.name = "ofdm:continuous", .open = open_ofdm_on, .per_n = 13, .from = samples, .pull = pull_symbols},
    {.name = "viterbi", .open = open_viterbi, .per_n = 12, .from = soft, .pull = pull_bytes},
    {.name = "wifi", .open = open_wifi, .from = air, .pull = pull_frames},
};

/* ---------------------------------------------------------------- a life ---------------------- */

/* Whether this call is to be made again. */
static bool failed(struct life *life, int status)
{
    if (!status)
        return false;
    CHECK(*penstock_error_text(), "error %d without a text", status);
    life->status = life->status ? life->status : status;
    life->errors++;
    return life->errors < 2;
}

static void pull_all(struct life *life, const struct kind *kind, bool wait)
{
    size_t given = 1;
    bool again = false;
    while ((given || again) && life->errors < 2)
        again = failed(life, (kind->pull ? kind->pull : pull_floats)(life, wait, &given));
}

/* The next part, every second one through memory that the stream lends. */
static int push_part(struct life *life, const struct kind *kind, size_t at, size_t count, size_t *taken)
{
    const char *from = (const char *)kind->from + at * life->in_bytes;
    void *to = NULL;
    int status;
    if (at / (life->items / PARTS + 1) % 2 == 0)
        return penstock_stream_push(life->stream, from, count, taken);
    if ((status = penstock_stream_acquire(life->stream, &to, taken)) || !*taken) {
        *taken = 0;
        return status;
    }
    *taken = *taken < count ? *taken : count;
    memcpy(to, from, *taken * life->in_bytes);
    return penstock_stream_commit(life->stream, *taken);
}

static void run(struct life *life, const struct kind *kind)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t at = 0, part = life->items / PARTS + 1, idle = 0;
    for (size_t i = 0; i < 2 && kind->announce; i++)
        while (life->errors < 2 && failed(life, kind->announce(life->stream, i)))
            ;
    while (at < life->items && life->errors < 2 && idle++ < 1000) {
        size_t end = (at / part + 1) * part, taken = 0;
        failed(life, push_part(life, kind, at, (end < life->items ? end : life->items) - at, &taken));
        CHECK_OK(penstock_stream_get_info(life->stream, &info));
        if (info.taken > at)
            idle = 0;
        at = info.taken;
        pull_all(life, kind, false);
    }
    while (life->errors < 2 && failed(life, penstock_stream_finish(life->stream)))
        ;
    pull_all(life, kind, true);
}

/* What came is what is expected, or the beginning of it. Numbers: relative, of all of them. */
static bool agree(bool whole)
{
    double error = 0, norm = 0;
    if (got.floats > expected.floats || got.bytes > expected.bytes)
        return false;
    if (whole && (got.floats < expected.floats || got.bytes < expected.bytes))
        return false;
    for (size_t i = 0; i < got.floats; i++) {
        double difference = (double)got.number[i] - (double)expected.number[i];
        error += difference * difference;
        norm += (double)expected.number[i] * (double)expected.number[i];
    }
    for (size_t i = 0; i < got.bytes; i++)
        if (abs((int8_t)got.byte[i] - (int8_t)expected.byte[i]) > (got.floats ? 1 : 0))
            return false;
    return error <= 1e-11 * norm;
}

/* A batch has failed: what came before it is right, and a reset mends it. */
static void begin_again(struct life *life, const struct kind *kind)
{
    CHECK(agree(false), "%s, %zu: wrong values before an error", kind->name, n);
    CHECK_OK(penstock_stream_reset(life->stream));
    life->to->floats = life->to->bytes = 0;
    life->errors = 0;
    run(life, kind);
    CHECK(!life->errors, "%s, %zu: %s after a reset", kind->name, n, penstock_error_text());
    resets++;
}

/* Its first error. `*opened`: all results are there. */
static int live(const struct kind *kind, const char *device, struct result *to, bool *opened)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    struct life life = {.items = kind->from == air ? air_count : kind->per_n * n + kind->more, .to = to};
    penstock_context *context = NULL;
    to->floats = to->bytes = 0;
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .cache_dir = ""));
    if (!status)
        status = kind->open(&life.stream, context, device);
    CHECK(!status == !!life.stream, "%s, %zu: status %d and stream %p", kind->name, n, status, (void *)life.stream);
    CHECK(!status || *penstock_error_text(), "%s, %zu: error %d without a text", kind->name, n, status);
    *opened = !status;
    if (*opened) {
        CHECK_OK(penstock_stream_get_info(life.stream, &info));
        life.in_bytes = info.in_bytes;
        life.out_bytes = info.out_bytes;
        run(&life, kind);
        if (life.errors > 1)
            begin_again(&life, kind);
        status = life.status;
    }
    penstock_stream_free(life.stream);
    penstock_context_free(context);
    return status;
}

/* ---------------------------------------------------------------- the sweep ------------------- */

static void sweep(const struct kind *kind, const char *device)
{
    const long before = penstock__memory_calls(), blocks = penstock__memory_live();
    long errors = 0;
    bool opened;
    int status = live(kind, device, &expected, &opened);
    const long calls = penstock__memory_calls() - before;
    CHECK(!status && expected.floats + expected.bytes > 3 && calls > 4, "%s, %zu on %s: %d (%s), %zu + %zu, %ld",
          kind->name, n, device, status, penstock_error_text(), expected.floats, expected.bytes, calls);
    long failed = 0;
    for (long k = 0; k < calls && !status; k++) {
        if (!test_drawn((uint64_t)k, SWEEP_STEP > 2 ? SWEEP_STEP : 2))
            continue;
        failed++;
        penstock__memory_fail_at(k);
        int error = live(kind, device, &got, &opened);
        penstock__memory_fail_at(-1);
        CHECK(opened ? agree(true) : error,
              "%s, %zu on %s, allocation %ld: %zu + %zu values of %zu + %zu, or wrong ones", kind->name, n, device, k,
              got.floats, got.bytes, expected.floats, expected.bytes);
        CHECK(!error || error == PENSTOCK_ERR_MEMORY, "%s, %zu on %s, allocation %ld: %d", kind->name, n, device, k,
              error);
        CHECK(penstock__memory_live() == blocks, "%s, %zu on %s, allocation %ld: %ld blocks leak", kind->name, n,
              device, k, penstock__memory_live() - blocks);
        errors += !!error;
    }
    CHECK(errors * SWEEP_STEP > 1, "%s, %zu on %s: only %ld errors", kind->name, n, device, errors);
    printf("%s, %zu on %s: %ld allocations failed, %ld errors\n", kind->name, n, device, failed, errors);
    failed_in_all += failed;
}

/* A packet of n octets, or the longest. */
static void transmit(void)
{
    static uint8_t psdu[LONGEST];
    uint64_t seed = n;
    size_t length = n < 4095 ? n : 4095, count;
    wifi_psdu(psdu, length, &seed);
    penstock_cf32 *frame = wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 54), psdu, length, 0, 0, &count);
    air_count = count + 1000;
    CHECK(air_count <= sizeof air / sizeof *air, "%zu samples", air_count);
    memset(air, 0, sizeof air);
    memcpy(air + 500, frame, count * sizeof *frame);
    wifi_add_noise(air, air_count, 1e-3, &seed);
    free(frame);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {7, 240, 1000, 1021, 4096};
    const char *device = argc > 1 ? argv[1] : "cpu";
    uint64_t seed = 5;
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        reals[i] = samples[i].re;
    }
    for (size_t i = 0; i < sizeof soft; i++)
        soft[i] = (int8_t)(test_random(&seed) >> 20 & 127);
    for (size_t i = 0; i < sizeof taps / sizeof *taps; i++)
        taps[i] = 1.0F / (float)(i + 1);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        n = lengths[i];
        for (size_t k = 0; k < n; k++) {
            training[k] = (penstock_cf32){k % 3 ? 1 : -1, 0};
            carriers[k] = (int32_t)k - (int32_t)(n / 2) + (k >= n / 2);
        }
        transmit();
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (!kinds[k].untraced || !strcmp(device, "cpu"))
                sweep(&kinds[k], device);
    }
    printf("%s: %ld allocations failed in all, after %ld of them a stream was reset\n", device, failed_in_all, resets);
    return test_finish();
}
