/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Overlap-save in one kernel: every length and format passes the plan's own check against double precision, with taps
 * that leave blocks of even and odd length, in several parts, with values between the samples, left out, and turned. */
#include "core/plan/executor.h"
#include "gpu_rig.h"

static unsigned cases;

static void check(struct rig *rig, struct penstock_filter_problem filter)
{
    struct penstock__executor *executor;
    bool real = filter.format == PENSTOCK_F32;
    filter.partitions = filter.partitions ? filter.partitions : 1;
    filter.interpolation = filter.interpolation ? filter.interpolation : 1;
    filter.decimation = filter.decimation ? filter.decimation : 1;
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FILTER,
                                       .in_bytes = penstock_format_bytes(filter.format),
                                       .out_bytes = penstock__filter_values(&filter) *
                                                    (real ? sizeof(float) : sizeof(penstock_cf32)),
                                       .batch = 64,
                                       .filter = filter};
    int status = penstock__executor_new(&executor, rig->device, &problem, 1);
    CHECK(!status, "n %zu, %s, block %zu, %zu parts, interpolation %zu, decimation %zu: %s", filter.n,
          penstock_format_name(filter.format), filter.block, filter.partitions, filter.interpolation, filter.decimation,
          penstock_error_text());
    if (!status)
        CHECK(executor->state.kernels == 1 && executor->state.passes == 1, "n %zu: %u kernels", filter.n,
              executor->state.kernels);
    penstock__executor_free(executor);
    cases++;
}

static void check_lengths(struct rig *rig, bool all)
{
    for (size_t n = 16, i = 0; n <= 8192; n *= 2, i++)
        for (unsigned part = 0; part < 2; part++) {
            size_t taps = part ? n / 4 + 1 : n / 2;
            if (all || (part && (n == 32 || n == 64)))
                check(rig, (struct penstock_filter_problem){n, (penstock_format)(i % 4), n - taps + 1, taps - 1, 0, 0,
                                                            0, part == 1});
        }
}

static void check_forms(struct rig *rig, bool all)
{
    static const struct penstock_filter_problem forms[] = {
        {64, PENSTOCK_F32, 40, 20, 1, 1, 5, false},       {64, PENSTOCK_CF32, 32, 32, 3, 1, 1, false},
        {32, PENSTOCK_CS16, 15, 16, 2, 1, 3, true},       {16, PENSTOCK_F32, 8, 8, 4, 1, 1, false},
        {256, PENSTOCK_F32, 200, 56, 1, 1, 1, false},     {512, PENSTOCK_CU8, 250, 260, 2, 1, 10, true},
        {1024, PENSTOCK_CF32, 310, 714, 1, 1, 1, true},   {1024, PENSTOCK_CF32, 310, 714, 1, 1, 5, true},
        {2048, PENSTOCK_CS8, 1024, 1024, 5, 1, 1, true},  {4096, PENSTOCK_CF32, 2048, 2048, 9, 1, 1, false},
        {8192, PENSTOCK_CF32, 4096, 4096, 3, 1, 1, true}, {8192, PENSTOCK_F32, 4096, 4096, 17, 1, 64, false},
        {64, PENSTOCK_CF32, 40, 20, 1, 3, 1, false},      {32, PENSTOCK_CS16, 14, 16, 1, 2, 7, true},
        {16, PENSTOCK_F32, 8, 8, 1, 5, 4, false},         {256, PENSTOCK_CS8, 200, 56, 1, 16, 1, true},
        {512, PENSTOCK_F32, 256, 256, 1, 4, 1, false},    {1024, PENSTOCK_CF32, 900, 124, 1, 4, 3, true},
        {2048, PENSTOCK_CU8, 1024, 1000, 1, 2, 1, true},  {4096, PENSTOCK_CF32, 3968, 128, 1, 4, 1, false},
        {4096, PENSTOCK_F32, 2048, 2048, 1, 3, 2, false}, {8192, PENSTOCK_CS16, 4096, 4096, 1, 2, 1, true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (all || forms[i].n <= 64)
            check(rig, forms[i]);
}

int main(int count, char **arguments)
{
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    bool all = getenv("PENSTOCK_TEST_FULL") || !rig.device->host_memory;
    check_lengths(&rig, all);
    check_forms(&rig, all);
    printf("%u cases\n", cases);
    CHECK_EQ(cases, all ? 42 : 9);
    rig_close(&rig);
    return test_finish();
}
