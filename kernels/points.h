/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The words of dft.h, stages.h, convolve.h and fft.cl for points in NVIDIA's assembly, where the host adds this file:
 * as in ptx.h, points and twiddle factors are its registers (re0 and im0 are point 0, wre1 and wim1 factor 1), which no
 * word of C names, so that the optimizer of NVRTC has nothing to do on them. Samples and values are C's on their way to
 * a point and from one. Products are not rounded by themselves where a sum follows: the assembler makes multiply-adds
 * of them, as the optimizer does.
 *
 * For points that lie JOINED in local memory, of a convolution by Bluestein, not PAIRED. The host prints odd primes in
 * the words P_SUM ... P_TOTAL beside those of C. Host compilers, which run kernels for tests, take C's.
 */
#ifdef __CUDA_ARCH__

#undef DECLARE
#undef ZERO
#undef LOAD
#undef LOAD_IF_ANY
#undef FINISH
#undef FINISH_ANYWHERE
#undef SUM_ADD
#undef DFT2
#undef DFT4
#undef ROTATE
#undef ROTATE_1_8
#undef ROTATE_2_8
#undef ROTATE_3_8
#undef SWAP
#undef TURN_POINT_BY
#undef TWIDDLE_AT
#undef TWIDDLE_READ
#undef TWIDDLE_MAKE
#undef TWIDDLE_USE
#undef GIVE
#undef TAKE
#undef PRODUCT_AT
#undef LEAVE_TURNED
#undef TWICE

/* ---------------------------------------------------------------- points ---------------------- */

#define DECLARE(s) asm volatile(".reg .f32 re" #s ", im" #s ", wre" #s ", wim" #s ";"); /* and factor s */

