# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
#
# Transforms for the VideoCore IV: one program of routines. A QPU's uniforms are a list of jobs: the address of a
# routine and what it takes. A routine reads the next job's address first and branches there at its end, so that the
# host decides what each QPU does, in which order, and where every vector lies. qpu/fft/ makes these lists.
.include "registers.qinc"
.include "radix.qinc"
.include "lanes.qinc"
.include "store.qinc"

# Offsets of the routines, in the order of enum qpu_fft__routine in qpu/fft/program.h.
.int :begin, :shape, :wait, :take, :leave, :leave_first
.int :pass_1, :pass_2, :pass_4
.int :last_1, :last_2, :small_4, :small_8, :small_16
.int :last_1_reverse, :last_2_reverse, :small_4_reverse, :small_8_reverse, :small_16_reverse
.align 8

.macro next_job
    bra -, next
    nop
    nop
    nop
.endm

# A vector of constants to `register`; the address of the next is in r1.
.macro constant, register
    mov t0s, r1
    add r1, r1, r2; ldtmu0
    mov register, r4
.endm

# uniforms: first VPM row, table of constants
:begin
    mov next, unif
    mov r0, unif
    ldi r1, vpm_setup(1, 1, h32(0))
    add vpm_rows, r0, r1
    add r1, r1, 2
    add vpm_rows + 1, r0, r1
    shl r0, r0, 7
    ldi r1, vdw_setup_0(2, 16, dma_h32(0, 0))
    add dma_rows, r0, r1
    ldi r2, 2 << 7
    add r0, r0, r2
    add dma_rows + 1, r0, r1
    ldi r5rep, 128
    ldi vector_size, 64
    ldi minus_one, -1.0
    ldi cos_eighth, 0x3f6c835e
    ldi sin_eighth, 0x3ec3ef15
    ldi half, 0x3f3504f3
    ldi minus_cos, 0xbf6c835e
    ldi minus_sin, 0xbec3ef15
    ldi minus_half, 0xbf3504f3
    shl lane_word, elem_num, 2
    ldi r2, 64
    add r1, unif, lane_word
    constant lane_4x1
    constant lane_8x1
    constant lane_8x2
    constant sign_2
    constant sign_8
    constant cos_lanes
    constant sin_lanes
    next_job

# What the groups of a pass have in common.
# uniforms: table of lane offsets, first_part, step1, step2, step4, step8, dma_pitch, inner table
:shape
    mov next, unif
    add t0s, unif, lane_word
    mov first_part, unif
    mov step1, unif
    mov step2, unif
    mov step4, unif
    mov step8, unif
    mov dma_pitch, unif
    bra -, next
    add inner_table, unif, lane_word
    nop; ldtmu0
    mov lane_offset, r4

# All of 16 * points samples.
# uniforms: second part of the first point, where each pair of rows goes
.macro small, points, reverse
    mov next, unif
    add from, unif, lane_offset
    ask_inner_table
    ask_first_two
    nop; ldtmu0
    .rep i, points
        lanes_16 i, points
    .endr
    all_but_last_stage points
    .rep k, points / 2
        finish_interleaved 2 * k, 2 * k + 1, reverse
    .endr
    next_job
.endm

# The requests and the arrival of 16 points for each lane that are `lanes` points of each register.
.macro arrive, lanes
    add from, unif, lane_offset
    .if lanes > 1
        ask_inner_table
    .else
        nop
    .endif
    ask_first_two
    .if lanes == 2
        add.setf -, lane_8x1, lane_8x1; ldtmu0
    .else
        nop; ldtmu0
    .endif
    .rep i, 16
        .if lanes == 1
            lanes_1 i, 16
        .elseif lanes == 2
            lanes_2 i, 16
        .else
            lanes_4 i, 16
        .endif
    .endr
.endm

# 256 samples of a pass that is not the last: 16 * lanes points of 16 / lanes transforms.
# uniforms: second part of the first point, table, where each pair of rows goes
.macro pass, lanes
    mov next, unif
    arrive lanes
    add table, unif, lane_word
    nop
    ask_table
    nop
    ask_table
    all_but_last_stage 16
    .rep k, 8
        finish_planar 2 * k, 2 * k + 1, k < 7
    .endr
    next_job
.endm

# 256 samples of the last pass, as above but interleaved and without a table.
# uniforms: second part of the first point, where each pair of rows goes
.macro last, lanes, reverse
    mov next, unif
    arrive lanes
    .if lanes == 1
        add.setf -, lane_8x1, lane_8x1
    .endif
    all_but_last_stage 16
    .rep k, 8
        finish_interleaved 2 * k, 2 * k + 1, reverse
    .endr
    next_job
.endm

:pass_1
    pass 1
:pass_2
    pass 2
:pass_4
    pass 4
:last_1
    last 1, 0
:last_2
    last 2, 0
:small_4
    small 4, 0
:small_8
    small 8, 0
:small_16
    small 16, 0
:last_1_reverse
    last 1, 1
:last_2_reverse
    last 2, 1
:small_4_reverse
    small 4, 1
:small_8_reverse
    small 8, 1
:small_16_reverse
    small 16, 1

# What this QPU stored is in memory.
:wait
    mov next, unif
    read vw_wait
    next_job

# Waits for one other QPU's end.
:take
    mov next, unif
    sacq -, 0
    next_job

# The end of all QPUs but one.
:leave
    read vw_wait
    srel -, 0
    nop; thrend
    nop
    nop

# The end of the QPU that took all others'.
:leave_first
    read vw_wait
    mov interrupt, 1
    nop; thrend
    nop
    nop
