/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Overlap-save in one pass through memory: a transform of each N samples, SPACING apart, its product with the taps'
 * spectrum, the reverse transform, and of its values each STEP-th from FIRST on, VALUES of them. The transforms are in
 * the words of fused.h. The forward one leaves each point with the work-item that the reverse one wants it from, so that
 * nothing is exchanged between them.
 *
 * With ARMS sets of taps each makes values of its own of the same samples, by a reverse transform of its own: value k of
 * a sample is that of set k. Each STEP-th of all of them is kept.
 *
 * Many taps are several parts, each with a spectrum of its own: a row is the sum of PARTS products, of transforms SPACING
 * apart with the parts from the last one to the first, and one reverse transform of it. Each row makes its transforms
 * anew: to keep them in memory would cost as much there (PARTS loads of spectra for each value) as it saves here.
 *
 * With ROTATED a value is multiplied by its own of a table behind the spectra, and by the row's, whose phase is `start`
 * and `spacing` (upper and lower half) at the first row and grows by what stands behind the table.
 *
 * The host generates (lib/gpu/fused_filter.c): FORMAT, SPACING, FIRST, VALUES, STEP, PARTS, ARMS, ROTATED, AHEAD;
 * FORWARD; MULTIPLY, which calls PRODUCTS(variable, number of the slot, those of the slot N / 2 points on, first pair of
 * the slot) for each slot of the first half, since values of the response that are as far apart lie side by side, in
 * pairs from PAIR_OF_LANE on; KEEP_ALL and TAKE_ALL, which call KEEP(variable, number of the slot) and TAKE(variable,
 * number of the slot); REVERSE_ALL; and STORE_ALL, which calls STORE(variable, first point of the slot, whether all its
 * points are stored).
 */
#if PARTS > 1
#define PRODUCT(v, s, h) sum##s = product_sum(v, h, sum##s);
K_FUNCTION float2 product_sum(const float2 a, const float2 b, const float2 c)
{
    return K_FLOAT2(K_FMA(a.x, b.x, K_FMA(-a.y, b.y, c.x)), K_FMA(a.x, b.y, K_FMA(a.y, b.x, c.y)));
}
#else
#define PRODUCT(v, s, h) v = product(v, h);
#endif
#define DECLARE_SUM(s) float2 sum##s = K_FLOAT2(0.0f, 0.0f);
#define KEEP(v, s)     sum##s = v;
#define TAKE(v, s)     v = sum##s;
#define PRODUCTS(a, s, b, t, position)                 \
    {                                                  \
        const float4 h_ = K_KEEP(response + position); \
        PRODUCT(a, s, K_FLOAT2(h_.x, h_.y))            \
        PRODUCT(b, t, K_FLOAT2(h_.z, h_.w))            \
    }

#if FORMAT == FORMAT_F32
typedef float k_value;
#define LOAD_SAMPLE(s) v##s = K_FLOAT2(source[s * LANES], 0.0f);
#define VALUE(v)       v.x
#else
typedef float2 k_value;
#define LOAD_SAMPLE(s) LOAD_RAW(s)
#define VALUE(v)       v
#endif

#if ROTATED
#define TURNED(v, at) product(product(v, K_KEEP(turns + (at))), turn)
#else
#define TURNED(v, at) v
#endif

/* Places are constants from the lane's own on, where no value is left out. */
#if STEP == 1 && ARMS == 1
#define STORE(v, position, all)                                                       \
    if (all || (lane + position >= FIRST && lane + position < FIRST + VALUES)) {      \
        const float2 value_ = TURNED(v, lane + (position - FIRST));                   \
        K_PUT(to + (position - FIRST), VALUE(value_));                                \
    }
#else
#define STORE(v, position, all)                                                       \
    {                                                                                 \
        const k_index at_ = (lane + (position - FIRST)) * ARMS + arm, j_ = at_ / STEP; \
        if ((all || (at_ >= 0 && at_ < VALUES * STEP)) && at_ == j_ * STEP) {         \
            const float2 value_ = TURNED(v, j_);                                      \
            K_PUT(to + (j_ - lane), VALUE(value_));                                   \
        }                                                                             \
    }
#endif

K_DENSE_KERNEL(GROUP, DENSE)
filter(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT unused,
       K_GLOBAL const float4 *K_RESTRICT response, K_GLOBAL const float4 *K_RESTRICT table, K_GLOBAL k_value *K_RESTRICT out,
       const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(float4, memory, LOCAL_PIECES);
#if PER_GROUP == 1 /* fewer registers than if the compiler had to find out */
    const k_index lane = ITEM(), member = 0, wanted = K_GROUP(), row = wanted;
#else
    const k_index item = ITEM(), lane = item % LANES, member = item / LANES;
    const k_index wanted = K_GROUP() * PER_GROUP + member, row = wanted < rows ? wanted : rows - 1;
#endif
    K_LOCAL float2 *shared = (K_LOCAL float2 *)memory + member * REGION;
    K_EARLY_WAIT();
    K_GLOBAL const k_sample *source = in + (k_size)row * SPACING + lane;
#if AHEAD && PARTS == 1 /* new samples of a later row */
    if (row + AHEAD * PER_GROUP < rows) {
        K_GLOBAL const k_u8 *later_ =
            (K_GLOBAL const k_u8 *)(in + (k_size)(row + AHEAD * PER_GROUP) * SPACING + (N - SPACING)) + 128 * lane;
        K_UNROLL
        for (k_index at_ = 0; at_ < SPACING * (k_index)sizeof(k_sample); at_ += 128 * LANES)
            if (at_ + 128 * lane < SPACING * (k_index)sizeof(k_sample))
                K_FETCH(later_ + at_);
    }
#endif
#if ROTATED
    K_GLOBAL const float2 *turns = (K_GLOBAL const float2 *)response + PARTS * ARMS * N;
    const float2 step_ = K_KEEP(turns + VALUES);
    const k_u64 ahead = (k_u64)K_AS_UINT(step_.x) << 32 | K_AS_UINT(step_.y);
    const k_u64 phase = ((k_u64)start << 32 | spacing) + (k_u64)row * ahead;
    const float2 turn = unit((k_u32)((phase + 0x80000000u) >> 32));
#endif
    EACH_SLOT(DECLARE)
#if PARTS > 1
    EACH_SLOT(DECLARE_SUM)
    response += PAIR_OF_LANE + (PARTS - 1) * (N / 2);
    K_ROLLED
    for (k_i32 part = 0; part < PARTS; part++) {
        EACH_SLOT(LOAD_SAMPLE)
        FORWARD
        MULTIPLY
        source += SPACING;
        response -= N / 2;
    }
    TAKE_ALL
#else
    EACH_SLOT(LOAD_SAMPLE)
    response += PAIR_OF_LANE;
    FORWARD
#if ARMS == 1
    MULTIPLY
#endif
#endif
    K_EARLY_NEXT();
#if ARMS > 1
    EACH_SLOT(DECLARE_SUM)
    KEEP_ALL
    K_ROLLED
    for (k_index arm = 0; arm < ARMS; arm++) {
        TAKE_ALL
        MULTIPLY
        response += N / 2;
#else
    {
        const k_index arm = 0;
        (void)arm;
#endif
        REVERSE_ALL
        if (PER_GROUP == 1 || wanted < rows) {
            K_GLOBAL k_value *to = out + (k_size)row * VALUES + lane;
            STORE_ALL
        }
    }
}
