/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Kernels on the host, a work-item after the other, and what they do with memory. */
#include "gpu_trace_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)512 << 10) /* what a compiler that does not optimise wants for a long kernel */
#define CANARY      0x5a5a5a5a5a5a5a5au

/* ---------------------------------------------------------------- what a kernel sees ---------- */

extern struct place {
    int x, y;
} threadIdx, blockIdx;
struct place threadIdx, blockIdx;

/* Local memory, by the names that kernels have for it. What waits to become texels is apart. */
_Alignas(128) unsigned char trace_local[GPU_TRACE_LOCAL], staged[GPU_TRACE_STAGED];
extern unsigned char memory[GPU_TRACE_LOCAL] __attribute__((alias("trace_local")));
extern unsigned char exchange[GPU_TRACE_LOCAL] __attribute__((alias("trace_local")));
extern unsigned char tile[GPU_TRACE_LOCAL] __attribute__((alias("trace_local")));

/* ---------------------------------------------------------------- accesses -------------------- */

static struct {
    struct gpu_trace *trace;
    unsigned item, items;
    const void *barrier; /* that the first work-item of a round came to; NULL: its end */
    bool warp;           /* it is one of each warp */
    ucontext_t home, *contexts;
    unsigned char *stacks;
    bool *done;
} now;

static void count_byte(uint16_t *counts, size_t at)
{
    if (counts[at] < UINT16_MAX)
        counts[at]++;
}

static void count_global(const unsigned char *place, size_t bytes, bool store)
{
    for (unsigned i = 0; i < GPU_TRACE_MEMORIES; i++) {
        struct gpu_trace_memory *in = now.trace->memory[i];
        if (!in || place < in->first || place + bytes > in->first + in->bytes || (store && in->constant))
            continue;
        for (size_t at = (size_t)(place - in->first); at < (size_t)(place - in->first) + bytes; at++) {
            count_byte(store ? in->stores : in->loads, at);
            if (store)
                in->written[at] = 1;
            else
                now.trace->unwritten += !in->written[at];
        }
        return;
    }
    now.trace->overruns++;
}

/* Stacks and threadIdx are none of a kernel's memory. */
static bool is_own(const unsigned char *at)
{
    return (at >= now.stacks && at < now.stacks + now.items * STACK_BYTES) ||
           (at >= (unsigned char *)&threadIdx && at < (unsigned char *)(&threadIdx + 1)) ||
           (at >= (unsigned char *)&blockIdx && at < (unsigned char *)(&blockIdx + 1));
}

static void count(const void *place, size_t bytes, bool store, const void *instruction)
{
    const unsigned char *at = place;
    if (is_own(at))
        return;
    now.trace->misaligned += (bytes & (bytes - 1)) == 0 && (uintptr_t)at % bytes != 0;
    if (at >= trace_local && at < trace_local + sizeof trace_local)
        gpu_trace_local_access(instruction, now.item, (size_t)(at - trace_local), bytes, store);
    else if (at >= staged && at < staged + sizeof staged)
        gpu_trace_local_access(instruction, now.item, GPU_TRACE_LOCAL + (size_t)(at - staged), bytes, store);
    else
        count_global(at, bytes, store);
}

/* Fetched into the cache: memory that is there. */
void trace_fetch(const void *place);
void trace_fetch(const void *place)
{
    const unsigned char *at = place;
    for (unsigned i = 0; i < GPU_TRACE_MEMORIES; i++) {
        const struct gpu_trace_memory *in = now.trace->memory[i];
        if (in && at >= in->first && at < in->first + in->bytes)
            return;
    }
    now.trace->overruns++;
}

/* What the compiler calls. */
#define SEEN(bytes)                                              \
    void __tsan_read##bytes(void *place);                        \
    void __tsan_read##bytes(void *place)                         \
    {                                                            \
        count(place, bytes, false, __builtin_return_address(0)); \
    }                                                            \
    void __tsan_write##bytes(void *place);                       \
    void __tsan_write##bytes(void *place)                        \
    {                                                            \
        count(place, bytes, true, __builtin_return_address(0));  \
    }                                                            \
    void __tsan_unaligned_read##bytes(void *place);              \
    void __tsan_unaligned_read##bytes(void *place)               \
    {                                                            \
        count(place, bytes, false, __builtin_return_address(0)); \
    }                                                            \
    void __tsan_unaligned_write##bytes(void *place);             \
    void __tsan_unaligned_write##bytes(void *place)              \
    {                                                            \
        count(place, bytes, true, __builtin_return_address(0));  \
    }
SEEN(1)
SEEN(2)
SEEN(4)
SEEN(8)
SEEN(16)

void __tsan_read_range(void *place, size_t bytes);
void __tsan_read_range(void *place, size_t bytes)
{
    count(place, bytes, false, __builtin_return_address(0));
}

