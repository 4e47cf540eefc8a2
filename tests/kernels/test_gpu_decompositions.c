/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How transforms of all lengths to 2^23 become kernels: at most three passes each way, of radices that multiply to the
 * length that is computed, within the device's local memory and work-items, and as few as docs/opencl.md says.
 * And a batch is refused before what kernels count in 32 bits would come round.
 * PENSTOCK_TEST_FULL=1 asks for every length; else for the short ones, the ends, and some by hash.
 */
#include "gpu/fused_kernel.h"
#include "gpu/launch.h"
#include "test.h"

#include <stdbool.h>

#define MOST_LENGTH ((size_t)1 << 23)

static const struct {
    struct gpu_limits limits;
    size_t one_kernel; /* products of small primes to so many points are one kernel, and convolutions of so many too */
    size_t two_passes; /* all lengths to this one are two passes each way at most */
} devices[] = {
    {{.local_bytes = 227 << 10, .max_group = 1024, .units = 132}, 16384, (size_t)1 << 22}, /* NVIDIA through CUDA */
    {{.local_bytes = 48 << 10, .max_group = 1024, .units = 132}, 8192, (size_t)1 << 20},   /* and through OpenCL */
    {{.local_bytes = 64 << 10, .max_group = 256}, 5632, (size_t)1 << 18},                  /* AMD, Intel */
    {{.local_bytes = 32 << 10, .max_group = 256}, 5632, (size_t)1 << 18},                  /* the least, nearly */
    {{.local_bytes = 1 << 20, .max_group = 4096, .cpu = true}, 16384, (size_t)1 << 22},    /* PoCL */
};
enum { DEVICES = sizeof devices / sizeof devices[0], MOST_PASSES = 3 };

static unsigned long cases[DEVICES], passes[DEVICES][MOST_PASSES + 1], convolutions[DEVICES];

/* The radices of each chain multiply to the pass's points, and a work-item holds what it must. */
static bool stages_are_whole(const struct gpu_launch_config *config)
{
    for (unsigned from = 0; from < config->stages; from += config->chain) {
        size_t product = 1;
        for (unsigned s = from; s < from + config->chain; s++) {
            product *= config->radix[s];
            if ((config->radix[s] > 1 && !penstock__gpu_is_radix(config->radix[s])) ||
                (size_t)config->share[s] * config->lanes * config->radix[s] < config->n ||
                config->share[s] * config->radix[s] > config->slots)
                return false;
        }
        if (product != config->n)
            return false;
    }
    return config->slots <= GPU_MAX_SLOTS && config->stages % config->chain == 0;
}

static bool pass_is_within(const struct gpu_launch_config *config, const struct gpu_limits *limits)
{
    return penstock__gpu_group_size(config) <= limits->max_group &&
           penstock__gpu_local_bytes(config) <= limits->local_bytes && config->lanes % config->lows == 0;
}

/* Which points a convolution needs, and that a plain transform computes what was asked for. */
static bool total_is_right(const struct gpu_decomposition *decomposition)
{
    if (decomposition->method == GPU_BLUESTEIN)
        return decomposition->total >= 2 * decomposition->length - 1 && penstock__gpu_smooth(decomposition->total);
    return decomposition->total == decomposition->length - (decomposition->method == GPU_RADER);
}

