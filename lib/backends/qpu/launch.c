/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What plans of transforms and of filters have in common: formats that the kernels load, and their launches. */
#include "backends/qpu/qpu.h"

enum { TIMEOUT_MS = 20000 };

bool penstock__qpu_format(enum qpu_fft_format *format, penstock_format from)
{
    switch (from) {
    case PENSTOCK_CF32:
        *format = QPU_FFT_CF32;
        return true;
    case PENSTOCK_CS16:
        *format = QPU_FFT_CS16;
        return true;
    case PENSTOCK_CU8:
        *format = QPU_FFT_CU8;
        return true;
    case PENSTOCK_CS8:
        *format = QPU_FFT_CS8;
        return true;
    default:
        return false;
    }
}

int penstock__qpu_launch(struct qpu_plan *p, struct qpu_state *state, const struct qpu_fft_plan *transforms,
                         uint32_t bus)
{
    struct qpu_device *device = state->device;
    uint64_t instructions = state->report.instructions, critical_path = state->report.critical_path;
    for (unsigned i = 0; i < qpu_fft_plan_launches(transforms); i++) {
        struct qpu_fft_launch launch;
        qpu_fft_plan_launch(transforms, i, bus, &launch);
        int status = qpu_device_run(device, launch.pc, launch.uniforms, launch.qpus, TIMEOUT_MS);
        if (status)
            return penstock__error(PENSTOCK_ERR_DEVICE, "%s", qpu_device_error(device));
    }
    p->instructions += state->report.instructions - instructions;
    p->critical_path += state->report.critical_path - critical_path;
    return PENSTOCK_OK;
}
