/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The same frame gives the same bits on the CPU, however frames are grouped into calls, wherever they lie in memory,
 * in whatever order, in place, and with however many threads.
 */
#include "backends/cpu/loops.h"
#include "test.h"

#include <penstock/penstock.h>

#define FRAMES 60

struct subject {
    penstock_fft_desc desc;
    size_t in_sample, in_frame; /* bytes of a sample, samples of a frame */
    size_t out_frame;           /* bytes */
};

static unsigned char *in, *moved_in;
static unsigned char *expected, *out;

static size_t frame_samples(const struct subject *s, size_t frames)
{
    size_t spacing = s->desc.load.spacing ? s->desc.load.spacing : s->desc.load.skip + s->in_frame;
    return (frames - 1) * spacing + s->desc.load.skip + s->in_frame;
}

static void compare(const struct subject *s, const unsigned char *got, size_t frames, const char *what)
{
    size_t average = s->desc.store.average ? s->desc.store.average : 1;
    for (size_t i = 0; i < frames / average; i++)
        CHECK(!memcmp(got + i * s->out_frame, expected + i * s->out_frame, s->out_frame),
              "n = %zu, format %d, output %d: frame %zu differs, %s", s->desc.n, (int)s->desc.load.format,
              (int)s->desc.store.output, i, what);
}

/* From `in` in chunks of `step` frames, moved to an address that is `shift` bytes past a multiple of 64. */
static void check_chunks(penstock_plan *plan, const struct subject *s, size_t step, size_t shift, const char *what)
{
    size_t average = s->desc.store.average ? s->desc.store.average : 1;
    size_t spacing = s->desc.load.spacing ? s->desc.load.spacing : s->desc.load.skip + s->in_frame;
    if (s->desc.load.format == PENSTOCK_PLANAR)
        step = FRAMES; /* where Q lies depends on the call's size */
    step = (step + average - 1) / average * average;
    memcpy(moved_in + shift, in, frame_samples(s, FRAMES) * s->in_sample);
    memset(out, 0xa5, FRAMES * s->out_frame + 64);
    for (size_t first = 0; first < FRAMES; first += step) {
        size_t count = FRAMES - first < step ? FRAMES - first : step;
        CHECK_OK(penstock_plan_run(plan, moved_in + shift + first * spacing * s->in_sample,
                                   out + shift + first / average * s->out_frame, count));
    }
    compare(s, out + shift, FRAMES, what);
}

/* Frames backwards, one by one. */
static void check_order(penstock_plan *plan, const struct subject *s)
{
    size_t spacing = s->desc.load.spacing ? s->desc.load.spacing : s->desc.load.skip + s->in_frame;
    if (s->desc.load.format == PENSTOCK_PLANAR || s->desc.store.average > 1)
        return;
    for (size_t i = FRAMES; i-- > 0;)
        CHECK_OK(penstock_plan_run(plan, in + i * spacing * s->in_sample, out + i * s->out_frame, 1));
    compare(s, out, FRAMES, "backwards");
}

static void check_in_place(penstock_plan *plan, const struct subject *s)
{
    if (s->desc.load.spacing || s->desc.load.skip || s->desc.store.average > 1 ||
        s->in_frame * s->in_sample != s->out_frame)
        return;
    memcpy(out, in, FRAMES * s->out_frame);
    CHECK_OK(penstock_plan_run(plan, out, out, FRAMES));
    compare(s, out, FRAMES, "in place");
}

static void check_subject(penstock_context *const contexts[3], const struct subject *s)
{
    uint64_t seed = s->desc.n;
    size_t samples = frame_samples(s, FRAMES);
    test_random_bytes(in, samples * s->in_sample, &seed);
    if (s->in_sample >= sizeof(float) && s->desc.load.format != PENSTOCK_CS16)
        for (size_t i = 0; i < samples * s->in_sample / sizeof(float); i++)
            ((float *)(void *)in)[i] = (float)test_uniform(&seed);
    for (int c = 0; c < 3; c++) {
        penstock_plan *plan;
        CHECK_OK(penstock_fft_plan(&plan, contexts[c], &s->desc, "cpu"));
        if (!plan)
            return;
        if (c == 0)
            CHECK_OK(penstock_plan_run(plan, in, expected, FRAMES));
        check_chunks(plan, s, FRAMES, 0, c == 0 ? "again" : "with more threads");
        check_chunks(plan, s, 1, 0, "one by one");
        check_chunks(plan, s, 7, 0, "by sevens");
        check_chunks(plan, s, FRAMES, 8, "moved by 8 bytes");
        check_chunks(plan, s, 13, 4, "moved by 4 bytes");
        check_order(plan, s);
        check_in_place(plan, s);
        penstock_plan_free(plan);
    }
}

