/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Buffers and a queue of a device, and its clock around what is enqueued there. */
#include "core/plan/bench.h"
#include "core/base/description.h"
#include "core/device/buffer.h"
#include "core/device/device_group.h"
#include "core/device/devices.h"
#include "core/plan/executor.h"

#define CHUNK          16 /* of the device's copies */
#define TRANSFER_BYTES ((size_t)8 << 20)
#define MOST_REPEATS   (1U << 20)

/* Where work is done. */
struct place {
    penstock_queue *queue;
    penstock_buffer *in, *out;
};

/* What is `used` wraps what is its own, which the library does not know there: an application's memory and stream.
 * Where a device wraps none it is the same. */
struct penstock_bench {
    penstock_bench_work *work;
    void *user;
    struct place own, used;
    size_t in_bytes, out_bytes;
    penstock_bench **parts; /* of several devices: the same on each, and nothing of the above but the bytes */
    unsigned count;
};

static const struct penstock_backend *backend_of(const penstock_bench *bench)
{
    return bench->used.queue->slot.device->backend;
}

static int check_device(const struct penstock_device *device, bool on_host)
{
    if (!device->member_count && !device->backend->copy)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no clock of its own", device->name);
    if (!on_host && penstock__device_in_host_memory(device))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s computes in the host's memory", device->name);
    return PENSTOCK_OK;
}

/* More would overflow where it is rounded up. */
static int check_desc(const penstock_bench_desc *desc)
{
    if (!desc->work || !desc->in_bytes || !desc->out_bytes || desc->in_bytes > PTRDIFF_MAX ||
        desc->out_bytes > PTRDIFF_MAX)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a benchmark needs work, and bytes that it reads and writes");
    if (!desc->block || !desc->block_bytes || desc->block_bytes % CHUNK)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a benchmark's input repeats a multiple of %d bytes", CHUNK);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- life ------------------------ */

/* The first chunk comes from the host, the device doubles it until the buffer is full. */
static int fill_input(penstock_bench *bench, const penstock_bench_desc *desc)
{
    size_t whole = penstock__round_up(bench->in_bytes, CHUNK),
           have = desc->block_bytes < whole ? desc->block_bytes : whole;
    int status = penstock_buffer_upload(bench->used.in, desc->block, have, bench->used.queue);
    while (!status && have < whole) {
        size_t more = have < whole - have ? have : whole - have;
        struct penstock_device_copy copy = {.to = bench->used.in, .from = bench->used.in, .to_at = have, .bytes = more};
        status = backend_of(bench)->copy(&bench->used.queue->slot, &copy);
        have += more;
    }
    return status;
}

static int wrap_buffer(penstock_buffer **wrapped, penstock_buffer *own)
{
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    int status = penstock_buffer_get_info(own, &info);
    return status ? status
                  : penstock_buffer_wrap(wrapped, own->device->context, own->device->name, info.native, own->bytes);
}

static int wrap(struct place *used, const struct place *own)
{
    const struct penstock_device *device = own->in->device;
    int status;
    if (!device->backend->slot_adopt || !device->backend->buffer_adopt) {
        *used = *own;
        return PENSTOCK_OK;
    }
    if ((status =
             penstock_queue_wrap(&used->queue, device->context, device->name, penstock_queue_native(own->queue))) ||
        (status = wrap_buffer(&used->in, own->in)))
        return status;
    return wrap_buffer(&used->out, own->out);
}

/* The first note of a time comes before the queue is wrapped: it may be what makes it one that has times. */
static int make_place(penstock_bench *bench, struct penstock_device *device)
{
    struct place *own = &bench->own;
    size_t whole = penstock__round_up(bench->in_bytes, CHUNK), out = penstock__round_up(bench->out_bytes, CHUNK);
    int status;
    if ((status = penstock__queue_make(&own->queue, device)) ||
        (status = device->backend->stamp(&own->queue->slot, 0)) ||
        (status = penstock__buffer_make(&own->in, device, whole)) ||
        (status = penstock__buffer_make(&own->out, device, out > whole ? out : whole)))
        return status;
    return wrap(&bench->used, own);
}

static void free_place(const struct place *place)
{
    penstock_queue_free(place->queue);
    penstock_buffer_free(place->in);
    penstock_buffer_free(place->out);
}

static int run_once(const penstock_bench *bench)
{
    return bench->work(bench->user, bench->used.in, bench->used.out, bench->used.queue);
}

/* Work that the device has no kernel for fails at once. */
static int fill(penstock_bench *bench, struct penstock_device *device, const penstock_bench_desc *desc)
{
    int status;
    if ((status = make_place(bench, device)) || (status = fill_input(bench, desc)) || (status = run_once(bench)))
        return status;
    return penstock__queue_drain(bench->used.queue);
}

/* On each device that takes part. */
static int fill_parts(penstock_bench *bench, struct penstock_device *device, const penstock_bench_desc *desc)
{
    struct penstock_device *member;
    int status = PENSTOCK_OK;
    if (!(bench->parts = penstock__calloc(penstock__device_members(device), sizeof(penstock_bench *))))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; (member = penstock__device_member(device, i)) && !status; i++)
        if (!penstock__device_open(member) &&
            !(status = penstock__bench_new(&bench->parts[bench->count], member, desc, true)))
            bench->count++;
    return status;
}

