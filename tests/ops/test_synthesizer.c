/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The synthesis bank against its definition in double precision, and the way there and back: what comes of white noise
 * through analysis and synthesis is the noise again, at its place, to better than 80 dB. By the usual prototypes
 * wherever the hop is less than the channels; at critical sampling by windows and other prototypes that have an
 * inverse, and a clear error for the one that has none. On the device of the first argument.
 */
#include "device.h"
#include "filter_direct.h"

#define MOST_SAMPLES 60000
#define MOST_VALUES  (8 * MOST_SAMPLES)
#define MOST_TAPS    200000

static penstock_context *context;
static const char *device = "cpu";
static penstock_cf32 samples[MOST_SAMPLES], frames[MOST_VALUES], returned[MOST_VALUES];
static float taps[MOST_TAPS], dual[MOST_TAPS];
static size_t selected[1024];
static int cases;

static void fill_random(penstock_cf32 *values, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (penstock_cf32){(float)test_uniform(seed), (float)test_uniform(seed)};
}

/* ---------------------------------------------------------------- the definition -------------- */

static void direct(double s[2], const penstock_synthesizer_desc *desc, size_t kept, size_t count, size_t n)
{
    size_t q = n + desc->delay - desc->advance;
    s[0] = s[1] = 0;
    for (size_t m = 0; m < count && m * desc->hop <= q; m++) {
        size_t j = q - m * desc->hop;
        for (size_t c = 0; c < kept && j < desc->tap_count; c++) {
            size_t k = desc->select ? desc->select[c] : c;
            double angle = 2 * TEST_PI * (double)(k * (n + desc->origin) % desc->channels) / (double)desc->channels;
            double re = (double)frames[m * kept + c].re, im = (double)frames[m * kept + c].im, g = (double)taps[j];
            s[0] += g * (re * cos(angle) - im * sin(angle));
            s[1] += g * (re * sin(angle) + im * cos(angle));
        }
    }
}

static size_t expected_samples(const penstock_synthesizer_desc *desc, size_t count)
{
    size_t delay = desc->delay - desc->advance;
    size_t reach = desc->tail && desc->tap_count > desc->hop ? desc->tap_count : desc->hop;
    size_t end = !count ? 0 : (count - 1) * desc->hop + reach;
    return end > delay ? end - delay : 0;
}

static int take(penstock_stream *synthesizer, size_t most, bool wait, size_t *made)
{
    size_t pulled = 1;
    int status = 0;
    while (pulled && !status) {
        status = penstock_stream_pull(synthesizer, returned + *made, most, wait, &pulled);
        *made += pulled;
    }
    return status;
}

/* Frames one after the other, or, where `streams` is set, from a stream for each value. */
static int synthesize(const penstock_synthesizer_desc *desc, size_t kept, size_t count, size_t most, bool streams,
                      uint64_t *seed, size_t *made)
{
    static penstock_cf32 apart[MOST_VALUES];
    static const penstock_cf32 *from[1024];
    penstock_stream *synthesizer = NULL;
    int status = penstock_synthesizer_open(&synthesizer, context, desc, device);
    for (size_t i = 0; i < count * kept && streams; i++)
        apart[i % kept * count + i / kept] = frames[i];
    *made = 0;
    for (size_t at = 0, taken; at < count && !status; at += taken) {
        size_t chunk = (size_t)(test_random(seed) % most) + 1;
        chunk = chunk < count - at ? chunk : count - at;
        for (size_t c = 0; c < kept && streams; c++)
            from[c] = apart + c * count + at;
        status = streams ? penstock_stream_push_channels(synthesizer, (const void *const *)from, chunk, &taken)
                         : penstock_stream_push(synthesizer, frames + at * kept, chunk, &taken);
        if (!status && test_random(seed) % 3)
            status = take(synthesizer, (size_t)(test_random(seed) % 5000) + 1, test_random(seed) % 2, made);
    }
    if (!status && !(status = penstock_stream_finish(synthesizer)))
        status = take(synthesizer, (size_t)(test_random(seed) % 5000) + 1, true, made);
    penstock_stream_free(synthesizer);
    return status;
}

