/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Without a driver's libraries, with libraries that cannot be loaded and that lack functions: one row with the reason,
 * an error that says it, "prefer:" works. */
#include "test.h"

#include <penstock/penstock.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *reason_of(penstock_context *context, const char *kind)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    size_t count = 0;
    CHECK_OK(penstock_device_count(context, &count));
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(penstock_device_get(context, i, &info));
        if (!strncmp(info.name, kind, strlen(kind)))
            return info.reason ? info.reason : "present";
    }
    return "no row";
}

/* The loader is opened once in a process, so each case has its own. */
static void expect(const char *kind, const char *variable, const char *value, const char *reason)
{
    char prefer[32];
    penstock_context *context;
    penstock_plan *plan;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    snprintf(prefer, sizeof prefer, "prefer:%s", kind);
    setenv(variable, value, 1);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK(strstr(reason_of(context, kind), reason), "reason: %s", reason_of(context, kind));
    CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), kind), PENSTOCK_ERR_NO_DEVICE);
    CHECK(strstr(penstock_error_text(), reason), "text: %s", penstock_error_text());
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), prefer));
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK(!strcmp(info.device, "cpu"), "device %s", info.device);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

static void in_a_child(const char *kind, const char *variable, const char *value, const char *reason)
{
    int status = -1;
    pid_t child = fork();
    if (!child) {
        expect(kind, variable, value, reason);
        _exit(test_finish());
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "cannot start a process");
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%s=%s: status %d", variable, value, status);
}

/* A library that is there: one that needs a library that is not, and a file that is none. */
static void cannot_be_loaded(const char *kind, const char *variable)
{
    const char *lacking = getenv("PENSTOCK_TEST_LACKING");
    char name[] = P_tmpdir "/penstock-test-XXXXXX";
    int file = mkstemp(name);
    CHECK(lacking && file >= 0, "no library that lacks another, or no file");
    if (!lacking || file < 0)
        return;
    CHECK_EQ(write(file, "text", 4), 4);
    close(file);
    in_a_child(kind, variable, lacking, "cannot be loaded: libpenstock_lacked.so: ");
    in_a_child(kind, variable, name, "cannot be loaded: " P_tmpdir "/penstock-test-");
    unlink(name);
}

static void opencl(void)
{
    cannot_be_loaded("opencl", "PENSTOCK_OPENCL_LIBRARY");
    in_a_child("opencl", "PENSTOCK_OPENCL_LIBRARY", "libNoSuchOpenCL.so.1", "libNoSuchOpenCL.so.1 not found");
    in_a_child("opencl", "PENSTOCK_OPENCL_LIBRARY", "libm.so.6", "libm.so.6 has no cl");
}

/* The environment names the driver for tests. */
static void cuda(void)
{
    cannot_be_loaded("cuda", "PENSTOCK_CUDA_LIBRARY");
    cannot_be_loaded("cuda", "PENSTOCK_NVRTC_LIBRARY");
    in_a_child("cuda", "PENSTOCK_CUDA_LIBRARY", "libNoSuchCuda.so.1",
               "libNoSuchCuda.so.1 not found (no NVIDIA driver)");
    in_a_child("cuda", "PENSTOCK_CUDA_LIBRARY", "libm.so.6", "libm.so.6 has no cu");
    in_a_child("cuda", "PENSTOCK_NVRTC_LIBRARY", "libNoSuchNvrtc.so",
               "libNoSuchNvrtc.so not found: the same GPU serves through its OpenCL driver");
    in_a_child("cuda", "PENSTOCK_NVRTC_LIBRARY", "libm.so.6", "libm.so.6 has no nvrtc");
    in_a_child("cuda", "PENSTOCK_SHIM_GPUS", "none", "no GPU that it may use (cuInit: CUDA_ERROR_NO_DEVICE)");
    in_a_child("cuda", "PENSTOCK_SHIM_GPUS", "0", "the NVIDIA driver lists no GPU");
}

int main(int count, char **arguments)
{
    if (count > 1 && !strcmp(arguments[1], "cuda"))
        cuda();
    else
        opencl();
    return test_finish();
}