static void check_passes(const struct gpu_decomposition *decomposition, size_t n, size_t device)
{
    bool twice = decomposition->method == GPU_BLUESTEIN || decomposition->method == GPU_RADER;
    unsigned there = twice ? (decomposition->count + 1) / 2 : decomposition->count;
    size_t product = 1;
    for (unsigned i = 0; i < decomposition->count; i++) {
        const struct gpu_pass *pass = &decomposition->pass[i];
        product *= i < there ? pass->config.n : 1;
        CHECK(stages_are_whole(&pass->config), "n %zu, device %zu, pass %u: stages", n, device, i);
        CHECK(pass_is_within(&pass->config, &devices[device].limits),
              "n %zu, device %zu, pass %u: %u work-items, %zu bytes", n, device, i,
              penstock__gpu_group_size(&pass->config), penstock__gpu_local_bytes(&pass->config));
        CHECK(pass->first == (i == 0) && pass->last == (i == decomposition->count - 1) &&
                  pass->middle == (twice && i == there - 1) && pass->back == (twice && i >= there - 1),
              "n %zu, device %zu, pass %u: its place", n, device, i);
    }
    CHECK(product == decomposition->total && total_is_right(decomposition),
          "n %zu, device %zu: passes of %zu points in all, for %u", n, device, product, decomposition->total);
    CHECK(there <= MOST_PASSES, "n %zu, device %zu: %u passes", n, device, there);
    passes[device][there <= MOST_PASSES ? there : MOST_PASSES]++;
    convolutions[device] += twice;
}

/* One kernel while a transform fits, two passes as long as its factors allow it for every length. */
static void check_count(const struct gpu_decomposition *decomposition, size_t n, size_t device)
{
    unsigned there = decomposition->method == GPU_BLUESTEIN ? (decomposition->count + 1) / 2 : decomposition->count;
    bool smooth = penstock__gpu_smooth(n);
    size_t points = smooth ? n : 2 * n;
    CHECK(decomposition->method == GPU_PLAIN || !smooth, "n %zu, device %zu: method %d", n, device,
          (int)decomposition->method);
    if (points <= devices[device].one_kernel)
        CHECK(decomposition->count == 1, "n %zu, device %zu: %u kernels", n, device, decomposition->count);
    else if (n <= devices[device].two_passes)
        CHECK(there <= 2, "n %zu, device %zu: %u passes", n, device, there);
}

static void check_length(size_t n, unsigned variant, penstock_domain domain)
{
    const struct penstock_fft_problem fft = {
        .n = n, .format = domain ? PENSTOCK_F32 : PENSTOCK_CF32, .domain = domain, .scale = 1, .average = 1};
    for (size_t d = 0; d < DEVICES; d++) {
        struct gpu_decomposition decomposition;
        int status = penstock__gpu_decomposition(&decomposition, &fft, &devices[d].limits, variant);
        CHECK(!status, "n %zu, device %zu, variant %u: %s", n, d, variant, penstock_error_text());
        if (status)
            continue;
        cases[d]++;
        check_passes(&decomposition, n, d);
        if (!variant && !domain)
            check_count(&decomposition, n, d);
    }
}

/* Also for real samples and as the variants that a driver's trouble leads to: some. */
static void check_drawn(size_t n)
{
    uint64_t hash = penstock__hash(&n, sizeof n);
    check_length(n, 0, PENSTOCK_COMPLEX);
    if (hash % 32 == 0)
        check_length(n, 0, PENSTOCK_REAL);
    if (hash / 32 % 32 == 0)
        check_length(n, 1 + hash / 1024 % 2, PENSTOCK_COMPLEX);
}

/* ---------------------------------------------------------------- batches --------------------- */

static struct penstock_device device_row = {.name = "gpu:0"};

/* The number of the group from which the last one fetches ahead is a k_index. */
static void check_transforms(size_t n)
{
    const struct penstock_problem problem = {
        .fft = {.n = n, .format = PENSTOCK_CF32, .spacing = n, .scale = 1, .average = 1}};
    const struct penstock_plan_state state = {.device = &device_row, .problem = &problem};
    struct gpu_decomposition decomposition;
    size_t bytes, most = 0;
    unsigned count;
    CHECK_OK(penstock__gpu_decomposition(&decomposition, &problem.fft, &devices[0].limits, 0));
    for (size_t step = (size_t)1 << 31; step; step /= 2) {
        const struct penstock_job job = {.frames = most + step};
        most += penstock__gpu_scratch(&count, &bytes, &state, &decomposition, &job) ? 0 : step;
    }
    const struct gpu_launch_config *config = &decomposition.pass[0].config;
    CHECK(most > 1 << 20 && most + (uint64_t)config->ahead * config->per_group + config->per_group <= INT32_MAX,
          "n %zu: %zu rows, and %u groups of %u ahead", n, most, config->ahead, config->per_group);
}

