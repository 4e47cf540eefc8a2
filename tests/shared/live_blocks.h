/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* For tests that count blocks of memory while a context lives: what was freed on a device may have been left to a
 * thread, as a busy machine's driver takes longer than the 20 ms that a free waits. */
#ifndef PENSTOCK_TESTS_LIVE_BLOCKS_H
#define PENSTOCK_TESTS_LIVE_BLOCKS_H

#include "core/base/memory.h"
#include "core/device/background.h"
#include "core/device/devices.h"
#include "test.h"

/* Blocks in use once all of that is freed. */
static inline long test_live_blocks(penstock_context *of, const char *device)
{
    struct penstock_device *found = NULL;
    CHECK_OK(penstock__device_find(of, device, &found));
    if (found)
        penstock__background_await_freed(found);
    return penstock__memory_live();
}

#endif
