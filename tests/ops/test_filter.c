/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter against its definition summed directly in double precision: random taps, lengths, decimations, shifts,
 * formats and chunks, on the device of the first argument; each value counted, block edges included.
 */
#include "device.h"
#include "filter_direct.h"

#define MOST_SAMPLES 60000
#define MOST_VALUES  (2 * MOST_SAMPLES)

static penstock_context *context;
static const char *device = "cpu";
static union {
    float f[2 * MOST_SAMPLES];
    int16_t s[2 * MOST_SAMPLES];
    uint8_t b[2 * MOST_SAMPLES];
} samples;
static penstock_cf32 values[MOST_VALUES], taps[20000];
static float real_taps[20000];

static void fill(penstock_format format, size_t count, uint64_t *seed)
{
    size_t floats = format == PENSTOCK_F32 ? count : 2 * count;
    for (size_t i = 0; i < floats; i++) {
        uint64_t random = test_random(seed);
        if (format == PENSTOCK_CS16)
            samples.s[i] = (int16_t)random;
        else if (format == PENSTOCK_CS8 || format == PENSTOCK_CU8)
            samples.b[i] = (uint8_t)random;
        else
            samples.f[i] = (float)((double)(int64_t)random * 0x1p-63);
    }
}

/* All values, or 300 chosen ones of long streams and those about the edges of the first blocks. */
static double compare(const penstock_filter_desc *desc, const penstock_filter_info *info, size_t total, size_t made,
                      uint64_t *seed)
{
    double difference = 0, power = 0;
    size_t chosen = made * desc->tap_count < 3000000 ? made : 400;
    for (size_t i = 0; i < chosen; i++) {
        size_t m = i;
        if (chosen < made)
            m = i < 300 ? (size_t)(test_random(seed) % made)
                        : (i - 300) / 10 * (info->block * desc->interpolation / desc->decimation) + i % 10;
        if (m >= made)
            continue;
        double y[2], got[2];
        direct_value(y, &samples, total, desc, m * desc->decimation + desc->advance);
        got[0] = info->real ? (double)((float *)(void *)values)[m] : (double)values[m].re;
        got[1] = info->real ? 0 : (double)values[m].im;
        difference += (got[0] - y[0]) * (got[0] - y[0]) + (got[1] - y[1]) * (got[1] - y[1]);
        power += y[0] * y[0] + y[1] * y[1];
    }
    return sqrt(difference / power);
}

static uint64_t expected_count(const penstock_filter_desc *desc, size_t total)
{
    uint64_t count = 0, all = total * (desc->interpolation ? desc->interpolation : 1);
    uint64_t end = desc->tail ? all + desc->tap_count - 1 : all + desc->advance;
    for (uint64_t p = desc->advance; total && p < end; p += desc->decimation)
        count++;
    return count;
}

static void run_case(penstock_filter_desc desc, size_t total, size_t most, uint64_t seed)
{
    desc.interpolation = desc.interpolation ? desc.interpolation : 1;
    penstock_stream *filter = NULL;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    size_t made = 0, bytes = penstock_format_bytes(desc.format);
    fill(desc.format, total, &seed);
    for (size_t k = 0; k < desc.tap_count; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        real_taps[k] = taps[k].re;
    }
    if (desc.real_taps)
        desc.real_taps = real_taps;
    else
        desc.taps = taps;
    int status = penstock_filter_open(&filter, context, &desc, device);
    CHECK(!status, "%zu taps on %s: %s", desc.tap_count, device, penstock_error_text());
    if (status)
        return;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    if (desc.format == PENSTOCK_PLANAR) {
        size_t taken; /* one push is one planar array */
        CHECK_OK(penstock_stream_push(filter, &samples, total, &taken));
        CHECK_EQ(taken, total);
    } else {
        CHECK_OK(
            stream_push(filter, (char *)&samples, bytes, total, most, (char *)values, info.value_bytes, &made, &seed));
    }
    CHECK_OK(stream_end(filter, (char *)values, info.value_bytes, &made));
    CHECK_EQ(made, expected_count(&desc, total));
    double error = compare(&desc, &info, total, made, &seed),
           bound = 2e-7 * sqrt(log2((double)(info.n * desc.interpolation)));
    CHECK(!total || error <= bound,
          "%zu %s taps, decimation %zu / %zu, shift %g, format %s, transforms of %zu: error %.3g, bound %.3g",
          desc.tap_count, desc.real_taps ? "real" : "complex", desc.decimation, desc.interpolation, desc.shift,
          penstock_format_name(desc.format), info.n, error, bound);
    penstock_stream_free(filter);
}

/* A length around powers of two more often than others. */
static size_t random_taps(size_t most, uint64_t *seed)
{
    uint64_t random = test_random(seed);
    size_t power = (size_t)1 << (random >> 8) % 14, count = random % 2 ? power + random % 3 : random % 300 + 1;
    return count <= most ? count : most;
}

