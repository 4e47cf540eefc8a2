/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What tests of the QPU's transforms share: a plan with its memory, run on the emulator, and its errors. */
#ifndef PENSTOCK_QPU_FFT_RIG_H
#define PENSTOCK_QPU_FFT_RIG_H

#include "emu/emulator.h"
#include "fft/fft.h"
#include "test.h"

static const uint32_t RIG_ADDRESS = 0xc0100000, RIG_ROOM = 0xf8000000;

struct rig {
    struct qpu_fft_plan *plan;
    uint8_t *memory;
    size_t bytes;
    uint8_t *room; /* memory beside the plan's, or NULL */
    size_t room_bytes;
    uint64_t instructions,
        busiest; /* of the last run: over all QPUs, and of the one with most (summed over launches) */
};

static inline struct rig rig_open(const struct qpu_fft_description *description)
{
    struct rig rig = {.plan = NULL};
    CHECK_EQ(qpu_fft_plan_new(&rig.plan, description), QPU_FFT_OK);
    if (!rig.plan)
        exit(1);
    rig.bytes = qpu_fft_plan_bytes(rig.plan);
    rig.memory = aligned_alloc(4096, rig.bytes);
    if (!rig.memory)
        exit(1);
    memset(rig.memory, 0xa5, rig.bytes);
    qpu_fft_plan_place(rig.plan, rig.memory, RIG_ADDRESS);
    return rig;
}

static inline void rig_close(struct rig *rig)
{
    qpu_fft_plan_free(rig->plan);
    free(rig->memory);
    free(rig->room);
}

/* For data elsewhere than in the plan's block. */
static inline void rig_room(struct rig *rig, size_t bytes)
{
    rig->room_bytes = bytes;
    if (!(rig->room = aligned_alloc(64, bytes)))
        exit(1);
}

static inline void *rig_room_at(const struct rig *rig, size_t place)
{
    return rig->room + place;
}

static inline uint32_t rig_room_address(size_t place)
{
    return RIG_ROOM + (uint32_t)place;
}

static inline void *rig_input(const struct rig *rig)
{
    return rig->memory + qpu_fft_plan_input(rig->plan);
}

static inline float *rig_output(const struct rig *rig)
{
    return (float *)(void *)(rig->memory + qpu_fft_plan_output(rig->plan));
}

static inline void rig_count(struct rig *rig, const struct qpu_emulator *emulator, uint64_t before[QPU_FFT_QPUS])
{
    uint64_t busiest = 0;
    for (unsigned q = 0; q < QPU_FFT_QPUS; q++) {
        uint64_t now = qpu_emulator_activity(emulator, q).instructions;
        rig->instructions += now - before[q];
        busiest = now - before[q] > busiest ? now - before[q] : busiest;
        before[q] = now;
    }
    rig->busiest += busiest;
}

/* False with a failed check if a launch does not end. The number of QPUs is the plan's. */
static inline bool rig_run(struct rig *rig, struct qpu_emulator_options options)
{
    struct qpu_emulator *emulator;
    uint64_t before[QPU_FFT_QPUS] = {0};
    bool good = true;
    options.qpus = QPU_FFT_QPUS;
    rig->instructions = rig->busiest = 0;
    if (qpu_emulator_new(&emulator, &options) ||
        qpu_emulator_map(emulator, RIG_ADDRESS & 0x3fffffff, rig->memory, (uint32_t)rig->bytes))
        exit(1);
    if (rig->room && qpu_emulator_map(emulator, RIG_ROOM & 0x3fffffff, rig->room, (uint32_t)rig->room_bytes))
        exit(1);
    for (unsigned i = 0; i < qpu_fft_plan_launches(rig->plan) && good; i++) {
        struct qpu_fft_launch launch;
        struct qpu_trap trap;
        enum qpu_outcome outcome;
        qpu_fft_plan_launch(rig->plan, i, RIG_ADDRESS, &launch);
        qpu_emulator_clear_caches(emulator);
        for (unsigned q = 0; q < launch.qpus; q++)
            qpu_emulator_launch(emulator, q, launch.pc, launch.uniforms[q]);
        outcome = qpu_emulator_run(emulator);
        trap = qpu_emulator_trap(emulator);
        good = outcome == QPU_RUN_ENDED;
        CHECK(good, "launch %u, outcome %d: QPU %u at %#x: %s (%#x)", i, (int)outcome, trap.qpu, trap.pc - RIG_ADDRESS,
              qpu_hazard_text(trap.hazard), trap.detail);
        rig_count(rig, emulator, before);
    }
    qpu_emulator_free(emulator);
    return good;
}

/* Root mean square of the difference over that of what is right, in millionths; n complex numbers. */
static inline double rig_ppm(const float *got, const double *right, size_t n)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        error += (got[i] - right[i]) * (got[i] - right[i]);
        power += right[i] * right[i];
    }
    return sqrt(error / power) * 1e6;
}

/* Fourier transform in double precision, by its halves, out of place: n a power of two. */
static inline void rig_dft(const double *in, double *out, size_t n, size_t stride, int sign)
{
    if (n == 1) {
        out[0] = in[0];
        out[1] = in[1];
        return;
    }
    rig_dft(in, out, n / 2, 2 * stride, sign);
    rig_dft(in + 2 * stride, out + n, n / 2, 2 * stride, sign);
    for (size_t k = 0; k < n / 2; k++) {
        double angle = sign * 6.283185307179586476925286766559 * (double)k / (double)n;
        double c = cos(angle), s = sin(angle), *a = out + 2 * k, *b = out + n + 2 * k;
        double re = b[0] * c - b[1] * s, im = b[1] * c + b[0] * s;
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
    }
}

#endif
