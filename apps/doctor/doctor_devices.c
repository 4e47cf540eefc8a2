/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The doctor on devices. A driver may end the process that it is loaded into, as PoCL does where it gets no thread, or
 * take long to answer: another process tries them, beside the other checks.
 */
#include "cases/cases.h"
#include "doctor.h"
#include "shared/command.h"
#include "shared/progress.h"

#include <stdio.h>
#include <string.h>

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

/* The library's own warnings are findings. */
static void tell_log(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level == PENSTOCK_LOG_WARNING)
        doctor_tell(MINOR, "library", line, NULL);
}

/* All drivers are waited for, however long they take: what does not answer is a finding, too. */
void doctor_devices_try(void)
{
    penstock_context *context = NULL;
    size_t count = 0;
    if (penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = tell_log)))
        doctor_tell(BROKEN, "context", penstock_error_text(), NULL);
    else if (penstock_device_count(context, &count))
        doctor_tell(BROKEN, "devices", penstock_error_text(), NULL);
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && strcmp(info.name, "null") && strcmp(info.name, "trace"))
            check_device(context, &info);
    }
    penstock_context_free(context);
}

static void *ask(void *argument)
{
    struct doctor_devices *devices = argument;
    devices->done = doctor_ask((const char *const[]){"/proc/self/exe", "doctor", "--devices", NULL}, devices->findings,
                               sizeof devices->findings);
    return NULL;
}

void doctor_devices_ask(struct doctor_devices *devices)
{
    devices->beside = !pthread_create(&devices->thread, NULL, ask, devices);
}

size_t doctor_devices_tell(struct doctor_devices *devices)
{
    size_t broken = 0;
    progress_wait(PROGRESS_DEVICES);
    if (devices->beside)
        pthread_join(devices->thread, NULL);
    else
        ask(devices);
    progress_arrived();
    fputs(devices->findings, stdout);
    for (const char *line = devices->findings; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        broken += !strncmp(line, "BROKEN", 6);
    if (!devices->done)
        doctor_tell(BROKEN, "devices", "the process that tries them was ended, or could not be started",
                    "allow more processes (ulimit -u); else " CURE_OF_DRIVER);
    return broken;
}
