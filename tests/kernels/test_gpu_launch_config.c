/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The plans that lib/gpu makes, read back from the generated text and run on the host in double precision: every sample
 * is loaded and every value stored once, local memory is big enough, limits are kept, and the result is the DFT.
 * PENSTOCK_TEST_FULL=1 takes every length to 8192 on every device; else a sample by hash.
 */
#include "folder.h"
#include "gpu/fused_kernel.h"
#include "gpu/table.h"
#include "gpu/tuning.h"
#include "gpu_banks.h"
#include "gpu_model.h"
#include "test.h"

#include <stdbool.h>

static const struct gpu_limits limits[] = {
    {.local_bytes = 227 << 10, .max_group = 1024, .bounded = true}, /* NVIDIA through CUDA */
    {.local_bytes = 48 << 10, .max_group = 1024},                   /* and through OpenCL */
    {.local_bytes = 64 << 10, .max_group = 256},                    /* AMD, Intel */
    {.local_bytes = 32 << 10, .max_group = 256},                    /* the least that OpenCL promises, nearly */
    {.local_bytes = 64 << 10, .max_group = 256, .wave = 32, .most_slots = 16, .item_bytes = 128}, /* AMD RDNA */
    {.local_bytes = 1 << 20, .max_group = 4096, .cpu = true}                                      /* PoCL */
};

enum { WAYS = 33 };
static penstock_context *context;
static unsigned cases, real_cases, symbol_cases, tuned_cases, histogram[WAYS];
static double worst;

static double difference(const double *got, const double *want, size_t n)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        error += pow(got[i] - want[i], 2);
        norm += pow(want[i], 2);
    }
    return sqrt(error / norm);
}

static void check_limits(const struct gpu_pass *pass, const struct gpu_limits *device)
{
    const struct gpu_launch_config *config = &pass->config;
    CHECK(penstock__gpu_group_size(config) <= device->max_group, "n %u: group of %u", config->n,
          penstock__gpu_group_size(config));
    CHECK(penstock__gpu_local_bytes(config) <= device->local_bytes, "n %u: %zu bytes of local memory", config->n,
          penstock__gpu_local_bytes(config));
    CHECK(config->slots <= GPU_MAX_SLOTS, "n %u: %u slots", config->n, config->slots);
    CHECK_EQ(config->lanes % config->lows, 0);
}

/* What the plan says of its bank conflicts is what its text leads to. */
static void check_banks(const struct gpu_decomposition *decomposition, const struct gpu_model *model, unsigned variant)
{
    unsigned declared = 1;
    for (unsigned i = 0; i < decomposition->count; i++) {
        unsigned ways = gpu_bank_ways(&decomposition->pass[i].config);
        declared = ways > declared ? ways : declared;
    }
    CHECK(model->conflicts == declared, "n %u, variant %u: %u-way bank conflicts, declared are %u",
          decomposition->length, variant, model->conflicts, declared);
    histogram[declared < WAYS ? declared : WAYS - 1]++;
}

/* All that is single precision here are the tables. */
static void check_model(const struct gpu_decomposition *decomposition, const struct gpu_model *model, unsigned variant,
                        double difference)
{
    double error = difference / (1e-7 * sqrt(log2((double)decomposition->length) + 1));
    worst = error > worst ? error : worst;
    CHECK(error <= 1, "n %u, variant %u, method %d, real %d: error %.3g of what is allowed", decomposition->length,
          variant, decomposition->method, decomposition->real, error);
    CHECK(!model->loads_missed && !model->stores_missed && !model->points_missed && !model->overruns,
          "n %u, variant %u, method %d, %u passes: %u loads, %u stores, %u points between not once, %u overruns",
          decomposition->length, variant, decomposition->method, decomposition->count, model->loads_missed,
          model->stores_missed, model->points_missed, model->overruns);
    check_banks(decomposition, model, variant);
}

/* `real`: the n points are 2n real samples. */
static void check(size_t n, const struct gpu_limits *device, unsigned variant, bool real)
{
    struct penstock_fft_problem fft = {.n = real ? 2 * n : n,
                                       .format = real ? PENSTOCK_F32 : PENSTOCK_CF32,
                                       .domain = real ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                                       .scale = 1,
                                       .average = 1};
    struct gpu_decomposition decomposition;
    struct gpu_model model;
    size_t points = fft.n;
    double *got = malloc(2 * n * sizeof *got), *want = calloc(2 * points, sizeof *want);
    uint64_t seed = n;
    int status = penstock__gpu_decomposition(&decomposition, &fft, device, variant);
    CHECK(!status, "n %zu, variant %u: %s", n, variant, penstock_error_text());
    if (real && !status && decomposition.real != GPU_PACKED)
        status = penstock__error(PENSTOCK_ERR_CHECK, "%zu real samples are not packed", fft.n);
    for (unsigned i = 0; i < decomposition.count && !status; i++)
        check_limits(&decomposition.pass[i], device);
    for (size_t i = 0; i < 2 * n; i++)
        got[i] = want[real ? 2 * i : i] = test_uniform(&seed);
    if (!status && !(status = gpu_model_run(&model, got, &decomposition, true))) {
        CHECK_OK(penstock__dft(want, points, PENSTOCK_FORWARD));
        check_model(&decomposition, &model, variant, difference(got, want, n));
    }
    CHECK(!status, "n %zu: %s", n, penstock_error_text());
    free(got);
    free(want);
    cases++;
}

