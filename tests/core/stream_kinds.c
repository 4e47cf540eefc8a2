/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Every kind of stream, in one form, and cases of each. */
#include "stream_kinds.h"
#include "scale_stream.h"
#include "wifi_stream.h"

enum { SAMPLES = 12000, N = 64, TAPS = 33, MORE_TAPS = 200, CHANNELS = 8, PAIR = 2, FRAMES = 300, CARRIERS = 48 };

static penstock_cf32 samples[SAMPLES], taps[MORE_TAPS];
static float reals[SAMPLES], real_taps[MORE_TAPS], window[N];
static int16_t integers[2 * SAMPLES];
static int32_t carriers[CARRIERS];
static penstock_cf32 training[N];
static struct wifi_stream *air;

/* With the type of the description forgotten. */
#define OPEN(kind)                                                                                                    \
    static int open_##kind(penstock_stream **stream, penstock_context *context, const void *desc, const char *device) \
    {                                                                                                                 \
        return penstock_##kind##_open(stream, context, desc, device);                                                 \
    }
OPEN(fft_stream)
OPEN(spectrum)
OPEN(filter)
OPEN(resampler)
OPEN(channelizer)
OPEN(synthesizer)
OPEN(ofdm_stream)
OPEN(wifi_receiver)
OPEN(scale)
OPEN(viterbi_stream)
OPEN(viterbi_blocks)
OPEN(ldpc_blocks)

/* ---------------------------------------------------------------- changes --------------------- */

static int change_fft(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    (void)pushed;
    return penstock_fft_stream_set_window(stream, ((const penstock_fft_stream_desc *)desc)->window);
}

static int change_spectrum(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    const penstock_spectrum_desc *d = desc;
    (void)pushed;
    int status = d->decay != 0 ? penstock_spectrum_set_decay(stream, d->decay) : PENSTOCK_OK;
    return status ? status : penstock_spectrum_set_window(stream, d->window, d->taps);
}

static int change_filter(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    const penstock_filter_desc *d = desc;
    int status = penstock_filter_set_taps(stream, d->taps, d->real_taps, d->tap_count, pushed);
    return status || (!d->tunable && d->shift == 0) ? status
                                                    : penstock_filter_set_shift(stream, 0, d->shift, 0, pushed);
}

/* To the ratio and taps that it has. */
static int change_resampler(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    const penstock_resampler_desc *d = desc;
    const double up = d->interpolation ? (double)d->interpolation : 1, down = d->decimation ? (double)d->decimation : 1;
    int status = penstock_resampler_set_ratio(stream, d->ratio != 0 ? d->ratio : up / down, pushed);
    if (status || (!d->taps && !d->real_taps))
        return status;
    return penstock_resampler_set_taps(stream, d->taps, d->real_taps, d->tap_count, pushed);
}

static int change_channelizer(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    const penstock_channelizer_desc *d = desc;
    return penstock_channelizer_set_taps(stream, d->taps, d->tap_count, pushed, NULL);
}

/* To the taps and channels that it has. */
static int change_synthesizer(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    const penstock_synthesizer_desc *d = desc;
    int status = penstock_synthesizer_set_taps(stream, d->taps, d->tap_count, pushed, NULL);
    return status ? status : penstock_synthesizer_set_select(stream, d->select, d->select_count);
}

static int change_scale(penstock_stream *stream, const void *desc, uint64_t pushed)
{
    (void)pushed;
    return penstock_scale_set_factor(stream, ((const penstock_scale_desc *)desc)->factor);
}

static const struct stream_kind scale = {.open = open_scale, .change = change_scale};
static const struct stream_kind fft = {.open = open_fft_stream, .change = change_fft};
static const struct stream_kind spectrum = {.open = open_spectrum, .change = change_spectrum};
static const struct stream_kind filter = {.open = open_filter, .change = change_filter};
static const struct stream_kind resampler = {.open = open_resampler, .change = change_resampler, .untraced = true};
static const struct stream_kind channelizer = {.open = open_channelizer, .change = change_channelizer};
static const struct stream_kind synthesizer = {.open = open_synthesizer, .change = change_synthesizer};
static const struct stream_kind viterbi = {.open = open_viterbi_stream};
static const struct stream_kind viterbi_blocks = {.open = open_viterbi_blocks};
static const struct stream_kind ldpc_blocks = {.open = open_ldpc_blocks};

