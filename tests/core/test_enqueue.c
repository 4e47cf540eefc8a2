/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Plans enqueued with the samples on the device: the bits are those of penstock_plan_run(), queues are in order with
 * each other and with the application's own, threads share a plan, and what does not fit is an error in words. Usage:
 * test_enqueue [DEVICE]; without one, cpu, reference and trace.
 */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "enqueue_rig.h"
#include "foreign.h"
#include "refused.h"
#include "shim_calls.h"

#include <pthread.h>

enum { THREADS = 4 };

/* ---------------------------------------------------------------- the same bits --------------- */

/* Of a plan whose call takes so many bytes. Frees it. */
static void compare(penstock_context *context, const char *device, const char *what, penstock_plan *plan, size_t frames,
                    size_t in_bytes, size_t out_bytes)
{
    struct rig rig = {.plan = plan};
    memset(got, 1, sizeof got);
    memset(want, 0, sizeof want);
    CHECK(in_bytes <= MOST && out_bytes <= MOST, "%s: %zu and %zu bytes", what, in_bytes, out_bytes);
    CHECK_OK(penstock_plan_run(plan, in, want, frames));
    CHECK_OK(rig_open(&rig, context, device, in_bytes, out_bytes));
    CHECK_OK(penstock_plan_enqueue(plan, rig.in, rig.out, frames, rig.queue));
    CHECK_OK(penstock_buffer_download(rig.out, got, out_bytes, rig.queue));
    CHECK(!memcmp(got, want, out_bytes), "%s on %s: other bits", what, device);
    rig_close(&rig);
}

/* On OpenCL each third: PoCL takes a second to compile one. */
static void transform(penstock_context *context, const char *device, const char *what, penstock_fft_desc desc,
                      size_t frames)
{
    static uint64_t asked;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan = NULL;
    if (!test_drawn(asked++, strcmp(device, "opencl") ? 1 : 3))
        return;
    int status = penstock_fft_plan(&plan, context, &desc, device);
    if (status == PENSTOCK_ERR_UNSUPPORTED)
        return;
    CHECK(!status, "%s on %s: %s", what, device, penstock_error_text());
    CHECK_OK(penstock_plan_get_info(plan, &info));
    size_t average = desc.store.average ? desc.store.average : 1;
    size_t more = desc.load.spacing && desc.load.spacing < desc.n ? desc.n * 8 : 0;
    compare(context, device, what, plan, frames, frames * info.in_bytes + more, frames / average * info.out_bytes);
}

static void transforms(penstock_context *context, const char *device)
{
    static float window[256];
    CHECK_OK(penstock_window_fill(window, 256, "hann"));
#define WITH(what, ...) transform(context, device, what, PENSTOCK_FFT_DESC(__VA_ARGS__), FRAMES)
    WITH("complex", .n = N);
    WITH("reverse", .n = 100, .direction = PENSTOCK_REVERSE);
    WITH("averaged power of 16-bit samples", .n = 256, .load = {.format = PENSTOCK_CS16, .window = window},
         .store = {.output = PENSTOCK_OUTPUT_POWER, .average = 8});
    WITH("decibels, overlapping frames", .n = N, .load = {.spacing = N / 2},
         .store = {.output = PENSTOCK_OUTPUT_DECIBEL});
    WITH("planar", .n = N, .load = {.format = PENSTOCK_PLANAR});
    WITH("real", .n = N, .domain = PENSTOCK_REAL, .load = {.format = PENSTOCK_F32});
    WITH("halfs", .n = N, .load = {.format = PENSTOCK_CS16}, .store = {.half = true, .scale = 1e-4f});
    WITH("rows and columns", .n = 16 * 16, .rows = 16);
    WITH("prime", .n = 127);
#undef WITH
}

