/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Window functions by name, in their periodic form: the symmetric window of n + 1 points without its last one.
 *
 * Sums of cosines: F. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proc.
 * IEEE 66(1), 1978 (Hann, Hamming, Blackman, the 4-term 92 dB Blackman-Harris, Kaiser, Gaussian); A. Nuttall, "Some
 * windows with very good sidelobe behavior", IEEE Trans. ASSP 29(1), 1981, table II (the minimum 4-term window, 98 dB);
 * G. D'Antona and A. Ferrero, "Digital signal processing for measurement systems", 2006 (5-term flat top).
 */
#include "core/stream/rest.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* w(x) for 0 <= x < 1, x = j / n. */
struct shape {
    const char *name;
    double (*value)(const struct shape *shape, double x, double parameter);
    double terms[5];             /* cosine sums: alternating signs are put in by cosine_sum() */
    const char *parameter;       /* "BETA", or NULL for a window without one */
    double least_excluded, most; /* least_excluded < parameter <= most */
};

static double cosine_sum(const struct shape *shape, double x, double parameter)
{
    double sum = 0, sign = 1;
    (void)parameter;
    for (int k = 0; k < 5; k++, sign = -sign)
        sum += sign * shape->terms[k] * cos(2 * PI * k * x);
    return sum;
}

static double bartlett(const struct shape *shape, double x, double parameter)
{
    (void)shape, (void)parameter;
    return 1 - fabs(2 * x - 1);
}

/* Modified Bessel function of the first kind, order 0, over exp(|x|), by its series: every term is positive, so
 * nothing cancels. Abramowitz and Stegun 9.6.12. */
static double bessel_i0_scaled(double x)
{
    double sum = 0, log_term = -x;
    for (int k = 1; k < 4000; k++) {
        double term = exp(log_term);
        sum += term;
        if (k > x && term < sum * 1e-17)
            break;
        if (x <= 0)
            break;
        log_term += 2 * log(x / (2 * k));
    }
    return sum;
}

static double kaiser(const struct shape *shape, double x, double beta)
{
    double r = 2 * x - 1, argument = beta * sqrt(fmax(0, 1 - r * r));
    (void)shape;
    return bessel_i0_scaled(argument) / bessel_i0_scaled(beta) * exp(argument - beta);
}

static double gaussian(const struct shape *shape, double x, double sigma)
{
    double r = (2 * x - 1) / sigma;
    (void)shape;
    return exp(-0.5 * r * r);
}

static const struct shape shapes[] = {
    {.name = "rectangular", .value = cosine_sum, .terms = {1}},
    {.name = "hann", .value = cosine_sum, .terms = {0.5, 0.5}},
    {.name = "hamming", .value = cosine_sum, .terms = {0.54, 0.46}},
    {.name = "blackman", .value = cosine_sum, .terms = {0.42, 0.5, 0.08}},
    {.name = "blackman-harris", .value = cosine_sum, .terms = {0.35875, 0.48829, 0.14128, 0.01168}},
    {.name = "nuttall", .value = cosine_sum, .terms = {0.3635819, 0.4891775, 0.1365995, 0.0106411}},
    {.name = "flat-top", .value = cosine_sum, .terms = {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}},
    {.name = "bartlett", .value = bartlett},
    {.name = "kaiser", .value = kaiser, .parameter = "BETA", .least_excluded = -1e-300, .most = 1000},
    {.name = "gaussian", .value = gaussian, .parameter = "SIGMA", .least_excluded = 0, .most = 1000},
};

#define SHAPE_COUNT (sizeof shapes / sizeof shapes[0])

static int unknown(const char *name)
{
    return penstock__error(PENSTOCK_ERR_ARGUMENT,
                           "unknown window '%s' (rectangular, hann, hamming, blackman, blackman-harris, nuttall, "
                           "flat-top, bartlett, kaiser:BETA, gaussian:SIGMA)",
                           name);
}

/* A decimal number with a decimal point, whatever the program's locale says; no blanks, no nan, no 0x10. */
static bool parse_number(double *number, const char *text)
{
    if (text[strspn(text, "+-.0123456789eE")])
        return false;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    char *end = NULL;
    if (!plain)
        return false;
    *number = strtod_l(text, &end, plain);
    freelocale(plain);
    return end != text && !*end && isfinite(*number);
}

static int parse(const struct shape **found, double *parameter, const char *name)
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    const struct shape *shape = NULL;
    for (size_t i = 0; i < SHAPE_COUNT; i++)
        if (strlen(shapes[i].name) == length && !strncmp(shapes[i].name, name, length))
            shape = &shapes[i];
    *found = shape;
    *parameter = 0;
    if (!shape)
        return unknown(name);
    if (!shape->parameter && colon)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "window '%s': %s takes no parameter", name, shape->name);
    if (!shape->parameter)
        return PENSTOCK_OK;
    if (!colon || !parse_number(parameter, colon + 1) || *parameter <= shape->least_excluded ||
        *parameter > shape->most)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "window '%s': write %s:%s with %s a number from 0 to %g%s", name,
                               shape->name, shape->parameter, shape->parameter, shape->most,
                               shape->least_excluded < 0 ? "" : ", above 0");
    return PENSTOCK_OK;
}

int penstock_window_fill(float *window, size_t n, const char *name)
{
    const struct shape *shape;
    double parameter;
    int status;
    if (!window || !name)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s is NULL", window ? "window name" : "window");
    if (n < 1)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a window of no factors");
    if ((status = penstock__check_count("penstock_window_fill", n, sizeof *window)) ||
        (status = parse(&shape, &parameter, name)))
        return status;
    for (size_t j = 0; j < n; j++)
        window[j] = n == 1 ? 1.0f : (float)shape->value(shape, (double)j / (double)n, parameter);
    return PENSTOCK_OK;
}
