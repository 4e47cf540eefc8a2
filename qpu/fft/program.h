/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The assembled kernels, qpu/kernels/fft.qasm. */
#ifndef PENSTOCK_QPU_FFT_PROGRAM_H
#define PENSTOCK_QPU_FFT_PROGRAM_H

#include <stdint.h>

/* In the order of the table at the program's beginning. */
enum qpu_fft__routine {
    ROUTINE_BEGIN,
    ROUTINE_SHAPE,
    ROUTINE_WAIT,
    ROUTINE_TAKE,
    ROUTINE_LEAVE,
    ROUTINE_LEAVE_FIRST,
    ROUTINE_PASS_1,
    ROUTINE_PASS_2,
    ROUTINE_PASS_4,
    ROUTINE_LAST_1,
    ROUTINE_LAST_2,
    ROUTINE_SMALL_4,
    ROUTINE_SMALL_8,
    ROUTINE_SMALL_16,
    ROUTINE_REVERSE = 5 /* from LAST_1 .. SMALL_16 to the same with the parts of the result swapped */
};

uint32_t qpu_fft__program_bytes(void);
void qpu_fft__program_copy(void *to);

/* Bytes from the program's beginning. */
uint32_t qpu_fft__program_offset(unsigned routine);

#endif
