/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The library loaded, used and unloaded over and over: no round leaves more memory behind. Usage: test_reload LIBRARY
 */
#include "test.h"

#include <penstock/penstock.h>

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

enum { ROUNDS = 12, SETTLED = 4, MOST_A_ROUND = 4096 };

static const char *library;

static void find(void *handle, void *function, const char *name)
{
    void *symbol = dlsym(handle, name);
    CHECK(symbol, "%s has no %s", library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void use(size_t n)
{
    int (*context_new)(penstock_context **, const penstock_context_desc *);
    int (*fft_plan)(penstock_plan **, penstock_context *, const penstock_fft_desc *, const char *);
    void (*context_free)(penstock_context *), (*plan_free)(penstock_plan *);
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle, "%s", dlerror());
    if (!handle)
        return;
    find(handle, &context_new, "penstock_context_new");
    find(handle, &fft_plan, "penstock_fft_plan");
    find(handle, &context_free, "penstock_context_free");
    find(handle, &plan_free, "penstock_plan_free");
    CHECK_EQ(context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .cache_dir = "")), 0);
    CHECK_EQ(fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n), "cpu"), 0);
    plan_free(plan);
    context_free(context);
    CHECK_EQ(dlclose(handle), 0);
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void *reload(void *unused)
{
    static const size_t lengths[] = {64, 240, 1021};
    (void)unused;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t before = 0;
        for (int round = 0; round < ROUNDS; round++) {
            if (round == SETTLED)
                before = in_use();
            use(lengths[i]);
        }
        double a_round = ((double)in_use() - (double)before) / (ROUNDS - SETTLED);
        printf("%zu points: %.0f bytes a round\n", lengths[i], a_round);
        CHECK(a_round < MOST_A_ROUND, "%zu points: %.0f bytes a round stay", lengths[i], a_round);
    }
    return NULL;
}

/* Contexts of the main thread keep the library loaded; those of another one do not. */
int main(int argc, char **argv)
{
    pthread_t thread;
    library = argc > 1 ? argv[1] : "";
    if (SANITIZED)
        return test_skip("a sanitizer's allocator has no mallinfo2()");
    CHECK_EQ(pthread_create(&thread, NULL, reload, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!dlopen(library, RTLD_NOW | RTLD_NOLOAD), "the library is still loaded");
    return test_finish();
}
