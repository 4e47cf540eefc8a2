/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The QPU's transforms give the same bits whatever the hardware leaves open: the order of the QPUs, late DMA, VPM
 * writes held back, registers and memory full of rubbish, caches that keep everything or nothing. No stale word is
 * read.
 */
#include "qpu_fft_rig.h"

static struct qpu_emulator_options options_of(unsigned seed, unsigned modes, unsigned cache)
{
    return (struct qpu_emulator_options){.seed = seed,
                                         .random_interleave = true,
                                         .late_dma = modes & 1,
                                         .hold_vpm = modes & 2,
                                         .poison = modes & 4,
                                         .cache = (enum qpu_cache_mode)cache};
}

static void compare(struct rig *rig, const uint8_t *right, size_t bytes, struct qpu_emulator_options options)
{
    memset(rig_output(rig), 0, bytes);
    CHECK(rig_run(rig, options) && !memcmp(rig_output(rig), right, bytes),
          "%zu bytes: seed %d, late %d, hold %d, poison %d, cache %d", bytes, (int)options.seed, options.late_dma,
          options.hold_vpm, options.poison, (int)options.cache);
}

/* Each seed in one of the 24 modes, or in the full test in each. */
static void all_modes(uint32_t points, bool reverse)
{
    unsigned batch = points <= 1024 ? 12 : 1, seeds = points <= 4096 ? 100 : points <= 65536 ? 5 : 1;
    struct qpu_fft_description description = {.points = points, .reverse = reverse, .batch = batch, .qpus = 12};
    struct rig rig = rig_open(&description);
    size_t bytes = (size_t)8 * points * batch;
    uint8_t *right = malloc(bytes);
    float *in = rig_input(&rig);
    uint64_t random = points;
    bool full = getenv("PENSTOCK_TEST_FULL");
    for (size_t i = 0; i < (size_t)2 * points * batch; i++)
        in[i] = (float)test_uniform(&random);
    if (right && rig_run(&rig, (struct qpu_emulator_options){.cache = QPU_CACHE_OFF})) {
        memcpy(right, rig_output(&rig), bytes);
        for (unsigned seed = 0; seed < seeds; seed++)
            for (unsigned mode = 0; mode < 24; mode++)
                if (full || (seed + points / 64) % 24 == mode)
                    compare(&rig, right, bytes, options_of(seed, mode % 8, mode / 8));
    }
    free(right);
    rig_close(&rig);
}

int main(void)
{
    uint32_t longest = getenv("PENSTOCK_TEST_FULL") ? UINT32_C(1) << 22 : UINT32_C(1) << 16;
    for (uint32_t points = 64; points <= longest; points *= 2)
        all_modes(points, points & 0x555555);
    return test_finish();
}
