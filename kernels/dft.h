/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Forward DFTs of 2, 4, 8 and 16 points held in registers, in natural order in and out. Point s of a
 * work-item lives in the scalars re<s> and im<s>: scalars, not arrays or vectors, so that compilers which
 * turn a work-group into a loop (PoCL) keep them in registers and run that loop on vector units.
 * A reverse transform is the forward one with real and imaginary parts exchanged on load and on store.
 */

#define DFT2(a, b)                                            \
    {                                                         \
        const k_real re_ = re##a - re##b, im_ = im##a - im##b; \
        re##a += re##b;                                       \
        im##a += im##b;                                       \
        re##b = re_;                                          \
        im##b = im_;                                          \
    }

#define DFT4(a, b, c, d)                                        \
    {                                                           \
        const k_real re0_ = re##a + re##c, im0_ = im##a + im##c; \
        const k_real re1_ = re##a - re##c, im1_ = im##a - im##c; \
        const k_real re2_ = re##b + re##d, im2_ = im##b + im##d; \
        const k_real re3_ = re##b - re##d, im3_ = im##b - im##d; \
        re##a = re0_ + re2_;                                    \
        im##a = im0_ + im2_;                                    \
        re##b = re1_ + im3_;                                    \
        im##b = im1_ - re3_;                                    \
        re##c = re0_ - re2_;                                    \
        im##c = im0_ - im2_;                                    \
        re##d = re1_ - im3_;                                    \
        im##d = im1_ + re3_;                                    \
    }

/* Point s times cosine - i sine. */
#define ROTATE(s, cosine, sine)                \
    {                                          \
        const k_real re_ = re##s, im_ = im##s;  \
        re##s = re_ * K_REAL(cosine) + im_ * K_REAL(sine); \
        im##s = im_ * K_REAL(cosine) - re_ * K_REAL(sine);   \
    }

/* Point s times exp(-2 pi i / 8), -i and exp(-2 pi i 3 / 8). */
#define ROTATE_1_8(s)                         \
    {                                         \
        const k_real re_ = re##s;              \
        re##s = (re_ + im##s) * K_REAL(0.707106781f); \
        im##s = (im##s - re_) * K_REAL(0.707106781f); \
    }
#define ROTATE_2_8(s)            \
    {                            \
        const k_real re_ = re##s; \
        re##s = im##s;           \
        im##s = -re_;            \
    }
#define ROTATE_3_8(s)                          \
    {                                          \
        const k_real re_ = re##s;               \
        re##s = (im##s - re_) * K_REAL(0.707106781f);  \
        im##s = (re_ + im##s) * K_REAL(-0.707106781f); \
    }

#define SWAP(a, b)                            \
    {                                         \
        const k_real re_ = re##a, im_ = im##a; \
        re##a = re##b;                        \
        im##a = im##b;                        \
        re##b = re_;                          \
        im##b = im_;                          \
    }

#define DFT8(a, b, c, d, e, f, g, h)     \
    {                                    \
        DFT2(a, e)                       \
        DFT2(b, f)                       \
        DFT2(c, g)                       \
        DFT2(d, h)                       \
        ROTATE_1_8(f)                    \
        ROTATE_2_8(g)                    \
        ROTATE_3_8(h)                    \
        DFT4(a, b, c, d)                 \
        DFT4(e, f, g, h)                 \
        SWAP(b, e) /* a e b f c g d h */ \
        SWAP(c, e)                       \
        SWAP(d, f)                       \
        SWAP(f, g)                       \
    }

/* cos and sin of 2 pi / 16 are 0.923879533 and 0.382683432. */
#define DFT16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    {                                                         \
        DFT4(a, e, i, m)                                      \
        DFT4(b, f, j, n)                                      \
        DFT4(c, g, k, o)                                      \
        DFT4(d, h, l, p)                                      \
        ROTATE(f, 0.923879533f, 0.382683432f)                 \
        ROTATE_1_8(g)                                         \
        ROTATE(h, 0.382683432f, 0.923879533f)                 \
        ROTATE_1_8(j)                                         \
        ROTATE_2_8(k)                                         \
        ROTATE_3_8(l)                                         \
        ROTATE(n, 0.382683432f, 0.923879533f)                 \
        ROTATE_3_8(o)                                         \
        ROTATE(p, -0.923879533f, -0.382683432f)               \
        DFT4(a, b, c, d)                                      \
        DFT4(e, f, g, h)                                      \
        DFT4(i, j, k, l)                                      \
        DFT4(m, n, o, p)                                      \
        SWAP(b, e) /* rows to columns */                      \
        SWAP(c, i)                                            \
        SWAP(d, m)                                            \
        SWAP(g, j)                                            \
        SWAP(h, n)                                            \
        SWAP(l, o)                                            \
    }
