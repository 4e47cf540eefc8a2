/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Numbers of 16 bits in and out of a GPU's transforms against double precision, and how they are rounded at their
 * limits. PENSTOCK_TEST_FULL=1 runs all.
 */
#include "gpu_rig.h"

/* Compilers of CPUs are slow: a few cases are run there, and more of arithmetic where the driver for tests has it. */
static void check(struct rig *rig, struct penstock_fft_problem fft, unsigned variant, const char *what)
{
    unsigned every = rig->device->host_memory                             ? 8
                     : !getenv("PENSTOCK_SHIM_GPU")                       ? 1
                     : fft.options.arithmetic == PENSTOCK_ARITHMETIC_HALF ? 2
                                                                          : 12;
    if (rig_draws(rig, every))
        rig_check(rig, fft, variant, what);
}

/* With this length's whole way: one kernel, several, and convolutions. */
static void lengths(struct rig *rig)
{
    static const size_t cases[] = {64, 60, 1, 67, 127, 1000, 4096, 32768, 509};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(rig, (struct penstock_fft_problem){.n = cases[i], .format = PENSTOCK_CF16, .half = true}, 0, "both");
        check(rig,
              (struct penstock_fft_problem){
                  .n = cases[i], .format = PENSTOCK_CF16, .half = true, .direction = PENSTOCK_REVERSE},
              1, "both, reverse");
    }
}

static void stages(struct rig *rig)
{
    struct penstock_fft_problem fft = {
        .n = 64, .format = PENSTOCK_CF16, .window = rig_window, .skip = 3, .centered = true, .scale = 0.5f};
    check(rig, fft, 0, "load");
    fft.half = true;
    fft.output = PENSTOCK_OUTPUT_POWER;
    check(rig, fft, 0, "power");
    fft.output = PENSTOCK_OUTPUT_DECIBEL;
    check(rig, fft, 0, "decibel");
    fft.output = PENSTOCK_OUTPUT_POWER;
    fft.average = 3;
    check(rig, fft, 0, "mean power");
    fft = (struct penstock_fft_problem){.n = 64, .format = PENSTOCK_CF16, .half = true, .gathered = true};
    check(rig, fft, 0, "gathered");
    fft = (struct penstock_fft_problem){.n = 64, .format = PENSTOCK_CS16, .half = true, .shift = 0.1};
    check(rig, fft, 0, "from integers");
    fft = (struct penstock_fft_problem){.n = 128, .format = PENSTOCK_F32, .half = true, .domain = PENSTOCK_REAL};
    check(rig, fft, 0, "real");
    fft.format = PENSTOCK_CF16;
    fft.direction = PENSTOCK_REVERSE;
    check(rig, fft, 0, "real, reverse");
    fft.n = 15;
    check(rig, fft, 0, "real, odd, reverse");
}

static void planes(struct rig *rig)
{
    struct penstock_fft_problem fft = {.n = 12 * 18, .rows = 12, .format = PENSTOCK_CF16, .half = true};
    check(rig, fft, 0, "2-D");
    fft.options.column_way = PENSTOCK_COLUMNS_TRANSPOSED;
    check(rig, fft, 0, "2-D, transposed");
    fft = (struct penstock_fft_problem){.n = 64 * 19, .columns = 19, .format = PENSTOCK_CF16, .half = true};
    check(rig, fft, 0, "columns");
    fft = (struct penstock_fft_problem){.n = 17 * 3, .columns = 3, .format = PENSTOCK_CF16, .half = true};
    check(rig, fft, 0, "columns of 17 points");
}

/* Arithmetic in numbers of 16 bits, two transforms at a time, so that an odd one is alone at the end. The driver for
 * tests computes in floats in their stead, and then errors are those of floats. */
