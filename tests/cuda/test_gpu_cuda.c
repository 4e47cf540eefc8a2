/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernel source is CUDA C too: NVRTC, where it is installed, compiles each stage and format of it. No GPU needed.
 */
#include "gpu/fused_kernel.h"
#include "gpu/kernel.h"
#include "gpu/viterbi.h"
#include "nvrtc_rig.h"
#include "ops/coding/viterbi.h"

static void compile(const char *source, const char *what)
{
    nvrtcProgram program;
    nvrtc_compile(&program, source, "--gpu-architecture=sm_90", what);
    nvrtc.DestroyProgram(&program);
}

static void check(penstock_context *context, struct penstock_fft_problem fft, const char *what)
{
    const struct gpu_limits limits = {.local_bytes = 48 << 10, .max_group = 1024, .half_arithmetic = true};
    struct gpu_decomposition decomposition;
    struct gpu_table table;
    fft.scale = 1;
    fft.average = fft.average ? fft.average : 1;
    fft.spacing = fft.n;
    CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits, 0));
    CHECK(decomposition.count >= 1, "%s: no kernel", what);
    for (unsigned i = 0; i < decomposition.count; i++) {
        struct gpu_text text = {0};
        CHECK_OK(penstock__gpu_table(&table, &decomposition, i, &fft));
        CHECK_OK(penstock__gpu_kernel_source(&text, context, &decomposition, i, &table, &fft));
        compile(text.content, what);
        penstock__gpu_table_free(&table);
        penstock__text_free(&text);
    }
}

/* One kernel and several, of each way to do a length. */
static void check_lengths(penstock_context *context)
{
    check(context, (struct penstock_fft_problem){.n = 8}, "n 8");
    check(context, (struct penstock_fft_problem){.n = 8192, .direction = PENSTOCK_REVERSE}, "n 8192, in halves");
    check(context, (struct penstock_fft_problem){.n = 13 * 11 * 9, .centered = true}, "n 1287");
    check(context, (struct penstock_fft_problem){.n = 509, .direction = PENSTOCK_REVERSE}, "n 509, Bluestein");
    check(context, (struct penstock_fft_problem){.n = 127, .output = PENSTOCK_OUTPUT_POWER}, "n 127, Rader");
    check(context, (struct penstock_fft_problem){.n = 65537}, "n 65537, three passes");
    check(context, (struct penstock_fft_problem){.n = 509, .output = PENSTOCK_OUTPUT_POWER, .average = 3},
          "n 509, average");
    check(context, (struct penstock_fft_problem){.n = 509, .domain = PENSTOCK_REAL, .format = PENSTOCK_F32},
          "n 509, real");
    check(context, (struct penstock_fft_problem){.n = 509, .gathered = true, .format = PENSTOCK_CS16},
          "n 509, gathered");
    check(context, (struct penstock_fft_problem){.n = 1021, .options = {.scratch = PENSTOCK_SCRATCH_GLOBAL}},
          "n 1021, global scratch");
}

/* What a kernel loads and stores, and in which arithmetic. */
static void check_stages(penstock_context *context)
{
    static float window[64];
    for (penstock_format format = PENSTOCK_CS16; format <= PENSTOCK_PLANAR; format++)
        check(context, (struct penstock_fft_problem){.n = 64, .format = format, .window = window, .centered = true},
              penstock_format_name(format));
    check(context, (struct penstock_fft_problem){.n = 64, .format = PENSTOCK_CF16, .half = true}, "halfs");
    check(context,
          (struct penstock_fft_problem){.n = 64, .half = true, .output = PENSTOCK_OUTPUT_DECIBEL, .average = 2},
          "halfs, decibel");
    for (size_t n = 64; n <= 1365; n += 1301) /* 3 x 5 x 7 x 13 */
        check(context,
              (struct penstock_fft_problem){.n = n,
                                            .gathered = n == 64,
                                            .window = n == 64 ? window : NULL,
                                            .options = {.arithmetic = PENSTOCK_ARITHMETIC_HALF}},
              "half arithmetic");
    check(context,
          (struct penstock_fft_problem){
              .n = 64 * 6, .columns = 6, .half = true, .options = {.arithmetic = PENSTOCK_ARITHMETIC_HALF}},
          "half arithmetic, columns");
    check(context, (struct penstock_fft_problem){.n = 64, .gathered = true, .output = PENSTOCK_OUTPUT_DECIBEL},
          "gathered, decibel");
    check(context, (struct penstock_fft_problem){.n = 64, .shift = 0.1, .output = PENSTOCK_OUTPUT_POWER, .average = 20},
          "shift, average");
    check(context, (struct penstock_fft_problem){.n = 64, .domain = PENSTOCK_REAL, .format = PENSTOCK_F32}, "real");
    check(context, (struct penstock_fft_problem){.n = 64, .domain = PENSTOCK_REAL, .direction = PENSTOCK_REVERSE},
          "real reverse");
}

/* Of frames with rows and columns: transforms side by side, and transposing with each format and stage of it. */
static void check_planes(penstock_context *context)
{
    static float window[12 * 18];
    check(context, (struct penstock_fft_problem){.n = 64 * 24, .columns = 24}, "64 x 24 side by side");
    check(context, (struct penstock_fft_problem){.n = 127 * 8, .columns = 8, .transposed = true}, "127 x 8 transposed");
    check(context,
          (struct penstock_fft_problem){
              .n = 4096 * 4096 / 8, .columns = 4, .options = {.scratch = PENSTOCK_SCRATCH_GLOBAL}},
          "side by side, global scratch");
    for (penstock_format format = PENSTOCK_CF32; format <= PENSTOCK_PLANAR; format++)
        check(context,
              (struct penstock_fft_problem){
                  .n = 12 * 18, .columns = 12, .transposed = true, .format = format, .window = window, .skip = 3},
              "transposed, load stage");
    for (penstock_output output = PENSTOCK_OUTPUT_COMPLEX; output <= PENSTOCK_OUTPUT_DECIBEL; output++)
        check(context, (struct penstock_fft_problem){.n = 12 * 18, .columns = 18, .transposed = true, .output = output},
              "transposed, store stage");
}