static double error_against_definition(const penstock_synthesizer_desc *desc, size_t kept, size_t count, size_t made,
                                       uint64_t *seed)
{
    double difference = 0, power = 0;
    size_t chosen = made < 200 ? made : 200;
    for (size_t i = 0; i < chosen; i++) {
        size_t n = chosen == made ? i : (size_t)(test_random(seed) % made);
        double s[2];
        direct(s, desc, kept, count, n);
        difference += pow((double)returned[n].re - s[0], 2) + pow((double)returned[n].im - s[1], 2);
        power += s[0] * s[0] + s[1] * s[1];
    }
    return sqrt(difference / power);
}

/* With random taps where none are given. */
static void check_definition(penstock_synthesizer_desc desc, size_t count, bool streams, uint64_t seed)
{
    size_t kept = desc.select ? desc.select_count : desc.channels, made;
    fill_random(frames, count * kept, &seed);
    for (size_t k = 0; k < desc.tap_count && !desc.taps; k++)
        taps[k] = (float)test_uniform(&seed);
    desc.taps = taps;
    CHECK_OK(synthesize(&desc, kept, count, 1 + test_random(&seed) % 50, streams, &seed, &made));
    CHECK_EQ(made, expected_samples(&desc, count));
    double error = error_against_definition(&desc, kept, count, made, &seed);
    CHECK(!made || error < 1e-6, "%zu channels, hop %zu, %zu taps: error %.3g", desc.channels, desc.hop, desc.tap_count,
          error);
    cases++;
}

static void check_definitions(int count, bool whole_powers)
{
    uint64_t seed = 3;
    for (int i = 0; i < count; i++) {
        penstock_synthesizer_desc desc = PENSTOCK_SYNTHESIZER_DESC(.tail = test_random(&seed) % 2);
        desc.channels = whole_powers ? (size_t)2 << test_random(&seed) % 6 : 2 + (size_t)(test_random(&seed) % 70);
        desc.hop = 1 + (size_t)(test_random(&seed) % desc.channels);
        desc.origin = test_random(&seed) % 2 ? (size_t)(test_random(&seed) % desc.channels) : 0;
        desc.tap_count = 1 + (size_t)(test_random(&seed) % (i % 4 ? 6 * desc.channels : desc.hop));
        desc.delay = (size_t)(test_random(&seed) % (2 * desc.tap_count));
        desc.advance = (size_t)(test_random(&seed) % (desc.delay + 1));
        if (test_random(&seed) % 3 == 0) {
            desc.select_count = 1 + (size_t)(test_random(&seed) % desc.channels);
            for (size_t c = 0; c < desc.select_count; c++)
                selected[c] = desc.channels - 1 - c;
            desc.select = selected;
        }
        check_definition(desc, (size_t)(test_random(&seed) % 300), test_random(&seed) % 2, seed);
    }
}

/* Each frame is a sample or a few, and each of these a sum of a thousand products. */
static void check_small_hops(void)
{
    for (size_t hop = 1; hop <= 3; hop++) {
        CHECK_OK(penstock_channelizer_taps(taps, 1024, 256, 256));
        check_definition(
            PENSTOCK_SYNTHESIZER_DESC(.channels = 256, .hop = hop, .taps = taps, .tap_count = 1024, .delay = 1023), 40,
            false, hop);
    }
}

/* ---------------------------------------------------------------- there and back -------------- */

static int analyse(const penstock_channelizer_desc *desc, size_t total, size_t *count)
{
    penstock_stream *channelizer = NULL;
    int status = penstock_channelizer_open(&channelizer, context, desc, device);
    *count = 0;
    for (size_t at = 0, taken, pulled; at < total && !status; at += taken) {
        status = penstock_stream_push(channelizer, samples + at, total - at, &taken);
        if (!status)
            status = penstock_stream_pull(channelizer, frames + *count * desc->channels,
                                          MOST_VALUES / desc->channels - *count, true, &pulled);
        *count += pulled;
    }
    if (!status)
        status = penstock_stream_finish(channelizer);
    for (size_t pulled = 1; pulled && !status; *count += pulled)
        status = penstock_stream_pull(channelizer, frames + *count * desc->channels,
                                      MOST_VALUES / desc->channels - *count, true, &pulled);
    penstock_stream_free(channelizer);
    return status;
}

/* The errors in decibels of samples `first` .. `total` - 1 of noise, of all and of the worst one; 1000 where they do
 * not all come. */
struct there_and_back {
    double error, worst;
};

