/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check of a plan that demodulates OFDM symbols: symbols made of random carriers, and of pilots with a phase
 * and a slope, against a double-precision transform, least squares (core/check/check_pilots.h), and the max-log ratio
 * by its definition: the nearest level with the bit 1 and the nearest with the bit 0.
 */
#include "core/check/check.h"
#include "core/check/check_pilots.h"
#include "core/check/check_samples.h"
#include "core/check/expected.h"

#include <math.h>
#include <string.h>

#define SAMPLES     ((size_t)1 << 16)
#define SYMBOLS     37 /* odd: the last work-group of any size is not full */
#define FRAMES      3
#define DEVIATION   25   /* of samples; fits every format */
#define USUAL_LEVEL 10   /* of a soft bit; at most twice that */
#define CLOSE       1e-4 /* relative error of a point; angle_error() is that of its direction */

/* How a batch tells where its symbols are; NARROW as EVEN, of what is not mixed. */
enum way { LISTED, FOLLOWED, EVEN, NARROW, WAYS };

static const double tau = 6.28318530717958647692528676655900577;

struct check {
    struct penstock__executor *executor;
    const struct penstock_ofdm_problem *ofdm;
    size_t symbols, samples, row;
    double strength; /* of a bin of the transform */
    unsigned bits[FRAMES];
    void *in;
    struct penstock_ofdm_descriptor *descriptors;
    penstock_cf32 *coefficients;
    unsigned char *out;
    double *spectrum, *scratch;
    struct penstock_dft_plan *there, *back;
    uint64_t random;
};

/* What is expected of a symbol. */
struct expected {
    struct penstock__check_pilots pilots;
    struct penstock__check_line line;
    unsigned bits;
};

static struct penstock__check_pilots pilots_of(const struct check *check,
                                               const struct penstock_ofdm_descriptor *descriptor)
{
    const struct penstock_ofdm_problem *ofdm = check->ofdm;
    return (struct penstock__check_pilots){ofdm,
                                           check->coefficients + descriptor->frame * penstock__ofdm_coefficients(ofdm),
                                           ofdm->pilot_values + descriptor->pilot_row * ofdm->pilot_count};
}

/* ---------------------------------------------------------------- input ----------------------- */

/* Points spread over the constellation and somewhat beyond it. */
static void fill_coefficients(struct check *check)
{
    size_t n = check->ofdm->n, row = penstock__ofdm_coefficients(check->ofdm);
    double spread = 1 << (check->ofdm->bits + 1) / 2, usual = USUAL_LEVEL * spread / check->strength;
    for (size_t f = 0; f < FRAMES; f++) {
        penstock_cf32 *coefficients = check->coefficients + f * row;
        unsigned bits = check->ofdm->bits;
        if (check->ofdm->mixed && f && bits > 1)
            bits = f == 1 ? bits / 4 * 2 : 1;
        check->bits[f] = bits ? bits : 1;
        for (size_t k = 0; k < n; k++)
            coefficients[k] = (penstock_cf32){(float)(usual * penstock__check_uniform(&check->random)),
                                              (float)(usual * penstock__check_uniform(&check->random))};
        coefficients[n] = (penstock_cf32){(float)(USUAL_LEVEL / (usual * usual)), 0.375F};
        coefficients[n + 1] = (penstock_cf32){(float)check->bits[f], 0};
        penstock__check_weigh(coefficients, check->ofdm, check->strength, &check->random);
    }
}

static void fill_descriptor(struct check *check, struct penstock_ofdm_descriptor *descriptor, size_t i, bool listed)
{
    const struct penstock_ofdm_problem *ofdm = check->ofdm;
    const size_t place = listed ? check->symbols - 1 - i : i;
    *descriptor = (struct penstock_ofdm_descriptor){.start = 1 + (uint32_t)(place * (ofdm->n + 1))};
    if (!listed)
        return;
    descriptor->frame = (uint32_t)(i % FRAMES);
    descriptor->pilot_row = ofdm->pilot_rows ? (uint32_t)(i * 5 % ofdm->pilot_rows) : 0;
    if (i % 4 == 0)
        return; /* no rotation */
    descriptor->phase = (uint32_t)penstock__check_random(&check->random);
    descriptor->step = (uint32_t)penstock__check_random(&check->random);
    if (ofdm->own)
        return;
    descriptor->common = (uint32_t)penstock__check_random(&check->random);
    descriptor->slope = (uint32_t)penstock__check_random(&check->random);
}

