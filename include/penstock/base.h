/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What every header of the library needs: version, errors, and what marks a public function. */
#ifndef PENSTOCK_BASE_H
#define PENSTOCK_BASE_H

#include <penstock/description.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PENSTOCK_VERSION_MAJOR 0
#define PENSTOCK_VERSION_MINOR 1
#define PENSTOCK_VERSION_PATCH 0

#if defined(_WIN32)
#define PENSTOCK_API
#else
#define PENSTOCK_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Name, value, what it means. */
#define PENSTOCK_STATUS_MAP(X)                                                        \
    X(OK, 0, "success")                                                               \
    X(ERR_ARGUMENT, -1, "an argument is outside its range")                           \
    X(ERR_MEMORY, -2, "out of memory")                                                \
    X(ERR_NO_DEVICE, -3, "no such device, or it is absent")                           \
    X(ERR_UNSUPPORTED, -4, "the device or this build cannot do that")                 \
    X(ERR_DEVICE, -5, "the device or its driver failed")                              \
    X(ERR_CHECK, -6, "a plan gave wrong results when it was tested")                  \
    X(ERR_FILE, -7, "a file cannot be opened, read or written")                       \
    X(ERR_FORMAT, -8, "a file or description is not of the form that it should have") \
    X(ERR_RADIO, -9, "a radio failed or disappeared")                                 \
    X(ERR_TIMEOUT, -10, "nothing came in time")                                       \
    X(ERR_STATE, -11, "the call does not fit the object's state")

typedef enum penstock_status {
#define PENSTOCK_STATUS_ENUM(name, value, text) PENSTOCK_##name = (value),
    PENSTOCK_STATUS_MAP(PENSTOCK_STATUS_ENUM)
#undef PENSTOCK_STATUS_ENUM
} penstock_status;

/* What one of several devices ("cuda:*") did. */
typedef struct penstock_device_work {
    const char *device; /* "cuda:1"; lives as long as the context */
    uint64_t batches;
} penstock_device_work;

/* One line, without newline, about this thread's last failure; "" before the first. */
PENSTOCK_API const char *penstock_error_text(void);

/* The general meaning of a status, in English; never NULL. */
PENSTOCK_API const char *penstock_status_text(int status);

/* "0.1.0" */
PENSTOCK_API const char *penstock_version(void);

#ifdef __cplusplus
}
#endif

#endif
