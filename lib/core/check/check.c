/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check: every plan shows that it computes the right thing, on the way that real data will take, before it
 * is handed out. An impulse finds values in the wrong place, random samples find all else.
 */
#include "core/check/check.h"
#include "core/check/check_samples.h"
#include "core/check/expected.h"
#include "core/plan/problem.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK_SAMPLES ((size_t)1 << 15) /* of noise, unless one frame has more */
#define MOST_IMPULSE  ((size_t)1 << 15) /* a longer transform is shown by noise alone */
#define LARGE_PRIME   61 /* transforms of lengths with a larger one take the reference four times as long */
#define CHECK_FRAMES  37 /* odd: the last work-group of any size is not full */
#define CHECK_BYTES   ((size_t)32 << 20) /* averages over more frames than fit here are left out */
#define ONE_FRAME     ((size_t)1 << 28)  /* bytes: a single frame may be as long as this */
#define POISON        0xff               /* floats of such bytes are NaN, and halfs too */
#define HALF_ROUNDING 0x1p-11
#define HALF_FACTOR   8192              /* of errors in half arithmetic: 13 bits less */
#define KEPT_MOST     ((size_t)1 << 17) /* points to which expected values are kept: more would fill the folder */
#define KEPT_ROUGH    ((size_t)1 << 12) /* and from which on, with a large prime: computing them takes 2 to 60 ms, */
#define KEPT_SMOOTH   ((size_t)1 << 16) /* and without one: up to here 1 ms, less than reading half a MiB from a disk */

struct check {
    struct penstock__executor *executor;
    const struct penstock_fft_problem *fft;
    size_t frames, samples, in_bytes, out_bytes, expected_count;
    void *in;
    struct penstock_gather *gather;
    unsigned char *out;
    double *expected;
    struct penstock__check_level level;
    bool again; /* another one like it has passed */
    uint64_t random;
};

/* ---------------------------------------------------------------- input ----------------------- */

/* Writes one part of a sample; `value`, of the check's full scale, is in -1 .. 1. */
static void put(struct check *check, size_t i, unsigned part, double value)
{
    value *= check->level.samples;
    switch (check->fft->format) {
    case PENSTOCK_CF32:
        ((float *)check->in)[2 * i + part] = (float)value;
        break;
    case PENSTOCK_CS16:
        ((int16_t *)check->in)[2 * i + part] = (int16_t)lrint(32767 * value);
        break;
    case PENSTOCK_CS8:
        ((int8_t *)check->in)[2 * i + part] = (int8_t)lrint(127 * value);
        break;
    case PENSTOCK_CU8:
        ((uint8_t *)check->in)[2 * i + part] = (uint8_t)lrint(127.5 + 127 * value);
        break;
    case PENSTOCK_PLANAR:
        ((float *)check->in)[part * check->samples + i] = (float)value;
        break;
    case PENSTOCK_F32:
        if (!part)
            ((float *)check->in)[i] = (float)value;
        break;
    case PENSTOCK_CF16: {
        float single = (float)value;
        penstock_half_from_float(&((uint16_t *)check->in)[2 * i + part], &single, 1);
        break;
    }
    }
}

static void fill_with_impulse(struct check *check)
{
    size_t at = (check->gather ? 0 : check->fft->skip) + penstock__fft_in_count(check->fft) / 3;
    memset(check->in, check->fft->format == PENSTOCK_CU8 ? 128 : 0, check->in_bytes);
    for (unsigned part = 0; part < 2; part++)
        put(check, at, part, 0.75);
}

/* Beyond what the reference can transform in time there are zeros. */
static void fill_with_noise(struct check *check)
{
    size_t frame = penstock__fft_frame(check->fft), enough = 2 * CHECK_SAMPLES > frame ? 2 * CHECK_SAMPLES : frame;
    for (size_t i = 0, used = 0; i < check->samples; i++) {
        used += check->gather || i >= check->fft->skip;
        for (unsigned part = 0; part < 2; part++)
            put(check, i, part, used <= enough ? penstock__check_uniform(&check->random) : 0);
    }
}

