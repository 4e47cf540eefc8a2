/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Buffers: what goes in comes out, slices are where they are said to be and outlive their parent, and what does not fit
 * is an error in words. Usage: test_buffer [DEVICE]; without one, cpu, reference and trace.
 */
#include "core/base/memory.h"
#include "driver_shim.h"
#include "failure_sweep.h"
#include "foreign.h"
#include "refused.h"
#include "shim_calls.h"

enum { BYTES = 16384, ROUNDS = 10000 };

static unsigned char in[BYTES], got[BYTES];

static size_t alignment_of(const penstock_buffer *buffer)
{
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    CHECK_OK(penstock_buffer_get_info(buffer, &info));
    return info.alignment;
}

static void go_and_come(penstock_context *context, const char *device)
{
    penstock_queue *queue = NULL;
    penstock_buffer *whole = NULL, *half = NULL, *quarter = NULL;
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    CHECK_OK(penstock_queue_new(&queue, context, device));
    CHECK_OK(penstock_buffer_new(&whole, context, device, BYTES));
    CHECK_OK(penstock_buffer_get_info(whole, &info));
    CHECK_EQ(info.bytes, BYTES);
    CHECK(!strncmp(info.device, device, strlen(device)), "%s", info.device);
    CHECK(info.alignment >= 16 && BYTES / 4 % info.alignment == 0, "%zu", info.alignment);
    CHECK_OK(penstock_buffer_upload(whole, in, BYTES, queue));
    CHECK_OK(penstock_buffer_slice(&half, whole, BYTES / 2, BYTES / 2));
    CHECK_OK(penstock_buffer_slice(&quarter, half, BYTES / 4, BYTES / 4)); /* of a slice */
    CHECK_OK(penstock_buffer_download(half, got, BYTES / 2, queue));
    CHECK(!memcmp(got, in + BYTES / 2, BYTES / 2), "%s: a slice of half", device);
    penstock_buffer_free(whole);
    penstock_buffer_free(half);
    memset(got, 0, sizeof got);
    CHECK_OK(penstock_buffer_download(quarter, got, BYTES / 4, queue)); /* the memory lives with the last part */
    CHECK(!memcmp(got, in + 3 * (BYTES / 4), BYTES / 4), "%s: a slice of a slice", device);
    CHECK_OK(penstock_buffer_upload(quarter, in, 20, queue)); /* only so many */
    CHECK_OK(penstock_buffer_download(quarter, got, BYTES / 4, queue));
    CHECK(!memcmp(got, in, 20) && !memcmp(got + 20, in + 3 * (BYTES / 4) + 20, BYTES / 4 - 20), "%s: 20 bytes", device);
    penstock_buffer_free(quarter);
    penstock_queue_free(queue);
}

/* ---------------------------------------------------------------- what does not fit ----------- */

