/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter whose shift changes while it runs, on any device: values against their definition in double precision, each
 * by one shift alone, with changes of taps between; the same bits in any chunks and however early a change is asked
 * for; the phase that it tells; after a reset the same bits as a filter that was opened so; and what is refused.
 *
 * Arguments: a device; "fused" where it takes blocks in one kernel, and fewer cases are enough.
 */
#include "device.h"
#include "filter_direct.h"

#define SAMPLES  6000
#define MOST     333 /* taps */
#define CHANNELS 2
#define CHANGES  9

static penstock_context *context;
static const char *device;
static double worst; /* error over the bound */

static float samples[2 * SAMPLES];
static int16_t integers[2 * SAMPLES];
static penstock_cf32 taps[2][MOST];
static float real_taps[2][MOST];
static penstock_cf32 good[2 * SAMPLES], got[2 * SAMPLES];

/* What holds from sample `at` on. */
struct change {
    uint64_t at;
    double shift, jump;
    int taps;     /* which of the two sets */
    double phase; /* there, with the jump */
};

struct plan {
    penstock_filter_desc desc;
    struct change changes[CHANGES];
};

static const void *samples_of(const penstock_filter_desc *desc)
{
    return desc->format == PENSTOCK_CS16 ? (const void *)integers : samples;
}

/* Of set `which`, as the description has them. */
static penstock_filter_desc with_taps(penstock_filter_desc desc, int which)
{
    desc.taps = desc.real_taps ? NULL : taps[which];
    desc.real_taps = desc.real_taps ? real_taps[which] : NULL;
    return desc;
}

/* ---------------------------------------------------------------- definition ------------------ */

static double phase_at(const struct change *change, double sample)
{
    return change->phase + remainder(change->shift * (sample - (double)change->at), 1);
}

static struct plan make_plan(penstock_filter_desc desc, size_t block)
{
    const uint64_t at[CHANGES] = {0, 700, 707, 709, 9 * block, 2500, 2500, 4001, SAMPLES - 3};
    struct plan plan = {.desc = desc};
    uint64_t seed = 3;
    plan.changes[0] = (struct change){.shift = desc.shift, .phase = desc.phase};
    for (int i = 1; i < CHANGES; i++) {
        struct change *change = &plan.changes[i], *before = change - 1;
        *change = (struct change){at[i], test_uniform(&seed) / 2, i % 2 ? 0 : test_uniform(&seed), i % 3 == 2, 0};
        change->at = change->at < before->at ? before->at : change->at;
        change->phase = phase_at(before, (double)change->at) + change->jump;
    }
    return plan;
}

/* The value at position p, by the last change that holds there. */
static void value_of(double y[2], const struct plan *plan, uint64_t p)
{
    const struct change *change = &plan->changes[CHANGES - 1];
    const size_t up = plan->desc.interpolation ? plan->desc.interpolation : 1;
    while (change->at * up > p)
        change--;
    const penstock_filter_desc desc = with_taps(plan->desc, change->taps);
    y[0] = y[1] = 0;
    for (size_t k = (size_t)(p % up); k < desc.tap_count && k <= p; k += up) {
        const size_t j = (size_t)(p - k) / up;
        double x[2] = {0, 0}, h[2] = {desc.real_taps ? (double)desc.real_taps[k] : (double)desc.taps[k].re,
                                      desc.real_taps ? 0 : (double)desc.taps[k].im};
        if (j >= SAMPLES)
            continue;
        direct_sample(x, samples_of(&desc), desc.format, j, SAMPLES);
        const double angle = 2 * TEST_PI * phase_at(change, (double)j), c = cos(angle), s = sin(angle);
        const double re = x[0] * c - x[1] * s, im = x[0] * s + x[1] * c;
        y[0] += h[0] * re - h[1] * im;
        y[1] += h[0] * im + h[1] * re;
    }
}

static void check_values(const struct plan *plan, const penstock_filter_info *info, size_t made)
{
    const size_t up = plan->desc.interpolation ? plan->desc.interpolation : 1;
    const size_t step = plan->desc.decimation ? plan->desc.decimation : 1;
    double error = 0, norm = 0, bound = 2e-7 * sqrt(log2((double)info->n)) * (strcmp(device, "reference") ? 1 : 6);
    CHECK_EQ(made, (SAMPLES * up + step - 1) / step);
    for (size_t m = 0; m < made; m++) {
        double y[2];
        value_of(y, plan, m * step);
        error += pow((double)good[m].re - y[0], 2) + pow((double)good[m].im - y[1], 2);
        norm += y[0] * y[0] + y[1] * y[1];
    }
    CHECK(sqrt(error / norm) <= bound, "%zu taps, n %zu: error %.3g, allowed %.3g", plan->desc.tap_count, info->n,
          sqrt(error / norm), bound);
    worst = fmax(worst, sqrt(error / norm) / bound);
}

/* ---------------------------------------------------------------- streams --------------------- */

static penstock_filter_info info_of(const penstock_stream *filter)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    return info;
}