/* Spectra of 2n real samples, packed into n points: the same, as far as they are one kernel. */
static void check_real(size_t n, const struct gpu_limits *device)
{
    enum { MOST = 16384 }; /* of one kernel */
    const struct gpu_requirements requirements = {.n = (unsigned)n, .unpack = true};
    struct gpu_launch_config config;
    if (n < 2 || n > MOST || !penstock__gpu_smooth(n) || penstock__gpu_launch_config(&config, &requirements, device))
        return;
    check(n, device, 0, true);
    real_cases++;
}

/* Each configuration that a plan of n points may be tuned to, as far as it is of kernels/fft.cl. */
static void check_tuned(size_t n, const struct gpu_limits *device)
{
    const struct penstock_backend backend = {.name = "model"};
    const struct penstock_device named = {.backend = &backend, .context = context};
    const struct penstock_problem problem = {.fft = {.n = n, .spacing = n, .scale = 1, .average = 1}, .batch = 1};
    struct penstock_launch_configs shapes;
    CHECK_OK(penstock__gpu_launch_configs(&shapes, &named, &problem, device, "host"));
    CHECK(shapes.count <= PENSTOCK_MAX_LAUNCH_CONFIGS && (n < 16 || shapes.count), "n %zu: %zu shapes", n,
          shapes.count);
    for (size_t i = 0; i < shapes.count; i++) {
        struct gpu_limits within = *device;
        within.config = shapes.text[i];
        if (penstock__fused_first(&problem, &within))
            continue;
        check(n, &within, 0, false);
        tuned_cases++;
    }
}

/* A table from the cache folder is the one that is made, and one of another size there is made anew. */
static void check_kept_tables(void)
{
    static const size_t lengths[] = {4099, 10007};
    penstock_context *kept;
    CHECK(test_make_folder(), "cannot make a folder");
    CHECK_OK(penstock_context_new(&kept, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    for (unsigned i = 0; i < 8; i++) {
        struct penstock_fft_problem fft = {
            .n = lengths[i / 4], .direction = (penstock_direction)(i / 2 % 2), .scale = 1, .average = 1};
        struct gpu_table made, first, again;
        struct gpu_decomposition decomposition;
        CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits[0], 0));
        unsigned pass = i % 2 * (decomposition.count - 1);
        CHECK_OK(penstock__gpu_table(&made, &decomposition, pass, &fft));
        CHECK_OK(penstock__gpu_table_kept(&first, kept, &decomposition, pass, &fft));
        CHECK_OK(penstock__gpu_table_kept(&again, kept, &decomposition, pass, &fft));
        CHECK(first.count == made.count && again.count == made.count && again.chirp_at == made.chirp_at &&
                  !memcmp(first.values, made.values, made.count * sizeof(float)) &&
                  !memcmp(again.values, made.values, made.count * sizeof(float)),
              "n %zu, direction %d, pass %u: other tables", fft.n, (int)fft.direction, pass);
        penstock__gpu_table_free(&made);
        penstock__gpu_table_free(&first);
        penstock__gpu_table_free(&again);
    }
    penstock_context_free(kept);
    test_remove_folder();
}

/* The device and the variant that length n meets in the sample. */
static void check_sampled(size_t n, bool full)
{
    uint64_t hash = penstock__hash(&n, sizeof n);
    if (full && n % 512 == 0) {
        printf("lengths to %zu: %u cases, %u of real samples, %d failed\n", n, cases, real_cases, test_failures);
        fflush(stdout);
    }
    for (size_t d = 0; d < sizeof limits / sizeof limits[0]; d++)
        if (full || hash % (sizeof limits / sizeof limits[0]) == d) {
            check(n, &limits[d], full || n % 8 ? 0 : (unsigned)(hash >> 32) % GPU_VARIANTS, false);
            check_real(n, &limits[d]);
            if (full ? n <= 512 || hash % 16 == 0 : hash % 23 == 0 || n == 4096 || n == 4099 || n == 65536)
                check_tuned(n, &limits[d]);
        }
}