static void refuse(penstock_context *context, const char *device)
{
    penstock_queue *queue = NULL, *other = NULL;
    penstock_buffer *buffer = NULL, *made = NULL, *elsewhere = NULL;
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    const char *second = strcmp(device, "cpu") ? "cpu" : "trace";
    CHECK_OK(penstock_queue_new(&queue, context, device));
    CHECK_OK(penstock_queue_new(&other, context, second));
    CHECK_OK(penstock_buffer_new(&buffer, context, device, 1000));
    CHECK_OK(penstock_buffer_new(&elsewhere, context, second, 1000));
    CHECK_REFUSED(penstock_buffer_new(&made, context, "auto", 1000), PENSTOCK_ERR_ARGUMENT, "named");
    CHECK_REFUSED(penstock_buffer_new(&made, context, NULL, 1000), PENSTOCK_ERR_ARGUMENT, "named");
    CHECK_REFUSED(penstock_buffer_new(&made, context, "prefer:cpu", 1000), PENSTOCK_ERR_ARGUMENT, "named");
    CHECK_REFUSED(penstock_buffer_new(&made, context, device, 0), PENSTOCK_ERR_ARGUMENT, "no bytes");
    CHECK_REFUSED(penstock_buffer_new(&made, context, "nowhere", 1), PENSTOCK_ERR_NO_DEVICE, "nowhere");
    CHECK_REFUSED(penstock_buffer_new(&made, context, "null", 1), PENSTOCK_ERR_UNSUPPORTED, "memory");
    CHECK(!made, "a buffer after an error");
    CHECK_REFUSED(penstock_buffer_slice(&made, buffer, 3, 16), PENSTOCK_ERR_ARGUMENT, "multiple");
    CHECK_REFUSED(penstock_buffer_slice(&made, buffer, alignment_of(buffer), 1000), PENSTOCK_ERR_ARGUMENT, "of 1000");
    CHECK_REFUSED(penstock_buffer_slice(&made, buffer, SIZE_MAX - 15, 16), PENSTOCK_ERR_ARGUMENT, "of 1000");
    CHECK_REFUSED(penstock_buffer_upload(buffer, in, 1001, queue), PENSTOCK_ERR_ARGUMENT, "1000 bytes, not 1001");
    CHECK_REFUSED(penstock_buffer_download(buffer, got, 1001, queue), PENSTOCK_ERR_ARGUMENT, "1000 bytes, not 1001");
    CHECK_REFUSED(penstock_buffer_upload(elsewhere, in, 8, queue), PENSTOCK_ERR_ARGUMENT, second);
    CHECK_REFUSED(penstock_buffer_upload(buffer, NULL, 8, queue), PENSTOCK_ERR_ARGUMENT, "NULL");
    CHECK_REFUSED(penstock_buffer_upload(buffer, in, 8, NULL), PENSTOCK_ERR_ARGUMENT, "queue is NULL");
    CHECK_REFUSED(penstock_queue_follow(queue, other), PENSTOCK_ERR_ARGUMENT, "follow");
    penstock_buffer_free(buffer);
    CHECK_REFUSED(penstock_buffer_upload(buffer, in, 8, queue), PENSTOCK_ERR_ARGUMENT, "freed");
    CHECK_REFUSED(penstock_buffer_slice(&made, buffer, 0, 8), PENSTOCK_ERR_ARGUMENT, "freed");
    CHECK_REFUSED(penstock_buffer_get_info(buffer, &info), PENSTOCK_ERR_ARGUMENT, "freed");
    penstock_buffer_free(buffer); /* once more is nothing */
    penstock_buffer_free(NULL);
    penstock_buffer_free(elsewhere);
    penstock_queue_free(queue);
    penstock_queue_free(other);
    penstock_queue_free(NULL);
    CHECK_EQ(penstock_queue_native(NULL), 0);
}

/* ---------------------------------------------------------------- the caller's ---------------- */

static void wrap_host(penstock_context *context, const char *device)
{
    static _Alignas(64) unsigned char memory[BYTES];
    penstock_queue *queue = NULL;
    penstock_buffer *buffer = NULL, *part = NULL;
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    CHECK_REFUSED(penstock_queue_wrap(&queue, context, device, 1), PENSTOCK_ERR_UNSUPPORTED, "no queues");
    CHECK(!queue, "a queue after an error");
    if (!strcmp(device, "trace")) {
        CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, (uintptr_t)memory, BYTES),
                      PENSTOCK_ERR_UNSUPPORTED, "does not wrap");
        return;
    }
    CHECK_OK(penstock_buffer_wrap(&buffer, context, device, (uintptr_t)memory, BYTES));
    CHECK_OK(penstock_buffer_slice(&part, buffer, 4096, 100));
    CHECK_OK(penstock_buffer_get_info(part, &info));
    CHECK(info.native == (uintptr_t)memory + 4096, "a part is where it is");
    penstock_buffer_free(buffer);
    memory[4096] = 77;
    CHECK_OK(penstock_queue_new(&queue, context, device));
    CHECK_OK(penstock_buffer_download(part, got, 1, queue));
    CHECK_EQ(got[0], 77);
    penstock_buffer_free(part);
    penstock_queue_free(queue);
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, (uintptr_t)memory + 4, 64), PENSTOCK_ERR_ARGUMENT,
                  "multiple of 16");
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, 0, 64), PENSTOCK_ERR_ARGUMENT, "NULL");
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, 4096, SIZE_MAX), PENSTOCK_ERR_ARGUMENT, "so many");
}

static void wrap_cuda(penstock_context *context, const char *device, const struct foreign *foreign)
{
    penstock_buffer *buffer = NULL;
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, foreign->in + 8, 64), PENSTOCK_ERR_ARGUMENT,
                  "multiple of 16");
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, (uintptr_t)in & ~(uintptr_t)15, 64),
                  PENSTOCK_ERR_ARGUMENT, "no memory of a GPU");
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, foreign->in, SIZE_MAX >> 8), PENSTOCK_ERR_ARGUMENT,
                  "no memory of a GPU");
    if (getenv("PENSTOCK_CUDA_LIBRARY")) {
        penstock_queue *queue;
        setenv("PENSTOCK_SHIM_ORDINAL", "3", 1);
        CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, foreign->in, 64), PENSTOCK_ERR_ARGUMENT, "cuda:3");
        unsetenv("PENSTOCK_SHIM_ORDINAL");
        CHECK_REFUSED(penstock_queue_wrap(&queue, context, device, SHIM_FOREIGN_STREAM), PENSTOCK_ERR_ARGUMENT,
                      "another context");
    }
    CHECK_REFUSED(penstock_device_share(context, device, 16), PENSTOCK_ERR_UNSUPPORTED, "no object");
}

