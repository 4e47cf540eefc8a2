/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The kernels of a prime length compiled side by side, by the real helper and the NVRTC that is installed: images from
 * processes of their own have the bits of those made here.
 */
#include "core/base/memory.h"
#include "gpu/kernel.h"
#include "nvrtc_rig.h"

#include <sched.h>

#define KERNELS 3
#define OPTION  "--gpu-architecture=sm_90"

/* As many processors as kernels, wherever this runs. */
int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(bytes, set);
    for (size_t i = 0; i < KERNELS; i++)
        CPU_SET_S(i, bytes, set);
    return 0;
}

static unsigned here; /* kernels compiled in this process */

static nvrtcResult counting_create(nvrtcProgram *program, const char *source, const char *name, int header_count,
                                   const char *const *headers, const char *const *header_names)
{
    here++;
    return nvrtc.CreateProgram(program, source, name, header_count, headers, header_names);
}

/* By as many processes at once as `threads`; `expected` kernels in this one. */
static void compile(struct cuda_image *images, unsigned threads, unsigned expected)
{
    struct cuda_api api = {.nvrtc = {0}};
    struct cuda_device opened = {.api = &api};
    struct penstock_device device = {.name = "cuda:0", .priv = &opened};
#define TAKE(name, symbol, parameters) api.nvrtc.name = nvrtc.name;
    NVRTC_FUNCTIONS(TAKE)
#undef TAKE
    api.nvrtc.CreateProgram = counting_create;
    CHECK_EQ(api.nvrtc.Version(&api.nvrtc_major, &api.nvrtc_minor), 0);
    CHECK_OK(penstock_context_new(&device.context, &PENSTOCK_CONTEXT_DESC(.threads = threads, .cache_dir = "")));
    here = 0;
    CHECK_OK(penstock__cuda_compile_all(images, KERNELS, &device, OPTION));
    CHECK_EQ(here, expected);
    penstock_context_free(device.context);
}

int main(void)
{
    const struct gpu_limits limits = {.local_bytes = 48 << 10, .max_group = 1024};
    const struct penstock_fft_problem fft = {.n = 10007, .spacing = 10007, .scale = 1, .average = 1};
    struct cuda_image apart[KERNELS] = {0}, alone[KERNELS] = {0};
    struct gpu_text texts[KERNELS] = {0};
    struct gpu_decomposition decomposition;
    penstock_context *context = NULL;
    if (!nvrtc_load())
        return test_skip("no NVRTC (libnvrtc.so of the CUDA toolkit)");
    unsetenv("PENSTOCK_COMPILE");
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits, 0));
    CHECK_EQ(decomposition.count, KERNELS);
    for (unsigned i = 0; i < KERNELS; i++) {
        struct gpu_table table;
        penstock__gpu_table_plan(&table, &decomposition, i, &fft);
        CHECK_OK(penstock__gpu_kernel_source(&texts[i], context, &decomposition, i, &table, &fft));
        apart[i].source = alone[i].source = texts[i].content;
    }
    compile(apart, KERNELS, 1);
    compile(alone, 1, KERNELS);
    for (unsigned i = 0; i < KERNELS; i++) {
        CHECK(apart[i].bytes == alone[i].bytes && !memcmp(apart[i].image, alone[i].image, alone[i].bytes),
              "kernel %u has other bits from a process of its own", i);
        penstock__free(apart[i].image);
        penstock__free(alone[i].image);
        penstock__text_free(&texts[i]);
    }
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
