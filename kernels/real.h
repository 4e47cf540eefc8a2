/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Real samples, forward: their even and odd ones were transformed as real and imaginary parts of N complex points Z.
 * The spectrum X of the 2N real samples, with t = exp(-2 pi i k / 2N):
 *     X[k] = (Z[k] + conj Z[N-k]) / 2 - i t (Z[k] - conj Z[N-k]) / 2,   X[N] = re Z[0] - im Z[0]
 * Z[N-k] comes through local memory. X[N] is left in `re_extra` of lane 0.
 */
#if REAL == REAL_PACKED && !REVERSE_OUT
#define UNPACK_SLOT(s, offset, every, gap)                                                    \
    {                                                                                         \
        const k_index at_ = lane + offset, mate_ = PLACE(at_ ? N - at_ : 0, every, gap);      \
        const float c_ = SHARED_RE(mate_), d_ = -SHARED_IM(mate_);                            \
        const float cosine_ = table[HALF_AT + 2 * at_], sine_ = table[HALF_AT + 2 * at_ + 1]; \
        const float a_ = 0.5f * (re##s - c_), b_ = 0.5f * (im##s - d_);                       \
        re##s = 0.5f * (re##s + c_) + cosine_ * b_ - sine_ * a_;                              \
        im##s = 0.5f * (im##s + d_) - cosine_ * a_ - sine_ * b_;                              \
    }
#define UNPACK(before, buffer)                                 \
    SHARED(buffer)                                             \
    GIVE_ALL(before) K_BARRIER();                              \
    RELOCATE                                                   \
    SHARED(buffer)                                             \
    re_extra = re0 - im0;                                      \
    im_extra = 0.0f;                                           \
    GIVE_##before(UNPACK_SLOT)
#endif
