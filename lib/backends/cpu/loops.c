/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of loops.h, written for a vectorising compiler: this file is built once for each instruction set. */
#include "backends/cpu/loops.h"
#include "vector/decibel.h"

#ifndef CPU_LOOPS
#define CPU_LOOPS penstock__cpu_loops_plain
#endif

/* ---------------------------------------------------------------- rotation -------------------- */

#define BLOCK 64

/*
 * Every factor is computed from its own phase, in integer arithmetic, so no error builds up over a frame. The phase is
 * split into quarter turns and a rest of at most an eighth of a turn, for which polynomials give sine and cosine
 * (coefficients of S. Moshier's Cephes library, sinf.c).
 */
static void phasors(float *re, float *im, uint32_t phase, uint32_t step)
{
    for (uint32_t j = 0; j < BLOCK; j++) {
        uint32_t p = phase + j * step, quarter = (p + 0x20000000u) >> 30;
        float x = (float)(int32_t)(p - (quarter << 30)) * 1.4629180792671596e-9f; /* 2 pi / 2^32 */
        float z = x * x;
        float sine = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
        float cosine =
            ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
        float a = quarter & 1 ? sine : cosine, b = quarter & 1 ? cosine : sine;
        re[j] = (quarter + 1) & 2 ? -a : a;
        im[j] = quarter & 2 ? -b : b;
    }
}

static void rotate(penstock_cf32 *values, size_t n, uint32_t phase, uint32_t step)
{
    float re[BLOCK], im[BLOCK];
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        phasors(re, im, phase + (uint32_t)first * step, step);
        for (size_t j = 0; j < count; j++) {
            penstock_cf32 v = values[first + j];
            values[first + j] = (penstock_cf32){v.re * re[j] - v.im * im[j], v.re * im[j] + v.im * re[j]};
        }
    }
}

/* ---------------------------------------------------------------- power ----------------------- */

static void power(float *restrict parts, const penstock_cf32 *restrict values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        parts[i] = values[i].re * values[i].re + values[i].im * values[i].im;
}

static void add_power(float *restrict parts, const penstock_cf32 *restrict values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        parts[i] += values[i].re * values[i].re + values[i].im * values[i].im;
}

static void add_parts(double *restrict sums, const float *restrict parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] += (double)parts[i];
}

/* ---------------------------------------------------------------- decibel --------------------- */

static void decibel(float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = penstock__decibel(values[i]);
}

const struct cpu_loops CPU_LOOPS = {
    .rotate = rotate, .power = power, .add_power = add_power, .add_parts = add_parts, .decibel = decibel};
