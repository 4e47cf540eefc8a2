/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */
#include "program.h"

#include <string.h>

static const uint32_t program[] = {
#include "fft.hex"
};

uint32_t qpu_fft__program_bytes(void)
{
    return sizeof program;
}

void qpu_fft__program_copy(void *to)
{
    memcpy(to, program, sizeof program);
}

uint32_t qpu_fft__program_offset(unsigned routine)
{
    return program[routine];
}
