/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The forms of a transform on a GPU backend against double precision: every plan option, with what it changes in the
 * plan; frames with rows and with columns. PENSTOCK_TEST_FULL=1 runs more lengths.
 */
#include "gpu_rig.h"

/* What a plan says of itself. */
struct told {
    char variant[64];
    unsigned kernels, passes;
};

static struct told tell(struct rig *rig, struct penstock_fft_problem fft)
{
    struct penstock_problem problem = rig_problem(fft);
    struct penstock_plan_state plan = {.device = rig->device, .problem = &problem};
    struct told told = {""};
    plan.priv = penstock__calloc(1, rig->backend->plan_bytes);
    if (rig->backend->plan_init(&plan, 0)) {
        CHECK(false, "n %zu: %s", fft.n, penstock_error_text());
    } else {
        snprintf(told.variant, sizeof told.variant, "%s", plan.variant);
        told.kernels = plan.kernels;
        told.passes = plan.passes;
        rig->backend->plan_free(&plan);
    }
    penstock__free(plan.priv);
    return told;
}

static void expect(struct rig *rig, struct penstock_fft_problem fft, unsigned kernels, const char *words)
{
    struct told told = tell(rig, fft);
    CHECK(told.kernels == kernels && told.passes == kernels, "n %zu: %u kernels, %u passes, %u are right", fft.n,
          told.kernels, told.passes, kernels);
    CHECK(strstr(told.variant, words), "n %zu: '%s' is not in '%s'", fft.n, words, told.variant);
}

static void check(struct rig *rig, struct penstock_fft_problem fft, unsigned variant, const char *what)
{
    if (rig_draws(rig, 9))
        rig_check(rig, fft, variant, what);
}

/* Of each list one. */
static bool told_too(const struct rig *rig, size_t i)
{
    return test_drawn(i, rig->device->host_memory ? 4 : 1);
}

static void radices(struct rig *rig)
{
    static const struct {
        unsigned radix;
        const char *words;
    } cases[] = {{2, "radix 2x2x2x2x2x2x2x2x2"}, {4, "radix 4x4x4x4x2"}, {8, "radix 8x8x8"}, {16, "radix 16x16x2"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct penstock_fft_problem fft = {.n = 512, .options = {.radix = cases[i].radix}};
        if (told_too(rig, i))
            expect(rig, fft, 1, cases[i].words);
        for (unsigned variant = 0; variant < 3; variant++)
            check(rig, fft, variant, "radix");
        fft =
            (struct penstock_fft_problem){.n = 60, .direction = PENSTOCK_REVERSE, .options = {.radix = cases[i].radix}};
        check(rig, fft, 0, "radix of 60 points, reverse");
    }
    check(rig, (struct penstock_fft_problem){.n = 67, .options = {.radix = 4}}, 0, "radix of 67 points");
}

static void scratches(struct rig *rig)
{
    const penstock_fft_options global = {.scratch = PENSTOCK_SCRATCH_GLOBAL};
    static const struct {
        size_t n;
        unsigned radix, kernels;
        const char *words;
    } cases[] = {{16, 0, 1, "radix 16"},
                 {64, 2, 6, "passes 2x2x2x2x2x2"},
                 {60, 0, 2, "passes 15x4"},
                 {1024, 4, 5, "passes 4x4x4x4x4"},
                 {4096, 16, 3, "passes 16x16x16"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct penstock_fft_problem fft = {.n = cases[i].n, .options = global};
        fft.options.radix = cases[i].radix;
        if (told_too(rig, i))
            expect(rig, fft, cases[i].kernels, cases[i].words);
        check(rig, fft, 0, "global scratch");
    }
    check(rig,
          (struct penstock_fft_problem){.n = 64,
                                        .direction = PENSTOCK_REVERSE,
                                        .centered = true,
                                        .window = rig_window,
                                        .format = PENSTOCK_CS16,
                                        .options = global},
          0, "global scratch, all stages");
    check(rig, (struct penstock_fft_problem){.n = 19, .options = global}, 0, "global scratch, Bluestein");
    check(rig, (struct penstock_fft_problem){.n = 64, .options = {.scratch = PENSTOCK_SCRATCH_LOCAL}}, 0,
          "local scratch");
    struct penstock_problem large =
        rig_problem((struct penstock_fft_problem){.n = 1 << 20, .options = {.scratch = PENSTOCK_SCRATCH_LOCAL}});
    CHECK_EQ(rig->backend->supports(rig->device, &large), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "local memory"), "%s", penstock_error_text());
}

static void groups(struct rig *rig)
{
    struct penstock_problem impossible =
        rig_problem((struct penstock_fft_problem){.n = 1024, .options = {.items = 1024, .group = 1024}});
    expect(rig, (struct penstock_fft_problem){.n = 64, .options = {.items = 16, .group = 3}}, 1, ", 3 a group");
    check(rig, (struct penstock_fft_problem){.n = 64, .options = {.items = 16, .group = 3}}, 0, "16 items, 3");
    check(rig, (struct penstock_fft_problem){.n = 60, .options = {.items = 5}}, 0, "5 items");
    check(rig, (struct penstock_fft_problem){.n = 64, .options = {.group = 1}}, 0, "1 a group");
    check(rig, (struct penstock_fft_problem){.n = 8, .options = {.items = 8, .group = 4}}, 0, "idle items");
    CHECK_EQ(rig->backend->supports(rig->device, &impossible), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "fit"), "%s", penstock_error_text());
}

