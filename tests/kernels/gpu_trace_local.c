/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Local memory of a kernel on the host: banks that meet, work-items that race, places read before they are written. */
#include "gpu_trace_run.h"

#include <stdlib.h>
#include <string.h>

#define BANKS 32
#define WARP  32 /* work-items that a barrier of the warp holds together */

/* Which instruction, the how manyth time, by which work-item. */
struct access {
    const void *instruction;
    unsigned turn, item, at, bytes;
};

/* The last who came to a byte. Rounds end at barriers of any kind, spans at those of the group alone. */
struct visits {
    unsigned writer, reader; /* work-items, from 1 on; 0: none in this group */
    unsigned write_round, write_span, read_round, read_span;
    bool more_readers, more_warps; /* in the same round; in the same span */
};

static struct {
    struct gpu_trace *trace;
    struct access *accesses;
    size_t count, capacity;
    struct visits *visits;
    unsigned round, span;
    bool counting;
} local;

/* ---------------------------------------------------------------- races ----------------------- */

/* Whether nothing orders an earlier access of work-item `other` before one of `item`. */
static bool at_once(unsigned other, unsigned item, unsigned round, unsigned span)
{
    if (other == item)
        return false;
    return (other - 1) / WARP == (item - 1) / WARP ? round == local.round : span == local.span;
}

static void read_byte(struct visits *byte, unsigned item)
{
    if (!byte->writer)
        local.trace->left++;
    else if (at_once(byte->writer, item, byte->write_round, byte->write_span))
        local.trace->races++;
    if (!byte->reader || byte->read_span != local.span)
        byte->more_readers = byte->more_warps = false;
    else if ((byte->reader - 1) / WARP != (item - 1) / WARP)
        byte->more_warps = true;
    else
        byte->more_readers =
            byte->read_round == local.round && (byte->more_readers || (byte->reader && byte->reader != item));
    byte->reader = item;
    byte->read_round = local.round;
    byte->read_span = local.span;
}

static void write_byte(struct visits *byte, unsigned item)
{
    bool span = byte->reader && byte->read_span == local.span, round = span && byte->read_round == local.round;
    if ((byte->writer && at_once(byte->writer, item, byte->write_round, byte->write_span)) ||
        (span && byte->more_warps) || (round && byte->more_readers) ||
        (byte->reader && at_once(byte->reader, item, byte->read_round, byte->read_span)))
        local.trace->races++;
    byte->writer = item;
    byte->write_round = local.round;
    byte->write_span = local.span;
}

/* ---------------------------------------------------------------- accesses -------------------- */

static void keep(const void *instruction, unsigned item, size_t at, size_t bytes)
{
    if (local.count == local.capacity) {
        local.capacity = local.capacity ? 2 * local.capacity : 4096;
        local.accesses = realloc(local.accesses, local.capacity * sizeof *local.accesses);
    }
    local.accesses[local.count++] = (struct access){instruction, 0, item, (unsigned)at, (unsigned)bytes};
}

void gpu_trace_local_access(const void *instruction, unsigned item, size_t at, size_t bytes, bool store)
{
    const struct gpu_trace *trace = local.trace;
    size_t end = at < GPU_TRACE_LOCAL ? trace->local_bytes : GPU_TRACE_LOCAL + trace->staged_bytes;
    if (at + bytes > end) {
        local.trace->overruns++;
        return;
    }
    for (size_t byte = at; byte < at + bytes; byte++)
        if (store)
            write_byte(&local.visits[byte], item + 1);
        else
            read_byte(&local.visits[byte], item + 1);
    if (local.counting)
        keep(instruction, item, at, bytes);
}

void gpu_trace_local_barrier(bool warp)
{
    local.round++;
    local.span += !warp;
}

/* ---------------------------------------------------------------- banks ----------------------- */

static int in_order(const void *left, const void *right)
{
    const struct access *a = left, *b = right;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    return a->turn < b->turn ? -1 : a->turn > b->turn;
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

/* `turn` is the order of all accesses first, then of a work-item's accesses by one instruction. */
static void count_turns(void)
{
    for (size_t i = 0; i < local.count; i++)
        local.accesses[i].turn = (unsigned)i;
    qsort(local.accesses, local.count, sizeof *local.accesses, in_order);
    for (size_t first = 0, end; first < local.count; first = end) {
        const struct access head = local.accesses[first];
        for (end = first; end < local.count && local.accesses[end].item == head.item &&
                          local.accesses[end].instruction == head.instruction;
             end++)
            local.accesses[end].turn = (unsigned)(end - first);
    }
    qsort(local.accesses, local.count, sizeof *local.accesses, together);
}

static void count_banks(void)
{
    count_turns();
    local.trace->accesses += local.count;
    for (size_t first = 0, end; first < local.count; first = end) {
        const struct access *access = &local.accesses[first];
        unsigned warp = access->item / neighbours(access->bytes), ways;
        for (end = first + 1; end < local.count; end++)
            if (local.accesses[end].instruction != access->instruction || local.accesses[end].turn != access->turn ||
                local.accesses[end].item / neighbours(access->bytes) != warp)
                break;
        ways = ways_of(access, end - first);
        local.trace->ways = ways > local.trace->ways ? ways : local.trace->ways;
    }
    local.count = 0;
}

/* ---------------------------------------------------------------- groups ---------------------- */

bool gpu_trace_local_begin(struct gpu_trace *trace, bool counting)
{
    local.trace = trace;
    local.counting = counting;
    local.round = local.span = 0;
    local.count = 0;
    if (!local.visits && !(local.visits = malloc((GPU_TRACE_LOCAL + GPU_TRACE_STAGED) * sizeof *local.visits)))
        return false;
    memset(local.visits, 0, trace->local_bytes * sizeof *local.visits);
    memset(local.visits + GPU_TRACE_LOCAL, 0, trace->staged_bytes * sizeof *local.visits);
    return true;
}

void gpu_trace_local_end(void)
{
    if (local.counting)
        count_banks();
}

void gpu_trace_local_free(void)
{
    free(local.accesses);
    free(local.visits);
    memset(&local, 0, sizeof local);
}
