/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Buffers: made, wrapped, cut into slices, and freed with the last of these. */
#include "core/device/buffer.h"
#include "core/base/description.h"
#include "core/device/background.h"
#include "core/device/devices.h"

#define KEPT      64 /* handles that were freed and are still known */
#define ALIGNMENT 16 /* what kernels and processors read at once */

/* The library only reads what is given as const; what it counts of it is its own. */
static struct penstock__held *held_of(const penstock_buffer *buffer)
{
    return (struct penstock__held *)(uintptr_t)buffer;
}

static bool in_host_memory(const struct penstock_device *device)
{
    return device->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY;
}

static size_t alignment_of(const struct penstock_device *device)
{
    return device->alignment > ALIGNMENT ? device->alignment : ALIGNMENT;
}

static int bad(const char *text)
{
    return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s", text);
}

/* ---------------------------------------------------------------- life ------------------------ */

static void free_parts(struct penstock__held *held)
{
    if (held)
        penstock__free(held->buffer.priv);
    penstock__free(held);
}

/* Without memory yet. */
static int new_handle(struct penstock__held **made, struct penstock_device *device, size_t bytes)
{
    struct penstock__held *new = penstock__calloc(1, sizeof *new);
    if (!new)
        return PENSTOCK_ERR_MEMORY;
    if (device->backend->buffer_bytes && !(new->buffer.priv = penstock__calloc(1, device->backend->buffer_bytes))) {
        penstock__free(new);
        return PENSTOCK_ERR_MEMORY;
    }
    new->buffer.device = device;
    new->buffer.bytes = bytes;
    new->root = new;
    new->users = 1;
    *made = new;
    return PENSTOCK_OK;
}

/* The end of each function that makes one. */
static int finish(penstock_buffer **buffer, struct penstock__held *new, int status)
{
    if (status) {
        free_parts(new);
        return status;
    }
    new->live = true;
    *buffer = &new->buffer;
    return PENSTOCK_OK;
}

int penstock__buffer_make(penstock_buffer **buffer, struct penstock_device *device, size_t bytes)
{
    struct penstock__held *new = NULL;
    int status = new_handle(&new, device, bytes);
    penstock__background_await_freed(device);
    return status ? status : finish(buffer, new, device->backend->buffer_alloc(&new->buffer, bytes));
}

int penstock_buffer_new(penstock_buffer **buffer, penstock_context *context, const char *device, size_t bytes)
{
    struct penstock_device *found;
    int status;
    if (!buffer)
        return bad("penstock_buffer_new: no place for the buffer (NULL)");
    *buffer = NULL;
    if (!context || !bytes)
        return bad("penstock_buffer_new: the context is NULL, or there are no bytes");
    status = penstock__device_open_named(&found, context, device);
    return status ? status : penstock__buffer_make(buffer, found, bytes);
}

/* ---------------------------------------------------------------- wrapping -------------------- */

static int wrap_host(struct penstock__held *new, uint64_t native)
{
    new->buffer.wrapped = true;
    return new->buffer.device->backend->buffer_wrap(&new->buffer, (void *)(uintptr_t)native, new->buffer.bytes);
}

static int adopt(struct penstock__held *new, uint64_t native)
{
    const struct penstock_device *device = new->buffer.device;
    if ((in_host_memory(device) || device->backend->flags & PENSTOCK_BACKEND_ADDRESSES) && native % ALIGNMENT)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: memory at %#llx, which is no multiple of %d", device->name,
                               (unsigned long long)native, ALIGNMENT);
    if (in_host_memory(device))
        return wrap_host(new, native);
    if (!device->backend->buffer_adopt)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not wrap memory", device->name);
    return device->backend->buffer_adopt(&new->buffer, native);
}

int penstock_buffer_wrap(penstock_buffer **buffer, penstock_context *context, const char *device, uint64_t native,
                         size_t bytes)
{
    struct penstock__held *new = NULL;
    struct penstock_device *found;
    int status;
    if (!buffer)
        return bad("penstock_buffer_wrap: no place for the buffer (NULL)");
    *buffer = NULL;
    if (!context || !bytes || !native)
        return bad("penstock_buffer_wrap: the context or the memory is NULL, or there are no bytes");
    if (native > UINT64_MAX - bytes || native > UINTPTR_MAX - bytes)
        return bad("penstock_buffer_wrap: so many bytes do not lie there");
    if ((status = penstock__device_open_named(&found, context, device)) || (status = new_handle(&new, found, bytes)))
        return status;
    return finish(buffer, new, adopt(new, native));
}

