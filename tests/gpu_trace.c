/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Kernels on the host: compiled, run a work-item after the other, and counted. */
#include "gpu_trace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)128 << 10)
#define GAP_BYTES   4096 /* between buffers, so that an overrun meets none of them */
#define BANKS       32
#define LOCAL_MOST  ((size_t)1 << 18)

/* ---------------------------------------------------------------- what a kernel sees ---------- */

extern struct place {
    int x, y;
} threadIdx, blockIdx;
struct place threadIdx, blockIdx;

/* Local memory, by the names that kernels have for it. */
_Alignas(128) unsigned char memory[LOCAL_MOST + GAP_BYTES];

/* ---------------------------------------------------------------- accesses -------------------- */

/* One to local memory: which instruction, the how manyth time, by which work-item. */
struct access {
    const void *instruction;
    unsigned turn, item, at, bytes;
};

struct region {
    unsigned char *first;
    size_t bytes;
    uint16_t *loads, *stores; /* counts; NULL: none are wanted, and no stores allowed */
};

static struct {
    struct gpu_trace *trace;
    unsigned char *arena;
    size_t arena_bytes;
    struct region regions[5];
    struct access *accesses;
    size_t count, capacity;
    unsigned item;
    bool counting; /* accesses to local memory: of the first group */
    ucontext_t home, *items;
    char *stacks;
    bool *done;
} now;

static void count_local(const void *instruction, size_t at, size_t bytes)
{
    if (at + bytes > now.trace->local_bytes)
        now.trace->overruns++;
    if (!now.counting)
        return;
    if (now.count == now.capacity) {
        now.capacity = now.capacity ? 2 * now.capacity : 4096;
        now.accesses = realloc(now.accesses, now.capacity * sizeof *now.accesses);
    }
    now.accesses[now.count++] = (struct access){instruction, 0, now.item, (unsigned)at, (unsigned)bytes};
}

static void count_global(const unsigned char *place, size_t bytes, bool store)
{
    for (size_t i = 0; i < sizeof now.regions / sizeof now.regions[0]; i++) {
        struct region *region = &now.regions[i];
        uint16_t *counts = store ? region->stores : region->loads;
        if (place < region->first || place + bytes > region->first + region->bytes)
            continue;
        if (store && !counts)
            now.trace->overruns++;
        for (size_t byte = 0; counts && byte < bytes; byte++)
            if (counts[place - region->first + byte] < UINT16_MAX)
                counts[place - region->first + byte]++;
        return;
    }
    now.trace->overruns++;
}

static void count(const void *place, size_t bytes, bool store, const void *instruction)
{
    const unsigned char *at = place;
    if (at >= memory && at < memory + sizeof memory)
        count_local(instruction, (size_t)(at - memory), bytes);
    else if (at >= now.arena && at < now.arena + now.arena_bytes)
        count_global(at, bytes, store);
}

/* What the compiler calls; the stack and threadIdx are none of ours. */
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

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    count(from, bytes, false, __builtin_return_address(0));
    count(to, bytes, true, __builtin_return_address(0));
    return memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes)
{
    count(to, bytes, true, __builtin_return_address(0));
    return memset(to, value, bytes);
}

/* ---------------------------------------------------------------- banks ----------------------- */

static int in_order(const void *left, const void *right)
{
    const struct access *a = left, *b = right;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    return a->instruction < b->instruction ? -1 : a->instruction > b->instruction;
}

