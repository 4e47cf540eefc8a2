/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What operators have compiled for a GPU is compiled at once: the driver for tests holds each build until the others
 * are under way. One of them fails, an allocation or a call of the driver does, or nobody waits any more. Argument: a
 * device, behind OpenCL's driver for tests.
 */
#include "core/base/memory.h"
#include "core/choice/async_build.h"
#include "device.h"
#include "folder.h"
#include "live_blocks.h"
#include "shim_calls.h"

#include <dirent.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#define CANCELLED_S 5.0 /* what is cancelled ends within; three builds one after the other do not */

static const char *device;
static char preferred[64];
static unsigned warnings;
static char warning[256];

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level != PENSTOCK_LOG_WARNING || strstr(line, "within this process")) /* there is no helper to try it */
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

/* A driver that is loaded, and has compiled nothing of what follows. */
static penstock_context *new_context(const char *kernels)
{
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .kernel_path = kernels,
                                                                   .threads = 2, .log = count_warnings)));
    if (!kernels)
        CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 8), device));
    penstock_plan_free(plan);
    return context;
}

/* ---------------------------------------------------------------- operators ------------------- */

static int use_filter(penstock_context *context, const char *name)
{
    static const float taps[33] = {[16] = 1};
    penstock_stream *stream = NULL;
    int status =
        penstock_filter_open(&stream, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 33), name);
    penstock_stream_free(stream);
    return status;
}

static int make_ofdm(penstock_ofdm **ofdm, penstock_context *context, const char *name)
{
    static const int32_t carriers[] = {-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6};
    return penstock_ofdm_new(ofdm, context,
                             &PENSTOCK_OFDM_DESC(.n = 16, .guard = 4, .carriers = carriers, .carrier_count = 12,
                                                 .max_constellation = PENSTOCK_QPSK, .format = PENSTOCK_CS16),
                             name);
}

static int use_ofdm(penstock_context *context, const char *name)
{
    penstock_ofdm *ofdm = NULL;
    int status = make_ofdm(&ofdm, context, name);
    penstock_ofdm_free(ofdm);
    return status;
}

/* As in the thread that makes it while the CPU serves. */
static int make_overtaken(void **made, void *owner, const char *name)
{
    penstock_ofdm *ofdm = NULL;
    while (!penstock__overtaken())
        usleep(100);
    int status = make_ofdm(&ofdm, owner, name);
    *made = ofdm;
    return status;
}

static void free_ofdm(void *ofdm)
{
    penstock_ofdm_free(ofdm);
}

static struct penstock__async_build *begin_overtaken(penstock_context *context, const char *name)
{
    static const struct penstock__maker maker = {.make = make_overtaken, .free = free_ofdm};
    struct penstock__async_build *build = NULL;
    if (!penstock__async_build_new(&build, &maker, context, name, 0))
        penstock__async_build_overtake(build);
    return build;
}

static int use_ofdm_overtaken(penstock_context *context, const char *name)
{
    struct penstock__async_build *build = begin_overtaken(context, name);
    void *made = NULL;
    if (!build)
        return PENSTOCK_ERR_MEMORY;
    while (!penstock__async_build_done(build, 1))
        ;
    int status = penstock__async_build_take(build, &made);
    penstock_ofdm_free(made);
    penstock__async_build_free(build);
    return status;
}

static int use_channelizer(penstock_context *context, const char *name)
{
    penstock_stream *stream = NULL;
    int status = penstock_channelizer_open(&stream, context, &PENSTOCK_CHANNELIZER_DESC(.channels = 16), name);
    penstock_stream_free(stream);
    return status;
}

static int use_receiver(penstock_context *context, const char *name)
{
    penstock_stream *stream = NULL;
    int status = penstock_wifi_receiver_open(&stream, context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 0), name);
    penstock_stream_free(stream);
    return status;
}

static const struct use {
    const char *name;
    int (*use)(penstock_context *context, const char *name);
    long builds; /* all of them at once */
} uses[] = {{"filter", use_filter, 3},
            {"ofdm", use_ofdm, 2},
            {"ofdm, while the CPU serves", use_ofdm_overtaken, 3},
            {"channelizer", use_channelizer, 1}};

