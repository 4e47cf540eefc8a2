/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Windows by what is published about them: closed forms, sums, symmetry, and the highest sidelobe and noise bandwidth
 * of Harris' table 1 and Nuttall's table II; and names that are refused.
 */
#include "test.h"

#include <locale.h>
#include <penstock/penstock.h>

#define N 256

static const char *const names[] = {"rectangular",     "hann",     "hamming",      "blackman",
                                    "blackman-harris", "nuttall",  "flat-top",     "bartlett",
                                    "kaiser:8.5",      "kaiser:0", "gaussian:0.4", "kaiser:1000"};
#define NAMES (sizeof names / sizeof names[0])

static void check_shape(const char *name)
{
    static const size_t lengths[] = {1, 2, 3, 8, 64, 101, N};
    float w[N];
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        size_t n = lengths[l];
        CHECK_OK(penstock_window_fill(w, n, name));
        for (size_t j = 1; j < n; j++)
            CHECK(fabsf(w[j] - w[n - j]) <= 1e-6f, "%s, n = %zu: w[%zu] = %.9g, w[%zu] = %.9g", name, n, j,
                  (double)w[j], n - j, (double)w[n - j]);
        if (n % 2 == 0)
            CHECK(fabsf(w[n / 2] - 1) <= 1e-6f, "%s, n = %zu: %.9g in the middle", name, n, (double)w[n / 2]);
        if (n == 1)
            CHECK(w[0] == 1, "%s, n = 1: %g", name, (double)w[0]);
    }
}

/* Figures of merit: the mean (a cosine sum's constant term, periodic form), the equivalent noise bandwidth in bins, and
 * the highest sidelobe in dB. For the Gaussian, Harris prints 1.64, but his formula gives
 * 3 / sqrt(pi) erf(3) / erf(3 / sqrt(2))^2 = 1.702. */
struct merit {
    const char *name;
    double mean, bandwidth, sidelobe;
};

static const struct merit merits[] = {
    {"rectangular", 1.0, 1.00, -13.3},      {"hann", 0.5, 1.50, -31.5},
    {"hamming", 0.54, 1.36, -42.7},         {"blackman", 0.42, 1.73, -58.1},
    {"blackman-harris", 0.35875, 2.0, -92}, {"nuttall", 0.3635819, 1.976, -98.2},
    {"flat-top", 0.21557895, 3.77, -93},    {"bartlett", 0.5, 1.33, -26.5},
    {"kaiser:9.42477796", NAN, 1.80, -69},  {"gaussian:0.333333333", NAN, 1.702, -55},
};

static double response_db(const float *w, double bin, double sum)
{
    double re = 0, im = 0;
    for (int j = 0; j < N; j++) {
        double angle = 6.28318530717958647692 * bin * j / N;
        re += w[j] * cos(angle);
        im += w[j] * sin(angle);
    }
    return 20 * log10(hypot(re, im) / sum + 1e-12);
}

static void check_merit(const struct merit *m)
{
    float w[N];
    double sum = 0, squares = 0, before = 0, highest = -1000;
    bool falling = true;
    CHECK_OK(penstock_window_fill(w, N, m->name));
    for (int j = 0; j < N; j++) {
        sum += w[j];
        squares += (double)w[j] * w[j];
    }
    if (!isnan(m->mean))
        CHECK(fabs(sum / N - m->mean) < 1e-6, "%s: mean %.9g, not %.9g", m->name, sum / N, m->mean);
    CHECK(fabs(N * squares / (sum * sum) - m->bandwidth) < 0.02, "%s: noise bandwidth %.4f, not %.2f", m->name,
          N * squares / (sum * sum), m->bandwidth);
    for (double bin = 0.05; bin < N / 2; bin += 0.05) {
        double level = response_db(w, bin, sum);
        falling = falling && (level < before || level > -10); /* a flat top has ripples */
        if (!falling && level > highest)
            highest = level;
        before = level;
    }
    CHECK(fabs(highest - m->sidelobe) < 1.2, "%s: highest sidelobe %.2f dB, not %.1f", m->name, highest, m->sidelobe);
}

static void check_closed_forms(void)
{
    const double pi = 3.14159265358979323846;
    float w[N];
    CHECK_OK(penstock_window_fill(w, N, "hann"));
    for (int j = 0; j < N; j++)
        CHECK(fabs(w[j] - sin(pi * j / N) * sin(pi * j / N)) < 1e-7, "hann %d", j);
    CHECK_OK(penstock_window_fill(w, N, "gaussian:0.25"));
    for (int j = 0; j < N; j++)
        CHECK(fabs(w[j] - exp(-8 * (2.0 * j / N - 1) * (2.0 * j / N - 1))) < 1e-7, "gaussian %d", j);
    CHECK_OK(penstock_window_fill(w, N, "bartlett"));
    for (int j = 0; j <= N / 2; j++)
        CHECK(fabs(w[j] - 2.0 * j / N) < 1e-7, "bartlett %d", j);
    /* Abramowitz and Stegun, table 9.8: exp(-2) I0(2) = 0.3085083225. */
    CHECK_OK(penstock_window_fill(w, N, "kaiser:2"));
    CHECK(fabs(w[0] - 1 / (0.3085083225 * exp(2))) < 1e-6, "kaiser:2 begins with %.9g", (double)w[0]);
}

static void refused(const char *name, const char *word)
{
    float w[4] = {5, 5, 5, 5};
    CHECK_EQ(penstock_window_fill(w, 4, name), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), word), "no '%s' in '%s'", word, penstock_error_text());
    CHECK(w[0] == 5, "%s: the window was written", name ? name : "NULL");
}

static void check_names(void)
{
    float w[4];
    refused(NULL, "NULL");
    refused("", "unknown window ''");
    refused("hanning", "hann,");
    refused("hann:3", "no parameter");
    refused("kaiser", "kaiser:BETA");
    refused("kaiser:", "kaiser:BETA");
    refused("kaiser:-1", "kaiser:BETA");
    refused("kaiser:1001", "1000");
    refused("kaiser:4x", "kaiser:BETA");
    refused("kaiser:nan", "kaiser:BETA");
    refused("gaussian:0", "above 0");
    refused("gaussian:0,4", "gaussian:SIGMA");
    CHECK_EQ(penstock_window_fill(NULL, 4, "hann"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_window_fill(w, 0, "hann"), PENSTOCK_ERR_ARGUMENT);
}

int main(void)
{
    for (size_t i = 0; i < NAMES; i++)
        check_shape(names[i]);
    for (size_t i = 0; i < sizeof merits / sizeof merits[0]; i++)
        check_merit(&merits[i]);
    check_closed_forms();
    check_names();
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) /* a decimal comma */
        check_shape("kaiser:8.5");
    return test_finish();
}
