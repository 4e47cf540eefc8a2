/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock doctor: what may be wrong with an installation, and the cure. */
#include "doctor.h"
#include "cases/cases.h"
#include "doctor_radio.h"
#include "shared/cache_folder.h"
#include "shared/options.h"
#include "shared/progress.h"

#include <penstock/cache.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t broken_count;

void doctor_tell(enum finding finding, const char *what, const char *state, const char *cure)
{
    static const char *const words[] = {[FINE] = "ok", [MINOR] = "note", [BROKEN] = "BROKEN"};
    printf("%-6s  %-12s  %s\n", words[finding], what, state);
    if (finding != FINE && cure)
        printf("%-6s  %-12s  cure: %s\n", "", "", cure);
    if (finding == BROKEN)
        broken_count++;
}

static void check_kernels(void)
{
    const char *path = getenv("PENSTOCK_KERNEL_PATH");
    char state[FOLDER_TEXT + 64];
    if (!path || !*path) {
        doctor_tell(FINE, "kernels", "those built into the library", NULL);
        return;
    }
    DIR *folder = opendir(path);
    snprintf(state, sizeof state, "PENSTOCK_KERNEL_PATH=%.400s%s%s", path, folder ? "" : ": ",
             folder ? "" : strerror(errno));
    doctor_tell(folder ? FINE : BROKEN, "kernels", state,
                "unset PENSTOCK_KERNEL_PATH, or name the folder with the .cl sources");
    if (folder)
        closedir(folder);
}

/* What the folder holds, which `clear` removes first. */
static void check_cache_size(penstock_context *context, bool clear)
{
    penstock_cache_info before = PENSTOCK_CACHE_INFO, info = PENSTOCK_CACHE_INFO;
    char state[FOLDER_TEXT + 128];
    if (penstock_cache_get_info(context, &before) || !before.folder)
        return;
    if (clear && penstock_cache_clear(context))
        doctor_tell(MINOR, "cache", penstock_error_text(), "remove the folder's files as their owner");
    penstock_cache_get_info(context, &info);
    if (clear) {
        snprintf(state, sizeof state, "cleared: %" PRIu64 " files, %.1f MiB", before.files - info.files,
                 (double)(before.bytes - info.bytes) / (1 << 20));
        doctor_tell(FINE, "cache", state, NULL);
    }
    snprintf(state, sizeof state, "%" PRIu64 " files, %.1f MiB of at most %.0f", info.files,
             (double)info.bytes / (1 << 20), (double)info.limit_bytes / (1 << 20));
    doctor_tell(FINE, "cache", state, NULL);
}

static void check_cache(void)
{
    char path[FOLDER_TEXT], probe[FOLDER_TEXT + 32], state[FOLDER_TEXT + 128];
    if (!cache_folder(path)) {
        doctor_tell(MINOR, "cache", "nowhere: measurements and compiled kernels are made anew each time",
                    "set PENSTOCK_CACHE_DIR or HOME");
        return;
    }
    snprintf(probe, sizeof probe, "%s/doctor-%ld", path, (long)getpid());
    FILE *file = fopen(probe, "w");
    snprintf(state, sizeof state, "%s%s%s", path, file ? " can be written" : ": ", file ? "" : strerror(errno));
    doctor_tell(file ? FINE : MINOR, "cache", state,
                "make the folder writable, or set PENSTOCK_CACHE_DIR; until then measurements are made anew each time");
    if (file) {
        fclose(file);
        unlink(probe);
    }
}

static void check_radios(void)
{
    struct radio_modules modules;
    char state[700];
    radio_modules_find(&modules);
    if (*modules.reason) {
        doctor_tell(MINOR, "radios", modules.reason, "install libsoapysdr-dev and build again; files work without it");
        return;
    }
    snprintf(state, sizeof state, "SoapySDR %s in %s: %zu modules", modules.version, modules.root, modules.loaded);
    doctor_tell(modules.loaded ? FINE : MINOR, "radios", state,
                "install soapysdr-module-all, or the module of the radio");
    if (*modules.broken) {
        snprintf(state, sizeof state, "%s cannot be loaded: %s", modules.broken, modules.broken_text);
        doctor_tell(MINOR, "radios", state, "reinstall that module's package");
    }
    doctor_tell(modules.replay ? FINE : MINOR, "radios",
                modules.replay ? "the replay module is found" : "the replay module (driver=replay) is not found",
                "install penstock, or set SOAPY_SDR_PLUGIN_PATH to lib/SoapySDR/modules* of its prefix, or to "
                "lib/radio/replay of the build folder");
}

