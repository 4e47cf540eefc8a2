/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "emulated.h"

#include "emulated_firmware.h"
#include "mailbox.h"
#include "registers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_US = 1, CLOCKS_PER_US = 250, PERIPHERALS = 0x3f000000 };

/* ---- the QPUs */

static void note_activity(struct emulated *e, const uint64_t *before)
{
    uint64_t busiest = 0;
    for (unsigned i = 0; i < QPU_EMULATOR_QPUS; i++) {
        uint64_t done = qpu_emulator_activity(e->emulator, i).instructions - before[i];
        e->report->instructions += done;
        busiest = done > busiest ? done : busiest;
    }
    e->report->critical_path += busiest;
}

bool emulated_run(struct emulated *e, const struct emulated_job *jobs, unsigned count)
{
    uint64_t before[QPU_EMULATOR_QPUS], clocks = qpu_emulator_clocks(e->emulator);
    if (e->options.hang || (e->options.hang_after && e->report->runs >= e->options.hang_after))
        return false;
    for (unsigned i = 0; i < QPU_EMULATOR_QPUS; i++)
        before[i] = qpu_emulator_activity(e->emulator, i).instructions;
    for (unsigned i = 0; i < count; i++) /* any QPU may get any job: here the last one gets the first */
        if (qpu_emulator_launch(e->emulator, QPU_EMULATOR_QPUS - 1 - i, jobs[i].code, jobs[i].uniforms))
            return false;
    e->report->runs++;
    e->report->launches += count;
    e->report->last_outcome = qpu_emulator_run(e->emulator);
    note_activity(e, before);
    e->clock_us += (qpu_emulator_clocks(e->emulator) - clocks) / CLOCKS_PER_US;
    if (e->report->last_outcome != QPU_RUN_ENDED)
        e->report->trap = qpu_emulator_trap(e->emulator);
    return e->report->last_outcome == QPU_RUN_ENDED;
}

/* ---- registers */

/* What is in the queue runs when somebody looks at how far it has come. */
static void run_queue(struct emulated *e)
{
    while (e->queued && !e->stuck) {
        unsigned count = e->queued < QPU_EMULATOR_QPUS ? e->queued : QPU_EMULATOR_QPUS;
        if (emulated_run(e, e->queue, count))
            e->ended += count;
        else
            e->stuck = true;
        e->queued -= count;
        memmove(e->queue, e->queue + count, e->queued * sizeof *e->queue);
    }
}

static uint32_t reserved_mask(const struct emulated *e, unsigned first)
{
    uint32_t mask = 0;
    for (unsigned i = first; i < e->options.reserved_qpus && i < first + 8; i++)
        mask |= 1u << 4 * (i - first);
    return mask;
}

static uint32_t read_register(void *self, uint32_t offset)
{
    struct emulated *e = self;
    e->clock_us += CALL_US;
    if (!e->enabled || e->options.silent)
        return 0xdeadbeef;
    switch (offset) {
    case V3D_IDENT0:
        return V3D_IDENT0_VALUE;
    case V3D_SQRSV0:
        return reserved_mask(e, 0);
    case V3D_SQRSV1:
        return reserved_mask(e, 8);
    case V3D_VPMBASE:
        return e->options.vpm_units ? e->options.vpm_units : V3D_VPM_ROWS_64;
    case V3D_SRQCS:
        run_queue(e);
        return (e->ended & 255) << 16 | (e->queue_error ? V3D_SRQCS_ERROR : 0u) | e->queued;
    default:
        return 0;
    }
}

static void enqueue(struct emulated *e, uint32_t code)
{
    if (e->queued == V3D_SRQ_DEPTH)
        e->queue_error = true;
    else
        e->queue[e->queued++] = (struct emulated_job){.code = code, .uniforms = e->uniforms};
}

static void write_register(void *self, uint32_t offset, uint32_t value)
{
    struct emulated *e = self;
    if (!e->enabled)
        return;
    if (offset == V3D_SRQUA)
        e->uniforms = value;
    else if (offset == V3D_SRQPC)
        enqueue(e, value);
    else if (offset == V3D_SRQCS && value & 1 << 16)
        e->ended = 0;
    else if (offset == V3D_L2CACTL)
        e->l2_cleared = value & V3D_L2CACTL_CLEAR;
    else if (offset == V3D_SLCACTL && value == V3D_SLCACTL_CLEAR && e->l2_cleared)
        qpu_emulator_clear_caches(e->emulator); /* the slices' caches fill from L2, which has to be clear by then */
}

