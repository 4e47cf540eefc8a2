/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms as convolutions. PRODUCT multiplies point `at` of a forward transform by the spectrum of what it is
 * convolved with, scaled, and exchanges real and imaginary parts: the forward transform that follows is then the way
 * back, its values having their parts exchanged. LEAVE is what a value goes through before it is stored.
 *
 * Bluestein: X[k] = c[k] sum_j (x[j] c[j]) conj(c[k-j]) with c[j] = exp(-pi i j j / n). On load, c is part of the window;
 * c[k] is multiplied on store. Rader: with g a generator of the numbers modulo a prime n,
 * X[g^-q] = x[0] + sum_p x[g^p] exp(-2 pi i g^(p-q) / n), and X[0] = sum x. Samples come and values go in that order.
 */
#if COLUMNS > 1
#define POINT_AT(offset) ((lane + (offset)) * COLUMNS + column)
#else
#define POINT_AT(offset) (lane + (offset))
#endif
#define PRODUCT_AT(s, offset) PRODUCT(s, POINT_AT(offset))

#define PRODUCT(s, at)                      \
    {                                       \
        TURN_BY(s, SPECTRUM_AT + 2 * (at))  \
        EXCHANGE_PARTS(s)                   \
    }

/* x[0], which lane 0 has, goes into all values: into point 0 of the spectrum. Lane 0 keeps the sum of all samples. */
#if METHOD == METHOD_RADER
#define RADER_LOAD ZERO(_extra) if (lane == 0) LOAD_SAMPLE(_extra, 0)
#define RADER_FIRST                                            \
    {                                                          \
        const float re_ = re_extra, im_ = im_extra;            \
        const float sum_re_ = re0 + re_, sum_im_ = im0 + im_; \
        PRODUCT(0, lane)                                       \
        re0 += im_;                                            \
        im0 += re_;                                            \
        re_extra = sum_im_;                                    \
        im_extra = sum_re_;                                    \
    }
#endif

#define EXCHANGE_PARTS(s)        \
    {                            \
        const float re_ = re##s; \
        re##s = im##s;           \
        im##s = re_;             \
    }

#if BACK && !LAST
#define LEAVE_BACK(s, k)
#elif BACK && METHOD == METHOD_BLUESTEIN && OUTPUT == OUTPUT_COMPLEX
#define LEAVE_BACK(s, k) EXCHANGE_PARTS(s) TURN_BY(s, CHIRP_AT + 2 * (k))
#elif BACK && OUTPUT == OUTPUT_COMPLEX
#define LEAVE_BACK(s, k) EXCHANGE_PARTS(s)
#else
#define LEAVE_BACK(s, k)
#endif

#if CPU
#define BETWEEN(s, fine, coarse)                                                                          \
    {                                                                                                     \
        const float c0_ = table[fine], s0_ = table[fine + 1], c1_ = table[coarse], s1_ = table[coarse + 1]; \
        TURN(s, c0_ *c1_ - s0_ * s1_, c0_ *s1_ + s0_ * c1_)                                               \
    }
#else
#define BETWEEN(s, fine, coarse)                                                                        \
    {                                                                                                   \
        const k_cf32 w0_ = PAIR(fine), w1_ = PAIR(coarse);                                              \
        TURN(s, w0_.re *w1_.re - w0_.im * w1_.im, w0_.re *w1_.im + w0_.im * w1_.re)                     \
    }
#endif

/* Between passes: the twiddle factor from a coarse and a fine table, of the exponent's upper and lower bits. */
#if INNER < COLUMNS
#define LEAVE(s, offset)                                                                            \
    {                                                                                               \
        const k_u32 turns_ = (k_u32)(lane + offset) * ((k_u32)column / INNER);                      \
        const k_index fine_ = FINE_AT + 2 * (k_index)(turns_ & ((1u << FINE_BITS) - 1u));           \
        const k_index coarse_ = COARSE_AT + 2 * (k_index)(turns_ >> FINE_BITS);                     \
        BETWEEN(s, fine_, coarse_)                                                                  \
    }
#else
#define LEAVE(s, offset) LEAVE_BACK(s, VALUE_AT(offset))
#endif

/*
 * Where a pass writes the points of each column together (INNER is 1), they change hands once more, so that neighbouring
 * work-items write neighbouring points: the group's columns are one piece of memory then.
 */
#if TURNED
#define ROW_STEP (N | 1) /* odd: work-items of neighbouring columns meet different banks */
#define GIVE_TURNED(s, offset)                                    \
    {                                                             \
        const k_cf32 point_ = {re##s, im##s};                     \
        exchange[member * ROW_STEP + lane + offset] = point_;     \
    }
#define LEAVE_TURNED(s, offset) LEAVE(s, offset) GIVE_TURNED(s, offset)
#define FINISH_TURNED(i)                                                                                     \
    {                                                                                                        \
        const k_index at_ = i * (GROUP_X * GROUP_Y) + K_LANE_Y() * GROUP_X + K_LANE_X();                     \
        const k_index left_ = (COLUMNS - (k_index)((k_size)K_GROUP() % BLOCKS) * PER_GROUP) * N;             \
        if (at_ < N * PER_GROUP && (COLUMNS % PER_GROUP == 0 || at_ < left_))                                \
            target[(k_index)((k_size)K_GROUP() % BLOCKS) * PER_GROUP * N + at_] =                            \
                exchange[(k_index)((k_size)at_ / N) * ROW_STEP + (k_index)((k_size)at_ % N)];                \
    }
#endif