static void codes(penstock_context *context, const char *device)
{
    penstock_ldpc_desc ldpc = {.size = sizeof ldpc};
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan = NULL;
    if (!penstock_viterbi_plan(&plan, context, &PENSTOCK_VITERBI_DESC(.bits = 200), device)) {
        CHECK_OK(penstock_plan_get_info(plan, &info));
        compare(context, device, "viterbi", plan, FRAMES, FRAMES * info.in_bytes, FRAMES * info.out_bytes);
    }
    CHECK_OK(penstock_ldpc_code(&ldpc, "wifi:648:1/2"));
    if (!penstock_ldpc_plan(&plan, context, &ldpc, device)) {
        CHECK_OK(penstock_plan_get_info(plan, &info));
        compare(context, device, "ldpc", plan, FRAMES, FRAMES * info.in_bytes, FRAMES * info.out_bytes);
    }
}

/* Of the first frame, by its definition. */
static double error_of_first(const penstock_cf32 *values)
{
    const penstock_cf32 *samples = (const penstock_cf32 *)(const void *)in;
    double error = 0, power = 0;
    for (int k = 0; k < N; k++) {
        double re = 0, im = 0;
        for (int j = 0; j < N; j++) {
            double angle = -2 * acos(-1) * (double)(j * k % N) / N, c = cos(angle), s = sin(angle);
            re += (double)samples[j].re * c - (double)samples[j].im * s;
            im += (double)samples[j].re * s + (double)samples[j].im * c;
        }
        error += pow((double)values[k].re - re, 2) + pow((double)values[k].im - im, 2);
        power += re * re + im * im;
    }
    return sqrt(error / power);
}

/* Parts by slices, in place, and nothing to do. */
static void chunks(penstock_context *context, const char *device)
{
    struct rig rig = {0};
    penstock_buffer *part[2] = {NULL, NULL};
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(penstock_plan_run(rig.plan, in, want, FRAMES));
    CHECK_OK(rig_open(&rig, context, device, BYTES, BYTES));
    for (size_t at = 0; at < BYTES; at += BYTES / 4) {
        CHECK_OK(penstock_buffer_slice(&part[0], rig.in, at, BYTES / 4));
        CHECK_OK(penstock_buffer_slice(&part[1], rig.out, at, BYTES / 4));
        CHECK_OK(penstock_plan_enqueue(rig.plan, part[0], part[1], FRAMES / 4, rig.queue));
        CHECK_OK(penstock_queue_wait(rig.queue));
        penstock_buffer_free(part[0]);
        penstock_buffer_free(part[1]);
    }
    CHECK_OK(penstock_buffer_download(rig.out, got, BYTES, rig.queue));
    CHECK(!memcmp(got, want, BYTES), "%s: slices", device);
    CHECK(error_of_first((const penstock_cf32 *)(const void *)got) < 1e-6, "%s: no transform", device);
    CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, rig.in, FRAMES, rig.queue));
    CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, 0, rig.queue));
    CHECK_OK(penstock_buffer_download(rig.in, got, BYTES, rig.queue));
    CHECK(!memcmp(got, want, BYTES), "%s: in place", device);
    rig_close(&rig);
}

/* ---------------------------------------------------------------- order ----------------------- */

/* Forth in one queue and back in another, which follows; only the last is waited for. */
static void order(penstock_context *context, const char *device)
{
    struct rig rig = {0};
    penstock_plan *back = NULL;
    penstock_queue *other = NULL;
    penstock_buffer *end = NULL;
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(penstock_fft_plan(&back, context,
                               &PENSTOCK_FFT_DESC(.n = N, .direction = PENSTOCK_REVERSE, .store = {.scale = 1.0f / N}),
                               device));
    CHECK_OK(rig_open(&rig, context, device, BYTES, BYTES));
    CHECK_OK(penstock_queue_new(&other, context, device));
    CHECK_OK(penstock_buffer_new(&end, context, device, BYTES));
    CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, FRAMES, rig.queue));
    CHECK_OK(penstock_queue_follow(other, rig.queue));
    CHECK_OK(penstock_queue_follow(other, other));
    CHECK_OK(penstock_plan_enqueue(back, rig.out, end, FRAMES, other));
    CHECK_OK(penstock_buffer_download(end, got, BYTES, other));
    for (size_t i = 0; i < BYTES / sizeof(float); i++) {
        float a, b;
        memcpy(&a, got + i * sizeof a, sizeof a);
        memcpy(&b, in + i * sizeof b, sizeof b);
        CHECK(fabsf(a - b) < 1e-5f, "%s: value %zu is %g, not %g", device, i, (double)a, (double)b);
    }
    penstock_queue_free(other);
    penstock_buffer_free(end);
    penstock_plan_free(back);
    rig_close(&rig);
}