static struct there_and_back there_and_back(penstock_channelizer_desc analysis, penstock_synthesizer_desc synthesis,
                                            size_t first, size_t total, uint64_t seed)
{
    size_t count, made = 0;
    double difference = 0, power = 0, worst = 0;
    fill_random(samples, total, &seed);
    analysis.tail = true;
    CHECK_OK(analyse(&analysis, total, &count));
    CHECK_OK(synthesize(&synthesis, analysis.channels, count, 99, false, &seed, &made));
    CHECK(made >= total, "%zu channels, hop %zu: %zu samples of %zu came back", analysis.channels, analysis.hop, made,
          total);
    if (made < total)
        return (struct there_and_back){1000, 1000};
    for (size_t n = first; n < total; n++) {
        double re = (double)returned[n].re - (double)samples[n].re, im = (double)returned[n].im - (double)samples[n].im;
        difference += re * re + im * im;
        worst = fmax(worst, re * re + im * im);
        power += pow((double)samples[n].re, 2) + pow((double)samples[n].im, 2);
    }
    cases++;
    return (struct there_and_back){10 * log10(difference / power), 10 * log10(worst * (double)(total - first) / power)};
}

/* The usual prototypes, nothing given but channels and hop; each sample is good from the one on that the header names.
 */
static void check_usual(size_t channels, size_t hop)
{
    size_t length = penstock_channelizer_taps_length(channels, hop);
    size_t total = MOST_VALUES / channels * hop;
    total = total < MOST_SAMPLES + length + hop ? total - length - hop : MOST_SAMPLES;
    for (size_t k = 0; k < 3; k++) {
        const size_t advance = (size_t[]){length / 3, hop - 1, length - 1}[k];
        const size_t first = advance < hop ? 0 : advance - hop + 1;
        struct there_and_back is = there_and_back(
            PENSTOCK_CHANNELIZER_DESC(.channels = channels, .hop = hop, .advance = advance),
            PENSTOCK_SYNTHESIZER_DESC(.channels = channels, .hop = hop, .advance = advance), first, total, channels);
        CHECK(is.error < -80 && is.worst < -70, "%zu channels, hop %zu, advance %zu: %.1f dB, worst %.1f dB", channels,
              hop, advance, is.error, is.worst);
        if (getenv("PENSTOCK_TEST_FULL"))
            printf("%zu channels, hop %zu, %zu taps, advance %zu: %.1f dB, worst %.1f dB\n", channels, hop, length,
                   advance, is.error, is.worst);
    }
}

/* `count` given taps, a dual of `dual_count`; what penstock_channelizer_dual() says of it is true. */
static void check_given(const char *name, size_t channels, size_t hop, size_t count, size_t dual_count, size_t delay,
                        double wanted)
{
    double predicted = 0;
    CHECK_OK(penstock_channelizer_dual(dual, dual_count, taps, count, channels, hop, delay, &predicted));
    double error =
        there_and_back(PENSTOCK_CHANNELIZER_DESC(.channels = channels, .hop = hop, .taps = taps, .tap_count = count),
                       PENSTOCK_SYNTHESIZER_DESC(.channels = channels, .hop = hop, .taps = dual,
                                                 .tap_count = dual_count, .delay = delay, .tail = true),
                       0, 20000, channels + hop)
            .error;
    CHECK(error < wanted, "%s, %zu channels, hop %zu: %.1f dB", name, channels, hop, error);
    CHECK(predicted > -110 ? fabs(predicted - error) < 1 : error < -100, "%s, %zu channels: %.1f dB predicted, %.1f",
          name, channels, predicted, error);
}

/* Critical sampling: windows of one block; and prototypes of several, with a first block that outweighs the others, or
 * with the weight in the middle, whose inverse is longer than they are. */
static void check_critical(size_t channels)
{
    uint64_t seed = channels;
    for (size_t k = 0; k < channels; k++)
        taps[k] = (float)(0.54 - 0.46 * cos(2 * TEST_PI * ((double)k + 0.5) / (double)channels));
    check_given("a Hamming window", channels, channels, channels, channels, channels - 1, -100);
    for (size_t k = 0; k < 3 * channels; k++)
        taps[k] = (float)((1 + 0.3 * test_uniform(&seed)) * (k < channels ? 1 : 0.2));
    check_given("a heavy first block", channels, channels, 3 * channels, 40 * channels, channels - 1, -80);
    for (size_t k = 0; k < 3 * channels; k++)
        taps[k] = (float)((1 + 0.3 * test_uniform(&seed)) * (k / channels == 1 ? 1 : 0.15));
    check_given("a heavy middle", channels, channels, 3 * channels, 41 * channels, 22 * channels - 1, -80);
}

