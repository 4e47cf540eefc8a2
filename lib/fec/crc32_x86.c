/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * CRC-32 by carry-less products: what sixteen octets leave behind themselves is what others leave that come later,
 * these being the remainders of two products (V. Gopal et al., "Fast CRC computation for generic polynomials using
 * PCLMULQDQ instruction", Intel, 2009).
 */
#include "fec/crc32_variants.h"

#include <emmintrin.h>
#include <wmmintrin.h>

enum { BYTES = sizeof(__m128i), LANES = 4, BLOCK = LANES * BYTES };

static inline __m128i load(const uint8_t *bytes)
{
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* `x` moved to where `by` says, added to what is there. */
static inline __m128i fold(__m128i x, __m128i by, __m128i there)
{
    return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)), there);
}

size_t penstock__crc32_fold(uint8_t left[16], uint32_t r, const uint8_t *bytes, size_t count)
{
    /* x^n modulo the polynomial, reflected, for n that is 64 octets and 16: upper and lower half. */
    const __m128i far = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), near = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i x[LANES];
    size_t done = BLOCK;
    for (unsigned i = 0; i < LANES; i++)
        x[i] = load(bytes + i * BYTES);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)r));
    for (; done + BLOCK <= count; done += BLOCK)
        for (unsigned i = 0; i < LANES; i++)
            x[i] = fold(x[i], far, load(bytes + done + i * BYTES));
    for (unsigned i = 1; i < LANES; i++)
        x[0] = fold(x[0], near, x[i]);
    for (; done + BYTES <= count; done += BYTES)
        x[0] = fold(x[0], near, load(bytes + done));
    _mm_storeu_si128((__m128i *)(void *)left, x[0]);
    return done;
}
