/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A GPU is lost in mid-work: by name every call is an error with text, with "prefer:" the CPU goes on and no sample is
 * lost, also of what was on its way. Argument: cuda or opencl.
 *
 * A kernel that is not the library's writes where there is no memory; the driver then fails all that is asked of that
 * context, for good. OpenCL's context is reached by way of the driver for tests, put before the real one
 * (PENSTOCK_OPENCL_LIBRARY). Only on a GPU of NVIDIA: elsewhere such a kernel may end the process. With
 * PENSTOCK_SHIM_GPU the GPU is one for tests only, and every call of its driver fails from then on.
 *
 * Each case has a process of its own, as a lost context stays lost.
 */
#include "device.h"
#include "gpu_uses.h"
#include "shim_calls.h"
#include "stray_kernel.h"

#include <sys/wait.h>
#include <unistd.h>

static const char *kind;   /* "cuda" */
static char device[32];    /* "cuda:0" */
static char preferred[40]; /* "prefer:cuda:0" */
static bool stray;         /* how it is lost */
static int warnings;
static penstock_context *context;
static penstock_cf32 samples[USE_SAMPLES], want[USE_VALUES], got[USE_VALUES];

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    warnings += level == PENSTOCK_LOG_WARNING;
    if (level == PENSTOCK_LOG_WARNING)
        printf("  %s\n", line);
}

static void lose(void)
{
    if (!stray)
        shim.fail_from(0);
    else
        CHECK(!strcmp(kind, "cuda") ? lose_cuda(atoi(device + strlen("cuda:"))) : shim.lose(),
              "the driver says nothing of a kernel that writes where there is no memory");
}

/* ---------------------------------------------------------------- uses ------------------------ */

static struct gpu_work run(const struct gpu_use *use, const char *on, void (*halfway)(void), int *status)
{
    struct gpu_work work = {.context = context, .device = on, .halfway = halfway, .samples = samples, .values = got};
    memset(got, 0, sizeof got);
    *status = use->run(&work);
    return work;
}

/* What the CPU makes of it, in `want`; how many values. */
static size_t make_want(const struct gpu_use *use)
{
    int status;
    struct gpu_work work = run(use, "cpu", NULL, &status);
    CHECK_OK(status);
    memcpy(want, got, sizeof want);
    return work.made;
}

static void check_values(const struct gpu_use *use, size_t made, size_t expected)
{
    double error = 0, norm = 0;
    CHECK(made == expected, "%zu values of %zu", made, expected);
    for (size_t i = 0; i < expected; i++) {
        error += pow((double)got[i].re - (double)want[i].re, 2) + pow((double)got[i].im - (double)want[i].im, 2);
        norm += pow((double)want[i].re, 2) + pow((double)want[i].im, 2);
    }
    CHECK(norm > 0 && sqrt(error / norm) < use->bound, "values differ by %g", sqrt(error / norm));
}

/* ---------------------------------------------------------------- cases ----------------------- */

/* What comes after the loss, in the same process: the next plan, and the next context's. */
static void check_after(void)
{
    const struct gpu_use *plan = &gpu_uses[0];
    size_t expected = make_want(plan);
    int status;
    for (int i = 0; i < 2; i++) {
        run(plan, device, NULL, &status);
        CHECK(status && *penstock_error_text(), "another plan on the lost device: %d", status);
        printf("  then: %s\n", penstock_error_text());
        struct gpu_work work = run(plan, preferred, NULL, &status);
        CHECK_OK(status);
        check_values(plan, work.made, expected);
        penstock_context_free(context);
        CHECK_OK(penstock_context_new(&context, NULL));
    }
}

static void lose_by_name(const struct gpu_use *use, size_t expected)
{
    int status;
    struct gpu_work work = run(use, device, lose, &status);
    CHECK(status == PENSTOCK_ERR_DEVICE && strstr(penstock_error_text(), device), "%d, '%s'", status,
          penstock_error_text());
    CHECK(work.made < expected, "%zu values of %zu in spite of an error", work.made, expected);
    printf("  %s\n", penstock_error_text());
    check_after();
}

static void lose_preferred(const struct gpu_use *use, size_t expected)
{
    int status;
    struct gpu_work work = run(use, preferred, lose, &status);
    CHECK_OK(status);
    check_values(use, work.made, expected);
    CHECK(!strcmp(work.at_last, "cpu"), "the device is '%s'", work.at_last);
    CHECK(warnings >= 1 && warnings <= use->plans, "%d log lines", warnings);
}

static int run_case(const struct gpu_use *use, void (*lose_it)(const struct gpu_use *use, size_t expected))
{
    size_t expected;
    int status = test_device(&context, device);
    if (status)
        return status;
    penstock_context_free(context);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_warnings)));
    expected = make_want(use);
    lose_it(use, expected);
    penstock_context_free(context);
    return test_finish();
}

/* In a process of its own: its exit status. */
static int run_apart(const struct gpu_use *use, void (*lose_it)(const struct gpu_use *use, size_t expected),
                     const char *name)
{
    int status = 0;
    pid_t child;
    printf("%s, %s:\n", use->name, name);
    fflush(stdout);
    if (!(child = fork())) {
        test_checks = test_failures = 0;
        status = run_case(use, lose_it);
        fflush(stdout);
        _exit(status);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no process");
    CHECK(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---------------------------------------------------------------- the device ------------------ */

/* The first that will do, into `device`. */
static void find_device(void)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    size_t count = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(penstock_device_count(context, &count));
    for (size_t i = 0; i < count && !*device; i++)
        if (!penstock_device_get(context, i, &info) && !strncmp(info.name, kind, strlen(kind)) &&
            strchr(info.name, ':') && (!stray || strstr(info.product, "NVIDIA")))
            snprintf(device, sizeof device, "%s", info.name);
    penstock_context_free(context);
}

/* In another process, as no driver may be in this one, which makes more. */
static bool name_device(void)
{
    int ends[2], status = -1;
    pid_t child = pipe(ends) ? -1 : fork();
    ssize_t count;
    if (!child) {
        find_device();
        CHECK(write(ends[1], device, sizeof device) == sizeof device, "a pipe that takes nothing");
        _exit(test_failures != 0);
    }
    if (child < 0)
        return false;
    close(ends[1]);
    count = read(ends[0], device, sizeof device);
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child && !status && count == sizeof device, "no list of devices: %d", status);
    snprintf(preferred, sizeof preferred, "prefer:%s", device);
    return *device;
}

int main(int count, char **arguments)
{
    uint64_t seed = 1;
    kind = count > 1 ? arguments[1] : "cuda";
    stray = !getenv("PENSTOCK_SHIM_GPU");
    shim_load("PENSTOCK_OPENCL_LIBRARY");
    if (stray ? strcmp(kind, "cuda") && !shim.lose : !shim.fail_from)
        return test_skip("PENSTOCK_OPENCL_LIBRARY does not name the driver for tests");
    if (!name_device() && !test_failures)
        return test_skip(stray ? "no GPU of NVIDIA" : "no device");
    for (size_t i = 0; i < 2 * USE_SAMPLES; i++)
        (&samples[0].re)[i] = (float)test_uniform(&seed);
    for (const struct gpu_use *use = gpu_uses; use < gpu_uses + GPU_USES && *device; use++) {
        CHECK_EQ(run_apart(use, lose_by_name, device), 0);
        CHECK_EQ(run_apart(use, lose_preferred, preferred), 0);
    }
    return test_finish();
}
