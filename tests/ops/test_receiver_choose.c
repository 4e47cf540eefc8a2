/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The device of a Wi-Fi receiver at "auto": whole receivers are timed, once, and the receiver works where that says.
 * Either of two is chosen where the other one takes longer. Time is the test's own: a batch takes as long on each of
 * two devices as it says.
 */
#include "backends/trace/trace.h"
#include "candidates.h"
#include "folder.h"
#include "own_clock.h"
#include "told_choice.h"

#include <penstock/penstock.h>

extern const struct penstock_backend penstock__cpu_backend, penstock__trace_backend;

enum { LENGTH = 300, ROOM = 20000 };

static _Atomic long long cpu_ns, trace_ns; /* a batch */
static struct penstock_backend timed_cpu, timed_trace;
static penstock_cf32 samples[ROOM];
static uint8_t psdu[LENGTH];

static int trace_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    now_ns += trace_ns;
    return penstock__trace_backend.enqueue(slot, plan, job);
}

static void cpu_run_gathered(const struct penstock_plan_state *plan, const void *in, size_t sample_count,
                             const struct penstock_gather *gather, size_t count, void *out, void *scratch)
{
    now_ns += cpu_ns;
    penstock__cpu_backend.run_gathered(plan, in, sample_count, gather, count, out, scratch);
}

/* A context whose candidates are the processor and the trace device, which computes by it. */
static penstock_context *new_context(unsigned threads)
{
    penstock_context *context = NULL;
    timed_trace = penstock__trace_backend;
    timed_trace.flags &= ~(unsigned)PENSTOCK_BACKEND_NOT_AUTOMATIC;
    timed_trace.enqueue = trace_enqueue;
    timed_cpu = penstock__cpu_backend;
    timed_cpu.run_gathered = cpu_run_gathered;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads, .cache_dir = test_folder)));
    test_candidates(context, &timed_cpu, &timed_trace);
    CHECK_OK(penstock_context_tell_choices(context, tell_choice, NULL));
    return context;
}

static size_t make_frame(void)
{
    const penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 24);
    const size_t count = penstock_wifi_frame_samples(&desc, LENGTH), at = 500;
    for (unsigned i = 0; i < LENGTH - 4; i++)
        psdu[i] = (uint8_t)(i * 37 % 251);
    const uint32_t fcs = penstock_wifi_fcs(psdu, LENGTH - 4);
    for (unsigned i = 0; i < 4; i++)
        psdu[LENGTH - 4 + i] = (uint8_t)(fcs >> 8 * i);
    CHECK(count && at + count + 500 <= ROOM, "%zu samples", count);
    CHECK_OK(penstock_wifi_modulate(&desc, psdu, LENGTH, samples + at));
    return at + count + 500;
}

/* A receiver at "auto": where it is, and that it receives the frame. */
static void receive(penstock_context *context, size_t count, bool points, const char *wanted)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    penstock_stream *stream = NULL;
    size_t taken = 0;
    CHECK_OK(penstock_wifi_receiver_open(&stream, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = points), "auto"));
    CHECK(!wanted || !strcmp(penstock_stream_device(stream), wanted), "it is on %s, not %s",
          penstock_stream_device(stream), wanted);
    CHECK_OK(penstock_stream_push(stream, samples, count, &taken));
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_EQ(penstock_wifi_receiver_pull(stream, &frame), 1);
    CHECK(frame.length == LENGTH && !memcmp(frame.psdu, psdu, LENGTH), "another frame came");
    CHECK_EQ(penstock_wifi_receiver_pull(stream, &frame), 0);
    penstock_stream_free(stream);
}

static void slow_device(unsigned threads, size_t count)
{
    penstock_context *context = new_context(threads);
    cpu_ns = 1000000; /* long enough for few rounds to be timed */
    trace_ns = 100000000;
    told.choices = 0;
    receive(context, count, false, "cpu");
    CHECK(told.choices == 1 && told.candidates == 2 && told.timed == 2 && !told.remembered,
          "%u choices, %u candidates, %u timed", told.choices, told.candidates, told.timed);
    CHECK(!strncmp(told.what, "Wi-Fi receiver: ", 16), "what was chosen for is \"%s\"", told.what);
    CHECK(told.trace_s > told.cpu_s && told.cpu_s > 0, "%g and %g s", told.trace_s, told.cpu_s);
    receive(context, count, false, "cpu");
    CHECK(told.choices == 2 && told.remembered, "the second time it was timed again");
    receive(context, count, true, NULL);
    CHECK(told.choices == 3 && strncmp(told.what, "Wi-Fi receiver: ", 16),
          "with points it was chosen for \"%s\", which is all that a device does then", told.what);
    penstock_context_free(context);
}

static void slow_processor(unsigned threads, size_t count)
{
    penstock_context *context = new_context(threads); /* with a folder of its own, which has no answer yet */
    cpu_ns = 100000000;
    trace_ns = 10000000;
    receive(context, count, false, "trace");
    CHECK(told.timed == 2 && !told.remembered && told.trace_s < told.cpu_s, "%u timed, %g and %g s", told.timed,
          told.trace_s, told.cpu_s);
    penstock_context_free(context);
}

int main(void)
{
    static const unsigned threads[] = {0, 16}; /* of many, a receiver that is ahead of the radio waits for more */
    const size_t count = make_frame();
    for (size_t i = 0; i < 2; i++)
        for (int slow = 0; slow < 2; slow++) {
            if (!test_make_folder())
                return test_skip("no folder can be made");
            (slow ? slow_processor : slow_device)(threads[i], count);
            test_remove_folder();
        }
    return test_finish();
}
