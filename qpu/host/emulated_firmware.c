/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "emulated_firmware.h"

#include "mailbox.h"

#include <errno.h>
#include <string.h>

enum { REVISION_3B = 0xa02082, V3D_HZ = 300000000 };
static const uint32_t REFUSED = 0x80000000, ANSWERED = 0x80000000, NOT_PARSED = 0x80000001;

bool emulated_call_fails(struct emulated *e)
{
    return ++e->report->calls == e->options.fail_call;
}

/* ---- memory */

static bool is_free(const struct emulated *e, size_t offset, size_t bytes)
{
    for (unsigned i = 0; i < EMULATED_BLOCKS; i++)
        if (e->blocks[i].bytes && e->blocks[i].offset < offset + bytes &&
            offset < e->blocks[i].offset + e->blocks[i].bytes)
            return false;
    return true;
}

/* The lowest place where it fits: at the beginning, or behind a block. 0: none. */
static uint32_t allocate(struct emulated *e, size_t bytes, size_t alignment)
{
    unsigned handle = 0;
    size_t best = SIZE_MAX;
    while (handle < EMULATED_BLOCKS && e->blocks[handle].bytes)
        handle++;
    if (handle == EMULATED_BLOCKS || !bytes || !alignment)
        return 0;
    for (unsigned i = 0; i <= EMULATED_BLOCKS; i++) {
        size_t end = i == EMULATED_BLOCKS ? 0 : e->blocks[i].offset + e->blocks[i].bytes;
        size_t offset = (end + alignment - 1) / alignment * alignment;
        if (offset + bytes <= e->memory_bytes && offset < best && is_free(e, offset, bytes))
            best = offset;
    }
    if (best == SIZE_MAX)
        return 0;
    e->blocks[handle] = (struct emulated_block){.offset = best, .bytes = bytes};
    return handle + 1;
}

static struct emulated_block *block(struct emulated *e, uint32_t handle)
{
    return handle && handle <= EMULATED_BLOCKS && e->blocks[handle - 1].bytes ? &e->blocks[handle - 1] : NULL;
}

static uint32_t lock(struct emulated *e, uint32_t handle)
{
    struct emulated_block *b = block(e, handle);
    if (!b)
        return 0;
    b->locked = true;
    return EMULATED_MEMORY + (uint32_t)b->offset;
}

static uint32_t unlock(struct emulated *e, uint32_t handle)
{
    struct emulated_block *b = block(e, handle);
    if (!b || !b->locked)
        return REFUSED;
    b->locked = false;
    return 0;
}

static uint32_t release(struct emulated *e, uint32_t handle)
{
    struct emulated_block *b = block(e, handle);
    if (!b)
        return REFUSED;
    *b = (struct emulated_block){0};
    return 0;
}

/* ---- programs */

static uint32_t execute(struct emulated *e, const uint32_t *values)
{
    struct emulated_job jobs[QPU_EMULATOR_QPUS];
    uint32_t count = values[0], offset = values[1] - EMULATED_MEMORY;
    if (!e->enabled || !count || count > QPU_EMULATOR_QPUS || offset > e->memory_bytes - 8 * count)
        return REFUSED;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pair[2];
        memcpy(pair, e->memory + offset + 8 * i, sizeof pair);
        jobs[i] = (struct emulated_job){.uniforms = pair[0], .code = pair[1]};
    }
    if (!values[2])
        qpu_emulator_clear_caches(e->emulator);
    if (emulated_run(e, jobs, count))
        return 0;
    e->clock_us += 1000ull * values[3];
    return REFUSED;
}

static uint32_t enable(struct emulated *e, uint32_t on)
{
    if (e->options.kms)
        return REFUSED;
    e->enabled = on;
    return 0;
}

/* ---- messages */

/* Answers in place; false: a tag that this firmware does not know. */
static bool answer(struct emulated *e, uint32_t tag, uint32_t *values)
{
    switch (tag) {
    case QPU_TAG_REVISION:
        values[0] = e->options.revision ? e->options.revision : REVISION_3B;
        return true;
    case QPU_TAG_CLOCK_RATE:
        values[1] = values[0] == QPU_CLOCK_V3D ? V3D_HZ : 0;
        return true;
    case QPU_TAG_ALLOCATE:
        values[0] = allocate(e, values[0], values[1]);
        return true;
    case QPU_TAG_LOCK:
        values[0] = lock(e, values[0]);
        return true;
    case QPU_TAG_UNLOCK:
        values[0] = unlock(e, values[0]);
        return true;
    case QPU_TAG_RELEASE:
        values[0] = release(e, values[0]);
        return true;
    case QPU_TAG_EXECUTE:
        values[0] = execute(e, values);
        return true;
    case QPU_TAG_ENABLE:
        values[0] = enable(e, values[0]);
        return true;
    default:
        return false;
    }
}

/* Calls that give something back never fail: a leak that follows from that is not the host's. */
static bool gives_back(const uint32_t *message)
{
    return message[2] == QPU_TAG_UNLOCK || message[2] == QPU_TAG_RELEASE ||
           (message[2] == QPU_TAG_ENABLE && !message[5]);
}

int emulated_mailbox(void *self, uint32_t *message)
{
    struct emulated *e = self;
    e->clock_us += 100; /* about what a call takes on the board */
    if (e->options.mailbox_errno)
        return e->options.mailbox_errno;
    if (!gives_back(message) && emulated_call_fails(e))
        return EIO;
    if ((uintptr_t)message % 16 || message[1])
        return EINVAL;
    bool known = answer(e, message[2], message + 5);
    message[1] = known ? ANSWERED : NOT_PARSED;
    message[4] |= known ? ANSWERED : 0;
    return 0;
}

void emulated_firmware_report(struct emulated *e)
{
    e->report->allocations = e->report->locks = 0;
    for (unsigned i = 0; i < EMULATED_BLOCKS; i++) {
        e->report->allocations += e->blocks[i].bytes != 0;
        e->report->locks += e->blocks[i].locked;
    }
    e->report->enabled = e->enabled;
}
