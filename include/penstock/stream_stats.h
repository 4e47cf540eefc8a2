/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What every stream tells of itself while it runs: how much, how fast, how late. */
#ifndef PENSTOCK_STREAM_STATS_H
#define PENSTOCK_STREAM_STATS_H

#include <penstock/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since the stream was made or reset. Items in are what is pushed (samples, vectors), items out what is pulled. */
typedef struct penstock_stream_stats {
    size_t size;
    uint64_t in, out;               /* items */
    uint64_t queue;                 /* items in that wait: no item out that was given covers them */
    double in_rate_hz, out_rate_hz; /* items a second, over the last one to two seconds */
    double batch;                   /* items out of a mean batch; 0: none was done yet */
    double transfer_s, kernel_s;    /* what copies and kernels of a mean batch cost; 0 until one is done. On OpenCL and
                                       CUDA by the device's clock: the first batch is timed, then one whenever their
                                       number has doubled, then each 256th, with nothing else of the stream's on the
                                       device; others count by their size. What the processor does before, between
                                       and behind is in neither. transfer_s is 0 where the device works in the host's
                                       memory. Other devices compute within the call: kernel_s is what it takes, the
                                       processor's part included. NAN where the device's clock fails */
    double latency_p50_s; /* from the push of an item out's last item in to its pull: half of them took less, */
    double latency_p99_s; /* and 99 of 100; rounded up by at most a fifth, 1 us at least; 0: none came yet */
    uint64_t fallbacks;   /* batches that the CPU did because the device failed */
    uint64_t drops;       /* items in that were lost for want of time or memory */
    uint64_t meanwhile; /* batches that the CPU did because the device was not ready: penstock_context_desc.meanwhile */
} penstock_stream_stats;

#define PENSTOCK_STREAM_STATS PENSTOCK_DESCRIPTION(penstock_stream_stats, )

#ifdef __cplusplus
}
#endif

#endif
