/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A transform on the chip: where a work-item is, stages in registers, exchanges through local memory. LANES work-items
 * share one transform of N points, each holding up to SLOTS of them; PER_GROUP transforms share a work-group. Decimation
 * in frequency with self-sorting (Stockham) order:
 *
 *     stage of radix R and span S (the first span is N/R, the last one 1), butterfly j = 0 .. N/R-1:
 *         read  point j / S * S R + j % S + k S          k = 0 .. R-1
 *         DFT of R points over k
 *         multiply by exp(-2 pi i k (j % S) / (S R))
 *         write point j + k N/R
 *
 * Work-item `lane` does the butterflies j = lane + b LANES, those below N/R. Point lane + offset is what its slots hold,
 * with an offset known when the kernel is made; so every write, the first read and the last write are contiguous over
 * the work-items.
 *
 * The host generates, per plan (lib/gpu/prologue.c): the sizes; EACH_SLOT(X); per stage s the calls STAGE_s, the lists
 * GIVE_s(X) of what it leaves and TAKE_s(X) of what it takes; and TRANSFORM, all stages and exchanges in order, or TWICE.
 */

/*
 * Where point p of a transform lies in local memory, with a gap after each so many points that keeps strided reads off
 * one bank. Both are constants.
 */
#define GAPS(p, every, gap)  ((gap) ? (k_index)((k_size)(p) / (every)) * (gap) : 0)
#define PLACE(p, every, gap) (((p) + GAPS(p, every, gap)) * STEP)
#define PLACE_AT(offset, every, gap)                                                                      \
    ((lane + (offset) +                                                                                    \
      ((offset) % (every) == 0 ? GAPS(lane, every, gap) + (offset) / (every) * (gap)                       \
                               : GAPS(lane + (offset), every, gap))) * STEP)

/*
 * Where a work-item is. Its lane is high * LOWS + low, so that on a CPU the innermost loop, over `low`, has a fixed
 * length and walks through memory in steps of one. Where neighbouring transforms lie side by side (columns), that loop
 * is over them instead. `origin` is 0 (no plane of samples has 2^63 of them), which the compiler does not know: without
 * it PoCL keeps every address that two regions between barriers share in memory, once for each work-item, and so spoils
 * both loops for vector units.
 */
#if COLUMNS > 1
#define LOCATE                    \
    member = K_LANE_X() + origin; \
    lane = high = K_LANE_Y() + origin;
#elif LANES > 1
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
#if CPU
#define ORIGIN(part) origin = (k_index)(plane >> 63) * part; /* also keeps addresses from being taken out of a loop */
#define RELOCATE                      \
    origin += (k_index)(plane >> 63); \
    LOCATE
#else
#define ORIGIN(part) origin = 0;
#define RELOCATE
#endif

/* The transform that a work-item works on: row `row`, and where there are columns, column `column` of it. PAIRED: the
 * first of two. */
#if PAIRED
#define FIRST_OF(pair) (2 * (pair))
#else
#define FIRST_OF(row) (row)
#endif
#if COLUMNS > 1
#define LOCATE_ROW                                                                    \
    row = FIRST_OF((k_size)K_GROUP() / BLOCKS);                                       \
    column = (k_index)((k_size)K_GROUP() % BLOCKS) * PER_GROUP + member;              \
    column = COLUMNS % PER_GROUP == 0 || column < COLUMNS ? column : COLUMNS - 1;
#else
#define LOCATE_ROW                                  \
    row = FIRST_OF(K_GROUP() * PER_GROUP + member); \
    row = row < rows ? row : rows - 1;
#endif

/*
 * lane + position, divided by the span: quotient and remainder. Positions are multiples of LANES. SHORT: the span is
 * longer than lane + position; LONG: it is a multiple of LOWS; ONE: it is 1; EVEN: it divides the position.
 */
#define OVER_SHORT(position, span)   0
#define WITHIN_SHORT(position, span) (lane + position)
#define OVER_LONG(position, span)    ((k_index)((k_size)(high + position / LOWS) / (span / LOWS)))
#define WITHIN_LONG(position, span)  ((k_index)((k_size)(high + position / LOWS) % (span / LOWS)) * LOWS + low)
#define OVER_ONE(position, span)     (lane + position)
#define WITHIN_ONE(position, span)   0
#define OVER_EVEN(position, span)    ((k_index)((k_size)lane / span) + position / span)
#define WITHIN_EVEN(position, span)  ((k_index)((k_size)lane % span))
#define OVER_ANY(position, span)     ((k_index)((k_size)(lane + position) / span))
#define WITHIN_ANY(position, span)   ((k_index)((k_size)(lane + position) % span))