static int cut(struct penstock__held *new, const struct penstock__held *root, size_t at)
{
    const struct penstock_device *device = root->buffer.device;
    new->at = at;
    if (in_host_memory(device))
        return wrap_host(new, (uintptr_t)root->buffer.host + at);
    if (!device->backend->buffer_part)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not cut memory", device->name);
    return device->backend->buffer_part(&new->buffer, &root->buffer, at);
}

static int check_live(const penstock_buffer *buffer, const char *what)
{
    if (!buffer)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the %s is NULL", what);
    if (!held_of(buffer)->live)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the %s was freed", what);
    return PENSTOCK_OK;
}

int penstock_buffer_slice(penstock_buffer **buffer, const penstock_buffer *of, size_t at, size_t bytes)
{
    struct penstock__held *new = NULL;
    int status;
    if (!buffer)
        return bad("penstock_buffer_slice: no place for the buffer (NULL)");
    *buffer = NULL;
    if ((status = check_live(of, "buffer")))
        return status;
    if (!bytes || at > of->bytes || bytes > of->bytes - at)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a slice of %zu bytes from byte %zu on, of a buffer of %zu",
                               bytes, at, of->bytes);
    if (at % alignment_of(of->device))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "a slice on %s begins at a multiple of %zu bytes, not at byte %zu", of->device->name,
                               alignment_of(of->device), at);
    if ((status = new_handle(&new, of->device, bytes)))
        return status;
    struct penstock__held *root = held_of(of)->root;
    if ((status = finish(buffer, new, cut(new, root, held_of(of)->at + at))))
        return status;
    pthread_mutex_lock(&of->device->context->host_lock);
    new->root = root;
    root->users++;
    pthread_mutex_unlock(&of->device->context->host_lock);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- freeing --------------------- */

/* Keeps the handle, and gives the one that has been kept for longest if there are too many. */
static struct penstock__held *retire(penstock_context *context, struct penstock__held *held)
{
    struct penstock__held **end = &context->freed_buffers, *oldest = context->freed_buffers;
    for (; *end; end = &(*end)->following)
        ;
    *end = held;
    held->following = NULL;
    if (++context->freed_count <= KEPT)
        return NULL;
    context->freed_buffers = oldest->following;
    context->freed_count--;
    return oldest;
}

/* With the lock: one user of a root fewer. Whether it was the last. */
static bool leave(struct penstock__held *root)
{
    return !--root->users;
}

void penstock_buffer_free(penstock_buffer *buffer)
{
    struct penstock__held *held = held_of(buffer), *gone[2] = {NULL, NULL};
    if (!buffer || !held->live)
        return;
    penstock_context *context = buffer->device->context;
    struct penstock__held *root = held->root;
    held->live = false;
    if (held != root)
        buffer->device->backend->buffer_free(buffer);
    pthread_mutex_lock(&context->host_lock);
    bool last = leave(root);
    pthread_mutex_unlock(&context->host_lock);
    if (last)
        root->buffer.device->backend->buffer_free(&root->buffer);
    pthread_mutex_lock(&context->host_lock);
    if (held != root)
        gone[0] = retire(context, held);
    if (last)
        gone[1] = retire(context, root);
    pthread_mutex_unlock(&context->host_lock);
    free_parts(gone[0]);
    free_parts(gone[1]);
}

void penstock__buffers_free(penstock_context *context)
{
    while (context->freed_buffers) {
        struct penstock__held *held = context->freed_buffers;
        context->freed_buffers = held->following;
        free_parts(held);
    }
}

/* ---------------------------------------------------------------- use ------------------------- */

int penstock__buffer_check(const penstock_buffer *buffer, const struct penstock_device *device, const char *what,
                           size_t bytes)
{
    int status = check_live(buffer, what);
    if (status)
        return status;
    if (buffer->device != device)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the %s is on %s, not on %s", what, buffer->device->name,
                               device->name);
    if (buffer->bytes < bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the %s has %zu bytes, not %zu", what, buffer->bytes, bytes);
    return PENSTOCK_OK;
}

