/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The words in which kernels are written, for OpenCL C 1.2 and for CUDA C as NVRTC takes it (no
 * standard headers there). The host puts its generated constants first, then this file, then the kernel.
 *
 * What kernels keep to, so that weak compilers get them right: barriers stand at the top level of the
 * kernel and are met by every work-item; work-groups are always full; nothing returns early; local
 * arrays are declared at kernel scope; no function pointers, no recursion; no bool or size_t argument.
 */
#if defined(__OPENCL_VERSION__)

typedef uchar k_u8;
typedef char k_i8;
typedef ushort k_u16;
typedef short k_i16;
typedef int k_i32;
typedef uint k_u32;
typedef ulong k_u64;
typedef long k_i64;

#define K_KERNEL(x, y)                 __kernel __attribute__((reqd_work_group_size(x, y, 1))) void
#define K_KERNEL_RESIDENT(x, y, groups) K_KERNEL(x, y) /* so many groups at once on a multiprocessor */
#define K_FUNCTION                     static
#define K_GLOBAL                       __global
#define K_LOCAL                        __local
#define K_RESTRICT                     restrict
#define K_LOCAL_ARRAY(type, name, len) __local type name[len]
#define K_ALIGNED(bytes)               __attribute__((aligned(bytes)))
#define K_BARRIER()                    barrier(CLK_LOCAL_MEM_FENCE)
#define K_LANE_X()                     ((k_index)get_local_id(0))
#define K_LANE_Y()                     ((k_index)get_local_id(1))
#define K_GROUP()                      ((k_index)get_group_id(0))
#define K_LOG10(x)                     log10(x)
#define K_FETCH(p)                     prefetch(p, 1) /* into the cache; memory that is there */
#define K_ROLLED                       /* before a loop that shall stay one */
#if defined(__AMDGCN__)
#define K_ANEW(x) __asm__ volatile("" : "+v"(x))
#else
#define K_ANEW(x) /* what follows from x is computed here, in a loop too, and not kept */
#endif
#define K_EARLY()                      /* nothing of a kernel happens before the one before it has ended */
#define K_EARLY_WAIT()
#define K_EARLY_NEXT()

/* Numbers of 16 bits in global memory, as floats: a place of k_u16, and one of a pair of them. */
#define K_HALF(p)            vload_half(0, (K_GLOBAL const half *)(p))
#define K_PUT_HALF(p, x)     vstore_half_rte(x, 0, (K_GLOBAL half *)(p));
#if CPU
#define K_PUT_HALF2(p, x, y)                            \
    {                                                   \
        vstore_half_rte(x, 0, (K_GLOBAL half *)(p));    \
        vstore_half_rte(y, 1, (K_GLOBAL half *)(p));    \
    }
#else
#define K_PUT_HALF2(p, x, y) vstore_half2_rte((float2)(x, y), 0, (K_GLOBAL half *)(p));
#endif

#elif defined(__CUDACC__)

typedef unsigned char k_u8;
typedef signed char k_i8;
typedef unsigned short k_u16;
typedef short k_i16;
typedef int k_i32;
typedef unsigned int k_u32;
typedef unsigned long long k_u64;
typedef long long k_i64;

#define K_KERNEL(x, y) extern "C" __global__ __launch_bounds__((x) * (y)) void
#define K_KERNEL_RESIDENT(x, y, groups) extern "C" __global__ __launch_bounds__((x) * (y), groups) void
#define K_FUNCTION     static __device__ __forceinline__
#define K_GLOBAL
#define K_LOCAL
#define K_RESTRICT                     __restrict__
#define K_LOCAL_ARRAY(type, name, len) extern __shared__ type name[] /* the launch gives its size: it may pass 48 KB */
#define K_ALIGNED(bytes)               __align__(bytes)
#define K_BARRIER()                    __syncthreads()
#define K_LANE_X()                     ((k_index)threadIdx.x)
#define K_LANE_Y()                     ((k_index)threadIdx.y)
#define K_GROUP()                      ((k_index)blockIdx.x)
#define K_LOG10(x)                     log10f(x)
#define K_ROLLED                       _Pragma("unroll 1")
#define K_ANEW(x)                      asm volatile("" : "+r"(x))
#define K_FETCH(p)                     asm volatile("prefetch.global.L2 [%0];" ::"l"(p))
/*
 * The launch (lib/backends/cuda/launch.c) may bring work-groups to multiprocessors while the kernel before still runs:
 * they wait for its end here, before they touch memory that any kernel writes, and let those of the next kernel come.
 * In two words, where the compiler needs fewer registers if the second comes later.
 */
#if __CUDA_ARCH__ >= 900
#define K_EARLY_WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#define K_EARLY_NEXT() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define K_EARLY_WAIT()
#define K_EARLY_NEXT()
#endif
#define K_EARLY() \
    K_EARLY_WAIT(); \
    K_EARLY_NEXT()

K_FUNCTION float k_float_of_half(k_u16 bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

K_FUNCTION k_u16 k_half_of_float(float value)
{
    k_u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#define K_HALF(p)            k_float_of_half(*(p))
#define K_PUT_HALF(p, x)     *(p) = k_half_of_float(x);
#define K_PUT_HALF2(p, x, y) *(k_u32 *)(p) = k_half_of_float(x) | (k_u32)k_half_of_float(y) << 16;

#else
#error "kernels are compiled as OpenCL C or as CUDA C"
#endif

/* For addresses: as wide as a pointer on a CPU, where loops over work-items turn into vectors only so; cheap on a GPU.
 */
#if CPU
typedef k_i64 k_index;
typedef k_u64 k_size;
#else
typedef k_i32 k_index;
typedef k_u32 k_size;
#endif
