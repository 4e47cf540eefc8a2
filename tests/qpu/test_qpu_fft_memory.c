/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans of the QPU's transforms when the host's memory runs out: an error, and everything is given back. Linked with
 * --wrap for malloc, calloc and free. */
#include "fft/fft.h"
#include "test.h"

static int fail_at, allocations, live;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void __wrap_free(void *memory);

static void *counted(void *memory)
{
    live += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return ++allocations == fail_at ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return ++allocations == fail_at ? NULL : counted(__real_calloc(count, bytes));
}

void __wrap_free(void *memory)
{
    live -= memory != NULL;
    __real_free(memory);
}

/* Fails allocation 1, 2, ... until the plan is made. */
static void sweep(const struct qpu_fft_description *description, int expected)
{
    int status = QPU_FFT_NO_MEMORY;
    for (fail_at = 1; status != QPU_FFT_OK && fail_at < 100; fail_at++) {
        struct qpu_fft_plan *plan;
        allocations = 0;
        status = qpu_fft_plan_new(&plan, description);
        CHECK(status == QPU_FFT_OK || (status == QPU_FFT_NO_MEMORY && !plan), "allocation %d: %d", fail_at, status);
        qpu_fft_plan_free(plan);
        CHECK_EQ(live, 0);
    }
    CHECK_EQ(fail_at - 2, expected);
}

int main(void)
{
    static const float window[256];
    const struct qpu_fft_description plain = {.points = 1024, .batch = 3, .qpus = 12};
    const struct qpu_fft_description windowed = {.points = 256, .batch = 3, .qpus = 12, .window = window};
    const struct qpu_fft_description too_large = {.points = 4194304, .batch = 100, .qpus = 12, .scale = 2};
    struct qpu_fft_plan *plan;
    sweep(&plain, 1);
    sweep(&windowed, 2);
    fail_at = 0;
    CHECK_EQ(qpu_fft_plan_new(&plan, &too_large), QPU_FFT_INVALID);
    CHECK_EQ(live, 0);
    return test_finish();
}