static void fill_gather(struct check *check)
{
    size_t last = check->samples - check->fft->n;
    for (size_t i = 0; check->gather && i < check->frames; i++) {
        uint64_t random = penstock__check_random(&check->random);
        check->gather[i] = (struct penstock_gather){.start = i ? (uint32_t)(random % (last + 1)) : 0,
                                                    .phase = i ? (uint32_t)(random >> 32) : 0,
                                                    .step = i ? (uint32_t)penstock__check_random(&check->random) : 0};
    }
}

/* ---------------------------------------------------------------- comparison ------------------ */

/*
 * Relative L2 error that is right: 1.0e-7 sqrt(log2 n) for the transform (M. Frigo, S. Johnson, Proc. IEEE 93(2),
 * 2005, find about 0.4 times that), and as much again for each factor that is multiplied in before or after; a
 * rotation also rounds its angle. Power doubles a relative error; a decibel value is a rounded logarithm. As a half
 * each value is rounded once more: by 2^-11 of itself at most, decibels of some tens of them.
 */
static double bound(const struct check *check)
{
    const struct penstock_fft_problem *fft = check->fft;
    double factor = check->executor->state.device->backend->error_factor;
    double units = sqrt(log2(fft->n > 2 ? (double)fft->n : 2.0));
    units += fft->window ? 1 : 0;
    units += sqrt((double)fft->fold) / 4;
    units += fft->scale != 1 ? 1 : 0;
    units += fft->gathered || fft->shift != 0 ? 3 : 0;
    units *= factor > 0 ? factor : 1;
    units *= fft->options.arithmetic == PENSTOCK_ARITHMETIC_HALF ? HALF_FACTOR : 1;
    if (fft->output == PENSTOCK_OUTPUT_COMPLEX)
        return 1.0e-7 * units + (fft->half ? HALF_ROUNDING : 0);
    if (fft->output == PENSTOCK_OUTPUT_DECIBEL)
        return 2.5e-7 * units + (fft->half ? 64 * HALF_ROUNDING * log(10) / 10 : 1e-5);
    return 2.5e-7 * units + (fft->half ? HALF_ROUNDING : 0);
}

/* The square of what counts as nothing beside one sample's value. */
static double smallest_norm(const struct check *check)
{
    return 1e-30 * pow(check->level.values, check->fft->output == PENSTOCK_OUTPUT_COMPLEX ? 2 : 4);
}

/* The norm of the largest frame, where one is a few sums, each of which may be next to nothing by chance; else 0. */
static double largest_norm(const struct check *check)
{
    double largest = 0;
    for (size_t frame = 0; frame < check->frames && check->fft->hop; frame++) {
        const double *expected = check->expected + frame * check->expected_count;
        double norm = 0;
        for (size_t i = 0; i < check->expected_count; i++)
            norm += expected[i] * expected[i];
        largest = fmax(largest, norm);
    }
    return largest;
}

/* Relative L2 error of one output frame, of one of norm `least` where it has less; NaN where there is one in it. */
static double frame_error(const struct check *check, size_t frame, double least)
{
    size_t count = check->expected_count;
    const void *out = check->out;
    const double *expected = check->expected + frame * count;
    double error = 0, norm = smallest_norm(check);
    for (size_t i = 0; i < count; i++) {
        float got;
        if (check->fft->half)
            penstock_half_to_float(&got, (const uint16_t *)out + frame * count + i, 1);
        else
            got = ((const float *)out)[frame * count + i];
        bool decibel = check->fft->output == PENSTOCK_OUTPUT_DECIBEL;
        double value = decibel ? pow(10, got / 10.0) : got;
        double want = decibel ? fmax(expected[i], 1e-30) : expected[i]; /* -300 dB at the least */
        double difference = check->fft->half && !decibel ? penstock__check_half_error(value, want)
                                                         : penstock__check_float_error(value, want);
        error += difference * difference;
        norm += want * want;
    }
    return sqrt(error / fmax(norm, least));
}

/* Values that are right and no floats: the description is at fault, not the device. */
static int check_range(const struct check *check)
{
    size_t count = check->frames / check->fft->average * check->expected_count;
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(check->expected[i]));
    if (largest <= (double)FLT_MAX || check->fft->half)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_ARGUMENT,
                           "window and scale make values overflow: samples of %.2g come out as %.2g, a float holds at "
                           "most %.2g",
                           check->level.samples, largest, (double)FLT_MAX);
}

