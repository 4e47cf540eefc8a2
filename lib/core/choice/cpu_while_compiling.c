/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device that is asked for, the CPU where it fails, or the CPU until it is ready. */
#include "core/choice/cpu_while_compiling.h"
#include "core/base/context.h"
#include "core/device/background.h"
#include "core/device/devices.h"

#include <stdio.h>
#include <string.h>

#define READY_S 0.05 /* kernels from the cache do not take so long */
#define BEGIN_S 0.1  /* what is over by then was not worth a driver's start */

struct request {
    const struct penstock__maker *maker;
    void *owner;
    penstock_context *context;
    const char *device, *name; /* as it was asked for, and what of it is a name */
    enum penstock_preference preference;
};

/* After the failure of a device. What is wrong with the description is wrong on any; what nobody waits for has not
 * failed. */
static int instead(void **made, const struct request *request, int status)
{
    if (request->preference == PENSTOCK_DEVICE_NAMED || status == PENSTOCK_ERR_ARGUMENT || penstock__cancelled())
        return status;
    penstock__log(request->context, PENSTOCK_LOG_WARNING, "%s is preferred, the CPU is used: %s",
                  request->name ? request->name : "the fastest device", penstock_error_text());
    return request->maker->make(made, request->owner, "cpu");
}

static int make_now(void **made, const struct request *request)
{
    int status = request->maker->make(made, request->owner, request->device);
    return status ? instead(made, request, status) : PENSTOCK_OK;
}

static int make_beside(void **made, struct penstock__async_build **build, const struct request *request)
{
    struct penstock__async_build *coming;
    int status;
    penstock__background_has_driver(request->context);
    if (penstock__async_build_new(&coming, request->maker, request->owner, request->device, 0))
        return make_now(made, request);
    if (!penstock__async_build_done(coming, READY_S)) {
        penstock__async_build_overtake(coming);
        if (!request->maker->make(made, request->owner, "cpu")) {
            penstock__log(request->context, PENSTOCK_LOG_INFO, "%s is being made ready, the CPU serves meanwhile",
                          penstock__async_build_name(coming));
            *build = coming;
            return PENSTOCK_OK;
        }
    }
    while (!penstock__async_build_done(coming, 1))
        ;
    if ((status = penstock__async_build_take(coming, made)))
        status = instead(made, request, status);
    penstock__async_build_free(coming);
    return status;
}

/* The CPU, while it does what is asked for, until another device has turned out to be faster. */
static int make_begun(void **made, struct penstock__async_build **build, const struct request *request)
{
    if (request->maker->make(made, request->owner, "cpu"))
        return make_now(made, request);
    penstock__background_has_driver(request->context);
    if (!penstock__async_build_new(build, request->maker, request->owner, request->device, BEGIN_S))
        penstock__async_build_overtake(*build);
    return PENSTOCK_OK;
}

/* Beside the CPU, which would have to wait for itself, there is a device to wait for. */
static bool may_take_long(const struct request *request)
{
    struct penstock_device *device;
    return request->preference == PENSTOCK_DEVICE_PREFERRED &&
           !penstock__device_find(request->context, request->name, &device) && strcmp(device->name, "cpu");
}

int penstock__make(void **made, struct penstock__async_build **build, const struct penstock__maker *maker, void *owner,
                   penstock_context *context, const char *device)
{
    struct request request = {.maker = maker, .owner = owner, .context = context, .device = device};
    int status = penstock__device_parse(&request.preference, &request.name, device);
    *made = NULL;
    if (build)
        *build = NULL;
    if (status)
        return status;
    if (build && request.preference == PENSTOCK_DEVICE_AUTO)
        return make_begun(made, build, &request);
    return build && may_take_long(&request) ? make_beside(made, build, &request) : make_now(made, &request);
}

/* ---------------------------------------------------------------- going over ------------------ */

/* On the processor that stands by. */
static void look_again(struct penstock__async_build **build, struct penstock__standby *standby)
{
    char device[80];
    if (!penstock__standby_due(standby))
        return;
    snprintf(device, sizeof device, "%s%s", standby->there ? "" : "prefer:", penstock__standby_idle(standby));
    if (penstock__async_build_new(build, &standby->maker, standby->owner, device, 0)) {
        penstock__standby_end(standby);
        return;
    }
    penstock__async_build_overtake(*build);
    standby->looking = true;
}

bool penstock__async_build_collect(struct penstock__async_build **build, struct penstock__standby *standby,
                                   penstock_context *context, void **made)
{
    struct penstock__async_build *coming = *build;
    int status;
    *made = NULL;
    if (!coming) {
        look_again(build, standby);
        return false;
    }
    if (!penstock__async_build_done(coming, 0))
        return false;
    const struct penstock__maker *maker = penstock__async_build_maker(coming);
    *build = NULL;
    bool same = !(status = penstock__async_build_take(coming, made)) && maker->device &&
                !strcmp(maker->device(*made), penstock__standby_working(standby));
    if (same) {
        maker->free(*made);
        *made = NULL;
    }
    if (status)
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is not ready, %s goes on: %s",
                      penstock__async_build_name(coming), standby->there ? standby->timed.other : "the CPU",
                      penstock_error_text());
    if (standby->looking && (status || same))
        penstock__standby_end(standby);
    else if (!standby->looking && !status)
        penstock__standby_begin(standby, coming, !same);
    penstock__async_build_free(coming);
    return !status && !same;
}

void penstock__went_over(struct penstock__standby *standby, penstock_context *context, const char *device)
{
    if (!standby->looking) {
        penstock__log(context, PENSTOCK_LOG_INFO, "%s is ready and goes on", device);
        return;
    }
    penstock__log(context, PENSTOCK_LOG_INFO, "%s goes on for %s, which %s %.1f times as long as that would", device,
                  penstock__standby_working(standby), penstock__standby_tries(standby) ? "may take" : "takes",
                  standby->slowdown);
    penstock__standby_moved(standby);
}

void penstock__stayed(struct penstock__standby *standby, penstock_context *context, const char *device)
{
    penstock__log(context, PENSTOCK_LOG_WARNING, "%s is not used, the CPU goes on: %s", device, penstock_error_text());
    penstock__standby_end(standby);
}

void penstock__serve(struct penstock__standby *standby, struct penstock__async_build *build)
{
    penstock__async_build_serve(build);
    penstock__standby_enter(standby, build);
}

void penstock__served(struct penstock__standby *standby, struct penstock__async_build *build, size_t units)
{
    penstock__standby_leave(standby, build, units);
    penstock__async_build_served(build);
}

bool penstock__cpu_while_compiling(const penstock_context *context, const char *device)
{
    enum penstock_preference preference;
    const char *name;
    if (penstock__device_parse(&preference, &name, device))
        return false;
    return preference == PENSTOCK_DEVICE_AUTO ? context->begins : context->cpu_while_compiling;
}
