/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * All that the host side needs of a machine with QPUs: the firmware's mailbox, the V3D's registers, memory by bus
 * address, the device tree, and time. Two machines exist: a Raspberry Pi (platform_pi.c) and the emulator
 * (emulated.h); what lies above, device.h, cannot tell them apart.
 */
#ifndef PENSTOCK_QPU_PLATFORM_H
#define PENSTOCK_QPU_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

struct qpu_platform_calls {
    const char *name;

    /* A property message in the firmware's format, answered in place. 0, or an errno: ENOENT where there is no
     * mailbox, EACCES where this user may not use it. */
    int (*mailbox)(void *self, uint32_t *message);

    /* The memory at a physical address of the ARM, for reads and writes past the ARM's caches. 0 or an errno. */
    int (*map)(void *self, uint32_t physical, size_t bytes, void **memory);
    void (*unmap)(void *self, void *memory, size_t bytes);

    /* V3D registers, by byte offset. Available after open_registers() returned 0 (else an errno). */
    int (*open_registers)(void *self, uint32_t physical, size_t bytes);
    uint32_t (*read_register)(void *self, uint32_t offset);
    void (*write_register)(void *self, uint32_t offset, uint32_t value);

    /* Up to `capacity` bytes of a property of the device tree ("compatible"); their number, 0 where it is absent. */
    size_t (*device_tree)(void *self, const char *property, void *content, size_t capacity);

    uint64_t (*clock_us)(void *self);
    void (*pause)(void *self, unsigned us);

    void (*close)(void *self);
};

struct qpu_platform {
    const struct qpu_platform_calls *calls;
    void *self;
};

/* The Raspberry Pi that this process runs on. Opens nothing yet: what is missing shows when it is used. NULL `self`
 * where memory is short. */
struct qpu_platform qpu_platform_pi(void);

#endif
