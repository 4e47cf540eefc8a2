/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Kernel sources from a folder: used instead of the packed ones; errors in them, and missing files, in one line. */
#include "folder.h"

#include <penstock/penstock.h>

#include <sys/stat.h>
#include <unistd.h>

#define N 16

static const char *const files[] = {"portability.h", "load.h", "store.h", "numbers.h",  "dft.h",
                                    "stages.h",      "fold.h", "real.h",  "convolve.h", "fft.cl"};

/* Copies kernels/NAME, then a line of the test's. */
static void copy(const char *folder, const char *name, const char *extra)
{
    char from[600], to[600], line[1024];
    FILE *in, *out;
    snprintf(from, sizeof from, "kernels/%s", name);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    in = fopen(from, "r");
    out = fopen(to, "w");
    CHECK(in && out, "cannot copy %s to %s", from, to);
    while (in && out && fgets(line, sizeof line, in))
        fputs(line, out);
    if (out)
        fprintf(out, "%s\n", extra);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

/* The transform of an impulse at 0 with the sources in `folder`: all values are the one in out[0]. */
static int transform(const char *folder, const char *device, float *value)
{
    static penstock_cf32 in[N] = {{1, 0}}, out[N];
    penstock_context *context;
    penstock_plan *plan = NULL;
    int status;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.kernel_path = folder, .cache_dir = "")));
    status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device);
    if (!status)
        status = penstock_plan_run(plan, in, out, 1);
    *value = out[N - 1].re;
    penstock_plan_free(plan);
    penstock_context_free(context);
    return status;
}

int main(void)
{
    float value;
    int status = transform(NULL, "opencl", &value);
    if (status == PENSTOCK_ERR_NO_DEVICE)
        return test_skip(penstock_error_text());
    CHECK_OK(status);
    CHECK(value == 1, "an impulse gives %g", (double)value);

    CHECK(test_make_folder(), "cannot make a folder");
    CHECK_EQ(transform(test_folder, "opencl", &value), PENSTOCK_ERR_FILE);
    CHECK(strstr(penstock_error_text(), "portability.h"), "text: %s", penstock_error_text());
    CHECK_OK(transform(test_folder, "prefer:opencl", &value));

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        copy(test_folder, files[i], "");
    CHECK_OK(transform(test_folder, "opencl", &value));

    copy(test_folder, "store.h", "this is no C;");
    CHECK_EQ(transform(test_folder, "opencl", &value), PENSTOCK_ERR_DEVICE);
    CHECK(strstr(penstock_error_text(), "CL_BUILD_PROGRAM_FAILURE") && strstr(penstock_error_text(), "store.h"),
          "text: %s", penstock_error_text());

    /* A kernel that computes the wrong thing is found out before anybody sees its results. */
    copy(test_folder, "store.h", "#undef SCALE\n#define SCALE 1.01f");
    CHECK_EQ(transform(test_folder, "opencl", &value), PENSTOCK_ERR_CHECK);

    test_remove_folder();
    return test_finish();
}