#define USES (sizeof uses / sizeof *uses)

/* ---------------------------------------------------------------- kernels --------------------- */

/* Of the library's, which the folder then has, these are none. */
static void make_kernels(const char *const *broken)
{
    char path[PATH_MAX + 300], here[PATH_MAX];
    const struct dirent *file;
    DIR *folder = opendir("kernels");
    CHECK(folder && test_make_folder() && getcwd(here, sizeof here), "cannot make a folder");
    while (folder && (file = readdir(folder))) {
        snprintf(path, sizeof path, "%s/kernels/%s", here, file->d_name);
        CHECK(*file->d_name == '.' || !symlink(path, test_path(file->d_name)), "cannot link to %s", path);
    }
    if (folder)
        closedir(folder);
    for (; *broken; broken++) {
        remove(test_path(*broken));
        FILE *text = fopen(test_path(*broken), "w");
        CHECK(text && fputs("no kernel\n", text) > 0 && !fclose(text), "cannot write %s", *broken);
    }
}

/* ---------------------------------------------------------------- at once --------------------- */

static void at_once(const struct use *use)
{
    penstock_context *context = new_context(NULL);
    shim.gather_builds(use->builds);
    CHECK_OK(use->use(context, device));
    CHECK(shim.most_builds() == use->builds && shim.builds() == use->builds,
          "%s: %ld builds at once, %ld in all, not %ld", use->name, shim.most_builds(), shim.builds(), use->builds);
    shim.gather_builds(0);
    penstock_context_free(context);
}

/* Of a receiver the demodulator's are there already: one without the decoder's has been opened. */
static void decoder_at_once(void)
{
    static const char *const decoder[] = {"coded.cl", "viterbi.cl", NULL};
    char here[PATH_MAX], path[PATH_MAX + 20];
    make_kernels(decoder);
    penstock_context *context = new_context(test_folder);
    warnings = 0;
    CHECK_OK(use_receiver(context, device));
    /* The decoder's goes on with another variant, which needs no such file. */
    CHECK(warnings == 2 && strstr(warning, "the CPU decodes"), "%u warnings, the last: %s", warnings, warning);
    CHECK(getcwd(here, sizeof here) != NULL, "no folder");
    for (const char *const *name = decoder; *name; name++) {
        snprintf(path, sizeof path, "%s/kernels/%s", here, *name);
        CHECK(!remove(test_path(*name)) && !symlink(path, test_path(*name)), "cannot link to %s", path);
    }
    shim.gather_builds(3);
    CHECK_OK(use_receiver(context, device));
    CHECK_EQ(shim.most_builds(), 3);
    shim.gather_builds(0);
    CHECK_EQ(warnings, 2);
    penstock_context_free(context);
    test_remove_folder();
}

/* ---------------------------------------------------------------- failures -------------------- */

static void use_broken(const struct use *use, const char *name, const char *const *broken, bool works, unsigned lines,
                       const char *said)
{
    make_kernels(broken);
    penstock_context *context = new_context(test_folder);
    warnings = 0;
    *warning = 0;
    int status = use->use(context, name);
    CHECK((!status) == works, "%s on %s without %s: %d: %s", use->name, name, *broken, status, penstock_error_text());
    CHECK(warnings == lines && strstr(warning, said), "%s on %s without %s: %u lines, the last: %s", use->name, name,
          *broken, warnings, warning);
    CHECK(works || strstr(penstock_error_text(), "clBuildProgram"), "%s: %s", use->name, penstock_error_text());
    penstock_context_free(context);
    test_remove_folder();
}

/* Without the kernel for all of it the transforms serve, with one line; without these it is an error or the CPU, and
 * nothing is said of the others. */
