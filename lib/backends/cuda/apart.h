/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What penstock-compile, which has the source as its input, writes: this, and then the image. */
#ifndef PENSTOCK_CUDA_APART_H
#define PENSTOCK_CUDA_APART_H

#include <stdint.h>

#define CUDA_APART_MARK "nvrtc 1"

struct cuda_apart_head {
    char mark[8];
    uint64_t bytes; /* of the image, with a 0 behind it that is not sent: PTX is text */
};

#endif