static void arithmetic(struct rig *rig)
{
    static const size_t cases[] = {64, 2, 60, 1024, 1, 91, 600, 4096, 16};
    const penstock_fft_options half = {.arithmetic = PENSTOCK_ARITHMETIC_HALF};
    struct penstock_problem problem = rig_problem((struct penstock_fft_problem){.n = 64, .options = half});
    if (rig->backend->supports(rig->device, &problem) < 0) {
        CHECK(strstr(penstock_error_text(), "16 bits"), "%s", penstock_error_text());
        return;
    }
    double before = rig_worst;
    rig_worst = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (unsigned variant = 0; variant < (i ? 1 : 3); variant++)
            check(rig, (struct penstock_fft_problem){.n = cases[i], .options = half}, variant, "half arithmetic");
    struct penstock_fft_problem fft = {.n = 64,
                                       .format = PENSTOCK_CF16,
                                       .direction = PENSTOCK_REVERSE,
                                       .gathered = true,
                                       .window = rig_window,
                                       .options = half};
    check(rig, fft, 0, "half arithmetic, gathered");
    fft = (struct penstock_fft_problem){
        .n = 60, .format = PENSTOCK_CS16, .centered = true, .output = PENSTOCK_OUTPUT_POWER, .options = half};
    check(rig, fft, 0, "half arithmetic, power");
    fft = (struct penstock_fft_problem){.n = 32 * 6, .columns = 6, .options = half};
    check(rig, fft, 0, "half arithmetic, columns");
    if (getenv("PENSTOCK_SHIM_GPU"))
        CHECK(8192 * rig_worst <= 1, "error %.2g of what floats may have", 8192 * rig_worst);
    printf("arithmetic in numbers of 16 bits: worst error %.2f of what is allowed\n", rig_worst);
    fft =
        (struct penstock_fft_problem){.n = 12 * 18, .rows = 12, .format = PENSTOCK_CF16, .half = true, .options = half};
    check(rig, fft, 0, "half arithmetic, 2-D");
    rig_worst = before > rig_worst ? before : rig_worst;
    problem.fft.n = 509;
    CHECK_EQ(rig->backend->supports(rig->device, &problem), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "one kernel"), "%s", penstock_error_text());
}

/* Of an impulse of height h every bin is h, exactly: so rounding, its limits, and infinity show. */
static void limits(struct rig *rig)
{
    enum { N = 16 };
    static const float heights[] = {1,         65504,      65519.996f, 65520,      1e6f,          0x1p-14f,
                                    0x1p-24f,  0x1.8p-25f, 0x1p-25f,   0x1p-26f,   1 + 0x1p-11f,  1 + 0x3p-11f,
                                    -0x1p-15f, -70000,     1.0009f,    2047.4999f, 0x1.ffdffep-1f};
    enum { COUNT = sizeof heights / sizeof heights[0] };
    static penstock_cf32 in[COUNT * N];
    static uint16_t out[COUNT * 2 * N], want;
    struct penstock_problem problem = rig_problem((struct penstock_fft_problem){.n = N, .half = true});
    struct penstock_plan_state plan = {.device = rig->device, .problem = &problem};
    struct rig_batch batch;
    unsigned wrong = 0;
    for (size_t i = 0; i < COUNT; i++)
        in[i * N].re = heights[i];
    plan.priv = penstock__calloc(1, rig->backend->plan_bytes);
    CHECK_OK(rig->backend->plan_init(&plan, 0));
    CHECK(rig_batch_open(&batch, rig, sizeof in, sizeof out), "no memory");
    CHECK(rig_batch_run(&batch, &plan, in, out, COUNT), "%s", penstock_error_text());
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < N; k++) {
            penstock_half_from_float(&want, &heights[i], 1);
            wrong += out[2 * (i * N + k)] != want || out[2 * (i * N + k) + 1] & 0x7fff;
        }
    CHECK(!wrong, "%u of %d values are not what is right", wrong, COUNT * N);
    rig_batch_close(&batch);
    rig->backend->plan_free(&plan);
    penstock__free(plan.priv);
}

int main(int count, char **arguments)
{
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    lengths(&rig);
    stages(&rig);
    planes(&rig);
    limits(&rig);
    arithmetic(&rig);
    return rig_finish(&rig, rig.device->host_memory ? 1 : getenv("PENSTOCK_SHIM_GPU") ? 6 : 31);
}