/* ---------------------------------------------------------------- OFDM ------------------------ */

enum {
    SYMBOL = 80,
    FRAME_SYMBOLS = 6,
    FRAME_SAMPLES = 700,
    SYMBOL_BYTES = CARRIERS * (int)(sizeof(penstock_cf32) + 2)
};

static uint64_t taken_by(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    return penstock_stream_get_info(stream, &info) ? 0 : info.taken;
}

/* Frames are announced as their samples come. */
static int push_frames(penstock_stream *stream, const void *items, size_t count, size_t *taken)
{
    uint64_t pushed = taken_by(stream), end = pushed + count;
    int status = PENSTOCK_OK;
    *taken = 0;
    for (uint64_t at = (pushed + FRAME_SAMPLES - 1) / FRAME_SAMPLES * FRAME_SAMPLES; at < end && !status;
         at += FRAME_SAMPLES)
        status = penstock_ofdm_stream_frame(stream, at, FRAME_SYMBOLS, 1e-4);
    return status ? status : penstock_stream_push(stream, items, count, taken);
}

/* An item is a symbol; those of a frame come in several pulls. */
static int pull_symbols(penstock_stream *stream, void *items, size_t capacity, bool wait, size_t *count)
{
    static penstock_ofdm_stream_result result;
    static size_t given;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    char *to = items;
    (void)wait;
    penstock_stream_get_info(stream, &info);
    if (!info.given) /* a new one, or reset */
        given = result.symbols = 0;
    for (*count = 0; *count < capacity; ++*count, to += SYMBOL_BYTES) {
        if (given == result.symbols) {
            result = PENSTOCK_OFDM_STREAM_RESULT;
            given = 0;
            int status = penstock_ofdm_stream_pull(stream, &result);
            if (status != 1) {
                result.symbols = 0;
                return *count ? PENSTOCK_OK : status;
            }
        }
        memcpy(to, result.points + given * CARRIERS, CARRIERS * sizeof(penstock_cf32));
        memcpy(to + CARRIERS * sizeof(penstock_cf32), result.soft + 2 * given * CARRIERS, 2 * CARRIERS);
        given++;
    }
    return PENSTOCK_OK;
}

static const struct stream_kind ofdm = {.open = open_ofdm_stream, .push = push_frames, .pull = pull_symbols};
static const struct stream_kind ofdm_on = {
    .open = open_ofdm_stream, .push = penstock_stream_push, .pull = pull_symbols};

static const struct stream_kind ofdm_bits = {.open = open_ofdm_stream};

/* ---------------------------------------------------------------- Wi-Fi ----------------------- */

struct wifi_record {
    uint64_t sample, samples, psdu;
    uint32_t length, fcs_ok;
};

static int pull_frames(penstock_stream *stream, void *items, size_t capacity, bool wait, size_t *count)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    (void)wait;
    for (*count = 0; *count < capacity; ++*count) {
        int status = penstock_wifi_receiver_pull(stream, &frame);
        if (status != 1)
            return *count ? PENSTOCK_OK : status;
        struct wifi_record record = {.sample = frame.sample,
                                     .samples = frame.samples,
                                     .psdu = 0xcbf29ce484222325u,
                                     .length = frame.length,
                                     .fcs_ok = frame.fcs_ok};
        for (unsigned i = 0; i < frame.length && frame.psdu; i++)
            record.psdu = (record.psdu ^ frame.psdu[i]) * 0x100000001b3u;
        memcpy((char *)items + *count * sizeof record, &record, sizeof record);
    }
    return PENSTOCK_OK;
}

static const struct stream_kind wifi = {.open = open_wifi_receiver, .push = penstock_stream_push, .pull = pull_frames};

int stream_push(const struct stream_case *c, penstock_stream *stream, const void *items, size_t count, size_t *taken)
{
    return (c->kind->push ? c->kind->push : penstock_stream_push)(stream, items, count, taken);
}

