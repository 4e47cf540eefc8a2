/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Linked streams give what they give one by one, to the bit, for each pair of a table, whatever the pieces; flush,
 * finish and reset go through a chain; streams are freed in any order; what cannot be linked is an error in words; and
 * allocations and calls of the device may fail.
 */
#include "failure_sweep.h"

enum { SAMPLES = 12000, CHANNELS = 8, TAPS = 33, MOST_BYTES = 4 * SAMPLES * 8 };

static penstock_cf32 samples[SAMPLES];
static float taps[TAPS], filter_bank[CHANNELS * 6];
static char between[MOST_BYTES], want[MOST_BYTES], got[MOST_BYTES];

typedef int open_node(penstock_stream **stream, penstock_context *context, const char *device);

static int open_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_filter_open(stream, context,
                                &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS, .decimation = 2), device);
}

static int open_integers(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_filter_open(
        stream, context, &PENSTOCK_FILTER_DESC(.format = PENSTOCK_CS16, .real_taps = taps, .tap_count = TAPS), device);
}

static int open_reals(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_filter_open(
        stream, context, &PENSTOCK_FILTER_DESC(.format = PENSTOCK_F32, .real_taps = taps, .tap_count = TAPS), device);
}

static int open_resampler(penstock_stream **stream, penstock_context *context, const char *device)
{
    (void)device;
    return penstock_resampler_open(stream, context, &PENSTOCK_RESAMPLER_DESC(.interpolation = 3, .decimation = 2),
                                   "cpu");
}

static int open_fft(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_fft_stream_open(stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 48), device);
}

static int open_spectrum(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_spectrum_open(
        stream, context, &PENSTOCK_SPECTRUM_DESC(.n = 64, .average = 2, .output = PENSTOCK_OUTPUT_POWER), device);
}

static int open_real_spectrum(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_spectrum_open(
        stream, context, &PENSTOCK_SPECTRUM_DESC(.n = 64, .format = PENSTOCK_F32, .output = PENSTOCK_OUTPUT_POWER),
        device);
}

static int open_channelizer(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_channelizer_open(
        stream, context,
        &PENSTOCK_CHANNELIZER_DESC(.channels = CHANNELS, .taps = filter_bank, .tap_count = CHANNELS * 6), device);
}

static int open_synthesizer(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_synthesizer_open(
        stream, context,
        &PENSTOCK_SYNTHESIZER_DESC(.channels = CHANNELS, .taps = filter_bank, .tap_count = CHANNELS * 6), device);
}

static int open_spectra(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_spectrum_open(
        stream, context,
        &PENSTOCK_SPECTRUM_DESC(.n = 16, .hop = 9, .output = PENSTOCK_OUTPUT_POWER, .channels = CHANNELS), device);
}

static int open_symbols(penstock_stream **stream, penstock_context *context, const char *device)
{
    static const int32_t carriers[] = {-20, -7, -3, -1, 1, 2, 5, 11, 30};
    const penstock_ofdm_stream_desc desc =
        PENSTOCK_OFDM_STREAM_DESC(.n = 64, .guard = 16, .carriers = carriers, .carrier_count = 9, .continuous = true,
                                  .soft = true);
    return penstock_ofdm_stream_open(stream, context, &desc, device);
}

static int open_decoder(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_viterbi_stream_open(
        stream, context, &PENSTOCK_VITERBI_DESC(.end = PENSTOCK_TRELLIS_OPEN, .bits = 64, .batch = 3), device);
}

static int open_blocks(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_viterbi_blocks_open(stream, context, &PENSTOCK_VITERBI_DESC(.bits = 50), device);
}

