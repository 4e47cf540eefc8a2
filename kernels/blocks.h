/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of a convolutional code: where they lie, and rows, which hold all coded bits of a block as signed bytes, those
 * that were not sent being 0: STRIDE bytes a step, of which COUNT are used. FIRST steps before the block's own are
 * there for tail-biting ones, which are read going round: DEPTH of them, and 0 before these.
 *
 * DIRECT: the soft bits that the caller gives are rows as they lie in memory.
 *
 * The host generates (lib/gpu/viterbi_code.c): CPU, DIRECT, COUNT, STRIDE, CONSTRAINT, STATES, SOFT_FORMAT, SCALE,
 * OWN_SCALE, PERIOD, SENT, FIRST, DEPTH, TAIL, BITS, IN_COUNT, OUT_BYTES, RESULT, ROW_BYTES, START_ZERO, END_ZERO,
 * GENERATORS, INVERTED and the tables PLACES (of a coded bit of the pattern among those that are sent, or -1).
 */
typedef struct {
    k_u64 at;
    k_u32 bits, reserved;
} k_block;

typedef k_u32 bool_t;

#if defined(__OPENCL_VERSION__)
#define K_TABLE(type, name) __constant type name[]
#define K_COUNT_UP(p)       atomic_inc((volatile K_GLOBAL k_u32 *)(p))
#ifdef __NV_CL_C_VERSION
#define K_UNROLL            _Pragma("unroll")
#else
#define K_UNROLL
#endif
#else
#define K_TABLE(type, name) static __device__ const type name[]
#define K_COUNT_UP(p)       atomicAdd(p, 1u)
#define K_UNROLL            _Pragma("unroll")
#endif

/* `rows` is `in` where DIRECT. `windows` of `length` steps a block; `groups_given`: of the kernel `whole`. `metric_` is
 * METRIC_MASK, which no compiler sees: an instruction takes one constant, and has another. */
#define BLOCK_ARGUMENTS                                                                                       \
    K_GLOBAL const k_u8 *K_RESTRICT in, K_GLOBAL const k_block *K_RESTRICT blocks, K_GLOBAL k_u8 *rows,       \
        K_GLOBAL k_u32 *work, K_GLOBAL k_u32 *K_RESTRICT decisions, K_GLOBAL k_u8 *K_RESTRICT out,            \
        const k_i32 count, const k_u32 windows, const k_u32 length, const k_u32 groups_given, \
        const k_u64 bytes, const k_u32 metric_

/* In `work`: how many blocks are listed, these, their scales until rows are made of them and then whether each is
 * listed, then of all windows states and metrics. */
#define LIST_AT    4u
#define SCALES_AT  (4u + (k_u32)count)
#define LISTED_AT  SCALES_AT
#define WINDOWS_AT (4u + 2u * (k_u32)count)
#define DUMPS_AT   ((k_u64)WINDOWS_AT + all_windows)

#define BLOCK_BITS(block) (blocks ? (k_i32)blocks[block].bits : BITS)
#define BLOCK_AT(block)   (blocks ? blocks[block].at : (k_u64)(block) * IN_COUNT)
#define ROW_STEPS(bits)   (FIRST + (bits) + TAIL + DEPTH)
#if DIRECT
#define ROW_AT(block) BLOCK_AT(block)
#define ROWS          in
#else
#define ROW_AT(block) ((k_u64)(block) * ROW_BYTES)
#define ROWS          rows
#endif

#define REVERSED(p) \
    (((p) & 1u) << 5 | ((p) & 2u) << 3 | ((p) & 4u) << 1 | ((p) & 8u) >> 1 | ((p) & 16u) >> 3 | ((p) & 32u) >> 5)

/* A byte of bits, the first lowest, as the result has it. */
#if RESULT == 1
K_FUNCTION k_u8 k_ordered(k_u32 byte)
{
    byte = (byte & 0x0fu) << 4 | (byte >> 4 & 0x0fu);
    byte = (byte & 0x33u) << 2 | (byte >> 2 & 0x33u);
    byte = (byte & 0x55u) << 1 | (byte >> 1 & 0x55u);
    return (k_u8)byte;
}
#define ORDERED(byte) k_ordered(byte)
#else
#define ORDERED(byte) ((k_u8)(byte))
#endif
