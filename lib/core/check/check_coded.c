/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check of a plan for coded symbols: of symbols of all rates, in frames that end within one, random soft bits
 * and points against a plain encoder and distances in double precision.
 */
#include "core/check/check.h"
#include "core/check/check_samples.h"
#include "core/device/buffer.h"

#include <math.h>
#include <string.h>

#define FRAMES       5
#define FRAME        7 /* symbols of a frame */
#define SYMBOLS      (FRAMES * FRAME)
#define LEFT         10 /* steps that a frame's last symbol has beyond the frame's end */
#define ERROR_FACTOR 1e-5

struct check {
    struct penstock__executor *executor;
    const struct penstock_coded_problem *coded;
    struct penstock_coded_symbol symbols[SYMBOLS];
    size_t in_bytes, block_bytes, out_bytes, packed_bytes;
    unsigned char *in, *decoded, *out;
    penstock_buffer *buffers[4]; /* in, symbols, decoded, out */
    penstock_queue *queue;
    uint64_t random;
};

static const int32_t *rate_of(const struct check *check, size_t symbol)
{
    return check->coded->rates + (size_t)check->symbols[symbol].rate * check->coded->row;
}

static size_t points_at(const struct check *check)
{
    return (size_t)SYMBOLS * ((check->coded->pitch + 7) / 8 * 8);
}

/* ---------------------------------------------------------------- symbols --------------------- */

/* Frames of one rate each; sizes of what they take. */
static void list(struct check *check)
{
    const struct penstock_coded_problem *coded = check->coded;
    size_t coded_bytes = 0;
    for (size_t f = 0; f < FRAMES; f++) {
        const uint32_t rate = (uint32_t)(f % coded->rate_count);
        const uint32_t steps = (uint32_t)coded->rates[(size_t)rate * coded->row + PENSTOCK__CODED_STEPS];
        for (uint32_t s = 0; s < FRAME; s++) {
            check->symbols[f * FRAME + s] =
                (struct penstock_coded_symbol){.rate = rate,
                                               .coded = (uint32_t)coded_bytes,
                                               .block = (uint32_t)(FRAMES - 1 - f),
                                               .step = s * steps,
                                               .steps = FRAME * steps - (steps > LEFT ? LEFT : 0),
                                               .packed = (uint32_t)check->packed_bytes};
            coded_bytes += (size_t)2 * steps;
        }
        check->packed_bytes += (FRAME * steps + 7) / 8;
    }
    check->in_bytes = points_at(check) + (size_t)SYMBOLS * coded->carriers * sizeof(penstock_cf32);
    check->out_bytes = coded->tally ? SYMBOLS * sizeof(struct penstock_coded_count) + check->packed_bytes : coded_bytes;
}

static void fill(struct check *check)
{
    const size_t at = points_at(check);
    for (size_t i = 0; i < at; i++)
        check->in[i] = (unsigned char)penstock__check_random(&check->random);
    for (size_t i = at; i < check->in_bytes; i += sizeof(float)) {
        const float value = (float)(2 * penstock__check_uniform(&check->random));
        memcpy(check->in + i, &value, sizeof value);
    }
    for (size_t i = 0; i < FRAMES * check->block_bytes; i++)
        check->decoded[i] = (unsigned char)penstock__check_random(&check->random);
}

/* ---------------------------------------------------------------- what is right --------------- */

/* The soft bit of coded bit i of a symbol, 0 where it was not sent. */
static int soft_of(const struct check *check, size_t symbol, size_t i)
{
    const int32_t place = rate_of(check, symbol)[PENSTOCK__CODED_MAP + i];
    return place < 0 ? 0 : (signed char)check->in[symbol * check->coded->pitch + (size_t)place];
}

static unsigned data_bit(const struct check *check, const struct penstock_coded_symbol *symbol, int64_t step)
{
    const int64_t end = (int64_t)symbol->steps - (check->coded->constraint - 1);
    const unsigned char *bits = check->decoded + symbol->block * check->block_bytes;
    return step >= 0 && step < end ? bits[step / 8] >> (step % 8) & 1U : 0;
}

/* Coded bit of a step by its definition. */
static unsigned coded_bit(const struct check *check, const struct penstock_coded_symbol *symbol, uint32_t step,
                          unsigned g)
{
    const unsigned constraint = check->coded->constraint;
    unsigned sum = 0;
    for (unsigned back = 0; back < constraint; back++)
        if (check->coded->generators[g] >> (constraint - 1 - back) & 1)
            sum ^= data_bit(check, symbol, (int64_t)step - back);
    return sum;
}

static uint32_t wrong_of(const struct check *check, size_t s)
{
    const struct penstock_coded_symbol *symbol = &check->symbols[s];
    const uint32_t steps = (uint32_t)rate_of(check, s)[PENSTOCK__CODED_STEPS];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 2 * steps && symbol->step + i / 2 < symbol->steps; i++) {
        const int soft = soft_of(check, s, i);
        wrong += coded_bit(check, symbol, symbol->step + i / 2, i % 2) ? soft > 0 : soft < 0;
    }
    return wrong;
}

static double level_error(double part, double levels)
{
    double level = 2 * floor(part / 2) + 1;
    level = level > levels - 1 ? levels - 1 : level < 1 - levels ? 1 - levels : level;
    return (part - level) * (part - level);
}

