/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Two numbers of 16 bits in one of 32, by what each platform has. n is added as one number of 32 bits, so that a borrow
 * of its lower half is taken from its upper one; m = LOWERED(n + off in both halves, off) has the halves apart, where
 * the platform adds them so (PAIRS_APART). CHOSEN: bits from `there` by a mask, else from `elsewhere`. SCALED_BYTE: a
 * byte as the number that it is, times 2^HISTORY.
 *
 * ACROSS, of one register, and BUTTERFLY, of two: in each half the larger of two sums, of the first label's word and of
 * the second's; m and n are by their numbers. In assembly they are one statement each, of which a kernel has hundreds:
 * NVRTC takes it in a third of the time of calls of functions.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define PAIRS_APART 1
#elif defined(__NV_CL_C_VERSION) && NVIDIA_PAIRS
#define PAIRS_APART 1
#else
#define PAIRS_APART 0
#endif

#if PAIRS_APART
K_FUNCTION k_u32 add_pairs(k_u32 a, k_u32 b)
{
    k_u32 sum;
    asm("add.u16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
K_FUNCTION k_u32 max_pairs(k_u32 a, k_u32 b)
{
    k_u32 larger;
    asm("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
    return larger;
}
#define ACROSS(x, a, b)                                                     \
    asm("{ .reg .b32 s, t; prmt.b32 s, %0, %0, 0x1032; add.u32 s, s, %2;"   \
        " add.u16x2 t, %0, %1; max.u16x2 %0, t, s; }"                       \
        : "+r"(x)                                                           \
        : "r"(m##a), "r"(n##b));
#define BUTTERFLY(x, y, a0, b0, a1, b1)                                                           \
    asm("{ .reg .b32 s, t, u, v; add.u16x2 s, %0, %2; add.u32 t, %1, %3; add.u16x2 u, %0, %4;"    \
        " add.u32 v, %1, %5; max.u16x2 %0, s, t; max.u16x2 %1, u, v; }"                           \
        : "+r"(x), "+r"(y)                                                                        \
        : "r"(m##a0), "r"(n##b0), "r"(m##a1), "r"(n##b1));
#define SCALED_BYTE(word, factor, byte) four_products(word, factor)
K_FUNCTION k_i32 four_products(k_u32 bytes, k_i32 factors)
{
    k_i32 sum;
    asm("dp4a.s32.s32 %0, %1, %2, 0;" : "=r"(sum) : "r"(bytes), "r"(factors));
    return sum;
}
K_FUNCTION k_u32 chosen_bits(k_u32 mask, k_u32 there, k_u32 elsewhere)
{
    k_u32 bits;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(bits) : "r"(mask), "r"(there), "r"(elsewhere));
    return bits;
}
#define CHOSEN(mask, there, elsewhere) chosen_bits(mask, there, elsewhere)
#define LOWERED(n, off)    add_pairs(n, (0u - (off) & 0xffffu) * 0x00010001u)
#elif defined(__OPENCL_VERSION__)
K_FUNCTION k_u32 max_pairs(k_u32 a, k_u32 b)
{
    return as_uint(max(as_ushort2(a), as_ushort2(b)));
}
#define LOWERED(n, off)    0u
#define CHOSEN(mask, there, elsewhere) (((there) & (mask)) | ((elsewhere) & ~(mask)))
#define SCALED_BYTE(word, factor, byte) (((k_i32)((word) << (24 - 8 * (byte))) >> 24) * (1 << HISTORY))
#else
K_FUNCTION k_u32 max_pairs(k_u32 a, k_u32 b)
{
    const k_u32 low = (a & 0xffffu) > (b & 0xffffu) ? a : b, high = a >> 16 > b >> 16 ? a : b;
    return (high & 0xffff0000u) | (low & 0xffffu);
}
#define LOWERED(n, off)    0u
#define CHOSEN(mask, there, elsewhere) (((there) & (mask)) | ((elsewhere) & ~(mask)))
#define SCALED_BYTE(word, factor, byte) (((k_i32)((word) << (24 - 8 * (byte))) >> 24) * (1 << HISTORY))
#endif

#if defined(__NV_CL_C_VERSION) && NVIDIA_PAIRS
K_FUNCTION k_u32 chosen_bytes(k_u32 a, k_u32 b, k_u32 which)
{
    k_u32 bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(which));
    return bytes;
}
K_FUNCTION k_u32 shifted_bits(k_u32 low, k_u32 high, k_u32 by)
{
    k_u32 bits;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(low), "r"(high), "r"(by));
    return bits;
}
#define SWAP_HALVES(x)    chosen_bytes(x, x, 0x1032u)
#define LOW_BYTES(a, b)   chosen_bytes(a, b, 0x6420u)
#define SHIFTED(low, high, by) shifted_bits(low, high, by)
#define PIECE             uint4
#define MAKE_PIECE(a, b, c, d) ((uint4)(a, b, c, d))
#elif defined(__OPENCL_VERSION__)
#define SWAP_HALVES(x)    rotate(x, 16u)
#define LOW_BYTES(a, b)   (((a) & 255u) | ((a) >> 8 & 0xff00u) | ((b) & 255u) << 16 | ((b) << 8 & 0xff000000u))
#define SHIFTED(low, high, by) ((by) ? (low) >> (by) | (high) << (32 - (by)) : (low))
#define PIECE             uint4
#define MAKE_PIECE(a, b, c, d) ((uint4)(a, b, c, d))
#else
#define SWAP_HALVES(x)    __byte_perm(x, x, 0x1032)
#define LOW_BYTES(a, b)   __byte_perm(a, b, 0x6420)
#define SHIFTED(low, high, by) __funnelshift_r(low, high, by)
#define PIECE             uint4
#define MAKE_PIECE(a, b, c, d) make_uint4(a, b, c, d)
#endif

#if !PAIRS_APART
#define ACROSS(x, a, b) x = max_pairs(x + n##a, SWAP_HALVES(x) + n##b);
#define BUTTERFLY(x, y, a0, b0, a1, b1)             \
    {                                               \
        const k_u32 even_ = x, odd_ = y;            \
        x = max_pairs(even_ + n##a0, odd_ + n##b0); \
        y = max_pairs(even_ + n##a1, odd_ + n##b1); \
    }
#endif