static void one_fails(void)
{
    static const char *const filter[] = {"filter.cl", NULL}, *const ofdm[] = {"ofdm.cl", "symbols.cl", NULL},
                             *const transforms[] = {"fft.cl", "plain.cl", NULL};
    use_broken(&uses[0], device, filter, true, 1, "filters by transforms alone");
    use_broken(&uses[1], device, ofdm, true, 1, "demodulates OFDM by transforms alone");
    use_broken(&uses[2], device, ofdm, true, 1, "demodulates OFDM by transforms alone");
    for (size_t i = 0; i < 3; i++)
        use_broken(&uses[i], device, transforms, false, 0, "");
    use_broken(&uses[0], preferred, transforms, true, 1, "the CPU");
    use_broken(&uses[1], preferred, transforms, true, 1, "the CPU");
}

/* Each allocation; kernels are there by then. */
static void sweep_allocations(const struct use *use)
{
    penstock_context *context = new_context(NULL);
    CHECK_OK(use->use(context, device));
    const long blocks = test_live_blocks(context, device);
    long failed = 0;
    bool reached = true;
    for (long k = 0; reached && k < 3000; k++) {
        if (!test_drawn((uint64_t)k, 5))
            continue;
        const long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        failed += use->use(context, device) != 0;
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        const long live = test_live_blocks(context, device);
        CHECK(live == blocks, "%s, allocation %ld: %ld blocks leak", use->name, k, live - blocks);
    }
    CHECK(!reached && failed > 1, "%s: %ld failures", use->name, failed);
    CHECK_OK(use->use(context, device));
    penstock_context_free(context);
}

/* Each call of the driver, or all from it on, with the device's name and with "prefer:". */
static void sweep_calls(const struct use *use)
{
    const long objects = shim.live(), blocks = penstock__memory_live();
    long failed = 0;
    bool reached = true;
    for (long k = 0; reached && k < 3000; k++) {
        if (!test_drawn((uint64_t)k, 15))
            continue;
        penstock_context *context = new_context(NULL);
        warnings = 0;
        k / 2 % 2 ? shim.fail_from(k) : shim.fail_at(k);
        int status = use->use(context, k % 2 ? preferred : device);
        reached = shim.left() < 0;
        shim.fail_at(-1);
        failed += status || warnings;
        CHECK(!(status && k % 2), "%s, call %ld: %d: %s", use->name, k, status, penstock_error_text());
        penstock_context_free(context);
        CHECK(penstock__memory_live() == blocks && shim.live() == objects, "%s, call %ld: %ld blocks, %ld objects leak",
              use->name, k, penstock__memory_live() - blocks, shim.live() - objects);
    }
    CHECK(!reached && failed > 1, "%s: %ld failures", use->name, failed);
}

/* ---------------------------------------------------------------- cancelled ------------------- */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* While three builds are under way, which OpenCL cannot stop: nothing is begun after them, or logged. */
static void cancelled(void)
{
    penstock_context *context = new_context(NULL);
    warnings = 0;
    shim.gather_builds(4); /* they wait until that is over */
    struct penstock__async_build *build = begin_overtaken(context, device);
    for (int ms = 0; ms < 20000 && shim.most_builds() < 3; ms++)
        usleep(1000);
    CHECK_EQ(shim.most_builds(), 3);
    penstock__async_build_cancel(build);
    shim.gather_builds(0);
    const double began = now_s();
    penstock__async_build_free(build);
    CHECK(now_s() - began < CANCELLED_S && !warnings && !shim.builds(), "%.1f s to an end, %u warnings, %ld builds",
          now_s() - began, warnings, shim.builds());
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    penstock_context *context;
    device = count > 1 ? arguments[1] : "opencl";
    snprintf(preferred, sizeof preferred, "prefer:%s", device);
    if (!shim_load("PENSTOCK_OPENCL_LIBRARY") || !shim.gather_builds)
        return test_skip("no driver for tests");
    int exits = test_device(&context, device);
    if (!context)
        return exits;
    penstock_context_free(context);
    for (size_t i = 0; i < USES; i++)
        at_once(&uses[i]);
    decoder_at_once();
    one_fails();
    for (size_t i = 0; i < USES; i++)
        sweep_allocations(&uses[i]);
    for (size_t i = 0; i < USES; i++)
        sweep_calls(&uses[i]);
    cancelled();
    return test_finish();
}
