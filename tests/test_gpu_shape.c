/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The plans that lib/gpu makes, run on the host in double precision by the rules at the top of kernels/fft.cl: every
 * point is read and written once in each stage, local memory is big enough, limits are kept, and the result is the DFT.
 */
#include "gpu/shape.h"
#include "gpu/table.h"
#include "test.h"

#include <stdbool.h>

#define MAX_N 8192

static const struct gpu_limits limits[] = {
    {.local_bytes = 48 << 10, .max_group = 1024},            /* NVIDIA */
    {.local_bytes = 64 << 10, .max_group = 256},             /* AMD, Intel */
    {.local_bytes = 32 << 10, .max_group = 256},             /* the least that OpenCL promises, nearly */
    {.local_bytes = 1 << 20, .max_group = 4096, .cpu = true} /* PoCL */
};

struct run {
    const struct gpu_shape *shape;
    const struct gpu_table *table;
    double points[MAX_N][2], next[MAX_N][2];
    unsigned char seen[MAX_N];
    unsigned misses; /* points read or written not exactly once */
};

static void count_misses(struct run *run)
{
    for (unsigned i = 0; i < run->shape->n; i++) {
        run->misses += run->seen[i] != 1;
        run->seen[i] = 0;
    }
}

/* Butterfly j of stage s: small DFT by its definition, then the twiddle factors of the table. */
static void butterfly(struct run *run, unsigned s, unsigned j)
{
    const struct gpu_shape *shape = run->shape;
    unsigned radix = shape->radix[s], span = shape->span[s], n = shape->n;
    for (unsigned k = 0; k < radix; k++) {
        double re = 0, im = 0, c = 1, d = 0;
        for (unsigned m = 0; m < radix; m++) {
            unsigned at = j / span * span * radix + j % span + m * span;
            double x, y;
            if (k == 0)
                run->seen[at]++;
            penstock__unit_root(&x, &y, (uint64_t)k * m, radix);
            re += run->points[at][0] * x + run->points[at][1] * y;
            im += run->points[at][1] * x - run->points[at][0] * y;
        }
        if (span > 1 && k > 0) {
            const float *factor = run->table->values + run->table->stage_at[s] + 2 * ((k - 1) * span + j % span);
            c = (double)factor[0];
            d = (double)factor[1];
        }
        run->next[j + k * (n / radix)][0] = re * c - im * d;
        run->next[j + k * (n / radix)][1] = re * d + im * c;
    }
}

/* The butterflies as work-items have them, lane + b lanes: each must occur once. */
static void run_stage(struct run *run, unsigned s)
{
    const struct gpu_shape *shape = run->shape;
    unsigned butterflies = shape->n / shape->radix[s], done = 0;
    for (unsigned lane = 0; lane < shape->lanes; lane++)
        for (unsigned b = 0; b < shape->slots / shape->radix[s]; b++, done++)
            butterfly(run, s, lane + b * shape->lanes);
    CHECK_EQ(done, butterflies);
    count_misses(run);
    memcpy(run->points, run->next, sizeof run->points);
}

static double difference(const struct run *run, const double *want)
{
    double error = 0, norm = 0;
    for (unsigned i = 0; i < run->shape->n; i++) {
        error += pow(run->points[i][0] - want[2 * i], 2) + pow(run->points[i][1] - want[2 * i + 1], 2);
        norm += pow(want[2 * i], 2) + pow(want[2 * i + 1], 2);
    }
    return sqrt(error / norm);
}

static void check_limits(const struct gpu_shape *shape, const struct gpu_limits *device, bool real)
{
    unsigned product = 1, group = penstock__gpu_group_size(shape);
    for (unsigned s = 0; s < shape->stages; s++) {
        product *= shape->radix[s];
        CHECK(shape->slots % shape->radix[s] == 0, "n %u: %u slots, radix %u", shape->n, shape->slots, shape->radix[s]);
        CHECK_EQ(shape->span[s], shape->n / product);
    }
    CHECK_EQ(product, shape->n);
    CHECK_EQ(shape->slots * shape->lanes, shape->n);
    CHECK_EQ(shape->lanes % shape->lows, 0);
    CHECK(group <= device->max_group && group >= 1, "n %u: group of %u", shape->n, group);
    CHECK(penstock__gpu_local_bytes(shape) <= device->local_bytes, "n %u: %zu bytes of local memory", shape->n,
          penstock__gpu_local_bytes(shape));
    CHECK_EQ(shape->exchanges, shape->stages - 1 + real);
    if (shape->exchanges) {
        unsigned last = shape->n - 1, place = shape->pad_shift ? last + (last >> shape->pad_shift) : last;
        CHECK(place < shape->plane, "n %u: place %u of %u", shape->n, place, shape->plane);
        CHECK_EQ(shape->region, shape->plane * (shape->halves ? 1 : 2 * shape->buffers));
    }
}

static void check_shape(size_t n, const struct gpu_limits *device, unsigned variant, bool real)
{
    static struct run run;
    static double want[2 * MAX_N];
    struct penstock_fft_problem fft = {.n = n, .scale = 1, .average = 1, .domain = real};
    struct gpu_shape shape;
    struct gpu_table table;
    uint64_t seed = n;
    int status = penstock__gpu_shape(&shape, &fft, device, variant);
    if (status && variant > 0)
        return;
    CHECK(!status, "n %zu, variant %u: %s", n, variant, penstock_error_text());
    CHECK_OK(penstock__gpu_table(&table, &shape, &fft));
    check_limits(&shape, device, real);
    run.shape = &shape;
    run.table = &table;
    run.misses = 0;
    for (unsigned i = 0; i < 2 * shape.n; i++)
        (&run.points[0][0])[i] = want[i] = test_uniform(&seed);
    for (unsigned s = 0; s < shape.stages; s++)
        run_stage(&run, s);
    CHECK_OK(penstock__dft(want, shape.n, PENSTOCK_FORWARD));
    CHECK_EQ(run.misses, 0);
    /* all that is single precision here is the table: each stage adds a rounding of at most 2^-24.5 to each part */
    CHECK(difference(&run, want) <= 6e-8 * sqrt(shape.stages), "n %zu, variant %u: error %.3g", n, variant,
          difference(&run, want));
    penstock__gpu_table_free(&table);
}

int main(void)
{
    for (size_t d = 0; d < sizeof limits / sizeof limits[0]; d++)
        for (unsigned variant = 0; variant < GPU_VARIANTS; variant++)
            for (size_t n = 2; n <= MAX_N; n *= 2) {
                check_shape(n, &limits[d], variant, false);
                if (n >= 4)
                    check_shape(n, &limits[d], variant, true);
            }
    return test_finish();
}
