/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Launches, without the gap that a stream otherwise leaves between two kernels. */
#include "backends/cuda/cuda.h"

int penstock__cuda_launch(const struct penstock_device *device, CUfunction function, const struct cuda_grid *grid,
                          CUstream stream, void **arguments)
{
    const struct cuda_device *self = device->priv;
    CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchConfig config = {.gridDimX = (unsigned)grid->groups,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = grid->x,
                             .blockDimY = grid->y,
                             .blockDimZ = 1,
                             .sharedMemBytes = (unsigned)grid->shared_bytes,
                             .hStream = stream,
                             .attrs = &early,
                             .numAttrs = 1};
    if (self->early && (uintptr_t)stream > CUDA_DEFAULT_STREAMS)
        return penstock__cuda_check(device, "cuLaunchKernelEx",
                                    self->api->LaunchKernelEx(&config, function, arguments, NULL));
    return penstock__cuda_check(device, "cuLaunchKernel",
                                self->api->LaunchKernel(function, config.gridDimX, 1, 1, grid->x, grid->y, 1,
                                                        config.sharedMemBytes, stream, arguments, NULL));
}
