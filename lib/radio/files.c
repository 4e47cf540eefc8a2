/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sets of output files: their life, what must not be written, and writing. */
#include "radio/files.h"
#include "core/stream/rest.h"
#include "radio/source_kind.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS   50                        /* between two looks at a stop */
#define PATIENCE  200000000ull              /* ns after a stop */
#define FILE_TAKE ((size_t)64 << 20)        /* a signal handler of the caller's gets its turn between two */
#define PIPE_TAKE ((size_t)PIPE_BUF)        /* what poll() promises to go into a pipe without waiting, */
#define SOME_TAKE ((size_t)_POSIX_PIPE_BUF) /* and of a terminal or socket is believed to */

/* ---------------------------------------------------------------- life ------------------------ */

int penstock_files_new(penstock_files **outputs)
{
    if (!outputs)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "outputs is NULL");
    if (!(*outputs = penstock__calloc(1, sizeof **outputs)))
        return PENSTOCK_ERR_MEMORY;
    atomic_init(&(*outputs)->stop_ns, 0);
    (*outputs)->forks = penstock__forks();
    return PENSTOCK_OK;
}

static void free_output(penstock_file *output)
{
    penstock__file_drop(output);
    penstock__free(output->name);
    penstock__free(output->path);
    penstock__free(output->part);
    penstock__free(output->old);
    penstock__free(output);
}

void penstock_files_free(penstock_files *outputs)
{
    if (!outputs)
        return;
    while (outputs->first) {
        penstock_file *next = outputs->first->next;
        free_output(outputs->first);
        outputs->first = next;
    }
    penstock__identities_free(&outputs->protected);
    penstock__free(outputs);
}

void penstock__file_spoil(penstock_file *output, int failure)
{
    if (!output->failure)
        output->failure = failure;
}

bool penstock__file_is_file(const penstock_file *output)
{
    return output->is.regular || output->path;
}

/* ---------------------------------------------------------------- protection ------------------ */

static int refuse_input(const penstock_file *output)
{
    return penstock__error(PENSTOCK_ERR_ARGUMENT, "'%.200s' is an input: it would be written while it is read",
                           output->name);
}

/* Is one of the outputs that are open protected now? */
static int check_open_outputs(const penstock_files *outputs)
{
    for (const penstock_file *output = outputs->first; output; output = output->next)
        if (penstock__identities_have(&outputs->protected, output->is))
            return refuse_input(output);
    return PENSTOCK_OK;
}

int penstock_files_protect(penstock_files *outputs, const char *path)
{
    int status;
    if (!outputs || !path)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "outputs or path is NULL");
    status = penstock__identities_add_path(&outputs->protected, path);
    return status ? status : check_open_outputs(outputs);
}

int penstock_files_protect_source(penstock_files *outputs, const penstock_source *source)
{
    if (!outputs || !source)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "outputs or source is NULL");
    for (size_t i = 0; i < source->files.count; i++) {
        int status = penstock__identities_add(&outputs->protected, source->files.list[i]);
        if (status)
            return status;
    }
    return check_open_outputs(outputs);
}

/* Of one that has its place, and is not in the set yet. */
static int check_alone(const penstock_files *outputs, const penstock_file *output)
{
    if (penstock__identities_have(&outputs->protected, output->is))
        return refuse_input(output);
    for (const penstock_file *other = outputs->first; other; other = other->next) {
        bool both_given = output->given && other->given; /* two writers of one terminal or pipe, say */
        if (!both_given && (penstock__identity_same(other->is, output->is) ||
                            (other->path && output->path && !strcmp(other->path, output->path))))
            return penstock__error(PENSTOCK_ERR_ARGUMENT, "'%.200s' and '%.200s' are one file", other->name,
                                   output->name);
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- opening --------------------- */

static int open_unrecovered(penstock_file **output, penstock_files *outputs, const char *path)
{
    penstock_file *self = penstock__calloc(1, sizeof *self);
    int status = PENSTOCK_ERR_MEMORY;
    if (!self)
        return status;
    self->set = outputs;
    self->fd = -1;
    if (!(self->name = penstock__strdup(strcmp(path, "-") ? path : "standard output")) ||
        (status = penstock__file_place(self, path)) || (status = check_alone(outputs, self)) ||
        (status = penstock__file_begin(self))) {
        free_output(self);
        return status;
    }
    if (outputs->last)
        outputs->last->next = self;
    else
        outputs->first = self;
    outputs->last = self;
    outputs->count++;
    *output = self;
    return PENSTOCK_OK;
}

static int check_opening(const penstock_files *outputs, const char *path)
{
    if (!outputs)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "outputs is NULL");
    if (outputs->completed)
        return penstock__error(PENSTOCK_ERR_STATE, "the outputs are complete: no more can be opened");
    if (penstock__forked(outputs->forks, "a set of files"))
        return PENSTOCK_ERR_STATE;
    if (!path || !*path)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "no file named: a path, or '-' for standard output");
    return PENSTOCK_OK;
}