static const struct pair {
    const char *name;
    open_node *first, *second;
} pairs[] = {
    {"filter, spectrum", open_filter, open_spectrum},
    {"filter of 16 bits, filter", open_integers, open_filter},
    {"filter of reals, spectrum", open_reals, open_real_spectrum},
    {"resampler, spectrum", open_resampler, open_spectrum},
    {"FFT, spectrum", open_fft, open_spectrum},
    {"filter, FFT", open_filter, open_fft},
    {"filter, resampler", open_filter, open_resampler},
    {"filter, channelizer", open_filter, open_channelizer},
    {"channelizer, synthesizer", open_channelizer, open_synthesizer},
    {"synthesizer, spectrum", open_synthesizer, open_spectrum},
    {"channelizer, spectra", open_channelizer, open_spectra},
    {"OFDM, Viterbi", open_symbols, open_decoder},
    {"OFDM, blocks", open_symbols, open_blocks},
};

/* ---------------------------------------------------------------- runs ------------------------ */

static penstock_stream_info info_of(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(penstock_stream_get_info(stream, &info));
    return info;
}

/* Pushes into one and pulls from another, or the same, in pieces at random (seed 0: large ones). Bytes that came. */
static int run(penstock_stream *first, penstock_stream *last, const void *in, size_t bytes, char *out, uint64_t seed,
               size_t *made)
{
    const size_t in_bytes = info_of(first).in_bytes, out_bytes = info_of(last).out_bytes, count = bytes / in_bytes;
    size_t at = 0, given = 1;
    int status = PENSTOCK_OK;
    *made = 0;
    while (at < count && !status) {
        size_t piece = seed ? test_random(&seed) % 700 + 1 : count - at, taken = 0;
        piece = piece < count - at ? piece : count - at;
        status = penstock_stream_push(first, (const char *)in + at * in_bytes, piece, &taken);
        at += taken;
        const bool waits = seed && test_random(&seed) % 8 == 0;
        if (!status && (taken < piece || waits || seed % 2)) {
            size_t room = (MOST_BYTES - *made) / out_bytes, some = seed ? test_random(&seed) % 40 + 1 : room;
            status = penstock_stream_pull(last, out + *made, some < room ? some : room, waits, &given);
            *made += given * out_bytes;
        }
    }
    if (!status)
        status = penstock_stream_finish(first);
    for (given = 1; given && !status; *made += given * out_bytes)
        status = penstock_stream_pull(last, out + *made, (MOST_BYTES - *made) / out_bytes, true, &given);
    return status;
}

static void check_pair(penstock_context *context, const struct pair *pair, const char *device)
{
    penstock_stream *first, *second;
    size_t half, wanted, made;
    CHECK_OK(pair->first(&first, context, device));
    CHECK_OK(pair->second(&second, context, device));
    CHECK_OK(run(first, first, samples, sizeof samples, between, 0, &half));
    CHECK_OK(run(second, second, between, half, want, 0, &wanted));
    CHECK(half && wanted, "%s: %zu and %zu bytes", pair->name, half, wanted);
    CHECK_OK(penstock_stream_reset(first));
    CHECK_OK(penstock_stream_reset(second));
    CHECK_OK(penstock_stream_link(first, second));
    for (uint64_t seed = 0; seed < 6; seed++) {
        memset(got, 0, sizeof got);
        CHECK_OK(run(first, second, samples, sizeof samples, got, seed, &made));
        CHECK(made == wanted && !memcmp(got, want, wanted), "%s on %s, seed %d: %zu bytes of %zu, or others",
              pair->name, device, (int)seed, made, wanted);
        CHECK_OK(penstock_stream_reset(first)); /* through the chain */
    }
    penstock_stream_free(pair - pairs > 4 ? first : second);
    penstock_stream *left = pair - pairs > 4 ? second : first;
    CHECK_OK(run(left, left, samples, sizeof samples / 4, got, 0, &made)); /* by itself again */
    CHECK(made, "%s: what is left alone gives nothing", pair->name);
    penstock_stream_free(left);
}