/* Of one frame: a few sums may all lie off the mean error that bound() tells, by four times it where there is one. */
static double frame_bound(const struct check *check)
{
    return bound(check) * (check->fft->hop ? 1 + 3 / sqrt((double)check->expected_count) : 1);
}

static int compare(const struct check *check, const char *what)
{
    const double most = frame_bound(check), least = largest_norm(check);
    const size_t frames = check->frames / check->fft->average;
    double squares = 0;
    if (!penstock__check_guarded(check->out, check->out_bytes))
        return penstock__error(PENSTOCK_ERR_CHECK, "self-check with %s: written beyond the output's end", what);
    for (size_t frame = 0; frame < frames; frame++) {
        double error = frame_error(check, frame, least);
        if (!(error <= most))
            return penstock__error(PENSTOCK_ERR_CHECK,
                                   "self-check with %s: relative error %.2g in output frame %zu, at most %.2g is right",
                                   what, error, frame, most);
        squares += error * error;
    }
    if (sqrt(squares / (double)frames) > bound(check))
        return penstock__error(PENSTOCK_ERR_CHECK,
                               "self-check with %s: relative error %.2g over %zu output frames, at most %.2g is right",
                               what, sqrt(squares / (double)frames), frames, bound(check));
    return PENSTOCK_OK;
}

/* Samples whose transform costs the reference as much as one of n points. */
static size_t cost_of(size_t n)
{
    size_t rest = n;
    for (size_t d = 2; d <= LARGE_PRIME; d++)
        while (rest % d == 0)
            rest /= d;
    return rest > 1 ? 4 * n : n;
}

static bool is_kept(const struct penstock_fft_problem *fft)
{
    size_t least = cost_of(fft->n) > fft->n ? KEPT_ROUGH : KEPT_SMOOTH;
    return fft->n >= least && fft->n <= KEPT_MOST && !fft->gathered && !fft->window && fft->shift == 0 &&
           fft->scale == 1 && fft->average == 1;
}

/*
 * What should come out, from the cache folder where it is there: of a long transform it takes a multiple of the
 * device's time to compute, and the samples are always the same. False, and no name, for what is computed each time.
 */
static bool name_expected(char name[64], const struct check *check, const char *what)
{
    const struct penstock_fft_problem *fft = check->fft;
    char key[300];
    if (!is_kept(fft))
        return false;
    snprintf(key, sizeof key,
             "penstock %s: %s, n %zu direction %d domain %d format %d spacing %zu skip %zu output %d centered %d "
             "half %d rows %zu columns %zu, %zu frames of %zu samples",
             penstock_version(), what, fft->n, (int)fft->direction, (int)fft->domain, (int)fft->format, fft->spacing,
             fft->skip, (int)fft->output, fft->centered, fft->half, fft->rows, fft->columns, check->frames,
             check->samples);
    snprintf(name, 64, "expected-%016" PRIx64 "-%zu", penstock__hash(key, strlen(key)), fft->n);
    return true;
}

/* Of the first frame, where they are folded. */
static size_t turn_of(const struct check *check)
{
    return check->fft->fold ? check->fft->n / 3 : 0;
}

/* Computes it, and keeps it where that was asked for. */
static int compute_expected(struct check *check, const char *name)
{
    size_t bytes = check->frames / check->fft->average * check->expected_count * sizeof *check->expected;
    int status = penstock__expected(check->expected, check->fft, check->in, check->samples, check->gather,
                                    turn_of(check), check->frames);
    if (!status && name)
        penstock__cache_write(check->executor->state.device->context, name, check->expected, bytes);
    return status;
}

static bool read_expected(struct check *check, const char *name)
{
    size_t bytes = check->frames / check->fft->average * check->expected_count * sizeof *check->expected, kept;
    double *values = penstock__cache_read(check->executor->state.device->context, name, &kept);
    if (!values || kept != bytes) {
        penstock__free(values);
        return false;
    }
    penstock__free(check->expected);
    check->expected = values;
    return true;
}

