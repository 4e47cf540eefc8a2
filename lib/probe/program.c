/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * penstock-probe BACKEND [FIRST]: probes the backend's devices; opens each from number FIRST on, tries a first kernel,
 * and closes it. Tells what it does before it does it, in the lines of result.h. See probe.c.
 *
 * penstock-probe BACKEND plan IDENTITY NUMBER VARIANT CONFIG CACHE KERNELS: makes a plan of the problem at its input on
 * one device and checks it, with these folders of kernels. Whether that goes well is for who started it to find out;
 * here it is told that the driver lived. See trial.c.
 *
 * penstock-probe BACKEND keep CACHE: probes the devices as an application does, by another such process, and leaves the
 * result in that folder. Where one is at it already there is nothing to do.
 */
#include "core/base/context.h"
#include "core/check/check.h"
#include "core/device/backends.h"
#include "core/device/devices.h"
#include "core/plan/problem_bytes.h"
#include "probe/probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
    say(PENSTOCK__RESULT_STEP, doing);
}

/* A trial's error, without the device's name before it; for want of memory nothing is wrong. */
static void tell_outcome(int status, const struct penstock_device *device)
{
    const char *text = penstock_error_text();
    char reason[256];
    size_t length = strlen(device->name);
    if (!status || status == PENSTOCK_ERR_MEMORY) {
        say(PENSTOCK__RESULT_GOOD, "");
        return;
    }
    if (!strncmp(text, device->name, length) && !strncmp(text + length, ": ", 2))
        text += length + 2;
    snprintf(reason, sizeof reason, "the driver fails with a first kernel: %.210s", text);
    say(PENSTOCK__RESULT_BAD, reason);
}

static void try_device(struct penstock_device *device)
{
    const struct penstock_backend *backend = device->backend;
    char identity[264];
    int status;
    penstock__result_identity(identity, device);
    say(PENSTOCK__RESULT_DEVICE, identity);
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

/* How many there are. */
static size_t find_devices(struct penstock_device rows[PENSTOCK__MAX_DEVICES], penstock_context *context,
                           const struct penstock_backend *backend)
{
    char reason[256] = "";
    size_t count = 0;
    tell("was probed");
    if (backend->probe(context, rows, PENSTOCK__MAX_DEVICES, &count, reason))
        return 0;
    for (size_t i = 0; i < count; i++) {
        rows[i].backend = backend;
        rows[i].context = context;
        rows[i].index = (unsigned)i;
        snprintf(rows[i].name, sizeof rows[i].name, "%s:%zu", backend->name, i);
    }
    return count;
}

static void try_devices(penstock_context *context, const struct penstock_backend *backend, size_t first)
{
    struct penstock_device rows[PENSTOCK__MAX_DEVICES] = {0};
    size_t count = find_devices(rows, context, backend);
    for (size_t i = first; i < count; i++)
        try_device(&rows[i]);
}

/* ---------------------------------------------------------------- a plan ---------------------- */

/* All of the input, which is a file; NULL where it is none. */
static void *read_input(size_t *bytes)
{
    struct stat status;
    void *content;
    if (fstat(STDIN_FILENO, &status) || status.st_size <= 0)
        return NULL;
    *bytes = (size_t)status.st_size;
    if ((content = penstock__alloc(*bytes)) && read(STDIN_FILENO, content, *bytes) == status.st_size)
        return content;
    penstock__free(content);
    return NULL;
}

/* A plan that fails without a crash is no matter here. */
static void make_plan(struct penstock_device *device, const struct penstock_problem *problem, unsigned variant,
                      const char *launch_config)
{
    struct penstock__executor *executor;
    if (penstock__executor_new_as(&executor, device, problem, 1, variant, launch_config))
        return;
    tell("ran the kernels of a plan");
    penstock__check(executor);
    penstock__executor_free(executor);
}

/* The device number `number` of those of that identity, or NULL. */
static struct penstock_device *pick(struct penstock_device *rows, size_t count, const char *wanted, size_t number)
{
    char identity[264];
    for (size_t i = 0; i < count; i++) {
        penstock__result_identity(identity, &rows[i]);
        if (!strcmp(identity, wanted) && !number--)
            return &rows[i];
    }
    return NULL;
}

/* Kernels that have run are kept where that costs no time: a CPU's driver would compile them once more for it. */
static void open_and_make(struct penstock_device *device, const struct penstock_problem *problem, unsigned variant,
                          const char *launch_config)
{
    tell("made a context");
    if (penstock__device_open(device))
        return;
    device->tell = tell;
    make_plan(device, problem, variant, launch_config);
    device->tell = NULL;
    if (!device->on_cpu) {
        tell("released a context");
        device->backend->close(device);
    }
}

static void try_plan(penstock_context *context, const struct penstock_backend *backend, char **arguments)
{
    struct penstock_device rows[PENSTOCK__MAX_DEVICES] = {0}, *device;
    size_t bytes;
    struct penstock_problem problem;
    void *packed = read_input(&bytes);
    if (!packed || !penstock__problem_unpack(&problem, packed, bytes))
        _exit(NO_HELPER);
    device = pick(rows, find_devices(rows, context, backend), arguments[0], strtoul(arguments[1], NULL, 10));
    if (device) {
        say(PENSTOCK__RESULT_DEVICE, arguments[0]);
        open_and_make(device, &problem, (unsigned)strtoul(arguments[2], NULL, 10), arguments[3]);
        say(PENSTOCK__RESULT_GOOD, "");
    } else {
        say(PENSTOCK__RESULT_BAD, "the process that tries the driver's kernels does not find the device");
    }
    penstock__free(packed);
}

/* ---------------------------------------------------------------- start ----------------------- */

/* Without folders kernels are compiled, as none are kept, and are those of the library. */
static int make_context(penstock_context **context, const char *cache, const char *kernels)
{
    return penstock_context_new(context,
                                &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = cache, .kernel_path = kernels));
}

/* One for a backend and a folder: a name that one socket alone can have, and that nothing remains of. */
static bool is_alone(const char *backend, const char *cache)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int socket_file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "penstock-probe-%.20s-%016llx", backend,
             (unsigned long long)penstock__hash(cache, strlen(cache)));
    return socket_file >= 0 && !bind(socket_file, (struct sockaddr *)&name, sizeof name);
}

static int probe_and_keep(const struct penstock_backend *backend, const char *cache)
{
    struct penstock__probe_result result;
    penstock_context *context;
    if (!is_alone(backend->name, cache) || make_context(&context, cache, ""))
        return NO_HELPER;
    setenv("PENSTOCK_PROBE", "/proc/self/exe", true); /* the program is not where the library's is looked for */
    penstock__probe_devices(&result, context, backend, false);
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[2], "keep") && penstock__backend_find(argv[1]))
        return probe_and_keep(penstock__backend_find(argv[1]), argv[3]);
    bool plan = argc == 9 && !strcmp(argv[2], "plan");
    const struct penstock_backend *backend = plan || argc == 2 || argc == 3 ? penstock__backend_find(argv[1]) : NULL;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    penstock_context *context;
    answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a driver that hangs does not outlive who asked */
    if (!backend || answer < 0 || nowhere < 0 || make_context(&context, plan ? argv[7] : "", plan ? argv[8] : ""))
        return NO_HELPER;
    dup2(nowhere, STDOUT_FILENO); /* a driver may print */
    if (plan)
        try_plan(context, backend, argv + 3);
    else
        try_devices(context, backend, argc == 3 ? strtoul(argv[2], NULL, 10) : 0);
    say(PENSTOCK__RESULT_DONE, "");
    _exit(0); /* what a driver does at exit does not matter here */
}