/* Taps first: what is set later leaves the shift as it is. */
static void set_change(penstock_stream *filter, const struct plan *plan, const struct change *change)
{
    const penstock_filter_desc desc = with_taps(plan->desc, change->taps);
    if (change->taps != (change - 1)->taps)
        CHECK_OK(penstock_filter_set_taps(filter, desc.taps, desc.real_taps, desc.tap_count, change->at));
    CHECK_OK(penstock_filter_set_shift(filter, 0, change->shift, change->jump, change->at));
}

/* Each change is asked for `early` samples before it holds, in chunks of up to `most`. */
static size_t run(penstock_stream *filter, const struct plan *plan, uint64_t early, size_t most, penstock_cf32 *to)
{
    const size_t bytes = penstock_format_bytes(plan->desc.format);
    const char *in = samples_of(&plan->desc);
    uint64_t seed = most, done = 0;
    size_t made = 0;
    for (int i = 1; i <= CHANGES; i++) {
        const struct change *change = &plan->changes[i];
        uint64_t end = i == CHANGES ? SAMPLES : change->at < early ? 0 : change->at - early;
        end = end < done ? done : end;
        CHECK_OK(stream_push(filter, in + done * bytes, bytes, end - done, most, (char *)to, sizeof *to, &made, &seed));
        done = end;
        if (i < CHANGES)
            set_change(filter, plan, change);
    }
    CHECK_OK(stream_end(filter, (char *)to, sizeof *to, &made));
    return made;
}

static void check_phase(const penstock_stream *filter, const struct plan *plan)
{
    const double want = phase_at(&plan->changes[CHANGES - 1], SAMPLES), found = info_of(filter).phase;
    CHECK(fabs(remainder(found - want, 1)) < 1e-9, "phase %.12g at the end, expected %.12g", found, want);
}

/* As a filter that was opened with the last taps and shift. */
static void check_reset(penstock_stream *filter, const struct plan *plan)
{
    const struct change *last = &plan->changes[CHANGES - 1];
    penstock_filter_desc desc = with_taps(plan->desc, last->taps);
    const struct plan none = {.desc = desc};
    const size_t bytes = penstock_format_bytes(desc.format);
    penstock_stream *opened;
    size_t made = 0, again = 0;
    uint64_t seed = 1;
    desc.shift = last->shift;
    desc.tunable = false;
    CHECK_OK(penstock_filter_open(&opened, context, &desc, device));
    CHECK_OK(penstock_stream_reset(filter));
    CHECK(fabs(remainder(info_of(filter).phase - desc.phase, 1)) < 1e-15, "phase %g after a reset",
          info_of(filter).phase);
    CHECK_OK(
        stream_push(opened, samples_of(&none.desc), bytes, SAMPLES, 999, (char *)good, sizeof *good, &made, &seed));
    CHECK_OK(stream_end(opened, (char *)good, sizeof *good, &made));
    CHECK_OK(stream_push(filter, samples_of(&none.desc), bytes, SAMPLES, 777, (char *)got, sizeof *got, &again, &seed));
    CHECK_OK(stream_end(filter, (char *)got, sizeof *got, &again));
    CHECK(made == again && !memcmp(good, got, made * sizeof *good), "after a reset: other bits than a new filter's");
    penstock_stream_free(opened);
}

static void check(penstock_filter_desc desc)
{
    static const size_t most[] = {1, 97, 1000, SAMPLES};
    penstock_stream *filter;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    CHECK(!info_of(filter).real, "a tunable filter has real values");
    const struct plan plan = make_plan(desc, info_of(filter).block);
    size_t made = run(filter, &plan, 0, 5000, good);
    const penstock_filter_info info = info_of(filter);
    check_values(&plan, &info, made);
    check_phase(filter, &plan);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        penstock_stream_free(filter);
        CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
        CHECK(run(filter, &plan, 400 * i, most[i], got) == made && !memcmp(got, good, made * sizeof *good),
              "%zu taps, chunks of %zu: other bits", desc.tap_count, most[i]);
    }
    check_reset(filter, &plan);
    penstock_stream_free(filter);
}

/* ---------------------------------------------------------------- channels -------------------- */

static size_t run_channels(penstock_stream *filter, penstock_cf32 *const to[CHANNELS], size_t most)
{
    size_t made = 0, taken, pulled;
    for (size_t at = 0; at < SAMPLES; at += taken) {
        void *values[CHANNELS] = {to[0] + made, to[1] + made};
        size_t count = SAMPLES - at < most ? SAMPLES - at : most;
        if (at == 0)
            CHECK_OK(penstock_filter_set_shift(filter, 1, -0.2, 0.1, 3000));
        CHECK_OK(
            penstock_stream_run_channels(filter, samples + 2 * at, count, &taken, values, SAMPLES - made, &pulled));
        made += pulled;
    }
    CHECK_OK(penstock_stream_finish(filter));
    do {
        void *values[CHANNELS] = {to[0] + made, to[1] + made};
        CHECK_OK(penstock_stream_pull_channels(filter, values, SAMPLES - made, true, &pulled));
        made += pulled;
    } while (pulled);
    return made;
}

