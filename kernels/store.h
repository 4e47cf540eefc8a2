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

/* Where values go. IMAGE_OUT: to an image made of a buffer; where a texel has two points, by way of local memory. */
#if IMAGE_OUT
#define OUT_MEMORY __write_only image1d_buffer_t
#define TARGET     const k_i32 target = (k_i32)
#else
#define OUT_MEMORY K_GLOBAL k_value *K_RESTRICT
#define TARGET     K_GLOBAL k_value *target = out +
#endif

#if IMAGE_OUT && TEXEL == 1
#define PUT_PAIR(at, re_, im_) write_imagef(out, target + (k_i32)(at), (float4)(re_, im_, 0.0f, 0.0f));
#elif IMAGE_OUT
#if COLUMNS > 1
#define STAGED_LEFT     ((k_index)((k_size)K_GROUP() % BLOCKS) * PER_GROUP)
#define STAGED_AT(at)   ((k_index)((k_size)(at) / COLUMNS) * PER_GROUP + (k_index)((k_size)(at) % COLUMNS) - STAGED_LEFT)
#define STAGED_OWN      (COLUMNS % PER_GROUP == 0 || STAGED_LEFT + member < COLUMNS) /* not the last column again */
#define STAGED_COUNT    (N * PER_GROUP)
#define STAGED_VALUE(t)  (2 * (t) / PER_GROUP * COLUMNS + STAGED_LEFT + 2 * (t) % PER_GROUP)
#define STAGED_WANTED(t) \
    (STAGED_LEFT + 2 * (t) % PER_GROUP < COLUMNS && (OUT_COUNT == COLUMNS * N || STAGED_VALUE(t) < OUT_COUNT))
#define STAGED_TEXEL(t) \
    (((k_index)((k_size)K_GROUP() / BLOCKS) * BINS + STAGED_VALUE(t)) / 2)
#else
#define STAGED_AT(at)    (member * BINS + (at))
#define STAGED_OWN       1
#define STAGED_COUNT     (BINS * PER_GROUP)
#define STAGED_WANTED(t) (K_GROUP() * PER_GROUP + 2 * (t) / BINS < rows)
#define STAGED_TEXEL(t)  (K_GROUP() * PER_GROUP * (BINS / 2) + (t))
#endif
#define PUT_PAIR(at, re_, im_)               \
    if (STAGED_OWN) {                        \
        const k_cf32 value_ = {re_, im_};    \
        staged[STAGED_AT(at)] = value_;      \
    }
#define PUT_TEXELS                                                                                             \
    for (k_index t_ = K_LANE_Y() * GROUP_X + K_LANE_X(); t_ < STAGED_COUNT / 2; t_ += GROUP_X * GROUP_Y)       \
        if (STAGED_WANTED(t_))                                                                                 \
            write_imagef(out, (k_i32)(STAGED_TEXEL(t_) + (BINS / 2) * FIRST_OUT),                              \
                         (float4)(staged[2 * t_].re, staged[2 * t_].im, staged[2 * t_ + 1].re, staged[2 * t_ + 1].im));
#elif HALF_OUT
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

/* Which value of the whole transform point lane + offset of this pass's is, and where it goes. */
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