/* C's variables to a point, and a point to C's. */
#define P_SET(s, re_in, im_in) asm volatile("mov.f32 re" #s ", %0;\n\tmov.f32 im" #s ", %1;" ::"f"(re_in), "f"(im_in));
#define P_GET(s, re_out, im_out) \
    asm volatile("mov.f32 %0, re" #s ";\n\tmov.f32 %1, im" #s ";" : "=f"(re_out), "=f"(im_out));

#define ZERO(s) P_SET(s, 0.0f, 0.0f)
#define LOAD(s, offset)                   \
    {                                     \
        float re_in, im_in;               \
        LOAD_SAMPLE(_in, LOAD_AT(offset)) \
        P_SET(s, re_in, im_in)            \
    }
#define LOAD_IF_ANY(s, offset)                \
    {                                         \
        float re_in = 0.0f, im_in = 0.0f;     \
        if (LOAD_AT(offset) < IN_COUNT)       \
            LOAD_SAMPLE(_in, LOAD_AT(offset)) \
        P_SET(s, re_in, im_in)                \
    }

#define FINISH(s, offset, to)                           \
    {                                                   \
        float re_out, im_out;                           \
        P_GET(s, re_out, im_out)                        \
        LEAVE(_out, offset)                             \
        FINISH_VALUE(s, lane + (to), re_out, im_out)    \
    }
#define FINISH_ANYWHERE(s, offset)                      \
    {                                                   \
        const k_index k_ = VALUE_AT(offset);            \
        float re_out, im_out;                           \
        P_GET(s, re_out, im_out)                        \
        if (OUT_COUNT == COLUMNS * N || k_ < OUT_COUNT) { \
            LEAVE(_out, offset)                         \
            FINISH_VALUE(s, CENTER(k_), re_out, im_out) \
        }                                               \
    }
#define SUM_ADD(s)                           \
    {                                        \
        float re_out, im_out;                \
        P_GET(s, re_out, im_out)             \
        SUM_POWER(s, POWER(re_out, im_out))  \
    }

/* ---------------------------------------------------------------- transforms ------------------ */

#define P_ADD(to, a, b) "add.f32 " to ", " a ", " b ";\n\t"
#define P_SUB(to, a, b) "sub.f32 " to ", " a ", " b ";\n\t"
#define P_MUL(to, a, b) "mul.f32 " to ", " a ", " b ";\n\t"
#define P_FMA(to, a, b, c) "fma.rn.f32 " to ", " a ", " b ", " c ";\n\t"
#define P_NEG(to, a)    "neg.f32 " to ", " a ";\n\t"
#define P_MOV(to, a)    "mov.f32 " to ", " a ";\n\t"

#define DFT2(a, b)                                                                                      \
    asm volatile("{.reg .f32 x, y;\n\t" P_SUB("x", "re" #a, "re" #b) P_SUB("y", "im" #a, "im" #b)        \
                   P_ADD("re" #a, "re" #a, "re" #b) P_ADD("im" #a, "im" #a, "im" #b) P_MOV("re" #b, "x") \
                     P_MOV("im" #b, "y") "}");

#define P_DFT4_PART(part, a, b, c, d, p, q, r, s)                                                            \
    P_ADD(p, part #a, part #c) P_SUB(q, part #a, part #c) P_ADD(r, part #b, part #d) P_SUB(s, part #b, part #d)
#define DFT4(a, b, c, d)                                                                                          \
    asm volatile("{.reg .f32 p, q, r, s, t, u, v, w;\n\t" P_DFT4_PART("re", a, b, c, d, "p", "q", "r", "s")       \
                   P_DFT4_PART("im", a, b, c, d, "t", "u", "v", "w") P_ADD("re" #a, "p", "r")                     \
                     P_ADD("im" #a, "t", "v") P_ADD("re" #b, "q", "w") P_SUB("im" #b, "u", "s")                   \
                       P_SUB("re" #c, "p", "r") P_SUB("im" #c, "t", "v") P_SUB("re" #d, "q", "w")                 \
                         P_ADD("im" #d, "u", "s") "}");

/* Point s times wre + i wim, registers or operands. */
#define P_TURN(to_re, to_im, s, wre, wim)                                                               \
    P_MUL("n", "im" #s, wim) P_NEG("n", "n") P_FMA("n", "re" #s, wre, "n") P_MUL("m", "im" #s, wre)     \
      P_FMA(to_im, "re" #s, wim, "m") P_MOV(to_re, "n")
#define ROTATE(s, cosine, sine)                                                                     \
    asm volatile("{.reg .f32 m, n;\n\t" P_TURN("re" #s, "im" #s, s, "%0", "%1") "}" ::"f"(cosine), \
                 "f"(-(sine)));
#define P_HALF "0f3F3504F3" /* of the square root of 2 */
#define ROTATE_1_8(s)                                                                            \
    asm volatile("{.reg .f32 x, y;\n\t" P_ADD("x", "re" #s, "im" #s) P_SUB("y", "im" #s, "re" #s) \
                   P_MUL("re" #s, "x", P_HALF) P_MUL("im" #s, "y", P_HALF) "}");
#define ROTATE_2_8(s) \
    asm volatile("{.reg .f32 x;\n\t" P_NEG("x", "re" #s) P_MOV("re" #s, "im" #s) P_MOV("im" #s, "x") "}");
#define ROTATE_3_8(s)                                                                            \
    asm volatile("{.reg .f32 x, y;\n\t" P_ADD("x", "re" #s, "im" #s) P_SUB("y", "im" #s, "re" #s) \
                   P_MUL("re" #s, "y", P_HALF) P_MUL("im" #s, "x", "0fBF3504F3") "}");
#define SWAP(a, b)                                                                                              \
    asm volatile("{.reg .f32 x, y;\n\t" P_MOV("x", "re" #a) P_MOV("y", "im" #a) P_MOV("re" #a, "re" #b)          \
                   P_MOV("im" #a, "im" #b) P_MOV("re" #b, "x") P_MOV("im" #b, "y") "}");

/* Odd primes: sums and differences of points j and prime - j; for values k and prime - k, P_FIRST, P_MORE, P_LAST. */
#define P_DECLARE(j) ".reg .f32 sre" #j ", sim" #j ", gre" #j ", gim" #j ";\n\t"
#define P_SUM(j, x, y)                                                                                             \
    P_ADD("sre" #j, "re" #x, "re" #y) P_ADD("sim" #j, "im" #x, "im" #y) P_SUB("gre" #j, "re" #x, "re" #y)          \
      P_SUB("gim" #j, "im" #x, "im" #y)
#define P_FIRST(a, c, s)                                                                                        \
    P_FMA("ere", "sre1", #c, "re" #a) P_FMA("eim", "sim1", #c, "im" #a) P_MUL("ore", "gim1", #s)                \
      P_MUL("oim", "gre1", #s)
#define P_MORE(j, c, s)                                                                                            \
    P_FMA("ere", "sre" #j, #c, "ere") P_FMA("eim", "sim" #j, #c, "eim") P_FMA("ore", "gim" #j, #s, "ore")          \
      P_FMA("oim", "gre" #j, #s, "oim")
#define P_LAST(x, y)                                                                                            \
    P_ADD("re" #x, "ere", "ore") P_SUB("im" #x, "eim", "oim") P_SUB("re" #y, "ere", "ore")                      \
      P_ADD("im" #y, "eim", "oim")
#define P_TOTAL(a, j) P_ADD("re" #a, "re" #a, "sre" #j) P_ADD("im" #a, "im" #a, "sim" #j)

/* ---------------------------------------------------------------- factors --------------------- */

#define TURN_POINT_BY(s, at)                                                                              \
    {                                                                                                     \
        const k_cf32 pair_ = PAIR(at);                                                                    \
        asm volatile("{.reg .f32 m, n;\n\t" P_TURN("re" #s, "im" #s, s, "%0", "%1") "}" ::"f"(pair_.re), \
                     "f"(pair_.im));                                                                      \
    }
/* Where the table's pairs do not depend on the offset, and how many bytes further they are. */
#define P_PAIR(to_re, to_im, from, at) "ld.global.nc.v2.f32 {" to_re ", " to_im "}, [" from "+" at "];\n\t"
#define PRODUCT_AT(s, offset)                                                                                  \
    asm volatile("{.reg .f32 a, b, m, n, o;\n\t" P_PAIR("a", "b", "%0", "%1") P_TURN("o", "re" #s, s, "a", "b") \
                   P_MOV("im" #s, "o") "}" ::"l"(table + SPECTRUM_AT + 2 * POINT_AT(0)),                       \
                 "n"(8 * (offset) * COLUMNS));
#if INNER < COLUMNS
#define P_BETWEEN(s, fine, coarse)                                                                               \
    asm volatile("{.reg .f32 a, b, c, d, m, n, o;\n\t" P_PAIR("a", "b", "%0", "0") P_PAIR("c", "d", "%1", "0")    \
                   P_MUL("n", "b", "d") P_NEG("n", "n") P_FMA("o", "a", "c", "n") P_MUL("m", "b", "c")           \
                     P_FMA("d", "a", "d", "m") P_TURN("re" #s, "im" #s, s, "o", "d") "}" ::"l"(table + (fine)), \
                 "l"(table + (coarse)));
#define P_LEAVE(s, offset)                                                                     \
    {                                                                                          \
        const k_u32 turns_ = (k_u32)(lane + offset) * ((k_u32)column / INNER);                 \
        const k_index fine_ = FINE_AT + 2 * (k_index)(turns_ & ((1u << FINE_BITS) - 1u));      \
        const k_index coarse_ = COARSE_AT + 2 * (k_index)(turns_ >> FINE_BITS);                \
        P_BETWEEN(s, fine_, coarse_)                                                           \
    }
#else
#define P_LEAVE(s, offset)
#endif
#define TWIDDLE_AT(kind, position, span) const float *at_ = table + 2 * WITHIN_##kind(position, span);
#define TWIDDLE_READ(k, table_at) \
    asm volatile("ld.global.nc.v2.f32 {wre" #k ", wim" #k "}, [%0+%1];" ::"l"(at_), "n"(4 * (table_at)));
#define TWIDDLE_MAKE(k, a, b)                                                                               \
    asm volatile("{.reg .f32 m, n;\n\t" P_MUL("n", "wim" #a, "wim" #b) P_NEG("n", "n")                      \
                   P_FMA("wre" #k, "wre" #a, "wre" #b, "n") P_MUL("m", "wim" #a, "wre" #b)                  \
                     P_FMA("wim" #k, "wre" #a, "wim" #b, "m") "}");
#define TWIDDLE_USE(s, k) \
    asm volatile("{.reg .f32 m, n;\n\t" P_TURN("re" #s, "im" #s, s, "wre" #k, "wim" #k) "}");

/* ---------------------------------------------------------------- exchanges ------------------- */

/* A place is a number of bytes; what is constant of it is in the instruction. */
#define P_PLACE(at) ((k_u32)__cvta_generic_to_shared(shared) + (k_u32)sizeof(k_local) * (k_u32)(at))
#define P_POINTS(at) "n"((int)sizeof(k_local) * (at))
#define GIVE(s, offset, every, gap)                                                                            \
    asm volatile("st.shared.v2.f32 [%0+%1], {re" #s ", im" #s "};"                                             \
                 ::"r"(P_PLACE(PLACE_AT((offset) % (every) == 0 ? 0 : (offset), every, gap))),                  \
                 P_POINTS((offset) % (every) == 0 ? ((offset) + (offset) / (every) * (gap)) * STEP : 0) : "memory");
#define P_APART(offset, every, group) ((every) % (group) == 0 ? 0 : (offset))
#define TAKE(s, kind, position, span, group, offset, every, gap)                                               \
    asm volatile("ld.shared.v2.f32 {re" #s ", im" #s "}, [%0+%1];"                                             \
                 ::"r"(P_PLACE(TAKE_AT(kind, position, span, group, P_APART(offset, every, group), every, gap))), \
                 P_POINTS((every) % (group) == 0 ? (offset)*STEP : 0) : "memory");

/* A middle pass of several is not the last: what its values go through is P_LEAVE. */
#define LEAVE_TURNED(s, offset)                                                                              \
    P_LEAVE(s, offset)                                                                                       \
    asm volatile("st.shared.v2.f32 [%0+%1], {re" #s ", im" #s "};" ::"r"(                                     \
                   (k_u32)__cvta_generic_to_shared(exchange) + 8u * (k_u32)(member * ROW_STEP + lane)),      \
                 "n"(8 * (offset)) : "memory");

/* Addresses are computed in each round: kept through both, they do not fit into registers. */
#define TWICE                                        \
    K_ROLLED                                         \
    for (k_index round_ = 0; round_ < 2; round_++) { \
        K_ANEW(lane);                                \
        ROUND                                        \
        table += (k_size)(plane >> 63);              \
        if (!round_) {                               \
            MIDDLE ONWARD                            \
        }                                            \
    }
#endif