static void check_length(penstock_context *const contexts[3], size_t n, const float *window)
{
    const penstock_load loads[] = {
        {.format = PENSTOCK_CF32},
        {.format = PENSTOCK_CF32, .window = window},
        {.format = PENSTOCK_CF32, .spacing = n / 2 + 1, .skip = 3},
        {.format = PENSTOCK_CF32, .shift = 0.123},
        {.format = PENSTOCK_CS16, .window = window, .spacing = 1},
        {.format = PENSTOCK_CS8, .shift = -0.3},
        {.format = PENSTOCK_CU8},
        {.format = PENSTOCK_PLANAR},
    };
    const penstock_store stores[] = {
        {.output = PENSTOCK_OUTPUT_COMPLEX},
        {.output = PENSTOCK_OUTPUT_COMPLEX, .centered = true, .scale = 0.7f},
        {.output = PENSTOCK_OUTPUT_POWER, .average = 5},
        {.output = PENSTOCK_OUTPUT_DECIBEL, .average = 12, .centered = true, .scale = 0.7f},
        {.output = PENSTOCK_OUTPUT_POWER, .average = 20},
        {.output = PENSTOCK_OUTPUT_DECIBEL, .centered = true},
    };
    for (size_t l = 0; l < sizeof loads / sizeof loads[0]; l++)
        for (size_t k = 0; k < sizeof stores / sizeof stores[0]; k++) {
            struct subject s = {.desc = PENSTOCK_FFT_DESC(.n = n, .load = loads[l], .store = stores[k]), .in_frame = n};
            s.in_sample = penstock_format_bytes(loads[l].format);
            s.out_frame = n * (stores[k].output ? sizeof(float) : sizeof(penstock_cf32));
            check_subject(contexts, &s);
        }
}

static void check_real(penstock_context *const contexts[3], size_t n)
{
    struct subject forward = {.desc = PENSTOCK_FFT_DESC(.n = n, .domain = PENSTOCK_REAL), .in_frame = n};
    struct subject reverse = {.desc = PENSTOCK_FFT_DESC(.n = n, .domain = PENSTOCK_REAL, .direction = PENSTOCK_REVERSE),
                              .in_frame = n / 2 + 1};
    forward.in_sample = sizeof(float);
    forward.out_frame = (n / 2 + 1) * sizeof(penstock_cf32);
    forward.desc.load.format = PENSTOCK_F32;
    reverse.in_sample = sizeof(penstock_cf32);
    reverse.out_frame = n * sizeof(float);
    check_subject(contexts, &forward);
    check_subject(contexts, &reverse);
}

/* The loops built for this processor against those built for any. */
static void check_loops(void)
{
    const struct cpu_loops *loops = penstock__cpu_loops();
    static double sums[2][200];
    static float parts[2][200];
    uint64_t seed = 77;
    for (size_t n = 0; n < 200; n++) {
        penstock_cf32 *a = (penstock_cf32 *)(void *)in, *b = (penstock_cf32 *)(void *)moved_in;
        uint32_t phase = (uint32_t)test_random(&seed), step = (uint32_t)test_random(&seed);
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] = (penstock_cf32){(float)test_uniform(&seed), (float)exp(80 * test_uniform(&seed))};
        loops->rotate(a, n, phase, step);
        penstock__cpu_loops_plain.rotate(b, n, phase, step);
        CHECK(!memcmp(a, b, n * sizeof *a), "rotate differs at n = %zu", n);
        memset(sums, 0, sizeof sums);
        loops->power(parts[0], a, n);
        penstock__cpu_loops_plain.power(parts[1], b, n);
        CHECK(!memcmp(parts[0], parts[1], sizeof parts[0]), "power differs at n = %zu", n);
        loops->add_power(parts[0], a, n);
        penstock__cpu_loops_plain.add_power(parts[1], b, n);
        CHECK(!memcmp(parts[0], parts[1], sizeof parts[0]), "add_power differs at n = %zu", n);
        loops->add_parts(sums[0], parts[0], n);
        penstock__cpu_loops_plain.add_parts(sums[1], parts[1], n);
        CHECK(!memcmp(sums[0], sums[1], sizeof sums[0]), "add_parts differs at n = %zu", n);
        loops->decibel(&a->re, 2 * n);
        penstock__cpu_loops_plain.decibel(&b->re, 2 * n);
        for (size_t i = 0; i < 2 * n; i++) /* NaN need not have the same bits */
            CHECK((&a->re)[i] == (&b->re)[i] || isnan((&a->re)[i]), "decibel differs at %zu of %zu", i, 2 * n);
    }
}

int main(void)
{
    static const size_t lengths[] = {1, 2, 5, 16, 64, 97, 100, 512, 1024, 1025};
    static float window[1025];
    penstock_context *contexts[3];
    size_t bytes = FRAMES * 1100 * sizeof(penstock_cf32);
    uint64_t seed = 5;
    in = aligned_alloc(64, bytes);
    moved_in = aligned_alloc(64, bytes);
    expected = aligned_alloc(64, bytes);
    out = aligned_alloc(64, bytes);
    if (!in || !moved_in || !expected || !out)
        return 1;
    for (size_t i = 0; i < 1025; i++)
        window[i] = (float)test_uniform(&seed);
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(penstock_context_new(&contexts[i], &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = i + 1)));
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_length(contexts, lengths[i], window);
        check_real(contexts, lengths[i]);
    }
    check_loops();
    for (unsigned i = 0; i < 3; i++)
        penstock_context_free(contexts[i]);
    free(in);
    free(moved_in);
    free(expected);
    free(out);
    return test_finish();
}