int stream_pull(const struct stream_case *c, penstock_stream *stream, void *items, size_t capacity, bool wait,
                size_t *count)
{
    return (c->kind->pull ? c->kind->pull : penstock_stream_pull)(stream, items, capacity, wait, count);
}

/* ---------------------------------------------------------------- descriptions ---------------- */

#define DESC(kind, name) static const penstock_##kind##_desc name = {.size = sizeof name,

DESC(fft_stream, fft_plain).n = N
}
;
DESC(fft_stream, fft_reverse).n = N, .direction = PENSTOCK_REVERSE, .centered = true, .window = window
}
;
DESC(fft_stream, fft_real).n = N, .real = true, .window = window
}
;
DESC(spectrum, spectrum_complex).n = N, .window = "hann"
}
;
DESC(spectrum, spectrum_power).n = N, .hop = N / 2, .average = 4, .window = "hann", .output = PENSTOCK_OUTPUT_POWER,
               .centered = true, .format = PENSTOCK_CS16
}
;
DESC(spectrum, spectrum_sparse).n = N, .hop = 3 * N, .average = 2, .output = PENSTOCK_OUTPUT_DECIBEL, .taps = window,
               .flush_partial = true
}
;
DESC(spectrum, spectrum_channels).n = N, .hop = 24, .output = PENSTOCK_OUTPUT_POWER, .window = "hann",
               .format = PENSTOCK_CS16, .channels = PAIR
}
;
DESC(spectrum, spectrum_decay).n = N, .average = 2, .output = PENSTOCK_OUTPUT_POWER, .decay = 0.1, .window = "hann"
}
;
DESC(filter, filter_complex).taps = taps, .tap_count = TAPS, .n = 128
}
;
DESC(filter, filter_shifted).taps = taps, .tap_count = TAPS, .n = 256, .decimation = 5, .shift = 0.1,
             .advance = TAPS / 2, .format = PENSTOCK_CS16
}
;
DESC(filter, filter_tunable).real_taps = real_taps, .tap_count = TAPS, .n = 128, .tunable = true
}
;
DESC(filter, filter_parts).taps = taps, .tap_count = MORE_TAPS, .n = 128, .tail = true
}
;
DESC(filter, filter_real).real_taps = real_taps, .tap_count = TAPS, .n = 128, .format = PENSTOCK_F32
}
;
DESC(filter, filter_up).real_taps = real_taps, .tap_count = TAPS, .n = 128, .interpolation = 3, .decimation = 2
}
;
DESC(resampler, resampler_rational).interpolation = 24, .decimation = 25, .format = PENSTOCK_CS16
}
;
DESC(resampler, resampler_between).ratio = 2.718281828, .phase = 0.3, .attenuation_db = 60
}
;
DESC(resampler, resampler_down).ratio = 0.0317, .format = PENSTOCK_F32
}
;
DESC(resampler, resampler_taps).ratio = 0.777, .taps = taps, .tap_count = MORE_TAPS, .arms = 16
}
;
DESC(channelizer, channelizer_critical).channels = CHANNELS, .taps = real_taps, .tap_count = 61
}
;
DESC(channelizer, channelizer_over).channels = CHANNELS, .hop = 3, .taps = real_taps, .tap_count = 40, .tail = true,
                  .format = PENSTOCK_CS16
}
;
DESC(synthesizer, synthesizer_over).channels = CHANNELS, .hop = CHANNELS / 2, .taps = real_taps, .tap_count = 40,
                  .delay = 39, .tail = true
}
;
DESC(ofdm_stream, ofdm_frames).n = N, .guard = 16, .carriers = carriers, .carrier_count = CARRIERS,
                  .training = training, .training_symbols = 2
}
;
DESC(ofdm_stream, ofdm_continuous).n = N, .guard = 16, .carriers = carriers, .carrier_count = CARRIERS,
                  .continuous = true
}
;
DESC(ofdm_stream, ofdm_soft).n = N, .guard = 16, .carriers = carriers, .carrier_count = CARRIERS, .continuous = true,
                  .soft = true, .format = PENSTOCK_CS16
}
;
DESC(scale, scale_down).factor = -0.3f
}
;
DESC(wifi_receiver, wifi_legacy).points = true
}
;

