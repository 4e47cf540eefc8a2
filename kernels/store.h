/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The store stage: a value of the transform to complex, power or decibel, times the scale, to its place.
 * Constants: OUTPUT, HALF_OUT (values are numbers of 16 bits), CENTERED, SCALE, AVERAGE, REVERSE_OUT (real and imaginary parts come exchanged), REAL, LENGTH
 * (points of the transform that was asked for), OUT_COUNT (values that are stored), BINS (k_values of an output frame).
 */
#define OUTPUT_COMPLEX 0
#define OUTPUT_POWER   1
#define OUTPUT_DECIBEL 2

#define REAL_OUT (REAL == REAL_WHOLE && REVERSE_OUT)

#if OUTPUT == OUTPUT_COMPLEX && !REAL_OUT && HALF_OUT
typedef struct SAMPLE_ALIGNED(4) {
    k_u16 re, im;
} k_value;
#elif OUTPUT == OUTPUT_COMPLEX && !REAL_OUT
typedef k_cf32 k_value;
#elif HALF_OUT
typedef k_u16 k_value;
#else
typedef float k_value;
#endif

#if HALF_OUT
#define PUT_NUMBER(at, x)    K_PUT_HALF(target + (at), x)
#define PUT_PAIR(at, re_, im_) K_PUT_HALF2((K_GLOBAL k_u16 *)(target + (at)), re_, im_)
#else
#define PUT_NUMBER(at, x) target[at] = x;
#define PUT_PAIR(at, re_, im_) \
    {                          \
        target[at].re = re_;   \
        target[at].im = im_;   \
    }
#endif

#define POWER(re, im)  ((SCALE * (re)) * (SCALE * (re)) + (SCALE * (im)) * (SCALE * (im)))
#define DECIBEL(power) (10.0f * K_LOG10((power) < 1e-30f ? 1e-30f : (power)))

#if OUTPUT == OUTPUT_DECIBEL
#define STORE_POWER(at, power) PUT_NUMBER(at, DECIBEL(power))
#else
#define STORE_POWER(at, power) PUT_NUMBER(at, power)
#endif

#if OUTPUT != OUTPUT_COMPLEX
#define STORE_VALUE(at, re, im) STORE_POWER(at, POWER(re, im))
#elif REAL_OUT
#define STORE_VALUE(at, re_, im_) PUT_NUMBER(at, SCALE * (im_))
#elif REVERSE_OUT
#define STORE_VALUE(at, re_, im_) PUT_PAIR(at, SCALE * (im_), SCALE * (re_))
#else
#define STORE_VALUE(at, re_, im_) PUT_PAIR(at, SCALE * (re_), SCALE * (im_))
#endif

/* Sum of powers, with the rounding errors carried along (W. Kahan) where many are summed. */
#define SUM_DECLARE(s) float sum##s = 0.0f, lost##s = 0.0f;
#if AVERAGE > 16
#define SUM_POWER(s, power)                 \
    {                                       \
        const float add_ = power - lost##s; \
        const float next_ = sum##s + add_;  \
        lost##s = (next_ - sum##s) - add_;  \
        sum##s = next_;                     \
    }
#else
#define SUM_POWER(s, power) sum##s += power;
#endif
#define SUM_ADD(s)            SUM_POWER(s, POWER(re##s, im##s))
#define SUM_ADD_AT(s, offset) SUM_ADD(s)

/* What happens to a slot at the end. */
#if AVERAGE > 1
#define FINISH_VALUE(s, at, re, im) STORE_POWER(at, sum##s *(1.0f / (float)AVERAGE))
#else
#define FINISH_VALUE(s, at, re, im) STORE_VALUE(at, re, im)
#endif

/* Which value of the whole transform point lane + offset of this node's is, and where it goes. */
#if METHOD == METHOD_RADER
#define VALUE_AT(offset) ((k_index)table[ORDER_OUT_AT + lane + (offset)])
#elif COLUMNS == 1
#define VALUE_AT(offset) (lane + (offset))
#elif INNER == COLUMNS
#define VALUE_AT(offset) ((lane + (offset)) * INNER + column)
#else
#define VALUE_AT(offset)                                                                                   \
    ((k_index)((k_size)column / INNER) * (INNER * N) + (lane + (offset)) * INNER + (k_index)((k_size)column % INNER))
#endif

/* Zero frequency in the middle: where value 0 goes is CENTER_AT. */
#if CENTERED
#define CENTER(k) ((k) < LENGTH - CENTER_AT ? (k) + CENTER_AT : (k) - (LENGTH - CENTER_AT))
#else
#define CENTER(k) (k)
#endif

/* A slot at the end: to place lane + to, where that is known; or to where its value belongs, if it is wanted. */
#define FINISH(s, offset, to)                     \
    {                                             \
        LEAVE(s, offset)                          \
        FINISH_VALUE(s, lane + (to), re##s, im##s) \
    }
#define FINISH_ANYWHERE(s, offset)                \
    {                                             \
        const k_index k_ = VALUE_AT(offset);      \
        if (OUT_COUNT == COLUMNS * N || k_ < OUT_COUNT) { \
            LEAVE(s, offset)                          \
            FINISH_VALUE(s, CENTER(k_), re##s, im##s) \
        }                                         \
    }

/* A value that no slot holds and lane 0 has: bin N of real samples that are packed; bin 0 in Rader's order. */
#if METHOD == METHOD_RADER
#define EXTRA    1
#define EXTRA_AT CENTER(0)
#elif REAL == REAL_PACKED && !REVERSE_OUT
#define EXTRA    1
#define EXTRA_AT N
#else
#define EXTRA 0
#endif
#if EXTRA
#define SUM_DECLARE_EXTRA SUM_DECLARE(_extra)
#define SUM_ADD_EXTRA     SUM_ADD(_extra)
#define FINISH_EXTRA                                         \
    if (lane == 0) {                                         \
        LEAVE_BACK(_extra, 0)                                \
        FINISH_VALUE(_extra, EXTRA_AT, re_extra, im_extra)   \
    }
#else
#define SUM_DECLARE_EXTRA
#define SUM_ADD_EXTRA
#define FINISH_EXTRA
#endif
