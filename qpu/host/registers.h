/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Registers of the V3D, as byte offsets (VideoCore IV 3D Architecture Reference Guide, section 10). */
#ifndef PENSTOCK_QPU_REGISTERS_H
#define PENSTOCK_QPU_REGISTERS_H

enum {
    V3D_IDENT0 = 0x000,
    V3D_L2CACTL = 0x020,
    V3D_SLCACTL = 0x024,
    V3D_SQRSV0 = 0x410,
    V3D_SQRSV1 = 0x414,
    V3D_SRQPC = 0x430,
    V3D_SRQUA = 0x434,
    V3D_SRQUL = 0x438,
    V3D_SRQCS = 0x43c,
    V3D_VPMBASE = 0x504,
    V3D_DBCFG = 0xe00,
    V3D_DBQITE = 0xe2c,
    V3D_DBQITC = 0xe30,
    V3D_BYTES = 0x1000
};

enum {
    V3D_OFFSET = 0xc00000,        /* from the peripherals' base */
    V3D_IDENT0_VALUE = 0x02443356 /* "V3D", version 2 */
};

enum {
    V3D_L2CACTL_CLEAR = 1 << 2,
    V3D_SLCACTL_CLEAR = 0x0f0f0f0f,
    V3D_SRQCS_RESET = 1 << 0 | 1 << 7 | 1 << 8 | 1 << 16,
    V3D_SRQCS_ERROR = 1 << 7,
    V3D_SRQ_DEPTH = 16,
    V3D_VPM_ROWS_64 = 16 /* VPMBASE: units of 256 bytes */
};

#endif
