/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How many instructions the QPU's transforms take, in a batch of 12 on 12 QPUs: exact on the emulator, so a change
 * that makes them more shows. GPU_FFT's own numbers, of its eight QPUs together and of the one with most, are
 * the yardstick: at most 0.6 of the first, and at most these of the second.
 */
#include "qpu_fft_rig.h"

static const struct {
    uint32_t points;
    unsigned all, busiest; /* a transform, rounded up; busiest over the batch, divided by 12 */
    unsigned gpu_fft_all, allowed_busiest;
} table[] = {
    {64, 297, 30, 0, 0},         {128, 529, 50, 0, 0},          {256, 1029, 91, 3900, 180},
    {512, 2210, 190, 8314, 370}, {1024, 5054, 427, 14272, 630},
};

int main(void)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct qpu_fft_description description = {.points = table[i].points, .batch = 12, .qpus = 12};
        struct rig rig = rig_open(&description);
        memset(rig_input(&rig), 0, (size_t)8 * 12 * table[i].points);
        if (rig_run(&rig, (struct qpu_emulator_options){0})) {
            printf("%5u points: %llu instructions a transform, path %llu\n", table[i].points,
                   (unsigned long long)(rig.instructions + 11) / 12, (unsigned long long)(rig.busiest + 11) / 12);
            CHECK_EQ((rig.instructions + 11) / 12, table[i].all);
            CHECK_EQ((rig.busiest + 11) / 12, table[i].busiest);
            CHECK(!table[i].gpu_fft_all || 10 * rig.instructions <= 12 * 6 * (uint64_t)table[i].gpu_fft_all,
                  "%u points", table[i].points);
            CHECK(!table[i].allowed_busiest || rig.busiest <= 12 * (uint64_t)table[i].allowed_busiest, "%u points",
                  table[i].points);
        }
        rig_close(&rig);
    }
    return test_finish();
}
