# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
#
# Transforms for the VideoCore IV: one program of routines. A QPU's uniforms are a list of jobs: the address of a
# routine and what it takes. A routine reads the next job's address first and branches there at its end, so that the
# host decides what each QPU does, in which order, and where every vector lies. qpu/fft/ makes these lists.
.include "registers.qinc"
.include "radix.qinc"
.include "lanes.qinc"
.include "arrive.qinc"
.include "store.qinc"

# Offsets of the routines, in the order of enum qpu_fft__routine in qpu/fft/program.h.
.int :begin, :shape, :wait, :take, :leave, :leave_first, :last_1, :last_2, :pass_of_8, :last_of_8, :transpose
.int :pass_1, :pass_2, :pass_4, :small_4, :small_8, :small_16
.int :pass_1_window, :pass_2_window, :pass_4_window, :small_4_window, :small_8_window, :small_16_window
.int :pass_1_product, :pass_2_product, :pass_4_product, :small_4_product, :small_8_product, :small_16_product
.int :pass_1_cs16, :pass_2_cs16, :pass_4_cs16, :small_4_cs16, :small_8_cs16, :small_16_cs16
.int :pass_1_bytes, :pass_2_bytes, :pass_4_bytes, :small_4_bytes, :small_8_bytes, :small_16_bytes
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

# uniforms: first VPM row, what makes bytes unsigned, their middle, table of constants
:begin
    mov next, unif
    mov r0, unif
    ldi r1, vpm_setup(1, 1, h32(0))
    add vpm_rows, r0, r1
    add r1, r1, 2; mov flip, unif
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
    mov middle, unif
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

# Flags for results: negative in odd lanes; carry as the uniform says, 1 << 31 if the parts have changed places.
.macro result_flags
    and r0, lane_word, 4
    shl r0, r0, -4
    or r0, r0, unif
    add.setf -, r0, r0
.endm

# Every routine below takes a group. uniforms: where points come from, see arrive; then

# All of 16 * points samples: 1 << 31 in a reverse transform, where each pair of rows goes
.macro small, kind, points
    mov next, unif
    arrive kind, 16, points
    result_flags
    all_but_last_stage points
    .rep k, points / 2
        finish_interleaved 2 * k, 2 * k + 1
    .endr
    next_job
.endm

# 16 * points samples of a pass that is not the last, points * lanes points of 16 / lanes transforms: table, where each
# pair of rows goes
.macro pass, kind, lanes, points
    mov next, unif
    arrive kind, lanes, points
    add table, unif, lane_word
    nop
    ask_row
    nop
    ask_row
    all_but_last_stage points
    .rep k, points / 2
        finish_planar 2 * k, 2 * k + 1, k + 1 < points / 2
    .endr
    next_job
.endm

# As many of the last pass: 1 << 31 in a reverse transform, where each pair of rows goes
.macro last, lanes, points
    mov next, unif
    arrive PLAIN, lanes, points
    result_flags
    all_but_last_stage points
    .rep k, points / 2
        finish_interleaved 2 * k, 2 * k + 1
    .endr
    next_job
.endm

# 16 columns of 16 rows become rows, the columns by their numbers' bits reversed: as last.
:transpose
    mov next, unif
    arrive PLAIN, 1, 16
    result_flags
    .rep k, 16
        .set i, (k & 1) << 3 | (k & 2) << 1 | (k & 4) >> 1 | k >> 3
        mov r0, re(i); mov r1, im(i)
        store_interleaved k & 1
    .endr
    next_job

:last_1         last 1, 16
:last_2         last 2, 16
:pass_of_8      pass PLAIN, 1, 8
:last_of_8      last 1, 8
:pass_1         pass PLAIN, 1, 16
:pass_2         pass PLAIN, 2, 16
:pass_4         pass PLAIN, 4, 16
:small_4        small PLAIN, 4
:small_8        small PLAIN, 8
:small_16       small PLAIN, 16
:pass_1_window  pass WINDOW, 1, 16
:pass_2_window  pass WINDOW, 2, 16
:pass_4_window  pass WINDOW, 4, 16
:small_4_window small WINDOW, 4
:small_8_window small WINDOW, 8
:small_16_window small WINDOW, 16
:pass_1_product pass PRODUCT, 1, 16
:pass_2_product pass PRODUCT, 2, 16
:pass_4_product pass PRODUCT, 4, 16
:small_4_product small PRODUCT, 4
:small_8_product small PRODUCT, 8
:small_16_product small PRODUCT, 16
:pass_1_cs16    pass CS16, 1, 16
:pass_2_cs16    pass CS16, 2, 16
:pass_4_cs16    pass CS16, 4, 16
:small_4_cs16   small CS16, 4
:small_8_cs16   small CS16, 8
:small_16_cs16  small CS16, 16
:pass_1_bytes     pass BYTES, 1, 16
:pass_2_bytes     pass BYTES, 2, 16
:pass_4_bytes     pass BYTES, 4, 16
:small_4_bytes    small BYTES, 4
:small_8_bytes    small BYTES, 8
:small_16_bytes   small BYTES, 16

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
