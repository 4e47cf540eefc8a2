/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The cache folder's bound: what stays of more files than it may hold, with several processes at once, what others have
 * in the folder, and clearing. PENSTOCK_TEST_FULL=1: 2,000 plans instead of 40, before files of the size of theirs.
 */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "folder.h"

#include <penstock/cache.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT ((uint64_t)64 << 20)

static char content[9 << 20];

static penstock_context *new_context(void)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = test_folder)));
    return context;
}

/* Of all files in the folder, as the system tells their sizes; `*count` of them. */
static uint64_t folder_bytes(unsigned *count)
{
    struct dirent *entry;
    struct stat status;
    uint64_t bytes = 0;
    DIR *entries = opendir(test_folder);
    *count = 0;
    while (entries && (entry = readdir(entries)))
        if (!stat(test_path(entry->d_name), &status) && S_ISREG(status.st_mode)) {
            bytes += (uint64_t)status.st_size;
            ++*count;
        }
    if (entries)
        closedir(entries);
    return bytes;
}

static const char *name_of(unsigned i)
{
    static char name[64];
    snprintf(name, sizeof name, "expected-%016x-4099", i * 2654435761u);
    return name;
}

static bool has(penstock_context *context, const char *name, size_t bytes)
{
    size_t read;
    char *back = penstock__cache_read(context, name, &read);
    bool right = back && read == bytes && !memcmp(back, content, bytes);
    CHECK(!back || right, "%s reads as %zu bytes, or others", name, read);
    penstock__free(back);
    return right;
}

/* ---------------------------------------------------------------- one process ----------------- */

enum { FILES = 2000, FILE_BYTES = 200000, READ_EVERY = 50 };

/* 400 MB go through it. A file that is read now and then stays, however old it is. */
static void oldest_go_first(void)
{
    static const char used[] = "choice-0123456789abcdef";
    const struct timespec tick = {.tv_nsec = 5000000}; /* more than the clock of a file system is coarse */
    penstock_context *context = new_context();
    unsigned count, kept = 0, before = 0;
    uint64_t most = 0;
    CHECK(penstock__cache_write(context, used, content, 100), "cannot write");
    for (unsigned i = 0; i < FILES; i++) {
        CHECK(penstock__cache_write(context, name_of(i), content, FILE_BYTES), "cannot write file %u", i);
        if (i % READ_EVERY)
            continue;
        uint64_t bytes = folder_bytes(&count);
        most = bytes > most ? bytes : most;
        CHECK(has(context, used, 100), "the file that is used is gone after %u others", i);
        nanosleep(&tick, NULL);
    }
    CHECK(most <= LIMIT && most > LIMIT / 2, "the folder held %llu bytes", (unsigned long long)most);
    for (unsigned i = 0; i < FILES; i++) {
        bool there = !access(test_path(name_of(i)), F_OK);
        CHECK(there || !kept || i / READ_EVERY == before / READ_EVERY, "file %u went before file %u", i, before);
        before = there ? i : before;
        kept += there;
    }
    CHECK(kept >= 200 && kept <= 330, "%u files are left", kept);
    CHECK(has(context, name_of(FILES - 1), FILE_BYTES), "the last file is gone");
    penstock_context_free(context);
}