/* One channel's shift is its own; each channel's values are those of a filter of its own. */
static void check_channels(void)
{
    const penstock_filter_channel channels[CHANNELS] = {{.taps = taps[0], .tap_count = 40},
                                                        {.taps = taps[1], .tap_count = 40, .shift = 0.3}};
    penstock_cf32 *const to[CHANNELS] = {got, got + SAMPLES};
    penstock_stream *filter;
    CHECK_OK(penstock_filter_open(
        &filter, context, &PENSTOCK_FILTER_DESC(.channels = channels, .channel_count = CHANNELS, .n = 128), device));
    CHECK_EQ(run_channels(filter, to, 1234), SAMPLES);
    penstock_stream_free(filter);
    for (size_t c = 0; c < CHANNELS; c++) {
        size_t made = 0;
        uint64_t seed = 2;
        CHECK_OK(penstock_filter_open(&filter, context,
                                      &PENSTOCK_FILTER_DESC(.taps = channels[c].taps, .tap_count = 40, .n = 128,
                                                            .shift = channels[c].shift, .tunable = true),
                                      device));
        if (c == 1)
            CHECK_OK(penstock_filter_set_shift(filter, 0, -0.2, 0.1, 3000));
        CHECK_OK(stream_push(filter, (const char *)samples, sizeof *good, SAMPLES, 555, (char *)good, sizeof *good,
                             &made, &seed));
        CHECK_OK(stream_end(filter, (char *)good, sizeof *good, &made));
        CHECK(!memcmp(to[c], good, SAMPLES * sizeof *good), "channel %zu: other bits than those of its own filter", c);
        penstock_stream_free(filter);
    }
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void check_refused(penstock_stream *filter, int want, size_t channel, double shift, double jump, uint64_t at)
{
    int status = penstock_filter_set_shift(filter, channel, shift, jump, at);
    CHECK(status == want, "channel %zu, shift %g, jump %g, at %llu: status %d, expected %d", channel, shift, jump,
          (unsigned long long)at, status, want);
}

static void check_refusals(void)
{
    penstock_filter_desc desc = PENSTOCK_FILTER_DESC(.real_taps = real_taps[0], .tap_count = 20, .n = 64);
    penstock_stream *filter;
    size_t taken;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    check_refused(filter, PENSTOCK_ERR_STATE, 0, 0.1, 0, 0);
    penstock_stream_free(filter);
    desc.tunable = true;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    CHECK_OK(penstock_stream_push(filter, samples, 50, &taken));
    check_refused(filter, PENSTOCK_ERR_ARGUMENT, 1, 0.1, 0, 50);
    check_refused(filter, PENSTOCK_ERR_ARGUMENT, 0, 0.51, 0, 50);
    check_refused(filter, PENSTOCK_ERR_ARGUMENT, 0, (double)NAN, 0, 50);
    check_refused(filter, PENSTOCK_ERR_ARGUMENT, 0, 0.1, (double)INFINITY, 50);
    check_refused(filter, PENSTOCK_ERR_ARGUMENT, 0, 0.1, 0, 49);
    check_refused(filter, PENSTOCK_OK, 0, 0.1, 0, 70);
    check_refused(filter, PENSTOCK_ERR_ARGUMENT, 0, 0.1, 0, 69);
    penstock_stream_free(filter);
}

int main(int argc, char **argv)
{
    const bool fused = argc > 2;
    uint64_t seed = 5;
    device = argc > 1 ? argv[1] : "cpu";
    int exits = test_device(&context, device);
    if (!context)
        return exits;
    for (size_t i = 0; i < 2 * SAMPLES; i++) {
        samples[i] = (float)test_uniform(&seed);
        integers[i] = (int16_t)(samples[i] * 30000);
    }
    for (size_t k = 0; k < MOST; k++)
        for (int set = 0; set < 2; set++) {
            taps[set][k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
            real_taps[set][k] = taps[set][k].re;
        }
    check(PENSTOCK_FILTER_DESC(.taps = taps[0], .tap_count = 40, .n = 128, .tunable = true));
    check(PENSTOCK_FILTER_DESC(.taps = taps[0], .tap_count = MOST, .n = 128, .decimation = 4, .shift = 0.271));
    check_channels();
    if (!fused) {
        check(PENSTOCK_FILTER_DESC(.taps = taps[0], .tap_count = 40, .decimation = 3, .phase = 0.3, .n = 96));
        check(PENSTOCK_FILTER_DESC(.real_taps = real_taps[0], .tap_count = 31, .interpolation = 3, .decimation = 2,
                                   .n = 128, .tunable = true));
        check(PENSTOCK_FILTER_DESC(.format = PENSTOCK_F32, .real_taps = real_taps[0], .tap_count = 50, .n = 128,
                                   .tunable = true));
        check(
            PENSTOCK_FILTER_DESC(.format = PENSTOCK_CS16, .taps = taps[0], .tap_count = 200, .n = 512, .shift = -0.2));
        check_refusals();
    }
    printf("%s: at most %.2f of the allowed error\n", device, worst);
    penstock_context_free(context);
    return test_finish();
}
