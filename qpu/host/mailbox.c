/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "mailbox.h"

enum { MESSAGE_WORDS = 16, HEADER_WORDS = 5, PROCESS_REQUEST = 0 };
static const uint32_t ANSWERED = 0x80000000;

/* `values` are the request's and become the answer's. */
static int call(struct qpu_platform platform, uint32_t tag, uint32_t *values, uint32_t count)
{
    _Alignas(16) uint32_t message[MESSAGE_WORDS] = {0};
    uint32_t words = HEADER_WORDS + count + 1;
    message[0] = words * (uint32_t)sizeof *message;
    message[1] = PROCESS_REQUEST;
    message[2] = tag;
    message[3] = message[4] = count * (uint32_t)sizeof *message;
    for (uint32_t i = 0; i < count; i++)
        message[HEADER_WORDS + i] = values[i];
    int status = platform.calls->mailbox(platform.self, message);
    if (status)
        return status;
    if (message[1] != ANSWERED || !(message[4] & ANSWERED))
        return QPU_MAILBOX_REFUSED;
    for (uint32_t i = 0; i < count; i++)
        values[i] = message[HEADER_WORDS + i];
    return 0;
}

int qpu_mailbox_revision(struct qpu_platform platform, uint32_t *revision)
{
    *revision = 0;
    return call(platform, QPU_TAG_REVISION, revision, 1);
}

int qpu_mailbox_clock_hz(struct qpu_platform platform, uint32_t clock, uint32_t *rate_hz)
{
    uint32_t values[2] = {clock, 0};
    int status = call(platform, QPU_TAG_CLOCK_RATE, values, 2);
    *rate_hz = status ? 0 : values[1];
    return status;
}

int qpu_mailbox_allocate(struct qpu_platform platform, uint32_t bytes, uint32_t alignment, uint32_t flags,
                         uint32_t *handle)
{
    uint32_t values[3] = {bytes, alignment, flags};
    int status = call(platform, QPU_TAG_ALLOCATE, values, 3);
    *handle = status ? 0 : values[0];
    return status ? status : *handle ? 0 : QPU_MAILBOX_REFUSED;
}

int qpu_mailbox_lock(struct qpu_platform platform, uint32_t handle, uint32_t *bus)
{
    *bus = handle;
    int status = call(platform, QPU_TAG_LOCK, bus, 1);
    return status ? status : *bus ? 0 : QPU_MAILBOX_REFUSED;
}

/* A call whose answer is 0 when it was done. */
static int call_for_status(struct qpu_platform platform, uint32_t tag, uint32_t *values, uint32_t count)
{
    int status = call(platform, tag, values, count);
    return status ? status : values[0] ? QPU_MAILBOX_REFUSED : 0;
}

int qpu_mailbox_unlock(struct qpu_platform platform, uint32_t handle)
{
    return call_for_status(platform, QPU_TAG_UNLOCK, &handle, 1);
}

int qpu_mailbox_release(struct qpu_platform platform, uint32_t handle)
{
    return call_for_status(platform, QPU_TAG_RELEASE, &handle, 1);
}

int qpu_mailbox_enable(struct qpu_platform platform, uint32_t on)
{
    return call_for_status(platform, QPU_TAG_ENABLE, &on, 1);
}

int qpu_mailbox_execute(struct qpu_platform platform, uint32_t qpus, uint32_t control, uint32_t no_flush,
                        uint32_t timeout_ms)
{
    uint32_t values[4] = {qpus, control, no_flush, timeout_ms};
    return call_for_status(platform, QPU_TAG_EXECUTE, values, 4);
}
