/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Clipped and not finite samples are counted exactly, by sources and by sinks, in any chunks; so is what a file lost
 * while it was read. Each count is compared with one that is made here, value by value in double precision. */
#include "files.h"

#include <math.h>

#define SAMPLES 50021

static penstock_cf32 values[SAMPLES];
static uint8_t bytes[SAMPLES * 8];

static struct {
    int lines;
    char text[512];
} told;

static void tell(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    told.lines += level == PENSTOCK_LOG_WARNING;
    snprintf(told.text, sizeof told.text, "%s", line);
}

/* ---------------------------------------------------------------- sinks ----------------------- */

/* Around full scale; on and beside every edge; some that are no numbers. */
static void fill_values(uint64_t seed)
{
    static const float odd[] = {NAN,  -NAN,  INFINITY, -INFINITY,    1e30f,       -1e30f,
                                1.0f, -1.0f, 0.0f,     127.5f / 128, 127.0f / 128};
    for (size_t i = 0; i < SAMPLES; i++)
        values[i] = (penstock_cf32){1.1f * (float)test_uniform(&seed), 1.1f * (float)test_uniform(&seed)};
    for (size_t i = 0; i < SAMPLES; i += 1 + test_random(&seed) % 40)
        *(test_random(&seed) & 1 ? &values[i].re : &values[i].im) =
            odd[test_random(&seed) % (sizeof odd / sizeof odd[0])];
    for (int i = -40; i < 40; i++) {
        values[1000 + i].re = (float)((32767.5 + 0.125 * i) / 32768);
        values[2000 + i].im = (float)((-32768.5 + 0.125 * i) / 32768);
        values[3000 + i].re = (float)((127.5 + 0.125 * i) / 128);
        values[4000 + i].im = (float)((-128.5 + 0.125 * i) / 128);
    }
}

/* More than half a step beyond the range, which ends at `least` and `most` steps. */
static bool too_large(float part, double scale, double offset, double least, double most)
{
    double steps = part * scale + offset;
    return steps < least - 0.5 || steps > most + 0.5;
}

static const struct {
    penstock_format format;
    double scale, offset, least, most;
} formats[] = {{PENSTOCK_CF32, 1, 0, -INFINITY, INFINITY},
               {PENSTOCK_CS16, 32768, 0, -32768, 32767},
               {PENSTOCK_CS8, 128, 0, -128, 127},
               {PENSTOCK_CU8, 128, 127.5, 0, 255}};

static void sinks(void)
{
    for (size_t f = 0; f < 4; f++)
        for (size_t largest = 7; largest < 100000; largest *= 41) {
            penstock_sink_counters counters = PENSTOCK_SINK_COUNTERS;
            uint64_t clipped = 0, not_finite = 0, seed = largest;
            penstock_sink *sink;
            for (size_t i = 0; i < SAMPLES; i++) {
                float re = values[i].re, im = values[i].im;
                if (!isfinite(re) || !isfinite(im))
                    not_finite++;
                else
                    clipped += too_large(re, formats[f].scale, formats[f].offset, formats[f].least, formats[f].most) ||
                               too_large(im, formats[f].scale, formats[f].offset, formats[f].least, formats[f].most);
            }
            CHECK(not_finite > 300 && (f == 0 || clipped > 5000), "the test has cases");
            CHECK_OK(penstock_sink_open(&sink, test_path("out"),
                                        &PENSTOCK_SINK_DESC(.format = formats[f].format, .rate_hz = 1)));
            for (size_t done = 0, n; done < SAMPLES; done += n) {
                n = 1 + test_random(&seed) % largest;
                n = n < SAMPLES - done ? n : SAMPLES - done;
                CHECK_OK(penstock_sink_write(sink, values + done, n));
            }
            CHECK_OK(penstock_sink_close(sink));
            CHECK_OK(penstock_sink_get_counters(sink, &counters));
            CHECK_EQ(counters.samples, SAMPLES);
            CHECK_EQ(counters.clipped, clipped);
            CHECK_EQ(counters.not_finite, not_finite);
            penstock_sink_free(sink);
        }
    CHECK_EQ(penstock_sink_get_counters(NULL, &PENSTOCK_SINK_COUNTERS), PENSTOCK_ERR_ARGUMENT);
}

/* ---------------------------------------------------------------- sources --------------------- */

/* The number with the bits of a half; those that are not finite as such. */
static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 31;
    return exponent == 31 ? NAN : ldexp(1024 * (exponent > 0) + (half & 1023), exponent - 25);
}

