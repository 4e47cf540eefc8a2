/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What an application has from a driver, without the library: memory of the device, a queue, and copies in it, which
 * stand for the application's kernels. */
#ifndef PENSTOCK_TEST_FOREIGN_H
#define PENSTOCK_TEST_FOREIGN_H

#include "test.h"

#include <penstock/penstock.h>

struct foreign {
    bool cuda;
    uint64_t context;                 /* a cl_context, which has to be shared; 0 */
    uint64_t queue, in, out, staging; /* memories of `bytes` */
    size_t bytes;
};

/* Of "cuda" or "opencl", a device of this context's table. False where the device has no such things: cpu, trace. */
bool foreign_open(struct foreign *foreign, penstock_context *context, const char *device, size_t bytes);
void foreign_close(struct foreign *foreign);

/* Has CUDA's primary context current in this thread, as threads of its runtime have; and no longer. */
void foreign_enter(const struct foreign *foreign);
void foreign_leave(const struct foreign *foreign);

/* `bytes` of the host's into the memory `staging`, at once. */
void foreign_write(struct foreign *foreign, const void *from);

/* In the queue, and returns: from one memory to another. */
void foreign_copy(struct foreign *foreign, uint64_t to, uint64_t from);

/* Waits for the queue, and reads `staging`. */
void foreign_read(struct foreign *foreign, void *to);

#endif
