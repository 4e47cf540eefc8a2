/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Kernels that do more than a transform, run on the host from their whole text: each sample is loaded once for each
 * frame that it is in, each byte of output stored once, nothing beside touched, and local memory's banks meet as often
 * as gpu_fused_banks.c says. PENSTOCK_TEST_FULL=1 runs all; else a sample by hash.
 */
#include "core/base/context.h"
#include "folder.h"
#include "gpu/fused_kinds.h"
#include "gpu_banks.h"
#include "gpu_trace.h"

#define MOST_WAYS 33

static const struct gpu_limits limits[] = {
    {.local_bytes = 227 << 10, .max_group = 1024, .bounded = true}, /* NVIDIA through CUDA */
    {.local_bytes = 48 << 10, .max_group = 1024},                   /* and through OpenCL */
    {.local_bytes = 64 << 10, .max_group = 256},                    /* AMD, Intel */
    {.local_bytes = 32 << 10, .max_group = 256},                    /* the least that OpenCL promises, nearly */
    {.local_bytes = 64 << 10, .max_group = 256, .wave = 32, .most_slots = 16, .item_bytes = 128}, /* AMD RDNA */
};

static penstock_context *context;
static bool full;
static unsigned cases, left_out, impossible, histogram[MOST_WAYS];
static uint64_t seen[8192]; /* hashes of sources that ran */
static float window[32768];
static uint32_t bins[8192];

/* Spans of samples that a row reads: span k of row r begins at start + r step + k stride. */
struct reads {
    size_t start, step, stride, spans, length;
};

/* One way to use a kernel. */
struct use {
    const char *what;
    struct penstock_problem problem;
    struct reads reads;
    uint32_t start, spacing; /* OFDM, where there is no list */
    unsigned kernel;
};

static size_t sample_bytes(const struct penstock_problem *problem)
{
    return penstock_format_bytes(problem->kind == PENSTOCK_PROBLEM_FFT    ? problem->fft.format
                                 : problem->kind == PENSTOCK_PROBLEM_OFDM ? problem->ofdm.format
                                                                          : problem->filter.format);
}

/* ---------------------------------------------------------------- uses ------------------------ */

static struct use filter_use(size_t n, penstock_format format, size_t parts, size_t interpolation, size_t decimation,
                             bool rotated)
{
    size_t block = n / 2;
    struct use use = {.what = "filter",
                      .problem = {.kind = PENSTOCK_PROBLEM_FILTER,
                                  .filter = {.n = n,
                                             .format = format,
                                             .block = block,
                                             .first = n - block,
                                             .partitions = parts,
                                             .interpolation = interpolation,
                                             .decimation = decimation,
                                             .rotated = rotated}},
                      .reads = {0, block, block, parts, n}};
    use.problem.out_bytes = penstock__filter_values(&use.problem.filter) * (format == PENSTOCK_F32 ? 4 : 8);
    return use;
}

static struct use fft_use(const char *what, struct penstock_fft_problem fft)
{
    struct use use = {.what = what, .problem = {.kind = PENSTOCK_PROBLEM_FFT}};
    fft.scale = 1;
    use.problem.out_bytes = fft.n * (fft.average > 1 ? 4 : 8);
    use.problem.fft = fft;
    use.reads = (struct reads){fft.skip, fft.average * fft.spacing, fft.spacing, fft.average, fft.n};
    return use;
}

/* Carriers around zero frequency, which has none; or, `scattered`, at every third bin. */
static struct use ofdm_use(size_t n, unsigned bits, bool mixed, bool scattered, unsigned kernel)
{
    size_t carriers = n < 5 ? 1 : scattered ? n / 3 : n * 3 / 4 / 2 * 2;
    struct use use = {.what = mixed ? "symbols" : "ofdm",
                      .problem = {.kind = PENSTOCK_PROBLEM_OFDM,
                                  .ofdm = {.n = n,
                                           .format = PENSTOCK_CS16,
                                           .bits = bits,
                                           .carrier_count = carriers,
                                           .bins = bins,
                                           .mixed = mixed}},
                      .reads = {3, n + 5, 0, 1, n},
                      .start = 3,
                      .spacing = (uint32_t)n + 5,
                      .kernel = kernel};
    for (size_t c = 0; c < carriers; c++)
        bins[c] = (uint32_t)(scattered ? 3 * c : c < carriers / 2 ? n - carriers / 2 + c : c - carriers / 2 + 1);
    use.problem.out_bytes = carriers * bits;
    return use;
}

/* ---------------------------------------------------------------- checks ---------------------- */

/* Samples of `rows` rows are loaded once for each span they are in; those of the last row also by who fills its group.
 */
