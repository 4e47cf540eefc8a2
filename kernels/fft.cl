/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of transforms in one pass through memory. LANES work-items share one transform of N points, each
 * holding SLOTS of them in registers; PER_GROUP transforms share a work-group. Between stages the points
 * change hands through local memory. Decimation in frequency with self-sorting (Stockham) order:
 *
 *     stage of radix R and span S (the first span is N/R, the last one 1), butterfly j = 0 .. N/R-1:
 *         read  point j / S * S R + j % S + k S          k = 0 .. R-1
 *         DFT of R points over k
 *         multiply by exp(-2 pi i k (j % S) / (S R))
 *         write point j + k N/R
 *
 * so every write, the first read and the last write are contiguous over the work-items. Work-item `lane`
 * does the butterflies j = lane + b LANES; after each stage its slot e holds point lane + e LANES.
 *
 * The host generates, per plan (lib/gpu/prologue.c): the sizes; EACH_SLOT(X), X for every slot; per stage s
 * the calls DFT_s, the list TWIDDLES_s(X) and the list GATHER_s(X); and TRANSFORM, the stages in order.
 */

/* Where point p of a transform lies in local memory; a gap after each 2^PAD keeps strided reads off one bank. */
#if PAD
#define PLACE(p) ((p) + ((p) >> PAD))
#else
#define PLACE(p) (p)
#endif

/*
 * Where a work-item is. Its lane is high * LOWS + low, so that on a CPU the innermost loop, over `low`, has a fixed
 * length and walks through memory in steps of one. `origin` is 0 (no plane of samples has 2^63 of them), which the
 * compiler does not know: without it PoCL keeps every address that two regions between barriers share in memory, once
 * for each work-item, and so spoils both loops for vector units.
 */
#if LANES > 1
#define LOCATE                                               \
    low = K_LANE_X() + origin;                               \
    high = (k_size)(K_LANE_Y() + origin) % (LANES / LOWS);   \
    member = (k_size)(K_LANE_Y() + origin) / (LANES / LOWS); \
    lane = high * LOWS + low;
#else
#define LOCATE                  \
    low = high = lane = origin; \
    member = K_LANE_X() + origin;
#endif
#define LOCATE_ROW                        \
    row = K_GROUP() * PER_GROUP + member; \
    row = row < rows ? row : rows - 1;
#if CPU
#define ORIGIN(part) origin = (k_index)(plane >> 63) * part; /* also keeps addresses from being taken out of a loop */
#define RELOCATE                      \
    origin += (k_index)(plane >> 63); \
    LOCATE
#else
#define ORIGIN(part) origin = 0;
#define RELOCATE
#endif

/* The first sample of a frame. */
#if GATHERED
#define LOCATE_SOURCE                                                   \
    const k_u64 frame = (k_u64)row * AVERAGE + PART;                    \
    const k_u32 phase = gather[frame].phase, step = gather[frame].step; \
    K_GLOBAL const k_sample *source = in + gather[frame].start;
#else
#define LOCATE_SOURCE                                \
    const k_u64 frame = (k_u64)row * AVERAGE + PART; \
    K_GLOBAL const k_sample *source = in + (frame * SPACING + SKIP);
#endif
#if AVERAGE > 1
#define PART part
#else
#define PART 0
#endif

/*
 * lane + position, divided by the span: quotient and remainder. Positions are multiples of LANES. SHORT: the span is
 * longer than lane + position; LONG: it is a multiple of LOWS; ONE: it is 1.
 */
#define OVER_SHORT(position, span)   0
#define WITHIN_SHORT(position, span) (lane + position)
#define OVER_LONG(position, span)    ((k_index)((k_size)(high + position / LOWS) / (span / LOWS)))
#define WITHIN_LONG(position, span)  ((k_index)((k_size)(high + position / LOWS) % (span / LOWS)) * LOWS + low)
#define OVER_ONE(position, span)     (lane + position)
#define WITHIN_ONE(position, span)   0
#define OVER_ANY(position, span)     ((k_index)((k_size)(lane + position) / span))
#define WITHIN_ANY(position, span)   ((k_index)((k_size)(lane + position) % span))