/* The application writes, the plan transforms, the application reads: in its queue, without a wait. */
static void beside_application(penstock_context *context, const char *device)
{
    struct foreign foreign;
    struct rig rig = {0};
    if (!foreign_open(&foreign, context, device, BYTES))
        return;
    if (foreign.context)
        CHECK_OK(penstock_device_share(context, device, foreign.context));
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(penstock_plan_run(rig.plan, in, want, FRAMES));
    CHECK_OK(penstock_queue_wrap(&rig.queue, context, device, foreign.queue));
    CHECK_OK(penstock_buffer_wrap(&rig.in, context, device, foreign.in, BYTES));
    CHECK_OK(penstock_buffer_wrap(&rig.out, context, device, foreign.out, BYTES));
    foreign_write(&foreign, in);
    foreign_copy(&foreign, foreign.in, foreign.staging);
    foreign_enter(&foreign);
    long pushes = shim.pushes ? shim.pushes() : 0, blocks = penstock__memory_calls();
    CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, FRAMES, rig.queue));
    CHECK_EQ(shim.pushes ? shim.pushes() : 0, pushes);
    CHECK_EQ(penstock__memory_calls(), blocks);
    foreign_leave(&foreign);
    foreign_copy(&foreign, foreign.staging, foreign.out);
    foreign_read(&foreign, got);
    CHECK(!memcmp(got, want, BYTES), "%s: other bits in the application's queue", device);
    rig_close(&rig);
    foreign_close(&foreign);
}

/* ---------------------------------------------------------------- threads --------------------- */

struct task {
    penstock_context *context;
    const char *device;
    penstock_plan *plan;
    char got[BYTES];
    int status;
};

static void *work(void *argument)
{
    struct task *task = argument;
    struct rig rig = {0};
    task->status = rig_open(&rig, task->context, task->device, BYTES, BYTES);
    for (int i = 0; i < 50 && !task->status; i++)
        task->status = penstock_plan_enqueue(task->plan, rig.in, rig.out, FRAMES, rig.queue);
    if (!task->status)
        task->status = penstock_buffer_download(rig.out, task->got, BYTES, rig.queue);
    rig_close(&rig);
    return NULL;
}