static int run(struct check *check, const char *what)
{
    struct penstock__batch batch = {.in = check->in,
                                    .gather = check->gather,
                                    .out = check->out,
                                    .frames = check->frames,
                                    .samples = check->samples,
                                    .phase = turn_of(check)};
    char name[64];
    bool named = name_expected(name, check, what), kept = named && read_expected(check, name);
    int status = kept ? PENSTOCK_OK : compute_expected(check, named ? name : NULL);
    memset(check->out, POISON, check->out_bytes);
    memset(check->out + check->out_bytes, PENSTOCK__GUARD, PENSTOCK__GUARD_BYTES);
    if (status || (status = check_range(check)) || (status = penstock__executor_submit(check->executor, 0, &batch)) ||
        (status = penstock__executor_wait(check->executor, 0)))
        return status;
    if (!(status = compare(check, what)) || !kept)
        return status;
    return (status = compute_expected(check, name)) ? status : compare(check, what); /* the file may be to blame */
}

/* ---------------------------------------------------------------- sizes ----------------------- */

static void set_frames(struct check *check, size_t frames)
{
    const struct penstock_problem *problem = check->executor->state.problem;
    check->frames = frames;
    check->samples = check->fft->gathered ? 3 * check->fft->n : penstock__fft_samples(check->fft, frames);
    check->in_bytes = penstock__problem_in_bytes(problem, check->samples);
    check->out_bytes = penstock__problem_out_bytes(problem, frames);
}

/* False where even the fewest frames are too many. */
static bool choose_size(struct check *check)
{
    size_t average = check->fft->average, groups = CHECK_SAMPLES / cost_of(check->fft->n) | 1;
    groups = check->again ? 1 : groups > CHECK_FRAMES ? CHECK_FRAMES : groups;
    groups = (groups + average - 1) / average;
    for (groups = groups ? groups : 1;; groups = (groups + 1) / 2) {
        set_frames(check, groups * average);
        if (check->in_bytes + check->out_bytes <= CHECK_BYTES)
            return true;
        if (groups == 1)
            return average == 1 && check->in_bytes + check->out_bytes <= ONE_FRAME;
    }
}

static int check_fft(struct penstock__executor *executor)
{
    const struct penstock_device *device = executor->state.device;
    const uint64_t what = penstock__check_likeness(executor);
    struct check check = {.executor = executor,
                          .fft = &executor->state.problem->fft,
                          .random = 1,
                          .again = penstock__check_passed(device->context, what)};
    check.level = penstock__check_level(check.fft);
    int status = PENSTOCK_ERR_MEMORY;
    if (!choose_size(&check)) {
        penstock__log(device->context, PENSTOCK_LOG_DEBUG, "%s: no self-check, its frames would take %zu bytes",
                      device->name, check.in_bytes + check.out_bytes);
        return PENSTOCK_OK;
    }
    check.expected_count = penstock__expected_count(check.fft);
    if (!(check.in = penstock__calloc(1, check.in_bytes)) ||
        !(check.out = penstock__alloc(check.out_bytes + PENSTOCK__GUARD_BYTES)) ||
        !(check.expected =
              penstock__alloc(check.frames / check.fft->average * check.expected_count * sizeof *check.expected)) ||
        (check.fft->gathered && !(check.gather = penstock__calloc(check.frames, sizeof *check.gather))))
        goto done;
    fill_gather(&check);
    status = PENSTOCK_OK;
    if (check.fft->n <= MOST_IMPULSE && !check.again) {
        fill_with_impulse(&check);
        status = run(&check, "an impulse");
    }
    if (!status) {
        fill_with_noise(&check);
        status = run(&check, "noise");
    }
    if (!status && !check.again)
        penstock__check_remember(device->context, what);
done:
    penstock__free(check.gather);
    penstock__free(check.expected);
    penstock__free(check.out);
    penstock__free(check.in);
    return status;
}

int penstock__check(struct penstock__executor *executor)
{
    static int (*const checks[])(struct penstock__executor *
                                 executor) = {[PENSTOCK_PROBLEM_FFT] = check_fft,
                                              [PENSTOCK_PROBLEM_OFDM] = penstock__check_ofdm,
                                              [PENSTOCK_PROBLEM_FILTER] = penstock__check_filter,
                                              [PENSTOCK_PROBLEM_VITERBI] = penstock__check_viterbi,
                                              [PENSTOCK_PROBLEM_LDPC] = penstock__check_ldpc,
                                              [PENSTOCK_PROBLEM_RESAMPLE] = penstock__check_resample,
                                              [PENSTOCK_PROBLEM_CODED] = penstock__check_coded};
    return checks[executor->state.problem->kind](executor);
}
