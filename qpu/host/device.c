/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "device.h"

#include "launch.h"
#include "mailbox.h"
#include "model.h"
#include "registers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qpu_device {
    struct qpu_platform platform;
    struct qpu_model model;
    enum qpu_launch launch;
    unsigned qpus;
    uint32_t clock_hz;
    bool enabled, lost;
    struct qpu_memory control; /* {uniforms, code} of each QPU, for the firmware */
    char error[QPU_REASON];
};

enum { PAGE = 4096 };
static const uint32_t BUS_ALIAS = 0xc0000000;

static int fail(struct qpu_device *device, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(struct qpu_device *device, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(device->error, sizeof device->error, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- opening, step by step; each says what its refusal means to a user */

static int check_model(struct qpu_device *device)
{
    device->model = qpu_model_read(device->platform);
    if (device->model.processor == QPU_NO_PI)
        return fail(device, QPU_HOST_ABSENT, "no VideoCore IV: this is not a Raspberry Pi 0, 1, 2 or 3");
    if (!qpu_processor_has_videocore4(device->model.processor))
        return fail(device, QPU_HOST_ABSENT, "no VideoCore IV: %s has another GPU, which OpenCL may reach",
                    device->model.name);
    if (!device->model.peripherals)
        return fail(device, QPU_HOST_ABSENT, "the device tree does not tell where the peripherals are (soc/ranges)");
    return QPU_HOST_OK;
}

static int check_mailbox(struct qpu_device *device)
{
    uint32_t revision;
    int status = qpu_mailbox_revision(device->platform, &revision);
    if (status == EACCES)
        return fail(device, QPU_HOST_ABSENT, "no permission to open /dev/vcio: run as root");
    if (status == ENOENT || status == ENXIO || status == ENODEV)
        return fail(device, QPU_HOST_ABSENT,
                    "/dev/vcio is absent: this kernel cannot speak to the firmware; "
                    "Raspberry Pi OS has one that can");
    if (status)
        return fail(device, QPU_HOST_ABSENT, "the firmware does not answer through /dev/vcio (%s)",
                    status > 0 ? strerror(status) : "call refused");
    if (!qpu_processor_has_videocore4(qpu_processor_of_revision(revision)))
        return fail(device, QPU_HOST_ABSENT, "no VideoCore IV: board revision %x has another GPU", revision);
    return QPU_HOST_OK;
}

static int enable(struct qpu_device *device)
{
    int status = qpu_mailbox_enable(device->platform, 1);
    if (status)
        return fail(device, QPU_HOST_ABSENT,
                    "the firmware refused the QPUs: the kernel's display driver owns them; "
                    "remove dtoverlay=vc4-kms-v3d from config.txt and restart");
    device->enabled = true;
    return QPU_HOST_OK;
}

static uint32_t get(const struct qpu_device *device, uint32_t offset)
{
    return device->platform.calls->read_register(device->platform.self, offset);
}

static int check_v3d(struct qpu_device *device)
{
    int status = device->platform.calls->open_registers(device->platform.self, device->model.peripherals + V3D_OFFSET,
                                                        V3D_BYTES);
    if (status == EACCES)
        return fail(device, QPU_HOST_ABSENT,
                    "no permission to use /dev/mem: run as root, and start a kernel with "
                    "strict /dev/mem with iomem=relaxed");
    if (status)
        return fail(device, QPU_HOST_ABSENT, "/dev/mem cannot be mapped (%s)", strerror(status));
    uint32_t ident = get(device, V3D_IDENT0);
    if (ident != V3D_IDENT0_VALUE)
        return fail(device, QPU_HOST_ABSENT, "the V3D does not answer (IDENT0 is 0x%08x)", ident);
    if (get(device, V3D_VPMBASE) < V3D_VPM_ROWS_64)
        return fail(device, QPU_HOST_ABSENT, "the firmware left too little VPM to user programs (%u of %d units)",
                    get(device, V3D_VPMBASE), V3D_VPM_ROWS_64);
    uint64_t reserved = get(device, V3D_SQRSV0) | (uint64_t)get(device, V3D_SQRSV1) << 32;
    for (unsigned i = 0; i < QPU_MOST_QPUS; i++)
        device->qpus += !(reserved >> 4 * i & 1); /* bit 0 of a QPU's four: not for user programs */
    return device->qpus ? QPU_HOST_OK : fail(device, QPU_HOST_ABSENT, "every QPU is reserved for graphics");
}

int qpu_device_open(struct qpu_device **out, struct qpu_platform platform, char reason[QPU_REASON])
{
    struct qpu_device *device = platform.self ? calloc(1, sizeof *device) : NULL;
    int status;
    *out = NULL;
    if (!device) {
        snprintf(reason, QPU_REASON, "out of memory");
        if (platform.self)
            platform.calls->close(platform.self);
        return QPU_HOST_MEMORY;
    }
    device->platform = platform;
    if ((status = check_model(device)) || (status = check_mailbox(device)) || (status = enable(device)) ||
        (status = check_v3d(device)) || (status = qpu_memory_alloc(device, &device->control, PAGE))) {
        memcpy(reason, device->error, QPU_REASON);
        qpu_device_close(device);
        return status == QPU_HOST_MEMORY ? QPU_HOST_ABSENT : status;
    }
    qpu_mailbox_clock_hz(platform, QPU_CLOCK_V3D, &device->clock_hz);
    *out = device;
    return QPU_HOST_OK;
}

/* ---- facts */

const char *qpu_device_error(const struct qpu_device *device)
{
    return device->error;
}

const char *qpu_device_model(const struct qpu_device *device)
{
    return device->model.name;
}

unsigned qpu_device_qpus(const struct qpu_device *device)
{
    return device->qpus;
}

uint32_t qpu_device_clock_hz(const struct qpu_device *device)
{
    return device->clock_hz;
}

void qpu_device_set_launch(struct qpu_device *device, enum qpu_launch launch)
{
    device->launch = launch;
}

/* ---- memory */

/* On the BCM2835 the ARM reads memory through the V3D's L2 cache too; on later ones it goes past it. */
static uint32_t memory_flags(const struct qpu_device *device)
{
    return device->model.processor == QPU_BCM2835 ? QPU_MEMORY_L2 : QPU_MEMORY_DIRECT;
}

int qpu_memory_alloc(struct qpu_device *device, struct qpu_memory *memory, size_t bytes)
{
    struct qpu_platform platform = device->platform;
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    *memory = (struct qpu_memory){0};
    if (!bytes || bytes > UINT32_MAX / 4)
        return fail(device, QPU_HOST_ARGUMENT, "%zu bytes of GPU memory: 1 to %u can be had", bytes, UINT32_MAX / 4);
    if (qpu_mailbox_allocate(platform, (uint32_t)whole, PAGE, memory_flags(device), &memory->handle))
        return fail(device, QPU_HOST_MEMORY, "no %zu bytes of GPU memory left: raise gpu_mem in config.txt", whole);
    if (qpu_mailbox_lock(platform, memory->handle, &memory->bus)) {
        qpu_mailbox_release(platform, memory->handle);
        memory->handle = 0;
        return fail(device, QPU_HOST_MEMORY, "the firmware did not lock %zu bytes of GPU memory", whole);
    }
    int status = platform.calls->map(platform.self, memory->bus & ~BUS_ALIAS, whole, &memory->host);
    if (status) {
        qpu_mailbox_unlock(platform, memory->handle);
        qpu_mailbox_release(platform, memory->handle);
        memory->handle = 0;
        return fail(device, QPU_HOST_MEMORY, "GPU memory cannot be mapped through /dev/mem (%s)%s", strerror(status),
                    status == EACCES ? ": run as root" : "");
    }
    memory->bytes = whole;
    return QPU_HOST_OK;
}

void qpu_memory_free(struct qpu_device *device, struct qpu_memory *memory)
{
    if (!memory->handle)
        return;
    device->platform.calls->unmap(device->platform.self, memory->host, memory->bytes);
    qpu_mailbox_unlock(device->platform, memory->handle);
    qpu_mailbox_release(device->platform, memory->handle);
    *memory = (struct qpu_memory){0};
}

/* ---- running */

int qpu_device_run(struct qpu_device *device, uint32_t code, const uint32_t *uniforms, unsigned qpus,
                   unsigned timeout_ms)
{
    if (!qpus || qpus > device->qpus)
        return fail(device, QPU_HOST_ARGUMENT, "%u QPUs asked for: there are %u", qpus, device->qpus);
    if (device->lost)
        return fail(device, QPU_HOST_LOST, "the QPUs are lost since a program did not end: only a restart helps");
    bool ended = device->launch == QPU_LAUNCH_MAILBOX
                     ? qpu_launch_by_mailbox(device->platform, &device->control, code, uniforms, qpus, timeout_ms)
                     : qpu_launch_by_registers(device->platform, code, uniforms, qpus, timeout_ms);
    if (ended)
        return QPU_HOST_OK;
    device->lost = true;
    return fail(device, QPU_HOST_LOST, "a QPU program did not end within %u ms", timeout_ms);
}

void qpu_device_close(struct qpu_device *device)
{
    if (!device)
        return;
    qpu_memory_free(device, &device->control);
    if (device->enabled)
        qpu_mailbox_enable(device->platform, 0);
    device->platform.calls->close(device->platform.self);
    free(device);
}
