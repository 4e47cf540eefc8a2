/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What an OFDM batch may look like: any sample format, symbols beyond 2^32 samples, outputs that are not wanted,
 * carriers without a channel; what is refused; and what happens when allocation k or device call k fails.
 */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "ofdm_synthesis.h"
#include "test.h"

#include <sys/mman.h>

static const struct synthesis_grid wifi = {.name = "wifi",
                                           .n = 64,
                                           .guard = 16,
                                           .window_offset = 3,
                                           .edge = 26,
                                           .pilot_step = 14,
                                           .pilot_first = -21,
                                           .rows = 2,
                                           .symbols = 90,
                                           .frames = 5};

static struct synthesis truth;
static size_t points, bytes;
static penstock_cf32 *good_points, *got_points;
static int8_t *good_soft, *got_soft;

static void make_good(penstock_context *context)
{
    penstock_ofdm *ofdm = NULL;
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);
    penstock_ofdm_batch batch = synthesis_batch(&truth);
    points = truth.symbol_count * truth.grid.carrier_count;
    bytes = points * PENSTOCK_QAM1024;
    good_points = calloc(points, sizeof *good_points);
    got_points = calloc(points, sizeof *got_points);
    good_soft = calloc(bytes, 1);
    got_soft = calloc(bytes, 1);
    CHECK_OK(penstock_ofdm_new(&ofdm, context, &desc, "cpu"));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.points = good_points, .soft = good_soft)));
    penstock_ofdm_free(ofdm);
}

/* ---------------------------------------------------------------- formats --------------------- */

/* Rounds the samples to `format` and gives back what that means in `exact`. */
static void *quantise(penstock_format format, penstock_cf32 *exact)
{
    size_t count = truth.sample_count;
    void *raw = calloc(count, penstock_format_bytes(format));
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 2; c++) {
            double x = 0.7 * (double)(c ? truth.samples[i].im : truth.samples[i].re), full = 128;
            x = fmax(-0.99, fmin(0.99, x));
            float *to = c ? &exact[i].im : &exact[i].re;
            size_t at = 2 * i + (size_t)c;
            switch (format) {
            case PENSTOCK_CF32:
                *to = ((float *)raw)[at] = (float)x;
                break;
            case PENSTOCK_CS16:
                full = 32768;
                *to = (float)((((int16_t *)raw)[at] = (int16_t)rint(x * full)) / full);
                break;
            case PENSTOCK_CS8:
                *to = (float)((((int8_t *)raw)[at] = (int8_t)rint(x * full)) / full);
                break;
            case PENSTOCK_CU8:
                *to = (float)(((((uint8_t *)raw)[at] = (uint8_t)rint(x * full + 127.5)) - 127.5) / full);
                break;
            case PENSTOCK_PLANAR:
                *to = ((float *)raw)[c ? count + i : i] = (float)x;
                break;
            case PENSTOCK_F32:
                *to = c ? 0 : (((float *)raw)[i] = (float)x);
                break;
            case PENSTOCK_CF16:
                *to = (float)x;
                penstock_half_from_float((uint16_t *)raw + at, to, 1);
                penstock_half_to_float(to, (uint16_t *)raw + at, 1);
                break;
            }
        }
    return raw;
}

static void check_format(penstock_context *context, const char *device, penstock_format format)
{
    penstock_cf32 *exact = calloc(truth.sample_count, sizeof *exact), *want = calloc(points, sizeof *want);
    void *raw = quantise(format, exact);
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_GIVEN);
    penstock_ofdm_batch batch = synthesis_batch(&truth);
    double error = 0, power = 0;
    for (int i = 0; i < 2; i++) {
        penstock_ofdm *ofdm = NULL;
        desc.format = i ? format : PENSTOCK_CF32;
        batch.samples = i ? raw : exact;
        CHECK_OK(penstock_ofdm_new(&ofdm, context, &desc, device));
        CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.points = i ? got_points : want)));
        penstock_ofdm_free(ofdm);
    }
    for (size_t i = 0; i < points; i++) {
        error += pow((double)(got_points[i].re - want[i].re), 2) + pow((double)(got_points[i].im - want[i].im), 2);
        power += pow((double)want[i].re, 2) + pow((double)want[i].im, 2);
    }
    CHECK(power > 1 && sqrt(error / power) < 1e-6, "%s on %s: points differ by %g", penstock_format_name(format),
          device, sqrt(error / power));
    free(exact);
    free(want);
    free(raw);
}

/* ---------------------------------------------------------------- shapes ---------------------- */

