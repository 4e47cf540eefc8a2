/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The polyphase sums of the analysis bank. */
#include "ops/channelizer/channelizer_bank.h"
#include "backends/backend.h"

#include <string.h>

/* Weight t M + i belongs to the window's sample t M + i, which the tap of the last index meets first. */
static void place_weights(struct channel_bank *bank, const float *taps, size_t tap_count)
{
    for (size_t l = 0; l < tap_count; l++) {
        const size_t at = bank->window - 1 - l;
        penstock__fold_weight(&bank->weights, at / bank->channels, at % bank->channels, taps[l]);
        bank->factors[at] = taps[l];
    }
}

int penstock__channel_bank_init(struct channel_bank *bank, const penstock_channelizer_desc *desc, const float *taps,
                                size_t tap_count)
{
    const size_t channels = desc->channels;
    const size_t depth = (tap_count + channels - 1) / channels;
    *bank = (struct channel_bank){.channels = channels,
                                  .hop = desc->hop,
                                  .advance = desc->advance,
                                  .origin = desc->origin,
                                  .window = depth * channels,
                                  .stride = penstock__round_up(2 * channels + FOLD_WIDTH, FOLD_WIDTH),
                                  .sums = penstock__fold_kernels(),
                                  .kernels = penstock__channelizer_kernels()};
    bank->factors = penstock__calloc(bank->window, sizeof(float));
    if (penstock__fold_weights_init(&bank->weights, depth, channels) || !bank->factors) {
        penstock__channel_bank_free(bank);
        *bank = (struct channel_bank){0};
        return PENSTOCK_ERR_MEMORY;
    }
    place_weights(bank, taps, tap_count);
    return PENSTOCK_OK;
}

void penstock__channel_bank_free(struct channel_bank *bank)
{
    penstock__free(bank->weights.values);
    penstock__free(bank->factors);
}

/* m R + a + 1 + o modulo M, the window being a multiple of M long. */
size_t penstock__channel_bank_turn(const struct channel_bank *bank, uint64_t frame)
{
    return ((size_t)(frame % bank->channels) * bank->hop + bank->advance + 1 + bank->origin) % bank->channels;
}

void penstock__channel_bank_fold(const struct channel_bank *bank, penstock_cf32 *rows, const penstock_cf32 *in,
                                 uint64_t first, size_t count)
{
    const size_t channels = bank->channels;
    size_t place = penstock__channel_bank_turn(bank, first);
    for (size_t done = 0; done < count; done += FOLD_TOGETHER) {
        penstock_cf32 *out[FOLD_TOGETHER];
        const penstock_cf32 *windows[FOLD_TOGETHER];
        size_t frames = count - done < FOLD_TOGETHER ? count - done : FOLD_TOGETHER;
        for (size_t f = 0; f < frames; f++) {
            out[f] = rows + (done + f) * bank->stride + place;
            windows[f] = in + (done + f) * bank->hop;
            place += bank->hop;
            place -= place < channels ? 0 : channels;
        }
        bank->sums->fold(out, windows, frames, (ptrdiff_t)channels, &bank->weights);
        for (size_t f = 0; f < frames; f++) {
            penstock_cf32 *row = rows + (done + f) * bank->stride;
            memcpy(row, row + channels, (size_t)(out[f] - row) * sizeof *row);
        }
    }
}
