/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The reference backend (liquid-dsp) against a double-precision DFT: every length from 1 to 1024 in every way, and
 * more. */
#include "fft_emulation.h"
#include "fft_error.h"
#include "test.h"

#define MOST 65536

static void check(penstock_context *context, size_t n, penstock_direction direction, penstock_domain domain)
{
    static float in[2 * MOST + 2], out[2 * MOST + 2];
    static double want[2 * MOST + 2];
    bool real = domain == PENSTOCK_REAL, forward = direction == PENSTOCK_FORWARD;
    struct penstock_fft_problem fft = {.n = n,
                                       .direction = direction,
                                       .domain = domain,
                                       .format = real && forward ? PENSTOCK_F32 : PENSTOCK_CF32,
                                       .scale = 1,
                                       .average = 1};
    size_t floats = real ? forward ? 2 * (n / 2 + 1) : n : 2 * n;
    uint64_t seed = n;
    penstock_plan *plan;
    double error;
    for (size_t i = 0; i < 2 * n + 2; i++)
        in[i] = (float)test_uniform(&seed);
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n, .direction = direction, .domain = domain),
                               "reference"));
    if (!plan)
        return;
    CHECK_OK(penstock_plan_run(plan, in, out, 1));
    CHECK_OK(emulate_fft(want, &fft, in, real && !forward ? n / 2 + 1 : n, NULL, 1));
    error = relative_error(out, want, floats);
    CHECK(error <= 6 * error_bound(n), "n = %zu, %s, %s: error %.3g is %.2f times 1e-7 sqrt(log2 n)", n,
          forward ? "forward" : "reverse", real ? "real" : "complex", error, error / error_bound(n));
    penstock_plan_free(plan);
}

int main(void)
{
    static const size_t more[] = {1025, 1500, 2048, 3757, 4096, 10007, 16384, 30030, 65536};
    bool full = getenv("PENSTOCK_TEST_FULL");
    penstock_context *context;
    penstock_plan *plan;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    for (size_t n = 1; n <= 1024; n++)
        for (int way = 0; way < 4; way++)
            if (full || way == 0 || n < 32 || n % 4 == (size_t)way)
                check(context, n, (penstock_direction)(way & 1), (penstock_domain)(way >> 1));
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        check(context, more[i], PENSTOCK_FORWARD, PENSTOCK_COMPLEX);
    CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 2 * 1000003), "reference"),
             PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "prime"), "%s", penstock_error_text());
    penstock_context_free(context);
    return test_finish();
}
