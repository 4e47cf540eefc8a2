/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The command line of qpu-emu. */
#ifndef PENSTOCK_QPU_EMU_OPTIONS_H
#define PENSTOCK_QPU_EMU_OPTIONS_H

#include "emulator.h"

enum { MOST_IMAGES = QPU_EMULATOR_REGIONS, MOST_DUMPS = 64, OPTION_ERROR = 512 };

struct image_option {
    const char *path; /* NULL: `bytes` of empty memory */
    size_t path_length;
    uint32_t address, bytes;
};

struct dump_option {
    uint32_t address, bytes;
    const char *path;
};

struct options {
    struct qpu_emulator_options emulator;
    struct image_option images[MOST_IMAGES];
    unsigned image_count;
    struct dump_option dumps[MOST_DUMPS];
    unsigned dump_count;
    uint32_t pc, uniforms[QPU_EMULATOR_QPUS];
    unsigned uniform_count;
    bool has_pc, has_code, stats, help;
    const char *trace;
};

extern const char options_usage[];

/* False with one line in `error`. */
bool options_parse(struct options *options, int argc, char **argv, char error[OPTION_ERROR]);

#endif
