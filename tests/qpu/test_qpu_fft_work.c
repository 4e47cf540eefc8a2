/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How many instructions the QPU's transforms take: exact on the emulator, so a change that makes them more shows. Up to
 * 1024 points in a batch of 12 on 12 QPUs, above one transform that all share. GPU_FFT's own numbers, of its eight QPUs
 * together and of the one with most, are what counts.
 */
#include "qpu_fft_rig.h"

static const struct {
    uint32_t points, batch;
    unsigned all, busiest; /* a transform, rounded up; the busiest QPU's over the batch, divided by it */
    unsigned most_all,
        most_busiest; /* 0.6 of GPU_FFT's, and what is allowed (1.1 times its above 1024); 0: not known */
} table[] = {
    {64, 12, 300, 30, 0, 0},
    {128, 12, 536, 50, 0, 0},
    {256, 12, 1044, 92, 2340, 180},
    {512, 12, 2242, 192, 4988, 370},
    {1024, 12, 5108, 431, 8563, 630},
    {2048, 1, 12108, 1565, 0, 3850},
    {4096, 1, 23942, 3070, 0, 12161},
    {8192, 1, 51078, 4944, 0, 23168},
    {16384, 1, 111046, 10566, 0, 44137},
    {32768, 1, 242374, 21004, 0, 80300},
    {65536, 1, 495046, 42718, 0, 159087},
    {131072, 1, 1013190, 85272, 0, 465162},
    {262144, 1, 2191624, 184302, 0, 1024993},
    {524288, 1, 4744456, 396385, 0, 0},
    {1048576, 1, 9690376, 809350, 0, 0},
    {2097152, 1, 19787016, 1649965, 0, 0},
    {4194304, 1, 40389896, 3367710, 0, 0},
};

int main(void)
{
    uint32_t longest = getenv("PENSTOCK_TEST_FULL") ? UINT32_C(1) << 22 : UINT32_C(1) << 18;
    for (size_t i = 0; i < sizeof table / sizeof *table && table[i].points <= longest; i++) {
        uint32_t batch = table[i].batch;
        struct qpu_fft_description description = {.points = table[i].points, .batch = batch, .qpus = 12};
        struct rig rig = rig_open(&description);
        memset(rig_input(&rig), 0, (size_t)8 * batch * table[i].points);
        if (rig_run(&rig, (struct qpu_emulator_options){0})) {
            uint64_t all = (rig.instructions + batch - 1) / batch, busiest = (rig.busiest + batch - 1) / batch;
            printf("%7u points: %" PRIu64 " instructions a transform, path %" PRIu64 "\n", table[i].points, all,
                   busiest);
            CHECK_EQ(all, table[i].all);
            CHECK_EQ(busiest, table[i].busiest);
            CHECK(!table[i].most_all || all <= table[i].most_all, "%u points", table[i].points);
            CHECK(!table[i].most_busiest || busiest <= table[i].most_busiest, "%u points", table[i].points);
        }
        rig_close(&rig);
    }
    return test_finish();
}