/* Too large to be kept, or just not. */
static void large_files(void)
{
    penstock_context *context = new_context();
    CHECK(!penstock__cache_write(context, "table-0000000000000000", content, (8 << 20) + 1),
          "8 MiB and a byte are kept");
    CHECK(penstock__cache_write(context, "table-0000000000000000", content, 8 << 20), "8 MiB are not kept");
    CHECK(has(context, "table-0000000000000000", 8 << 20), "8 MiB do not come back");
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- others ---------------------- */

static void write_many(unsigned seed)
{
    penstock_context *context = new_context();
    for (unsigned i = 0; i < 500; i++) {
        CHECK(penstock__cache_write(context, name_of(seed * 1000 + i % 300), content, 100000), "cannot write");
        if (i % 10 == 0)
            has(context, name_of((seed + 1) % 4 * 1000 + i), 100000); /* whole, or not there */
    }
    penstock_context_free(context);
}

/* Four processes that write, read and remove at once. */
static void several_processes(void)
{
    pid_t children[4];
    unsigned count;
    for (unsigned i = 0; i < 4; i++)
        if (!(children[i] = fork())) {
            test_checks = test_failures = 0;
            write_many(i);
            _exit(test_finish());
        }
    for (unsigned i = 0; i < 4; i++) {
        int status = -1;
        CHECK(children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && !status, "process %u: %d", i,
              status);
    }
    uint64_t bytes = folder_bytes(&count);
    CHECK(bytes <= LIMIT && bytes > LIMIT / 2, "%llu bytes in %u files", (unsigned long long)bytes, count);
}

/* ---------------------------------------------------------------- not ours -------------------- */

static const char *const others[] = {"notes.txt", "photo-0123456789abcdef", "probe-cpu-0123456789abcdeg",
                                     "-0123456789abcdef", "check-cpu.txt"};

static void put(const char *name, size_t bytes)
{
    FILE *file = fopen(test_path(name), "w");
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CHECK(file && fwrite(content, 1, bytes, file) == bytes, "cannot write %s", name);
    if (file)
        fclose(file);
    CHECK(!utimensat(AT_FDCWD, test_path(name), old, 0), "cannot set the time of %s", name);
}

/* Files of others are older than all, and stay; what a process left that was killed while it wrote goes. */
static void other_files(void)
{
    penstock_context *context = new_context();
    penstock_cache_info info = PENSTOCK_CACHE_INFO;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        put(others[i], 1000);
    put("tuned-0123456789abcdef.aB3xY9", 0);
    CHECK(!mkdir(test_path("expected-aaaaaaaaaaaaaaaa-1"), 0700), "cannot make a folder");
    CHECK(!symlink("notes.txt", test_path("expected-bbbbbbbbbbbbbbbb-1")), "cannot make a link");
    for (unsigned i = 0; i < 400; i++)
        penstock__cache_write(context, name_of(i), content, FILE_BYTES);
    CHECK(access(test_path("tuned-0123456789abcdef.aB3xY9"), F_OK), "an unfinished file stays");
    CHECK_OK(penstock_cache_get_info(context, &info));
    CHECK(!strcmp(info.folder, test_folder) && info.limit_bytes == LIMIT, "folder %s", info.folder);
    CHECK(info.files > 200 && info.bytes > LIMIT / 2 && info.bytes <= LIMIT, "%llu files, %llu bytes",
          (unsigned long long)info.files, (unsigned long long)info.bytes);
    CHECK_EQ(penstock_cache_clear(context), PENSTOCK_ERR_FILE); /* one has our name and is none of ours */
    CHECK(strstr(penstock_error_text(), "4096 bytes cannot be removed"), "'%s'", penstock_error_text());
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!access(test_path(others[i]), F_OK), "%s is gone", others[i]);
    CHECK(!access(test_path("expected-aaaaaaaaaaaaaaaa-1"), F_OK), "a folder is gone");
    CHECK(!access(test_path("expected-bbbbbbbbbbbbbbbb-1"), F_OK), "a link is gone");
    unlink(test_path("photo-0123456789abcdef"));
    CHECK_OK(penstock_cache_clear(context));
    CHECK_OK(penstock_cache_get_info(context, &info));
    CHECK(!info.files && !info.bytes, "%llu files are left", (unsigned long long)info.files);
    penstock_context_free(context);
}

static void arguments(void)
{
    penstock_context *context = NULL;
    penstock_cache_info info = PENSTOCK_CACHE_INFO;
    CHECK_EQ(penstock_cache_clear(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_cache_get_info(NULL, &info), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_EQ(penstock_cache_get_info(context, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_cache_get_info(context, &info));
    CHECK(!info.folder && !info.files && !info.bytes, "there is no folder");
    CHECK_OK(penstock_cache_clear(context));
    penstock_context_free(context);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "/none/penstock")));
    CHECK_OK(penstock_cache_get_info(context, &info));
    CHECK(!info.files && !info.bytes, "a folder that is not there has files");
    CHECK_OK(penstock_cache_clear(context));
    penstock_context_free(context);
}

/* Without memory for the list, files are written all the same. */
static void memory_fails(void)
{
    penstock_context *context = new_context();
    penstock__memory_fail_at(0);
    CHECK(penstock__cache_write(context, name_of(1), content, 1000), "nothing is written");
    penstock__memory_fail_at(-1);
    CHECK(has(context, name_of(1), 1000), "nothing was written");
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- plans ----------------------- */

/* Different ones, half of them with values that are kept. */
static void plans(unsigned plan_count)
{
    penstock_context *context = new_context();
    unsigned count;
    for (unsigned i = 0; i < plan_count; i++) {
        penstock_plan *plan;
        size_t n = i % 2 ? 4 * (1031 + i) : 4 + i;
        CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n), "cpu"));
        penstock_plan_free(plan);
    }
    uint64_t bytes = folder_bytes(&count);
    CHECK(bytes <= LIMIT && count, "%u plans left %llu bytes in %u files", plan_count, (unsigned long long)bytes,
          count);
    penstock_context_free(context);
}

int main(void)
{
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 7 + i / 1000);
    CHECK(test_make_folder(), "no temporary folder");
    arguments();
    memory_fails();
    plans(getenv("PENSTOCK_TEST_FULL") ? 2000 : 40);
    oldest_go_first();
    large_files();
    several_processes();
    other_files();
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
