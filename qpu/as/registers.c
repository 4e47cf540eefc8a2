/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Names of registers: what is read and written at which address of which file. The first name of a place is printed. */
#include "internal.h"

#include <string.h>

enum { A = QPU__FILE_A, B = QPU__FILE_B, AB = QPU__FILES, R = QPU__READ, W = QPU__WRITE };

static const struct {
    const char *name;
    uint8_t address, flags;
} names[] = {
    {"unif", QPU_READ_UNIFORM, AB | R},
    {"vary", QPU_READ_VARYING, AB | R},
    {"tmurs", QPU_WRITE_TMU_NOSWAP, AB | W},
    {"tmu_noswap", QPU_WRITE_TMU_NOSWAP, AB | W},
    {"r5quad", QPU_WRITE_R5, A | W},
    {"r5rep", QPU_WRITE_R5, B | W},
    {"elem_num", QPU_READ_ELEMENT_OR_QPU, A | R},
    {"qpu_num", QPU_READ_ELEMENT_OR_QPU, B | R},
    {"interrupt", QPU_WRITE_HOST_INTERRUPT, AB | W},
    {"irq", QPU_WRITE_HOST_INTERRUPT, AB | W},
    {"host_int", QPU_WRITE_HOST_INTERRUPT, AB | W},
    {"unif_addr", QPU_WRITE_UNIFORMS_ADDRESS, A | W},
    {"unif_addr_rel", QPU_WRITE_UNIFORMS_ADDRESS, B | W},
    {"x_coord", QPU_READ_X_OR_Y, A | R | W},
    {"y_coord", QPU_READ_X_OR_Y, B | R | W},
    {"ms_mask", QPU_READ_MS_OR_REV, A | R | W},
    {"rev_flag", QPU_READ_MS_OR_REV, B | R | W},
    {"stencil", QPU_WRITE_TLB_STENCIL, AB | W},
    {"tlbz", QPU_WRITE_TLB_Z, AB | W},
    {"tlbm", QPU_WRITE_TLB_COLOR_MS, AB | W},
    {"tlbc", QPU_WRITE_TLB_COLOR_ALL, AB | W},
    {"tlbam", QPU_WRITE_TLB_ALPHA_MASK, AB | W},
    {"vpm", QPU_READ_VPM, AB | R | W},
    {"vr_busy", QPU_READ_VPM_BUSY, A | R},
    {"vw_busy", QPU_READ_VPM_BUSY, B | R},
    {"vr_setup", QPU_WRITE_VPM_SETUP, A | W},
    {"vw_setup", QPU_WRITE_VPM_SETUP, B | W},
    {"vr_wait", QPU_READ_VPM_WAIT, A | R},
    {"vw_wait", QPU_READ_VPM_WAIT, B | R},
    {"vr_addr", QPU_WRITE_VPM_ADDRESS, A | W},
    {"vw_addr", QPU_WRITE_VPM_ADDRESS, B | W},
    {"mutex", QPU_READ_MUTEX, AB | R | W},
    {"mutex_acq", QPU_READ_MUTEX, AB | R},
    {"mutex_rel", QPU_WRITE_MUTEX, AB | W},
    {"recip", QPU_WRITE_SFU_RECIP, AB | W},
    {"recipsqrt", QPU_WRITE_SFU_RECIPSQRT, AB | W},
    {"rsqrt", QPU_WRITE_SFU_RECIPSQRT, AB | W},
    {"exp", QPU_WRITE_SFU_EXP, AB | W},
    {"log", QPU_WRITE_SFU_LOG, AB | W},
    {"t0s", QPU_WRITE_TMU0_S, AB | W},
    {"t0t", QPU_WRITE_TMU0_T, AB | W},
    {"t0r", QPU_WRITE_TMU0_R, AB | W},
    {"t0b", QPU_WRITE_TMU0_B, AB | W},
    {"t1s", QPU_WRITE_TMU1_S, AB | W},
    {"t1t", QPU_WRITE_TMU1_T, AB | W},
    {"t1r", QPU_WRITE_TMU1_R, AB | W},
    {"t1b", QPU_WRITE_TMU1_B, AB | W},
};

/* The digits at text, below `limit`; -1 if there is anything else. */
static int digits(const char *text, int length, int limit)
{
    int value = 0;
    if (length < 1 || length > 2 || (length == 2 && text[0] == '0'))
        return -1;
    for (int i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + text[i] - '0';
    }
    return value < limit ? value : -1;
}

bool qpu__find_register(struct qpu__register *reg, const char *name, int length)
{
    *reg = (struct qpu__register){0};
    if (length >= 2 && name[0] == 'r') {
        int number = digits(name + 1, length - 1, 6);
        if (number >= 0) {
            reg->address = (uint8_t)number;
            reg->flags = QPU__ACCUMULATOR | AB | R | (number < 4 ? W : 0);
            return true;
        }
        number = digits(name + 2, length - 2, 64);
        if (number >= 0 && (name[1] == 'a' || name[1] == 'b')) {
            reg->address = (uint8_t)number;
            reg->flags = (uint8_t)((name[1] == 'a' ? A : B) | R | W);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) == (size_t)length && !memcmp(names[i].name, name, (size_t)length)) {
            reg->address = names[i].address;
            reg->flags = names[i].flags;
            return true;
        }
    }
    return false;
}

const char *qpu__register_name(unsigned address, unsigned file, unsigned direction)
{
    static const char *const accumulators[] = {"r0", "r1", "r2", "r3"};
    if (direction == QPU__WRITE && address >= QPU_WRITE_R0 && address <= QPU_WRITE_R3)
        return accumulators[address - QPU_WRITE_R0];
    if (direction == QPU__WRITE && address == QPU_WRITE_NOTHING)
        return "-";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].address == address && (names[i].flags & file) && (names[i].flags & direction))
            return names[i].name;
    return NULL;
}