void __tsan_write_range(void *place, size_t bytes);
void __tsan_write_range(void *place, size_t bytes)
{
    count(place, bytes, true, __builtin_return_address(0));
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* By this name from gcc, by the other one, with the linker's --wrap, from clang. */
#define COPIES(name)                                            \
    void *name(void *to, const void *from, size_t bytes);       \
    void *name(void *to, const void *from, size_t bytes)        \
    {                                                           \
        count(from, bytes, false, __builtin_return_address(0)); \
        count(to, bytes, true, __builtin_return_address(0));    \
        return memmove(to, from, bytes);                        \
    }
COPIES(__tsan_memcpy)
COPIES(__wrap_memcpy)
COPIES(__wrap_memmove)

#define FILLS(name)                                          \
    void *name(void *to, int value, size_t bytes);           \
    void *name(void *to, int value, size_t bytes)            \
    {                                                        \
        count(to, bytes, true, __builtin_return_address(0)); \
        return memset(to, value, bytes);                     \
    }
FILLS(__tsan_memset)
FILLS(__wrap_memset)

/* ---------------------------------------------------------------- a run ----------------------- */

typedef void fused_function(const void *in, const void *list, const void *factors, const void *table, void *out,
                            int32_t rows, uint32_t start, uint32_t spacing);
typedef void transform_function(const void *in, const void *gather, const void *table, void *out, int32_t rows,
                                uint64_t plane, int32_t first);

static fused_function *fused;
static transform_function *transform;

static void wait_for_others(const void *barrier, bool warp)
{
    if (now.item == 0) {
        now.barrier = barrier;
        now.warp = warp;
    } else if (now.barrier != barrier) {
        now.trace->splits++;
    }
    if (barrier)
        swapcontext(&now.contexts[now.item], &now.home);
}

void trace_barrier(void);
void trace_barrier(void)
{
    wait_for_others(__builtin_return_address(0), false);
}

void trace_warp_barrier(void);
void trace_warp_barrier(void)
{
    wait_for_others(__builtin_return_address(0), true);
}

static void run_item(void)
{
    struct gpu_trace *trace = now.trace;
    void *at[GPU_TRACE_MEMORIES];
    for (unsigned i = 0; i < GPU_TRACE_MEMORIES; i++)
        at[i] = trace->memory[i] ? trace->memory[i]->first : NULL;
    if (trace->transform)
        transform(at[0], at[1], at[2], at[3], (int32_t)trace->rows, trace->plane, trace->first);
    else
        fused(at[0], at[1], at[2], at[3], at[4], (int32_t)trace->rows, trace->start, trace->spacing);
    now.done[now.item] = true;
    wait_for_others(NULL, false);
}

static void start_items(void)
{
    for (unsigned i = 0; i < now.items; i++) {
        now.done[i] = false;
        memcpy(now.stacks + i * STACK_BYTES, &(uint64_t){CANARY}, sizeof(uint64_t));
        getcontext(&now.contexts[i]);
        now.contexts[i].uc_stack.ss_sp = now.stacks + i * STACK_BYTES;
        now.contexts[i].uc_stack.ss_size = STACK_BYTES;
        now.contexts[i].uc_link = &now.home;
        makecontext(&now.contexts[i], run_item, 0);
    }
}

/* All work-items from one barrier to the next, until they have ended. */
static void run_group(unsigned group)
{
    bool more = true;
    blockIdx.x = (int)group;
    start_items();
    while (more) {
        more = false;
        for (now.item = 0; now.item < now.items; now.item++) {
            threadIdx.x = (int)(now.item % now.trace->group[0]);
            threadIdx.y = (int)(now.item / now.trace->group[0]);
            if (!now.done[now.item])
                swapcontext(&now.home, &now.contexts[now.item]);
            more = more || !now.done[now.item];
        }
        gpu_trace_local_barrier(now.warp);
    }
}

/* Whether no work-item went beyond its stack. */
static bool stacks_held(void)
{
    for (unsigned i = 0; i < now.items; i++)
        if (memcmp(now.stacks + i * STACK_BYTES, &(uint64_t){CANARY}, sizeof(uint64_t))) {
            fprintf(stderr, "a work-item needs more stack than %zu bytes\n", STACK_BYTES);
            return false;
        }
    return true;
}

static bool run(struct gpu_trace *trace)
{
    now.items = trace->group[0] * trace->group[1];
    now.contexts = calloc(now.items, sizeof *now.contexts);
    now.stacks =
        mmap(NULL, now.items * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    now.done = calloc(now.items, sizeof *now.done);
    bool good = now.contexts && now.stacks != MAP_FAILED && now.done;
    for (unsigned group = 0; good && group < trace->groups; group++) {
        if ((good = gpu_trace_local_begin(trace, group == 0 || group + 1 == trace->groups)))
            run_group(group);
        gpu_trace_local_end();
        good = good && stacks_held();
    }
    free(now.contexts);
    if (now.stacks != MAP_FAILED)
        munmap(now.stacks, now.items * STACK_BYTES);
    free(now.done);
    gpu_trace_local_free();
    return good;
}

bool gpu_trace_run(struct gpu_trace *trace)
{
    void *code, *symbol = gpu_trace_compile(trace, &code);
    memset(&now, 0, sizeof now);
    now.trace = trace;
    memcpy(&fused, &symbol, sizeof symbol);
    memcpy(&transform, &symbol, sizeof symbol);
    trace->overruns = trace->misaligned = trace->unwritten = trace->left = trace->races = trace->splits =
        trace->accesses = 0;
    trace->ways = 1;
    bool good =
        symbol && trace->local_bytes <= GPU_TRACE_LOCAL && trace->staged_bytes <= GPU_TRACE_STAGED && run(trace);
    if (code)
        dlclose(code);
    return good;
}