static const penstock_viterbi_desc viterbi_plain = {
    .size = sizeof viterbi_plain, .end = PENSTOCK_TRELLIS_OPEN, .bits = 256, .batch = 3};
static const penstock_viterbi_desc viterbi_punctured = {.size = sizeof viterbi_punctured,
                                                        .generators = {0171, 0133},
                                                        .puncture = "110110",
                                                        .end = PENSTOCK_TRELLIS_OPEN,
                                                        .soft = PENSTOCK_SOFT_F32,
                                                        .result = PENSTOCK_BITS_UNPACKED,
                                                        .bits = 100,
                                                        .batch = 5};

enum { BLOCK_BITS = 20, BLOCK_SENT = 2 * (BLOCK_BITS + 6), WORD_SENT = 24 };
static const penstock_viterbi_desc viterbi_of_blocks = {.size = sizeof viterbi_of_blocks,
                                                        .soft = PENSTOCK_SOFT_F32,
                                                        .bits = BLOCK_BITS,
                                                        .batch = 8,
                                                        .result = PENSTOCK_BITS_UNPACKED};
static const int16_t base[] = {0, 1, 2, 0, 3, 5, -1, 1};
static const penstock_ldpc_desc ldpc_of_blocks = {.size = sizeof ldpc_of_blocks,
                                                  .base = base,
                                                  .rows = 2,
                                                  .columns = 4,
                                                  .lifting = 6,
                                                  .soft = PENSTOCK_SOFT_F32,
                                                  .scale = 20,
                                                  .stop_early = true,
                                                  .batch = 8,
                                                  .report = true};

/* ---------------------------------------------------------------- cases ----------------------- */

#define CF32 sizeof(penstock_cf32)
#define CS16 (2 * sizeof(int16_t))
#define F32  sizeof(float)

static struct stream_case cases[] = {
    {"fft:64", &fft, &fft_plain, samples, SAMPLES / N, N *CF32, N *CF32, STREAM_FLOATS},
    {"fft:64:reverse", &fft, &fft_reverse, samples, SAMPLES / N, N *CF32, N *CF32, STREAM_FLOATS},
    {"fft:64:real", &fft, &fft_real, reals, SAMPLES / N, N *F32, N *CF32, STREAM_FLOATS},
    {"spectrum:64", &spectrum, &spectrum_complex, samples, SAMPLES, CF32, N *CF32, STREAM_FLOATS},
    {"spectrum:64:power", &spectrum, &spectrum_power, integers, SAMPLES, CS16, N *F32, STREAM_FLOATS},
    {"spectrum:64:sparse", &spectrum, &spectrum_sparse, samples, SAMPLES, CF32, N *F32, STREAM_FLOATS},
    {"spectrum:64:decay", &spectrum, &spectrum_decay, samples, SAMPLES, CF32, N *F32, STREAM_FLOATS},
    {"spectrum:64:channels", &spectrum, &spectrum_channels, integers, SAMPLES / PAIR, PAIR *CS16, PAIR *N *F32,
     STREAM_FLOATS},
    {"filter:33", &filter, &filter_complex, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"filter:33:d5", &filter, &filter_shifted, integers, SAMPLES, CS16, CF32, STREAM_FLOATS},
    {"filter:33:tunable", &filter, &filter_tunable, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"filter:200", &filter, &filter_parts, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"filter:33:real", &filter, &filter_real, reals, SAMPLES, F32, F32, STREAM_FLOATS},
    {"filter:33:i3:d2", &filter, &filter_up, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"resampler:24/25", &resampler, &resampler_rational, integers, SAMPLES, CS16, CF32, STREAM_FLOATS},
    {"resampler:2.7", &resampler, &resampler_between, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"resampler:0.03:real", &resampler, &resampler_down, reals, SAMPLES, F32, F32, STREAM_FLOATS},
    {"resampler:taps", &resampler, &resampler_taps, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"channelizer:8", &channelizer, &channelizer_critical, samples, SAMPLES, CF32, CHANNELS *CF32, STREAM_FLOATS},
    {"channelizer:8:hop3", &channelizer, &channelizer_over, integers, SAMPLES, CS16, CHANNELS *CF32, STREAM_FLOATS},
    {"synthesizer:8", &synthesizer, &synthesizer_over, samples, FRAMES, CHANNELS *CF32, CF32, STREAM_FLOATS},
    {"ofdm:frames", &ofdm, &ofdm_frames, samples, SAMPLES, CF32, SYMBOL_BYTES, STREAM_SYMBOL},
    {"ofdm:continuous", &ofdm_on, &ofdm_continuous, samples, SAMPLES, CF32, SYMBOL_BYTES, STREAM_SYMBOL},
    {"ofdm:soft", &ofdm_bits, &ofdm_soft, integers, SAMPLES, CS16, 2 * CARRIERS, STREAM_SOFT},
    {"scale", &scale, &scale_down, samples, SAMPLES, CF32, CF32, STREAM_FLOATS},
    {"viterbi", &viterbi, &viterbi_plain, integers, 2 * SAMPLES, 1, 1, STREAM_RECORD},
    {"viterbi:3/4", &viterbi, &viterbi_punctured, reals, SAMPLES, F32, 1, STREAM_RECORD},
    {"viterbi:blocks", &viterbi_blocks, &viterbi_of_blocks, reals, SAMPLES / BLOCK_SENT, BLOCK_SENT *F32, BLOCK_BITS,
     STREAM_RECORD},
    {"ldpc:blocks", &ldpc_blocks, &ldpc_of_blocks, reals, SAMPLES / WORD_SENT, WORD_SENT *F32, 8, STREAM_RECORD},
    {"wifi", &wifi, &wifi_legacy, NULL, 0, CF32, sizeof(struct wifi_record), STREAM_RECORD},
};

