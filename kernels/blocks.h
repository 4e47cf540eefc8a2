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

/* ---------------------------------------------------------------- rows ------------------------ */

#if !DIRECT
#define ROWS_GROUP  256
#define LEVEL_GROUP 8 /* sums that are made side by side, in the order that the cpu backend has */

K_TABLE(k_i16, PLACES) = {PLACE_VALUES};

#if OWN_SCALE
/* The factor that makes 32 of the mean absolute value of a block's finite numbers. */
K_KERNEL(LEVEL_GROUP, 1)
level(BLOCK_ARGUMENTS)
{
    K_LOCAL_ARRAY(double, sums, 2 * LEVEL_GROUP);
    const k_u32 block = (k_u32)K_GROUP(), lane = (k_u32)K_LANE_X();
    double sum = 0;
    k_u32 finite = 0;
    K_EARLY();
    const k_u32 coded = (k_u32)(BLOCK_BITS(block) + TAIL) * COUNT;
    k_u32 sent = coded / PERIOD * SENT;
    for (k_u32 i = 0; i < coded % PERIOD; i++)
        sent += PLACES[i] >= 0;
    K_GLOBAL const float *from = (K_GLOBAL const float *)in + BLOCK_AT(block);
    for (k_u32 i = lane; i < sent; i += LEVEL_GROUP) {
        const float size = fabs(from[i]);
        if (size <= 3.402823466e+38f) {
            sum += (double)size;
            finite++;
        }
    }
    sums[lane] = sum;
    sums[LEVEL_GROUP + lane] = (double)finite;
    K_BARRIER();
    if (lane == 0) {
        double all = 0, there = 0, scale;
        for (k_u32 i = 0; i < LEVEL_GROUP; i++) {
            all += sums[i];
            there += sums[LEVEL_GROUP + i];
        }
        scale = all > 0 ? 32.0 * there / all : 1.0;
        ((K_GLOBAL float *)work)[SCALES_AT + block] = scale < 1e30 ? (float)scale : 1e30f;
    }
}
#endif

/* What was sent, to the nearest whole number, of two the even one. */
#if SOFT_FORMAT == 0
#define SOFT_VALUE(i) ((k_i8)in[i])
#elif SOFT_FORMAT == 2
#define SOFT_VALUE(i) ((k_i8)(in[i] ? -32 : 32))
#else
K_FUNCTION k_i8 quantised(float value)
{
    value = value == value ? value : 0.0f;
    value = value < 127.0f ? value : 127.0f;
    value = value > -127.0f ? value : -127.0f;
    return (k_i8)(k_i32)rint(value);
}
#define SOFT_VALUE(i) quantised(((K_GLOBAL const float *)in)[i] * scale)
#endif

/* A work-item makes four bytes of a row. */
K_KERNEL(ROWS_GROUP, 1)
fill(BLOCK_ARGUMENTS)
{
    const k_u64 place = (k_u64)K_GROUP() * ROWS_GROUP + (k_u64)K_LANE_X();
    const k_u32 block = (k_u32)(place / (ROW_BYTES / 4)), word = (k_u32)(place - (k_u64)block * (ROW_BYTES / 4));
    K_EARLY();
    if (block < (k_u32)count) {
        const k_i32 own = BLOCK_BITS(block) + TAIL;
        const k_u64 from = BLOCK_AT(block);
#if SOFT_FORMAT == 1
        const float scale = OWN_SCALE ? ((K_GLOBAL const float *)work)[SCALES_AT + block] : SCALE;
#endif
        k_u32 value = 0;
        for (k_u32 i = 0; i < 4u; i++) {
            const k_u32 g = (4u * word + i) % STRIDE;
            k_i32 step = (k_i32)((4u * word + i) / STRIDE) - FIRST;
            const bool_t there = g < COUNT && step >= -DEPTH && step < own + DEPTH;
            step = DEPTH ? (step % own + own) % own : step;
            const k_u32 coded = (k_u32)(there ? step : 0) * COUNT + (there ? g : 0);
            const k_i32 rank = PLACES[coded % PERIOD];
            if (there && rank >= 0)
                value |= (k_u32)(k_u8)SOFT_VALUE(from + (k_u64)(coded / PERIOD) * SENT + (k_u32)rank) << 8 * i;
        }
        ((K_GLOBAL k_u32 *)rows)[place] = value;
    }
}
#endif
