/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * penstock-compile LIBRARY VERSION OPTION: the source at its input as an image at its output (apart.h), or nothing
 * where that NVRTC has another version or does not compile it. Of our library it needs nothing, so that it starts at
 * once.
 */
#include "backends/cuda/apart.h"
#include "backends/cuda/driver_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
#define NVRTC_MEMBER(name, symbol, parameters) nvrtcResult(*name) parameters;
    NVRTC_FUNCTIONS(NVRTC_MEMBER)
#undef NVRTC_MEMBER
} nvrtc;

static bool load(const char *path, const char *version)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    char text[32];
    int major, minor;
    if (!library)
        return false;
#define FIND(name, symbol_name, parameters)       \
    if (!(symbol = dlsym(library, #symbol_name))) \
        return false;                             \
    memcpy((void *)&nvrtc.name, &symbol, sizeof symbol);
    NVRTC_FUNCTIONS(FIND)
#undef FIND
    if (nvrtc.Version(&major, &minor))
        return false;
    snprintf(text, sizeof text, "%d.%d", major, minor);
    return !strcmp(text, version);
}

/* All of the input, as text. */
static char *read_source(void)
{
    size_t capacity = 1 << 17, used = 0;
    char *text = malloc(capacity), *more;
    while (text) {
        ssize_t count = read(STDIN_FILENO, text + used, capacity - 1 - used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return NULL;
        used += (size_t)count;
        text[used] = 0;
        if (!count)
            return text;
        if (used == capacity - 1) {
            if (!(more = realloc(text, capacity *= 2)))
                return NULL;
            text = more;
        }
    }
    return NULL;
}

static char *compile(const char *source, const char *option, size_t *bytes)
{
    bool machine = strstr(option, "=sm_");
    nvrtcProgram program;
    char *image;
    if (nvrtc.CreateProgram(&program, source, "fft.cu", 0, NULL, NULL) || nvrtc.CompileProgram(program, 1, &option) ||
        (machine ? nvrtc.GetCUBINSize(program, bytes) : nvrtc.GetPTXSize(program, bytes)) ||
        !(image = malloc(*bytes)) || (machine ? nvrtc.GetCUBIN(program, image) : nvrtc.GetPTX(program, image)))
        return NULL;
    return image;
}

static bool write_all(int output, const void *content, size_t bytes)
{
    const char *at = content;
    while (bytes) {
        ssize_t count = write(output, at, bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct cuda_apart_head head = {.mark = CUDA_APART_MARK};
    int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char *source, *image = NULL;
    size_t bytes = 0;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    if (argc != 4 || answer < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || !load(argv[1], argv[2]) ||
        !(source = read_source()) || !(image = compile(source, argv[3], &bytes)))
        _exit(1);
    head.bytes = bytes;
    _exit(!write_all(answer, &head, sizeof head) || !write_all(answer, image, bytes));
}
