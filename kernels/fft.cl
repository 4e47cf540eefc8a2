/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of transforms, or one pass of longer ones, read and written once.
 *
 * A transform of TOTAL points is done by one pass of N = TOTAL points, or by up to three for which TOTAL = N1 N2 N3:
 * stages of Stockham's algorithm again, of radix N and through global memory. A pass takes each of COLUMNS = TOTAL/N
 * columns c, points COLUMNS apart, multiplies value k by exp(-2 pi i k (c / INNER) INNER / TOTAL) and writes it to
 * (c / INNER) INNER N + k INNER + c % INNER, where INNER is the product of the passes before.
 *
 * A convolution (kernels/convolve.h) goes on, in its middle pass, with a product and the first pass of the way back.
 */

/* The first sample of a frame. */
#if GATHERED
#define LOCATE_SOURCE                                                   \
    const k_u64 frame = (k_u64)(row + FIRST_IN) * AVERAGE + PART;       \
    const k_u32 phase = gather[frame].phase, step = gather[frame].step; \
    SOURCE(gather[frame].start);
#else
#define LOCATE_SOURCE                                             \
    const k_u64 frame = (k_u64)(row + FIRST_IN) * AVERAGE + PART; \
    SOURCE(frame * SPACING + SKIP);               \
    LOCATE_TURN
#endif

/* By how much a folded frame's points are turned: the first one's is an argument. */
#if !FOLD
#define LOCATE_TURN
#elif SPACING % LENGTH == 0
#define LOCATE_TURN const k_index turn = (k_index)plane;
#else
#define LOCATE_TURN const k_index turn = (k_index)((plane + frame % LENGTH * SPACING) % LENGTH);
#endif

/* The second transform of a pair, or the first again where there is none. */
#if !PAIRED
#define LOCATE_OTHER_SOURCE
#define LOCATE_OTHER_TARGET
#else
#define OTHER_ROW (row + 1 < rows ? row + 1 : row)
#if GATHERED
#define LOCATE_OTHER_SOURCE                                                                 \
    const k_u64 frame_b = (k_u64)(OTHER_ROW + FIRST_IN);                                    \
    const k_u32 phase_b = gather[frame_b].phase, step_b = gather[frame_b].step;             \
    K_GLOBAL const k_sample *source_b = in + gather[frame_b].start;
#else
#define LOCATE_OTHER_SOURCE \
    K_GLOBAL const k_sample *source_b = in + ((k_u64)(OTHER_ROW + FIRST_IN) * SPACING + SKIP);
#endif
#define LOCATE_OTHER_TARGET K_GLOBAL k_value *target_b = out + (k_u64)(OTHER_ROW + FIRST_OUT) * BINS;
#endif
#if AVERAGE > 1
#define PART part
#else
#define PART 0
#endif

/*
 * Work-groups are full: those that are too many repeat the last row or column. They store it too, the same values; only
 * where there is no barrier between load and store must they not, as input and output may be the same memory.
 */
#if LOCAL_FLOATS
#define STORE_GUARD
#elif COLUMNS > 1
#define STORE_GUARD if ((k_index)((k_size)K_GROUP() % BLOCKS) * PER_GROUP + member < COLUMNS)
#else
#define STORE_GUARD if (FIRST_OF(K_GROUP() * PER_GROUP + member) < rows)
#endif

/* Lines of memory that a work-group will read AHEAD groups later: they come into the cache meanwhile. */
#define LINE_BYTES 128
#if AHEAD && !GATHERED && COLUMNS == 1 && !REAL && AVERAGE == 1
#define FETCH_LINES ((k_index)((IN_COUNT * sizeof(k_sample) + LINE_BYTES - 1) / LINE_BYTES))
#define FETCH_AHEAD                                                                                            \
    if (row + AHEAD * PER_GROUP < rows)                                                                        \
        for (k_index line_ = lane; line_ < FETCH_LINES; line_ += LANES)                                        \
            K_FETCH((K_GLOBAL const k_u8 *)(source + (k_u64)(AHEAD * PER_GROUP) * SPACING) + line_ * LINE_BYTES);
#elif AHEAD && COLUMNS > 1 && COLUMNS % PER_GROUP == 0
#define FETCH_POINT(s, offset)                                                                                 \
    if (member * sizeof(k_sample) % LINE_BYTES == 0)                                                           \
        K_FETCH((K_GLOBAL const k_u8 *)(next_ + (lane + offset) * COLUMNS));
#define FETCH_AHEAD                                                                                            \
    {                                                                                                          \
        const k_size group_ = K_GROUP() + AHEAD;                                                               \
        if (group_ / BLOCKS < (k_size)rows) {                                                                  \
            K_GLOBAL const k_sample *next_ = in + ((k_u64)(group_ / BLOCKS + FIRST_IN) * AVERAGE * SPACING + SKIP + \
                                                   (group_ % BLOCKS) * PER_GROUP + member);                    \
            FETCH_POINTS                                                                                       \
        }                                                                                                      \
    }
#else
#define FETCH_AHEAD
#endif

K_KERNEL_RESIDENT(GROUP_X, GROUP_Y, RESIDENT)
fft(IN_MEMORY in, K_GLOBAL const k_gather *K_RESTRICT gather,
    K_GLOBAL const float *K_RESTRICT table, OUT_MEMORY out, const k_i32 rows, const k_u64 plane,
    const k_i32 first)
{
#if LOCAL_FLOATS
    K_LOCAL_ARRAY(k_local, exchange, LOCAL_COUNT);
    K_LOCAL k_local *shared;
#endif
#if IMAGE_OUT && TEXEL == 2
    K_LOCAL_ARRAY(k_cf32, staged, STAGED_COUNT);
#endif
    k_index low, high, lane, member, row, column, origin;
    EACH_SLOT(DECLARE)
    K_EARLY();
#if EXTRA
    float re_extra, im_extra;
#endif
#if AVERAGE > 1
    EACH_SLOT(SUM_DECLARE)
    SUM_DECLARE_EXTRA
    for (k_i32 part = 0; part < AVERAGE; part++)
#endif
    {
        ORIGIN(PART)
        LOCATE
        LOCATE_ROW
        LOCATE_SOURCE
        LOCATE_OTHER_SOURCE
        FOLD_FRAMES
        LOAD_POINTS
        FOLD_TAKEN
        FETCH_AHEAD
        TRANSFORM
#if AVERAGE > 1
        SUM_POINTS
        SUM_ADD_EXTRA
#if LOCAL_FLOATS
        K_BARRIER();
#endif
#endif
    }
#if AVERAGE > 1
    ORIGIN(AVERAGE)
    LOCATE
#endif
    LOCATE_ROW
#if TURNED
    K_BARRIER();
    TURNED_POINTS
    K_BARRIER();
#endif
    STORE_GUARD
    {
        TARGET((k_u64)(row + FIRST_OUT) * BINS);
        LOCATE_OTHER_TARGET
        STORE_POINTS
        FINISH_EXTRA
    }
#if IMAGE_OUT && TEXEL == 2
    K_BARRIER();
    PUT_TEXELS
#endif
}