static size_t wrong_loads(const struct gpu_trace *trace, const struct use *use, size_t fillers)
{
    size_t bytes = sample_bytes(&use->problem), wrong = 0;
    const struct gpu_trace_memory *in = trace->memory[0];
    unsigned *want = calloc(in->bytes / bytes, sizeof *want);
    for (size_t row = 0; row < trace->rows; row++)
        for (size_t k = 0; k < use->reads.spans; k++)
            for (size_t i = 0; i < use->reads.length; i++)
                want[use->reads.start + row * use->reads.step + k * use->reads.stride + i] +=
                    row + 1 == trace->rows ? 1 + (unsigned)fillers : 1;
    for (size_t i = 0; i < in->bytes; i++)
        wrong += in->loads[i] != want[i / bytes] || in->stores[i];
    free(want);
    return wrong;
}

static void check_counts(const struct gpu_trace *trace, const struct use *use, const struct fused_kernel *kernel,
                         const char *label)
{
    size_t fillers = trace->groups * (size_t)kernel->per_group - trace->rows, stores = 0, loads;
    const struct gpu_trace_memory *out = trace->memory[4];
    loads = wrong_loads(trace, use, fillers);
    for (size_t i = 0; i < out->bytes; i++)
        stores += out->stores[i] != 1 || out->loads[i];
    CHECK(!trace->misaligned && !trace->unwritten && !trace->left && !trace->races && !trace->splits,
          "%s: %zu accesses misaligned, %zu bytes read unwritten, %zu races, %zu barriers not met by all", label,
          trace->misaligned, trace->unwritten + trace->left, trace->races, trace->splits);
    CHECK(!loads && !stores && !trace->overruns, "%s: %zu bytes not loaded once, %zu not stored once, %zu overruns",
          label, loads, stores, trace->overruns);
    if (kernel->decomposition
            .count) /* of an exchange like those in gpu_model_banks.c, and of carriers wherever they are */
        return;
    unsigned declared = use->problem.kind == PENSTOCK_PROBLEM_OFDM ? fused_ofdm_bank_ways(kernel, &use->problem.ofdm)
                                                                   : fused_bank_ways(&kernel->config);
    CHECK(trace->ways == declared, "%s: %u-way bank conflicts, declared are %u", label, trace->ways, declared);
    CHECK(kernel->config.passes == 1 || trace->accesses > 0, "%s: no access to local memory was seen", label);
    histogram[declared < MOST_WAYS ? declared : MOST_WAYS - 1]++;
}

/* Whether this source was run before, with the same use of it. */
static bool again(const char *text, const struct use *use)
{
    uint64_t hash = penstock__hash(text, strlen(text)) + use->kernel;
    for (unsigned i = 0; i < cases; i++)
        if (seen[i] == hash)
            return true;
    seen[cases % (sizeof seen / sizeof *seen)] = hash;
    return false;
}

static void run(const struct use *use, const struct fused_kernel *kernel, const char *text, const char *label)
{
    const struct penstock_problem *problem = &use->problem;
    struct penstock_ofdm_descriptor *places = NULL;
    size_t count = 0, factors = 0;
    float *table = NULL, *gains = NULL;
    struct gpu_trace trace = {.text = text,
                              .name = penstock__fused_name(kernel, use->kernel),
                              .folder = test_folder,
                              .group = {kernel->group[0], kernel->group[1]},
                              .groups = 2,
                              .rows = kernel->per_group + 1,
                              .local_bytes = kernel->local_bytes,
                              .start = use->start,
                              .spacing = use->spacing};
    size_t in_bytes = (use->reads.start + (trace.rows - 1) * use->reads.step +
                       (use->reads.spans - 1) * use->reads.stride + use->reads.length) *
                      sample_bytes(problem);
    void *samples = calloc(1, in_bytes);
    CHECK_OK(penstock__fused_kernel_table(&table, &count, kernel, problem));
    if (problem->kind != PENSTOCK_PROBLEM_FFT) {
        factors = 2 * (problem->kind == PENSTOCK_PROBLEM_OFDM ? penstock__ofdm_coefficients(&problem->ofdm)
                                                              : penstock__filter_response(&problem->filter));
        gains = calloc(factors, sizeof *gains);
    }
    if (problem->kind == PENSTOCK_PROBLEM_OFDM) {
        gains[2 * problem->ofdm.n + 2] = (float)problem->ofdm.bits;
        places = calloc(trace.rows, sizeof *places);
        for (unsigned row = 0; row < trace.rows; row++)
            places[row].start = (uint32_t)(use->reads.start + row * use->reads.step);
    }
    trace.memory[0] = gpu_trace_memory_new(in_bytes, samples);
    trace.memory[1] = places ? gpu_trace_memory_new(trace.rows * sizeof *places, places) : NULL;
    trace.memory[2] = gains ? gpu_trace_memory_new(factors * sizeof *gains, gains)
                            : gpu_trace_memory_new(count * sizeof *table, table);
    trace.memory[3] = gpu_trace_memory_new(count * sizeof *table, table);
    trace.memory[4] = gpu_trace_memory_new(trace.rows * problem->out_bytes, NULL);
    for (unsigned i = 0; i < 4; i++)
        if (trace.memory[i])
            trace.memory[i]->constant = true;
    if (gpu_trace_run(&trace))
        check_counts(&trace, use, kernel, label);
    else
        CHECK(false, "%s: did not run", label);
    for (unsigned i = 0; i < GPU_TRACE_MEMORIES; i++)
        gpu_trace_memory_free(trace.memory[i]);
    penstock__free(table);
    free(samples);
    free(gains);
    free(places);
}

