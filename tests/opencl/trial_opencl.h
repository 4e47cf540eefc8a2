/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the tests of broken OpenCL drivers share: time, a machine with PoCL alone behind opencl_shim.c, and plans on it.
 * The program is linked with --wrap=clock_gettime,--wrap=poll.
 */
#ifndef PENSTOCK_TEST_TRIAL_OPENCL_H
#define PENSTOCK_TEST_TRIAL_OPENCL_H

#include "core/base/memory.h"
#include "helper_script.h"

#include <penstock/penstock.h>

#include <dirent.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *driver, *helper;
static char hanging[300]; /* the file that tells of it */

/* ---------------------------------------------------------------- time ------------------------ */

/*
 * The library's clock and its wait, put in their places by the linker (--wrap). Half a minute, or what `leap_ms` says,
 * 0 for real time, goes by when the driver hangs and there is nothing more to read; else what is waited for a helper
 * counts a twentieth, so that a busy machine is no driver that hangs.
 */
static long long passed_ms, leap_ms = 30000;
static bool hangs_known;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    int status = __real_clock_gettime(clock, time);
    long long ns = time->tv_nsec + passed_ms % 1000 * 1000000;
    time->tv_sec += passed_ms / 1000 + (ns >= 1000000000) - (ns < 0);
    time->tv_nsec = (long)((ns + 1000000000) % 1000000000);
    return status;
}

static inline long long real_ms(void)
{
    struct timespec time;
    __real_clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int __real_poll(struct pollfd *files, nfds_t count, int milliseconds);
int __wrap_poll(struct pollfd *files, nfds_t count, int milliseconds);
int __wrap_poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    long long start = real_ms();
    bool hangs = !access(hanging, F_OK);
    int ready = __real_poll(files, count, milliseconds > 50 ? 50 : milliseconds);
    if (!leap_ms)
        return ready;
    passed_ms -= (real_ms() - start) * 19 / 20;
    if (!ready && hangs && !hangs_known) {
        hangs_known = true;
        passed_ms += leap_ms;
    }
    return ready;
}

static inline void forget_hanging(void)
{
    hangs_known = false;
    remove(hanging);
}

/* ---------------------------------------------------------------- a machine ------------------- */

static unsigned lines;
static char last_line[1024];

static inline void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level == PENSTOCK_LOG_DEBUG)
        return;
    lines++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static inline penstock_context *new_context(const char *cache_dir)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context,
                                  &PENSTOCK_CONTEXT_DESC(.threads = 2, .log = count_lines, .cache_dir = cache_dir)));
    lines = 0;
    return context;
}

/* Of the helper for OpenCL, since it was asked last. */
static inline unsigned tries(void)
{
    FILE *file = fopen(test_path("tries"), "r");
    unsigned count = 0;
    for (int c; file && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    remove(test_path("tries"));
    return count;
}

/* A driver that nobody has met: no result of this process or of the folder is about this name. */
static inline void install(const char *fault)
{
    static unsigned count;
    char name[700], folder[700];
    int used = snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(driver, '/') - driver), driver);
    for (unsigned i = 0; i <= count && used < 600; i++)
        used += snprintf(folder + used, sizeof folder - (size_t)used, "/.");
    count++;
    snprintf(name, sizeof name, "%s%s", folder, strrchr(driver, '/'));
    setenv("PENSTOCK_OPENCL_LIBRARY", name, 1);
    setenv("PENSTOCK_SHIM_FAULT", fault, 1);
    tries();
}

static inline void find_device(penstock_context *context, const char *name, penstock_device_info *info)
{
    size_t count = 0;
    *info = PENSTOCK_DEVICE_INFO;
    CHECK_OK(penstock_device_count(context, &count));
    for (size_t i = 0; i < count; i++)
        if (!penstock_device_get(context, i, info) && !strcmp(info->name, name))
            return;
    CHECK(false, "no row for %s", name);
}

/* What a plan of `device` runs on; "" and the error's text where there is none. Its values are right. */
static inline const char *plan_on(penstock_context *context, const char *device)
{
    static char name[64];
    static penstock_cf32 in[64] = {{1, 0}}, out[64];
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan = NULL;
    *name = 0;
    if (penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), device))
        return name;
    CHECK_OK(penstock_plan_get_info(plan, &info));
    snprintf(name, sizeof name, "%s", info.device);
    CHECK_OK(penstock_plan_run(plan, in, out, 1));
    CHECK(out[63].re == 1 && out[63].im == 0, "%s: %g %g", name, (double)out[63].re, (double)out[63].im);
    penstock_plan_free(plan);
    return name;
}

struct broken {
    const char *fault, *reason; /* which begins so */
    bool down;                  /* the helper goes down with it */
    bool kept;                  /* for other processes too */
};

static inline unsigned files_in(const char *folder, const char *start)
{
    const struct dirent *entry;
    DIR *entries = opendir(folder);
    unsigned count = 0;
    while (entries && (entry = readdir(entries)))
        count += !strncmp(entry->d_name, start, strlen(start));
    if (entries)
        closedir(entries);
    return count;
}

static inline void use_helper(const char *environment)
{
    char line[1200];
    snprintf(line, sizeof line, "[ $1 = opencl ] && echo >> '%s'\n%s exec '%s' \"$@\"", test_path("tries"), environment,
             helper);
    set_helper(line);
}

/* PoCL alone, whatever else the machine has, as far as the loader can be told. */
static inline void hide_others(void)
{
    char path[300];
    FILE *file;
    snprintf(path, sizeof path, "%s/vendors", test_folder);
    CHECK(!mkdir(path, 0700), "no folder for the vendors' files");
    setenv("OCL_ICD_VENDORS", path, 1);
    setenv("OCL_ICD_FILENAMES", "libpocl.so.2", 1); /* for loaders that read nothing else */
    setenv("PENSTOCK_CUDA_LIBRARY", "/none", 1);
    snprintf(path, sizeof path, "%s/vendors/pocl.icd", test_folder);
    if ((file = fopen(path, "w"))) {
        fputs("libpocl.so.2\n", file);
        fclose(file);
    }
}

/* Whether there are as many devices as the test is about; in the environment what tells the first from the second. */
static inline bool has_devices(size_t wanted)
{
    penstock_context *context = new_context("");
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    size_t at;
    char next[32];
    bool has = !penstock_device_find(context, "opencl:0", &at) && !penstock_device_get(context, at, &info);
    setenv("PENSTOCK_SHIM_FAULTY", has && wanted > 1 ? info.product : "", 1);
    for (size_t i = 1; i <= wanted && has; i++) {
        snprintf(next, sizeof next, "opencl:%zu", i);
        has = !penstock_device_find(context, next, &at) == (i < wanted);
    }
    penstock_context_free(context);
    return has;
}

/* Before anything else: a driver for tests, the helper, PoCL's devices. */
static inline bool trial_init(char **argv, const char *devices)
{
    driver = argv[1];
    helper = argv[2];
    setenv("POCL_DEVICES", devices, 1);
    CHECK(test_make_folder(), "no temporary folder");
    hide_others();
    helper_script_init("PENSTOCK_PROBE");
    use_helper("");
    snprintf(hanging, sizeof hanging, "%s/hangs", test_folder);
    setenv("PENSTOCK_SHIM_HANGS", hanging, 1);
    install("none");
    if (has_devices(strchr(devices, ' ') ? 2 : 1))
        return true;
    test_remove_folder();
    return false;
}

#endif
