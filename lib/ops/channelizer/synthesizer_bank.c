/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The polyphase sums of the synthesis bank. */
#include "ops/channelizer/synthesizer_bank.h"

#include <string.h>

#define MOST_TOGETHER 16
#define ITEM_VALUES   8192 /* as of the analysis bank */
#define ITEMS         2    /* of a batch for each thread */

/* ---------------------------------------------------------------- life ------------------------ */

/* Weight t R + i belongs to sample i of a hop and the frame t hops before. */
int penstock__synthesis_weights(struct fold_weights *weights, size_t hop, const float *taps, size_t tap_count)
{
    weights->depth = (tap_count + hop - 1) / hop;
    weights->width = penstock__round_up(hop, FOLD_WIDTH / 2);
    if (!(weights->values = penstock__calloc(2 * weights->width * weights->depth, sizeof(float))))
        return PENSTOCK_ERR_MEMORY;
    for (size_t l = 0; l < tap_count; l++) {
        size_t t = l / hop, i = l % hop, column = i / FOLD_WIDTH * FOLD_WIDTH;
        size_t wide = weights->width - column < FOLD_WIDTH ? FOLD_WIDTH / 2 : FOLD_WIDTH;
        float *pair = weights->values + 2 * (column * weights->depth + t * wide + i - column);
        pair[0] = pair[1] = taps[l];
    }
    return PENSTOCK_OK;
}

void penstock__synthesis_bank_adopt(struct synthesis_bank *bank, const struct fold_weights *weights, size_t tap_count)
{
    penstock__free(bank->weights.values);
    bank->weights = *weights;
    bank->tap_count = tap_count;
}

static penstock_cf32 *new_rows(const struct synthesis_bank *bank, size_t history)
{
    return penstock__calloc((history + 2 * bank->capacity) * bank->stride, sizeof *bank->rows);
}

int penstock__synthesis_bank_deepen(struct synthesis_bank *bank, size_t history)
{
    penstock_cf32 *rows = new_rows(bank, history);
    if (!rows)
        return PENSTOCK_ERR_MEMORY;
    memcpy(rows + (history - bank->history) * bank->stride, bank->rows + (bank->first - bank->history) * bank->stride,
           bank->history * bank->stride * sizeof *rows);
    penstock__free(bank->rows);
    bank->rows = rows;
    bank->history = bank->first = history;
    return PENSTOCK_OK;
}

int penstock__synthesis_bank_init(struct synthesis_bank *bank, penstock_context *context, size_t channels, size_t hop,
                                  size_t delay, const float *taps, size_t tap_count)
{
    unsigned threads = penstock__threads(context);
    *bank = (struct synthesis_bank){.context = context,
                                    .channels = channels,
                                    .hop = hop,
                                    .delay = delay,
                                    .stride = penstock__round_up(channels + hop + FOLD_WIDTH, FOLD_WIDTH),
                                    .history = (tap_count - 1) / hop,
                                    .tap_count = tap_count,
                                    .kernels = penstock__fold_kernels()};
    bank->item = penstock__round_up(ITEM_VALUES / channels + 1, bank->kernels->frames);
    bank->capacity = ITEMS * threads * bank->item;
    if (bank->capacity < bank->history)
        bank->capacity = bank->history;
    bank->scratch_values = MOST_TOGETHER * penstock__round_up(hop, FOLD_WIDTH);
    bank->rows = new_rows(bank, bank->history);
    bank->made = penstock__alloc(bank->capacity * hop * sizeof *bank->made);
    bank->scratch = penstock__alloc(threads * bank->scratch_values * sizeof *bank->scratch);
    if (!bank->rows || !bank->made || !bank->scratch)
        return PENSTOCK_ERR_MEMORY;
    penstock__synthesis_bank_reset(bank);
    return penstock__synthesis_weights(&bank->weights, hop, taps, tap_count);
}

void penstock__synthesis_bank_free(struct synthesis_bank *bank)
{
    penstock__free(bank->weights.values);
    penstock__free(bank->rows);
    penstock__free(bank->made);
    penstock__free(bank->scratch);
}

void penstock__synthesis_bank_reset(struct synthesis_bank *bank)
{
    memset(bank->rows, 0, bank->history * bank->stride * sizeof *bank->rows);
    bank->first = bank->history;
}

/* ---------------------------------------------------------------- a batch --------------------- */

struct work {
    struct synthesis_bank *bank;
    const penstock_cf32 *spectra;
    penstock_cf32 *to;
    uint64_t frame;
    size_t count;
};

static void place_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    const struct synthesis_bank *bank = work->bank;
    const size_t channels = bank->channels, first = item * bank->item, left = work->count - first;
    const size_t count = left < bank->item ? left : bank->item;
    (void)worker;
    for (size_t f = first; f < first + count; f++) {
        penstock_cf32 *row = bank->rows + (bank->first + f) * bank->stride;
        if (work->spectra)
            memcpy(row, work->spectra + f * channels, channels * sizeof *row);
        else
            memset(row, 0, channels * sizeof *row);
        memcpy(row + channels, row, bank->hop * sizeof *row);
    }
}

/* Place in a frame's row of the first of its samples: m R - d + o modulo M. */
static size_t first_place(const struct synthesis_bank *bank, uint64_t frame)
{
    size_t channels = bank->channels;
    return ((size_t)(frame % channels) * bank->hop + bank->origin + channels - bank->delay % channels) % channels;
}

static void fold_item(void *argument, size_t item, unsigned worker)
{
    const struct work *work = argument;
    const struct synthesis_bank *bank = work->bank;
    const size_t hop = bank->hop, first = item * bank->item, left = work->count - first;
    const size_t count = left < bank->item ? left : bank->item;
    penstock_cf32 *scratch = bank->scratch + worker * bank->scratch_values;
    const bool apart = bank->weights.width > hop; /* more is written than a hop */
    for (size_t done = 0; done < count; done += MOST_TOGETHER) {
        penstock_cf32 *out[MOST_TOGETHER];
        const penstock_cf32 *rows[MOST_TOGETHER];
        size_t frames = count - done < MOST_TOGETHER ? count - done : MOST_TOGETHER;
        for (size_t f = 0; f < frames; f++) {
            size_t at = first + done + f;
            out[f] = apart ? scratch + f * (bank->scratch_values / MOST_TOGETHER) : work->to + at * hop;
            rows[f] = bank->rows + (bank->first + at) * bank->stride + first_place(bank, work->frame + at);
        }
        bank->kernels->fold(out, rows, frames, -(ptrdiff_t)bank->stride, &bank->weights);
        for (size_t f = 0; f < frames && apart; f++)
            memcpy(work->to + (first + done + f) * hop, out[f], hop * sizeof *out[f]);
    }
}

void penstock__synthesis_bank_run(struct synthesis_bank *bank, penstock_cf32 *to, const penstock_cf32 *spectra,
                                  uint64_t frame, size_t count)
{
    size_t items = (count + bank->item - 1) / bank->item;
    struct work work = {bank, spectra, to, frame, count};
    if (bank->first + count > bank->history + 2 * bank->capacity) {
        memmove(bank->rows, bank->rows + (bank->first - bank->history) * bank->stride,
                bank->history * bank->stride * sizeof *bank->rows);
        bank->first = bank->history;
    }
    penstock__parallel(bank->context, items, place_item, &work);
    penstock__parallel(bank->context, items, fold_item, &work);
    bank->first += count;
}
