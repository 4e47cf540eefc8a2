/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The QPUs of a VideoCore IV as a device: open it, get memory that both sides see, run a program on some QPUs.
 *
 *     struct qpu_device *device;
 *     char reason[256];
 *     if (qpu_device_open(&device, qpu_platform_pi(), reason) == QPU_HOST_OK) {
 *         struct qpu_memory memory;
 *         if (qpu_memory_alloc(device, &memory, 4096) == QPU_HOST_OK) {
 *             ... code at memory.host, uniforms behind it ...
 *             status = qpu_device_run(device, memory.bus, uniforms, 12, 1000);
 *             qpu_memory_free(device, &memory);
 *         }
 *         qpu_device_close(device);
 *     }
 *
 * One thread at a time. Functions return a status; qpu_device_error() has the cause of the last one in words.
 */
#ifndef PENSTOCK_QPU_DEVICE_H
#define PENSTOCK_QPU_DEVICE_H

#include "platform.h"

#include <stdbool.h>

enum qpu_host_status {
    QPU_HOST_OK,
    QPU_HOST_ABSENT = -1,   /* no VideoCore IV here, or it may not be used: the reason says what to do */
    QPU_HOST_ARGUMENT = -2, /* a number out of range */
    QPU_HOST_MEMORY = -3,   /* no memory: the GPU's or the host's */
    QPU_HOST_LOST = -4      /* a program did not end. No further one runs; memory can still be given back */
};

enum { QPU_REASON = 256, QPU_MOST_QPUS = 12 };

/* How programs are started. */
enum qpu_launch {
    QPU_LAUNCH_REGISTERS, /* by the V3D's queue: a few microseconds */
    QPU_LAUNCH_MAILBOX    /* by the firmware: about 100 us */
};

struct qpu_memory {
    uint32_t handle; /* 0: none */
    uint32_t bus;    /* as QPUs address it; a multiple of 4096 */
    size_t bytes;
    void *host; /* as this process sees it */
};

struct qpu_device;

/* Takes over the platform, and closes it where opening fails, with the reason. */
int qpu_device_open(struct qpu_device **device, struct qpu_platform platform, char reason[QPU_REASON]);

const char *qpu_device_error(const struct qpu_device *device);
const char *qpu_device_model(const struct qpu_device *device);
unsigned qpu_device_qpus(const struct qpu_device *device);
uint32_t qpu_device_clock_hz(const struct qpu_device *device); /* 0: the firmware does not tell */

void qpu_device_set_launch(struct qpu_device *device, enum qpu_launch launch);

/* `bytes` of GPU memory, not zeroed, kept until it is freed or the machine restarts: also when the process dies. */
int qpu_memory_alloc(struct qpu_device *device, struct qpu_memory *memory, size_t bytes);
void qpu_memory_free(struct qpu_device *device, struct qpu_memory *memory); /* accepts one without handle */

/*
 * Clears the V3D's caches, starts the program at bus address `code` on 1 .. qpu_device_qpus() QPUs, each with its
 * uniforms at `uniforms[i]`, and returns when all have ended, or when `timeout_ms` have gone by (LOST). Which QPU gets
 * which uniforms is the hardware's choice. Memory is written when it returns.
 */
int qpu_device_run(struct qpu_device *device, uint32_t code, const uint32_t *uniforms, unsigned qpus,
                   unsigned timeout_ms);

/* Memory that was not freed stays with the firmware. Accepts NULL. */
void qpu_device_close(struct qpu_device *device);

#endif