/* The same symbols with 2^32 samples between them. */
static void check_far_apart(penstock_context *context)
{
    const uint64_t far = ((uint64_t)1 << 32) + 12345;
    size_t total = (size_t)(far + truth.sample_count), length = truth.grid.guard + truth.grid.n;
    penstock_cf32 *space =
        mmap(NULL, total * sizeof *space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    penstock_ofdm_symbol *symbols = malloc(truth.symbol_count * sizeof *symbols);
    penstock_ofdm_frame *frames = malloc(2 * truth.frame_count * sizeof *frames);
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);
    penstock_ofdm *ofdm = NULL;
    if (space == MAP_FAILED) {
        printf("no address space for 2^32 samples: left out\n");
        goto done;
    }
    /* A frame far away keeps its phase: its origin moves along. */
    for (size_t f = 0; f < 2 * truth.frame_count; f++) {
        frames[f] = truth.frames[f % truth.frame_count];
        frames[f].origin += f < truth.frame_count ? 0 : far;
    }
    for (size_t i = 0; i < truth.symbol_count; i++) {
        symbols[i] = truth.symbols[i];
        if (i % 3) {
            symbols[i].start += far;
            symbols[i].frame += (uint32_t)truth.frame_count;
        }
        memcpy(space + symbols[i].start, truth.samples + truth.symbols[i].start, length * sizeof *space);
    }
    CHECK_OK(penstock_ofdm_new(&ofdm, context, &desc, "cpu"));
    CHECK_OK(penstock_ofdm_run(ofdm,
                               &PENSTOCK_OFDM_BATCH(.samples = space, .sample_count = total, .frames = frames,
                                                    .frame_count = 2 * truth.frame_count, .symbols = symbols,
                                                    .symbol_count = truth.symbol_count),
                               &PENSTOCK_OFDM_RESULT(.points = got_points, .soft = got_soft)));
    CHECK(!memcmp(got_points, good_points, points * sizeof *got_points), "points differ 2^32 samples away");
    CHECK(!memcmp(got_soft, good_soft, bytes), "soft bits differ 2^32 samples away");
    penstock_ofdm_free(ofdm);
    munmap(space, total * sizeof *space);
done:
    free(symbols);
    free(frames);
}

/* Carriers with no channel, or one that is not finite. */
static void check_dead_carriers(penstock_context *context)
{
    penstock_cf32 *channel = malloc(truth.grid.n * sizeof *channel);
    penstock_ofdm_frame *frames = malloc(truth.frame_count * sizeof *frames);
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_GIVEN);
    penstock_ofdm_batch batch = synthesis_batch(&truth);
    size_t count = truth.grid.carrier_count;
    penstock_ofdm *ofdm = NULL;
    memcpy(channel, truth.channels, truth.grid.n * sizeof *channel);
    memcpy(frames, truth.frames, truth.frame_count * sizeof *frames);
    frames[0].channel = channel;
    channel[synthesis_bin(&truth, truth.carriers[0])] = (penstock_cf32){0, 0};
    channel[synthesis_bin(&truth, truth.carriers[1])] = (penstock_cf32){NAN, 1};
    channel[synthesis_bin(&truth, truth.carriers[2])] = (penstock_cf32){INFINITY, 1};
    channel[synthesis_bin(&truth, truth.carriers[3])] = (penstock_cf32){1e-30f, 0};
    batch.frames = frames;
    CHECK_OK(penstock_ofdm_new(&ofdm, context, &desc, "cpu"));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.points = got_points, .soft = got_soft)));
    for (size_t i = 0; i < truth.symbol_count; i++)
        for (size_t k = 0; k < 5 && !truth.symbols[i].frame; k++) {
            const int8_t *soft = got_soft + (i * count + k) * PENSTOCK_QAM1024;
            penstock_cf32 point = got_points[i * count + k];
            int largest = 0;
            for (int b = 0; b < PENSTOCK_QAM1024; b++)
                largest = abs(soft[b]) > largest ? abs(soft[b]) : largest;
            CHECK((k < 4) == (point.re == 0 && point.im == 0), "carrier %zu is (%g, %g)", k, (double)point.re,
                  (double)point.im);
            CHECK((k < 4) == !largest, "carrier %zu has a soft bit of %d", k, largest);
        }
    penstock_ofdm_free(ofdm);
    free(channel);
    free(frames);
}

