/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a test asks of a driver for tests, opencl_shim.c or cuda_shim.c; found in it by dlsym(). */
#ifndef PENSTOCK_TEST_DRIVER_SHIM_H
#define PENSTOCK_TEST_DRIVER_SHIM_H

#define SHIM_EXPORT __attribute__((visibility("default")))

/* The k-th call from now on that can fail (0 is the next) does so, once; k < 0: none. */
SHIM_EXPORT void shim_fail_at(long k);

/* (OpenCL's) All calls from the k-th on do so, until shim_fail_at(-1). */
SHIM_EXPORT void shim_fail_from(long k);

/* (OpenCL's) Each call that can fail takes so much longer. */
SHIM_EXPORT void shim_slow_down(long ms);

/* (OpenCL's) Each build goes on when so many are under way at once, or after 20 s; 0: at once. Since then: the most
 * there were at once, and all. */
SHIM_EXPORT void shim_gather_builds(long count);
SHIM_EXPORT long shim_most_builds(void);
SHIM_EXPORT long shim_builds(void);

/* (OpenCL's) A kernel writes where there is no memory, in the newest context: whether the driver noticed. Only on a
 * GPU: elsewhere it ends the process. */
SHIM_EXPORT int shim_lose(void);

/* < 0 when the call that was to fail has been reached. */
SHIM_EXPORT long shim_left(void);

/* (CUDA's) A stream that is of another context than the primary one. */
#define SHIM_FOREIGN_STREAM 4096

/* (CUDA's) Contexts that this thread has pushed. */
SHIM_EXPORT long shim_pushes(void);

/* (CUDA's) All calls of that GPU fail from now on, and what it was to copy to the host is not what it should be. */
SHIM_EXPORT void shim_lose_gpu(int gpu);

/* (CUDA's) Kernels that a GPU was given so far, and copies between the host and it. */
SHIM_EXPORT long shim_launches(int gpu);
SHIM_EXPORT long shim_copies(int gpu);

/* Objects made and not released. */
SHIM_EXPORT long shim_live(void);

/* (where the driver's rules are checked) The first rule that was broken, or NULL. */
SHIM_EXPORT const char *shim_broken_rule(void);

#endif
