/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* libnvidia-ml for a test: two GPUs, the second of which has taken 1.5 J more each time that it is asked. */
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);

static unsigned long long taken[2];

__attribute__((visibility("default"))) int nvmlInit_v2(void)
{
    return 0;
}

__attribute__((visibility("default"))) int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index > 1)
        return 2; /* NVML_ERROR_INVALID_ARGUMENT */
    *device = &taken[index];
    return 0;
}

__attribute__((visibility("default"))) int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                                                               unsigned long long *millijoules)
{
    unsigned long long *count = device;
    *millijoules = *count += count == &taken[1] ? 1500 : 0;
    return 0;
}
