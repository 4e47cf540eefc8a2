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
    ROUTINE_LAST_1,
    ROUTINE_LAST_2,
    ROUTINE_PASS_OF_8,
    ROUTINE_LAST_OF_8,
    ROUTINE_TRANSPOSE,
    ROUTINE_PASS_1, /* from here on once for each kind of points */
    ROUTINE_PASS_2,
    ROUTINE_PASS_4,
    ROUTINE_SMALL_4,
    ROUTINE_SMALL_8,
    ROUTINE_SMALL_16,
    ROUTINES_OF_KIND = 6
};

/* Kinds of points, in the program's order. */
enum qpu_fft__kind { KIND_PLAIN, KIND_WINDOW, KIND_PRODUCT, KIND_CS16, KIND_BYTES };

uint32_t qpu_fft__program_bytes(void);
void qpu_fft__program_copy(void *to);

/* Bytes from the program's beginning. */
uint32_t qpu_fft__program_offset(unsigned routine);

#endif
