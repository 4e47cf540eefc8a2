/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The kernels that kernels/ptx.h and kernels/points.h write in PTX: NVRTC, where it is installed, turns them into PTX,
 * which is run on the host and compared with the transform in double precision. No GPU needed.
 */
#include "fft_error.h"
#include "gpu/fused_kernel.h"
#include "gpu/kernel.h"
#include "gpu/prologue.h"
#include "nvrtc_rig.h"
#include "ptx_run.h"

#define ROWS 2

static penstock_context *context;

/* NULL if it is not compiled. */
static char *compile(const char *source, const char *label)
{
    nvrtcProgram program;
    char *text = NULL;
    size_t bytes = 0;
    if (nvrtc_compile(&program, source, "--gpu-architecture=compute_90", label) && !nvrtc.GetPTXSize(program, &bytes) &&
        (text = calloc(bytes + 1, 1)))
        CHECK_EQ(nvrtc.GetPTX(program, text), 0);
    nvrtc.DestroyProgram(&program);
    return text;
}

/* The row's transform in double precision, windowed, scaled and with zero frequency where it is wanted. */
static double *expected(const struct penstock_fft_problem *fft, const float *in)
{
    size_t n = fft->n, shift = fft->centered ? n / 2 : 0;
    double *x = malloc(2 * n * sizeof *x), *want = malloc(2 * n * sizeof *want);
    for (size_t i = 0; i < 2 * n; i++)
        x[i] = (double)in[i] * (fft->window ? (double)fft->window[i / 2] : 1);
    CHECK_OK(penstock__dft(x, n, fft->direction));
    for (size_t i = 0; i < 2 * n; i++)
        want[(i + 2 * shift) % (2 * n)] = x[i] * (double)fft->scale;
    free(x);
    return want;
}

static void check_output(const struct penstock_fft_problem *fft, const struct ptx_run *run, const char *label)
{
    size_t row = run->group * 2 * fft->n, wrong = 0;
    const struct ptx_memory *out = &run->parameter[4];
    double *want = expected(fft, run->parameter[0].value + row), error;
    for (size_t i = 0; i < out->count; i++)
        wrong += out->stores[i] != (i >= row && i < row + 2 * fft->n);
    error = relative_error(out->value + row, want, 2 * fft->n);
    CHECK(!wrong, "%s: %zu floats not stored once, or of another row", label, wrong);
    CHECK(error <= error_bound(fft->n), "%s: error %.3g, %.3g allowed", label, error, error_bound(fft->n));
    CHECK(run->barriers >= 3, "%s: %u barriers", label, run->barriers);
    free(want);
}

static void check(struct penstock_fft_problem fft, const char *label)
{
    const struct gpu_limits limits = {.local_bytes = 227 << 10, .max_group = 1024, .units = 132, .bounded = true};
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FFT, .fft = fft};
    struct fused_kernel kernel;
    struct gpu_text text = {0};
    size_t count = ROWS * 2 * fft.n, table_count = 0;
    float *in = malloc(count * sizeof *in), *out = calloc(count, sizeof *out), *table = NULL;
    uint64_t seed = fft.n;
    char *ptx = NULL;
    problem.fft.average = 1;
    problem.fft.spacing = fft.n;
    for (size_t i = 0; i < count; i++)
        in[i] = (float)test_uniform(&seed);
    CHECK_OK(penstock__fused_kernel_config(&kernel, &problem, &limits, 0, true));
    CHECK_OK(penstock__fused_source(&text, context, &kernel, &problem));
    CHECK_OK(penstock__fused_kernel_table(&table, &table_count, &kernel, &problem));
    CHECK(strstr(text.content, "#define PTX 1"), "%s: not in PTX", label);
    ptx = compile(text.content, label);
    CHECK(ptx, "%s: not compiled", label);
    struct ptx_run run = {.text = ptx ? ptx : "",
                          .items = kernel.group[0],
                          .group = 1,
                          .parameter = {[0] = {in, NULL, count},
                                        [2] = {table, NULL, table_count},
                                        [3] = {table, NULL, table_count},
                                        [4] = {out, calloc(count, 1), count}},
                          .number = {[5] = ROWS},
                          .shared_bytes = kernel.local_bytes};
    if (ptx_run(&run))
        check_output(&problem.fft, &run, label);
    else
        CHECK(false, "%s: %s", label, run.error);
    free(run.parameter[4].stores);
    penstock__text_free(&text);
    penstock__free(table);
    free(ptx);
    free(in);
    free(out);
}

/* ---------------------------------------------------------------- kernels/points.h ------------ */

