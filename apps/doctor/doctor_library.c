/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The doctor on the installation itself: do command, library and helper fit, and do other programs find the library? */
#include "doctor.h"

#include <penstock/penstock.h>

#include <dlfcn.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define VERSION  TEXT(PENSTOCK_VERSION_MAJOR) "." TEXT(PENSTOCK_VERSION_MINOR) "." TEXT(PENSTOCK_VERSION_PATCH)
#define SONAME   "libpenstock.so." TEXT(PENSTOCK_VERSION_MAJOR) "." TEXT(PENSTOCK_VERSION_MINOR)

enum { STATE = 3 * PATH_MAX };

/* The command's file, and `levels` up from it. */
static void above_command(char path[PATH_MAX], int levels)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    for (; levels > 0 && *path; levels--)
        *(strrchr(path, '/') ? strrchr(path, '/') : path) = '\0';
}

void doctor_prefix(char prefix[PATH_MAX])
{
    above_command(prefix, 2);
}

/* Folder of the library that this process uses, without links. False in a static build. */
static bool library_folder(char folder[PATH_MAX])
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)penstock_version, &info) || !info.dli_fname || !realpath(info.dli_fname, folder) ||
        !strstr(folder, "/libpenstock."))
        return false;
    dirname(folder);
    return true;
}

static void check_version(const char *folder)
{
    char state[STATE], prefix[PATH_MAX];
    doctor_prefix(prefix);
    snprintf(state, sizeof state, "libpenstock %s%s%s, the command was built for %s", penstock_version(),
             *folder ? " in " : "", folder, VERSION);
    doctor_tell(strcmp(VERSION, penstock_version()) ? BROKEN : FINE, "library", state,
                "install command and library of one version; ldd on the command shows which library it finds");
    if (!*folder || !*prefix || (!strncmp(folder, prefix, strlen(prefix)) && folder[strlen(prefix)] == '/'))
        return;
    snprintf(state, sizeof state, "the command below %s uses the library of another prefix, in %s", prefix, folder);
    doctor_tell(MINOR, "prefix", state, "uninstall one of the two, or take the other out of LD_LIBRARY_PATH");
}

static void check_loader(const char *folder)
{
    char state[STATE], cure[2 * STATE], command[STATE];
    if (!*folder || doctor_loader_finds(SONAME, folder))
        return;
    snprintf(state, sizeof state, "other programs do not find " SONAME " in %s", folder);
    doctor_export(command, sizeof command, "LD_LIBRARY_PATH", folder);
    snprintf(cure, sizeof cure, "sudo ldconfig; where that does not help: %s", command);
    doctor_tell(MINOR, "loader", state, cure);
}

/* A program that the library runs beside itself. */
struct helper {
    const char *what, *name, *variable, *installed, *without;
};

/* As lib/probe/helper.c has them. */
static const char *const beside[] = {"../libexec/penstock", PENSTOCK_LIBEXEC_BESIDE};
enum { BESIDE = sizeof beside / sizeof *beside };

static const struct helper helpers[] = {
    {"probe helper", "penstock-probe", "PENSTOCK_PROBE", PENSTOCK_LIBEXEC_DIR "/penstock-probe",
     "a driver that crashes takes the process along"},
    {"compiler", "penstock-compile", "PENSTOCK_COMPILE", PENSTOCK_LIBEXEC_DIR "/penstock-compile",
     "kernels for CUDA are compiled one after the other, within the process"},
};

/* Where the library looks for it. */
static void check_helper(const struct helper *helper, const char *folder)
{
    char place[2 * PATH_MAX], state[STATE], cure[STATE];
    const char *wanted = getenv(helper->variable);
    struct stat facts;
    size_t i = wanted && *wanted ? BESIDE : 0;
    for (; i <= BESIDE; i++) {
        if (i < BESIDE)
            snprintf(place, sizeof place, "%s/%s/%s", folder, beside[i], helper->name);
        else
            snprintf(place, sizeof place, "%s", wanted && *wanted ? wanted : helper->installed);
        if (!stat(place, &facts) && S_ISREG(facts.st_mode) && !access(place, X_OK)) {
            doctor_tell(FINE, helper->what, place, NULL);
            return;
        }
    }
    snprintf(state, sizeof state, "%s cannot be run: %s", place, helper->without);
    snprintf(cure, sizeof cure, "reinstall, or let %s name the program %s", helper->variable, helper->name);
    doctor_tell(MINOR, helper->what, state, cure);
}

void doctor_library(void)
{
    char folder[PATH_MAX] = "";
    if (!library_folder(folder))
        *folder = '\0';
    check_version(folder);
    check_loader(folder);
    if (!*folder) /* the library is in the command */
        above_command(folder, 1);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        check_helper(&helpers[i], folder);
}
