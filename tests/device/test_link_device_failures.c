/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * While a filter hands its values over to a spectrum on their device, each call of the driver fails once, or all from
 * one on, and each allocation: the host goes on with the same samples, no value is lost, nothing leaks. With a driver
 * for tests.
 *
 * Argument: a device.
 */
#include "link_device_sweep.h"

static int open_both(penstock_stream *streams[MOST_STREAMS], penstock_context *context, const char *on)
{
    return open_chain(&streams[0], &streams[1], context, on);
}

static size_t alone(penstock_context *context)
{
    return run_apart(context, FEW, NULL, 0, NULL, want);
}

int main(int count, char **arguments)
{
    penstock_context *context;
    if (!shim_load("PENSTOCK_OPENCL_LIBRARY") || !shim.fail_from)
        return test_skip("there is no driver for tests");
    if (!rig_open(&context, count, arguments))
        return test_skip(penstock_error_text());
    penstock_context_free(context);
    sweep_all(&(struct sweep){
        .open = open_both, .count = 2, .alone = alone, .vector = 1, .least = 60, .most = 2000, .error = 2e-6});
    return test_finish();
}
