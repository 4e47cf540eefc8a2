/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Resampling with a polyphase filter whose phases are interpolated linearly, so that any ratio of rates is exact:
 * J. O. Smith, "Digital Audio Resampling", 1984. The kernel is a sinc under a Kaiser window (J. Kaiser, Proc. IEEE
 * ISCAS 1974, for the window's formulas).
 */
#include "radio/resample.h"
#include "backends/backend.h"

#include <math.h>
#include <string.h>

#define PI             3.14159265358979323846
#define MAX_FACTOR     256.0
#define MAX_TERM       2147483648.0 /* of the ratio p/q */
#define ATTENUATION_DB 80.0
#define CUTOFF         0.46 /* middle of the transition, in parts of the lower rate */
#define SEMI_LENGTH    32   /* of the kernel, in samples of the lower rate; makes the transition 0.08 wide */
#define PHASES         512  /* per sample of the lower rate: interpolation then errs by less than -100 dB */
#define ROOM           4096 /* input samples that are taken at a time */

struct penstock__resampler {
    uint64_t p, q; /* p samples out for q in */
    size_t semi;   /* of the kernel, in input samples */
    size_t phases; /* p if that is small: then every output falls on a row */
    float *kernel; /* phases + 1 rows of 2 * semi coefficients, each twice: for I and for Q */

    penstock_cf32 *line;   /* input, from `semi - 1` zeros in front of the first sample on */
    size_t line_count, at; /* samples in `line`; first one under the kernel for the next output */
    uint64_t fraction;     /* of the next output's time, in units of 1/p */
    uint64_t in_total, out_total;
    bool finished;
};

/* ---------------------------------------------------------------- ratio and kernel ------------ */

/* The last convergent of the ratio's continued fraction that has terms within the limit: exact for all rates that are
 * whole numbers of hertz, else within 1e-12. */
static void rational(double ratio, uint64_t *p, uint64_t *q)
{
    double p0 = 0.0, q0 = 1.0, p1 = 1.0, q1 = 0.0, rest = ratio;
    for (;;) {
        double whole = floor(rest), p2 = whole * p1 + p0, q2 = whole * q1 + q0;
        if (p2 > MAX_TERM || q2 > MAX_TERM)
            break;
        p0 = p1, q0 = q1, p1 = p2, q1 = q2;
        if (fabs(p1 / q1 - ratio) <= 1e-14 * ratio)
            break;
        rest = 1.0 / (rest - whole);
    }
    *p = (uint64_t)p1;
    *q = (uint64_t)q1;
}

/* Modified Bessel function of the first kind, order zero: its power series. */
static double bessel_i0(double x)
{
    double term = 1.0, sum = 1.0;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

/* The kernel at `t` input samples from its middle. */
static double kernel_at(double t, double semi, double cutoff)
{
    double beta = 0.1102 * (ATTENUATION_DB - 8.7), x = t / semi, phase = 2.0 * PI * cutoff * t;
    if (fabs(x) >= 1.0)
        return 0.0;
    return (phase == 0.0 ? 1.0 : sin(phase) / phase) * bessel_i0(beta * sqrt(1.0 - x * x));
}

/* Row r: the coefficients for an output r/phases after an input sample; their sum is one. */
static void fill_kernel(struct penstock__resampler *self, double cutoff)
{
    size_t taps = 2 * self->semi;
    for (size_t r = 0; r <= self->phases; r++) {
        float *row = self->kernel + r * 2 * taps;
        double first = 1.0 - (double)self->semi - (double)r / (double)self->phases, sum = 0.0;
        for (size_t j = 0; j < taps; j++)
            sum += kernel_at(first + (double)j, (double)self->semi, cutoff);
        for (size_t j = 0; j < taps; j++)
            row[2 * j] = row[2 * j + 1] = (float)(kernel_at(first + (double)j, (double)self->semi, cutoff) / sum);
    }
}

/* ---------------------------------------------------------------- life ------------------------ */

int penstock__resampler_new(struct penstock__resampler **resampler, double from_hz, double to_hz)
{
    struct penstock__resampler *self;
    double ratio = to_hz / from_hz, lower = ratio < 1.0 ? ratio : 1.0;
    *resampler = NULL;
    if (!(ratio >= 1.0 / MAX_FACTOR && ratio <= MAX_FACTOR))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "cannot resample from %.15g to %.15g samples per second: more than a factor of %g",
                               from_hz, to_hz, MAX_FACTOR);
    if (!(self = penstock__calloc(1, sizeof *self)))
        return PENSTOCK_ERR_MEMORY;
    rational(ratio, &self->p, &self->q);
    self->semi = ((size_t)ceil(SEMI_LENGTH / lower) + 1) / 2 * 2; /* even: whole vectors in the inner loop */
    self->phases = (double)self->p <= 4.0 * PHASES * lower ? (size_t)self->p : (size_t)ceil(PHASES * lower);
    self->line_count = self->semi - 1;
    if (!(self->kernel = penstock__alloc((self->phases + 1) * 4 * self->semi * sizeof *self->kernel)) ||
        !(self->line = penstock__calloc(2 * self->semi + ROOM, sizeof *self->line))) {
        penstock__resampler_free(self);
        return PENSTOCK_ERR_MEMORY;
    }
    fill_kernel(self, CUTOFF * lower);
    *resampler = self;
    return PENSTOCK_OK;
}

void penstock__resampler_free(struct penstock__resampler *resampler)
{
    if (!resampler)
        return;
    penstock__free(resampler->kernel);
    penstock__free(resampler->line);
    penstock__free(resampler);
}

/* ---------------------------------------------------------------- samples --------------------- */

/* Sums over `count` floats, a multiple of 8, I and Q alternating. Eight running sums in a fixed order: the compiler may
 * use vectors, and the result is the same everywhere. */
static penstock_cf32 add_up(const float sum[8])
{
    return (penstock_cf32){(sum[0] + sum[2]) + (sum[4] + sum[6]), (sum[1] + sum[3]) + (sum[5] + sum[7])};
}

static penstock_cf32 weigh(const float *in, const float *row, size_t count)
{
    float sum[8] = {0};
    for (size_t i = 0; i < count; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sum[lane] += in[i + lane] * row[i + lane];
    return add_up(sum);
}

/* The same with coefficients between two rows. */
static penstock_cf32 weigh_between(const float *in, const float *row, const float *next, float between, size_t count)
{
    float sum[8] = {0};
    for (size_t i = 0; i < count; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sum[lane] += in[i + lane] * (row[i + lane] + between * (next[i + lane] - row[i + lane]));
    return add_up(sum);
}

static penstock_cf32 next_output(struct penstock__resampler *self)
{
    size_t floats = 4 * self->semi;
    uint64_t scaled = self->fraction * self->phases;
    const float *row = self->kernel + scaled / self->p * floats;
    const float *in = &self->line[self->at].re;
    uint64_t rest = scaled % self->p;
    penstock_cf32 value = rest ? weigh_between(in, row, row + floats, (float)((double)rest / (double)self->p), floats)
                               : weigh(in, row, floats);
    uint64_t ahead = self->fraction + self->q;
    self->at += (size_t)(ahead / self->p);
    self->fraction = ahead % self->p;
    self->out_total++;
    return value;
}

/* Drops what lies before the kernel and appends input, or zeros behind the end; false when there was none. */
static bool refill(struct penstock__resampler *self, const penstock_cf32 *in, size_t in_count, size_t *taken)
{
    size_t drop = self->at < self->line_count ? self->at : self->line_count;
    size_t n = in_count - *taken, room;
    memmove(self->line, self->line + drop, (self->line_count - drop) * sizeof *self->line);
    self->line_count -= drop;
    self->at -= drop;
    room = 2 * self->semi + ROOM - self->line_count;
    if (self->finished) {
        memset(self->line + self->line_count, 0, room * sizeof *self->line);
        self->line_count += room;
        return true;
    }
    if (n > room)
        n = room;
    if (!n)
        return false;
    memcpy(self->line + self->line_count, in + *taken, n * sizeof *in);
    self->line_count += n;
    self->in_total += n;
    *taken += n;
    return true;
}

void penstock__resampler_run(struct penstock__resampler *resampler, const penstock_cf32 *in, size_t in_count,
                             size_t *taken, penstock_cf32 *out, size_t capacity, size_t *count)
{
    *taken = *count = 0;
    while (*count < capacity && !penstock__resampler_done(resampler)) {
        if (resampler->at + 2 * resampler->semi <= resampler->line_count)
            out[(*count)++] = next_output(resampler);
        else if (!refill(resampler, in, in_count, taken))
            break;
    }
}

void penstock__resampler_finish(struct penstock__resampler *resampler)
{
    resampler->finished = true;
}

bool penstock__resampler_done(const struct penstock__resampler *resampler)
{
    return resampler->finished && resampler->out_total == penstock__resampler_count(resampler, resampler->in_total);
}

uint64_t penstock__resampler_span(const struct penstock__resampler *resampler, uint64_t n)
{
    uint64_t p = resampler->p, q = resampler->q;
    return n / q * p + (n % q * p + q / 2) / q;
}

uint64_t penstock__resampler_count(const struct penstock__resampler *resampler, uint64_t n)
{
    uint64_t p = resampler->p, q = resampler->q;
    return n / q * p + (n % q * p + q - 1) / q;
}
