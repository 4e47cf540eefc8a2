/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols of any length from samples to soft bits in one pass through memory, with the transforms of stages.h:
 * what ofdm.cl does for powers of two, and more. Phase and slope may come from the symbol's own pilots, each frame may
 * have a constellation of its own, and points, pilots, phase and slope may leave along with the soft bits.
 *
 * The transform's values change hands once more, through local memory, so that work-items then go through pilots and
 * carriers in the order of the output.
 *
 * The host generates (lib/gpu/fused_symbols.c), besides what a transform needs: CARRIERS; PITCH soft bits a carrier;
 * if COMPLETE where the other parts begin, for one symbol: POINTS_AT, PILOTS_AT and PHASE_AT; PILOTS, and OWN if they
 * are to be followed, by PARTS work-items; BINS_AT, PILOT_BINS_AT and VALUES_AT, where in the table the carriers' and
 * pilots' bins and the pilots' values are; GAINS, pairs of a frame; KEPT pairs of local memory for a transform; the
 * lists TURN_POINTS, of what was loaded, and KEEP_POINTS.
 */
#if defined(__OPENCL_VERSION__)
#define K_AS_UINT(x)   as_uint(x)
#define K_ABS(x)       fabs(x)
#define K_MIN(a, b)    fmin(a, b)
#define K_MAX(a, b)    fmax(a, b)
#define K_SIGN(x, of)  copysign(x, of)
#define K_RINT(x)      rint(x)
#define K_UNROLL
typedef float4 k_quad;
#else
#define K_AS_UINT(x)   __float_as_uint(x)
#define K_ABS(x)       fabsf(x)
#define K_MIN(a, b)    fminf(a, b)
#define K_MAX(a, b)    fmaxf(a, b)
#define K_SIGN(x, of)  copysignf(x, of)
#define K_RINT(x)      rintf(x)
#define K_UNROLL       _Pragma("unroll")
typedef float4 k_quad;
#endif

/* ---------------------------------------------------------------- load ------------------------ */

/* A sample as the number that is in memory, cu8 less 127.5: what it is a part of is in the gains. */
#undef SAMPLE_RE
#undef SAMPLE_IM
#if FORMAT == FORMAT_CU8
#define SAMPLE_RE(at) ((float)source[at].re - 127.5f)
#define SAMPLE_IM(at) ((float)source[at].im - 127.5f)
#else
#define SAMPLE_RE(at) ((float)source[at].re)
#define SAMPLE_IM(at) ((float)source[at].im)
#endif

/* The rotation is left to TURN_POINTS, for symbols that have one. */
#undef LOAD_SAMPLE
#define LOAD_SAMPLE(s, at)   \
    {                        \
        const k_index j_ = at; \
        re##s = SAMPLE_RE(j_); \
        im##s = SAMPLE_IM(j_); \
        LOAD_WINDOW(s, j_)     \
    }
#define TURN_SAMPLE(s, offset) LOAD_TURN(s, LOAD_AT(offset))

/* ---------------------------------------------------------------- pilots ---------------------- */

/* The whole-numbered carrier of a bin. */
#define NUMBER(bin) ((bin) < (LENGTH + 1) / 2 ? (bin) : (bin)-LENGTH)

/* atan2 without branches, polynomial of S. Moshier's Cephes library, atanf.c. */
K_FUNCTION float angle_of(const float im, const float re)
{
    const float a = K_ABS(im), b = K_ABS(re), low = K_MIN(a, b), high = K_MAX(a, b);
    const int upper = low > 0.414213562373095f * high; /* tan(pi / 8) */
    const float above = upper ? low - high : low, below = upper ? low + high : high;
    const float t = above / (below > 0.0f ? below : 1.0f), z = t * t;
    float angle =
        (((8.05374449538e-2f * z - 1.38776856032e-1f) * z + 1.99777106478e-1f) * z - 3.33329491539e-1f) * z * t;
    angle = angle + t + (upper ? 0.785398163397448f : 0.0f);
    angle = a > b ? 1.57079632679490f - angle : angle;
    angle = re < 0.0f ? 3.14159265358979f - angle : angle;
    return im < 0.0f ? -angle : angle;
}