#define TWIDDLE(s, kind, table_at, position, span)                        \
    {                                                                     \
        const k_index at_ = table_at + 2 * WITHIN_##kind(position, span); \
        TURN(s, table[at_], table[at_ + 1])                               \
    }
#define STAGE(stage) DFT_##stage TWIDDLES_##stage

/* An exchange: each work-item gives its slots as they lie and takes the points of the next stage's butterflies. */
#define GIVE_RE(s) shared[PLACE(lane + s * LANES)] = re##s;
#define GIVE_IM(s) shared[PLANE + PLACE(lane + s * LANES)] = im##s;

#define TAKE_AT(kind, position, span, group, offset) \
    PLACE(OVER_##kind(position, span) * (group) + WITHIN_##kind(position, span) + offset)
#define TAKE_RE(s, kind, position, span, group, offset) re##s = shared[TAKE_AT(kind, position, span, group, offset)];
#define TAKE_IM(s, kind, position, span, group, offset) \
    im##s = shared[PLANE + TAKE_AT(kind, position, span, group, offset)];
#define SHARED(buffer) shared = exchange + member * REGION + buffer;

#if HALVES
/* Imaginary parts follow the real ones through the same memory: PLANE is 0. */
#define EXCHANGE(stage, buffer)          \
    SHARED(0)                            \
    EACH_SLOT(GIVE_RE)                   \
    K_BARRIER();                         \
    GATHER_##stage(TAKE_RE) K_BARRIER(); \
    EACH_SLOT(GIVE_IM)                   \
    K_BARRIER();                         \
    GATHER_##stage(TAKE_IM)
#else
#define EXCHANGE(stage, buffer) \
    SHARED(buffer)              \
    EACH_SLOT(GIVE_RE)          \
    EACH_SLOT(GIVE_IM)          \
    K_BARRIER();                \
    RELOCATE                    \
    SHARED(buffer)              \
    GATHER_##stage(TAKE_RE) GATHER_##stage(TAKE_IM)
#endif

/*
 * Work-groups are full: those that are too many repeat the last row. They store it too, the same values; only where
 * there is no barrier between load and store must they not, as input and output may be the same memory.
 */
#if LOCAL_FLOATS
#define STORE_GUARD
#else
#define STORE_GUARD if (K_GROUP() * PER_GROUP + member < rows)
#endif

#define DECLARE(s) float re##s, im##s;

K_KERNEL(GROUP_X, GROUP_Y)
fft(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT gather,
    K_GLOBAL const float *K_RESTRICT table, K_GLOBAL k_value *K_RESTRICT out, const k_i32 rows, const k_u64 plane)
{
#if LOCAL_FLOATS
    K_LOCAL_ARRAY(float, exchange, LOCAL_FLOATS);
    K_LOCAL float *shared;
#endif
    k_index low, high, lane, member, row, origin;
    EACH_SLOT(DECLARE)
#if REAL && !REVERSE
    float last;
#endif
#if AVERAGE > 1
    EACH_SLOT(SUM_DECLARE)
    SUM_DECLARE_LAST
    for (k_i32 part = 0; part < AVERAGE; part++)
#endif
    {
        ORIGIN(PART)
        LOCATE
        LOCATE_ROW
        LOCATE_SOURCE
        EACH_SLOT(LOAD)
        TRANSFORM
#if AVERAGE > 1
        EACH_SLOT(SUM_ADD)
        SUM_ADD_LAST
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
    STORE_GUARD
    {
        K_GLOBAL k_value *target = out + (k_u64)row * BINS;
        EACH_SLOT(FINISH)
        FINISH_LAST
    }
}
