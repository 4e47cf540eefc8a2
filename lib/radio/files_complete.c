/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * New files in place of the old ones. One file is renamed over its old one. Where there are several, the old ones are
 * first set aside, the last first, and the new ones are placed, the first first: if one cannot be, all old ones come
 * back. What a program leaves that is killed between two of these steps, the next one that opens the output puts back.
 */
#include "radio/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* ---------------------------------------------------------------- before ---------------------- */

/* All bytes on their way, as far as the system tells: some tell of a full disk only when a file is closed, and that is
 * what closing a copy of the descriptor asks. An old file is at stake only where there is one: its successor is on the
 * disk before it goes. */
static int settle(penstock_file *output)
{
    int copy;
    if (output->borrowed) /* who wrote there knows */
        return PENSTOCK_OK;
    if (output->failure)
        return penstock__error(output->failure, "'%.200s' is not complete", output->name);
    if (output->existed && output->path && fdatasync(output->fd) && errno != EINVAL && errno != ENOSYS)
        return penstock__file_error(output, "write");
    if (!output->path && !output->is.regular)
        return PENSTOCK_OK;
    if ((copy = fcntl(output->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0 || close(copy))
        return penstock__file_error(output, "write");
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- placing --------------------- */

/* Out of the way, but not lost. Where the file system has hard links, and nothing would be described wrongly, the old
 * one is to be seen until its successor is there. */
static int set_aside(penstock_file *output)
{
    if (!output->existed)
        return PENSTOCK_OK;
    unlink(output->old);
    if ((output->hidden || link(output->path, output->old)) && rename(output->path, output->old)) {
        if (errno == ENOENT) { /* somebody has removed it meanwhile */
            output->existed = false;
            return PENSTOCK_OK;
        }
        return penstock__file_error(output, "replace");
    }
    output->aside = true;
    return PENSTOCK_OK;
}

static int place(penstock_file *output)
{
    if (rename(output->part, output->path))
        return penstock__file_error(output, "replace");
    output->placed = true;
    return PENSTOCK_OK;
}

/* From the last one on. */
static int set_all_aside(penstock_file *output)
{
    int status;
    if (!output)
        return PENSTOCK_OK;
    if ((status = set_all_aside(output->next)))
        return status;
    return output->path ? set_aside(output) : PENSTOCK_OK;
}

static int place_all(penstock_files *outputs)
{
    for (penstock_file *output = outputs->first; output; output = output->next) {
        int status = output->path ? place(output) : PENSTOCK_OK;
        if (status)
            return status;
    }
    return PENSTOCK_OK;
}

/* All as it was, in the order that keeps a description from standing beside what it does not describe. */
static void put_back(penstock_files *outputs)
{
    for (penstock_file *output = outputs->first; output; output = output->next)
        if (output->placed && output->hidden)
            unlink(output->path);
    for (penstock_file *output = outputs->first; output; output = output->next) {
        if (output->aside && !rename(output->old, output->path))
            unlink(output->old); /* a hard link that rename() found to be the same file */
        else if (!output->aside && output->placed && !output->hidden)
            unlink(output->path);
    }
}

/* In the order of placing: a description's old file is the last to go. */
static void forget_old(penstock_files *outputs)
{
    for (penstock_file *output = outputs->first; output; output = output->next)
        if (output->aside)
            unlink(output->old);
}

int penstock_files_complete(penstock_files *outputs)
{
    size_t files = 0;
    int status = PENSTOCK_OK;
    if (!outputs)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "outputs is NULL");
    if (outputs->completed)
        return penstock__error(PENSTOCK_ERR_STATE, "the outputs are complete already");
    if ((status = penstock__forked(outputs->forks, "a set of files")))
        return status;
    outputs->completed = true;
    for (penstock_file *output = outputs->first; output && !status; output = output->next) {
        status = settle(output);
        files += output->path != NULL;
    }
    if (!status && files > 1)
        status = set_all_aside(outputs->first);
    if (!status)
        status = place_all(outputs);
    if (status)
        put_back(outputs);
    else
        forget_old(outputs);
    for (penstock_file *output = outputs->first; output; output = output->next)
        if (!output->borrowed)
            penstock__file_drop(output);
    return status;
}

/* ---------------------------------------------------------------- after a kill ---------------- */

/* The old file back, or away where its successor stands. */
static void recover(penstock_file *output, bool complete)
{
    struct stat about;
    if (!output->old)
        return;
    if (complete) {
        unlink(output->old);
    } else if (!rename(output->old, output->path) && !stat(output->path, &about)) {
        unlink(output->old); /* a hard link that rename() found to be the same file */
        output->existed = true;
        output->is = penstock__identity_of(&about);
        penstock__file_take_permissions(output);
    }
}

void penstock__file_recover(penstock_file *output, penstock_file *describing)
{
    const penstock_file *last = describing ? describing : output;
    bool complete = last->path && !access(last->path, F_OK);
    recover(output, complete);
    if (describing)
        recover(describing, complete);
}
