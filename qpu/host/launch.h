/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The two ways to start programs; both clear the V3D's caches first. False: the time-out went by. */
#ifndef PENSTOCK_QPU_LAUNCH_H
#define PENSTOCK_QPU_LAUNCH_H

#include "device.h"

bool qpu_launch_by_registers(struct qpu_platform platform, uint32_t code, const uint32_t *uniforms, unsigned qpus,
                             unsigned timeout_ms);

/* `control` holds a pair {uniforms, code} for each QPU while the firmware works. */
bool qpu_launch_by_mailbox(struct qpu_platform platform, const struct qpu_memory *control, uint32_t code,
                           const uint32_t *uniforms, unsigned qpus, unsigned timeout_ms);

#endif