/* All groups of a pass, from `in` to `out`. */
static void run_pass(const struct gpu_decomposition *decomposition, unsigned index,
                     const struct penstock_fft_problem *fft, const struct ptx_memory *in, const struct ptx_memory *out,
                     bool in_ptx, const char *label)
{
    const struct gpu_launch_config *config = &decomposition->pass[index].config;
    unsigned columns = penstock__gpu_columns(decomposition, &decomposition->pass[index]), across = config->per_group;
    unsigned groups = columns > 1 ? ROWS * ((columns + across - 1) / across) : (ROWS + across - 1) / across;
    struct gpu_table table;
    struct gpu_text text = {0};
    char *ptx;
    CHECK_OK(penstock__gpu_table(&table, decomposition, index, fft));
    CHECK_OK(penstock__gpu_kernel_source(&text, context, decomposition, index, &table, fft));
    CHECK_EQ(penstock__gpu_in_ptx(decomposition, index), in_ptx && decomposition->pass[index].middle);
    CHECK_EQ(strstr(text.content, "points.h") != NULL, in_ptx && decomposition->pass[index].middle);
    ptx = compile(text.content, label);
    CHECK(ptx, "%s: not compiled", label);
    for (unsigned group = 0; group < groups && ptx; group++) {
        struct ptx_run run = {.text = ptx,
                              .items = penstock__gpu_group_size(config),
                              .width = penstock__gpu_group_x(config),
                              .group = group,
                              .parameter = {*in, *in, {table.values, NULL, table.count}, *out},
                              .number = {[4] = ROWS},
                              .shared_bytes = penstock__gpu_local_bytes(config)};
        CHECK(ptx_run(&run), "%s, pass %u, group %u: %s", label, index, group, run.error);
    }
    free(ptx);
    penstock__text_free(&text);
    penstock__gpu_table_free(&table);
}

static struct ptx_memory memory_of(size_t count)
{
    return (struct ptx_memory){calloc(count, sizeof(float)), calloc(count, 1), count};
}

static void free_memory(struct ptx_memory *memory)
{
    free(memory->value);
    free(memory->stores);
}

/* `in_ptx`: the middle pass is long enough for it. */
static void check_passes(struct penstock_fft_problem fft, unsigned passes, bool in_ptx, const char *label)
{
    const struct gpu_limits limits = {.local_bytes = 227 << 10, .max_group = 1024, .units = 132, .bounded = true};
    struct gpu_decomposition decomposition;
    struct ptx_memory memory[GPU_MAX_PASSES + 1];
    uint64_t seed = fft.n;
    fft.average = 1;
    fft.spacing = fft.n;
    CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits, 0));
    CHECK_EQ(decomposition.count, passes);
    for (unsigned i = 0; i <= decomposition.count; i++)
        memory[i] = memory_of(ROWS * 2 * (i && i < decomposition.count ? decomposition.total : fft.n));
    for (size_t i = 0; i < memory[0].count; i++)
        memory[0].value[i] = (float)test_uniform(&seed);
    for (unsigned i = 0; i < decomposition.count; i++)
        run_pass(&decomposition, i, &fft, &memory[i], &memory[i + 1], in_ptx, label);
    for (unsigned row = 0; row < ROWS; row++) {
        size_t at = row * 2 * fft.n;
        const struct ptx_memory *out = &memory[decomposition.count];
        double *want = expected(&fft, memory[0].value + at), error;
        error = relative_error(out->value + at, want, 2 * fft.n);
        CHECK(error <= error_bound(decomposition.total), "%s: error %.3g, %.3g allowed", label, error,
              error_bound(decomposition.total));
        CHECK(!memchr(out->stores + at, 0, 2 * fft.n), "%s: floats not stored", label);
        free(want);
    }
    for (unsigned i = 0; i <= decomposition.count; i++)
        free_memory(&memory[i]);
}

int main(void)
{
    static float window[16384];
    for (size_t i = 0; i < sizeof window / sizeof window[0]; i++)
        window[i] = 0.5f + (float)(i % 7) / 8;
    if (!nvrtc_load())
        return test_skip("no NVRTC (libnvrtc.so of the CUDA toolkit)");
    CHECK_OK(penstock_context_new(&context, NULL));
    check((struct penstock_fft_problem){.n = 8192, .scale = 1, .window = window, .centered = true},
          "8192 windowed, centred");
    check((struct penstock_fft_problem){.n = 16384, .scale = 1}, "16384");
    check((struct penstock_fft_problem){.n = 32768, .scale = 1}, "32768");
    check((struct penstock_fft_problem){.n = 32768, .scale = 0.5f, .direction = PENSTOCK_REVERSE}, "32768 reverse");
    check(
        (struct penstock_fft_problem){
            .n = 16384, .scale = 0.25f, .direction = PENSTOCK_REVERSE, .window = window, .centered = true},
        "16384 reverse, windowed, centred");
    check_passes((struct penstock_fft_problem){.n = 127, .scale = 1}, 1, true, "127");
    check_passes((struct penstock_fft_problem){.n = 509, .scale = 1, .direction = PENSTOCK_REVERSE}, 1, true,
                 "509 reverse");
    check_passes((struct penstock_fft_problem){.n = 4099, .scale = 0.5f, .window = window, .centered = true}, 1, true,
                 "4099 windowed, centred");
    check_passes((struct penstock_fft_problem){.n = 9999, .scale = 1}, 3, false, "9999");
    check_passes((struct penstock_fft_problem){.n = 32719, .scale = 1}, 3, true, "32719");
    penstock_context_free(context);
    return test_finish();
}
