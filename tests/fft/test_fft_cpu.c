/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The cpu backend's transforms against a double-precision DFT: every length from 1 to 4096 forward, a sample of them in
 * reverse and for real samples, and a sample of lengths to 2^20. The DFT itself is checked against the plain sum in
 * long double. PENSTOCK_TEST_FULL=1 takes every length in every way, with measured plans.
 */
#include "backends/cpu/interleaved.h"
#include "backends/cpu/natural_order.h"
#include "fft_error.h"
#include "test.h"
#include "variant.h"

#define MOST ((size_t)1 << 20)

static penstock_context *context;
static float *in, *out;
static double *want;
static bool full;
static unsigned quick, plain; /* the variant that is planned quickest, and the simplest one */
static double worst;
static size_t worst_n;

/* Does this case belong to the sample of one in `every`? The same ones on every machine. */
static bool sampled(size_t n, unsigned salt, unsigned every)
{
    uint64_t state = n * 16 + salt;
    return full || test_random(&state) % every == 0;
}

static void fill_input(uint64_t seed, size_t floats)
{
    for (size_t i = 0; i < floats; i++)
        in[i] = (float)test_uniform(&seed);
}

/* The complex spectrum or signal that the transform's input stands for, in want[]. */
static void widen(size_t n, penstock_direction direction, penstock_domain domain)
{
    for (size_t i = 0; i < n; i++) {
        size_t bin = i <= n / 2 ? i : n - i;
        bool no_imaginary = bin == 0 || 2 * bin == n;
        if (domain == PENSTOCK_COMPLEX) {
            want[2 * i] = in[2 * i];
            want[2 * i + 1] = in[2 * i + 1];
        } else if (direction == PENSTOCK_FORWARD) {
            want[2 * i] = in[i];
            want[2 * i + 1] = 0;
        } else {
            want[2 * i] = in[2 * bin];
            want[2 * i + 1] = no_imaginary ? 0 : i <= n / 2 ? in[2 * bin + 1] : -in[2 * bin + 1];
        }
    }
}

static void compare(size_t n, penstock_direction direction, penstock_domain domain, const char *how)
{
    double error;
    size_t count = 2 * n;
    widen(n, direction, domain);
    CHECK_OK(penstock__dft(want, n, direction));
    if (domain == PENSTOCK_REAL && direction == PENSTOCK_FORWARD)
        count = 2 * (n / 2 + 1);
    if (domain == PENSTOCK_REAL && direction == PENSTOCK_REVERSE) {
        count = n;
        for (size_t i = 0; i < n; i++)
            want[i] = want[2 * i];
    }
    error = relative_error(out, want, count);
    CHECK(error <= error_bound(n), "%s, n = %zu, %s, %s: error %.3g, %.2f times the bound", how, n,
          direction == PENSTOCK_FORWARD ? "forward" : "reverse", domain == PENSTOCK_REAL ? "real" : "complex", error,
          error / error_bound(n));
    if (n > 1 && error / error_bound(n) > worst) {
        worst = error / error_bound(n);
        worst_n = n;
    }
}

/* The processor's own vectors come before FFTW where they fit. */
static bool by_vectors(size_t n, penstock_domain domain)
{
    return domain == PENSTOCK_COMPLEX && (penstock__natural_order_kernels(n) || penstock__interleaved_kernels(n));
}

static void check_variant(size_t n, penstock_direction direction, penstock_domain domain, unsigned number)
{
    bool real_forward = domain == PENSTOCK_REAL && direction == PENSTOCK_FORWARD;
    struct penstock_problem problem = variant_problem((struct penstock_fft_problem){
        .n = n, .direction = direction, .domain = domain, .format = real_forward ? PENSTOCK_F32 : PENSTOCK_CF32});
    struct variant v;
    fill_input(n, 2 * n + 2);
    CHECK_OK(variant_new(&v, context, "cpu", &problem, number));
    if (!v.backend)
        return;
    CHECK_OK(variant_run(&v, in, penstock__fft_samples(&problem.fft, 1), NULL, out, 1));
    compare(n, direction, domain, v.plan.variant);
    variant_free(&v);
}

static void check_public(size_t n, penstock_direction direction, penstock_domain domain)
{
    penstock_plan *plan;
    fill_input(n + 1, 2 * n + 2);
    CHECK_OK(
        penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n, .direction = direction, .domain = domain), "cpu"));
    CHECK_OK(penstock_plan_run(plan, in, out, 1));
    compare(n, direction, domain, "public");
    penstock_plan_free(plan);
}

