/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The words of fused.h for variables v0, v1, ... in NVIDIA's assembly, where the host asks for it (PTX): variables and
 * factors are its registers, which no word of C names. The optimizer of NVRTC takes more than half of the time of a
 * compilation and has nothing to gain in a butterfly: here it sees lines without operands. The assembler behind it
 * orders instructions and gives out registers as before.
 *
 * DECLARE_ALL stands once in a kernel. Host compilers, which run kernels for tests, take the words of fused.h.
 * Registers are scalars: the assembler in NVRTC 13.0 crashed on many that were vectors.
 */
#if PTX && defined(__CUDA_ARCH__)

#undef DECLARE_ALL
#undef SET
#undef TIMES
#undef PAIR
#undef PAIR_ONE
#undef PAIR_DOWN
#undef PAIR_UP
#undef PAIR_BY
#undef PAIR_BACK
#undef FACTORS
#undef FACTOR_SAME
#undef FACTOR_SQUARED
#undef FACTOR_ROTATED
#undef LOCAL_PLACE
#undef LOCAL_GIVE
#undef LOCAL_GIVE_PART
#undef LOCAL_GIVE_TWO
#undef LOCAL_TAKE
#undef LOCAL_TAKE_PART
#undef LOCAL_SWAP
#undef READ
#undef READ_TWO
#undef WRITE
#undef WRITE_TWO

#define K_PTX_TEN(a, part)                                                                                   \
    a "0" part "," a "1" part "," a "2" part "," a "3" part "," a "4" part "," a "5" part "," a "6" part "," \
      a "7" part "," a "8" part "," a "9" part
#define K_PTX_SIXTEEN(a, part) \
    K_PTX_TEN(a, part) "," a "10" part "," a "11" part "," a "12" part "," a "13" part "," a "14" part "," a "15" part
#define K_PTX_ALL(a, part) \
    K_PTX_TEN(a, part) "," K_PTX_TEN(a "1", part) "," K_PTX_TEN(a "2", part) "," a "30" part "," a "31" part
#define DECLARE_ALL                                                                                       \
    asm volatile(".reg .f32 " K_PTX_ALL("v", "x") "," K_PTX_ALL("v", "y") "," K_PTX_SIXTEEN("z", "x") "," \
                 K_PTX_SIXTEEN("z", "y") "," K_PTX_SIXTEEN("p", "x") "," K_PTX_SIXTEEN("p", "y") ";");

