/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The first kernel of a device: source, values, and their check. */
#include "gpu/trial.h"
#include "gpu/source.h"

#include <time.h>
#include <unistd.h>

#define MOST_FACTOR (1u << 16) /* with values to GPU_TRIAL_VALUES all results are exact as floats */

static float value_before(unsigned i)
{
    return (float)(GPU_TRIAL_VALUES - i);
}

static float value_behind(const struct gpu_trial *trial, unsigned i)
{
    unsigned lane = i % GPU_TRIAL_GROUP;
    return value_before(i - lane + GPU_TRIAL_GROUP - 1 - lane) * (float)trial->factor + (float)lane;
}

int penstock__gpu_trial_source(struct gpu_text *text, struct gpu_trial *trial, const penstock_context *context)
{
    static const char *const names[] = {"portability.h", "trial.cl", NULL};
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    trial->factor = 1 + (unsigned)((unsigned long)now.tv_nsec / 16 + (unsigned long)getpid()) % (MOST_FACTOR - 1);
    for (unsigned i = 0; i < GPU_TRIAL_VALUES; i++)
        trial->values[i] = value_before(i);
    penstock__text_add(text, "#define CPU 0\n#define TRIAL_FACTOR %u.0f\n", trial->factor);
    return penstock__gpu_source_files(text, context, names);
}

int penstock__gpu_trial_check(const struct gpu_trial *trial, const struct penstock_device *device)
{
    for (unsigned i = 0; i < GPU_TRIAL_VALUES; i++) {
        float want = value_behind(trial, i);
        if (!(trial->values[i] == want))
            return penstock__error(PENSTOCK_ERR_CHECK, "%s: value %u of a first kernel is %g, it should be %g",
                                   device->name, i, (double)trial->values[i], (double)want);
    }
    return PENSTOCK_OK;
}