const struct stream_case *stream_cases(size_t *count)
{
    uint64_t seed = 11;
    for (size_t i = 0; i < SAMPLES; i++) {
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        reals[i] = samples[i].re;
        integers[2 * i] = (int16_t)(samples[i].re * 30000);
        integers[2 * i + 1] = (int16_t)(samples[i].im * 30000);
    }
    for (size_t k = 0; k < MORE_TAPS; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        real_taps[k] = taps[k].re;
    }
    for (size_t i = 0; i < N; i++) {
        window[i] = 1 + 0.01f * (float)i; /* not the same read backwards */
        training[i] = (penstock_cf32){i % 3 ? 1 : -1, 0};
    }
    for (int i = 0; i < CARRIERS; i++)
        carriers[i] = i < CARRIERS / 2 ? i - CARRIERS / 2 : i - CARRIERS / 2 + 1;
    *count = sizeof cases / sizeof *cases;
    air = wifi_make_stream(PENSTOCK_WIFI, 4, 200, 5);
    cases[*count - 1].in = air->samples;
    cases[*count - 1].count = air->count;
    return cases;
}

void stream_cases_free(void)
{
    wifi_stream_free(air);
}

/* ---------------------------------------------------------------- values ---------------------- */

/* Relative, of all of them: other processors' transforms agree to some 1e-7. */
static bool floats_agree(const char *got, const char *want, size_t count, size_t each, size_t step)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < each; k++) {
            float a, b;
            memcpy(&a, got + i * step + k * sizeof a, sizeof a);
            memcpy(&b, want + i * step + k * sizeof b, sizeof b);
            error += ((double)a - (double)b) * ((double)a - (double)b);
            norm += (double)b * (double)b;
        }
    return error <= 1e-11 * norm;
}

bool stream_values_agree(const struct stream_case *c, const void *got, const void *want, size_t items)
{
    const char *a = got, *b = want;
    size_t floats = c->values == STREAM_FLOATS ? c->out_bytes / sizeof(float)
                    : c->values == STREAM_SOFT ? 0
                                               : 2 * CARRIERS;
    if (c->values == STREAM_RECORD)
        return !memcmp(a, b, items * c->out_bytes);
    if (!floats_agree(a, b, items, floats, c->out_bytes))
        return false;
    for (size_t i = 0; i < items; i++) /* soft bits that lie near a half may be rounded to either side */
        for (size_t k = floats * sizeof(float); k < c->out_bytes; k++)
            if (abs((signed char)a[i * c->out_bytes + k] - (signed char)b[i * c->out_bytes + k]) > 1)
                return false;
    return true;
}
