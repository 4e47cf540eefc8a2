/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Folded frames that follow each other at LENGTH samples, FOLD_TOGETHER: those of a work-group are summed by all of its
 * work-items, a column of samples each, and left in local memory for the transforms. A sample is read once for all of
 * the frames that it is in, and a factor once for all frames. Each sum has the order of READ_SAMPLE's.
 */
#if FOLD_TOGETHER
#define FOLD_UNROLL  _Pragma("unroll")
#define FOLD_SAMPLES (FOLD + PER_GROUP - 1)

/* The point of each frame that sample `column` begins; `there` samples of its column are. */
K_FUNCTION void fold_column(K_GLOBAL const k_sample *source, K_GLOBAL const float *factors, const k_index there,
                            K_LOCAL k_local *points)
{
    float factor[FOLD], re[PER_GROUP], im[PER_GROUP];
    FOLD_UNROLL
    for (k_index part = 0; part < FOLD; part++)
        factor[part] = factors[part * LENGTH];
    FOLD_UNROLL
    for (k_index frame = 0; frame < PER_GROUP; frame++)
        re[frame] = im[frame] = 0.0f;
    FOLD_UNROLL
    for (k_index i = 0; i < FOLD_SAMPLES; i++)
        if (i < there) {
            const float sample_re = SAMPLE_RE(i * LENGTH), sample_im = SAMPLE_IM(i * LENGTH);
            FOLD_UNROLL
            for (k_index frame = 0; frame < PER_GROUP; frame++)
                if (frame <= i && i < frame + FOLD) {
                    re[frame] += factor[i - frame] * sample_re;
                    im[frame] += factor[i - frame] * sample_im;
                }
        }
    FOLD_UNROLL
    for (k_index frame = 0; frame < PER_GROUP; frame++) {
        points[frame * MEMBER_STEP].re = re[frame];
        points[frame * MEMBER_STEP].im = im[frame];
    }
}

#define FOLD_FRAMES                                                                                          \
    {                                                                                                        \
        const k_index row_ = K_GROUP() * PER_GROUP, there_ = rows - row_ + FOLD - 1;                         \
        K_GLOBAL const k_sample *first_ = in + ((k_u64)(row_ + FIRST_IN) * SPACING + SKIP);                  \
        for (k_index i_ = K_LANE_Y() * GROUP_X + K_LANE_X(); i_ < LENGTH; i_ += GROUP_X * GROUP_Y)           \
            fold_column(first_ + i_, table + FOLD_AT + i_, there_,                                           \
                        exchange + (i_ + turn < LENGTH ? i_ + turn : i_ + turn - LENGTH));                   \
        K_BARRIER();                                                                                         \
    }
#define FOLD_TAKEN K_BARRIER();
#else
#define FOLD_FRAMES
#define FOLD_TAKEN
#endif
