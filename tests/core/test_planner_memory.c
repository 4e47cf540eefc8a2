/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Plans on the CPU in a process that may take little more memory than it has: each limit from next to nothing to more
 * than enough gives a plan or an error, and never ends the process, as FFTW's planner does where it gets no memory.
 */
#include "test.h"

#include <penstock/penstock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 96 << 10, MOST = 9 << 20, PLANNED = 0, REFUSED = 3, WRONG = 4 };

static size_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;
    CHECK(file && fscanf(file, "%zu", &pages) == 1 && !fclose(file), "no /proc/self/statm");
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* In a child, with so many bytes more than there are. */
static void make_plan(penstock_context *context, size_t n, size_t more)
{
    struct rlimit limit = {.rlim_cur = address_space() + more, .rlim_max = RLIM_INFINITY};
    penstock_plan *plan = NULL;
    if (!freopen("/dev/null", "w", stderr) || setrlimit(RLIMIT_AS, &limit))
        _exit(WRONG);
    int status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n), "cpu");
    if (status)
        _exit(status == PENSTOCK_ERR_MEMORY && *penstock_error_text() && !plan ? REFUSED : WRONG);
    penstock_plan_free(plan);
    _exit(PLANNED);
}

static void sweep(penstock_context *context, size_t n)
{
    int planned = 0, refused = 0;
    for (size_t more = 0; more < MOST; more += STEP) {
        int status = -1;
        pid_t child = fork();
        if (!child)
            make_plan(context, n, more);
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
        CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == PLANNED || WEXITSTATUS(status) == REFUSED),
              "%zu points with %zu bytes: %#x", n, more, status);
        planned += WIFEXITED(status) && WEXITSTATUS(status) == PLANNED;
        refused += WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
    }
    CHECK(planned && refused, "%zu points: %d plans, %d errors", n, planned, refused);
    printf("%zu points: %d plans, %d errors\n", n, planned, refused);
}

/* What the first plan of a process loads, and a stack that needs not grow: where that fails, the system ends it. */
static void warm_up(penstock_context *context)
{
    volatile char stack[1 << 20];
    penstock_plan *plan = NULL;
    for (size_t i = 0; i < sizeof stack; i += 4096)
        stack[i] = 1;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 12), "cpu"));
    penstock_plan_free(plan);
}

int main(void)
{
    static const size_t lengths[] = {7, 240, 1000, 1021, 4096};
    penstock_context *context;
    if (SANITIZED)
        return test_skip("a sanitizer's own memory does not fit such limits");
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "")));
    warm_up(context);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        sweep(context, lengths[i]);
    penstock_context_free(context);
    return test_finish();
}