/* Each output alone, and none. */
static void check_single_outputs(penstock_context *context)
{
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);
    penstock_ofdm_batch batch = synthesis_batch(&truth);
    penstock_cf32 *pilots = calloc(truth.symbol_count * truth.grid.pilot_count, sizeof *pilots);
    float *phase = calloc(truth.symbol_count, sizeof *phase), *slope = calloc(truth.symbol_count, sizeof *slope);
    penstock_ofdm *ofdm = NULL;
    CHECK_OK(penstock_ofdm_new(&ofdm, context, &desc, NULL));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.pilots = pilots)));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.phase = phase)));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.slope = slope)));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.soft = got_soft)));
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &(penstock_ofdm_result){.size = sizeof(penstock_ofdm_result)}));
    for (size_t i = 0; i < truth.symbol_count; i++) {
        double angle = truth.phase[i] + truth.slope[i] * truth.pilots[0];
        penstock_cf32 got = pilots[i * truth.grid.pilot_count];
        CHECK(hypot((double)got.re - cos(angle), (double)got.im - sin(angle)) < 1e-5, "pilot of symbol %zu", i);
        CHECK(fabs(remainder((double)phase[i] - truth.phase[i], TAU)) < 1e-5, "phase of symbol %zu", i);
        CHECK(fabs((double)slope[i] - truth.slope[i]) < 1e-6, "slope of symbol %zu", i);
    }
    CHECK(!memcmp(got_soft, good_soft, bytes), "soft bits alone differ");
    batch.symbol_count = 0;
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.soft = got_soft)));
    penstock_ofdm_free(ofdm);
    free(pilots);
    free(phase);
    free(slope);
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void check_refused_descriptions(penstock_context *context)
{
    static const int32_t twice[] = {1, 2, 1}, outside[] = {32}, low[] = {-33};
    static const penstock_cf32 zero[8];
    int32_t every[64];
    penstock_ofdm *ofdm = NULL;
    for (int32_t k = 0; k < 64; k++)
        every[k] = k - 32;
#define REFUSED(...)                                                                          \
    do {                                                                                      \
        penstock_ofdm_desc d = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);                 \
        __VA_ARGS__;                                                                          \
        CHECK(penstock_ofdm_new(&ofdm, context, &d, "cpu") == PENSTOCK_ERR_ARGUMENT && !ofdm, \
              "%s: accepted or not an "                                                       \
              "argument error",                                                               \
              #__VA_ARGS__);                                                                  \
    } while (0)
    REFUSED(d.n = 1);
    REFUSED(d.n = 8193);
    REFUSED(d.window_offset = 17);
    REFUSED(d.format = (penstock_format)7);
    REFUSED(d.carrier_count = 0);
    REFUSED(d.carriers = every; d.carrier_count = SIZE_MAX);
    CHECK(strstr(penstock_error_text(), "more than n"), "%s", penstock_error_text());
    REFUSED(d.carriers = NULL);
    REFUSED(d.carriers = twice; d.carrier_count = 3);
    REFUSED(d.carriers = outside; d.carrier_count = 1);
    REFUSED(d.carriers = low; d.carrier_count = 1);
    REFUSED(d.pilots = twice; d.pilot_count = 3);
    REFUSED(d.pilot_values = NULL);
    REFUSED(d.pilot_values = zero);
    REFUSED(d.pilot_rows = 0);
    REFUSED(d.pilot_rows = SIZE_MAX / 4);
    REFUSED(d.tracking = (penstock_tracking)2);
    REFUSED(d.max_constellation = (penstock_constellation)3);
    REFUSED(d.size = 0);
#undef REFUSED
    CHECK_EQ(penstock_ofdm_new(&ofdm, context, NULL, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_new(NULL, context, NULL, "cpu"), PENSTOCK_ERR_ARGUMENT);
}

static void check_refused_batches(penstock_context *context)
{
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_GIVEN);
    penstock_ofdm *ofdm = NULL;
    desc.max_constellation = PENSTOCK_QAM64;
    CHECK_OK(penstock_ofdm_new(&ofdm, context, &desc, "cpu"));
#define REFUSED(...)                                                                                           \
    do {                                                                                                       \
        penstock_ofdm_frame frame = truth.frames[0];                                                           \
        penstock_ofdm_symbol symbol = truth.symbols[0];                                                        \
        penstock_ofdm_batch b = synthesis_batch(&truth);                                                       \
        b.frames = &frame;                                                                                     \
        b.symbols = &symbol;                                                                                   \
        b.frame_count = b.symbol_count = 1;                                                                    \
        frame.constellation = PENSTOCK_QPSK;                                                                   \
        symbol.frame = 0;                                                                                      \
        CHECK_OK(penstock_ofdm_run(ofdm, &b, &PENSTOCK_OFDM_RESULT(.soft = got_soft)));                        \
        __VA_ARGS__;                                                                                           \
        CHECK_EQ(penstock_ofdm_run(ofdm, &b, &PENSTOCK_OFDM_RESULT(.soft = got_soft)), PENSTOCK_ERR_ARGUMENT); \
    } while (0)
    REFUSED(frame.channel = NULL);
    REFUSED(frame.noise = 0);
    REFUSED(frame.noise = NAN);
    REFUSED(frame.llr_scale = -1);
    REFUSED(frame.cfo = 0.51);
    REFUSED(frame.cfo = NAN);
    REFUSED(frame.constellation = PENSTOCK_QAM256);
    REFUSED(frame.constellation = (penstock_constellation)5);
    REFUSED(symbol.frame = 1);
    REFUSED(symbol.start = truth.sample_count - 76);
    REFUSED(symbol.start = UINT64_MAX);
    REFUSED(symbol.pilot_row = 2);
    REFUSED(symbol.phase = NAN);
    REFUSED(symbol.slope = INFINITY);
    REFUSED(b.samples = NULL);
    REFUSED(b.frames = NULL);
    REFUSED(b.symbols = NULL);
    REFUSED(b.size = 0);
    REFUSED(b.size = sizeof(size_t) + sizeof(void *) / 2);
    REFUSED(b.symbol_count = SIZE_MAX / 8 + 1);
    REFUSED(b.symbol_count = SIZE_MAX);
    REFUSED(b.frame_count = SIZE_MAX / 8 + 1);
    REFUSED(b.sample_count = SIZE_MAX);
#undef REFUSED
    penstock_ofdm_result cut = PENSTOCK_OFDM_RESULT(.soft = got_soft);
    cut.size = sizeof(size_t) + sizeof(void *) / 2;
    penstock_ofdm_batch whole = synthesis_batch(&truth);
    CHECK_EQ(penstock_ofdm_run(ofdm, &whole, &cut), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_run(NULL, NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_ofdm_free(ofdm);
    penstock_ofdm_free(NULL);
}

/* ---------------------------------------------------------------- failures -------------------- */

static int run_once(penstock_ofdm **ofdm, penstock_context *context, const char *device)
{
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);
    penstock_ofdm_batch batch = synthesis_batch(&truth);
    int status = *ofdm ? PENSTOCK_OK : penstock_ofdm_new(ofdm, context, &desc, device);
    memset(got_soft, 99, bytes);
    return status ? status : penstock_ofdm_run(*ofdm, &batch, &PENSTOCK_OFDM_RESULT(.soft = got_soft));
}

static void sweep_allocations(void)
{
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 1000; k++) {
        penstock_context *context = NULL;
        penstock_ofdm *ofdm = NULL;
        penstock__memory_fail_at(k);
        if (!(status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""))))
            status = run_once(&ofdm, context, "trace");
        penstock__memory_fail_at(-1);
        if (ofdm && status)
            CHECK_OK(run_once(&ofdm, context, "trace"));
        CHECK(!ofdm || !memcmp(got_soft, good_soft, bytes), "allocation %ld: other soft bits", k);
        penstock_ofdm_free(ofdm);
        penstock_context_free(context);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!status && k > 20, "%ld allocations were failed, the last run gave %d", k, status);
}

