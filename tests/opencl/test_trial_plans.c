/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OpenCL drivers that hold with a first, small kernel and are broken with those of a plan: the plan is made in the
 * helper's process first. Arguments: the driver for tests (opencl_shim.c), the helper; "again", a cache folder, a fault
 * and a reason: what another process has found out about such a driver.
 */
#include "trial_opencl.h"

static const struct broken in_plans[] = {
    {"plan-build-crash", "the driver crashed while it compiled kernel opencl-", true, true},
    {"plan-build-exit", "the driver ended the process that probed it (exit code 127), while it compiled kernel opencl-",
     true, true},
    {"plan-build-hang", "the driver did not answer within 120 s while it compiled kernel opencl-", true, true},
    {"plan-run-crash", "the driver crashed while it ran the kernels of a plan (signal 11)", true, true},
    {"plan-wait-crash", "the driver crashed while it ran the kernels of a plan (signal 11)", true, true},
};

/* The device is there, and no plan can be had on it: the last variant's reason is told. */
static void all_plans(const struct broken *b, const char *cache_dir)
{
    penstock_context *context = new_context(cache_dir);
    penstock_device_info info;
    find_device(context, "opencl:0", &info);
    CHECK(!info.reason, "%s: it is absent: %s", b->fault, info.reason);
    CHECK(!strcmp(plan_on(context, "auto"), "cpu") && !strstr(last_line, b->reason),
          "%s: auto is not on the CPU, or has tried what cannot win: '%s'", b->fault, last_line);
    lines = 0;
    CHECK(!strcmp(plan_on(context, "prefer:opencl"), "cpu"), "%s: prefer: is not on the CPU", b->fault);
    CHECK(lines == 1 && strstr(last_line, b->reason), "%s: %u lines, '%s'", b->fault, lines, last_line);
    CHECK(!*plan_on(context, "opencl:0") && strstr(penstock_error_text(), b->reason), "%s: '%s'", b->fault,
          penstock_error_text());
    CHECK_EQ(lines, 1);
    penstock_context_free(context);
}

/* What this process leaves in the folder serves another one. */
static void ask_again(const struct broken *b, const char *program, const char *cache)
{
    char line[3000];
    snprintf(line, sizeof line, "'%s' '%s' '%s' again '%s' '%s' '%s'", program, getenv("PENSTOCK_OPENCL_LIBRARY"),
             helper, cache, b->fault, b->reason);
    CHECK(!system(line), "%s: another process: %s", b->fault, line);
    CHECK_EQ(tries(), 0);
}

static void break_plans(const struct broken *b, const char *program)
{
    char cache[300];
    snprintf(cache, sizeof cache, "%s/%s", test_folder, b->fault);
    install(b->fault);
    all_plans(b, "");
    CHECK(tries() >= 2, "%s: nobody tried it", b->fault);
    all_plans(b, "/proc/none/penstock");
    CHECK_EQ(tries(), 0);
    forget_hanging();
    install(b->fault);
    all_plans(b, cache);
    CHECK(tries() >= 2, "%s: what was known of another driver was taken", b->fault);
    CHECK(!files_in(cache, "opencl-"), "%s: a kernel that was not found good is kept", b->fault);
    CHECK(!files_in(cache, "crash-") == !b->kept, "%s: %u crashes in the folder", b->fault, files_in(cache, "crash-"));
    if (b->kept)
        ask_again(b, program, cache);
    forget_hanging();
}

/* As a GPU the device keeps its kernel, once it has run, in the process that tries it. */
static void keep_kernel(void)
{
    char cache[300];
    penstock_context *context;
    snprintf(cache, sizeof cache, "%s/gpu", test_folder);
    setenv("PENSTOCK_SHIM_GPU", "32768:256", 1);
    for (int i = 0; i < 2; i++) {
        install(i ? "none" : "plan-run-crash");
        context = new_context(cache);
        CHECK(!*plan_on(context, "opencl:0") == !i, "%s", penstock_error_text());
        CHECK(files_in(cache, "opencl-") == (unsigned)i, "%u kernels in the folder", files_in(cache, "opencl-"));
        penstock_context_free(context);
    }
    unsetenv("PENSTOCK_SHIM_GPU");
}

/* A process that has no such device, as one GPU for one process alone, tells nothing about the driver. */
static void lose_device(void)
{
    install("none");
    use_helper("[ \"$2\" != plan ] || export OCL_ICD_VENDORS=/none OCL_ICD_FILENAMES=/none\n");
    penstock_context *context = new_context("");
    CHECK(!strcmp(plan_on(context, "opencl:0"), "opencl:0"), "%s", penstock_error_text());
    CHECK(tries() >= 2, "nobody tried the plan");
    penstock_context_free(context);
    use_helper("");
}

/* While the CPU serves the driver hangs; who frees the plan does not wait for it. */
static void leave_hanging(void)
{
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    long long start;
    install("plan-build-hang");
    passed_ms = leap_ms = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .log = count_lines, .cache_dir = "",
                                                                   .cpu_while_compiling = true)));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), "prefer:opencl"));
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK(!strcmp(info.device, "cpu") && info.awaited, "it is on %s", info.device);
    while (access(hanging, F_OK))
        usleep(1000);
    start = real_ms();
    penstock_plan_free(plan);
    CHECK(real_ms() - start < 30000, "freeing took %lld ms", real_ms() - start);
    penstock_context_free(context);
    forget_hanging();
}

/* In a process of its own: the environment is that of the one which found it out. */
static int again(char **argv)
{
    const struct broken b = {argv[5], argv[6], true, true};
    CHECK(test_make_folder(), "no temporary folder");
    all_plans(&b, argv[4]);
    test_remove_folder();
    return test_finish();
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return test_skip("a driver for tests and the helper are needed");
    if (argc == 7)
        return again(argv);
    if (!trial_init(argv, "pthread"))
        return test_skip("PoCL, and no other OpenCL driver, is needed");
    leap_ms = 130000;
    for (size_t i = 0; i < sizeof in_plans / sizeof *in_plans; i++)
        if (test_drawn(i, 2))
            break_plans(&in_plans[i], argv[0]);
    keep_kernel();
    lose_device();
    leave_hanging();
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
