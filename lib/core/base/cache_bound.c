/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The bound on the cache folder. Before a file is written, the folder is looked through, at a context's first file and
 * whenever it has written SEEN_ANEW bytes since; what was used longest ago goes when there is no room. Several
 * processes do so without a word between them: a file that is gone already is as good as removed, and one that is being
 * read stays readable. Only files that are ours by name and by their first bytes are touched: the folder may have
 * others.
 */
#include "core/base/cache_bound.h"
#include "core/base/context.h"
#include "core/base/description.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT     ((uint64_t)64 << 20)
#define TOO_MUCH  (LIMIT - LIMIT / 8) /* others may be writing: SEEN_ANEW each */
#define LEFT      (LIMIT - LIMIT / 4)
#define SEEN_ANEW ((uint64_t)1 << 20)
#define MOST_FILE (LIMIT / 8)
#define BLOCK     4096 /* what a file takes is a multiple of this in most file systems */

struct file {
    char name[64];
    uint64_t bytes;
    struct timespec used;
};

struct listing {
    struct file *files;
    size_t count, capacity;
    uint64_t bytes;
};

static uint64_t room_of(uint64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---------------------------------------------------------------- what there is --------------- */

/* KIND-HASH, behind which there may be a number of points, and what a file has that is being written: ".XXXXXX". */
static bool has_our_name(const char *name)
{
    for (const char *dash = strchr(name, '-'); dash && dash != name; dash = strchr(dash + 1, '-')) {
        size_t digits = strspn(dash + 1, "0123456789abcdef");
        const char *rest = dash + 1 + digits;
        if (digits < 16)
            continue;
        if (*rest == '-')
            rest += 1 + strspn(rest + 1, "0123456789");
        return !*rest || (*rest == '.' && strlen(rest) == 7);
    }
    return false;
}

static void add(struct listing *listing, const char *name, const struct stat *status)
{
    struct file *file;
    if (listing->count == listing->capacity) {
        size_t more = 2 * listing->capacity + 256;
        void *files = penstock__realloc(listing->files, listing->capacity * sizeof *file, more * sizeof *file);
        if (!files)
            return;
        listing->files = files;
        listing->capacity = more;
    }
    file = &listing->files[listing->count++];
    memcpy(file->name, name, strlen(name) + 1);
    file->bytes = room_of((uint64_t)status->st_size);
    file->used = status->st_atim;
    listing->bytes += file->bytes;
}

/* Of the files that fit in memory; an empty list where there is no folder. Its descriptor, or -1. */
static int list_files(struct listing *listing, const char *path)
{
    struct dirent *entry;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        again = folder < 0 ? -1 : fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    memset(listing, 0, sizeof *listing);
    if (!entries && again >= 0)
        close(again);
    while (entries && (entry = readdir(entries))) {
        struct stat status;
        if (strlen(entry->d_name) < sizeof listing->files->name && has_our_name(entry->d_name) &&
            !fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode))
            add(listing, entry->d_name, &status);
    }
    if (entries)
        closedir(entries);
    return folder;
}

static void forget_files(struct listing *listing, int folder)
{
    penstock__free(listing->files);
    if (folder >= 0)
        close(folder);
}

/* ---------------------------------------------------------------- removing -------------------- */

/* An empty one is a file that was never finished. */
static bool has_our_mark(int folder, const char *name)
{
    char start[sizeof PENSTOCK__CACHE_MARK - 1];
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t count = file < 0 ? -1 : read(file, start, sizeof start);
    if (file >= 0)
        close(file);
    return !count || (count == sizeof start && !memcmp(start, PENSTOCK__CACHE_MARK, sizeof start));
}

/* False where it is still there. */
static bool remove_file(int folder, const struct file *file)
{
    struct stat status;
    if (has_our_mark(folder, file->name) && !unlinkat(folder, file->name, 0))
        return true;
    return fstatat(folder, file->name, &status, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

static int compare_use(const void *a, const void *b)
{
    const struct file *one = a, *other = b;
    if (one->used.tv_sec != other->used.tv_sec)
        return one->used.tv_sec < other->used.tv_sec ? -1 : 1;
    if (one->used.tv_nsec != other->used.tv_nsec)
        return one->used.tv_nsec < other->used.tv_nsec ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Until `most` bytes are left: those that were used longest ago. How many files went. */
static size_t remove_oldest(int folder, struct listing *listing, uint64_t most)
{
    size_t removed = 0;
    if (listing->count)
        qsort(listing->files, listing->count, sizeof *listing->files, compare_use);
    for (size_t i = 0; i < listing->count && listing->bytes > most; i++)
        if (remove_file(folder, &listing->files[i])) {
            listing->bytes -= listing->files[i].bytes;
            removed++;
        }
    return removed;
}

void penstock__cache_bound_init(penstock_context *context)
{
    atomic_store(&context->cache_unseen, SEEN_ANEW);
}

bool penstock__cache_make_room(penstock_context *context, size_t bytes)
{
    struct listing listing;
    uint64_t room = room_of(bytes);
    size_t removed = 0;
    int folder;
    if (room > MOST_FILE)
        return false;
    if (atomic_fetch_add(&context->cache_unseen, room) + room <= SEEN_ANEW)
        return true;
    atomic_store(&context->cache_unseen, 0);
    folder = list_files(&listing, context->cache_dir);
    if (listing.bytes + room > TOO_MUCH)
        removed = remove_oldest(folder, &listing, LEFT - room);
    forget_files(&listing, folder);
    if (removed)
        penstock__log(context, PENSTOCK_LOG_DEBUG, "%zu files that were used longest ago left the cache folder %s",
                      removed, context->cache_dir);
    return true;
}

/* The time of its last reading, whatever the file system does about that by itself. */
void penstock__cache_note_use(int descriptor)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    futimens(descriptor, times);
}

/* ---------------------------------------------------------------- the application ------------- */

int penstock_cache_get_info(penstock_context *context, penstock_cache_info *info)
{
    penstock_cache_info known = PENSTOCK_CACHE_INFO;
    struct listing listing = {0};
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_cache_get_info: the context is NULL");
    known.folder = context->cache_dir;
    known.limit_bytes = LIMIT;
    if (context->cache_dir)
        forget_files(&listing, list_files(&listing, context->cache_dir));
    known.files = listing.count;
    known.bytes = listing.bytes;
    return penstock__description_write(info, &known, sizeof known, "penstock_cache_info");
}

int penstock_cache_clear(penstock_context *context)
{
    struct listing listing;
    uint64_t left;
    int folder;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_cache_clear: the context is NULL");
    if (!context->cache_dir)
        return PENSTOCK_OK;
    folder = list_files(&listing, context->cache_dir);
    remove_oldest(folder, &listing, 0);
    left = listing.bytes;
    forget_files(&listing, folder);
    return left ? penstock__error(PENSTOCK_ERR_FILE, "%llu bytes cannot be removed from the cache folder %s",
                                  (unsigned long long)left, context->cache_dir)
                : PENSTOCK_OK;
}
