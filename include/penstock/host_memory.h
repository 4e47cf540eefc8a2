/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Page-locked memory, which a device with memory of its own copies from and to by itself: at the bus's rate, and
 * without the copy through the library's own page-locked memory that ordinary memory needs. For samples that come into
 * being there, or results that are used there; where they have to be copied in or out, ordinary memory does as well.
 */
#ifndef PENSTOCK_HOST_MEMORY_H
#define PENSTOCK_HOST_MEMORY_H

#include <penstock/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `bytes` > 0 of memory, aligned to 64 bytes, for plans of the same context and device, named as for a plan. Plans find
 * out by themselves whether what they are given lies in such memory, in whole; they may be given any part of it. So it
 * is with page-locked memory that the application has from CUDA's driver, or has registered with it. Ordinary memory
 * where the device has no such memory, or no more of it (cuda has), and for "auto". It may be written and read freely,
 * but not while a batch that uses it is under way. It lives until penstock_host_memory_free(), at most as long as the
 * context. Errors as of a plan on that device, and PENSTOCK_ERR_MEMORY.
 */
PENSTOCK_API int penstock_host_memory_new(void **memory, penstock_context *context, const char *device, size_t bytes);

/*
 * Page-locks `bytes` > 0 at `memory` that the caller has, of any alignment: from then on they are to that device as if
 * they were from penstock_host_memory_new(). They stay the caller's, who unlocks them by penstock_host_memory_free()
 * before they are freed or the context is. Nothing is to be locked for a device without such memory.
 * PENSTOCK_ERR_DEVICE where the device locks no more, or has locked them already.
 */
PENSTOCK_API int penstock_host_memory_lock(penstock_context *context, const char *device, void *memory, size_t bytes);

/* NULL is fine. No plan may be using it. */
PENSTOCK_API void penstock_host_memory_free(penstock_context *context, void *memory);

#ifdef __cplusplus
}
#endif

#endif
