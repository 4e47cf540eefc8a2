/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock doctor: what may be wrong with an installation, and the cure. */
#include "cache_folder.h"
#include "cases/cases.h"
#include "doctor_radio.h"
#include "options.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a finding is judged: only what keeps the command from working makes doctor fail. */
enum finding { FINE, MINOR, BROKEN };

static size_t broken_count;

static void tell(enum finding finding, const char *what, const char *state, const char *cure)
{
    static const char *const words[] = {[FINE] = "ok", [MINOR] = "note", [BROKEN] = "BROKEN"};
    printf("%-6s  %-12s  %s\n", words[finding], what, state);
    if (finding != FINE && cure)
        printf("%-6s  %-12s  cure: %s\n", "", "", cure);
    broken_count += finding == BROKEN;
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

static void check_version(void)
{
    const char *built = TEXT(PENSTOCK_VERSION_MAJOR) "." TEXT(PENSTOCK_VERSION_MINOR) "." TEXT(PENSTOCK_VERSION_PATCH);
    char state[128];
    bool same = !strcmp(built, penstock_version());
    snprintf(state, sizeof state, "libpenstock %s, the command was built for %s", penstock_version(), built);
    tell(same ? FINE : BROKEN, "library", state,
         "install command and library of one version; ldd on the command shows which library it finds");
}

static void check_kernels(void)
{
    const char *path = getenv("PENSTOCK_KERNEL_PATH");
    char state[FOLDER_TEXT + 64];
    if (!path || !*path) {
        tell(FINE, "kernels", "those built into the library", NULL);
        return;
    }
    DIR *folder = opendir(path);
    snprintf(state, sizeof state, "PENSTOCK_KERNEL_PATH=%.400s%s%s", path, folder ? "" : ": ",
             folder ? "" : strerror(errno));
    tell(folder ? FINE : BROKEN, "kernels", state,
         "unset PENSTOCK_KERNEL_PATH, or name the folder with the .cl sources");
    if (folder)
        closedir(folder);
}

static void check_cache(void)
{
    char path[FOLDER_TEXT], probe[FOLDER_TEXT + 32], state[FOLDER_TEXT + 128];
    if (!cache_folder(path)) {
        tell(MINOR, "cache", "nowhere: measurements and compiled kernels are made anew each time",
             "set PENSTOCK_CACHE_DIR or HOME");
        return;
    }
    snprintf(probe, sizeof probe, "%s/doctor-%ld", path, (long)getpid());
    FILE *file = fopen(probe, "w");
    snprintf(state, sizeof state, "%s%s%s", path, file ? " can be written" : ": ", file ? "" : strerror(errno));
    tell(file ? FINE : MINOR, "cache", state,
         "make the folder writable, or set PENSTOCK_CACHE_DIR; until then measurements are made anew each time");
    if (file) {
        fclose(file);
        unlink(probe);
    }
}

/* The libraries that the .icd files name; those with a path are looked for. */
static void check_vendors(const char *folder)
{
    char state[1400], first_line[512], path[800];
    size_t count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".icd"))
            continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        bool named = file && fgets(first_line, sizeof first_line, file);
        if (file)
            fclose(file);
        if (named)
            first_line[strcspn(first_line, "\r\n")] = '\0';
        bool missing = !named || (first_line[0] == '/' && access(first_line, R_OK));
        snprintf(state, sizeof state, "%s names %s%s", path, named ? first_line : "nothing",
                 missing ? ", which is not there" : "");
        tell(missing ? MINOR : FINE, "opencl", state, "reinstall the driver's package, or remove the file");
    }
    if (entries)
        closedir(entries);
    snprintf(state, sizeof state, "no driver: %s has no .icd file", folder);
    if (!count)
        tell(MINOR, "opencl", state, "install a driver: pocl-opencl-icd for the CPU, or that of the GPU's maker");
}

static void check_opencl(void)
{
    const char *folder = getenv("OCL_ICD_VENDORS");
    void *loader = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!loader) {
        tell(MINOR, "opencl", "libOpenCL.so.1 not found", "install the loader: ocl-icd-libopencl1");
        return;
    }
    dlclose(loader);
    tell(FINE, "opencl", "loader libOpenCL.so.1 found", NULL);
    check_vendors(folder && *folder ? folder : "/etc/OpenCL/vendors");
}

