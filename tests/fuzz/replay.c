/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Runs a fuzz target over files and folders of files: what a fuzzer found stays found, without a fuzzer installed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int failures;

static long run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST);
    size_t size = 0;
    if (file && data)
        size = fread(data, 1, LARGEST, file);
    if (!file || !data || ferror(file)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        failures++;
    } else {
        /* a block of its own size, so that a sanitizer sees a read beyond it */
        uint8_t *exact = malloc(size ? size : 1);
        if (exact) {
            memcpy(exact, data, size);
            LLVMFuzzerTestOneInput(exact, size);
        }
        free(exact);
    }
    free(data);
    if (file)
        fclose(file);
    return 1;
}

static long run_path(const char *path)
{
    struct stat status;
    struct dirent *entry;
    DIR *folder;
    long count = 0;
    if (stat(path, &status) || !S_ISDIR(status.st_mode))
        return run_file(path);
    folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        count += run_file(name);
    }
    if (folder)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    long count = 0;
    for (int i = 1; i < argc; i++)
        count += run_path(argv[i]);
    printf("%ld inputs, %d failed\n", count, failures);
    return failures || !count;
}
