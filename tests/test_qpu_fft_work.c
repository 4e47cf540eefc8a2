/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How many instructions the QPU's transforms take: exact on the emulator, so a change that makes them more shows. Up to
 * 1024 points in a batch of 12 on 12 QPUs, above one transform that all share. GPU_FFT's own numbers, of its eight QPUs
 * together and of the one with most, are the yardstick.
 */
#include "qpu_fft_rig.h"

static const struct {
    uint32_t points, batch;
    unsigned all, busiest; /* a transform, rounded up; the busiest QPU's over the batch, divided by it */
    unsigned most_all,
        most_busiest; /* 0.6 of GPU_FFT's, and what is allowed (1.1 times its above 1024); 0: not known */
} table[] = {
    {64, 12, 297, 30, 0, 0},
    {128, 12, 529, 50, 0, 0},
    {256, 12, 1029, 91, 2340, 180},
    {512, 12, 2210, 190, 4988, 370},
    {1024, 12, 5054, 427, 8563, 630},
    {2048, 1, 12044, 1555, 0, 3850},
    {4096, 1, 23710, 3038, 0, 12161},
    {8192, 1, 50638, 4902, 0, 23168},
    {16384, 1, 110286, 10494, 0, 44137},
    {32768, 1, 241038, 20889, 0, 80300},
    {65536, 1, 492302, 42482, 0, 159087},
    {131072, 1, 1007630, 84805, 0, 465162},
    {262144, 1, 2178408, 183192, 0, 1024993},
    {524288, 1, 4724072, 394683, 0, 0},
    {1048576, 1, 9649512, 805938, 0, 0},
    {2097152, 1, 19705192, 1643143, 0, 0},
    {4194304, 1, 40226152, 3354058, 0, 0},
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