int penstock__bench_new(penstock_bench **bench, struct penstock_device *device, const penstock_bench_desc *desc,
                        bool on_host)
{
    penstock_bench *new;
    int status;
    *bench = NULL;
    if ((status = check_device(device, on_host)) || (status = check_desc(desc)))
        return status;
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->work = desc->work;
    new->user = desc->user;
    new->in_bytes = desc->in_bytes;
    new->out_bytes = desc->out_bytes;
    if ((status = device->member_count ? fill_parts(new, device, desc) : fill(new, device, desc))) {
        penstock_bench_free(new);
        return status;
    }
    *bench = new;
    return PENSTOCK_OK;
}

int penstock_bench_new(penstock_bench **bench, penstock_context *context, const penstock_bench_desc *desc)
{
    struct penstock_device *device;
    penstock_bench_desc d;
    int status;
    if (!bench)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_new: no place for the object (NULL)");
    *bench = NULL;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_new: the context is NULL");
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_bench_desc")) ||
        (status = penstock__devices_open_named(&device, context, d.device)))
        return status;
    return penstock__bench_new(bench, device, &d, false);
}

void penstock_bench_free(penstock_bench *bench)
{
    if (!bench)
        return;
    for (unsigned i = 0; i < bench->count; i++)
        penstock_bench_free(bench->parts[i]);
    penstock__free(bench->parts);
    if (bench->used.queue != bench->own.queue)
        free_place(&bench->used);
    free_place(&bench->own);
    penstock__free(bench);
}

/* ---------------------------------------------------------------- runs ------------------------ */

/* Work between two notes of the time. */
static int timed(penstock_bench *bench, unsigned repeats, const struct penstock_device_copy *copy, double *seconds)
{
    const struct penstock_backend *backend = backend_of(bench);
    struct penstock_slot *slot = &bench->used.queue->slot;
    int status = backend->stamp(slot, 0);
    for (unsigned i = 0; i < repeats && !status; i++)
        status = copy ? backend->copy(slot, copy) : run_once(bench);
    if (status || (status = backend->stamp(slot, 1)) || (status = penstock__queue_drain(bench->used.queue)) ||
        (status = backend->elapsed(slot, 0, 1, seconds)))
        return status;
    *seconds /= repeats;
    return PENSTOCK_OK;
}

static int begin(penstock_bench *bench, const struct penstock_device_copy *copy)
{
    struct penstock_device_copy own;
    if (!copy)
        return run_once(bench);
    own = *copy;
    own.to = bench->used.out;
    own.from = bench->used.in;
    return backend_of(bench)->copy(&bench->used.queue->slot, &own);
}

/* Work of several devices at once has no clock but the host's: what one of their batches takes of the whole time. */
static int timed_at_once(penstock_bench *bench, unsigned repeats, const struct penstock_device_copy *copy,
                         double *seconds)
{
    const double start = penstock__now_s();
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < repeats * bench->count && !status; i++)
        status = begin(bench->parts[i % bench->count], copy);
    for (unsigned i = 0; i < bench->count; i++) {
        int failed = penstock__queue_drain(bench->parts[i]->used.queue);
        status = status ? status : failed;
    }
    *seconds = (penstock__now_s() - start) / repeats / bench->count;
    return status;
}

int penstock_bench_run(penstock_bench *bench, unsigned repeats, double *seconds)
{
    if (!bench || !seconds)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_run: no object, or place for seconds");
    if (repeats < 1 || repeats > MOST_REPEATS)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_run: %u repeats, not 1 .. %u", repeats,
                               MOST_REPEATS);
    return bench->parts ? timed_at_once(bench, repeats, NULL, seconds) : timed(bench, repeats, NULL, seconds);
}

