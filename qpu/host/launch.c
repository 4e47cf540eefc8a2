/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "launch.h"

#include "mailbox.h"
#include "registers.h"

enum { POLLS_BEFORE_PAUSE = 1000, PAUSE_US = 20 };

static void put(struct qpu_platform platform, uint32_t offset, uint32_t value)
{
    platform.calls->write_register(platform.self, offset, value);
}

/* Programs ended since the counter was reset. */
static unsigned ended(struct qpu_platform platform)
{
    return platform.calls->read_register(platform.self, V3D_SRQCS) >> 16 & 255;
}

bool qpu_launch_by_registers(struct qpu_platform platform, uint32_t code, const uint32_t *uniforms, unsigned qpus,
                             unsigned timeout_ms)
{
    const uint64_t begin = platform.calls->clock_us(platform.self);
    put(platform, V3D_DBCFG, 0); /* no interrupt handler may be called: nobody would serve it */
    put(platform, V3D_DBQITE, 0);
    put(platform, V3D_DBQITC, ~0u);
    put(platform, V3D_L2CACTL, V3D_L2CACTL_CLEAR);
    put(platform, V3D_SLCACTL, V3D_SLCACTL_CLEAR);
    put(platform, V3D_SRQCS, V3D_SRQCS_RESET);
    for (unsigned i = 0; i < qpus; i++) {
        put(platform, V3D_SRQUA, uniforms[i]);
        put(platform, V3D_SRQPC, code);
    }
    for (unsigned polls = 0; ended(platform) != qpus; polls++) {
        if (platform.calls->clock_us(platform.self) - begin > 1000ull * timeout_ms)
            return false;
        if (polls >= POLLS_BEFORE_PAUSE)
            platform.calls->pause(platform.self, PAUSE_US);
    }
    return true;
}

bool qpu_launch_by_mailbox(struct qpu_platform platform, const struct qpu_memory *control, uint32_t code,
                           const uint32_t *uniforms, unsigned qpus, unsigned timeout_ms)
{
    volatile uint32_t *pairs = control->host; /* memory of a device: written here and now */
    for (unsigned i = 0; i < qpus; i++) {
        pairs[2 * i] = uniforms[i];
        pairs[2 * i + 1] = code;
    }
    return !qpu_mailbox_execute(platform, qpus, control->bus, 0, timeout_ms);
}
