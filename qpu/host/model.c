/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "model.h"

#include <string.h>

/* Strings of the device tree's "compatible", of old and new kernels. */
static const struct {
    const char *text;
    enum qpu_processor processor;
} COMPATIBLE[] = {
    {"brcm,bcm2835", QPU_BCM2835},   {"brcm,bcm2708", QPU_BCM2835},   {"brcm,bcm2836", QPU_BCM2836},
    {"brcm,bcm2709", QPU_BCM2836},   {"brcm,bcm2837", QPU_BCM2837},   {"brcm,bcm2710", QPU_BCM2837},
    {"brcm,bcm2711", QPU_OTHER_GPU}, {"brcm,bcm2712", QPU_OTHER_GPU},
};

static enum qpu_processor compatible_processor(struct qpu_platform platform)
{
    char list[256];
    size_t bytes = platform.calls->device_tree(platform.self, "compatible", list, sizeof list);
    enum qpu_processor found = QPU_NO_PI;
    for (size_t at = 0; at < bytes;) { /* strings one behind the other, each with its zero */
        size_t length = strnlen(list + at, bytes - at);
        for (size_t i = 0; i < sizeof COMPATIBLE / sizeof *COMPATIBLE; i++)
            if (length == strlen(COMPATIBLE[i].text) && !memcmp(list + at, COMPATIBLE[i].text, length))
                found = COMPATIBLE[i].processor;
        at += length + 1;
    }
    return found;
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* soc/ranges maps the peripherals' bus address to a physical one of one or of two words. */
static uint32_t peripherals(struct qpu_platform platform)
{
    uint8_t ranges[12];
    size_t bytes = platform.calls->device_tree(platform.self, "soc/ranges", ranges, sizeof ranges);
    uint32_t address = bytes >= 8 ? big_endian(ranges + 4) : 0;
    return !address && bytes >= 12 ? big_endian(ranges + 8) : address;
}

struct qpu_model qpu_model_read(struct qpu_platform platform)
{
    struct qpu_model model = {.processor = compatible_processor(platform), .peripherals = peripherals(platform)};
    size_t bytes = platform.calls->device_tree(platform.self, "model", model.name, sizeof model.name - 1);
    model.name[bytes < sizeof model.name ? bytes : sizeof model.name - 1] = 0;
    return model;
}

/* New revision codes have bit 23 set and the processor in bits 15..12; all older boards are BCM2835. */
enum qpu_processor qpu_processor_of_revision(uint32_t revision)
{
    static const enum qpu_processor PROCESSORS[] = {QPU_BCM2835, QPU_BCM2836, QPU_BCM2837};
    uint32_t index = revision >> 12 & 15;
    if (!(revision & 1u << 23))
        return QPU_BCM2835;
    return index < sizeof PROCESSORS / sizeof *PROCESSORS ? PROCESSORS[index] : QPU_OTHER_GPU;
}