/* Of the channels of a bank each into a spectrum of its own, but for two that go nowhere. */
static void check_channels(penstock_context *context, const char *device)
{
    enum { KEPT = CHANNELS - 2, ROOM = MOST_BYTES / CHANNELS };
    penstock_stream *bank, *spectra[KEPT], *alone;
    size_t half, wanted[KEPT], made[KEPT] = {0}, taken;
    CHECK_OK(open_channelizer(&bank, context, device));
    CHECK_OK(run(bank, bank, samples, sizeof samples, between, 0, &half));
    CHECK_OK(penstock_stream_reset(bank));
    const size_t frames = half / (CHANNELS * sizeof(penstock_cf32));
    CHECK_OK(open_spectrum(&alone, context, device));
    for (size_t c = 0; c < KEPT; c++) {
        for (size_t i = 0; i < frames; i++)
            memcpy(got + i * sizeof(penstock_cf32), between + (i * CHANNELS + c) * sizeof(penstock_cf32),
                   sizeof(penstock_cf32));
        CHECK_OK(run(alone, alone, got, frames * sizeof(penstock_cf32), want + c * ROOM, 0, &wanted[c]));
        CHECK_OK(penstock_stream_reset(alone));
        CHECK_OK(open_spectrum(&spectra[c], context, device));
        CHECK_OK(penstock_stream_link_channel(bank, c, spectra[c]));
    }
    CHECK_EQ(penstock_stream_link_channel(bank, 1, alone), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_stream_link_channel(bank, CHANNELS, alone), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_link(bank, alone), PENSTOCK_ERR_STATE);
    for (size_t at = 0; at < SAMPLES; at += taken)
        CHECK_OK(penstock_stream_push(bank, samples + at, SAMPLES - at < 333 ? SAMPLES - at : 333, &taken));
    CHECK_OK(penstock_stream_finish(bank));
    for (size_t c = 0; c < KEPT; c++) {
        for (size_t given = 1; given; made[c] += given * 64 * sizeof(float))
            CHECK_OK(penstock_stream_pull(spectra[c], got + made[c], 64, true, &given));
        CHECK(wanted[c] && made[c] == wanted[c] && !memcmp(got, want + c * ROOM, wanted[c]),
              "%s, channel %zu: %zu bytes of %zu, or others", device, c, made[c], wanted[c]);
    }
    penstock_stream_free(bank);
    for (size_t c = 0; c < KEPT; c++)
        penstock_stream_free(spectra[c]);
    penstock_stream_free(alone);
}

/* Three of them; and what is flushed comes. */
static void check_chain(penstock_context *context, const char *device)
{
    penstock_stream *first, *middle, *last;
    size_t one, two, wanted, made, taken, given = 0;
    CHECK_OK(open_integers(&first, context, device));
    CHECK_OK(open_filter(&middle, context, device));
    CHECK_OK(open_spectrum(&last, context, device));
    CHECK_OK(run(first, first, samples, sizeof samples, between, 0, &one));
    CHECK_OK(run(middle, middle, between, one, got, 0, &two));
    CHECK_OK(run(last, last, got, two, want, 0, &wanted));
    CHECK_OK(penstock_stream_reset(first));
    CHECK_OK(penstock_stream_reset(middle));
    CHECK_OK(penstock_stream_reset(last));
    CHECK_OK(penstock_stream_link(middle, last));
    CHECK_OK(penstock_stream_link(first, middle));
    CHECK_OK(run(first, last, samples, sizeof samples, got, 3, &made));
    CHECK(made == wanted && !memcmp(got, want, wanted), "%s: %zu bytes of %zu, or others", device, made, wanted);
    CHECK_OK(penstock_stream_reset(first));
    CHECK_OK(penstock_stream_push(first, samples, 1000, &taken));
    CHECK_EQ(taken, 1000);
    CHECK_OK(penstock_stream_flush(first));
    CHECK_OK(penstock_stream_pull(last, got, 64, true, &given));
    CHECK(given >= 3, "of 1000 samples %zu spectra come after a flush", given);
    penstock_stream_free(middle);
    penstock_stream_free(first);
    penstock_stream_free(last);
}

/* ---------------------------------------------------------------- errors ---------------------- */

static void refuse(int status, int expected, const char *words)
{
    CHECK_EQ(status, expected);
    CHECK(strstr(penstock_error_text(), words), "%s", penstock_error_text());
}