#define CURE_OF_DRIVER                                                                                           \
    "update or remove that driver, from OCL_ICD_FILENAMES too; OCL_ICD_VENDORS can name a folder without it. A " \
    "crash is remembered for an hour, or until probe-* is removed from the cache folder"

/* By a piece of the reason why a device is absent. */
static const char *cure_of_absence(const char *reason)
{
    static const struct {
        const char *piece, *cure;
    } cures[] = {
        {"crashed while it", CURE_OF_DRIVER},
        {"ended the process that probed it", CURE_OF_DRIVER},
        {"did not answer within", CURE_OF_DRIVER},
        {"fails with a first kernel", "update or reinstall that driver and its compiler"},
        {"cannot be loaded: ", CURE_OF_LOADING},
        {"no platform",
         "install a driver. Debian's loader reads .icd files alone; others may know OCL_ICD_FILENAMES alone"},
        {"no NVIDIA driver", "with an NVIDIA GPU in the machine, install its driver (Debian: nvidia-driver)"},
        {"the same GPU serves", "install NVRTC (Debian: libnvrtc11.2), or let PENSTOCK_NVRTC_LIBRARY name it"},
        {"no GPU that it may use", "nvidia-smi must list the GPU; a container has to be given it"},
        {"lists no GPU", "nvidia-smi must list the GPU; a container has to be given it"},
        {"left out of this build", "install what is missing, and build again"},
    };
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (strstr(reason, cures[i].piece))
            return cures[i].cure;
    return NULL;
}

static void check_device(penstock_context *context, const penstock_device_info *info)
{
    struct case_verdict verdict = {CASE_FAILED, ""};
    struct test_case test;
    char state[400];
    bool essential = !strcmp(info->name, "cpu");
    if (info->reason) {
        snprintf(state, sizeof state, "absent: %s", info->reason);
        doctor_tell(essential ? BROKEN : MINOR, info->name, state, cure_of_absence(info->reason));
        return;
    }
    if (case_parse(&test, "fft:1024:hann"))
        return;
    test.kind->check(&test, &(struct case_target){.context = context, .device = info->name}, &verdict);
    snprintf(state, sizeof state, "%s: %s%s%s", info->product, verdict.text, *info->profile ? "; " : "", info->profile);
    doctor_tell(verdict.outcome == CASE_HELD ? FINE : BROKEN, info->name, state,
                "penstock check NAME shows what fails; update the driver, or choose another device");
}

/* Beside the other checks: a driver may take long to answer. */
static void *ask_devices(void *context)
{
    size_t count;
    penstock_device_count(context, &count);
    return NULL;
}

/* `asking`: the thread that asks them since, or NULL. */
static void check_devices(penstock_context *context, const pthread_t *asking)
{
    size_t count = 0;
    progress_wait(PROGRESS_DEVICES);
    if (asking)
        pthread_join(*asking, NULL);
    int status = penstock_device_count(context, &count);
    progress_arrived();
    if (status) {
        doctor_tell(BROKEN, "devices", penstock_error_text(), NULL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && strcmp(info.name, "null") && strcmp(info.name, "trace"))
            check_device(context, &info);
    }
}

static void check_all(penstock_context *context, bool clear)
{
    pthread_t asking;
    doctor_library();
    check_kernels();
    check_cache();
    if (context)
        check_cache_size(context, clear);
    const bool asks = context && !pthread_create(&asking, NULL, ask_devices, context);
    doctor_opencl();
    check_radios();
    doctor_gnuradio();
    if (context)
        check_devices(context, asks ? &asking : NULL);
}

/* Here the library's own warnings are findings. */
static void tell_log(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level == PENSTOCK_LOG_WARNING)
        doctor_tell(MINOR, "library", line, NULL);
}

static int run(const struct command *command, int argc, const char **argv)
{
    bool clear = false;
    char *load = NULL;
    const struct option_row table[] = {
        OPTION_FLAG("clear-cache", 0, &clear, "First remove what the cache folder holds"),
        OPTION_TEXT("load", 0, "LIBRARY", &load, "Nothing but this: try whether the library can be loaded"),
        OPTIONS_END,
    };
    struct options options;
    penstock_context *context = NULL;
    int code = EXIT_DONE;
    if (!options_parse(&options, command, table, argc, argv, &code) || !options_no_arguments(&options, command, &code))
        goto done;
    if (load && (code = options_check_places(
                     &options, (const struct option_place[]){{"clear-cache", false}, {NULL, true}}, "with --load")))
        goto done;
    if (load) {
        doctor_load(load);
        goto done;
    }
    if (penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = tell_log, .driver_patience_s = DRIVER_PATIENCE_S)))
        doctor_tell(BROKEN, "context", penstock_error_text(), NULL);
    check_all(context, clear);
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
