/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A plan is a problem bound to a device: it works on batches of frames and has no history. It tests
 * itself when it is made, against a double-precision transform on the CPU; a variant that fails is
 * replaced by the next simpler one.
 */
#ifndef PENSTOCK_PLAN_H
#define PENSTOCK_PLAN_H

#include <penstock/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_plan penstock_plan;

/*
 * `frames` frames from `in` to `out`, both in host memory and not overlapping (or the same address
 * where input and output have the same size); returns when they are done. Frames do not influence
 * each other: any grouping of frames into calls gives the same bits.
 */
PENSTOCK_API int penstock_plan_run(penstock_plan *plan, const void *in, void *out, size_t frames);

/*
 * The same without waiting: several batches travel at once. `in` and `out` belong to the plan until
 * penstock_plan_wait() returns for `ticket` or a later one. Blocks while all slots are in use. A wait tells of the
 * failure of any batch up to its ticket, once; after an error of submit nothing of that batch is on its way.
 */
PENSTOCK_API int penstock_plan_submit(penstock_plan *plan, const void *in, void *out, size_t frames, uint64_t *ticket);
PENSTOCK_API int penstock_plan_wait(penstock_plan *plan, uint64_t ticket);

/*
 * The same with the samples on the plan's device, `in` and `out` buffers of it: enqueued after what is in `queue`, and
 * returns at once. They begin with what penstock_plan_run() would be given and gives, and may be larger. `in` and `out`
 * may be the same bytes where frames of input and output have the same size and do not overlap each other, else they
 * lie apart. Neither memory nor device is waited for, but for a first batch, or one larger than those before it in that
 * queue, of a plan that needs scratch memory.
 *
 * An unfit buffer or queue is PENSTOCK_ERR_ARGUMENT, and changes nothing. The CPU takes nothing over: a failure is an
 * error, of this call or of a later one of the queue. So is a plan whose device changes ("prefer:", "auto" with
 * `cpu_while_compiling`) while it is not on the buffers' device. Several threads may enqueue one plan of a named device
 * at once, each in a queue of its own, while no other call of the plan is made.
 */
PENSTOCK_API int penstock_plan_enqueue(penstock_plan *plan, const penstock_buffer *in, penstock_buffer *out,
                                       size_t frames, penstock_queue *queue);

typedef struct penstock_plan_info {
    size_t size;
    const char *device;  /* name of the device that runs it; lives as long as the plan */
    const char *variant; /* which kernel or library, in words */
    unsigned kernels;    /* kernels started for one batch; 0 on the CPU */
    unsigned passes;     /* times that the data goes through memory */
    size_t in_bytes;     /* of one frame in host memory */
    size_t out_bytes;
    size_t best_batch; /* frames from which on a larger batch gains little */
    /* Where the device counts them (QPUs under emulation), of all batches so far, else 0: instructions of all
     * processors, and of the busiest one. */
    uint64_t instructions, critical_path;
    const char *awaited; /* what the CPU stands in for while kernels are compiled, "cuda" or "auto"; NULL: nothing */
    uint64_t cpu_while_compiling; /* batches that it did so */
    unsigned timed;  /* shapes of its kernels that were timed when it was made (penstock_fft_desc.tune); 0: none */
    double tuning_s; /* seconds that timing them took, without compiling */
    const penstock_device_work
        *shares;        /* where `device` is several ("cuda:*"), what each of them did so far; live as */
    size_t share_count; /* long as the plan, and are NULL and 0 for one device */
} penstock_plan_info;

#define PENSTOCK_PLAN_INFO PENSTOCK_DESCRIPTION(penstock_plan_info, )

PENSTOCK_API int penstock_plan_get_info(const penstock_plan *plan, penstock_plan_info *info);
PENSTOCK_API void penstock_plan_free(penstock_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