/* Minus an angle of `radians`, in 2^-32 of a turn. */
K_FUNCTION k_u32 turns_back(const float radians)
{
    const float turns = radians * 0.159154943091895f, part = K_RINT(turns) - turns;
    return (k_u32)(k_i32)K_RINT(K_MIN(part, 0.49999997f) * 4294967296.0f);
}

/*
 * Common phase and slope by weighted least squares: the argument of the pilots' sum, then a straight line through the
 * angles that remain. PARTS work-items add up a share each; all of them know the sums.
 */
#if PARTS > 1
#define ADD_PILOTS(a, b, to, term)                        \
    if (lane < PARTS) {                                   \
        k_cf32 part_ = {0.0f, 0.0f};                      \
        for (k_index p = lane; p < PILOTS; p += PARTS)    \
            term(part_.re, part_.im)                      \
        to[lane] = part_;                                 \
    }                                                     \
    K_BARRIER();                                          \
    for (k_index p = 0; p < PARTS; p++) {                 \
        a += to[p].re;                                    \
        b += to[p].im;                                    \
    }
#else
#define ADD_PILOTS(a, b, to, term)             \
    for (k_index p = 0; p < PILOTS; p++)       \
        term(a, b)
#endif
#define TERM_SEEN(a, b) \
    {                   \
        a += seen[p].re; \
        b += seen[p].im; \
    }
#define TERM_ANGLE(a, b)                                                                                  \
    {                                                                                                     \
        const k_cf32 weight_ = gain[LENGTH + 3 + 3 * p];                                                  \
        const float angle_ = angle_of(seen[p].im * ahead_re - seen[p].re * ahead_im,                      \
                                      seen[p].re * ahead_re + seen[p].im * ahead_im);                     \
        a += weight_.re * angle_;                                                                         \
        b += weight_.im * angle_;                                                                         \
    }

/* ---------------------------------------------------------------- carriers -------------------- */

#define ROUNDER 12582912.0f

/* Limited to -127 .. 127 and rounded to an integer, ties to even: the low byte. */
#define BYTE(value) (K_AS_UINT(K_MIN(K_MAX(value, -127.0f), 127.0f) + ROUNDER) & 255u)

/*
 * Soft bits of one axis at coordinate u, levels at odd integers: the first is -sign(u) times the sum of
 * max(0, |u| - 2 q) over q < half the levels, which is q (2 t - q) with t = (|u| + 1) / 2 and q = rint(t), half the
 * levels at most; the Gray code is symmetric about zero, so each next one is the first one of the coordinate folded.
 */
typedef struct {
    k_u32 word[3];
} k_bits;

K_FUNCTION void demap(k_bits *to, const int first, const int axis, float u, const float level)
{
    K_UNROLL
    for (int b = 0; b < (PITCH + 1) / 2; b++)
        if (b < axis) {
            const float levels = (float)(1 << (axis - 1 - b));
            const float t = 0.5f * K_ABS(u) + 0.5f, q = K_RINT(K_MIN(t, levels));
            const k_u32 byte = BYTE(K_SIGN(q * (t + (t - q)), -u) * level);
            const int at = first + b;
            to->word[0] |= at < 4 ? byte << (8 * at) % 32 : 0u;
            to->word[1] |= at >= 4 && at < 8 ? byte << (8 * at) % 32 : 0u;
            to->word[2] |= at >= 8 ? byte << (8 * at) % 32 : 0u;
            u = levels - K_ABS(u);
        }
}

