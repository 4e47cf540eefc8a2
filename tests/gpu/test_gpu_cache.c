/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The cache of compiled kernels: used the second time, compiled anew when it is stale or damaged, done without. */
#include "folder.h"
#include "gpu_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *device;
static unsigned refused; /* log lines about binaries that the driver refuses */
static bool notes;       /* PoCL on a CPU, which keeps kernels: a binary comes with the second use */

static void count_refusals(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)level;
    refused += strstr(line, "refuses the cached kernel") != NULL;
}

/* One context, one plan, its error checked; 77 where there is no device. */
static int plan_once(const char *folder)
{
    struct rig rig;
    int status = rig_open(&rig, device, &PENSTOCK_CONTEXT_DESC(.cache_dir = folder, .log = count_refusals));
    if (status)
        return status;
    notes = rig.device->on_cpu && strstr(rig.device->driver, "Portable Computing Language");
    rig_check(&rig, (struct penstock_fft_problem){.n = 8}, 0, folder);
    rig_close(&rig);
    return 0;
}

/* The first file in `folder` that holds a kernel; "" if none. */
static void find_kernel(const char *folder, char name[300])
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    *name = 0;
    while (listing && !*name && (entry = readdir(listing)))
        if (!strncmp(entry->d_name, device, strlen(device)) && entry->d_name[strlen(device)] == '-')
            snprintf(name, 300, "%s", entry->d_name);
    if (listing)
        closedir(listing);
}

/* A well-formed entry of the cache whose content is no binary, as a driver's update may leave behind. */
static void make_stale(const char *folder, const char *name)
{
    static const char content[] = "this was never a kernel";
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = folder)));
    CHECK(penstock__cache_write(context, name, content, sizeof content), "cannot write %s", name);
    penstock_context_free(context);
}

static size_t file_bytes(const char *folder, const char *name)
{
    char path[600];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &status) ? 0 : (size_t)status.st_size;
}

/* Of a binary that was made anew, which need not be as long as the first; a note is. */
static bool is_whole(const char *folder, const char *name, size_t first_bytes)
{
    const size_t bytes = file_bytes(folder, name);
    return notes ? bytes == first_bytes : bytes > 1000;
}

static void truncate_file(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(!truncate(path, (off_t)file_bytes(folder, name) / 2), "cannot shorten %s", path);
}

/* Kernels of many plans of one context, the last of which are written when it is freed. */
static void check_many(void)
{
    enum { MANY = 7 };
    struct rig rig;
    DIR *listing;
    struct dirent *entry;
    unsigned kernels = 0;
    CHECK(test_make_folder(), "cannot make a folder");
    CHECK_EQ(rig_open(&rig, device, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)), 0);
    for (unsigned twice = 0; twice < 2; twice++)
        for (size_t n = 1; n <= MANY; n++)
            rig_check(&rig, (struct penstock_fft_problem){.n = n}, 0, "one of many");
    rig_close(&rig);
    listing = opendir(test_folder);
    while (listing && (entry = readdir(listing)))
        kernels += !strncmp(entry->d_name, device, strlen(device)) && entry->d_name[strlen(device)] == '-';
    if (listing)
        closedir(listing);
    CHECK_EQ(kernels, MANY);
    test_remove_folder();
}

int main(int count, char **arguments)
{
    char name[300], again[300];
    size_t bytes;
    int status;
    device = rig_device(count, arguments);
    CHECK(test_make_folder(), "cannot make a folder");
    if ((status = plan_once(test_folder))) {
        test_remove_folder();
        return status;
    }
    find_kernel(test_folder, name);
    CHECK(*name, "no kernel in the cache");
    bytes = file_bytes(test_folder, name);
    CHECK(bytes > 1000 || notes, "%zu bytes are no binary", bytes);
    CHECK((bytes && bytes < 200) || !notes, "%zu bytes are no note", bytes);
    plan_once(test_folder);
    CHECK_EQ(refused, 0);
    if (notes)
        CHECK(file_bytes(test_folder, name) > 1000, "no binary behind the second use: %zu bytes",
              file_bytes(test_folder, name));
    else
        CHECK_EQ(file_bytes(test_folder, name), bytes);
    plan_once(test_folder);
    CHECK_EQ(refused, 0);

    make_stale(test_folder, name);
    plan_once(test_folder);
    CHECK_EQ(refused, 1);
    CHECK(is_whole(test_folder, name, bytes), "a stale binary was not replaced: %zu bytes",
          file_bytes(test_folder, name));

    truncate_file(test_folder, name); /* the cache itself sees that */
    plan_once(test_folder);
    CHECK_EQ(refused, 1);
    CHECK(is_whole(test_folder, name, bytes), "a damaged binary was not replaced");

    plan_once("/proc/no-such-folder");
    plan_once("");
    CHECK_EQ(rig_cases, 7);

    find_kernel(test_folder, again);
    CHECK(!strcmp(name, again), "the same kernel has two names: %s, %s", name, again);
    test_remove_folder();
    check_many();
    return test_finish();
}