#define SET(v, value)                                                                            \
    {                                                                                            \
        const float2 set_ = value;                                                               \
        asm volatile("mov.f32 " #v "x, %0;\n\tmov.f32 " #v "y, %1;" ::"f"(set_.x), "f"(set_.y)); \
    }
#define TIMES(v, by) \
    asm volatile("mul.f32 " #v "x, " #v "x, %0;\n\tmul.f32 " #v "y, " #v "y, %0;" ::"f"(by));

/* x and y become e + z o, where LESS is -im and PLUS im. */
#define K_PTX_PAIR(e, o, re, plus, less)            \
    "fma.rn.f32 x, " less ", " o "y, " e "x;\n\t"   \
    "fma.rn.f32 x, " re ", " o "x, x;\n\t"          \
    "fma.rn.f32 y, " plus ", " o "x, " e "y;\n\t"   \
    "fma.rn.f32 y, " re ", " o "y, y;\n\t"          \
    "neg.f32 n, x;\n\t"                             \
    "fma.rn.f32 " o "x, " e "x, 0f40000000, n;\n\t" \
    "neg.f32 n, y;\n\t"                             \
    "fma.rn.f32 " o "y, " e "y, 0f40000000, n;\n\t" \
    "mov.f32 " e "x, x;\n\t"                        \
    "mov.f32 " e "y, y;}"
#define PAIR(e, o, re, im) \
    asm volatile("{.reg .f32 n, x, y;\n\t" K_PTX_PAIR(#e, #o, "%0", "%1", "%2")::"f"(re), "f"(im), "f"(-(im)));
#define PAIR_BY(e, o, z, re, im) \
    asm volatile("{.reg .f32 m, n, x, y;\n\tneg.f32 m, " #z #im ";\n\t" K_PTX_PAIR(#e, #o, #z #re, #z #im, "m"));
#define PAIR_BACK(e, o, z, re, im) \
    asm volatile("{.reg .f32 m, n, x, y;\n\tneg.f32 m, " #z #im ";\n\t" K_PTX_PAIR(#e, #o, #z #re, "m", #z #im));

#define PAIR_ONE(e, o)                                                                \
    asm volatile("{.reg .f32 x, y;\n\tmov.f32 x, " #o "x;\n\tmov.f32 y, " #o "y;\n\t" \
                 "sub.f32 " #o "x, " #e "x, x;\n\tsub.f32 " #o "y, " #e "y, y;\n\t"   \
                 "add.f32 " #e "x, " #e "x, x;\n\tadd.f32 " #e "y, " #e "y, y;}");
#define PAIR_DOWN(e, o)                                                               \
    asm volatile("{.reg .f32 x, y;\n\tmov.f32 x, " #o "x;\n\tmov.f32 y, " #o "y;\n\t" \
                 "sub.f32 " #o "x, " #e "x, y;\n\tadd.f32 " #o "y, " #e "y, x;\n\t"   \
                 "add.f32 " #e "x, " #e "x, y;\n\tsub.f32 " #e "y, " #e "y, x;}");
#define PAIR_UP(e, o)                                                                 \
    asm volatile("{.reg .f32 x, y;\n\tmov.f32 x, " #o "x;\n\tmov.f32 y, " #o "y;\n\t" \
                 "add.f32 " #o "x, " #e "x, y;\n\tsub.f32 " #o "y, " #e "y, x;\n\t"   \
                 "sub.f32 " #e "x, " #e "x, y;\n\tadd.f32 " #e "y, " #e "y, x;}");

#define FACTORS(a, b, table_at)                              \
    {                                                        \
        const float4 both_ = K_KEEP(table + table_at + at_); \
        SET(a, K_FLOAT2(both_.x, both_.y))                   \
        SET(b, K_FLOAT2(both_.z, both_.w))                   \
    }
#define FACTOR_SAME(z, p) asm volatile("mov.f32 " #z "x, " #p "x;\n\tmov.f32 " #z "y, " #p "y;");
#define FACTOR_SQUARED(z, p)                                                              \
    asm volatile("{.reg .f32 n, x;\n\tmul.f32 n, " #p "y, " #p "y;\n\tneg.f32 n, n;\n\t"  \
                 "add.f32 x, " #p "x, " #p "x;\n\tfma.rn.f32 n, " #p "x, " #p "x, n;\n\t" \
                 "mul.f32 " #z "y, x, " #p "y;\n\tmov.f32 " #z "x, n;}");
#define FACTOR_ROTATED(z, p, c, s)                                                    \
    asm volatile("{.reg .f32 n;\n\tmul.f32 n, " #p "y, %1;\n\tneg.f32 n, n;\n\t"      \
                 "fma.rn.f32 " #z "x, " #p "x, %0, n;\n\tmul.f32 n, " #p "y, %0;\n\t" \
                 "fma.rn.f32 " #z "y, " #p "x, %1, n;}" ::"f"(c), "f"(s));

/* A place is a number of bytes. */
#define LOCAL_PLACE(name, type, memory, at) \
    const k_u32 name = (k_u32)__cvta_generic_to_shared(memory) + (k_u32)sizeof(type) * (k_u32)(at);
#define LOCAL_GIVE(to, at, v) \
    asm volatile("st.shared.v2.f32 [%0+%1], {" #v "x, " #v "y};" ::"r"(to), "n"(8 * (at)) : "memory");
#define LOCAL_GIVE_PART(to, at, v, part) \
    asm volatile("st.shared.f32 [%0+%1], " #v #part ";" ::"r"(to), "n"(4 * (at)) : "memory");
#define LOCAL_GIVE_TWO(to, at, a, b)                                                                        \
    asm volatile("st.shared.v4.f32 [%0+%1], {" #a "x, " #a "y, " #b "x, " #b "y};" ::"r"(to), "n"(8 * (at)) \
                 : "memory");
#define LOCAL_TAKE(v, from, at) \
    asm volatile("ld.shared.v2.f32 {" #v "x, " #v "y}, [%0+%1];" ::"r"(from), "n"(8 * (at)) : "memory");
#define LOCAL_TAKE_PART(v, part, from, at) \
    asm volatile("ld.shared.f32 " #v #part ", [%0+%1];" ::"r"(from), "n"(4 * (at)) : "memory");
#define LOCAL_SWAP(v, with, at)                                              \
    asm volatile("{.reg .f32 x, y;\n\tld.shared.v2.f32 {x, y}, [%0+%1];\n\t" \
                 "st.shared.v2.f32 [%0+%1], {" #v "x, " #v "y};\n\t"         \
                 "mov.f32 " #v "x, x;\n\tmov.f32 " #v "y, y;}" ::"r"(with), "n"(8 * (at)) : "memory");

#define READ(v, from, at) \
    asm volatile("ld.global.v2.f32 {" #v "x, " #v "y}, [%0+%1];" ::"l"(from), "n"(8 * (at)) : "memory");
#define READ_TWO(v, to, at, from, from_at)                                                     \
    asm volatile("{.reg .f32 x, y;\n\tld.global.v4.f32 {" #v "x, " #v "y, x, y}, [%2+%3];\n\t" \
                 "st.shared.v2.f32 [%0+%1], {x, y};}"                                          \
                 ::"r"(to), "n"(8 * (at)), "l"(from), "n"(16 * (from_at)) : "memory");
#define WRITE(to, at, v, scale)                                                               \
    asm volatile("{.reg .f32 x, y;\n\tmul.f32 x, " #v "x, %2;\n\tmul.f32 y, " #v "y, %2;\n\t" \
                 "st.global.cs.v2.f32 [%0+%1], {x, y};}" ::"l"(to), "n"(8 * (at)), "f"(scale) : "memory");
#define WRITE_TWO(to, at, less_at, v, with, with_at, turn, c, s, scale)                               \
    asm volatile("{.reg .f32 m, n, x, y, a, b;\n\t"                                                   \
                 "mul.f32 n, %1, %3;\n\tneg.f32 n, n;\n\tfma.rn.f32 x, %0, %2, n;\n\t"                \
                 "mul.f32 n, %1, %2;\n\tfma.rn.f32 y, %0, %3, n;\n\t"                                 \
                 "mul.f32 n, " #v "y, y;\n\tneg.f32 n, n;\n\tfma.rn.f32 m, " #v "x, x, n;\n\t"        \
                 "mul.f32 n, " #v "y, x;\n\tfma.rn.f32 n, " #v "x, y, n;\n\t"                         \
                 "ld.shared.v2.f32 {x, y}, [%4+%5];\n\t"                                              \
                 "add.f32 a, x, m;\n\tmul.f32 a, a, %9;\n\tadd.f32 b, y, n;\n\tmul.f32 b, b, %9;\n\t" \
                 "st.global.cs.v2.f32 [%6+%7], {a, b};\n\t"                                           \
                 "sub.f32 a, x, m;\n\tmul.f32 a, a, %9;\n\tsub.f32 b, y, n;\n\tmul.f32 b, b, %9;\n\t" \
                 "st.global.cs.v2.f32 [%6+%8], {a, b};}"                                              \
                 ::"f"(turn.x), "f"(turn.y), "f"(c), "f"(s), "r"(with), "n"(8 * (with_at)), "l"(to),  \
                 "n"(8 * (at)), "n"(8 * (less_at)), "f"(scale) : "memory");
#endif