/* Of sample `i`: 1 clipped, 2 not finite, 0 neither. */
static int trouble_of(penstock_format format, size_t i)
{
    int found = 0;
    for (size_t part = 2 * i; part < 2 * i + 2; part++)
        switch (format) {
        case PENSTOCK_CF32:
            found |= isfinite(((const float *)(const void *)bytes)[part]) ? 0 : 2;
            break;
        case PENSTOCK_F32:
            found |= isfinite(((const float *)(const void *)bytes)[i]) ? 0 : 2;
            break;
        case PENSTOCK_CF16:
            found |= isfinite(half_value(((const uint16_t *)(const void *)bytes)[part])) ? 0 : 2;
            break;
        case PENSTOCK_CS16: {
            int value = ((const int16_t *)(const void *)bytes)[part];
            found |= value == -32768 || value == 32767;
            break;
        }
        case PENSTOCK_CS8: {
            int value = ((const int8_t *)bytes)[part];
            found |= value == -128 || value == 127;
            break;
        }
        default:
            found |= bytes[part] == 0 || bytes[part] == 255;
        }
    return found;
}

static void one_source(penstock_format format, double resample_hz, size_t largest)
{
    static uint8_t out[SAMPLES * 8];
    size_t sample_bytes = penstock_format_bytes(format);
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    penstock_source_desc desc = PENSTOCK_SOURCE_DESC(.raw = true, .format = format, .rate_hz = 2e6);
    uint64_t want[3] = {0};
    penstock_source *source;
    for (size_t i = 0; i < SAMPLES; i++)
        want[trouble_of(format, i)]++;
    CHECK(want[1] + want[2] > 10, "the test has cases");
    desc.resample_hz = resample_hz;
    test_write_file("in", bytes, SAMPLES * sample_bytes);
    CHECK_OK(penstock_source_open(&source, NULL, test_path("in"), &desc));
    long long given = test_read_source(source, out, resample_hz > 0 ? 8 : sample_bytes, SAMPLES, largest, 3);
    CHECK_EQ(given, resample_hz > 0 ? (SAMPLES + 1) / 2 : SAMPLES);
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK_EQ(counters.samples, (uint64_t)given);
    CHECK_EQ(counters.taken, SAMPLES);
    CHECK_EQ(counters.clipped, want[1]);
    CHECK_EQ(counters.not_finite, want[2]);
    CHECK_EQ(counters.missing_samples, 0);
    penstock_source_free(source);
}

static void sources(void)
{
    static const penstock_format kinds[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8,
                                            PENSTOCK_CU8,  PENSTOCK_F32,  PENSTOCK_CF16};
    uint64_t seed = 11;
    for (size_t i = 0; i < sizeof bytes; i++) {
        uint64_t word = test_random(&seed);
        /* of every byte value, limits more often: also the exponents that make NaN and infinity */
        bytes[i] = (uint8_t)(word & 0x700 ? word : word & 0x800 ? 0xff : word & 0x1000 ? 0x7f : 0x80);
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t largest = 5; largest < 100000; largest *= 97)
            one_source(kinds[k], 0, largest);
    one_source(PENSTOCK_CS16, 1e6, 4000);
    one_source(PENSTOCK_CF32, 1e6, 4000);
}

/* ---------------------------------------------------------------- a file that shrinks --------- */

static void shrinking(penstock_context *context)
{
    static uint8_t out[SAMPLES * 4];
    static const struct {
        size_t read_before, left_bytes, missing, trailing;
    } cases[] = {{1000, 4 * 20000, SAMPLES - 20000, 0},
                 {1000, 4 * 20000 + 3, SAMPLES - 20000, 3},
                 {20000, 4 * 20000, SAMPLES - 20000, 0},
                 {20000, 0, SAMPLES - 20000, 0},
                 {1, 4 * (SAMPLES - 1), 1, 0},
                 {7, 4 * SAMPLES, 0, 0},
                 {SAMPLES, 4, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
        char number[32];
        penstock_source *source;
        size_t count;
        told.lines = 0;
        test_write_file("in", bytes, SAMPLES * 4);
        CHECK_OK(penstock_source_open(&source, context, test_path("in"),
                                      &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 1e6)));
        CHECK_OK(penstock_source_read(source, out, cases[i].read_before, &count));
        CHECK_EQ(count, cases[i].read_before);
        CHECK(!truncate(test_path("in"), (off_t)cases[i].left_bytes), "truncate");
        long long rest = test_read_source(source, out + 4 * count, 4, SAMPLES - count, 3000, i);
        CHECK_EQ(rest + (long long)count, (long long)(SAMPLES - cases[i].missing));
        CHECK(!memcmp(out, bytes, 4 * (SAMPLES - cases[i].missing)), "what came");
        CHECK_OK(penstock_source_get_counters(source, &counters));
        CHECK_EQ(counters.missing_samples, cases[i].missing);
        CHECK_EQ(counters.trailing_bytes, cases[i].trailing);
        snprintf(number, sizeof number, "%zu samples of %d", cases[i].missing, SAMPLES);
        CHECK_EQ(told.lines, cases[i].missing > 0);
        CHECK(!cases[i].missing || strstr(told.text, number), "%s", told.text);
        penstock_source_free(source);
    }
}

int main(void)
{
    penstock_context *context;
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .log = tell)));
    for (uint64_t seed = 1; seed < 4; seed++) {
        fill_values(seed);
        sinks();
    }
    sources();
    shrinking(context);
    penstock_context_free(context);
    test_remove_folder();
    return test_finish();
}
