/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock-probe BACKEND: probes, opens and closes the backend's devices, and says so if it lives. See probe.c. */
#include "core/backends.h"
#include "core/context.h"
#include "core/devices.h"
#include "core/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_DEVICES 16
#define NO_HELPER   127 /* as a shell says that a program is not there */

static void try_devices(penstock_context *context, const struct penstock_backend *backend)
{
    struct penstock_device rows[MAX_DEVICES] = {0};
    char reason[256] = "";
    size_t count = 0;
    if (backend->probe(context, rows, MAX_DEVICES, &count, reason))
        return;
    for (size_t i = 0; i < count; i++) {
        rows[i].backend = backend;
        rows[i].context = context;
        rows[i].index = (unsigned)i;
        if (!penstock__device_open(&rows[i]))
            backend->close(&rows[i]);
        penstock__free(rows[i].priv);
    }
}

int main(int argc, char **argv)
{
    const struct penstock_backend *backend = argc == 2 ? penstock__backend_find(argv[1]) : NULL;
    int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    penstock_context *context;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    if (!backend || answer < 0 || nowhere < 0 || penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1)))
        return NO_HELPER;
    dup2(nowhere, STDOUT_FILENO); /* a driver may print */
    try_devices(context, backend);
    if (write(answer, PENSTOCK__PROBE_DONE, sizeof PENSTOCK__PROBE_DONE - 1) < 0)
        return NO_HELPER;
    _exit(0); /* what a driver does at exit does not matter here */
}
