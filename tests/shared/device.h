/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* For tests that run on the device of their command line. */
#ifndef PENSTOCK_TEST_DEVICE_H
#define PENSTOCK_TEST_DEVICE_H

#include "test.h"

#include <penstock/penstock.h>

/* A context on which the device makes plans: 0; or no context and a test's exit status, where the device is absent or
 * does not work. */
static inline int test_device(penstock_context **context, const char *device)
{
    penstock_plan *plan = NULL;
    int status = penstock_context_new(context, NULL), exits;
    if (!status && !(status = penstock_fft_plan(&plan, *context, &PENSTOCK_FFT_DESC(.n = 64), device))) {
        penstock_plan_free(plan);
        return 0;
    }
    if (status == PENSTOCK_ERR_NO_DEVICE) {
        exits = test_skip(penstock_error_text());
    } else {
        CHECK(!status, "%s: %s", device, penstock_error_text());
        exits = test_finish();
    }
    penstock_context_free(*context);
    *context = NULL;
    return exits;
}

#endif
