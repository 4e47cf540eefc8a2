/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel: every length, format and constellation passes the plan's own check, which knows the
 * max-log ratio by its definition; and what the kernel does not do is refused. */
#include "core/binding.h"
#include "gpu_rig.h"

static unsigned cases;

static void check(struct rig *rig, size_t n, penstock_format format, unsigned bits, unsigned step)
{
    static uint32_t bins[8192];
    struct penstock__binding *binding;
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_OFDM,
                                       .in_bytes = penstock_format_bytes(format),
                                       .batch = 64,
                                       .ofdm = {.n = n, .format = format, .bits = bits, .bins = bins}};
    for (uint32_t k = (uint32_t)(n / 2 + 1 + n / 16); k < n + n / 2 - n / 16; k++) /* from the lowest carrier on */
        if (k % n && (step < 2 || k % step))
            bins[problem.ofdm.carrier_count++] = k % (uint32_t)n;
    problem.out_bytes = problem.ofdm.carrier_count * bits;
    int status = penstock__binding_new(&binding, rig->device, &problem, 1);
    CHECK(!status, "n %zu, %s, %u bits, pilots every %u: %s", n, penstock_format_name(format), bits, step,
          penstock_error_text());
    if (!status)
        CHECK(binding->state.kernels == 1 && binding->state.passes == 1, "n %zu: %u kernels", n,
              binding->state.kernels);
    penstock__binding_free(binding);
    cases++;
}

/* On a CPU a kernel takes its compiler seconds. */
static bool chosen(const struct rig *rig, size_t n, size_t bits, size_t i)
{
    if (getenv("PENSTOCK_TEST_FULL"))
        return true;
    return bits == i % 6 && (!rig->device->host_memory || n == 16 || n == 64);
}

int main(int count, char **arguments)
{
    static const unsigned bits[] = {1, 6, 4, 2, 8, 10};
    bool full = getenv("PENSTOCK_TEST_FULL");
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    for (size_t n = 16, i = 5; n <= 8192; n *= 2, i++)
        for (size_t b = 0; b < 6; b++)
            if (chosen(&rig, n, b, i))
                check(&rig, n, (penstock_format)(i % 4), bits[b], i % 3 ? 0 : 7);
    printf("%u cases\n", cases);
    CHECK_EQ(cases, full ? 60 : rig.device->host_memory ? 2 : 10);
    rig_close(&rig);
    return test_finish();
}
