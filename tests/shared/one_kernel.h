/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Whether the device filters in one kernel. */
#ifndef PENSTOCK_TEST_ONE_KERNEL_H
#define PENSTOCK_TEST_ONE_KERNEL_H

#include <penstock/penstock.h>

/* Enqueues a block there, of samples that nobody has set: PENSTOCK_ERR_UNSUPPORTED where it does not. */
static inline int one_kernel(penstock_stream *filter, penstock_context *context)
{
    enum { MOST_BYTES_OF_A_SAMPLE = 8 };
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    penstock_queue *queue = NULL;
    penstock_buffer *in = NULL, *out = NULL;
    int status = penstock_filter_get_info(filter, &info);
    if (!status)
        status = penstock_queue_new(&queue, context, info.device);
    if (!status)
        status = penstock_buffer_new(&in, context, info.device, info.reads * MOST_BYTES_OF_A_SAMPLE);
    if (!status)
        status = penstock_buffer_new(&out, context, info.device, info.block * MOST_BYTES_OF_A_SAMPLE);
    if (!status)
        status = penstock_filter_enqueue(filter, in, out, 0, 1, queue);
    if (!status)
        status = penstock_queue_wait(queue);
    penstock_queue_free(queue);
    penstock_buffer_free(in);
    penstock_buffer_free(out);
    return status;
}

#endif
