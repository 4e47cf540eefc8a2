/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What control groups leave of a machine's processors, in both versions' files. */
#include "core/base/processors.h"
#include "folder.h"

#include <sys/stat.h>

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(test_path(name), "w");
    CHECK(file && fputs(text, file) >= 0, "%s", name);
    if (file)
        fclose(file);
}

/* Those that a file's path names. */
static void make_folders(const char *path)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s", path);
    for (char *end = strchr(whole, '/'); end; end = strchr(end + 1, '/')) {
        *end = 0;
        mkdir(test_path(whole), 0700);
        *end = '/';
    }
}

/* Files of a group's folder, and what /proc/self/cgroup says. */
struct given {
    const char *groups;
    struct {
        const char *path, *text;
    } files[4];
    unsigned want;
};

static const struct given cases[] = {
    {.groups = ""},
    {.groups = "0::/\n"},
    {.groups = "0::/\n", .files = {{"cpu.max", "max 100000\n"}}},
    {.groups = "0::/\n", .files = {{"cpu.max", "200000 100000\n"}}, .want = 2},
    {.groups = "0::/\n", .files = {{"cpu.max", "150000 100000\n"}}, .want = 2},
    {.groups = "0::/\n", .files = {{"cpu.max", "1000 100000\n"}}, .want = 1},
    {.groups = "0::/\n", .files = {{"cpu.max", "0 100000\n"}}},
    {.groups = "0::/\n", .files = {{"cpu.max", "200000 0\n"}}},
    {.groups = "0::/\n", .files = {{"cpu.max", "200000\n"}}},
    {.groups = "0::/\n", .files = {{"cpu.max", "many 100000\n"}}},
    {.groups = "0::/\n", .files = {{"cpu.max", "9223372036854775807 1\n"}}},
    {.groups = "0::/\n", .files = {{"cpu.max", ""}}},
    /* the least of a group and of those that it is in, of which some may have no file */
    {.groups = "0::/a/b\n", .files = {{"a/b/cpu.max", "max 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, .want = 3},
    {.groups = "0::/a/b\n", .files = {{"a/b/cpu.max", "100000 50000\n"}, {"a/cpu.max", "300000 100000\n"}}, .want = 2},
    {.groups = "0::/a/b\n", .files = {{"a/b/cpu.max", "700000 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, .want = 3},
    {.groups = "0::/the/host's/path\n", .files = {{"cpu.max", "400000 100000\n"}}, .want = 4},
    /* the first version has a folder for each controller, and two files */
    {.groups = "4:memory:/x\n3:cpu,cpuacct:/a\n",
     .files = {{"cpu/a/cpu.cfs_quota_us", "250000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     .want = 3},
    {.groups = "1:cpu:/a\n", .files = {{"cpu/a/cpu.cfs_quota_us", "-1\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}}},
    {.groups = "1:cpu:/a\n", .files = {{"cpu/a/cpu.cfs_quota_us", "250000\n"}}},
    {.groups = "1:cpu:/docker/7f\n0::/\n",
     .files = {{"cpu/cpu.cfs_quota_us", "500000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     .want = 5},
    {.groups = "2:cpuacct:/\n3:cpuset:/\n",
     .files = {{"cpu/cpu.cfs_quota_us", "500000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}}},
    {.groups = "no line of such a file\n1:cpu\n", .files = {{"cpu.max", "200000 100000\n"}}},
};

static void limits(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct given *given = &cases[i];
        char root[32], groups[32], path[128], groups_path[256];
        snprintf(root, sizeof root, "root%zu", i);
        snprintf(groups, sizeof groups, "groups%zu", i);
        write_text(groups, given->groups);
        snprintf(groups_path, sizeof groups_path, "%s", test_path(groups));
        for (size_t f = 0; f < 4 && given->files[f].path; f++) {
            snprintf(path, sizeof path, "%s/%s", root, given->files[f].path);
            make_folders(path);
            write_text(path, given->files[f].text);
        }
        CHECK(penstock__processor_limit(groups_path, test_path(root)) == given->want, "case %zu: %u, not %u", i,
              penstock__processor_limit(groups_path, test_path(root)), given->want);
    }
    CHECK_EQ(penstock__processor_limit(test_path("absent"), test_path("absent")), 0);
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    limits();
    test_remove_folder();
    return test_finish();
}
