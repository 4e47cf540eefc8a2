/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A kernel's text, compiled for the host. */
#include "gpu_trace_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words that the host's compiler does not know, and what it gets instead. */
static const struct {
    const char *from, *to;
} words[] = {{"extern \"C\" __global__", "TRACE_KERNEL __global__"},
             {"asm volatile(\"prefetch.global.L2 [%0];\" ::\"l\"(p));", "trace_fetch(p);"},
             {"asm volatile(", "asm("},
             {"(float4)(", "make_float4("}};

static void write_text(FILE *file, const char *text)
{
    while (*text) {
        const char *next = NULL;
        size_t which = 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            const char *found = strstr(text, words[i].from);
            if (found && (!next || found < next)) {
                next = found;
                which = i;
            }
        }
        if (!next)
            break;
        fprintf(file, "%.*s%s", (int)(next - text), text, words[which].to);
        text = next + strlen(words[which].from);
    }
    fputs(text, file);
}

bool gpu_trace_has_cxx(void)
{
    const char *compiler = getenv("PENSTOCK_TEST_CXX");
    return compiler && *compiler;
}

static bool compile(const struct gpu_trace *trace, const char *source, const char *library)
{
    const char *compiler = getenv(trace->cxx ? "PENSTOCK_TEST_CXX" : "PENSTOCK_TEST_CC");
    char command[2400];
    FILE *file = fopen(source, "w");
    if (!file)
        return false;
    fputs("#include <gpu_trace_host.h>\n", file);
    write_text(file, trace->text);
    fclose(file);
    snprintf(command, sizeof command,
             "%s -x %s -std=%s -O0 -w -fPIC -fsanitize=thread -shared -nostdlib "
             "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset -I%s -o %s %s",
             compiler && *compiler ? compiler : "cc", trace->cxx ? "c++" : "c",
             trace->cxx ? "gnu++17 -fno-exceptions -fno-rtti" : "gnu11", PENSTOCK_TRACE_FOLDER, library, source);
    return !system(command);
}

void *gpu_trace_compile(const struct gpu_trace *trace, void **code)
{
    char source[600], library[600];
    void *symbol = NULL;
    snprintf(source, sizeof source, "%s/kernel.c", trace->folder);
    snprintf(library, sizeof library, "%s/kernel.so", trace->folder);
    *code = compile(trace, source, library) ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (*code && !(symbol = dlsym(*code, trace->name)))
        fprintf(stderr, "there is no %s\n", trace->name);
    else if (!*code)
        fprintf(stderr, "%s: not compiled, or %s\n", source, dlerror());
    unlink(source);
    unlink(library);
    return symbol;
}
