/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Vector arithmetic by VOLK. */
#include "backends/backend.h"
#include "backends/cpu/arrays.h"

#include <stdio.h>
#include <string.h>
#include <volk/constants.h>
#include <volk/volk.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* VOLK takes `float complex`, which has the layout of penstock_cf32 (C11 6.2.5, 13). */
static lv_32fc_t *volk_out(penstock_cf32 *values)
{
    return (lv_32fc_t *)(void *)values;
}

static const lv_32fc_t *volk_in(const penstock_cf32 *values)
{
    return (const lv_32fc_t *)(const void *)values;
}

/* A kernel of VOLK 2.5.2's that ORC makes leaves the thread so that numbers below the normal ones are zero. */
#if defined(__SSE__)
static unsigned rounding(void)
{
    return _mm_getcsr();
}

static void restore(unsigned before)
{
    _mm_setcsr(before);
}
#else
static unsigned rounding(void)
{
    return 0;
}

static void restore(unsigned before)
{
    (void)before;
}
#endif

static void call_each(void)
{
    void (*volk)(void) = (void (*)(void))volk_version;
    const void *function;
    memcpy(&function, &volk, sizeof function);
    penstock__cpu_keep_library(function);
    penstock_cf32 values[8] = {{0, 0}};
    float factors[8] = {0};
    penstock__arrays_window(values, values, factors, 8);
    penstock__arrays_rotate(values, values, values, 8);
    penstock__arrays_power(factors, values, 8);
}

/* fork() waits for it: VOLK 3.2 chooses under a lock of its own, which would stay locked in the child. */
void penstock__arrays_init(void)
{
    static struct penstock_guard choosing = PENSTOCK_GUARD_AWAITED;
    static bool chosen;
    penstock__guard(&choosing);
    if (!chosen)
        call_each();
    chosen = true;
    penstock__unguard(&choosing);
}

void penstock__arrays_window(penstock_cf32 *out, const penstock_cf32 *in, const float *factors, size_t n)
{
    const unsigned before = rounding();
    volk_32fc_32f_multiply_32fc_u(volk_out(out), volk_in(in), factors, (unsigned)n);
    restore(before);
}

void penstock__arrays_rotate(penstock_cf32 *out, const penstock_cf32 *in, const penstock_cf32 *factors, size_t n)
{
    const unsigned before = rounding();
    volk_32fc_x2_multiply_32fc_u(volk_out(out), volk_in(in), volk_in(factors), (unsigned)n);
    restore(before);
}

void penstock__arrays_power(float *out, const penstock_cf32 *in, size_t n)
{
    const unsigned before = rounding();
    volk_32fc_magnitude_squared_32f_u(out, volk_in(in), (unsigned)n);
    restore(before);
}

void penstock__arrays_library(char text[32])
{
    snprintf(text, 32, "VOLK %s", volk_version());
}
