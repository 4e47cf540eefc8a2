/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The QPU's transforms in two dimensions, each pair of lengths: against rows, then columns, in double precision. */
#include "qpu_fft_rig.h"

static void transposed(const double *from, double *to, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            memcpy(to + 2 * (c * rows + r), from + 2 * (r * columns + c), 2 * sizeof *to);
}

/* In place; `spare` has as much room. */
static void right_result(double *data, double *spare, size_t rows, size_t columns, int sign)
{
    for (size_t r = 0; r < rows; r++)
        rig_dft(data + 2 * r * columns, spare + 2 * r * columns, columns, 1, sign);
    transposed(spare, data, rows, columns);
    for (size_t c = 0; c < columns; c++)
        rig_dft(data + 2 * c * rows, spare + 2 * c * rows, rows, 1, sign);
    transposed(spare, data, columns, rows);
}

static void check(uint32_t rows, uint32_t columns, bool reverse, const float *window)
{
    uint32_t n = rows * columns, batch = n > 65536 ? 1 : 2;
    struct qpu_fft_description d = {
        .points = columns, .rows = rows, .reverse = reverse, .batch = batch, .qpus = 12, .window = window};
    struct rig rig = rig_open(&d);
    float *in = rig_input(&rig);
    double *right = malloc((size_t)2 * n * batch * sizeof *right), *spare = malloc((size_t)2 * n * sizeof *spare);
    uint64_t seed = rows + columns;
    for (size_t i = 0; i < (size_t)2 * n * batch; i++) {
        in[i] = (float)test_uniform(&seed);
        right[i] = in[i] * (window ? (double)window[i % (2 * n) / 2] : 1);
    }
    for (uint32_t t = 0; t < batch; t++)
        right_result(right + (size_t)2 * n * t, spare, rows, columns, reverse ? 1 : -1);
    if (rig_run(&rig, (struct qpu_emulator_options){.cache = QPU_CACHE_NEVER_EVICT,
                                                    .random_interleave = n <= 4096,
                                                    .late_dma = true,
                                                    .hold_vpm = true,
                                                    .poison = true})) {
        double ppm = rig_ppm(rig_output(&rig), right, (size_t)n * batch);
        CHECK(ppm <= 0.49 * pow(log2(n) / 8, 1.4), "%u rows of %u, reverse %d: %.3f ppm", rows, columns, reverse, ppm);
    }
    free(spare);
    free(right);
    rig_close(&rig);
}

/* Bit by bit. */
static void check_transpose(uint32_t rows, uint32_t columns)
{
    struct qpu_fft_description d = {
        .points = columns, .rows = rows, .transpose = true, .batch = 2, .qpus = 12, .spacing = rows * columns + 1};
    struct rig rig = rig_open(&d);
    const uint64_t *in = rig_input(&rig), *out = (const uint64_t *)(const void *)rig_output(&rig);
    uint64_t seed = rows;
    size_t wrong = 0;
    for (size_t i = 0; i < qpu_fft_plan_input_bytes(rig.plan) / 8; i++)
        ((uint64_t *)rig_input(&rig))[i] = test_random(&seed);
    if (rig_run(&rig, (struct qpu_emulator_options){.random_interleave = true, .late_dma = true, .hold_vpm = true}))
        for (size_t t = 0; t < 2; t++)
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < columns; c++)
                    wrong += out[t * rows * columns + c * rows + r] != in[t * (rows * columns + 1) + r * columns + c];
    CHECK(!wrong, "%u rows of %u: %zu wrong", rows, columns, wrong);
    rig_close(&rig);
}

static void arguments(void)
{
    static const uint32_t wrong[][2] = {{2, 16}, {16, 8}, {24, 16}, {2048, 16}, {16, 2048}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qpu_fft_description d = {.rows = wrong[i][0], .points = wrong[i][1], .batch = 1, .qpus = 1};
        struct qpu_fft_plan *plan;
        CHECK_EQ(qpu_fft_plan_new(&plan, &d), QPU_FFT_INVALID);
        d = (struct qpu_fft_description){
            .rows = 32, .points = 32, .transpose = true, .reverse = true, .batch = 1, .qpus = 1};
        CHECK_EQ(qpu_fft_plan_new(&plan, &d), QPU_FFT_INVALID);
    }
}

int main(void)
{
    uint32_t most = getenv("PENSTOCK_TEST_FULL") ? 1024 * 1024 : 32768;
    float window[1024];
    uint64_t seed = 1;
    for (int i = 0; i < 1024; i++)
        window[i] = (float)test_uniform(&seed);
    arguments();
    for (uint32_t rows = 16; rows <= 1024; rows *= 2)
        for (uint32_t columns = 16; columns <= 1024; columns *= 2)
            if (rows * columns <= most || (rows == 1024 && columns == 1024))
                check(rows, columns, rows & 0x5550, NULL);
    for (uint32_t rows = 16; rows <= 512; rows *= 2)
        for (uint32_t columns = 16; columns <= 4096 / rows * 8; columns *= 4)
            check_transpose(rows, columns);
    check(16, 64, false, window);
    check(32, 32, true, window);
    return test_finish();
}
