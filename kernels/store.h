/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The store stage: a value of the transform to complex, power or decibel, times the scale, to its place.
 * Constants: OUTPUT, CENTERED, SCALE, AVERAGE, REVERSE, REAL, N, LANES, BINS (k_values of one output frame).
 */
#define OUTPUT_COMPLEX 0
#define OUTPUT_POWER   1
#define OUTPUT_DECIBEL 2

#if OUTPUT == OUTPUT_COMPLEX
typedef k_cf32 k_value;
#else
typedef float k_value;
#endif

/* Where the value of slot s goes; zero frequency in the middle exchanges the halves. */
#if CENTERED
#define STORE_AT(s) (lane + (s ^ (SLOTS / 2)) * LANES)
#else
#define STORE_AT(s) (lane + s * LANES)
#endif

#define POWER(re, im)  ((SCALE * (re)) * (SCALE * (re)) + (SCALE * (im)) * (SCALE * (im)))
#define DECIBEL(power) (10.0f * K_LOG10((power) < 1e-30f ? 1e-30f : (power)))

#if OUTPUT == OUTPUT_DECIBEL
#define STORE_POWER(at, power) target[at] = DECIBEL(power);
#else
#define STORE_POWER(at, power) target[at] = (power);
#endif

#if OUTPUT != OUTPUT_COMPLEX
#define STORE_VALUE(at, re, im) STORE_POWER(at, POWER(re, im))
#elif REVERSE
#define STORE_VALUE(at, re_, im_)      \
    {                                  \
        target[at].re = SCALE * (im_); \
        target[at].im = SCALE * (re_); \
    }
#else
#define STORE_VALUE(at, re_, im_)      \
    {                                  \
        target[at].re = SCALE * (re_); \
        target[at].im = SCALE * (im_); \
    }
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
#define SUM_ADD(s) SUM_POWER(s, POWER(re##s, im##s))

/* What happens to a slot at the end. */
#if AVERAGE > 1
#define FINISH_VALUE(s, at, re, im) STORE_POWER(at, sum##s *(1.0f / (float)AVERAGE))
#else
#define FINISH_VALUE(s, at, re, im) STORE_VALUE(at, re, im)
#endif
#define FINISH(s) FINISH_VALUE(s, STORE_AT(s), re##s, im##s)

/* Bin N of real samples, which no slot holds: lane 0 has it in `last`. */
#if REAL && !REVERSE
#define SUM_DECLARE_LAST SUM_DECLARE(_last)
#define SUM_ADD_LAST     SUM_POWER(_last, POWER(last, 0.0f))
#define FINISH_LAST                        \
    if (lane == 0) {                       \
        FINISH_VALUE(_last, N, last, 0.0f) \
    }
#else
#define SUM_DECLARE_LAST
#define SUM_ADD_LAST
#define FINISH_LAST
#endif
