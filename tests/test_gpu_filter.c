/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Overlap-save in one kernel: every length and format passes the plan's own check against double precision, with taps
 * that leave blocks of even and odd length. */
#include "core/binding.h"
#include "gpu_rig.h"

static unsigned cases;

static void check(struct rig *rig, size_t n, penstock_format format, size_t taps)
{
    struct penstock__binding *binding;
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FILTER,
                                       .in_bytes = penstock_format_bytes(format),
                                       .out_bytes = (n - taps + 1) * sizeof(penstock_cf32),
                                       .batch = 64,
                                       .filter = {n, format, n - taps + 1, taps - 1}};
    int status = penstock__binding_new(&binding, rig->device, &problem, 1);
    CHECK(!status, "n %zu, %s, %zu taps: %s", n, penstock_format_name(format), taps, penstock_error_text());
    if (!status)
        CHECK(binding->state.kernels == 1 && binding->state.passes == 1, "n %zu: %u kernels", n,
              binding->state.kernels);
    penstock__binding_free(binding);
    cases++;
}

int main(int count, char **arguments)
{
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    bool all = getenv("PENSTOCK_TEST_FULL") || !rig.device->host_memory;
    unsigned expected = all ? 20 : 2;
    for (size_t n = 16, i = 0; n <= 8192; n *= 2, i++)
        for (unsigned part = 0; part < 2; part++)
            if (all || (part && (n == 32 || n == 64)))
                check(&rig, n, (penstock_format)(i % 4), part ? n / 4 + 1 : n / 2);
    printf("%u cases\n", cases);
    CHECK_EQ(cases, expected);
    rig_close(&rig);
    return test_finish();
}