int penstock_file_open(penstock_file **output, penstock_files *outputs, const char *path)
{
    int status;
    if (!output)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "output is NULL");
    *output = NULL;
    if ((status = check_opening(outputs, path)) || (status = open_unrecovered(output, outputs, path)))
        return status;
    penstock__file_recover(*output, NULL);
    return PENSTOCK_OK;
}

int penstock__file_open_pair(penstock_file **data, penstock_file **description, penstock_files *outputs,
                             const char *data_path, const char *description_path)
{
    int status;
    *data = *description = NULL;
    if ((status = check_opening(outputs, data_path)) || (status = open_unrecovered(data, outputs, data_path)) ||
        (status = open_unrecovered(description, outputs, description_path))) {
        if (*data)
            penstock__file_spoil(*data, status);
        return status;
    }
    (*description)->hidden = true;
    penstock__file_recover(*data, *description);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- writing --------------------- */

static unsigned long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

void penstock_files_stop(penstock_files *outputs)
{
    unsigned long long never = 0;
    if (outputs)
        atomic_compare_exchange_strong(&outputs->stop_ns, &never, now_ns() + PATIENCE);
}

/* Waits until a pipe or device takes something; false when there is to be no more waiting. */
static bool wait_for_room(const penstock_file *output)
{
    struct pollfd wait = {.fd = output->fd, .events = POLLOUT};
    for (;;) {
        unsigned long long stop_ns = atomic_load(&output->set->stop_ns);
        bool over = stop_ns && now_ns() >= stop_ns;
        if (poll(&wait, 1, over ? 0 : LOOK_MS) > 0)
            return true;
        if (over)
            return false;
    }
}

/* Bytes that are written at once. */
static size_t most_at_once(const penstock_file *output)
{
    struct stat about;
    if (penstock__file_is_file(output))
        return FILE_TAKE;
    return !fstat(output->fd, &about) && S_ISFIFO(about.st_mode) ? PIPE_TAKE : SOME_TAKE;
}

static int write_all(penstock_file *output, const char *bytes, size_t count)
{
    const size_t most = most_at_once(output);
    while (count) {
        ssize_t written;
        if (most < FILE_TAKE && !wait_for_room(output))
            return penstock__error(PENSTOCK_ERR_TIMEOUT, "'%.200s' takes nothing: %zu bytes are left out", output->name,
                                   count);
        written = write(output->fd, bytes, count < most ? count : most);
        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written < 0)
            return penstock__file_error(output, "write");
        bytes += written;
        count -= (size_t)written;
    }
    return PENSTOCK_OK;
}

int penstock_file_write(penstock_file *output, const void *bytes, size_t count)
{
    int status;
    if (!output || (!bytes && count))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "output or bytes is NULL");
    if (output->fd < 0)
        return penstock__error(PENSTOCK_ERR_STATE, "'%.200s' is closed", output->name);
    if (output->failure)
        return penstock__error(output->failure, "an earlier write to '%.200s' failed", output->name);
    if ((status = penstock__forked(output->set->forks, output->name)))
        return status;
    if ((status = penstock__check_count("penstock_file_write", count, 1)))
        return status;
    if ((status = write_all(output, bytes, count)))
        penstock__file_spoil(output, status);
    return status;
}
