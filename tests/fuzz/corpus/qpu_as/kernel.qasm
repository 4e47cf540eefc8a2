.include "vc4.qinc"
.set count, 4
.set scale(x) x * 2 + 1
.func checked(x)
    .assert x >= 0 && x < 16, "out of range"
    x << 4 | 1
.endf
.macro load, dest, source
    mov t0s, source
    mov.setf -, elem_num
    nop; ldtmu0
    mov dest, r4
.endm
:start
    mov ra0, unif; mov rb0, 0.5
    ldi vw_setup, vpm_setup(1, 1, h32(0))
.rep i, count
    load ra1 + i, ra0
    .if i % 2
    fadd.ifz r0, r1, r2; fmul.ifnz r0, r1, r3 # complementary
    .else
    mov r1, checked(i)
    .endif
.endr
:1
    sub.setf r1, r1, 1; mov r0, r2
    mov r3, r2 >> r5
    brr.allnz -, r:1b
    itof ra9.16a, r3
    fmul r0, r2 << 3, r3
    mov vpm, ra9.8b
    bra rb7, ra0, :table
    sacq -, 3
    ldi r0, [-2,-1,0,1,-2,-1,0,1,-2,-1,0,1,-2,-1,0,1]
    read vw_wait
    nop; thrend
    mov interrupt, 1
    nop
.align 16
:table
    .int 1, :table - :start
    .float 1.5, sin(0.5)
    .byte 1, 2, 3