static uint64_t native_of(const penstock_buffer *buffer)
{
    if (buffer->host)
        return (uintptr_t)buffer->host;
    return buffer->device->backend->buffer_native ? buffer->device->backend->buffer_native(buffer) : 0;
}

/* From where on to count: the address where there is one, else the place within the root, which then must be one. */
static bool comparable(const penstock_buffer *a, const penstock_buffer *b, uint64_t *first, uint64_t *second)
{
    const struct penstock__held *one = held_of(a), *other = held_of(b);
    bool addresses = a->host || a->device->backend->flags & PENSTOCK_BACKEND_ADDRESSES;
    *first = addresses ? native_of(a) : one->at;
    *second = addresses ? native_of(b) : other->at;
    if (addresses || one->root == other->root)
        return true;
    uint64_t native = native_of(&one->root->buffer);
    return native && native == native_of(&other->root->buffer);
}

bool penstock__buffer_same(const penstock_buffer *a, const penstock_buffer *b)
{
    uint64_t first, second;
    return comparable(a, b, &first, &second) && first == second;
}

bool penstock__buffer_overlap(const penstock_buffer *a, size_t a_bytes, const penstock_buffer *b, size_t b_bytes)
{
    uint64_t first, second;
    return comparable(a, b, &first, &second) && first < second + b_bytes && second < first + a_bytes;
}

int penstock_buffer_get_info(const penstock_buffer *buffer, penstock_buffer_info *info)
{
    penstock_buffer_info known = PENSTOCK_BUFFER_INFO;
    int status = check_live(buffer, "buffer");
    if (status)
        return status;
    known.device = buffer->device->name;
    known.bytes = buffer->bytes;
    known.alignment = alignment_of(buffer->device);
    known.native = native_of(buffer);
    return penstock__description_write(info, &known, sizeof known, "penstock_buffer_info");
}

/* ---------------------------------------------------------------- copies ---------------------- */

static int check_copy(const penstock_buffer *buffer, const void *host, size_t bytes, const penstock_queue *queue)
{
    int status = penstock__queue_check(queue);
    if (status || (status = penstock__buffer_check(buffer, queue->slot.device, "buffer", bytes)))
        return status;
    return host || !bytes ? PENSTOCK_OK : bad("a copy's memory is NULL");
}

int penstock__buffer_send(penstock_buffer *buffer, const void *from, size_t bytes, penstock_queue *queue)
{
    int status = PENSTOCK_OK;
    if (buffer->host)
        penstock__copy(buffer->device->context, buffer->host, from, bytes);
    else if ((status = buffer->device->backend->upload(&queue->slot, buffer, from, bytes)))
        penstock__queue_note(queue, status);
    return status;
}

int penstock__buffer_fetch(const penstock_buffer *buffer, void *to, size_t bytes, penstock_queue *queue)
{
    int status;
    if (buffer->host) {
        if (!(status = penstock__queue_drain(queue)))
            penstock__copy(buffer->device->context, to, buffer->host, bytes);
    } else if ((status = buffer->device->backend->download(&queue->slot, to, &held_of(buffer)->buffer, bytes))) {
        penstock__queue_note(queue, status);
    }
    return status;
}

int penstock_buffer_upload(penstock_buffer *buffer, const void *from, size_t bytes, penstock_queue *queue)
{
    int status = check_copy(buffer, from, bytes, queue);
    if (status || !bytes)
        return status;
    status = penstock__buffer_send(buffer, from, bytes, queue);
    return status || buffer->host ? status : penstock__queue_drain(queue);
}

int penstock_buffer_download(const penstock_buffer *buffer, void *to, size_t bytes, penstock_queue *queue)
{
    int status = check_copy(buffer, to, bytes, queue);
    if (status || !bytes)
        return status;
    status = penstock__buffer_fetch(buffer, to, bytes, queue);
    return status || buffer->host ? status : penstock__queue_drain(queue);
}

int penstock__buffer_holding(penstock_buffer **buffer, const void *values, size_t bytes, penstock_queue *queue)
{
    penstock_buffer *made;
    int status = penstock__buffer_make(&made, queue->slot.device, bytes);
    if (status)
        return status;
    if ((status = penstock_buffer_upload(made, values, bytes, queue))) {
        penstock_buffer_free(made);
        return status;
    }
    *buffer = made;
    return PENSTOCK_OK;
}
