/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Load and store stages of the GPU kernel against double precision: formats, windows, shifts, gathered frames, real
 * samples, power, decibel, averages. */
#include "gpu_rig.h"

/* A slow compiler has one case of so many, and fewer of those that PoCL's "repl" copies for each work-item. */
static unsigned every(void)
{
    return rig_max_n() < 8192 ? 13 : 4;
}

static void check(struct rig *rig, struct penstock_fft_problem fft, unsigned variant, const char *what)
{
    if (fft.n <= rig_max_n() && rig_draws(rig, every()))
        rig_check(rig, fft, variant, what);
}

static void load_stages(struct rig *rig)
{
    for (penstock_format format = PENSTOCK_CF32; format <= PENSTOCK_PLANAR; format++)
        check(rig,
              (struct penstock_fft_problem){
                  .n = 64, .format = format, .skip = 3, .spacing = 37, .window = format % 2 ? rig_window : NULL},
              0, penstock_format_name(format));
    check(rig, (struct penstock_fft_problem){.n = 32, .shift = 0.123456789}, 0, "shift");
    check(rig, (struct penstock_fft_problem){.n = 8192, .shift = -0.4999999, .window = rig_window}, 0,
          "shift and window");
    check(rig, (struct penstock_fft_problem){.n = 64, .gathered = true}, 0, "gathered");
    check(rig, (struct penstock_fft_problem){.n = 4, .gathered = true, .window = rig_window, .format = PENSTOCK_CS16},
          0, "gathered, window, cs16");
    check(rig, (struct penstock_fft_problem){.n = 256, .gathered = true, .format = PENSTOCK_PLANAR}, 0,
          "gathered, planar");
}

/* Of lengths for one kernel and for several, for Rader's method and for Bluestein's; turned by any number of points. */
static void folded_frames(struct rig *rig)
{
    static const struct {
        size_t n, fold, spacing;
    } frames[] = {{64, 12, 64}, {64, 12, 32}, {16, 5, 7},    {60, 36, 45},
                  {61, 3, 61},  {2, 1, 1},    {509, 2, 100}, {8192, 2, 8191}};
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8, PENSTOCK_CF16};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        for (unsigned variant = 0; variant < (i ? 1 : 3); variant++)
            check(rig,
                  (struct penstock_fft_problem){.n = frames[i].n,
                                                .fold = frames[i].fold,
                                                .spacing = frames[i].spacing,
                                                .window = rig_window,
                                                .centered = i % 2,
                                                .format = formats[i % 5]},
                  variant, "folded");
}

/* Sums over rows that are transformed back. */
static void overlapped_rows(struct rig *rig)
{
    static const struct {
        size_t n, hop, fold;
    } rows[] = {{64, 32, 12}, {64, 64, 1}, {16, 5, 40}, {60, 45, 16}, {61, 7, 3}, {2, 1, 9}, {1024, 512, 8}};
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8, PENSTOCK_CF16};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(rig,
              (struct penstock_fft_problem){.n = rows[i].n,
                                            .direction = PENSTOCK_REVERSE,
                                            .fold = rows[i].fold,
                                            .hop = rows[i].hop,
                                            .spacing = rows[i].n,
                                            .window = rig_window,
                                            .format = formats[i % 5]},
              0, "overlapped");
}

static void store_stages(struct rig *rig)
{
    struct penstock_fft_problem centered = {.n = 64, .centered = true, .scale = 0.3f};
    for (; centered.output <= PENSTOCK_OUTPUT_DECIBEL; centered.output++)
        check(rig, centered, 0, "centred, scaled");
    check(rig, (struct penstock_fft_problem){.n = 2, .centered = true}, 0, "centred");
    check(rig, (struct penstock_fft_problem){.n = 1024, .output = PENSTOCK_OUTPUT_POWER, .average = 5}, 0,
          "average of 5");
    check(rig, (struct penstock_fft_problem){.n = 16, .output = PENSTOCK_OUTPUT_DECIBEL, .average = 300}, 0,
          "decibel, average of 300");
    check(rig,
          (struct penstock_fft_problem){
              .n = 64, .output = PENSTOCK_OUTPUT_POWER, .average = 20, .spacing = 8, .direction = PENSTOCK_REVERSE},
          0, "average of 20, overlapping, reverse");
}

static void real_samples(struct rig *rig)
{
    static const size_t lengths[] = {4, 32, 64, 2048, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct penstock_fft_problem forward = {.n = lengths[i], .domain = PENSTOCK_REAL, .format = PENSTOCK_F32};
        check(rig, forward, 0, "real");
        forward.format = PENSTOCK_CF32;
        forward.direction = PENSTOCK_REVERSE;
        check(rig, forward, 0, "real reverse");
    }
    check(rig,
          (struct penstock_fft_problem){.n = 64,
                                        .domain = PENSTOCK_REAL,
                                        .format = PENSTOCK_F32,
                                        .window = rig_window,
                                        .spacing = 17,
                                        .output = PENSTOCK_OUTPUT_POWER,
                                        .average = 3},
          0, "real, window, averaged");
}

int main(int count, char **arguments)
{
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    load_stages(&rig);
    folded_frames(&rig);
    overlapped_rows(&rig);
    store_stages(&rig);
    real_samples(&rig);
    CHECK(test_cases >= 24, "only %u cases", test_cases);
    return rig_finish(&rig, test_cases_drawn < test_cases ? test_cases / every() : 24);
}
