/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* NVRTC: CUDA C to machine code for the device, or to PTX, which the driver compiles, for devices newer than NVRTC. */
#include "backends/cuda/cuda.h"
#include "gpu/kernel.h"

#include <stdio.h>
#include <string.h>

#define MAX_ARCHITECTURES 64

static int check(const struct penstock_device *device, const char *call, nvrtcResult code)
{
    if (!code)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: %s: %s", device->name, call,
                           penstock__cuda_opened(device)->api->nvrtc.GetErrorString(code));
}

int penstock__cuda_architecture(char option[40], const struct penstock_device *device)
{
    const struct cuda_device *self = device->priv;
    int known[MAX_ARCHITECTURES], count = 0, newest = 0, status;
    if ((status = check(device, "nvrtcGetNumSupportedArchs", self->api->nvrtc.GetNumSupportedArchs(&count))))
        return status;
    if (count < 1 || count > MAX_ARCHITECTURES)
        return penstock__error(PENSTOCK_ERR_DEVICE, "%s: NVRTC lists %d architectures, from 1 to %d are possible",
                               device->name, count, MAX_ARCHITECTURES);
    if ((status = check(device, "nvrtcGetSupportedArchs", self->api->nvrtc.GetSupportedArchs(known))))
        return status;
    for (int i = 0; i < count; i++)
        if (known[i] <= self->architecture && known[i] > newest)
            newest = known[i];
    if (!newest)
        return penstock__error(PENSTOCK_ERR_DEVICE, "%s: NVRTC %d.%d compiles no more for compute capability %d.%d",
                               device->name, self->api->nvrtc_major, self->api->nvrtc_minor, self->architecture / 10,
                               self->architecture % 10);
    snprintf(option, 40, "--gpu-architecture=%s_%d", newest == self->architecture ? "sm" : "compute", newest);
    return PENSTOCK_OK;
}

static int failed(nvrtcProgram program, const struct penstock_device *device, nvrtcResult code)
{
    const struct cuda_api *cuda = penstock__cuda_opened(device)->api;
    char line[200] = "no build log", *log;
    size_t bytes = 0;
    if (!cuda->nvrtc.GetProgramLogSize(program, &bytes) && bytes > 1 && (log = penstock__alloc(bytes + 1))) {
        if (!cuda->nvrtc.GetProgramLog(program, log)) {
            log[bytes] = 0;
            penstock__gpu_first_message(line, log);
        }
        penstock__free(log);
    }
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: nvrtcCompileProgram: %s: %s", device->name,
                           cuda->nvrtc.GetErrorString(code), line);
}

/* The compiled program, with a 0 behind it: PTX is text. */
static int take(void **image, size_t *bytes, nvrtcProgram program, const struct penstock_device *device, bool machine)
{
    const struct cuda_api *cuda = penstock__cuda_opened(device)->api;
    int status = machine ? check(device, "nvrtcGetCUBINSize", cuda->nvrtc.GetCUBINSize(program, bytes))
                         : check(device, "nvrtcGetPTXSize", cuda->nvrtc.GetPTXSize(program, bytes));
    if (status)
        return status;
    if (!(*image = penstock__calloc(++*bytes, 1)))
        return PENSTOCK_ERR_MEMORY;
    status = machine ? check(device, "nvrtcGetCUBIN", cuda->nvrtc.GetCUBIN(program, *image))
                     : check(device, "nvrtcGetPTX", cuda->nvrtc.GetPTX(program, *image));
    if (status) {
        penstock__free(*image);
        *image = NULL;
    }
    return status;
}

/* NVRTC asks on its way: between passes, of which one may take half of the time. */
static int is_to_stop(void *flag, void *reserved)
{
    (void)reserved;
    return penstock__cancelled_by(flag);
}

static int cancelled(const struct penstock_device *device)
{
    return penstock__error(PENSTOCK_ERR_TIMEOUT, "%s: nobody waits for the kernel any more", device->name);
}

int penstock__cuda_compile(void **image, size_t *bytes, const struct penstock_device *device, const char *source,
                           const char *option)
{
    const struct cuda_api *cuda = penstock__cuda_opened(device)->api;
    const atomic_bool *flag = penstock__cancel_flag();
    nvrtcProgram program;
    *image = NULL;
    if (penstock__cancelled())
        return cancelled(device);
    nvrtcResult code = cuda->nvrtc.CreateProgram(&program, source, "fft.cu", 0, NULL, NULL);
    int status = check(device, "nvrtcCreateProgram", code);
    if (status)
        return status;
    if (flag && cuda->nvrtc.SetFlowCallback)
        cuda->nvrtc.SetFlowCallback(program, is_to_stop, (void *)(uintptr_t)flag);
    if ((code = cuda->nvrtc.CompileProgram(program, 1, &option)))
        status = penstock__cancelled() ? cancelled(device) : failed(program, device, code);
    else
        status = take(image, bytes, program, device, strstr(option, "=sm_"));
    cuda->nvrtc.DestroyProgram(&program);
    return status;
}
