/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel: every length, format and constellation passes the plan's own check, which knows the
 * max-log ratio by its definition; and what the kernel does not do is refused. */
#include "core/plan/executor.h"
#include "gpu_rig.h"

#include <math.h>
#include <string.h>

static unsigned cases;

static void check(struct rig *rig, size_t n, penstock_format format, unsigned bits, unsigned step)
{
    static uint32_t bins[8192];
    struct penstock__executor *executor;
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_OFDM,
                                       .in_bytes = penstock_format_bytes(format),
                                       .batch = 64,
                                       .ofdm = {.n = n, .format = format, .bits = bits, .bins = bins}};
    for (uint32_t k = (uint32_t)(n / 2 + 1 + n / 16); k < n + n / 2 - n / 16; k++) /* from the lowest carrier on */
        if (k % n && (step < 2 || k % step))
            bins[problem.ofdm.carrier_count++] = k % (uint32_t)n;
    problem.out_bytes = problem.ofdm.carrier_count * bits;
    int status = penstock__executor_new(&executor, rig->device, &problem, 1);
    CHECK(!status, "n %zu, %s, %u bits, pilots every %u: %s", n, penstock_format_name(format), bits, step,
          penstock_error_text());
    if (!status)
        CHECK(executor->state.kernels == 1 && executor->state.passes == 1, "n %zu: %u kernels", n,
              executor->state.kernels);
    penstock__executor_free(executor);
    cases++;
}

/* ---------------------------------------------------------------- any length ------------------ */

#define MOST_PILOTS 600
#define PILOT_ROWS  3

struct any {
    size_t n;
    penstock_format format;
    unsigned bits;
    unsigned pilot_every; /* 0: none */
    bool own, complete;
};

/* Pilots on every so many carriers from the third on, carriers in turn from both ends. */
static void fill(struct penstock_ofdm_problem *ofdm, unsigned every)
{
    static uint32_t bins[8192], pilots[MOST_PILOTS];
    static penstock_cf32 values[PILOT_ROWS * MOST_PILOTS];
    size_t most = ofdm->n - ofdm->n / 9, carriers = 0, count = 0;
    for (size_t i = 0; i < most; i++) {
        uint32_t bin = (uint32_t)(i % 2 ? ofdm->n - 1 - i / 2 : i / 2);
        if (every && i % every == 2 && count < MOST_PILOTS)
            pilots[count++] = bin;
        else if (i != 1) /* and one that is neither */
            bins[carriers++] = bin;
    }
    for (size_t i = 0; i < PILOT_ROWS * count; i++) {
        double angle = 0.7 * (double)(i / count + 1) * (double)(i % count), size = i % count % 2 ? 0.5 : 1.5;
        values[i] = (penstock_cf32){(float)(size * cos(angle)), (float)(size * sin(angle))};
    }
    ofdm->bins = bins;
    ofdm->carrier_count = carriers;
    ofdm->pilot_bins = pilots;
    ofdm->pilot_values = values;
    ofdm->pilot_count = count;
    ofdm->pilot_rows = count ? PILOT_ROWS : 0;
}

static void check_any(struct rig *rig, struct any any)
{
    struct penstock__executor *executor;
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_OFDM,
                                       .in_bytes = penstock_format_bytes(any.format),
                                       .batch = 64,
                                       .ofdm = {.n = any.n,
                                                .format = any.format,
                                                .bits = any.bits,
                                                .mixed = true,
                                                .own = any.own,
                                                .complete = any.complete}};
    fill(&problem.ofdm, any.pilot_every);
    problem.out_bytes = penstock__ofdm_row(&problem.ofdm);
    int status = penstock__executor_new(&executor, rig->device, &problem, 1);
    CHECK(!status, "n %zu, %s, %u bits, %zu pilots, own %d, complete %d: %s", any.n, penstock_format_name(any.format),
          any.bits, problem.ofdm.pilot_count, any.own, any.complete, penstock_error_text());
    if (!status) {
        CHECK(executor->state.kernels == 1 && executor->state.passes == 1, "n %zu: %u kernels", any.n,
              executor->state.kernels);
        printf("%zu: %s\n", any.n, executor->state.variant);
    }
    penstock__executor_free(executor);
    cases++;
}

/* A simpler variant than the first one is told in a warning. */
static void count_warning(void *user, penstock_log_level level, const char *line)
{
    if (level == PENSTOCK_LOG_WARNING && strstr(line, "goes on with variant")) {
        ++*(unsigned *)user;
        printf("%s\n", line);
    }
}

/* On a CPU a kernel takes its compiler seconds. */
static bool chosen(const struct rig *rig, size_t n, size_t bits, size_t i)
{
    if (getenv("PENSTOCK_TEST_FULL"))
        return true;
    return bits == i % 6 && (!rig->device->host_memory || n == 16 || n == 64);
}

static const struct any anys[] = {
    {64, PENSTOCK_CF32, 6, 12, true, true}, /* four pilots, as Wi-Fi */
    {600, PENSTOCK_CS16, 10, 6, true, true}, {1536, PENSTOCK_CS16, 6, 0, false, false},
    {127, PENSTOCK_CU8, 8, 9, true, false}, /* Rader's convolution on a CPU */
    {94, PENSTOCK_CS8, 4, 5, true, true},   /* Bluestein's */
};

int main(int count, char **arguments)
{
    static const unsigned bits[] = {1, 6, 4, 2, 8, 10};
    bool full = getenv("PENSTOCK_TEST_FULL");
    unsigned warnings = 0;
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments),
                          &PENSTOCK_CONTEXT_DESC(.log = count_warning, .log_user = &warnings));
    if (status)
        return status;
    for (size_t n = 16, i = 5; n <= 8192; n *= 2, i++)
        for (size_t b = 0; b < 6; b++)
            if (chosen(&rig, n, b, i))
                check(&rig, n, (penstock_format)(i % 4), bits[b], i % 3 ? 0 : 7);
    for (size_t i = 0; i < sizeof anys / sizeof anys[0]; i++)
        if (full || !rig.device->host_memory || i >= 2) /* tests/ops/test_ofdm.c has the likes of the others */
            check_any(&rig, anys[i]);
    printf("%u cases\n", cases);
    CHECK_EQ(cases, full ? 65 : rig.device->host_memory ? 5 : 15);
    CHECK_EQ(warnings, 0u);
    rig_close(&rig);
    return test_finish();
}
