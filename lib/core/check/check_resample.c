/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check of a plan that resamples: random samples and taps against sums in double precision, at ratios that
 * have few and many arms, steps of less and of more than a sample, and units to 2^53, and with samples that are said
 * to reach too far for any local memory; the last block is not full, and there are zeros before and behind the samples.
 */
#include "core/check/check.h"
#include "core/check/check_samples.h"

#include <math.h>

#define OUTPUTS   2600
#define MOST_TAPS 136 /* more than a kernel sums up at once */
#define MOST_ARMS 37
#define EDGE      50 /* samples that are zeros on each side */

/* Steps of whole + part / unit samples. */
static const struct trial {
    uint32_t taps, arms, whole;
    uint64_t unit, part;
    bool far;
} trials[] = {{24, 24, 1, 24, 1, false},
              {MOST_TAPS, MOST_ARMS, 0, PENSTOCK__RESAMPLE_UNITS - 111, PENSTOCK__RESAMPLE_UNITS / 7 * 3, false},
              {40, 7, 9, PENSTOCK__RESAMPLE_UNITS, PENSTOCK__RESAMPLE_UNITS / 11, false},
              {72, 7, 9, PENSTOCK__RESAMPLE_UNITS, PENSTOCK__RESAMPLE_UNITS / 11, true},
              {16, 1, 40, 1, 0, false}};

struct check {
    struct penstock__executor *executor;
    const struct penstock_resample_problem *resample;
    struct penstock_resample_start *starts;
    struct penstock_resample_head *head;
    void *in, *out;
    size_t samples; /* of the present trial */
    uint64_t random;
};

/* ---------------------------------------------------------------- what is right --------------- */

/* Where an output stands `steps` <= PENSTOCK__RESAMPLE_BLOCK further: places of samples passed, and its part. */
static uint32_t advance(const struct penstock_resample_head *head, uint64_t *part, size_t steps)
{
    const uint64_t sum = *part + steps * head->part;
    *part = sum % head->unit;
    return (uint32_t)(steps * head->whole + sum / head->unit);
}

static double sample(const struct check *check, size_t i, unsigned imaginary)
{
    const penstock_format format = check->resample->format;
    const bool one = format == PENSTOCK_F32;
    const double full = format == PENSTOCK_CS16 ? 32768 : format == PENSTOCK_CS8 || format == PENSTOCK_CU8 ? 128 : 1;
    if (i < EDGE || i >= check->samples - EDGE || (one && imaginary))
        return 0;
    return penstock__check_get(check->in, format, one ? i : 2 * i + imaginary) / full;
}

/* Output k of the trial. */
static void expect(const struct check *check, double value[2], size_t k)
{
    const struct penstock_resample_head *head = check->head;
    const float *table = (const float *)(const void *)(head + 1);
    const size_t block = check->resample->block, pairs = check->resample->complex_taps ? 2 : 1;
    uint64_t part = check->starts[k / block].part;
    const size_t at = check->starts[k / block].at + advance(head, &part, k % block);
    const double place = (double)part * (double)head->arms / (double)head->unit;
    const size_t arm = (size_t)place;
    value[0] = value[1] = 0;
    for (size_t tap = 0; tap < head->taps; tap++) {
        const float *pair = table + 2 * pairs * (tap * head->arms + arm);
        const double re = sample(check, at + tap, 0), im = sample(check, at + tap, 1);
        const double h = (double)pair[0] + (place - (double)arm) * (double)pair[1];
        const double g = pairs == 1 ? 0 : (double)pair[2] + (place - (double)arm) * (double)pair[3];
        value[0] += h * re - g * im;
        value[1] += h * im + g * re;
    }
}

