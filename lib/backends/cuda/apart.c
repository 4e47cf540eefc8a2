/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Several kernels compiled side by side: all but one in processes of their own, where a compiler that crashes does no
 * harm. penstock-compile gets a source from a file in memory and writes an image into a pipe. What none of these brings
 * is compiled here.
 */
#include "backends/cuda/apart.h"
#include "backends/cuda/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIME_OUT_MS 120000
#define LOOK_MS     20 /* between two looks at whether anybody still waits */
#define MAX_HELPERS 15
#define MAX_BYTES   ((uint64_t)256 << 20) /* of an image */

/* A helper at work. */
struct worker {
    struct penstock_helper helper;
    struct cuda_image *work; /* NULL: none */
    long long deadline_ms;
    struct cuda_apart_head head;
    size_t used; /* bytes read, of the head and the image */
};

struct crew {
    const struct penstock_device *device;
    const char *option;
    struct worker workers[MAX_HELPERS];
    unsigned active, most;
    bool alone; /* a helper failed: no more are started */
    int crash;  /* the signal of a compiler that crashed, else 0 */
};

static long long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- one helper ------------------ */

/* Where the NVRTC lies that this process has. */
static const char *nvrtc_path(const struct cuda_api *api)
{
    Dl_info found;
    void *symbol;
    memcpy(&symbol, (const void *)&api->nvrtc.CompileProgram, sizeof symbol);
    return dladdr(symbol, &found) ? found.dli_fname : NULL;
}

static bool start(struct crew *crew, struct worker *worker, struct cuda_image *work)
{
    const struct cuda_api *api = penstock__cuda_opened(crew->device)->api;
    const char *path = nvrtc_path(api);
    char version[32];
    const char *const arguments[] = {path, version, crew->option, NULL};
    int source = path ? penstock__helper_input(work->source, strlen(work->source)) : -1;
    if (source < 0)
        return false;
    snprintf(version, sizeof version, "%d.%d", api->nvrtc_major, api->nvrtc_minor);
    *worker = (struct worker){.work = work, .deadline_ms = now_ms() + TIME_OUT_MS};
    if (penstock__helper_start(&worker->helper, "penstock-compile", "PENSTOCK_COMPILE", arguments, source))
        worker->work = NULL;
    close(source);
    crew->active += worker->work != NULL;
    return worker->work;
}

static bool is_crash(int status)
{
    int signal = status != -1 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT;
}

/* `whole`: the image is there; else what there is of it goes. */
static void end(struct crew *crew, struct worker *worker, bool whole)
{
    int status = penstock__helper_end(&worker->helper, true);
    if (!whole) {
        penstock__free(worker->work->image);
        worker->work->image = NULL;
        crew->alone = true;
        if (is_crash(status))
            crew->crash = WTERMSIG(status);
    }
    worker->work = NULL;
    crew->active--;
}

/* Memory for the image, once the head tells how much. */
static bool make_room(struct worker *worker)
{
    struct cuda_image *work = worker->work;
    if (memcmp(worker->head.mark, CUDA_APART_MARK, sizeof worker->head.mark) || !worker->head.bytes ||
        worker->head.bytes > MAX_BYTES)
        return false;
    work->bytes = (size_t)worker->head.bytes + 1;
    return (work->image = penstock__calloc(work->bytes, 1));
}

/* Takes what the helper has written by now: at least a byte, or its end. */
static void take(struct crew *crew, struct worker *worker)
{
    size_t head = sizeof worker->head, whole = head + (size_t)worker->head.bytes;
    bool in_head = worker->used < head;
    char *to = in_head ? (char *)&worker->head + worker->used : (char *)worker->work->image + (worker->used - head);
    ssize_t count = read(worker->helper.answer, to, in_head ? head - worker->used : whole - worker->used);
    if (count < 0 && errno == EINTR)
        return;
    if (count <= 0) {
        end(crew, worker, false);
        return;
    }
    worker->used += (size_t)count;
    if (worker->used == head && !make_room(worker))
        end(crew, worker, false);
    else if (worker->used > head && worker->used == whole)
        end(crew, worker, true);
}

/* ---------------------------------------------------------------- all of them ----------------- */