static void check_errors(penstock_context *context)
{
    penstock_stream *filter, *integers, *spectrum, *bank, *receiver;
    const void *from;
    void *to;
    size_t count, more;
    CHECK_OK(open_filter(&filter, context, "cpu"));
    CHECK_OK(open_integers(&integers, context, "cpu"));
    CHECK_OK(open_spectrum(&spectrum, context, "cpu"));
    CHECK_OK(open_channelizer(&bank, context, "cpu"));
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu"));
    refuse(penstock_stream_link(NULL, filter), PENSTOCK_ERR_ARGUMENT, "NULL");
    refuse(penstock_stream_link(filter, NULL), PENSTOCK_ERR_ARGUMENT, "NULL");
    refuse(penstock_stream_link(filter, integers), PENSTOCK_ERR_ARGUMENT, "filter gives cf32, filter takes cs16");
    refuse(penstock_stream_link(filter, filter), PENSTOCK_ERR_ARGUMENT, "circle");
    refuse(penstock_stream_link(receiver, filter), PENSTOCK_ERR_UNSUPPORTED, "frames");
    penstock_stream *symbols, *decoder;
    CHECK_OK(open_symbols(&symbols, context, "cpu"));
    CHECK_OK(open_decoder(&decoder, context, "cpu"));
    refuse(penstock_stream_link(filter, decoder), PENSTOCK_ERR_ARGUMENT, "viterbi takes soft bits in bytes");
    refuse(penstock_stream_link(symbols, filter), PENSTOCK_ERR_ARGUMENT, "ofdm soft bits gives soft bits in bytes");
    penstock_stream_free(symbols);
    penstock_stream_free(decoder);
    refuse(penstock_stream_link(bank, filter), PENSTOCK_ERR_ARGUMENT, "penstock_stream_link_channel");
    CHECK_OK(penstock_stream_link(integers, filter));
    CHECK_OK(penstock_stream_link(filter, spectrum));
    refuse(penstock_stream_link(bank, spectrum), PENSTOCK_ERR_STATE, "linked to a filter already");
    refuse(penstock_stream_link(filter, bank), PENSTOCK_ERR_STATE, "go to a spectrum already");
    refuse(penstock_stream_link_channel(bank, 0, filter), PENSTOCK_ERR_STATE, "already");
    refuse(penstock_stream_push(filter, samples, 1, &count), PENSTOCK_ERR_STATE, "come from the filter");
    refuse(penstock_stream_acquire(filter, &to, &count), PENSTOCK_ERR_STATE, "come from the filter");
    refuse(penstock_stream_pull(filter, got, 1, false, &count), PENSTOCK_ERR_STATE, "go to the spectrum");
    refuse(penstock_stream_peek(filter, false, &from, &count), PENSTOCK_ERR_STATE, "go to the spectrum");
    refuse(penstock_stream_run(integers, samples, 1, &count, got, 1, &more), PENSTOCK_ERR_STATE, "go to the filter");
    refuse(penstock_stream_flush(spectrum), PENSTOCK_ERR_STATE, "come from the filter");
    refuse(penstock_stream_finish(filter), PENSTOCK_ERR_STATE, "come from the filter");
    refuse(penstock_stream_reset(spectrum), PENSTOCK_ERR_STATE, "come from the filter");
    penstock_stream_free(integers);
    CHECK_OK(penstock_stream_push(filter, samples, 1, &count)); /* its items are the caller's again */
    refuse(penstock_stream_link(filter, receiver), PENSTOCK_ERR_STATE, "go to a spectrum already");
    penstock_stream_free(spectrum);
    CHECK_OK(penstock_stream_link(filter, receiver));
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    for (size_t at = 0; at < SAMPLES; at += count)
        CHECK_OK(penstock_stream_push(filter, samples + at, SAMPLES - at, &count));
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_EQ(penstock_wifi_receiver_pull(receiver, &frame), 0);
    CHECK(info_of(receiver).taken >= SAMPLES / 2, "%d samples come", (int)info_of(receiver).taken);
    penstock_stream_free(filter);
    penstock_stream_free(receiver);
    penstock_stream_free(bank);
}