#define PUT_TWO(b, two) ((K_GLOBAL k_u16 *)(target + c * PITCH))[b] = (k_u16)(two);
#define PUT_FOUR(b, four) ((K_GLOBAL k_u32 *)(target + c * PITCH))[b] = four;
#if PITCH == 1
#define PUT_BITS(bits) target[c] = (k_u8)bits.word[0];
#elif PITCH == 2
#define PUT_BITS(bits) PUT_TWO(0, bits.word[0])
#elif PITCH == 4
#define PUT_BITS(bits) PUT_FOUR(0, bits.word[0])
#elif PITCH == 6
#define PUT_BITS(bits) PUT_TWO(0, bits.word[0]) PUT_TWO(1, bits.word[0] >> 16) PUT_TWO(2, bits.word[1])
#elif PITCH == 8
#define PUT_BITS(bits) PUT_FOUR(0, bits.word[0]) PUT_FOUR(1, bits.word[1])
#else
#define PUT_BITS(bits)                                                                                    \
    PUT_TWO(0, bits.word[0]) PUT_TWO(1, bits.word[0] >> 16)                                               \
    PUT_TWO(2, bits.word[1]) PUT_TWO(3, bits.word[1] >> 16) PUT_TWO(4, bits.word[2])
#endif

/* ---------------------------------------------------------------- kernel ---------------------- */

/* All symbols' values of one part lie one behind the other. */
#define PART(at) ((K_GLOBAL k_cf32 *)(out + (k_u64)rows * (at)))

/* A value of the transform goes where all can read it. */
#if METHOD == METHOD_BLUESTEIN
#define KEEP_POINT(s, offset)                    \
    {                                            \
        const k_index k_ = VALUE_AT(offset);     \
        if (k_ < LENGTH) {                       \
            LEAVE_BACK(s, k_)                    \
            kept[k_].re = re##s;                 \
            kept[k_].im = im##s;                 \
        }                                        \
    }
#else
#define KEEP_POINT(s, offset)                    \
    {                                            \
        const k_index k_ = VALUE_AT(offset);     \
        LEAVE_BACK(s, k_)                        \
        kept[k_].re = re##s;                     \
        kept[k_].im = im##s;                     \
    }
#endif
#if EXTRA /* bin 0 in Rader's order */
#define KEEP_EXTRA                  \
    if (lane == 0) {                \
        LEAVE_BACK(_extra, 0)       \
        kept[0].re = re_extra;      \
        kept[0].im = im_extra;      \
    }
#else
#define KEEP_EXTRA
#endif

