/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * penstock-probe BACKEND [FIRST]: probes the backend's devices; opens each from number FIRST on, tries a first kernel,
 * and closes it. Tells what it does before it does it, in the lines of verdict.h. See probe.c.
 */
#include "core/backends.h"
#include "core/context.h"
#include "core/devices.h"
#include "core/verdict.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NO_HELPER 127 /* as a shell says that a program is not there */

static int answer;

static void say(const char *word, const char *text)
{
    char line[512];
    snprintf(line, sizeof line - 1, "%s%s", word, text);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    strcat(line, "\n");
    if (write(answer, line, strlen(line)) < 0)
        _exit(NO_HELPER);
}

static void tell(const char *doing)
{
    say(PENSTOCK__VERDICT_STEP, doing);
}

/* A trial's error, without the device's name before it; for want of memory nothing is wrong. */
static void tell_outcome(int status, const struct penstock_device *device)
{
    const char *text = penstock_error_text();
    char reason[256];
    size_t length = strlen(device->name);
    if (!status || status == PENSTOCK_ERR_MEMORY) {
        say(PENSTOCK__VERDICT_GOOD, "");
        return;
    }
    if (!strncmp(text, device->name, length) && !strncmp(text + length, ": ", 2))
        text += length + 2;
    snprintf(reason, sizeof reason, "the driver fails with a first kernel: %.210s", text);
    say(PENSTOCK__VERDICT_BAD, reason);
}

static void try_device(struct penstock_device *device)
{
    const struct penstock_backend *backend = device->backend;
    char identity[264];
    int status;
    penstock__verdict_identity(identity, device);
    say(PENSTOCK__VERDICT_DEVICE, identity);
    tell("made a context");
    if (!(status = penstock__device_open(device))) {
        if (backend->trial)
            status = backend->trial(device, tell);
        tell("released a context");
        backend->close(device);
    } else if (!backend->trial) {
        status = PENSTOCK_OK; /* an error when it is used is early enough */
    }
    tell_outcome(status, device);
    penstock__free(device->priv);
}

static void try_devices(penstock_context *context, const struct penstock_backend *backend, size_t first)
{
    struct penstock_device rows[PENSTOCK__MAX_DEVICES] = {0};
    char reason[256] = "";
    size_t count = 0;
    tell("was probed");
    if (backend->probe(context, rows, PENSTOCK__MAX_DEVICES, &count, reason))
        return;
    for (size_t i = first; i < count; i++) {
        rows[i].backend = backend;
        rows[i].context = context;
        rows[i].index = (unsigned)i;
        snprintf(rows[i].name, sizeof rows[i].name, "%s:%zu", backend->name, i);
        try_device(&rows[i]);
    }
}

/* Kernels are compiled, as none are kept, and are those of the library. */
static int make_context(penstock_context **context)
{
    return penstock_context_new(context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "", .kernel_path = ""));
}

int main(int argc, char **argv)
{
    const struct penstock_backend *backend = argc >= 2 && argc <= 3 ? penstock__backend_find(argv[1]) : NULL;
    size_t first = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    penstock_context *context;
    answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    if (!backend || answer < 0 || nowhere < 0 || make_context(&context))
        return NO_HELPER;
    dup2(nowhere, STDOUT_FILENO); /* a driver may print */
    try_devices(context, backend, first);
    say(PENSTOCK__VERDICT_DONE, "");
    _exit(0); /* what a driver does at exit does not matter here */
}