static int compare(const struct check *check)
{
    const double factor = check->executor->state.device->backend->error_factor;
    const double most = 5e-7 * (factor > 0 ? factor : 1);
    const size_t each = check->resample->real ? 1 : 2;
    double error = 0, norm = 0;
    for (size_t k = 0; k < OUTPUTS; k++) {
        const float *got = (const float *)check->out + k * each;
        double want[2];
        expect(check, want, k);
        for (size_t part = 0; part < each; part++) {
            error += pow((double)got[part] - want[part], 2);
            norm += want[part] * want[part];
        }
    }
    if (!(sqrt(error / norm) <= most))
        return penstock__error(PENSTOCK_ERR_CHECK,
                               "self-check of a resampler: relative error %.2g, at most %.2g is right",
                               sqrt(error / norm), most);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- run ------------------------- */

static void fill_head(struct check *check, const struct trial *trial)
{
    struct penstock_resample_head *head = check->head;
    float *table = (float *)(void *)(head + 1);
    const size_t count = trial->taps * trial->arms * (check->resample->complex_taps ? 4 : 2);
    *head = (struct penstock_resample_head){
        .taps = trial->taps, .arms = trial->arms, .whole = trial->whole, .unit = trial->unit, .part = trial->part};
    penstock__resample_scale(head);
    for (size_t i = 0; i < count; i++)
        table[i] = (float)penstock__check_uniform(&check->random);
}

static void fill(struct check *check, const struct trial *trial)
{
    const size_t block = check->resample->block, each = check->resample->format == PENSTOCK_F32 ? 1 : 2;
    const bool integers = check->resample->format != PENSTOCK_F32 && check->resample->format != PENSTOCK_CF32 &&
                          check->resample->format != PENSTOCK_CF16;
    uint64_t part = trial->unit - 1 - trial->unit / 5;
    uint32_t at = 0;
    fill_head(check, trial);
    for (size_t k = 0; k < OUTPUTS; k += block) {
        check->starts[k / block] = (struct penstock_resample_start){.at = at, .part = part};
        at += advance(check->head, &part, OUTPUTS - k < block ? OUTPUTS - k : block);
    }
    check->samples = at + trial->taps + 1;
    part = 0;
    check->head->span = trial->far ? UINT32_MAX / 2 : advance(check->head, &part, block - 1) + 1 + trial->taps;
    for (size_t i = 0; i < each * check->samples; i++)
        penstock__check_put(check->in, check->resample->format, i,
                            (integers ? 100 : 1) * penstock__check_uniform(&check->random));
}

static int run(struct check *check, const struct trial *trial)
{
    const size_t bytes = OUTPUTS * check->executor->state.problem->out_bytes;
    int status;
    fill(check, trial);
    const struct penstock_resample_tables tables = {
        .starts = check->starts,
        .head = check->head,
        .head_bytes = penstock__resample_bytes(check->resample, trial->taps, trial->arms),
        .first = EDGE,
        .end = (uint32_t)(check->samples - EDGE)};
    const struct penstock__batch batch = {
        .in = check->in, .resample = &tables, .out = check->out, .frames = OUTPUTS, .samples = check->samples};
    if ((status = penstock__check_run(check->executor, &batch, bytes)) || (status = compare(check)))
        return status;
    if (!penstock__check_guarded(check->out, bytes))
        status = penstock__error(PENSTOCK_ERR_CHECK, "self-check of a resampler: wrote behind its output");
    return status;
}

/* Samples of the longest trial. */
static size_t most_samples(void)
{
    size_t most = 0;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const size_t here = (OUTPUTS + 1) * ((size_t)trials[i].whole + 1) + trials[i].taps + 1;
        most = here > most ? here : most;
    }
    return most;
}

int penstock__check_resample(struct penstock__executor *executor)
{
    const struct penstock_problem *problem = executor->state.problem;
    struct check check = {.executor = executor, .resample = &problem->resample, .random = 5};
    int status = PENSTOCK_ERR_MEMORY;
    check.in = penstock__alloc(most_samples() * penstock_format_bytes(problem->resample.format));
    check.out = penstock__alloc(OUTPUTS * problem->out_bytes + PENSTOCK__GUARD_BYTES);
    check.starts = penstock__calloc(penstock__resample_starts(&problem->resample, OUTPUTS), sizeof *check.starts);
    check.head = penstock__alloc(penstock__resample_bytes(&problem->resample, MOST_TAPS, MOST_ARMS));
    if (check.in && check.out && check.starts && check.head)
        status = PENSTOCK_OK;
    for (size_t i = 0; i < sizeof trials / sizeof *trials && !status; i++)
        status = run(&check, &trials[i]);
    penstock__free(check.in);
    penstock__free(check.out);
    penstock__free(check.starts);
    penstock__free(check.head);
    return status;
}