/* Kernels that do more than a transform. */
static void check_fused(penstock_context *context, struct penstock_problem problem, const char *what)
{
    const struct gpu_limits limits = {.local_bytes = 227 << 10, .max_group = 1024, .units = 132, .bounded = true};
    struct fused_kernel kernel;
    struct gpu_text text = {0};
    CHECK_OK(penstock__fused_kernel_config(&kernel, &problem, &limits, 0, true));
    CHECK_OK(penstock__fused_source(&text, context, &kernel, &problem));
    compile(text.content, what);
    penstock__text_free(&text);
}

static void check_ofdm(penstock_context *context)
{
    static const uint32_t bins[] = {60, 61, 62, 1, 2, 3};
    check_fused(context,
                (struct penstock_problem){
                    .kind = PENSTOCK_PROBLEM_OFDM,
                    .ofdm = {.n = 64, .format = PENSTOCK_CS16, .bits = 6, .carrier_count = 6, .bins = bins}},
                "ofdm");
    for (size_t i = 0; i < 5; i++) {
        static const uint32_t pilots[] = {58, 6};
        static const penstock_cf32 values[] = {{1, 0}, {0, -1}};
        static const unsigned lengths[] = {64, 127, 509, 1536, 187}, pitches[] = {6, 10, 8, 1, 6};
        struct penstock_ofdm_problem ofdm = {
            lengths[i], (penstock_format)(i % 4), pitches[i], 6, bins, true, i != 1, i != 3, 2, 1, pilots, values};
        check_fused(context, (struct penstock_problem){.kind = PENSTOCK_PROBLEM_OFDM, .ofdm = ofdm},
                    "ofdm, any length");
    }
}

static void check_filters_and_spectra(penstock_context *context)
{
    check_fused(context,
                (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FILTER,
                                          .filter = {64, PENSTOCK_CF32, 48, 16, 1, 1, 1, false}},
                "filter");
    check_fused(context,
                (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FILTER,
                                          .filter = {1024, PENSTOCK_CS16, 300, 700, 1, 1, 3, true}},
                "filter, turned");
    check_fused(context,
                (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FILTER,
                                          .filter = {4096, PENSTOCK_F32, 2048, 2048, 9, 1, 1, false}},
                "filter in parts");
    check_fused(context,
                (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FILTER,
                                          .filter = {1024, PENSTOCK_CF32, 900, 124, 1, 4, 3, true}},
                "interpolating filter");
    check_fused(context,
                (struct penstock_problem){.fft = {.n = 64,
                                                  .format = PENSTOCK_CS16,
                                                  .spacing = 64,
                                                  .scale = 1,
                                                  .output = PENSTOCK_OUTPUT_POWER,
                                                  .average = 16}},
                "spectrum");
    for (size_t n = 8192; n <= 32768; n *= 2)
        check_fused(context, (struct penstock_problem){.fft = {.n = n, .spacing = n, .scale = 1, .average = 1}},
                    "plain");
}

/* Metrics in registers, and a work-item a state. */
static void check_viterbi(penstock_context *context)
{
    const penstock_viterbi_desc codes[] = {
        PENSTOCK_VITERBI_DESC(.bits = 1024),
        PENSTOCK_VITERBI_DESC(.bits = 100, .generators = {0133, 0171, 0145, 0133}, .result = PENSTOCK_BITS_MSB_FIRST),
        PENSTOCK_VITERBI_DESC(.bits = 100, .end = PENSTOCK_TRELLIS_TAIL_BITING, .soft = PENSTOCK_SOFT_F32),
        PENSTOCK_VITERBI_DESC(.bits = 9, .generators = {07, 05}, .puncture = "1110", .soft = PENSTOCK_SOFT_HARD),
        PENSTOCK_VITERBI_DESC(.bits = 9, .generators = {0561, 0753}, .result = PENSTOCK_BITS_UNPACKED)};
    const struct gpu_limits limits = {.local_bytes = 227 << 10, .max_group = 1024, .units = 132, .bounded = true};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct penstock_problem problem;
        struct gpu_viterbi kernels;
        CHECK_OK(penstock__viterbi_problem(&problem, NULL, &codes[i]));
        CHECK_OK(penstock__gpu_viterbi_config(&kernels, &problem, &limits, 0, false));
        for (enum gpu_viterbi_program program = GPU_VITERBI_REGISTERS; program <= GPU_VITERBI_BOTH; program++) {
            struct gpu_text text = {0};
            CHECK_OK(penstock__gpu_viterbi_source(&text, context, &kernels, &problem, program));
            compile(text.content, "viterbi");
            penstock__text_free(&text);
        }
    }
}

int main(void)
{
    penstock_context *context;
    if (!nvrtc_load())
        return test_skip("no NVRTC (libnvrtc.so of the CUDA toolkit)");
    CHECK_OK(penstock_context_new(&context, NULL));
    check_lengths(context);
    check_stages(context);
    check_planes(context);
    check_ofdm(context);
    check_filters_and_spectra(context);
    check_viterbi(context);
    penstock_context_free(context);
    return test_finish();
}
