/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Real samples, forward: their even and odd ones were transformed as real and imaginary parts of N complex points Z.
 * The spectrum X of the 2N real samples, with t = exp(-2 pi i k / 2N):
 *     X[k] = (Z[k] + conj Z[N-k]) / 2 - i t (Z[k] - conj Z[N-k]) / 2,   X[N] = re Z[0] - im Z[0]
 * Z[N-k] comes through local memory. X[N] is left in `last` of lane 0.
 */
#if REAL && !REVERSE
#define UNPACK_SLOT(s)                                                                        \
    {                                                                                         \
        const k_index at_ = lane + s * LANES, mate_ = PLACE((N - at_) & (N - 1));             \
        const float c_ = shared[mate_], d_ = -shared[PLANE + mate_];                          \
        const float cosine_ = table[HALF_AT + 2 * at_], sine_ = table[HALF_AT + 2 * at_ + 1]; \
        const float a_ = 0.5f * (re##s - c_), b_ = 0.5f * (im##s - d_);                       \
        re##s = 0.5f * (re##s + c_) + cosine_ * b_ - sine_ * a_;                              \
        im##s = 0.5f * (im##s + d_) - cosine_ * a_ - sine_ * b_;                              \
    }
#define UNPACK(buffer) \
    SHARED(buffer)     \
    EACH_SLOT(GIVE_RE) \
    EACH_SLOT(GIVE_IM) \
    K_BARRIER();       \
    RELOCATE           \
    SHARED(buffer)     \
    last = re0 - im0;  \
    EACH_SLOT(UNPACK_SLOT)
#endif