/* Takes what helpers have written; `wait`: for one that has, or whose time is over, but not for long. */
static void listen_to(struct crew *crew, bool wait)
{
    struct pollfd files[MAX_HELPERS];
    long long now = now_ms(), first = now + LOOK_MS;
    int ready;
    for (unsigned i = 0; i < MAX_HELPERS; i++) {
        const struct worker *worker = &crew->workers[i];
        files[i] = (struct pollfd){.fd = worker->work ? worker->helper.answer : -1, .events = POLLIN};
        if (worker->work && worker->deadline_ms < first)
            first = worker->deadline_ms;
    }
    ready = poll(files, MAX_HELPERS, !wait ? 0 : first > now ? (int)(first - now) : 0);
    if (ready < 0 && errno == EINTR)
        return;
    for (unsigned i = 0; i < MAX_HELPERS; i++) {
        struct worker *worker = &crew->workers[i];
        if (worker->work && ready > 0 && files[i].revents)
            take(crew, worker);
        else if (worker->work && (ready < 0 || worker->deadline_ms <= now))
            end(crew, worker, false);
    }
}

static struct worker *idle(struct crew *crew)
{
    struct worker *worker = crew->workers;
    while (worker->work)
        worker++;
    return worker;
}

/* The one that takes longest, as far as its source tells; NULL if all have been given out. */
static struct cuda_image *longest(struct cuda_image *images, unsigned count)
{
    struct cuda_image *found = NULL;
    for (struct cuda_image *image = images; image < images + count; image++)
        if (!image->begun && (!found || strlen(image->source) > strlen(found->source)))
            found = image;
    return found;
}

static int compile_here(struct crew *crew, struct cuda_image *image)
{
    image->begun = true;
    return penstock__cuda_compile(&image->image, &image->bytes, crew->device, image->source, crew->option);
}

/* Gives out all but the last one, which is for this thread, as far as there are processors. */
static void give_out(struct crew *crew, struct cuda_image *images, unsigned count, unsigned *left)
{
    while (*left > 1 && crew->active < crew->most && !crew->alone) {
        struct cuda_image *image = longest(images, count);
        crew->alone = !start(crew, idle(crew), image);
        image->begun = !crew->alone;
        *left -= image->begun;
    }
}

/* Where there are processors for all at once, the longest is this thread's, as a process takes a while to begin. */
static int compile_with(struct crew *crew, struct cuda_image *images, unsigned count)
{
    struct cuda_image *own = count && count <= crew->most + 1 ? longest(images, count) : NULL;
    unsigned left = count;
    int status = PENSTOCK_OK;
    if (own)
        own->begun = true;
    while (!status && (left || crew->active)) {
        give_out(crew, images, count, &left);
        if (left) {
            status = compile_here(crew, own ? own : longest(images, count));
            own = NULL;
            left--;
        }
        if (crew->active)
            listen_to(crew, !left);
        if (!status && crew->active && penstock__cancelled())
            status =
                penstock__error(PENSTOCK_ERR_TIMEOUT, "%s: nobody waits for the kernels any more", crew->device->name);
    }
    for (struct worker *worker = crew->workers; worker < crew->workers + MAX_HELPERS; worker++)
        if (worker->work)
            end(crew, worker, false);
    return status;
}

int penstock__cuda_compile_all(struct cuda_image *images, unsigned count, const struct penstock_device *device,
                               const char *option)
{
    unsigned threads = penstock__threads(device->context), processors = penstock__processors();
    unsigned width = threads < processors ? threads : processors;
    struct crew crew = {.device = device, .option = option};
    int status;
    crew.most = width > MAX_HELPERS ? MAX_HELPERS : width - 1;
    status = compile_with(&crew, images, count);
    for (struct cuda_image *image = images; image < images + count && !status; image++)
        if (!image->image)
            status = crew.crash
                         ? penstock__error(PENSTOCK_ERR_DEVICE, "%s: NVRTC crashed in a process of its own (signal %d)",
                                           device->name, crew.crash)
                         : compile_here(&crew, image);
    for (struct cuda_image *image = images; image < images + count && status; image++) {
        penstock__free(image->image);
        image->image = NULL;
    }
    return status;
}