/* OFDM symbols that follow from a first one at sample 1, turned by a random phase each: the two descriptors that tell
 * them, as in struct penstock_ofdm_tables, and all `count` one by one. */
static void fill_chain(struct penstock_ofdm_descriptor first[2], struct penstock_ofdm_descriptor *descriptors,
                       size_t count, uint32_t spacing, uint64_t *random)
{
    uint64_t phase = penstock__check_random(random), each = penstock__check_random(random);
    first[0] = (struct penstock_ofdm_descriptor){.start = 1,
                                                 .phase = (uint32_t)(phase >> 32),
                                                 .step = (uint32_t)penstock__check_random(random),
                                                 .phase_low = (uint32_t)phase};
    first[1] = (struct penstock_ofdm_descriptor){.phase = (uint32_t)(each >> 32), .phase_low = (uint32_t)each};
    for (size_t i = 0; i < count; i++)
        descriptors[i] = (struct penstock_ofdm_descriptor){
            .start = 1 + (uint32_t)i * spacing, .phase = (uint32_t)((phase + i * each) >> 32), .step = first[0].step};
}

static void fill_symbol(struct check *check, const struct penstock_ofdm_descriptor *descriptor)
{
    size_t n = check->ofdm->n;
    double scale = check->strength / (double)n;
    const struct penstock__check_pilots pilots = pilots_of(check, descriptor);
    penstock__check_fill(check->spectrum, &pilots, &check->random);
    penstock__dft_plan_run(check->back, check->spectrum, check->scratch);
    for (size_t j = 0; j < n; j++) {
        double *value = check->spectrum + 2 * j;
        penstock__rotate_turns(value, 0U - (descriptor->phase + (uint32_t)j * descriptor->step));
        for (size_t part = 0; part < 2; part++)
            penstock__check_put(check->in, check->ofdm->format, 2 * (descriptor->start + j) + part,
                                fmin(fmax(scale * value[part], -120), 120));
    }
}

/* ---------------------------------------------------------------- expectation ----------------- */

static void transform(struct check *check, const struct penstock_ofdm_descriptor *descriptor)
{
    for (size_t j = 0; j < check->ofdm->n; j++) {
        double *value = check->spectrum + 2 * j;
        value[0] = penstock__check_get(check->in, check->ofdm->format, 2 * (descriptor->start + j));
        value[1] = penstock__check_get(check->in, check->ofdm->format, 2 * (descriptor->start + j) + 1);
        penstock__rotate_turns(value, descriptor->phase + (uint32_t)j * descriptor->step);
    }
    penstock__dft_plan_run(check->there, check->spectrum, check->scratch);
}

static struct expected expect(const struct check *check, const struct penstock_ofdm_descriptor *descriptor)
{
    struct expected expected = {.pilots = pilots_of(check, descriptor), .bits = check->bits[descriptor->frame]};
    if (check->ofdm->own)
        expected.line = penstock__check_follow(check->spectrum, &expected.pilots);
    else
        expected.line = (struct penstock__check_line){.phase = -tau * descriptor->common / 0x1p32,
                                                      .slope = -tau * (int32_t)descriptor->slope / 0x1p32};
    return expected;
}

/* What rounding may do to an angle at a carrier: each pilot's angle is off by 1e-5 at most. */
static double angle_error(const struct check *check, const struct expected *expected, double number)
{
    return 1e-5 * (1 + fabs(number - (double)expected->pilots.coefficients[check->ofdm->n + 1].im) *
                           expected->line.slope_error);
}

/* ---------------------------------------------------------------- comparison ------------------ */

static int compare_soft(const struct check *check, const struct expected *expected, size_t symbol, size_t carrier,
                        const double point[2], double level, double error)
{
    unsigned pitch = check->ofdm->bits, axis = (expected->bits + 1) / 2;
    const int8_t *got = (const int8_t *)check->out + (symbol * check->ofdm->carrier_count + carrier) * pitch;
    for (unsigned b = 0; b < pitch; b++) {
        double want = b < expected->bits ? penstock__check_soft_bit(point[b / axis], level, axis, b % axis) : 0;
        double slack = 1 + hypot(point[0], point[1]) * error * (1 << axis);
        if (fabs(fmin(fmax(want, -127), 127) - got[b]) > slack || (b >= expected->bits && got[b]))
            return penstock__error(PENSTOCK_ERR_CHECK,
                                   "self-check of OFDM: bit %u of carrier %zu of symbol %zu is %d, %.2f is right", b,
                                   carrier, symbol, got[b], want);
    }
    return PENSTOCK_OK;
}