/* Whether a kernel that does more than a transform takes so many frames of so many samples. */
static bool takes(const struct penstock_problem *problem, size_t frames, size_t samples)
{
    const struct penstock_plan_state state = {.device = &device_row, .problem = problem};
    const struct penstock_job job = {.frames = frames, .samples = samples};
    struct fused_kernel kernel;
    size_t rows, groups;
    CHECK_OK(penstock__fused_kernel_config(&kernel, problem, &devices[0].limits, 0, true));
    return !penstock__fused_grid(&rows, &groups, &state, &kernel, &job);
}

/* These count samples and values from the first ones of a batch by k_size. */
static void check_fused(void)
{
    enum { N = 8192, BLOCK = 4096, CARRIERS = 1600 };
    static uint32_t bins[CARRIERS];
    const size_t most = UINT32_MAX;
    const struct penstock_problem spectrum = {.fft = {.n = N,
                                                      .format = PENSTOCK_CS8,
                                                      .spacing = N / 4,
                                                      .output = PENSTOCK_OUTPUT_POWER,
                                                      .scale = 1,
                                                      .average = 2}};
    const struct penstock_problem filter = {
        .kind = PENSTOCK_PROBLEM_FILTER,
        .filter = {
            .n = N, .format = PENSTOCK_CS8, .block = BLOCK, .partitions = 1, .interpolation = 1, .decimation = 1}};
    const struct penstock_problem ofdm = {
        .kind = PENSTOCK_PROBLEM_OFDM,
        .ofdm = {.n = 2048, .format = PENSTOCK_CS8, .bits = 6, .carrier_count = CARRIERS, .bins = bins}};
    for (uint32_t c = 0; c < CARRIERS; c++)
        bins[c] = c;
    CHECK(takes(&spectrum, 2 * (most / N), most) && !takes(&spectrum, 2 * (most / N + 2), most), "spectra");
    CHECK(takes(&filter, most / BLOCK, most) && takes(&ofdm, most / 2200, most), "filters and OFDM");
    CHECK(!takes(&ofdm, most / 400, 1 << 20), "OFDM's soft bits, of symbols that are asked for several times");
    if (SIZE_MAX == most)
        return; /* more samples than that cannot be asked for */
    CHECK(!takes(&filter, most / BLOCK + 2, most + 2 * BLOCK), "filters");
    CHECK(!takes(&ofdm, most / 2200 + 2, most + 4400), "OFDM's samples");
}

static void print_progress(size_t n)
{
    if (n % (MOST_LENGTH / 64))
        return;
    printf("to %zu: %lu cases, %d failed\n", n, cases[0], test_failures);
    fflush(stdout);
}

/* [FIRST [LAST]]: lengths between these alone. */
int main(int count, char **arguments)
{
    bool full = getenv("PENSTOCK_TEST_FULL") != NULL;
    size_t first = count > 1 ? strtoul(arguments[1], NULL, 10) : 1;
    size_t last = count > 2 ? strtoul(arguments[2], NULL, 10) : MOST_LENGTH;
    for (size_t n = first; n <= last; n++) {
        bool near = n < 1000 || MOST_LENGTH - n < 8 || (n & (n - 1)) == 0 || (n & (n + 1)) == 0;
        if (full || near || penstock__hash(&n, sizeof n) % 4096 == 0)
            check_drawn(n);
        if (full)
            print_progress(n);
    }
    for (size_t d = 0; d < DEVICES; d++) {
        printf(
            "device %zu: %lu decompositions, of one, two and three passes each way: %lu, %lu, %lu; convolutions: %lu\n",
            d, cases[d], passes[d][1], passes[d][2], passes[d][3], convolutions[d]);
        CHECK(count > 1 || cases[d] >= (full ? MOST_LENGTH : 2500), "device %zu: only %lu cases", d, cases[d]);
    }
    for (size_t n = 1; n <= 4096; n *= 2)
        check_transforms(n);
    check_fused();
    return test_finish();
}