static void check_radios(void)
{
    struct radio_modules modules;
    char state[700];
    radio_modules_find(&modules);
    if (*modules.reason) {
        tell(MINOR, "radios", modules.reason, "install libsoapysdr-dev and build again; files work without it");
        return;
    }
    snprintf(state, sizeof state, "SoapySDR %s in %s: %zu modules", modules.version, modules.root, modules.loaded);
    tell(modules.loaded ? FINE : MINOR, "radios", state, "install soapysdr-module-all, or the module of the radio");
    if (*modules.broken) {
        snprintf(state, sizeof state, "%s cannot be loaded: %s", modules.broken, modules.broken_text);
        tell(MINOR, "radios", state, "reinstall that module's package");
    }
    tell(modules.replay ? FINE : MINOR, "radios",
         modules.replay ? "the replay module is found" : "the replay module (driver=replay) is not found",
         "install penstock, or set SOAPY_SDR_PLUGIN_PATH to lib/radio/replay of the build folder");
}

/* Where the library looks for the program that probes drivers for it. */
static void check_helper(void)
{
    char beside[FOLDER_TEXT] = "", state[FOLDER_TEXT + 64];
    const char *wanted = getenv("PENSTOCK_PROBE");
    const char *places[] = {beside, PENSTOCK_LIBEXEC_DIR "/penstock-probe"};
    Dl_info library;
    if (dladdr((void *)(uintptr_t)penstock_version, &library) && strrchr(library.dli_fname, '/'))
        snprintf(beside, sizeof beside, "%.*s/../libexec/penstock/penstock-probe",
                 (int)(strrchr(library.dli_fname, '/') - library.dli_fname), library.dli_fname);
    if (wanted && *wanted)
        places[0] = places[1] = wanted;
    for (size_t i = 0; i < 2; i++)
        if (!access(places[i], X_OK)) {
            tell(FINE, "probe helper", places[i], NULL);
            return;
        }
    snprintf(state, sizeof state, "%s cannot be run: a driver that crashes takes the process along", places[1]);
    tell(MINOR, "probe helper", state, "reinstall, or let PENSTOCK_PROBE name the program penstock-probe");
}

static void check_device(penstock_context *context, const penstock_device_info *info)
{
    struct case_verdict verdict = {CASE_FAILED, ""};
    struct test_case test;
    char state[400];
    bool essential = !strcmp(info->name, "cpu");
    if (info->reason) {
        snprintf(state, sizeof state, "absent: %s", info->reason);
        tell(essential ? BROKEN : MINOR, info->name, state, NULL);
        return;
    }
    if (case_parse(&test, "fft:1024:hann"))
        return;
    test.kind->check(&test, &(struct case_target){.context = context, .device = info->name}, &verdict);
    snprintf(state, sizeof state, "%s: %s", info->product, verdict.text);
    tell(verdict.outcome == CASE_HELD ? FINE : BROKEN, info->name, state,
         "penstock check NAME shows what fails; update the driver, or choose another device");
}

static void check_devices(penstock_context *context)
{
    size_t count = 0;
    if (penstock_device_count(context, &count)) {
        tell(BROKEN, "devices", penstock_error_text(), NULL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && strcmp(info.name, "null") && strcmp(info.name, "trace"))
            check_device(context, &info);
    }
}

/* Here the library's own warnings are findings. */
static void tell_log(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level == PENSTOCK_LOG_WARNING)
        tell(MINOR, "library", line, NULL);
}

static int run(const struct command *command, int argc, const char **argv)
{
    const struct poptOption table[] = {OPTIONS_END};
    struct options options;
    penstock_context *context = NULL;
    int code = EXIT_DONE;
    if (!options_parse(&options, command, table, argc, argv, &code) || !options_no_arguments(&options, command, &code))
        goto done;
    check_version();
    check_kernels();
    check_cache();
    check_helper();
    check_opencl();
    check_radios();
    if (penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = tell_log)))
        tell(BROKEN, "context", penstock_error_text(), NULL);
    else
        check_devices(context);
    code = broken_count ? EXIT_DATA : EXIT_DONE;
    printf(broken_count ? "%zu of these keep Penstock from working\n" : "Nothing keeps Penstock from working.\n",
           broken_count);
done:
    penstock_context_free(context);
    options_free(&options);
    return code;
}

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[OPTION...]",
    .summary = "Find what is wrong with an installation, and the cure",
    .notes = "Exit code 1 if something keeps the command from working; a note alone does not.\n",
    .run = run,
};