/* What a symbol has of the part at `at`, `count` pairs. */
static const unsigned char *part_of(const struct check *check, size_t symbol, size_t at, size_t count)
{
    return check->out + check->symbols * at + symbol * count * sizeof(penstock_cf32);
}

static int compare_pair(const unsigned char *part, size_t symbol, const char *what, size_t which, const double want[2],
                        double allowed)
{
    penstock_cf32 got;
    memcpy(&got, part + which * sizeof got, sizeof got);
    if (hypot((double)got.re - want[0], (double)got.im - want[1]) <= allowed)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_CHECK, "self-check of OFDM: %s %zu of symbol %zu is %g, %g; %g, %g is right",
                           what, which, symbol, (double)got.re, (double)got.im, want[0], want[1]);
}

static int compare_carrier(const struct check *check, const struct expected *expected, size_t symbol, size_t c)
{
    const struct penstock_ofdm_problem *ofdm = check->ofdm;
    uint32_t bin = ofdm->bins[c];
    double number = penstock__check_carrier(ofdm, bin), angle = expected->line.phase + expected->line.slope * number,
           point[2];
    double g[2] = {(double)expected->pilots.coefficients[bin].re, (double)expected->pilots.coefficients[bin].im};
    double level = (g[0] * g[0] + g[1] * g[1]) * (double)expected->pilots.coefficients[ofdm->n].re;
    double error = ofdm->mixed ? angle_error(check, expected, number) : 0;
    memcpy(point, check->spectrum + 2 * (size_t)bin, sizeof point);
    penstock__rotate(point, cos(angle), -sin(angle));
    penstock__rotate(point, g[0], g[1]);
    int status = compare_soft(check, expected, symbol, c, point, level, error);
    if (status || !ofdm->complete)
        return status;
    double scale = (double)expected->pilots.coefficients[ofdm->n].im / level,
           want[2] = {point[0] * scale, point[1] * scale};
    const unsigned char *points = part_of(check, symbol, penstock__ofdm_points_at(ofdm), ofdm->carrier_count);
    return compare_pair(points, symbol, "point", c, want,
                        scale * (CLOSE * check->strength * hypot(g[0], g[1]) + error * hypot(point[0], point[1])));
}

static int compare_rest(const struct check *check, const struct expected *expected, size_t symbol)
{
    const struct penstock_ofdm_problem *ofdm = check->ofdm;
    const unsigned char *pilots = part_of(check, symbol, penstock__ofdm_pilots_at(ofdm), ofdm->pilot_count);
    int status = PENSTOCK_OK;
    for (size_t p = 0; p < ofdm->pilot_count && !status; p++) {
        double seen[2], back = (double)expected->pilots.coefficients[ofdm->n + 4 + 3 * p].re;
        penstock__check_pilot(seen, check->spectrum, &expected->pilots, p);
        double want[2] = {seen[0] * back, seen[1] * back};
        status = compare_pair(pilots, symbol, "pilot", p, want, 10 * CLOSE * hypot(want[0], want[1]));
    }
    if (status || !ofdm->own)
        return status;
    penstock_cf32 got;
    memcpy(&got, part_of(check, symbol, penstock__ofdm_phase_at(ofdm), 1), sizeof got);
    double phase = remainder((double)got.re - expected->line.phase, tau);
    if (fabs(phase) <= angle_error(check, expected, 0) &&
        fabs((double)got.im - expected->line.slope) <= 1e-5 * (expected->line.slope_error + 1e-4))
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_CHECK,
                           "self-check of OFDM: symbol %zu has phase %g and slope %g; %g and %g are right", symbol,
                           (double)got.re, (double)got.im, expected->line.phase, expected->line.slope);
}