int penstock_bench_copy(penstock_bench *bench, bool by_kernel, size_t *bytes, double *seconds)
{
    if (!bench || !bytes || !seconds)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_copy: an argument is NULL");
    struct penstock_device_copy copy = {.to = bench->used.out,
                                        .from = bench->used.in,
                                        .bytes = penstock__round_up(bench->in_bytes, CHUNK),
                                        .way = by_kernel ? PENSTOCK_COPY_KERNEL : PENSTOCK_COPY_OWN};
    *bytes = copy.bytes;
    return bench->parts ? timed_at_once(bench, 1, &copy, seconds) : timed(bench, 1, &copy, seconds);
}

int penstock_bench_read(penstock_bench *bench, void *out, size_t bytes)
{
    if (!bench || !out || !bytes || bytes > bench->out_bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_read: not within the output");
    return bench->parts ? penstock_bench_read(bench->parts[0], out, bytes)
                        : penstock_buffer_download(bench->used.out, out, bytes, bench->used.queue);
}

/* ---------------------------------------------------------------- the bus --------------------- */

/* One direction: a queue of its own, and host memory for a chunk; and both of a device. */
struct lane {
    penstock_queue *queue;
    void *host;
    size_t bytes, left;
};

struct bus {
    struct lane up, down;
};

static int open_lane(struct lane *lane, const penstock_bench *bench, size_t bytes)
{
    struct penstock_device *device = bench->used.queue->slot.device;
    lane->left = bytes;
    lane->bytes = bytes < TRANSFER_BYTES ? bytes : TRANSFER_BYTES;
    int status = penstock__host_block_new(&lane->host, device->context, device, lane->bytes);
    return status ? status : penstock__queue_make(&lane->queue, device);
}

static int open_bus(struct bus *bus, const penstock_bench *bench)
{
    int status = open_lane(&bus->up, bench, bench->in_bytes);
    if (status || (status = open_lane(&bus->down, bench, bench->out_bytes)))
        return status;
    return penstock_buffer_download(bench->used.in, bus->up.host, bus->up.bytes, bus->up.queue);
}

static void close_bus(struct bus *bus, const penstock_bench *bench)
{
    struct lane *lanes[] = {&bus->up, &bus->down};
    for (size_t i = 0; i < 2; i++) {
        penstock_queue_free(lanes[i]->queue);
        penstock_host_memory_free(bench->used.queue->slot.device->context, lanes[i]->host);
    }
}

/* A chunk of each direction, as far as there is one. */
static int queue_chunks(struct bus *bus, penstock_bench *bench)
{
    const struct penstock_backend *backend = backend_of(bench);
    struct lane *up = &bus->up, *down = &bus->down;
    size_t in = up->left < up->bytes ? up->left : up->bytes, out = down->left < down->bytes ? down->left : down->bytes;
    int status = in ? backend->upload(&up->queue->slot, bench->used.in, up->host, in) : PENSTOCK_OK;
    if (out && !status)
        status = backend->download(&down->queue->slot, down->host, bench->used.out, out);
    up->left -= in;
    down->left -= out;
    return status;
}

static int wait_for_bus(struct bus *bus)
{
    int status = penstock__queue_drain(bus->up.queue);
    return status ? status : penstock__queue_drain(bus->down.queue);
}

/* Both directions at once, of all devices: all chunks are queued, in turns. */
static int copy_all(struct bus *buses, penstock_bench *const *parts, unsigned count)
{
    int status = PENSTOCK_OK;
    for (bool more = true; more && !status;) {
        more = false;
        for (unsigned i = 0; i < count && !status; i++) {
            status = queue_chunks(&buses[i], parts[i]);
            more = more || buses[i].up.left || buses[i].down.left;
        }
    }
    for (unsigned i = 0; i < count && !status; i++)
        status = wait_for_bus(&buses[i]);
    return status;
}

int penstock_bench_transfer(penstock_bench *bench, double *seconds)
{
    if (!bench || !seconds)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_bench_transfer: an argument is NULL");
    penstock_bench *const *parts = bench->parts ? bench->parts : &bench;
    const unsigned count = bench->parts ? bench->count : 1;
    struct bus *buses = penstock__calloc(count, sizeof *buses);
    int status = buses ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    unsigned opened = 0;
    for (; opened < count && !status; opened++)
        status = open_bus(&buses[opened], parts[opened]);
    if (!status) {
        double start = penstock__now_s();
        status = copy_all(buses, parts, count);
        *seconds = (penstock__now_s() - start) / count;
    }
    for (unsigned i = 0; i < opened; i++)
        close_bus(&buses[i], parts[i]);
    penstock__free(buses);
    return status;
}