static void columns(struct rig *rig)
{
    expect(rig, (struct penstock_fft_problem){.n = 64 * 24, .columns = 24}, 1, "radix");
    check(rig, (struct penstock_fft_problem){.n = 16 * 4, .columns = 4}, 0, "16 x 4 side by side");
    for (unsigned variant = 0; variant < 3; variant++)
        check(rig, (struct penstock_fft_problem){.n = 64 * 19, .columns = 19}, variant, "64 x 19 side by side");
    check(rig,
          (struct penstock_fft_problem){.n = 15 * 6,
                                        .columns = 6,
                                        .direction = PENSTOCK_REVERSE,
                                        .centered = true,
                                        .output = PENSTOCK_OUTPUT_POWER,
                                        .average = 3,
                                        .skip = 5,
                                        .format = PENSTOCK_CS8},
          0, "15 x 6 side by side, stages");
    check(rig, (struct penstock_fft_problem){.n = 34 * 3, .columns = 3, .window = rig_window}, 0, "34 x 3, transposed");
}

/* A driver that lists images and whose compiler has none is told by the backend, which has tried a kernel of one line.
 */
static bool compiles_images(struct rig *rig, const struct penstock_problem *problem)
{
    struct penstock_plan_state plan = {.device = rig->device, .problem = problem};
    plan.priv = penstock__calloc(1, rig->backend->plan_bytes);
    int status = rig->backend->plan_init(&plan, 0);
    bool lacks = status == PENSTOCK_ERR_UNSUPPORTED && strstr(penstock_error_text(), "lists images");
    if (!status)
        rig->backend->plan_free(&plan);
    penstock__free(plan.priv);
    if (lacks)
        printf("images left out: %s\n", penstock_error_text());
    return !lacks;
}