static void threads(penstock_context *context, const char *device)
{
    static struct task tasks[THREADS];
    pthread_t ids[THREADS];
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(penstock_plan_run(plan, in, want, FRAMES));
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){.context = context, .device = device, .plan = plan};
        CHECK_EQ(pthread_create(&ids[i], NULL, work, &tasks[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        CHECK_EQ(tasks[i].status, 0);
        CHECK(!memcmp(tasks[i].got, want, BYTES), "%s: thread %d has other bits", device, i);
    }
    penstock_plan_free(plan);
}

/* ---------------------------------------------------------------- what does not fit ----------- */

static void refuse(penstock_context *context, const char *device, bool plain)
{
    struct rig rig = {0};
    const char *second = strcmp(device, "cpu") ? "cpu" : "trace";
    penstock_queue *elsewhere = NULL;
    penstock_buffer *far = NULL, *part = NULL, *short_one = NULL;
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(rig_open(&rig, context, device, BYTES, BYTES));
    CHECK_OK(penstock_queue_new(&elsewhere, context, second));
    CHECK_OK(penstock_buffer_new(&far, context, second, BYTES));
    CHECK_OK(penstock_buffer_new(&short_one, context, device, BYTES - 1));
    CHECK_OK(penstock_buffer_slice(&part, rig.in, BYTES / 2, BYTES / 2));
#define REFUSE(from, to, frames, in_queue, words) \
    CHECK_REFUSED(penstock_plan_enqueue(rig.plan, from, to, frames, in_queue), PENSTOCK_ERR_ARGUMENT, words)
    REFUSE(far, rig.out, FRAMES, rig.queue, "the input is on");
    REFUSE(rig.in, far, FRAMES, rig.queue, "the output is on");
    REFUSE(rig.in, rig.out, FRAMES, elsewhere, "its queue on");
    REFUSE(rig.in, short_one, FRAMES, rig.queue, "the output has 16383 bytes, not 16384");
    REFUSE(short_one, rig.out, FRAMES, rig.queue, "the input has 16383 bytes, not 16384");
    REFUSE(rig.in, part, FRAMES / 2 + 1, rig.queue, "the output has 8192 bytes");
    REFUSE(rig.in, rig.out, SIZE_MAX / 8, rig.queue, "frames");
    REFUSE(NULL, rig.out, FRAMES, rig.queue, "the input is NULL");
    REFUSE(rig.in, NULL, FRAMES, rig.queue, "the output is NULL");
    REFUSE(rig.in, rig.out, FRAMES, NULL, "the queue is NULL");
    CHECK_REFUSED(penstock_plan_enqueue(NULL, rig.in, rig.out, FRAMES, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "plan is NULL");
    CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, part, FRAMES / 2, rig.queue));
    CHECK_OK(penstock_queue_wait(rig.queue));
    penstock_buffer_free(part);
    CHECK_OK(penstock_buffer_slice(&part, rig.in, BYTES / 4, BYTES / 2));
    REFUSE(rig.in, part, FRAMES / 2, rig.queue, "overlap");
    penstock_buffer_free(part);
    REFUSE(rig.in, part, FRAMES / 2, rig.queue, "the output was freed");
    penstock_buffer_free(far);
    REFUSE(far, rig.out, FRAMES, rig.queue, "the input was freed");
    penstock_plan_free(rig.plan);
    rig.plan = NULL;
    penstock_fft_desc averaged =
        PENSTOCK_FFT_DESC(.n = N, .store = {.output = PENSTOCK_OUTPUT_POWER, .average = 4}, .load = {.spacing = N / 2});
    if (!plain && !penstock_fft_plan(&rig.plan, context, &averaged, device)) {
        REFUSE(rig.in, rig.out, 3, rig.queue, "averages over 4");
        REFUSE(rig.in, rig.in, 4, rig.queue, "overlap");
    }
#undef REFUSE
    penstock_buffer_free(short_one);
    penstock_queue_free(elsewhere);
    rig_close(&rig);
}

/* ---------------------------------------------------------------- devices --------------------- */

/* The driver for tests knows plain transforms alone. */
static void check(const char *device, bool plain)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2)));
    beside_application(context, device);
    if (!plain) {
        transforms(context, device);
        codes(context, device);
    }
    chunks(context, device);
    order(context, device);
    threads(context, device);
    refuse(context, device, plain);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), 0);
}

int main(int count, char **arguments)
{
    static const char *const devices[] = {"cpu", "trace", "reference"};
    rig_fill_in();
    if (count > 1 && !is_there(arguments[1]))
        return test_skip(penstock_error_text());
    bool plain = shim_load("PENSTOCK_CUDA_LIBRARY");
    if (count > 1)
        check(arguments[1], plain);
    for (size_t i = 0; i < sizeof devices / sizeof *devices && count == 1; i++)
        if (is_there(devices[i]))
            check(devices[i], false);
    CHECK(!shim.broken_rule || !shim.broken_rule(), "%s", shim.broken_rule());
    CHECK(!penstock__trace_violations(), "contract broken: %s", penstock__trace_violation_text());
    return test_finish();
}