static int open_registers(void *self, uint32_t physical, size_t bytes)
{
    struct emulated *e = self;
    if (emulated_call_fails(e))
        return EIO;
    if (e->options.memory_errno)
        return e->options.memory_errno;
    return physical == PERIPHERALS + V3D_OFFSET && bytes >= V3D_BYTES ? 0 : EINVAL;
}

/* ---- the rest of the machine */

static int map(void *self, uint32_t physical, size_t bytes, void **memory)
{
    struct emulated *e = self;
    if (emulated_call_fails(e))
        return ENOMEM;
    if (e->options.memory_errno)
        return e->options.memory_errno;
    uint64_t offset = (uint64_t)physical - (EMULATED_MEMORY & 0x3fffffff);
    if (physical < (EMULATED_MEMORY & 0x3fffffff) || offset + bytes > e->memory_bytes)
        return EINVAL;
    *memory = e->memory + offset;
    e->report->maps++;
    return 0;
}

static void unmap(void *self, void *memory, size_t bytes)
{
    struct emulated *e = self;
    (void)memory, (void)bytes;
    e->report->maps--;
}

static size_t copy_text(const char *text, void *content, size_t capacity)
{
    size_t bytes = *text ? strlen(text) + 1 : 0;
    memcpy(content, text, bytes < capacity ? bytes : capacity);
    return bytes < capacity ? bytes : capacity;
}

static size_t device_tree(void *self, const char *property, void *content, size_t capacity)
{
    static const uint8_t RANGES[] = {0x7e, 0, 0, 0, 0x3f, 0, 0, 0, 1, 0, 0, 0};
    struct emulated *e = self;
    if (!strcmp(property, "compatible"))
        return copy_text(e->options.compatible ? e->options.compatible : "brcm,bcm2837", content, capacity);
    if (!strcmp(property, "model"))
        return copy_text(e->options.model ? e->options.model : "Raspberry Pi 3 Model B (emulated)", content, capacity);
    if (strcmp(property, "soc/ranges") != 0 || capacity < sizeof RANGES)
        return 0;
    memcpy(content, RANGES, sizeof RANGES);
    return sizeof RANGES;
}

static uint64_t clock_us(void *self)
{
    return ((struct emulated *)self)->clock_us;
}

static void pause_us(void *self, unsigned us)
{
    ((struct emulated *)self)->clock_us += us;
}

static void close_platform(void *self)
{
    struct emulated *e = self;
    emulated_firmware_report(e);
    qpu_emulator_free(e->emulator);
    free(e->memory);
    free(e);
}

static const struct qpu_platform_calls EMULATED = {
    .name = "emulator",
    .mailbox = emulated_mailbox,
    .map = map,
    .unmap = unmap,
    .open_registers = open_registers,
    .read_register = read_register,
    .write_register = write_register,
    .device_tree = device_tree,
    .clock_us = clock_us,
    .pause = pause_us,
    .close = close_platform,
};

struct qpu_platform qpu_platform_emulated(const struct qpu_emulated_options *options)
{
    struct emulated *e = calloc(1, sizeof *e);
    if (!e)
        return (struct qpu_platform){.calls = &EMULATED};
    e->options = *options;
    e->options.emulator.qpus = QPU_EMULATOR_QPUS;
    e->report = options->report ? options->report : &e->own_report;
    *e->report = (struct qpu_emulated_report){0};
    e->memory_bytes = options->gpu_memory_bytes ? options->gpu_memory_bytes : (size_t)128 << 20;
    if (!(e->memory = calloc(1, e->memory_bytes)) || qpu_emulator_new(&e->emulator, &e->options.emulator) ||
        qpu_emulator_map(e->emulator, EMULATED_MEMORY, e->memory, (uint32_t)e->memory_bytes)) {
        qpu_emulator_free(e->emulator);
        free(e->memory);
        free(e);
        e = NULL;
    }
    return (struct qpu_platform){.calls = &EMULATED, .self = e};
}