/* A bank that keeps few channels as one is linked, then more than can be linked each. */
static void check_many_channels(penstock_context *context)
{
    enum { MANY = 4096 };
    static float long_bank[MANY];
    const size_t few[] = {5, 70};
    penstock_stream *bank, *spectrum;
    size_t taken;
    long_bank[0] = 1;
    CHECK_OK(penstock_channelizer_open(
        &bank, context, &PENSTOCK_CHANNELIZER_DESC(.channels = MANY, .taps = long_bank, .tap_count = MANY), "cpu"));
    CHECK_OK(open_spectrum(&spectrum, context, "cpu"));
    refuse(penstock_stream_link_channel(bank, 1, spectrum), PENSTOCK_ERR_UNSUPPORTED, "at most 1024");
    CHECK_OK(penstock_channelizer_set_select(bank, few, 2));
    CHECK_OK(penstock_stream_link_channel(bank, 1, spectrum));
    CHECK_OK(penstock_stream_push(bank, samples, MANY, &taken));
    CHECK_OK(penstock_channelizer_set_select(bank, NULL, 0));
    refuse(penstock_stream_push(bank, samples, MANY, &taken), PENSTOCK_ERR_STATE, "at most 1024");
    CHECK_OK(penstock_channelizer_set_select(bank, few, 2));
    CHECK_OK(penstock_stream_push(bank, samples, MANY, &taken));
    CHECK_OK(penstock_stream_finish(bank));
    penstock_stream_free(bank);
    penstock_stream_free(spectrum);
}

/* ---------------------------------------------------------------- failures -------------------- */

static size_t wanted_bytes;

static int use(penstock_context *context, const char *device, bool *wrong)
{
    penstock_stream *first = NULL, *second = NULL;
    size_t made = 0;
    int status = open_filter(&first, context, device);
    if (!status)
        status = open_spectrum(&second, context, device);
    if (!status)
        status = penstock_stream_link(first, second);
    if (!status && (status = run(first, second, samples, sizeof samples, got, 2, &made))) {
        sweep_over();
        CHECK_OK(penstock_stream_reset(first));
        CHECK_OK(run(first, second, samples, sizeof samples, got, 2, &made));
        *wrong = made != wanted_bytes;
    } else {
        *wrong = !status && (made != wanted_bytes || (!strchr(device, ':') && memcmp(got, want, wanted_bytes)));
    }
    sweep_over();
    penstock_stream_free(second);
    penstock_stream_free(first);
    return status;
}

static void check_failures(penstock_context *context, const char *device)
{
    penstock_stream *first, *second;
    size_t half;
    CHECK_OK(open_filter(&first, context, device));
    CHECK_OK(open_spectrum(&second, context, device));
    CHECK_OK(run(first, first, samples, sizeof samples, between, 0, &half));
    CHECK_OK(run(second, second, between, half, want, 0, &wanted_bytes));
    penstock_stream_free(first);
    penstock_stream_free(second);
    sweep_allocations(use, device, 1);
    if (!strcmp(device, "trace"))
        sweep_calls(use);
}

int main(void)
{
    static const char *const devices[] = {"cpu", "trace"};
    penstock_context *context;
    uint64_t seed = 9;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t i = 0; i < TAPS; i++)
        taps[i] = (float)test_uniform(&seed) / TAPS;
    for (size_t i = 0; i < CHANNELS * 6; i++)
        filter_bank[i] = (float)test_uniform(&seed) / CHANNELS;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    for (size_t d = 0; d < 2; d++) {
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            check_pair(context, &pairs[i], devices[d]);
        check_channels(context, devices[d]);
        check_chain(context, devices[d]);
        check_failures(context, devices[d]);
    }
    check_errors(context);
    check_many_channels(context);
    penstock_context_free(context);
    return test_finish();
}