static void check_impossible(void)
{
    penstock_stream *synthesizer = NULL;
    double predicted = -1000;
    CHECK_EQ(penstock_synthesizer_open(&synthesizer, context, &PENSTOCK_SYNTHESIZER_DESC(.channels = 16), device),
             PENSTOCK_ERR_ARGUMENT);
    CHECK(!synthesizer && strstr(penstock_error_text(), "critical"), "%s", penstock_error_text());
    CHECK_EQ(penstock_synthesizer_open(&synthesizer, context,
                                       &PENSTOCK_SYNTHESIZER_DESC(.channels = 16, .hop = 8, .origin = 16), device),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_channelizer_taps(taps, 192, 16, 16));
    CHECK_OK(penstock_channelizer_dual(dual, 192, taps, 192, 16, 16, 191, &predicted));
    CHECK(predicted > -40, "the usual prototype at critical sampling has an inverse, %.1f dB", predicted);
}

/* A short prototype that is not its own inverse at all, twice oversampled: an exact dual exists. */
static void check_oversampled(size_t channels)
{
    for (size_t k = 0; k < 2 * channels; k++)
        taps[k] = (float)(1.2 - cos(TEST_PI * ((double)k + 0.5) / (double)channels));
    check_given("a raised cosine", channels, channels / 2, 2 * channels, 2 * channels, 2 * channels - 1, -100);
    check_given("a raised cosine", channels, channels / 2 - 1, 2 * channels, 3 * channels, 2 * channels + 3, -100);
}

/* Each call takes frames or gives samples, or there is nothing left to take, also while the first results, of which
 * nothing is given, fill the stream. */
static void check_progress(void)
{
    static const size_t pieces[] = {1, 1, 498, 750, 1, 3000};
    penstock_stream *stream = NULL;
    uint64_t seed = 5;
    size_t made = 0;
    fill_random(frames, 16 * 4251, &seed);
    CHECK_OK(penstock_synthesizer_open(&stream, context, &PENSTOCK_SYNTHESIZER_DESC(.channels = 16, .hop = 8), device));
    for (size_t p = 0, at = 0; p < sizeof pieces / sizeof *pieces; at += pieces[p++])
        for (size_t done = 0, taken, given = 1; done < pieces[p] || given; done += taken, made += given) {
            CHECK_OK(penstock_stream_run(stream, frames + 16 * (at + done), pieces[p] - done, &taken, returned, 300,
                                         &given));
            CHECK(taken || given || done == pieces[p], "piece %zu: nothing moves after %zu frames", p, done);
            if (!taken && !given)
                break;
        }
    CHECK_OK(penstock_stream_finish(stream));
    for (size_t given = 1; given; made += given)
        CHECK_OK(penstock_stream_pull(stream, returned, 300, true, &given));
    CHECK(made > 4000 * 8, "%zu samples", made);
    penstock_stream_free(stream);
    cases++;
}

int main(int argc, char **argv)
{
    bool full = getenv("PENSTOCK_TEST_FULL") != NULL, powers = argc > 1;
    if (argc > 1)
        device = argv[1];
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    check_definitions(full ? 500 : powers ? 6 : 40, powers);
    check_small_hops();
    for (size_t channels = 2; channels <= (powers ? 64 : 1024);
         channels = powers || channels > 20 ? 2 * channels : channels + 1)
        for (size_t hop = channels > 16 || powers ? channels / 2 : 1; hop <= channels * 3 / 4; hop += channels / 4 + 1)
            check_usual(channels, hop);
    for (size_t channels = 2; channels <= (powers ? 16 : 100);
         channels = powers ? 2 * channels : channels * 2 - 1 + channels % 2)
        check_critical(channels);
    check_progress();
    if (!powers) {
        check_usual(4096, 2048);
        check_usual(100, 87);
        check_oversampled(16);
        check_oversampled(31);
        check_impossible();
    }
    penstock_context_free(context);
    printf("%d cases\n", cases);
    return test_finish();
}