static void sweep_calls(const char *device, bool named)
{
    penstock_context *context = NULL;
    long failed = 0;
    bool reached = true;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    for (long k = 0; reached && k < 1000; k++) {
        penstock_ofdm *ofdm = NULL;
        long before = penstock__trace_calls();
        penstock__trace_fail_at(k);
        int status = run_once(&ofdm, context, device);
        reached = penstock__trace_calls() - before > k;
        penstock__trace_fail_at(-1);
        CHECK(named || !status, "%s, call %ld: %d: %s", device, k, status, penstock_error_text());
        if (ofdm && status)
            CHECK_OK(run_once(&ofdm, context, device));
        CHECK(!ofdm || !memcmp(got_soft, good_soft, bytes), "%s, call %ld: other soft bits", device, k);
        failed += !!status;
        penstock_ofdm_free(ofdm);
    }
    CHECK(!reached && (!named || failed > 5), "%s: %ld runs failed", device, failed);
    penstock_context_free(context);
    CHECK(!penstock__trace_violations(), "contract broken: %s", penstock__trace_violation_text());
}

int main(void)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    synthesis_make(&truth, &wifi, 3);
    make_good(context);
    for (int format = PENSTOCK_CF32; format <= PENSTOCK_CF16; format++) {
        check_format(context, "cpu", (penstock_format)format);
        check_format(context, "trace", (penstock_format)format);
    }
    check_far_apart(context);
    check_dead_carriers(context);
    check_single_outputs(context);
    check_refused_descriptions(context);
    check_refused_batches(context);
    penstock_context_free(context);
    sweep_allocations();
    sweep_calls("trace", true);
    sweep_calls("prefer:trace", false);
    synthesis_free(&truth);
    free(good_points);
    free(got_points);
    free(good_soft);
    free(got_soft);
    return test_finish();
}
