/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Which Raspberry Pi this is, and whether it has a VideoCore IV: models 0, 1, 2, 3, Zero 2 and Compute Modules 1 and 3.
 */
#ifndef PENSTOCK_QPU_MODEL_H
#define PENSTOCK_QPU_MODEL_H

#include "platform.h"

#include <stdbool.h>

enum qpu_processor { QPU_BCM2835, QPU_BCM2836, QPU_BCM2837, QPU_OTHER_GPU, QPU_NO_PI };

struct qpu_model {
    enum qpu_processor processor;
    char name[64];        /* "Raspberry Pi 3 Model B Rev 1.2" */
    uint32_t peripherals; /* physical address; 0: the device tree does not tell */
};

/* From the device tree alone: needs no rights. */
struct qpu_model qpu_model_read(struct qpu_platform platform);

/* The processor that a board revision tells (the firmware's "revision" call): the second witness. */
enum qpu_processor qpu_processor_of_revision(uint32_t revision);

static inline bool qpu_processor_has_videocore4(enum qpu_processor processor)
{
    return processor <= QPU_BCM2837;
}

#endif
