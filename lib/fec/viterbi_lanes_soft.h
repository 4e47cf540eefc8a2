/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Soft bits of blocks side by side: from a row for each lane to a vector for each bit. */
#ifndef PENSTOCK_FEC_VITERBI_LANES_SOFT_H
#define PENSTOCK_FEC_VITERBI_LANES_SOFT_H

#include "fec/viterbi_lanes_work.h"

#ifdef UNPACK
static void transpose_tile(int8_t (*out)[LANES], const int8_t *const *in, size_t at)
{
    typedef BYTES row;
    row a[16], b[16];
    for (unsigned i = 0; i < 16; i++)
        memcpy(&a[i], in[i] + at, sizeof a[i]);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 8; i++) {
            b[2 * i] = UNPACK_LOW(a[i], a[i + 8]);
            b[2 * i + 1] = UNPACK_HIGH(a[i], a[i + 8]);
        }
        memcpy(a, b, sizeof a);
    }
    for (unsigned i = 0; i < 16; i++)
        memcpy(out[i], &a[i], sizeof a[i]);
}
#endif

/* 16 soft bits of all lanes, from `at` on. */
static void transpose(int8_t (*out)[LANES], const int8_t *const in[LANES], size_t at)
{
#ifdef UNPACK
    for (unsigned lane = 0; lane < LANES; lane += 16)
        transpose_tile((int8_t(*)[LANES])(void *)(out[0] + lane), in + lane, at);
#else
    for (unsigned i = 0; i < 16; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            out[i][lane] = in[lane][at + i];
#endif
}

/* The soft bits of 16 steps, 0 where a lane has no more. */
static void load_chunk(struct run *r, size_t chunk)
{
    const unsigned count = r->t->count, together = r->t->together;
    const size_t values = count * CHUNK, at = chunk * values;
    const int8_t *from[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        size_t there = count * r->soft_steps[lane];
        if (at + values <= there) {
            from[lane] = r->soft[lane] + at;
            continue;
        }
        memset(r->w->tail[lane], 0, values);
        if (at < there)
            memcpy(r->w->tail[lane], r->soft[lane] + at, there - at);
        from[lane] = r->w->tail[lane];
    }
    for (unsigned i = 0; i < count; i++)
        transpose(r->w->bytes + (size_t)CHUNK * i, from, (size_t)CHUNK * i);
    for (size_t i = 0; i < values; i++) {
        byte_vec b;
        memcpy(&b, r->w->bytes[i], sizeof b);
        r->w->soft[i] = __builtin_convertvector(b, vec) << together;
    }
    r->chunk = chunk;
}

#endif