#define TWIDDLE(s, kind, table_at, position, span) TURN_POINT_BY(s, table_at + 2 * WITHIN_##kind(position, span))

/*
 * On a GPU tables cost more than products: some of a butterfly's factors w^k are read, the others are products of them.
 */
#define TWIDDLE_AT(kind, position, span) const k_index at_ = 2 * WITHIN_##kind(position, span);
#define TWIDDLE_READ(k, table_at)        const k_cf32 w##k##_ = PAIR(table_at + at_);
#define TWIDDLE_MAKE(k, a, b)                                                 \
    const k_cf32 w##k##_ = {w##a##_.re * w##b##_.re - w##a##_.im * w##b##_.im, \
                            w##a##_.re * w##b##_.im + w##a##_.im * w##b##_.re};
#define TWIDDLE_USE(s, k) TURN_POINT(s, w##k##_.re, w##k##_.im)

/*
 * An exchange: each work-item gives its slots as they lie and takes the points of the next stage's butterflies. A GPU
 * moves a point in one piece where there is memory for it (JOINED); else real parts lie apart from imaginary ones, for
 * the vectors of a CPU, or follow one another through the same memory (HALVES, PLANE is 0).
 */
#define TAKE_AT(kind, position, span, group, offset, every, gap)                                           \
    ((OVER_##kind(position, span) * (group) + WITHIN_##kind(position, span) + offset +                      \
      ((every) % (group) == 0                                                                               \
           ? GAPS(OVER_##kind(position, span), (every) / (group), gap)                                      \
           : GAPS(OVER_##kind(position, span) * (group) + WITHIN_##kind(position, span) + offset, every, gap))) * \
     STEP)
#define SHARED(buffer) shared = exchange + member * MEMBER_STEP + buffer;

#if JOINED
typedef k_point k_local;
#define SHARED_RE(place) shared[place].re
#define SHARED_IM(place) shared[place].im
#define GIVE(s, offset, every, gap)               \
    {                                             \
        const k_point point_ = {re##s, im##s};     \
        shared[PLACE_AT(offset, every, gap)] = point_; \
    }
#define TAKE(s, kind, position, span, group, offset, every, gap)                      \
    {                                                                                 \
        const k_point point_ = shared[TAKE_AT(kind, position, span, group, offset, every, gap)]; \
        re##s = point_.re;                                                            \
        im##s = point_.im;                                                            \
    }
#define GIVE_ALL(before) GIVE_##before(GIVE)
#define TAKE_ALL(stage)  TAKE_##stage(TAKE)
#else
typedef k_real k_local;
#define SHARED_RE(place)   shared[place]
#define SHARED_IM(place)   shared[PLANE + place]
#define GIVE_RE(s, offset, every, gap) shared[PLACE_AT(offset, every, gap)] = re##s;
#define GIVE_IM(s, offset, every, gap) shared[PLANE + PLACE_AT(offset, every, gap)] = im##s;
#define TAKE_RE(s, kind, position, span, group, offset, every, gap) \
    re##s = shared[TAKE_AT(kind, position, span, group, offset, every, gap)];
#define TAKE_IM(s, kind, position, span, group, offset, every, gap) \
    im##s = shared[PLANE + TAKE_AT(kind, position, span, group, offset, every, gap)];
#define GIVE_ALL(before) GIVE_##before(GIVE_RE) GIVE_##before(GIVE_IM)
#define TAKE_ALL(stage)  TAKE_##stage(TAKE_RE) TAKE_##stage(TAKE_IM)
#endif

#if HALVES
#define EXCHANGE(before, stage, buffer) \
    SHARED(0)                           \
    GIVE_##before(GIVE_RE) K_BARRIER(); \
    TAKE_##stage(TAKE_RE) K_BARRIER();  \
    GIVE_##before(GIVE_IM) K_BARRIER(); \
    TAKE_##stage(TAKE_IM)
#else
#define EXCHANGE(before, stage, buffer) \
    SHARED(buffer)                      \
    GIVE_ALL(before) K_BARRIER();       \
    RELOCATE                            \
    SHARED(buffer)                      \
    TAKE_ALL(stage)
#endif

/* There and back: stages and exchanges are ROUND. What is added to `table` is 0, or else compilers read its factors ahead
 * of the loop and keep them. */
#define TWICE                                      \
    K_ROLLED                                       \
    for (k_index round_ = 0; round_ < 2; round_++) { \
        ROUND                                      \
        table += (k_size)(plane >> 63);            \
        if (!round_) {                             \
            MIDDLE ONWARD                          \
        }                                          \
    }

#define DECLARE(s) k_real re##s, im##s;
