/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Calls that are refused, in words. */
#ifndef PENSTOCK_TEST_REFUSED_H
#define PENSTOCK_TEST_REFUSED_H

#include "test.h"

#include <penstock/penstock.h>

#define CHECK_REFUSED(call, status, words)                                                             \
    do {                                                                                               \
        int got_ = (call);                                                                             \
        CHECK(got_ == (status), #call " is %d", got_);                                                 \
        CHECK(strstr(penstock_error_text(), words), "no \"%s\" in: %s", words, penstock_error_text()); \
    } while (0)

/* liquid-dsp may be left out of a build, and a driver of a machine. */
static inline bool is_there(const char *device)
{
    penstock_context *context;
    size_t index;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    int status = penstock_device_find(context, device, &index);
    penstock_context_free(context);
    bool may_lack = strcmp(device, "cpu") && strcmp(device, "trace");
    CHECK(!status || (status == PENSTOCK_ERR_NO_DEVICE && may_lack), "%s: %d", device, status);
    return !status;
}

#endif