static void wrap_opencl(penstock_context *context, const char *device, const struct foreign *foreign)
{
    penstock_context *apart = NULL;
    penstock_buffer *buffer = NULL;
    penstock_queue *queue = NULL;
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, context, device, foreign->in, BYTES + 1), PENSTOCK_ERR_ARGUMENT,
                  "not 16385");
    CHECK_REFUSED(penstock_device_share(context, device, foreign->context), PENSTOCK_ERR_STATE, "in use");
    CHECK_OK(penstock_context_new(&apart, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""))); /* whose context is its own */
    CHECK_REFUSED(penstock_buffer_wrap(&buffer, apart, device, foreign->in, BYTES), PENSTOCK_ERR_ARGUMENT,
                  "another cl_context");
    CHECK_REFUSED(penstock_queue_wrap(&queue, apart, device, foreign->queue), PENSTOCK_ERR_ARGUMENT,
                  "another cl_context");
    penstock_context_free(apart);
}

static void wrap(penstock_context *context, const char *device)
{
    struct foreign foreign;
    penstock_buffer *buffer = NULL, *part = NULL;
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    penstock_queue *queue = NULL;
    if (!foreign_open(&foreign, context, device, BYTES)) {
        wrap_host(context, device);
        return;
    }
    if (foreign.context)
        CHECK_OK(penstock_device_share(context, device, foreign.context));
    CHECK_OK(penstock_queue_wrap(&queue, context, device, foreign.queue));
    CHECK_EQ(penstock_queue_native(queue), foreign.queue);
    CHECK_OK(penstock_buffer_wrap(&buffer, context, device, foreign.staging, BYTES));
    CHECK_OK(penstock_buffer_get_info(buffer, &info));
    CHECK_EQ(info.native, foreign.staging);
    CHECK_OK(penstock_buffer_slice(&part, buffer, BYTES / 2, BYTES / 2));
    foreign_write(&foreign, in);
    CHECK_OK(penstock_buffer_download(part, got, BYTES / 2, queue));
    CHECK(!memcmp(got, in + BYTES / 2, BYTES / 2), "%s: what the application wrote", device);
    CHECK_OK(penstock_buffer_upload(part, in, BYTES / 2, queue));
    foreign_read(&foreign, got);
    CHECK(!memcmp(got, in, BYTES / 2) && !memcmp(got + BYTES / 2, in, BYTES / 2), "%s: what it reads", device);
    foreign.cuda ? wrap_cuda(context, device, &foreign) : wrap_opencl(context, device, &foreign);
    penstock_buffer_free(buffer);
    penstock_buffer_free(part);
    penstock_queue_free(queue);
    foreign_close(&foreign);
}

/* ---------------------------------------------------------------- leaks ----------------------- */

static void go_round(penstock_context *context, const char *device)
{
    penstock_buffer *last = NULL;
    long live = 0;
    for (int i = 0; i < ROUNDS; i++) {
        penstock_buffer *whole = NULL, *part = NULL;
        CHECK_OK(penstock_buffer_new(&whole, context, device, 4096));
        CHECK_OK(penstock_buffer_slice(&part, whole, 0, 100));
        penstock_buffer_free(i % 2 ? whole : part);
        penstock_buffer_free(i % 2 ? part : whole);
        if (i == 100)
            live = penstock__memory_live();
        last = whole;
    }
    CHECK_EQ(penstock__memory_live(), live);
    CHECK_REFUSED(penstock_buffer_slice(&last, last, 0, 100), PENSTOCK_ERR_ARGUMENT, "freed");
}

static void check(const char *device)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    wrap(context, device);
    go_and_come(context, device);
    refuse(context, device);
    go_round(context, device);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), 0);
}

int main(int count, char **arguments)
{
    static const char *const devices[] = {"cpu", "reference", "trace"};
    uint64_t seed = 9;
    test_random_bytes(in, BYTES, &seed);
    if (count > 1) {
        if (!is_there(arguments[1]))
            return test_skip(penstock_error_text());
        check(arguments[1]);
        if (shim_load("PENSTOCK_CUDA_LIBRARY")) {
            CHECK_EQ(shim.live(), 0);
            CHECK(!shim.broken_rule(), "%s", shim.broken_rule());
        }
        return test_finish();
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!is_there(devices[i]))
            continue;
        check(devices[i]);
    }
    CHECK(!penstock__trace_violations(), "contract broken: %s", penstock__trace_violation_text());
    return test_finish();
}