/* Kernels of one batch: one where a transform fits on the chip, else one a pass; a convolution goes there and back. */
static void check_kernels(void)
{
    static const struct {
        size_t n;
        enum gpu_method method;
        unsigned kernels[2]; /* with 227 KB and with 48 KB of local memory */
    } of[] = {{1, GPU_PLAIN, {1, 1}},           {8192, GPU_PLAIN, {1, 1}},       {16384, GPU_PLAIN, {1, 2}},
              {127, GPU_BLUESTEIN, {1, 1}},     {257, GPU_RADER, {1, 1}},        {509, GPU_BLUESTEIN, {1, 1}},
              {4093, GPU_BLUESTEIN, {1, 1}},    {8191, GPU_RADER, {1, 1}},       {32768, GPU_PLAIN, {2, 2}},
              {1 << 22, GPU_PLAIN, {2, 2}},     {4782969, GPU_PLAIN, {2, 2}},    {1 << 23, GPU_PLAIN, {2, 3}},
              {10007, GPU_BLUESTEIN, {3, 3}},   {65537, GPU_BLUESTEIN, {3, 3}},  {1000003, GPU_BLUESTEIN, {3, 3}},
              {2097143, GPU_BLUESTEIN, {3, 3}}, {8388593, GPU_BLUESTEIN, {3, 5}}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        for (unsigned d = 0; d < 2; d++) {
            struct penstock_fft_problem fft = {.n = of[i].n, .scale = 1, .average = 1};
            struct gpu_decomposition decomposition;
            CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits[d], 0));
            CHECK(decomposition.count == of[i].kernels[d] && decomposition.method == of[i].method,
                  "n %zu, device %u: %u kernels, method %d", of[i].n, d, decomposition.count, decomposition.method);
        }
}

/* Powers of two, which radios have most: at most two neighbours meet. */
static void check_powers(void)
{
    for (unsigned n = 32; n <= 65536; n *= 2)
        for (unsigned d = 0; d < 2; d++) {
            struct penstock_fft_problem fft = {.n = n, .scale = 1, .average = 1};
            struct gpu_decomposition decomposition;
            CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits[d], 0));
            for (unsigned i = 0; i < decomposition.count; i++)
                CHECK(gpu_bank_ways(&decomposition.pass[i].config) <= 2, "n %u, device %u, pass %u: %u-way conflicts",
                      n, d, i, gpu_bank_ways(&decomposition.pass[i].config));
        }
}

/* OFDM symbols of any length are one kernel with 64 KB of local memory, to 6144 with 48 KB and to 4096 with 32 KB. */
static void check_symbols(bool full)
{
    static const uint32_t bins[] = {1, 2, 3};
    static const size_t most[] = {8192, 6144, 8192, 4096};
    for (size_t n = 16; n <= 8192; n++) {
        if (!full && penstock__hash(&n, sizeof n) % 61 && n != 4096 && n != 6144 && n != 8191 && n != 8192)
            continue;
        for (size_t d = 0; d < sizeof most / sizeof most[0]; d++) {
            struct fused_kernel kernel;
            struct penstock_problem problem = {
                .kind = PENSTOCK_PROBLEM_OFDM,
                .ofdm = {.n = n, .bits = 6, .carrier_count = 3, .bins = bins, .mixed = true}};
            struct gpu_limits within = {.local_bytes = limits[d].local_bytes, .max_group = 1024};
            int status = penstock__fused_kernel_config(&kernel, &problem, &within, 0, false);
            if (n > most[d])
                CHECK_EQ(status, PENSTOCK_ERR_UNSUPPORTED);
            else
                CHECK(!status && kernel.local_bytes <= within.local_bytes, "n %zu in %zu bytes: %s", n,
                      within.local_bytes, penstock_error_text());
        }
        symbol_cases++;
    }
    CHECK(symbol_cases > 100, "only %u lengths of symbols", symbol_cases);
}

int main(int count, char **arguments)
{
    static const size_t more[] = {16384, 32768, 65536, 10007, 65537, 46656, 262144, 100000};
    bool full = getenv("PENSTOCK_TEST_FULL") != NULL;
    size_t most = full ? 8192 : 450;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    for (int i = 1; i < count; i++)
        for (size_t d = 0; d < sizeof limits / sizeof limits[0]; d++)
            for (unsigned variant = 0; variant < GPU_VARIANTS; variant++)
                check(strtoul(arguments[i], NULL, 10), &limits[d], variant, false);
    for (size_t n = 1; n <= most && count < 2; n++)
        check_sampled(n, full);
    for (size_t n = most + 1; n <= 8192 && count < 2; n++)
        if (penstock__hash(&n, sizeof n) % 41 == 0 || (n & (n - 1)) == 0)
            check_sampled(n, full);
    for (size_t i = 0; i < sizeof more / sizeof more[0] && count < 2; i++)
        check_sampled(more[i], full);
    for (size_t n = 4099; n <= 4609 && count < 2;
         n += 51) /* in a loop, see goes_twice() in lib/gpu/prologue_stages.c */
        check(n, &limits[0], 0, false);
    for (size_t n = 1; n <= 16 && count < 2; n++) /* shorter than some radices */
        check_tuned(n, &limits[0]);
    check_kernels();
    check_powers();
    check_kept_tables();
    check_symbols(full);
    CHECK(cases > (count > 1 ? 0 : 600), "only %u cases", cases);
    CHECK(real_cases > 100 || count > 1, "only %u cases of real samples", real_cases);
    CHECK(tuned_cases > 50 || count > 1, "only %u tuned cases", tuned_cases);
    penstock_context_free(context);
    for (unsigned ways = 1; ways < WAYS; ways++)
        if (histogram[ways])
            printf("%u plans with %u-way bank conflicts at most\n", histogram[ways], ways);
    printf("%u cases, worst error %.2f of what is allowed\n", cases, worst);
    return test_finish();
}