static double error_of(const struct check *check, size_t s)
{
    const int32_t bits = rate_of(check, s)[PENSTOCK__CODED_BITS];
    const double levels = bits == 1 ? 2 : (double)(1U << (bits / 2));
    const double unit = sqrt((bits == 1 ? 1 : 2) * (levels * levels - 1) / 3);
    const penstock_cf32 *points =
        (const penstock_cf32 *)(const void *)(check->in + points_at(check)) + s * check->coded->carriers;
    double error = 0;
    for (unsigned c = 0; c < check->coded->carriers; c++) {
        error += level_error((double)points[c].re * unit, levels);
        error += bits == 1 ? pow((double)points[c].im * unit, 2) : level_error((double)points[c].im * unit, levels);
    }
    return error;
}

/* ---------------------------------------------------------------- comparison ------------------ */

static int compare_coded(const struct check *check)
{
    for (size_t s = 0; s < SYMBOLS; s++) {
        const signed char *got = (const signed char *)check->out + check->symbols[s].coded;
        for (size_t i = 0; i < 2 * (size_t)rate_of(check, s)[PENSTOCK__CODED_STEPS]; i++)
            if (got[i] != soft_of(check, s, i))
                return penstock__error(PENSTOCK_ERR_CHECK,
                                       "self-check of coded symbols: bit %zu of symbol %zu is %d, not %d", i, s,
                                       (int)got[i], soft_of(check, s, i));
    }
    return PENSTOCK_OK;
}

static int compare_bits(const struct check *check, size_t f)
{
    const struct penstock_coded_symbol *symbol = &check->symbols[f * FRAME];
    const size_t bytes = (symbol->steps - (check->coded->constraint - 1) + 7) / 8;
    if (memcmp(check->out + SYMBOLS * sizeof(struct penstock_coded_count) + symbol->packed,
               check->decoded + symbol->block * check->block_bytes, bytes) != 0)
        return penstock__error(PENSTOCK_ERR_CHECK, "self-check of coded symbols: frame %zu has other bits", f);
    return PENSTOCK_OK;
}

static int compare_counts(const struct check *check)
{
    const struct penstock_coded_count *counts = (const struct penstock_coded_count *)(const void *)check->out;
    int status = PENSTOCK_OK;
    for (size_t s = 0; s < SYMBOLS; s++) {
        const double error = error_of(check, s);
        if (counts[s].wrong != wrong_of(check, s) ||
            !(fabs((double)counts[s].error - error) <= ERROR_FACTOR * (1 + error)))
            return penstock__error(PENSTOCK_ERR_CHECK,
                                   "self-check of coded symbols: symbol %zu has %u wrong bits and an error of %.6g, "
                                   "not %u and %.6g",
                                   s, (unsigned)counts[s].wrong, (double)counts[s].error, (unsigned)wrong_of(check, s),
                                   error);
    }
    for (size_t f = 0; f < FRAMES && !status; f++)
        status = compare_bits(check, f);
    return status;
}

/* ---------------------------------------------------------------- run ------------------------- */

static int run(struct check *check)
{
    struct penstock_device *device = check->executor->state.device;
    const struct {
        const void *from;
        size_t bytes;
    } in[3] = {{check->in, check->in_bytes},
               {check->symbols, sizeof check->symbols},
               {check->decoded, FRAMES * check->block_bytes}};
    int status = penstock__queue_make(&check->queue, device);
    for (unsigned i = 0; i < 3 && !status; i++)
        status = penstock__buffer_holding(&check->buffers[i], in[i].from, in[i].bytes, check->queue);
    if (status || (status = penstock__buffer_holding(&check->buffers[3], check->out, check->out_bytes, check->queue)))
        return status;
    const struct penstock_job job = {.in = check->buffers[0],
                                     .gather = check->buffers[1],
                                     .coefficients = check->buffers[2],
                                     .out = check->buffers[3],
                                     .frames = SYMBOLS};
    if ((status = penstock__enqueue(check->executor, &job, check->queue)))
        return status;
    return penstock_buffer_download(check->buffers[3], check->out, check->out_bytes, check->queue);
}

static void release(struct check *check)
{
    penstock_queue_free(check->queue);
    for (unsigned i = 0; i < 4; i++)
        penstock_buffer_free(check->buffers[i]);
    penstock__free(check->in);
    penstock__free(check->decoded);
    penstock__free(check->out);
}

int penstock__check_coded(struct penstock__executor *executor)
{
    struct check check = {.executor = executor, .coded = &executor->state.problem->coded, .random = 3};
    int status = PENSTOCK_ERR_MEMORY;
    list(&check);
    check.block_bytes = check.coded->tally ? check.coded->block_bytes : 16;
    check.in = penstock__alloc(check.in_bytes);
    check.decoded = penstock__alloc(FRAMES * check.block_bytes);
    check.out = penstock__alloc(check.out_bytes);
    if (check.in && check.decoded && check.out) {
        fill(&check);
        memset(check.out, PENSTOCK__GUARD, check.out_bytes);
        if (!(status = run(&check)))
            status = check.coded->tally ? compare_counts(&check) : compare_coded(&check);
    }
    release(&check);
    return status;
}