/* One in `every` by hash, or all. */
static void check(struct use use, const struct gpu_limits *device, unsigned variant, unsigned every)
{
    struct fused_kernel kernel;
    struct gpu_text text = {0};
    size_t n = use.problem.kind == PENSTOCK_PROBLEM_FFT    ? use.problem.fft.n
               : use.problem.kind == PENSTOCK_PROBLEM_OFDM ? use.problem.ofdm.n
                                                           : use.problem.filter.n;
    char label[120];
    snprintf(label, sizeof label, "%s, n %zu, %zu KB, variant %u, kernel %u, %zu bytes a row", use.what, n,
             device->local_bytes >> 10, variant, use.kernel, use.problem.out_bytes);
    if (!full && penstock__hash(label, strlen(label)) % every) {
        left_out++;
        return;
    }
    if (penstock__fused_kernel_config(&kernel, &use.problem, device, variant, device->max_group > 256)) {
        impossible++;
        return;
    }
    CHECK_OK(penstock__fused_source(&text, context, &kernel, &use.problem));
    if (!text.failed && !again(text.content, &use)) {
        run(&use, &kernel, text.content, label);
        cases++;
        if (full && cases % 50 == 0) {
            printf("%u kernels, %d failed, last: %s\n", cases, test_failures, label);
            fflush(stdout);
        }
    }
    penstock__text_free(&text);
}

/* ---------------------------------------------------------------- all ------------------------- */

/* What all kernels of powers of two do, at one length on one device. */
static void check_length(size_t n, const struct gpu_limits *device)
{
    static const unsigned bits[] = {1, 2, 4, 6, 8, 10};
    for (unsigned variant = 0; variant < 2; variant++) {
        check(filter_use(n, PENSTOCK_CF32, 1, 1, 1, false), device, variant, 32);
        check(filter_use(n, PENSTOCK_F32, 3, 1, 1, false), device, variant, 64);
        check(filter_use(n, PENSTOCK_CS16, 1, 1, 4, true), device, variant, 64);
        check(filter_use(n, PENSTOCK_CF32, 1, 3, 2, true), device, variant, 64);
        for (unsigned i = 0; i < 6; i++)
            check(ofdm_use(n, bits[i], false, false, (i + variant) % FUSED_KERNELS), device, variant, 64);
        check(ofdm_use(n, 4, false, true, 0), device, variant, 48);
    }
    check(fft_use("spectrum", (struct penstock_fft_problem){.n = n,
                                                            .format = PENSTOCK_CS16,
                                                            .spacing = n,
                                                            .output = PENSTOCK_OUTPUT_POWER,
                                                            .centered = true,
                                                            .window = window,
                                                            .average = 3}),
          device, 0, 24);
    check(fft_use("overlapping spectrum", (struct penstock_fft_problem){.n = n,
                                                                        .format = PENSTOCK_CU8,
                                                                        .spacing = n / 2,
                                                                        .skip = 6,
                                                                        .output = PENSTOCK_OUTPUT_POWER,
                                                                        .average = 2}),
          device, 0, 24);
}

static void check_plain(size_t n, const struct gpu_limits *device)
{
    struct penstock_fft_problem fft = {.n = n, .spacing = n + 2, .skip = 4, .average = 1};
    check(fft_use("plain", fft), device, 0, 32);
    fft.format = PENSTOCK_CS16;
    fft.window = window;
    fft.centered = true;
    if (n <= FUSED_PLAIN) /* what is done as two halves has neither */
        check(fft_use("windowed plain", fft), device, 0, 48);
}

int main(void)
{
    full = getenv("PENSTOCK_TEST_FULL") != NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK(test_make_folder(), "cannot make a folder");
    for (size_t d = 0; d < sizeof limits / sizeof limits[0]; d++) {
        for (size_t n = FUSED_LEAST; n <= FUSED_MOST; n *= 2)
            check_length(n, &limits[d]);
        for (size_t n = FUSED_LEAST; n <= 2 * FUSED_PLAIN; n *= 2)
            check_plain(n, &limits[d]);
        for (size_t n = 2; n <= FUSED_MOST; n++) /* full: one in 16 */
            if (!full || penstock__hash(&n, sizeof n) % 16 == 0)
                check(ofdm_use(n, 6, true, false, 0), &limits[d], 0, 8192);
    }
    test_remove_folder();
    penstock_context_free(context);
    printf("%u kernels run, %u not drawn, %u do not fit\n", cases, left_out, impossible);
    for (unsigned ways = 1; ways < MOST_WAYS; ways++)
        if (histogram[ways])
            printf("%u with %u-way bank conflicts at most\n", histogram[ways], ways);
    CHECK(cases >= (full ? 200 : 20), "only %u kernels ran", cases);
    return test_finish();
}
