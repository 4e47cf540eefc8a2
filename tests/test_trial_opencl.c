/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OpenCL drivers that list their devices and are broken when these are used: what was found out in the helper's process
 * keeps this one alive. Arguments: the driver for tests (opencl_shim.c), the helper; "two": with two devices, one of
 * them broken.
 */
#include "core/memory.h"
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
 * The library's clock and its wait, put in their places by the linker (--wrap). Half a minute goes by when the driver
 * hangs and there is nothing more to read; else what is waited for a helper counts a twentieth, so that a busy machine
 * is no driver that hangs.
 */
static long long passed_ms;
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

static long long real_ms(void)
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
    passed_ms -= (real_ms() - start) * 19 / 20;
    if (!ready && hangs && !hangs_known) {
        hangs_known = true;
        passed_ms += 30000;
    }
    return ready;
}

static void forget_hanging(void)
{
    hangs_known = false;
    remove(hanging);
}

/* ---------------------------------------------------------------- a machine ------------------- */

static unsigned lines;
static char last_line[1024];

static void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level == PENSTOCK_LOG_DEBUG)
        return;
    lines++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static penstock_context *new_context(const char *cache_dir)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context,
                                  &PENSTOCK_CONTEXT_DESC(.threads = 2, .log = count_lines, .cache_dir = cache_dir)));
    lines = 0;
    return context;
}

/* Of the helper for OpenCL, since it was asked last. */
static unsigned tries(void)
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

/* A driver that nobody has met: no verdict of this process or of the folder is about this name. */
static void install(const char *fault)
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

static void find_device(penstock_context *context, const char *name, penstock_device_info *info)
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
static const char *plan_on(penstock_context *context, const char *device)
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

/* ---------------------------------------------------------------- one broken device ----------- */

struct broken {
    const char *fault, *reason; /* which begins so */
    bool down;                  /* the helper goes down with it */
    bool kept;                  /* for other processes too */
};

static const struct broken broken[] = {
    {"context-crash", "the driver crashed while it made a context (signal 11)", true, true},
    {"build-crash", "the driver crashed while it compiled a first kernel (signal 11)", true, true},
    {"build-exit", "the driver ended the process that probed it (exit code 127), while it compiled a first kernel",
     true, true},
    {"build-hang", "the driver did not answer within 20 s while it compiled a first kernel", true, false},
    {"build-error",
     "the driver fails with a first kernel: clBuildProgram: CL_BUILD_PROGRAM_FAILURE: trial.cl:9: error: this compiler "
     "is ?[1mbroken",
     false, false},
    {"run-crash", "the driver crashed while it ran a first kernel (signal 11)", true, true},
    {"run-wrong", "the driver fails with a first kernel: value 0 of a first kernel is 64, it should be ", false, false},
    {"wait-crash", "the driver crashed while it ran a first kernel (signal 11)", true, true},
};

static void all_ways(const struct broken *b, const char *cache_dir)
{
    penstock_context *context = new_context(cache_dir);
    penstock_device_info info;
    find_device(context, "opencl:0", &info);
    CHECK(info.reason && !strncmp(info.reason, b->reason, strlen(b->reason)), "%s: the reason is '%s'", b->fault,
          info.reason);
    CHECK_EQ(lines, 0);
    for (int i = 0; i < 2; i++) { /* one line a context */
        CHECK(!strcmp(plan_on(context, "auto"), "cpu"), "%s: auto is not on the CPU", b->fault);
        CHECK(lines == 1 && strstr(last_line, b->reason), "%s: %u lines, '%s'", b->fault, lines, last_line);
    }
    lines = 0;
    CHECK(!strcmp(plan_on(context, "prefer:opencl"), "cpu"), "%s: prefer: is not on the CPU", b->fault);
    CHECK(lines == 1 && strstr(last_line, b->reason), "%s: %u lines, '%s'", b->fault, lines, last_line);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "opencl:0" : "opencl";
        CHECK(!*plan_on(context, name) && strstr(penstock_error_text(), b->reason), "%s: %s: '%s'", b->fault, name,
              penstock_error_text());
    }
    CHECK_EQ(lines, 1);
    penstock_context_free(context);
}

static unsigned verdicts_in(const char *folder)
{
    const struct dirent *entry;
    DIR *entries = opendir(folder);
    unsigned count = 0;
    while (entries && (entry = readdir(entries)))
        count += !strncmp(entry->d_name, "probe-opencl-", 13);
    if (entries)
        closedir(entries);
    return count;
}

/* Without a cache folder, with one that cannot be, and with one. */
static void break_device(const struct broken *b)
{
    char cache[300];
    snprintf(cache, sizeof cache, "%s/%s", test_folder, b->fault);
    install(b->fault);
    all_ways(b, "");
    CHECK(tries() == (b->down ? 2u : 1u), "%s: not one helper up to the device and one behind it", b->fault);
    all_ways(b, "/proc/none/penstock");
    CHECK_EQ(tries(), 0);
    forget_hanging();
    if (!strncmp(b->fault, "run", 3) || !strncmp(b->fault, "wait", 4)) /* which take the compiler's time */
        return;
    install(b->fault);
    all_ways(b, cache);
    all_ways(b, cache);
    CHECK(tries() == (b->down ? 2u : 1u), "%s: a verdict about another driver was taken", b->fault);
    CHECK(verdicts_in(cache) == b->kept, "%s: %u verdicts in the folder", b->fault, verdicts_in(cache));
    forget_hanging();
}

