/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Files in the cache folder. Each starts with a line that tells its length and checksum, so that a file cut short
 * by a full disk or changed by anything else reads as absent; each is written under another name and then renamed.
 */
#include "core/base/cache_bound.h"
#include "core/base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_FILE_BYTES (256u << 20)
#define HEADER_FORMAT  PENSTOCK__CACHE_MARK "%zu %016" PRIx64 "\n"

/* FNV-1a: G. Fowler, L. Noll, K.-P. Vo. */
uint64_t penstock__hash(const void *content, size_t count)
{
    const unsigned char *bytes = content;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* What the product moves up comes down again. */
static uint64_t add_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x100000001b3u;
    return sum ^ sum >> 29;
}

/* Of a file's content, four sums of eight bytes at a time, none of which waits for another: kernels' binaries and
 * tables are long. */
static uint64_t checksum(const void *content, size_t count)
{
    const unsigned char *bytes = content;
    uint64_t sums[4] = {0xcbf29ce484222325u, 1, 2, 3}, words[4], sum;
    for (; count >= sizeof words; bytes += sizeof words, count -= sizeof words) {
        memcpy(words, bytes, sizeof words);
        for (unsigned i = 0; i < 4; i++)
            sums[i] = add_word(sums[i], words[i]);
    }
    sum = penstock__hash(bytes, count);
    for (unsigned i = 0; i < 4; i++)
        sum = add_word(sum, sums[i]);
    return sum;
}

static bool file_path(char path[PATH_MAX], const penstock_context *context, const char *name, const char *suffix)
{
    int length;
    if (!context->cache_dir)
        return false;
    length = snprintf(path, PATH_MAX, "%s/%s%s", context->cache_dir, name, suffix);
    return length > 0 && length < PATH_MAX;
}

static void *read_content(FILE *file, size_t *bytes)
{
    char header[64], expected[64];
    size_t count;
    char *content;
    if (!fgets(header, sizeof header, file) || sscanf(header, PENSTOCK__CACHE_MARK "%zu", &count) != 1 ||
        count > MAX_FILE_BYTES || !(content = penstock__alloc(count + 1)))
        return NULL;
    if (fread(content, 1, count + 1, file) == count) {
        snprintf(expected, sizeof expected, HEADER_FORMAT, count, checksum(content, count));
        if (!strcmp(header, expected)) {
            content[count] = 0; /* a reader of text may rely on it */
            *bytes = count;
            return content;
        }
    }
    penstock__free(content);
    return NULL;
}

/* What is no regular file is passed by: a pipe would wait for somebody to write. */
static FILE *open_regular(const char *path)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file =
        descriptor >= 0 && !fstat(descriptor, &status) && S_ISREG(status.st_mode) ? fdopen(descriptor, "rb") : NULL;
    if (!file && descriptor >= 0)
        close(descriptor);
    return file;
}

void *penstock__cache_read(penstock_context *context, const char *name, size_t *bytes)
{
    char path[PATH_MAX];
    void *content;
    FILE *file;
    *bytes = 0;
    if (!file_path(path, context, name, "") || !(file = open_regular(path)))
        return NULL;
    if ((content = read_content(file, bytes)))
        penstock__cache_note_use(fileno(file));
    fclose(file);
    return content;
}

/* mkdir -p, for this user alone as the XDG specification asks. */
static void make_folder(const char *folder)
{
    char path[PATH_MAX];
    size_t length = strlen(folder);
    if (length >= sizeof path)
        return;
    memcpy(path, folder, length + 1);
    for (char *c = path + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(path, 0700);
            *c = '/';
        }
    mkdir(path, 0700);
}

static bool write_content(int descriptor, const void *content, size_t bytes)
{
    FILE *file = fdopen(descriptor, "wb");
    bool written;
    if (!file) {
        close(descriptor);
        return false;
    }
    written = fprintf(file, HEADER_FORMAT, bytes, checksum(content, bytes)) > 0 &&
              (!bytes || fwrite(content, 1, bytes, file) == bytes) && !fflush(file);
    return !fclose(file) && written;
}

/* A file may grow no longer than the process is allowed (RLIMIT_FSIZE), whose signal would end it. */
static bool write_within_limit(int descriptor, const void *content, size_t bytes)
{
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    const bool written = write_content(descriptor, content, bytes);
    if (!written && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written;
}

bool penstock__cache_write(penstock_context *context, const char *name, const void *content, size_t bytes)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    int descriptor;
    if (bytes > MAX_FILE_BYTES || !file_path(path, context, name, "") ||
        !file_path(temporary, context, name, ".XXXXXX") || !penstock__cache_make_room(context, bytes))
        return false;
    make_folder(context->cache_dir);
    if ((descriptor = mkostemp(temporary, O_CLOEXEC)) < 0) {
        penstock__log(context, PENSTOCK_LOG_DEBUG, "cannot write to the cache folder %s: %s", context->cache_dir,
                      strerror(errno));
        return false;
    }
    if (write_within_limit(descriptor, content, bytes) && !rename(temporary, path))
        return true;
    unlink(temporary);
    return false;
}
