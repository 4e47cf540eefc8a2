/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An OpenCL driver that crashes costs its device, with a reason, and nothing else. Argument: the driver. */
#include "backends/opencl/opencl.h"
#include "core/base/memory.h"
#include "folder.h"

#include <penstock/penstock.h>

/* Loaders read the names of drivers from the files of this folder, or know the variable with the driver itself. */
static void install_driver(const char *driver)
{
    char path[256];
    FILE *file;
    snprintf(path, sizeof path, "%s/crash.icd", test_folder);
    CHECK((file = fopen(path, "w")) != NULL, "cannot write %s", path);
    fprintf(file, "%s\n", driver);
    fclose(file);
    setenv("OCL_ICD_VENDORS", test_folder, 1);
    setenv("OCL_ICD_FILENAMES", driver, 1);
}

/* A result is about the drivers that were there: another name or another file of OCL_ICD_FILENAMES wants a new one,
 * and so do PoCL's variables. */
static void check_key(void)
{
    enum { BYTES = 4096 };
    char key[3][BYTES], names[300];
    FILE *file;
    snprintf(names, sizeof names, "libother.so:%s/driver.so", test_folder);
    for (int i = 0; i < 3; i++) {
        CHECK((file = fopen(strchr(names, '/'), "a")) != NULL, "cannot write %s", names);
        fputs(i == 2 ? "longer" : "", file);
        fclose(file);
        penstock__opencl_driver_key(key[i], BYTES);
        setenv("OCL_ICD_FILENAMES", names, 1);
    }
    CHECK(strcmp(key[0], key[1]), "a driver was named, and the key is the same: %s", key[0]);
    CHECK(strcmp(key[1], key[2]), "the driver's file has changed, and the key is the same: %s", key[1]);
    unsetenv("OCL_ICD_FILENAMES");
    for (int i = 0; i < 3; i++) {
        penstock__opencl_driver_key(key[i], BYTES);
        setenv(i ? "POCL_MAX_WORK_GROUP_SIZE" : "POCL_CACHE_DIR", i ? "0" : test_folder, 1);
    }
    CHECK(!strcmp(key[0], key[1]), "where PoCL keeps kernels is part of the key: %s, %s", key[0], key[1]);
    CHECK(strcmp(key[1], key[2]), "PoCL has other limits, and the key is the same: %s", key[1]);
    unsetenv("POCL_MAX_WORK_GROUP_SIZE");
    unsetenv("POCL_CACHE_DIR");
}

/* Why there is no OpenCL device. */
static void read_reason(char reason[256])
{
    penstock_context *context;
    penstock_plan *plan;
    size_t count;
    *reason = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    CHECK_OK(penstock_device_count(context, &count));
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        CHECK_OK(penstock_device_get(context, i, &info));
        if (!strncmp(info.name, "opencl", 6))
            snprintf(reason, 256, "%s", info.reason ? info.reason : "present");
    }
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), "auto"));
    penstock_plan_free(plan);
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), "prefer:opencl"));
    penstock_plan_free(plan);
    CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), "opencl"), PENSTOCK_ERR_NO_DEVICE);
    penstock_context_free(context);
}

int main(int argc, char **argv)
{
    char reason[256];
    if (argc != 2)
        return test_skip("the path of a driver that crashes is needed");
    CHECK(test_make_folder(), "no temporary folder");
    unsetenv("OCL_ICD_FILENAMES");
    check_key();
    install_driver(argv[1]);
    for (int i = 0; i < 2; i++) { /* found out, then remembered */
        read_reason(reason);
        if (strstr(reason, "not found"))
            return test_skip(reason);
        CHECK(!strcmp(reason, "the driver crashed while it was probed (signal 11)"), "the reason is '%s'", reason);
    }
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
