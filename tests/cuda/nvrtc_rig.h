/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* NVRTC, where it is installed, for tests that compile kernels for CUDA without a GPU. */
#ifndef PENSTOCK_TEST_NVRTC_RIG_H
#define PENSTOCK_TEST_NVRTC_RIG_H

#include "backends/cuda/cuda.h"
#include "test.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static struct {
#define MEMBER(name, symbol, parameters) nvrtcResult(*name) parameters;
    NVRTC_FUNCTIONS(MEMBER)
#undef MEMBER
} nvrtc;

/* False where there is none. */
static inline bool nvrtc_load(void)
{
    char reason[256];
    void *library = penstock__cuda_nvrtc_open(reason), *symbol;
    if (!library)
        return false;
#define FIND(name, symbol_name, parameters)       \
    if (!(symbol = dlsym(library, #symbol_name))) \
        return false;                             \
    memcpy((void *)&nvrtc.name, &symbol, sizeof symbol);
    NVRTC_FUNCTIONS(FIND)
#undef FIND
    return true;
}

/* The program, to be destroyed; whether it was compiled. */
static inline bool nvrtc_compile(nvrtcProgram *program, const char *source, const char *option, const char *what)
{
    static char log[1 << 16];
    size_t bytes = 0;
    nvrtcResult code;
    CHECK_EQ(nvrtc.CreateProgram(program, source, "fft.cu", 0, NULL, NULL), 0);
    code = nvrtc.CompileProgram(*program, 1, &option);
    if (code && !nvrtc.GetProgramLogSize(*program, &bytes) && bytes < sizeof log)
        nvrtc.GetProgramLog(*program, log);
    CHECK(!code, "%s: %.800s", what, log);
    return !code;
}

#endif
