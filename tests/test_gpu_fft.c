/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The transforms of a GPU backend against double precision: every length, both directions, every variant; lengths that
 * are refused. PENSTOCK_TEST_FULL=1 runs all combinations; else the simple variants and the reverse are sampled.
 */
#include "gpu_rig.h"

static bool sampled(size_t n)
{
    return n == 8 || n == 64 || n == 1024 || getenv("PENSTOCK_TEST_FULL");
}

static void refusals(struct rig *rig)
{
    static const size_t lengths[] = {1, 3, 600, 8191, 16384};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct penstock_problem problem = rig_problem((struct penstock_fft_problem){.n = lengths[i]});
        char text[80];
        snprintf(text, sizeof text, "length %zu is not a power of two from 2 to 8192", lengths[i]);
        CHECK_EQ(rig->backend->supports(rig->device, &problem), PENSTOCK_ERR_UNSUPPORTED);
        CHECK(strstr(penstock_error_text(), text), "text: %s", penstock_error_text());
    }
}

int main(int count, char **arguments)
{
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    for (size_t n = 2; n <= 8192; n *= 2) {
        rig_check(&rig, (struct penstock_fft_problem){.n = n}, 0, "forward");
        for (unsigned variant = 1; variant < 4 && sampled(n); variant++)
            rig_check(&rig, (struct penstock_fft_problem){.n = n}, variant, "forward");
        if (sampled(n))
            rig_check(&rig, (struct penstock_fft_problem){.n = n, .direction = PENSTOCK_REVERSE}, 0, "reverse");
    }
    refusals(&rig);
    rig_close(&rig);
    CHECK(rig_cases >= (rig_max_n() < 8192 ? 4 : 20), "only %u cases ran", rig_cases);
    printf("%u cases, worst error %.2f of what is allowed\n", rig_cases, rig_worst);
    return test_finish();
}