/* Neighbours that do the same at the same time stand together then. */
static int together(const void *left, const void *right)
{
    const struct access *a = left, *b = right;
    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* Of one word a bank for all of `count` accesses: how many different words the fullest one has. */
static unsigned ways_of(const struct access *access, size_t count)
{
    unsigned words[BANKS][BANKS], used[BANKS] = {0}, most = 1;
    for (size_t i = 0; i < count; i++)
        for (unsigned word = access[i].at / 4; word <= (access[i].at + access[i].bytes - 1) / 4; word++) {
            unsigned bank = word % BANKS, k = 0;
            while (k < used[bank] && words[bank][k] != word)
                k++;
            if (k == used[bank] && k < BANKS)
                words[bank][used[bank]++] = word;
            most = used[bank] > most ? used[bank] : most;
        }
    return most;
}

/* 128 bytes are accessed at once: by 32 neighbours, or 16 or 8 with more than 4 bytes each. */
static unsigned neighbours(unsigned bytes)
{
    return bytes <= 4 ? 32 : 128 / bytes;
}

static void count_turns(void)
{
    /* Sorting must keep the order of a work-item's accesses by one instruction: `turn` is their order first. */
    for (size_t i = 0; i < now.count; i++)
        now.accesses[i].turn = (unsigned)i;
    qsort(now.accesses, now.count, sizeof *now.accesses, in_order);
    for (size_t first = 0, end; first < now.count; first = end) {
        for (end = first + 1; end < now.count && !in_order(&now.accesses[first], &now.accesses[end]); end++)
            ;
        qsort(now.accesses + first, end - first, sizeof *now.accesses, together);
        for (size_t i = first; i < end; i++)
            now.accesses[i].turn = (unsigned)(i - first);
    }
    qsort(now.accesses, now.count, sizeof *now.accesses, together);
}

static void count_banks(struct gpu_trace *trace)
{
    count_turns();
    trace->ways = 1;
    trace->accesses = now.count;
    for (size_t first = 0, end; first < now.count; first = end) {
        const struct access *access = &now.accesses[first];
        unsigned warp = access->item / neighbours(access->bytes), ways;
        for (end = first + 1; end < now.count; end++)
            if (now.accesses[end].instruction != access->instruction || now.accesses[end].turn != access->turn ||
                now.accesses[end].item / neighbours(access->bytes) != warp)
                break;
        ways = ways_of(access, end - first);
        trace->ways = ways > trace->ways ? ways : trace->ways;
    }
}

/* ---------------------------------------------------------------- a run ----------------------- */

typedef void kernel_function(const void *in, const void *list, const void *factors, const void *table, void *out,
                             int32_t rows, uint32_t start, uint32_t spacing);
static kernel_function *kernel;

void trace_barrier(void);
void trace_barrier(void)
{
    swapcontext(&now.items[now.item], &now.home);
}

static void run_item(void)
{
    struct gpu_trace *trace = now.trace;
    const struct region *region = now.regions;
    kernel(region[0].first, region[1].first, region[2].first, region[3].first, region[4].first, (int32_t)trace->rows,
           trace->start, trace->spacing);
    now.done[now.item] = true;
}

/* All work-items from one barrier to the next, until they have ended. */
static void run_group(unsigned group)
{
    unsigned count = now.trace->group[0] * now.trace->group[1];
    bool more = true;
    blockIdx.x = (int)group;
    for (unsigned i = 0; i < count; i++) {
        now.done[i] = false;
        getcontext(&now.items[i]);
        now.items[i].uc_stack.ss_sp = now.stacks + i * STACK_BYTES;
        now.items[i].uc_stack.ss_size = STACK_BYTES;
        now.items[i].uc_link = &now.home;
        makecontext(&now.items[i], run_item, 0);
    }
    while (more) {
        more = false;
        for (now.item = 0; now.item < count; now.item++) {
            threadIdx.x = (int)(now.item % now.trace->group[0]);
            threadIdx.y = (int)(now.item / now.trace->group[0]);
            if (!now.done[now.item])
                swapcontext(&now.home, &now.items[now.item]);
            more = more || !now.done[now.item];
        }
    }
}

static bool make_buffers(struct gpu_trace *trace)
{
    const void *const content[] = {NULL, trace->list, trace->factors, trace->table, NULL};
    const size_t bytes[] = {trace->in_bytes, trace->list_bytes, trace->factor_bytes, trace->table_bytes,
                            trace->out_bytes};
    now.arena_bytes = GAP_BYTES;
    for (unsigned i = 0; i < 5; i++)
        now.arena_bytes += (bytes[i] / GAP_BYTES + 2) * GAP_BYTES;
    trace->loads = calloc(trace->in_bytes + 1, sizeof *trace->loads);
    trace->stores = calloc(trace->out_bytes + 1, sizeof *trace->stores);
    now.arena = aligned_alloc(GAP_BYTES, now.arena_bytes);
    if (!now.arena || !trace->loads || !trace->stores)
        return false;
    memset(now.arena, 0, now.arena_bytes);
    size_t at = GAP_BYTES;
    for (unsigned i = 0; i < 5; at += (bytes[i] / GAP_BYTES + 2) * GAP_BYTES, i++) {
        now.regions[i] = (struct region){.first = now.arena + at, .bytes = bytes[i]};
        if (content[i])
            memcpy(now.arena + at, content[i], bytes[i]);
    }
    now.regions[0].loads = trace->loads;
    now.regions[4].stores = trace->stores;
    return true;
}

static bool run(struct gpu_trace *trace)
{
    unsigned count = trace->group[0] * trace->group[1];
    now.items = calloc(count, sizeof *now.items);
    now.stacks = malloc(count * STACK_BYTES);
    now.done = calloc(count, sizeof *now.done);
    bool good = now.items && now.stacks && now.done && make_buffers(trace);
    for (unsigned group = 0; good && group < trace->groups; group++) {
        now.counting = group == 0;
        run_group(group);
    }
    if (good)
        count_banks(trace);
    free(now.items);
    free(now.stacks);
    free(now.done);
    free(now.arena);
    free(now.accesses);
    return good;
}

/* ---------------------------------------------------------------- the compiler ---------------- */

static bool compile(const struct gpu_trace *trace, const char *source, const char *library)
{
    static const char linkage[] = "extern \"C\" "; /* which C has not */
    const char *compiler = getenv("PENSTOCK_TEST_CC"), *from = trace->text, *to;
    char command[2400];
    FILE *file = fopen(source, "w");
    if (!file)
        return false;
    fputs("#include <gpu_trace_host.h>\n", file);
    for (; (to = strstr(from, linkage)); from = to + strlen(linkage))
        fprintf(file, "%.*s", (int)(to - from), from);
    fprintf(file, "%s", from);
    fclose(file);
    snprintf(command, sizeof command, "%s -std=gnu11 -O0 -w -fPIC -fsanitize=thread -shared -nostdlib -I%s -o %s %s",
             compiler ? compiler : "cc", PENSTOCK_TRACE_FOLDER, library, source);
    return !system(command);
}

bool gpu_trace_run(struct gpu_trace *trace)
{
    char source[600], library[600];
    void *code = NULL, *symbol = NULL;
    bool good;
    snprintf(source, sizeof source, "%s/kernel.c", trace->folder);
    snprintf(library, sizeof library, "%s/kernel.so", trace->folder);
    memset(&now, 0, sizeof now);
    now.trace = trace;
    if ((good = compile(trace, source, library)) && !(code = dlopen(library, RTLD_NOW | RTLD_LOCAL)))
        fprintf(stderr, "%s\n", dlerror());
    if (code && (symbol = dlsym(code, trace->name)))
        memcpy(&kernel, &symbol, sizeof symbol);
    good = good && symbol && trace->local_bytes <= LOCAL_MOST && run(trace);
    if (code)
        dlclose(code);
    unlink(source);
    unlink(library);
    return good;
}

void gpu_trace_free(struct gpu_trace *trace)
{
    free(trace->loads);
    free(trace->stores);
}