static int compare_symbol(const struct check *check, const struct penstock_ofdm_descriptor *descriptor, size_t symbol)
{
    struct expected expected = expect(check, descriptor);
    int status = PENSTOCK_OK;
    for (size_t c = 0; c < check->ofdm->carrier_count && !status; c++)
        status = compare_carrier(check, &expected, symbol, c);
    return !status && check->ofdm->complete ? compare_rest(check, &expected, symbol) : status;
}

/* ---------------------------------------------------------------- runs ------------------------ */

static int run(struct check *check, enum way way)
{
    struct penstock_ofdm_descriptor first[2];
    struct penstock_ofdm_tables tables = {.descriptors = way == FOLLOWED ? first
                                                         : way == LISTED ? check->descriptors
                                                                         : NULL,
                                          .start = way >= EVEN,
                                          .spacing = way == LISTED ? 0 : (uint32_t)check->ofdm->n + 1,
                                          .narrow = way == NARROW,
                                          .coefficients = check->coefficients,
                                          .frame_count = FRAMES};
    struct penstock__batch batch = {
        .in = check->in, .ofdm = &tables, .out = check->out, .frames = check->symbols, .samples = check->samples};
    int status;
    for (size_t i = 0; i < check->symbols; i++)
        fill_descriptor(check, &check->descriptors[i], i, way == LISTED);
    if (way == FOLLOWED)
        fill_chain(first, check->descriptors, check->symbols, tables.spacing, &check->random);
    for (size_t i = 0; i < check->symbols; i++)
        fill_symbol(check, &check->descriptors[i]);
    if ((status = penstock__check_run(check->executor, &batch, check->symbols * check->row)))
        return status;
    for (size_t i = 0; i < check->symbols && !status; i++) {
        transform(check, &check->descriptors[i]);
        status = compare_symbol(check, &check->descriptors[i], i);
    }
    if (!status && !penstock__check_guarded(check->out, check->symbols * check->row))
        status = penstock__error(PENSTOCK_ERR_CHECK, "self-check of OFDM: wrote behind its output");
    return status;
}

static int make(struct check *check)
{
    const struct penstock_ofdm_problem *ofdm = check->ofdm;
    int status;
    if ((status = penstock__dft_plan_new(&check->there, ofdm->n, PENSTOCK_FORWARD)) ||
        (status = penstock__dft_plan_new(&check->back, ofdm->n, PENSTOCK_REVERSE)))
        return status;
    check->in = penstock__calloc(check->samples, penstock_format_bytes(ofdm->format));
    check->descriptors = penstock__calloc(check->symbols, sizeof *check->descriptors);
    check->coefficients = penstock__calloc(FRAMES * penstock__ofdm_coefficients(ofdm), sizeof *check->coefficients);
    check->out = penstock__alloc(check->symbols * check->row + PENSTOCK__GUARD_BYTES);
    check->spectrum = penstock__alloc(2 * ofdm->n * sizeof *check->spectrum);
    check->scratch = penstock__alloc(penstock__dft_plan_scratch_bytes(check->there) + 64);
    return check->in && check->descriptors && check->coefficients && check->out && check->spectrum && check->scratch
               ? PENSTOCK_OK
               : PENSTOCK_ERR_MEMORY;
}

static void release(struct check *check)
{
    penstock__free(check->in);
    penstock__free(check->descriptors);
    penstock__free(check->coefficients);
    penstock__free(check->out);
    penstock__free(check->spectrum);
    penstock__free(check->scratch);
    penstock__dft_plan_free(check->there);
    penstock__dft_plan_free(check->back);
}

int penstock__check_ofdm(struct penstock__executor *executor)
{
    const struct penstock_ofdm_problem *ofdm = &executor->state.problem->ofdm;
    struct check check = {.executor = executor, .ofdm = ofdm, .random = 3, .row = penstock__ofdm_row(ofdm)};
    check.symbols = SAMPLES / ofdm->n < SYMBOLS ? SAMPLES / ofdm->n + 1 : SYMBOLS;
    check.samples = check.symbols * (ofdm->n + 1) + 1;
    check.strength = DEVIATION * sqrt(1.5 * (double)ofdm->n);
    int status = make(&check);
    if (!status) {
        fill_coefficients(&check);
        for (int way = 0; way < (ofdm->mixed ? NARROW : WAYS) && !status; way++)
            status = run(&check, (enum way)way);
    }
    release(&check);
    return status;
}
