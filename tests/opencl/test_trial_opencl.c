/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OpenCL drivers that list their devices and are broken when these are used: what was found out in the helper's process
 * keeps this one alive. Arguments: the driver for tests (opencl_shim.c), the helper; "two": with two devices, one of
 * them broken.
 */
#include "trial_opencl.h"

/* ---------------------------------------------------------------- one broken device ----------- */

static const struct broken broken[] = {
    {"context-crash", "the driver crashed while it made a context (signal 11)", true, true},
    {"build-crash", "the driver crashed while it compiled a first kernel (signal 11)", true, true},
    {"build-exit", "the driver ended the process that probed it (exit code 127), while it compiled a first kernel",
     true, true},
    {"build-hang", "the driver did not answer within 20 s while it compiled a first kernel", true, true},
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
    CHECK(tries() == (b->down ? 2u : 1u), "%s: a result about another driver was taken", b->fault);
    CHECK(files_in(cache, "probe-opencl-") == b->kept, "%s: %u results in the folder", b->fault,
          files_in(cache, "probe-opencl-"));
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
    CHECK_EQ(tries(), 2); /* the device and, in the first context, its kernel */
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
    CHECK(lines == 1 && strstr(last_line, "; opencl:0: the driver "), "%u lines, '%s'", lines, last_line);
    penstock_context_free(context);
    CHECK_EQ(tries(), 3); /* and of the second device a kernel */
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
    CHECK_EQ(tries(), 4); /* the devices twice, and a kernel of each */
}

int main(int argc, char **argv)
{
    const bool two = argc > 3;
    if (argc < 3)
        return test_skip("a driver for tests and the helper are needed");
    if (!trial_init(argv, two ? "basic pthread" : "pthread"))
        return test_skip("PoCL, and no other OpenCL driver, is needed");
    if (two) {
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
