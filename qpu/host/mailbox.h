/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The firmware's property calls that QPU work needs (raspberrypi/firmware wiki, "Mailbox property interface").
 * Each returns 0 with its answer, QPU_MAILBOX_REFUSED where the firmware did not do it, or an errno of the transport.
 */
#ifndef PENSTOCK_QPU_MAILBOX_H
#define PENSTOCK_QPU_MAILBOX_H

#include "platform.h"

enum { QPU_MAILBOX_REFUSED = -1, QPU_CLOCK_V3D = 5 };

/* Where an allocation lies: aliases of the VideoCore's bus. */
enum {
    QPU_MEMORY_DIRECT = 1 << 2,   /* 0xC alias: past all caches */
    QPU_MEMORY_COHERENT = 2 << 2, /* 0x8 alias */
    QPU_MEMORY_L2 = 3 << 2        /* 0x4 alias: through the L2 cache only */
};

enum qpu_mailbox_tag {
    QPU_TAG_REVISION = 0x10002,
    QPU_TAG_CLOCK_RATE = 0x30002,
    QPU_TAG_ALLOCATE = 0x3000c,
    QPU_TAG_LOCK = 0x3000d,
    QPU_TAG_UNLOCK = 0x3000e,
    QPU_TAG_RELEASE = 0x3000f,
    QPU_TAG_EXECUTE = 0x30011,
    QPU_TAG_ENABLE = 0x30012
};

int qpu_mailbox_revision(struct qpu_platform platform, uint32_t *revision);
int qpu_mailbox_clock_hz(struct qpu_platform platform, uint32_t clock, uint32_t *rate_hz);
int qpu_mailbox_allocate(struct qpu_platform platform, uint32_t bytes, uint32_t alignment, uint32_t flags,
                         uint32_t *handle);
int qpu_mailbox_lock(struct qpu_platform platform, uint32_t handle, uint32_t *bus);
int qpu_mailbox_unlock(struct qpu_platform platform, uint32_t handle);
int qpu_mailbox_release(struct qpu_platform platform, uint32_t handle);
int qpu_mailbox_enable(struct qpu_platform platform, uint32_t on);

/* `control`: bus address of `qpus` pairs {uniforms, code}. Refused: the time-out went by. */
int qpu_mailbox_execute(struct qpu_platform platform, uint32_t qpus, uint32_t control, uint32_t no_flush,
                        uint32_t timeout_ms);

#endif
