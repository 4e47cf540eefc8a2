/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock doctor: what may be wrong with an installation, and the cure. */
#include "doctor.h"
#include "doctor_radio.h"
#include "shared/cache_folder.h"
#include "shared/options.h"

#include <penstock/cache.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
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

void doctor_export(char *command, size_t capacity, const char *variable, const char *folder)
{
    const char *quote = strpbrk(folder, " \t\n!\"#$&'()*;<=>?[\\]^`{|}~") ? "'" : "";
    size_t length = (size_t)snprintf(command, capacity, "export %s=%s", variable, quote);
    for (; *folder && length + 4 < capacity; folder++) {
        if (*folder == '\'')
            length += (size_t)snprintf(command + length, capacity - length, "'\\''");
        else
            command[length++] = *folder;
    }
    snprintf(command + length, capacity - length, "%s${%s:+:$%s}", quote, variable, variable);
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

static void check_all(bool clear)
{
    static struct doctor_devices devices;
    penstock_context *context = NULL;
    doctor_library();
    check_kernels();
    check_cache();
    if (!penstock_context_new(&context, NULL))
        check_cache_size(context, clear);
    penstock_context_free(context);
    doctor_devices_ask(&devices);
    doctor_opencl();
    check_radios();
    doctor_gnuradio();
    broken_count += doctor_devices_tell(&devices);
}

/* Of what is asked for in another process, nothing else has a place beside it. */
static int check_alone(const struct options *options, const char *load, bool devices)
{
    if (!load && !devices)
        return EXIT_DONE;
    return options_check_places(options,
                                (const struct option_place[]){{"clear-cache", false}, {"devices", !load}, {NULL, true}},
                                load ? "with --load" : "with --devices");
}

static int run(const struct command *command, int argc, const char **argv)
{
    bool clear = false, devices = false;
    char *load = NULL;
    const struct option_row table[] = {
        OPTION_FLAG("clear-cache", 0, &clear, "First remove what the cache folder holds"),
        OPTION_FLAG("devices", 0, &devices, "Nothing but this: try each device"),
        OPTION_TEXT("load", 0, "LIBRARY", &load, "Nothing but this: try whether the library can be loaded"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (!options_parse(&options, command, table, argc, argv, &code) ||
        !options_no_arguments(&options, command, &code) || (code = check_alone(&options, load, devices)))
        goto done;
    if (load) {
        doctor_load(load);
        goto done;
    }
    if (devices) {
        doctor_devices_try();
        goto done;
    }
    check_all(clear);
    code = broken_count ? EXIT_DATA : EXIT_DONE;
    printf(broken_count ? "%zu of these keep Penstock from working\n" : "Nothing keeps Penstock from working.\n",
           broken_count);
done:
    options_free(&options);
    return code;
}

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[OPTION...]",
    .summary = "Find what is wrong with an installation, and the cure",
    .notes = "Exit code 1 if something keeps the command from working; a note alone does not.\n"
             "--devices and --load are what it runs in processes of their own, which a driver may end.\n",
    .run = run,
};