/* Samples and values in images; the driver's have two points to a texel or one. */
static void images(struct rig *rig)
{
    const penstock_fft_options options = {.images = true};
    struct penstock_problem problem = rig_problem((struct penstock_fft_problem){.n = 64, .options = options});
    if (rig->backend->supports(rig->device, &problem) < 0) {
        CHECK(strstr(penstock_error_text(), "images"), "%s", penstock_error_text());
        CHECK(!strncmp(rig->device->name, "cuda", 4), "%s has no images", rig->device->name);
        return;
    }
    if (!compiles_images(rig, &problem))
        return;
    expect(rig, problem.fft, 1, "images");
    rig_check(rig, problem.fft, 0, "images");
    check(rig, (struct penstock_fft_problem){.n = 1000, .window = rig_window, .skip = 2, .options = options}, 1,
          "images");
    check(rig, (struct penstock_fft_problem){.n = 34, .centered = true, .options = options}, 0, "images, Bluestein");
    problem = rig_problem((struct penstock_fft_problem){.n = 32768, .options = options});
    if (rig->backend->supports(rig->device, &problem) < 0) /* local memory is small */
        CHECK(strstr(penstock_error_text(), "texels"), "%s", penstock_error_text());
    else
        check(rig, problem.fft, 0, "images, two passes");
    check(rig, (struct penstock_fft_problem){.n = 64 * 6, .columns = 6, .options = options}, 0, "images, columns");
    rig_check(rig,
              (struct penstock_fft_problem){.n = 12 * 18,
                                            .rows = 12,
                                            .centered = true,
                                            .direction = PENSTOCK_REVERSE,
                                            .scale = 0.5f,
                                            .options = options},
              0, "images, 2-D");
    problem = rig_problem((struct penstock_fft_problem){.n = 64, .format = PENSTOCK_CS16, .options = options});
    CHECK_EQ(rig->backend->supports(rig->device, &problem), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "cf32"), "%s", penstock_error_text());
    problem = rig_problem((struct penstock_fft_problem){.n = 63, .options = options});
    if (rig->backend->supports(rig->device, &problem) < 0)
        CHECK(strstr(penstock_error_text(), "two points to a texel"), "%s", penstock_error_text());
    else
        rig_check(rig, problem.fft, 0, "images, odd");
}

static void planes(struct rig *rig)
{
    static const struct {
        size_t rows, columns;
        unsigned kernels;
    } cases[] = {{8, 8, 2}, {16, 60, 2}, {17, 32, 4}, {127, 24, 4}, {256, 64, 2}, {6, 19, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct penstock_fft_problem fft = {.n = cases[i].rows * cases[i].columns, .rows = cases[i].rows};
        if (told_too(rig, i))
            expect(rig, fft, cases[i].kernels, ";");
        check(rig, fft, 0, "2-D");
    }
    check(rig,
          (struct penstock_fft_problem){.n = 9 * 14,
                                        .rows = 9,
                                        .direction = PENSTOCK_REVERSE,
                                        .window = rig_window,
                                        .skip = 3,
                                        .format = PENSTOCK_CS16,
                                        .centered = true,
                                        .output = PENSTOCK_OUTPUT_POWER,
                                        .scale = 0.5f},
          0, "2-D, all stages");
    for (penstock_format format = PENSTOCK_CF32; format <= PENSTOCK_PLANAR; format++) {
        struct penstock_fft_problem fft = {.n = 12 * 18,
                                           .rows = 12,
                                           .direction = PENSTOCK_REVERSE,
                                           .window = rig_window,
                                           .skip = 3,
                                           .format = format,
                                           .centered = true,
                                           .output = PENSTOCK_OUTPUT_POWER,
                                           .scale = 0.5f,
                                           .options = {.column_way = PENSTOCK_COLUMNS_TRANSPOSED}};
        check(rig, fft, 0, "2-D transposed, all stages");
    }
    check(rig, (struct penstock_fft_problem){.n = 32 * 40, .rows = 32, .options = {.scratch = PENSTOCK_SCRATCH_GLOBAL}},
          0, "2-D, global scratch");
    struct penstock_problem prime = rig_problem(
        (struct penstock_fft_problem){.n = 17 * 4, .rows = 17, .options = {.column_way = PENSTOCK_COLUMNS_STRIDED}});
    CHECK_EQ(rig->backend->supports(rig->device, &prime), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "side by side"), "%s", penstock_error_text());
}

int main(int count, char **arguments)
{
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    radices(&rig);
    scratches(&rig);
    groups(&rig);
    columns(&rig);
    images(&rig);
    planes(&rig);
    return rig_finish(&rig, getenv("PENSTOCK_TEST_FULL") ? 40 : 4);
}