/* The sum of the definition, its factors from exactly reduced angles, against penstock__dft(). */
static void check_reference(size_t n)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    long double error = 0, norm = 0, *factors = malloc(2 * n * sizeof *factors);
    fill_input(n + 2, 2 * n);
    widen(n, PENSTOCK_FORWARD, PENSTOCK_COMPLEX);
    CHECK_OK(penstock__dft(want, n, PENSTOCK_FORWARD));
    for (size_t j = 0; factors && j < n; j++) {
        factors[2 * j] = cosl(turn * (long double)j / (long double)n);
        factors[2 * j + 1] = -sinl(turn * (long double)j / (long double)n);
    }
    for (size_t k = 0; factors && k < n; k++) {
        long double re = 0, im = 0;
        for (size_t j = 0, at = 0; j < n; j++, at = at + k >= n ? at + k - n : at + k) {
            re += in[2 * j] * factors[2 * at] - in[2 * j + 1] * factors[2 * at + 1];
            im += in[2 * j] * factors[2 * at + 1] + in[2 * j + 1] * factors[2 * at];
        }
        error += (want[2 * k] - re) * (want[2 * k] - re) + (want[2 * k + 1] - im) * (want[2 * k + 1] - im);
        norm += re * re + im * im;
    }
    CHECK(factors && error <= norm * 1e-28L, "penstock__dft, n = %zu: error %.3Lg", n, sqrtl(error / norm));
    free(factors);
}

/* A rung of the ladder as it is where vectors do not fit. */
static void check_rung(size_t n, penstock_direction direction, penstock_domain domain, unsigned number)
{
    check_variant(n, direction, domain, number + (unsigned)by_vectors(n, domain));
}

/* With FFTW the ladder is measured, estimated, plain; without, it is plain alone. Vectors come before, where they fit.
 */
static void find_variants(void)
{
    struct penstock_problem problem = variant_problem((struct penstock_fft_problem){.n = 8});
    struct variant v;
    CHECK_OK(variant_new(&v, context, "cpu", &problem, 0));
    do
        variant_free(&v);
    while (!variant_new(&v, context, "cpu", &problem, ++plain));
    plain--;
    quick = plain ? plain - 1 : 0;
}

static void check_length(size_t n)
{
    for (int way = 0; way < 4; way++) {
        penstock_direction direction = way & 1 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
        penstock_domain domain = way & 2 ? PENSTOCK_REAL : PENSTOCK_COMPLEX;
        if (way == 0 || n <= 64 || sampled(n, (unsigned)way, 8))
            check_rung(n, direction, domain, quick);
        if (by_vectors(n, domain))
            check_variant(n, direction, domain, 0);
        if (n <= 20 || sampled(n, 4 + (unsigned)way, 200))
            check_public(n, direction, domain);
    }
    if (n <= 20 || sampled(n, 8, 64))
        check_rung(n, PENSTOCK_FORWARD, PENSTOCK_COMPLEX, plain);
    if (n <= 32 || sampled(n, 9, 256))
        check_reference(n);
}

int main(void)
{
    static const size_t large[] = {4099,  5000,  8191,  8192,   10007,   16384, 30030,
                                   65536, 65537, 99999, 131072, 1000003, MOST};
    full = getenv("PENSTOCK_TEST_FULL");
    in = malloc((2 * MOST + 2) * sizeof *in);
    out = malloc((2 * MOST + 2) * sizeof *out);
    want = malloc(2 * MOST * sizeof *want);
    if (!in || !out || !want)
        return 1;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    find_variants();
    for (size_t n = 1; n <= 4096; n++)
        check_length(n);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        check_rung(large[i], PENSTOCK_FORWARD, PENSTOCK_COMPLEX, quick);
        check_rung(large[i], PENSTOCK_REVERSE, PENSTOCK_REAL, quick);
    }
    check_public(65536, PENSTOCK_FORWARD, PENSTOCK_COMPLEX);
    check_public(MOST, PENSTOCK_FORWARD, PENSTOCK_COMPLEX);
    printf("worst error: %.2f of the bound, at n = %zu\n", worst, worst_n);
    penstock_context_free(context);
    free(in);
    free(out);
    free(want);
    return test_finish();
}