K_KERNEL_RESIDENT(GROUP_X, GROUP_Y, RESIDENT)
symbols(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_symbol *K_RESTRICT places,
        K_GLOBAL const k_cf32 *K_RESTRICT gains, K_GLOBAL const float *K_RESTRICT table, K_GLOBAL k_u8 *K_RESTRICT out,
        const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(k_quad, memory, LOCAL_PIECES);
    K_LOCAL k_local *exchange = (K_LOCAL k_local *)memory, *shared;
    const k_u64 plane = (k_u64)((k_u32)rows >> 31) << 63; /* 0, see ORIGIN */
    k_index low, high, lane, member, row, column, origin;
    k_symbol symbol = {start, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
    EACH_SLOT(DECLARE)
#if EXTRA
    float re_extra, im_extra;
#endif
    K_EARLY();
    ORIGIN(0)
    LOCATE
    LOCATE_ROW
    if (places) {
        symbol = places[spacing ? 0 : row];
        if (spacing)
            FOLLOW(symbol, places[1], row, spacing)
    } else {
        symbol.start += (k_u32)row * spacing;
    }
    K_GLOBAL const k_sample *source = in + symbol.start;
    LOAD_POINTS
    if (symbol.phase | symbol.step) {
        const k_u32 phase = symbol.phase, step = symbol.step;
        TURN_POINTS
    }
    TRANSFORM
    K_BARRIER(); /* what is in local memory has been taken by all */
    RELOCATE
    K_LOCAL k_cf32 *kept = (K_LOCAL k_cf32 *)memory + member * KEPT;
    KEEP_POINTS
    KEEP_EXTRA
    K_BARRIER();

    K_GLOBAL const k_cf32 *gain = gains + (k_size)symbol.frame * GAINS;
    const k_cf32 head = gain[LENGTH], kind = gain[LENGTH + 1];
    const int wanted = K_GROUP() * PER_GROUP + member < rows; /* not one that only fills its group */
    K_GLOBAL k_u8 *target = out + (k_u64)row * (CARRIERS * PITCH);
    k_u32 common = symbol.common, slope = symbol.slope;
#if PILOTS
    K_LOCAL k_cf32 *seen = kept + LENGTH;
    for (k_index p = lane; p < PILOTS; p += LANES) { /* by the frame's gain and the conjugate of what was sent */
        const k_index at = VALUES_AT + 2 * ((k_index)symbol.pilot_row * PILOTS + p);
        const k_cf32 x = kept[(k_index)table[PILOT_BINS_AT + p]], g = gain[LENGTH + 2 + 3 * p];
        const float re = x.re * g.re - x.im * g.im, im = x.re * g.im + x.im * g.re;
        const k_cf32 y = {re * table[at] + im * table[at + 1], im * table[at] - re * table[at + 1]};
        seen[p] = y;
#if COMPLETE
        const float back = gain[LENGTH + 4 + 3 * p].re;
        const k_cf32 pilot = {y.re * back, y.im * back};
        if (wanted)
            PART(PILOTS_AT)[(k_u64)row * PILOTS + p] = pilot;
#endif
    }
#endif
#if OWN
    K_BARRIER();
    float ahead_re = 0.0f, ahead_im = 0.0f, mean = 0.0f, line = 0.0f;
    ADD_PILOTS(ahead_re, ahead_im, (seen + PILOTS), TERM_SEEN)
    const float size = K_MAX(K_ABS(ahead_re), K_ABS(ahead_im));
    const int heard = size > 0.0f && size < 1e38f;
    ahead_re = heard ? ahead_re / size : 0.0f;
    ahead_im = heard ? ahead_im / size : 0.0f;
    ADD_PILOTS(mean, line, (seen + PILOTS + PARTS), TERM_ANGLE)
    const float whole = heard ? angle_of(ahead_im, ahead_re) + mean - line * kind.im : 0.0f;
    const float turned = whole - 6.28318530717959f * K_RINT(whole * 0.159154943091895f);
    line = heard ? line : 0.0f;
    common = turns_back(turned);
    slope = turns_back(line);
#if COMPLETE
    if (lane == 0 && wanted) {
        const k_cf32 found = {turned, line};
        PART(PHASE_AT)[row] = found;
    }
#endif
#endif
    const int points = (int)kind.re, axis = points > 1 ? points / 2 : 1;
    for (k_index c = wanted ? lane : CARRIERS; c < CARRIERS; c += LANES) {
        const k_index bin = (k_index)table[BINS_AT + c];
        const k_cf32 g = gain[bin];
        const float level = head.re * (g.re * g.re + g.im * g.im), inverse = level > 0.0f ? 1.0f / level : 0.0f;
        const k_u32 phase = common, step = slope;
        float re_c = kept[bin].re, im_c = kept[bin].im;
        k_bits bits = {{0u, 0u, 0u}};
        TURN(_c, g.re, g.im)
        if (phase | step)
            LOAD_TURN(_c, NUMBER(bin))
        re_c *= inverse;
        im_c *= inverse;
#if COMPLETE
        const k_cf32 point = {re_c * head.im, im_c * head.im};
        PART(POINTS_AT)[(k_u64)row * CARRIERS + c] = point;
#endif
        if (points == PITCH) { /* the usual case, in which a compiler knows the number of bits */
            demap(&bits, 0, (PITCH + 1) / 2, re_c, level);
            if (PITCH > 1)
                demap(&bits, PITCH / 2, PITCH / 2, im_c, level);
        } else {
            demap(&bits, 0, axis, re_c, level);
            if (points > 1)
                demap(&bits, axis, axis, im_c, level);
        }
        PUT_BITS(bits)
    }
}
