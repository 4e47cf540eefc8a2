/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a kernel in CUDA C needs to be compiled for the host, as C or C++: gpu_trace_compile.c puts this before its
 * source. */
#define __CUDACC__ 1
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __syncthreads()  trace_barrier()
#define __syncwarp()     trace_warp_barrier()
#define asm(...) ((void)0) /* conversions of numbers of 16 bits, which the host's assembler does not know */

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;

#if defined(__clang__) /* it would copy a struct by its parts */
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
#else
typedef struct __align__(8)
{
    float x, y;
}
float2;
typedef struct __align__(16)
{
    float x, y, z, w;
}
float4;
typedef struct __align__(8)
{
    uint x, y;
}
uint2;
typedef struct __align__(16)
{
    uint x, y, z, w;
}
uint4;
#endif

#if defined(__cplusplus)
#define TRACE_KERNEL extern "C"
extern "C" {
#else
#define TRACE_KERNEL
#endif
void trace_barrier(void);
void trace_warp_barrier(void);
void trace_fetch(const void *place);
extern struct trace_place {
    int x, y;
} threadIdx, blockIdx;
#if defined(__cplusplus)
}
#endif

/* Values that are made in one place and then stored in one piece, as a GPU stores them. */
#define make_float2(a, b)          \
    ({                             \
        float2 made_ = {(a), (b)}; \
        made_;                     \
    })
#define make_float4(a, b, c, d)              \
    ({                                       \
        float4 made_ = {(a), (b), (c), (d)}; \
        made_;                               \
    })
/* Images made of buffers: a texel comes and goes in one piece, of TEXEL points. */
typedef void *image1d_buffer_t;
#define __read_only
#define __write_only
#define read_imagef(image, at)                                   \
    ({                                                           \
        float4 texel_ = {0.0f, 0.0f, 0.0f, 0.0f};                \
        if (TEXEL == 2) {                                        \
            texel_ = ((const float4 *)(image))[at];              \
        } else {                                                 \
            float2 point_of_it_ = ((const float2 *)(image))[at]; \
            texel_.x = point_of_it_.x;                           \
            texel_.y = point_of_it_.y;                           \
        }                                                        \
        texel_;                                                  \
    })
#define write_imagef(image, at, texel)                                 \
    {                                                                  \
        const float4 texel_ = texel;                                   \
        if (TEXEL == 2)                                                \
            ((float4 *)(image))[at] = texel_;                          \
        else                                                           \
            ((float2 *)(image))[at] = make_float2(texel_.x, texel_.y); \
    }

#define __ldg(place)  (*(place))
#define __ldcs(place) (*(place))
#define __stcs(place, value)                 \
    ({                                       \
        __typeof__(*(place)) put_ = (value); \
        *(place) = put_;                     \
        (void)0;                             \
    })

static inline uint __float_as_uint(float value)
{
    union {
        float real;
        uint bits;
    } both = {value};
    return both.bits;
}

/* Of eight bytes, b above a: those that the four digits of `which` name. */
static inline uint __byte_perm(uint a, uint b, uint which)
{
    uint result = 0;
    for (int i = 0; i < 4; i++) {
        uint at = which >> 4 * i & 7, byte = (at < 4 ? a >> 8 * at : b >> 8 * (at - 4)) & 255;
        result |= byte << 8 * i;
    }
    return result;
}

/* The upper half of a product. */
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#define fmaf(a, b, c)    ((a) * (b) + (c))
#define fabsf(x)         __builtin_fabsf(x)
#define fminf(a, b)      ((a) < (b) ? (a) : (b))
#define fmaxf(a, b)      ((a) > (b) ? (a) : (b))
#define copysignf(x, of) __builtin_copysignf(x, of)
#define log10f(x)        (x)
#define rintf(x)         ((float)(int)(x))