static void random_cases(int count, size_t most_taps, bool whole_powers)
{
    static const size_t decimations[] = {1, 1, 2, 3, 4, 5, 7, 8, 10, 16, 25, 48, 100, 1000};
    static const size_t interpolations[] = {1, 1, 1, 1, 2, 3, 4, 5, 8, 10};
    uint64_t seed = 7;
    for (int i = 0; i < count; i++) {
        penstock_filter_desc desc = PENSTOCK_FILTER_DESC(.tail = test_random(&seed) % 2);
        desc.format = (penstock_format)(test_random(&seed) % 6);
        desc.tap_count = random_taps(most_taps, &seed);
        desc.decimation = decimations[test_random(&seed) % 14];
        desc.interpolation = whole_powers ? 1 + (size_t)(i % 4 == 3) : interpolations[test_random(&seed) % 10];
        if (test_random(&seed) % 2)
            desc.shift = test_uniform(&seed) / 2;
        if (test_random(&seed) % 2)
            desc.real_taps = real_taps;
        if (test_random(&seed) % 2)
            desc.advance = test_random(&seed) % desc.tap_count;
        size_t n = 64;
        while (n < 2 * desc.tap_count || n < desc.tap_count + 2 * desc.decimation)
            n *= 2;
        desc.n = whole_powers || test_random(&seed) % 2 ? n : n + test_random(&seed) % 40;
        size_t total = desc.format == PENSTOCK_PLANAR ? 300 : test_random(&seed) % (MOST_SAMPLES / desc.interpolation);
        run_case(desc, total, 1 + test_random(&seed) % 9000, seed);
    }
}

/* Shortest streams, one tap, and the length by measurement. */
static void edge_cases(void)
{
    for (size_t total = 0; total < 5; total++)
        for (size_t decimation = 1; decimation < 4; decimation++)
            run_case(PENSTOCK_FILTER_DESC(.tap_count = 3, .decimation = decimation, .tail = total % 2, .n = 64,
                                          .advance = decimation % 3),
                     total, 2, total);
    run_case(PENSTOCK_FILTER_DESC(.tap_count = 1, .decimation = 1, .n = 64), 1000, 100, 1);
    run_case(PENSTOCK_FILTER_DESC(.tap_count = 129, .real_taps = real_taps, .decimation = 4), 30000, 4000, 2);
    run_case(PENSTOCK_FILTER_DESC(.tap_count = 65, .decimation = 5, .shift = 0.21), 30000, 4000, 3);
    run_case(PENSTOCK_FILTER_DESC(.tap_count = 65, .decimation = 1, .max_latency = 300), 30000, 4000, 4);
    run_case(PENSTOCK_FILTER_DESC(.tap_count = 200, .decimation = 3, .interpolation = 7, .advance = 99), 9000, 4000, 5);
}

/* Interpolation in one kernel: values at each place between two samples, all or some of them, from some part of a
 * sample on, of each format, turned or not. */
static void interpolated_cases(void)
{
    static const struct {
        size_t n, taps, up, down, advance;
        penstock_format format;
        double shift;
        bool real;
    } cases[] = {
        {64, 50, 2, 1, 0, PENSTOCK_CF32, 0, true},     {64, 61, 3, 2, 7, PENSTOCK_CF32, 0.21, false},
        {128, 200, 4, 1, 3, PENSTOCK_CS16, 0.3, true}, {128, 333, 7, 3, 30, PENSTOCK_CS8, 0, false},
        {64, 100, 5, 4, 9, PENSTOCK_F32, 0, true},     {64, 1, 3, 1, 0, PENSTOCK_CF32, 0, true},
        {128, 1000, 16, 1, 5, PENSTOCK_CU8, 0, true},  {256, 100, 2, 5, 1, PENSTOCK_F32, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        penstock_filter_desc desc = PENSTOCK_FILTER_DESC(.n = cases[i].n, .tail = i % 2);
        desc.tap_count = cases[i].taps;
        desc.interpolation = cases[i].up;
        desc.decimation = cases[i].down;
        desc.advance = cases[i].advance;
        desc.format = cases[i].format;
        desc.shift = cases[i].shift;
        desc.real_taps = cases[i].real ? real_taps : NULL;
        run_case(desc, 3000 + 7 * i, 900, i);
    }
}

int main(int argc, char **argv)
{
    bool full = getenv("PENSTOCK_TEST_FULL") != NULL;
    if (argc > 1)
        device = argv[1];
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    if (argc == 1)
        edge_cases();
    interpolated_cases();
    if (argc < 3)
        random_cases(full ? 1000 : argc > 1 ? 10 : 80, argc > 1 ? 3000 : 9000, argc > 1);
    penstock_context_free(context);
    return test_finish();
}
