/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Folded frames that follow each other at LENGTH samples: those of a work-group are summed by all of its work-items, a
 * column of samples each of FOLD_TOGETHER frames, and left in local memory for the transforms. A sample is read once
 * for all of the frames that it is in, and a factor once for all frames. Each sum has the order of READ_SAMPLE's.
 */
#if FOLD_TOGETHER
#define FOLD_UNROLL  _Pragma("unroll")
#define FOLD_SAMPLES (FOLD + FOLD_TOGETHER - 1)
#define FOLD_STRIPS  ((PER_GROUP + FOLD_TOGETHER - 1) / FOLD_TOGETHER)

/* A point of each of `frames` frames; `there` samples of its column are. */
K_FUNCTION void fold_column(K_GLOBAL const k_sample *source, K_GLOBAL const float *factors, const k_index there,
                            K_LOCAL k_local *points, const k_index frames)
{
    float factor[FOLD], re[FOLD_TOGETHER], im[FOLD_TOGETHER];
    FOLD_UNROLL
    for (k_index part = 0; part < FOLD; part++)
        factor[part] = factors[part * LENGTH];
    FOLD_UNROLL
    for (k_index frame = 0; frame < FOLD_TOGETHER; frame++)
        re[frame] = im[frame] = 0.0f;
    FOLD_UNROLL
    for (k_index i = 0; i < FOLD_SAMPLES; i++)
        if (i < there) {
            const float sample_re = SAMPLE_RE(i * LENGTH), sample_im = SAMPLE_IM(i * LENGTH);
            FOLD_UNROLL
            for (k_index frame = 0; frame < FOLD_TOGETHER; frame++)
                if (frame <= i && i < frame + FOLD) {
                    re[frame] += factor[i - frame] * sample_re;
                    im[frame] += factor[i - frame] * sample_im;
                }
        }
    FOLD_UNROLL
    for (k_index frame = 0; frame < FOLD_TOGETHER; frame++)
        if (frame < frames) {
            points[frame * MEMBER_STEP].re = re[frame];
            points[frame * MEMBER_STEP].im = im[frame];
        }
}

#define FOLD_ITEMS (GROUP_X * GROUP_Y)
#define FOLD_FRAMES                                                                                            \
    {                                                                                                          \
        for (k_index i_ = K_LANE_Y() * GROUP_X + K_LANE_X(); i_ < FOLD_STRIPS * LENGTH; i_ += FOLD_ITEMS) {    \
            const k_index first_ = i_ / LENGTH * FOLD_TOGETHER, column_ = i_ % LENGTH;                         \
            const k_index row_ = K_GROUP() * PER_GROUP + first_;                                               \
            const k_index point_ = column_ + turn < LENGTH ? column_ + turn : column_ + turn - LENGTH;         \
            fold_column(in + ((k_u64)(row_ + FIRST_IN) * SPACING + SKIP) + column_, table + FOLD_AT + column_, \
                        rows - row_ + FOLD - 1, exchange + first_ * MEMBER_STEP + point_, PER_GROUP - first_); \
        }                                                                                                      \
        K_BARRIER();                                                                                           \
    }
#define FOLD_TAKEN K_BARRIER();
#else
#define FOLD_FRAMES
#define FOLD_TAKEN
#endif