/* ---------------------------------------------------------------- what goes on ---------------- */

static void healthy_device(void)
{
    penstock_context *context;
    penstock_device_info info;
    install("none");
    for (int i = 0; i < 2; i++) {
        context = new_context("");
        find_device(context, "opencl:0", &info);
        CHECK(!info.reason, "it is absent: %s", info.reason);
        CHECK(!strcmp(plan_on(context, "opencl"), "opencl:0"), "%s", penstock_error_text());
        CHECK_EQ(lines, 0);
        penstock_context_free(context);
    }
    CHECK_EQ(tries(), 1);
}

/* The first device breaks the driver, the other one goes on. */
static void two_devices(void)
{
    penstock_context *context;
    penstock_device_info info[2];
    install("build-crash");
    context = new_context("");
    find_device(context, "opencl:0", &info[0]);
    find_device(context, "opencl:1", &info[1]);
    CHECK(info[0].reason, "%s is there", info[0].product);
    CHECK(!info[1].reason, "%s is absent: %s", info[1].product, info[1].reason);
    CHECK(!strcmp(plan_on(context, "opencl"), "opencl:1"), "'opencl' is not the second: %s", penstock_error_text());
    CHECK(!*plan_on(context, "opencl:0") && strstr(penstock_error_text(), info[0].reason), "%s", penstock_error_text());
    CHECK_EQ(lines, 0);
    CHECK(*plan_on(context, "auto"), "%s", penstock_error_text());
    CHECK(lines == 1 && strstr(last_line, "auto leaves out opencl:0: the driver "), "%u lines, '%s'", lines, last_line);
    penstock_context_free(context);
    CHECK_EQ(tries(), 2);
}

static void use_helper(const char *environment)
{
    char line[1200];
    snprintf(line, sizeof line, "[ $1 = opencl ] && echo >> '%s'\n%s exec '%s' \"$@\"", test_path("tries"), environment,
             helper);
    set_helper(line);
}

/* A device that the helper does not find is not used untried; it is once a helper has found it. */
static void unknown_device(void)
{
    penstock_context *context;
    penstock_device_info info[2];
    install("none");
    use_helper("POCL_DEVICES=pthread");
    context = new_context("");
    find_device(context, "opencl:0", &info[0]);
    find_device(context, "opencl:1", &info[1]);
    CHECK(info[0].reason && strstr(info[0].reason, "did not find it"), "%s is there", info[0].product);
    CHECK(!info[1].reason, "%s is absent: %s", info[1].product, info[1].reason);
    CHECK(!*plan_on(context, "opencl:0") && strstr(penstock_error_text(), "did not find it"), "%s",
          penstock_error_text());
    CHECK(!strcmp(plan_on(context, "opencl"), "opencl:1"), "'opencl' is not the second: %s", penstock_error_text());
    penstock_context_free(context);
    use_helper("");
    context = new_context("");
    find_device(context, "opencl:0", &info[0]);
    CHECK(!info[0].reason, "%s is absent: %s", info[0].product, info[0].reason);
    CHECK(!strcmp(plan_on(context, "opencl:0"), "opencl:0"), "%s", penstock_error_text());
    penstock_context_free(context);
    CHECK_EQ(tries(), 2);
}

/* PoCL alone, whatever else the machine has. */
static void hide_others(void)
{
    char path[300];
    FILE *file;
    snprintf(path, sizeof path, "%s/vendors", test_folder);
    CHECK(!mkdir(path, 0700), "no folder for the vendors' files");
    setenv("OCL_ICD_VENDORS", path, 1);
    unsetenv("OCL_ICD_FILENAMES");
    setenv("PENSTOCK_CUDA_LIBRARY", "/none", 1);
    snprintf(path, sizeof path, "%s/vendors/pocl.icd", test_folder);
    if ((file = fopen(path, "w"))) {
        fputs("libpocl.so.2\n", file);
        fclose(file);
    }
}

/* Whether there are as many devices as the test is about; in the environment what tells the first from the second. */
static bool has_devices(size_t wanted)
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

int main(int argc, char **argv)
{
    if (argc < 3)
        return test_skip("a driver for tests and the helper are needed");
    driver = argv[1];
    helper = argv[2];
    setenv("POCL_DEVICES", argc > 3 ? "basic pthread" : "pthread", 1);
    CHECK(test_make_folder(), "no temporary folder");
    hide_others();
    helper_script_init("PENSTOCK_PROBE");
    use_helper("");
    snprintf(hanging, sizeof hanging, "%s/hangs", test_folder);
    setenv("PENSTOCK_SHIM_HANGS", hanging, 1);
    install("none");
    if (!has_devices(argc > 3 ? 2 : 1)) {
        test_remove_folder();
        return test_skip("PoCL, and no other OpenCL driver, is needed");
    }
    if (argc > 3) {
        two_devices();
        unknown_device();
    } else {
        healthy_device();
        for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
            break_device(&broken[i]);
    }
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
