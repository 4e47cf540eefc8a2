/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The cache folder (penstock_context_desc.cache_dir): measurements, results about drivers, compiled kernels and
 * tables. It holds 64 MiB at most: what was used longest ago goes first. All that is in it can be made again.
 */
#ifndef PENSTOCK_CACHE_H
#define PENSTOCK_CACHE_H

#include <penstock/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_cache_info {
    size_t size;
    const char *folder;   /* NULL: nothing is kept; lives as long as the context */
    uint64_t files;       /* of the library in it */
    uint64_t bytes;       /* that they take there, each a multiple of 4096 */
    uint64_t limit_bytes; /* and may take */
} penstock_cache_info;

#define PENSTOCK_CACHE_INFO PENSTOCK_DESCRIPTION(penstock_cache_info, )

/* `info` made with PENSTOCK_CACHE_INFO. A folder that is not there has no files. */
PENSTOCK_API int penstock_cache_get_info(penstock_context *context, penstock_cache_info *info);

/* Removes the library's files from the folder; other files there stay, and so does what contexts have in memory. May be
 * called while this or other processes use the folder. PENSTOCK_ERR_FILE where some cannot be removed. */
PENSTOCK_API int penstock_cache_clear(penstock_context *context);

#ifdef __cplusplus
}
#endif

#endif
