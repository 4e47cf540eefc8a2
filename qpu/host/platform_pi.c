/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* /dev/vcio for the mailbox, /dev/mem for memory and registers, /proc/device-tree. Not run on hardware: docs/qpu.md. */

#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The size of a pointer is part of the number: 0xC0046400 on 32 bits, 0xC0086400 on 64. */
#define VCIO_PROPERTY _IOWR(100, 0, char *)

struct pi {
    int mailbox, memory; /* file descriptors, -1: not opened */
    void *mapped;
    size_t mapped_bytes;
    volatile uint32_t *registers;
};

static int open_once(int *descriptor, const char *path)
{
    if (*descriptor < 0)
        *descriptor = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
    return *descriptor < 0 ? errno : 0;
}

static int pi_mailbox(void *self, uint32_t *message)
{
    struct pi *pi = self;
    int status = open_once(&pi->mailbox, "/dev/vcio");
    if (status)
        return status == EPERM ? EACCES : status;
    return ioctl(pi->mailbox, VCIO_PROPERTY, message) < 0 ? errno : 0;
}

static int pi_map(void *self, uint32_t physical, size_t bytes, void **memory)
{
    struct pi *pi = self;
    size_t inside = physical % (size_t)sysconf(_SC_PAGESIZE);
    int status = open_once(&pi->memory, "/dev/mem");
    if (status)
        return status == EPERM ? EACCES : status;
    void *mapped =
        mmap(NULL, bytes + inside, PROT_READ | PROT_WRITE, MAP_SHARED, pi->memory, (off_t)(physical - inside));
    if (mapped == MAP_FAILED)
        return errno == EPERM ? EACCES : errno;
    *memory = (char *)mapped + inside;
    return 0;
}

static void pi_unmap(void *self, void *memory, size_t bytes)
{
    size_t inside = (uintptr_t)memory % (size_t)sysconf(_SC_PAGESIZE);
    (void)self;
    munmap((char *)memory - inside, bytes + inside);
}

static int pi_open_registers(void *self, uint32_t physical, size_t bytes)
{
    struct pi *pi = self;
    if (pi->mapped)
        return 0;
    int status = pi_map(pi, physical, bytes, &pi->mapped);
    if (!status) {
        pi->mapped_bytes = bytes;
        pi->registers = pi->mapped;
    }
    return status;
}

/* Memory and registers are different devices to the ARM: only a barrier keeps their order. */
static uint32_t pi_read_register(void *self, uint32_t offset)
{
    struct pi *pi = self;
    uint32_t value = pi->registers[offset / sizeof value];
    __sync_synchronize();
    return value;
}

static void pi_write_register(void *self, uint32_t offset, uint32_t value)
{
    struct pi *pi = self;
    __sync_synchronize();
    pi->registers[offset / sizeof value] = value;
}

static size_t pi_device_tree(void *self, const char *property, void *content, size_t capacity)
{
    char path[128];
    size_t bytes;
    (void)self;
    snprintf(path, sizeof path, "/proc/device-tree/%s", property);
    FILE *file = fopen(path, "rbe");
    if (!file)
        return 0;
    bytes = fread(content, 1, capacity, file);
    fclose(file);
    return bytes;
}

static uint64_t pi_clock_us(void *self)
{
    struct timespec now;
    (void)self;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void pi_pause(void *self, unsigned us)
{
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    (void)self;
    nanosleep(&time, NULL);
}

static void pi_close(void *self)
{
    struct pi *pi = self;
    if (pi->mapped)
        pi_unmap(pi, pi->mapped, pi->mapped_bytes);
    if (pi->memory >= 0)
        close(pi->memory);
    if (pi->mailbox >= 0)
        close(pi->mailbox);
    free(pi);
}

static const struct qpu_platform_calls PI = {
    .name = "Raspberry Pi",
    .mailbox = pi_mailbox,
    .map = pi_map,
    .unmap = pi_unmap,
    .open_registers = pi_open_registers,
    .read_register = pi_read_register,
    .write_register = pi_write_register,
    .device_tree = pi_device_tree,
    .clock_us = pi_clock_us,
    .pause = pi_pause,
    .close = pi_close,
};

struct qpu_platform qpu_platform_pi(void)
{
    struct pi *pi = calloc(1, sizeof *pi);
    if (pi)
        pi->mailbox = pi->memory = -1;
    return (struct qpu_platform){.calls = &PI, .self = pi};
}
