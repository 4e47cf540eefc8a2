/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM demodulation goes over from the CPU to a device that is ready late, between two batches: what was sent is what
 * comes, before it to the CPU's bits and from it on to the device's, whatever is asked for. With a device that fails
 * then, or is lost later. And so do a stream of symbols and a Wi-Fi receiver, of which the frames are those that were
 * sent.
 *
 * What comes late is a demodulator that the test makes, so that it decides when. Arguments: a device, and "kernel":
 * where one kernel of it does it all.
 */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "ofdm_synthesis.h"
#include "ops/ofdm/ofdm_demodulator.h"
#include "ops/ofdm/ofdm_stream.h"
#include "rx/receiver.h"
#include "wifi_stream.h"

#define GUARD_S 120
#define BATCH   7 /* symbols */

static const struct synthesis_grid grid = {.name = "wifi",
                                           .n = 64,
                                           .guard = 16,
                                           .window_offset = 4,
                                           .edge = 26,
                                           .pilot_step = 14,
                                           .pilot_first = -21,
                                           .rows = 5,
                                           .symbols = 90,
                                           .frames = 5};

static const char *kind;   /* "trace" */
static char preferred[64]; /* "prefer:trace" */
static enum ofdm_way way;
static penstock_context *context;
static unsigned warnings;
static struct synthesis truth;

struct outcome {
    penstock_cf32 *points;
    int8_t *soft;
};

static struct outcome here, there, got; /* the CPU's, the device's own, and of what goes over */

static void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

/* ---------------------------------------------------------------- what comes late ------------- */

struct late {
    int (*make)(penstock_ofdm **ofdm);
    int failure; /* instead */
};

static int make_late(void **made, void *owner, const char *device)
{
    const struct late *what = owner;
    penstock_ofdm *ofdm = NULL;
    (void)device;
    int status = what->failure ? penstock__error(what->failure, "as the test wants it") : what->make(&ofdm);
    *made = ofdm;
    return status;
}

static void free_late(void *ofdm)
{
    penstock_ofdm_free(ofdm);
}

/* From now on there is a device to go over to, or one that has failed. */
static void send_late(penstock_ofdm *ofdm, struct late *what)
{
    static const struct penstock__maker maker = {.make = make_late, .free = free_late};
    CHECK_OK(penstock__async_build_new(&ofdm->build, &maker, what, preferred, 0));
    CHECK(penstock__async_build_done(ofdm->build, GUARD_S), "nothing came within %d s", GUARD_S);
}

static bool is_late(const char *device)
{
    return !strncmp(device, kind, strlen(kind));
}

/* ---------------------------------------------------------------- batches --------------------- */

static penstock_ofdm *new_ofdm(const char *device)
{
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);
    penstock_ofdm *ofdm = NULL;
    CHECK_OK(penstock__ofdm_new(&ofdm, context, &desc, device, way, NULL));
    return ofdm;
}

static int make_again(penstock_ofdm **ofdm)
{
    penstock_ofdm_desc desc = synthesis_desc(&truth, PENSTOCK_TRACK_PILOTS);
    return penstock__ofdm_new(ofdm, context, &desc, preferred, way, NULL);
}

static void make_outcome(struct outcome *outcome)
{
    outcome->points = calloc(truth.symbol_count * truth.grid.carrier_count, sizeof *outcome->points);
    outcome->soft = calloc(truth.symbol_count * truth.grid.carrier_count, PENSTOCK_QAM1024);
}

static void free_outcome(struct outcome *outcome)
{
    free(outcome->points);
    free(outcome->soft);
}

/* Symbols from `first` on to `end` - 1 in batches; with points too, or soft bits alone. */
static void run(penstock_ofdm *ofdm, size_t first, size_t end, bool points)
{
    size_t carriers = truth.grid.carrier_count;
    for (size_t at = first; at < end; at += BATCH) {
        penstock_ofdm_batch batch = synthesis_batch(&truth);
        batch.symbols = truth.symbols + at;
        batch.symbol_count = end - at < BATCH ? end - at : BATCH;
        CHECK_OK(penstock_ofdm_run(ofdm, &batch,
                                   &PENSTOCK_OFDM_RESULT(.points = points ? got.points + at * carriers : NULL,
                                                         .soft = got.soft + at * carriers * PENSTOCK_QAM1024)));
    }
}

/* Rows as `outcome` has them. */
static void check_rows(const char *what, const struct outcome *outcome, size_t first, size_t end, bool points)
{
    size_t carriers = truth.grid.carrier_count, from = first * carriers, count = (end - first) * carriers;
    CHECK(
        !memcmp(got.soft + from * PENSTOCK_QAM1024, outcome->soft + from * PENSTOCK_QAM1024, count * PENSTOCK_QAM1024),
        "%s: other soft bits in rows %zu .. %zu", what, first, end);
    CHECK(!points || !memcmp(got.points + from, outcome->points + from, count * sizeof *got.points),
          "%s: other points in rows %zu .. %zu", what, first, end);
}

/* All rows against what was sent. */
static void check_sent(const char *what, const struct outcome *outcome)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < truth.symbol_count * truth.grid.carrier_count; i++) {
        const double *sent = truth.sent[i];
        error += pow((double)outcome->points[i].re - sent[0], 2) + pow((double)outcome->points[i].im - sent[1], 2);
        power += sent[0] * sent[0] + sent[1] * sent[1];
    }
    CHECK(sqrt(error / power) < 2e-6, "%s: relative error of the points %.3g", what, sqrt(error / power));
}

/* What one device makes of it all, as in `got`, for later. */
static void make_own(struct outcome *outcome, const char *device, bool points)
{
    penstock_ofdm *ofdm = new_ofdm(device);
    make_outcome(outcome);
    run(ofdm, 0, truth.symbol_count, points);
    if (points)
        check_sent(device, &got);
    memcpy(outcome->points, got.points, truth.symbol_count * truth.grid.carrier_count * sizeof *got.points);
    memcpy(outcome->soft, got.soft, truth.symbol_count * truth.grid.carrier_count * PENSTOCK_QAM1024);
    penstock_ofdm_free(ofdm);
}

/* The device comes before symbol `at`. */
static void goes_over(size_t at, bool points)
{
    struct late late = {.make = make_again};
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_ofdm *ofdm = new_ofdm("cpu");
    run(ofdm, 0, at, points);
    CHECK_OK(penstock_ofdm_get_info(ofdm, &info));
    CHECK(!info.awaited && !info.cpu_while_compiling && !strcmp(info.device, "cpu"), "%zu: it begins on %s", at,
          info.device);
    send_late(ofdm, &late);
    CHECK_OK(penstock_ofdm_get_info(ofdm, &info));
    CHECK(info.awaited && !strcmp(info.awaited, kind), "%zu: it waits for %s", at, info.awaited ? info.awaited : "");
    run(ofdm, at, truth.symbol_count, points);
    CHECK_OK(penstock_ofdm_get_info(ofdm, &info));
    CHECK(is_late(info.device) && is_late(penstock_ofdm_device(ofdm)) && !info.awaited && !info.cpu_while_compiling,
          "%zu: it ends on %s", at, info.device);
    CHECK((penstock__ofdm_fused_blocks(ofdm) > 0) == (way == OFDM_ONE_KERNEL), "%zu: kernels for all were %s", at,
          way == OFDM_ONE_KERNEL ? "not used" : "used");
    check_rows("before", &here, 0, at, points);
    check_rows("after", &there, at, truth.symbol_count, points);
    penstock_ofdm_free(ofdm);
}

static void batches(bool points)
{
    make_own(&here, "cpu", points);
    make_own(&there, kind, points);
    for (size_t at = 0; at < truth.symbol_count; at += BATCH)
        goes_over(at, points);
    free_outcome(&here);
    free_outcome(&there);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* One line of the log, and the CPU goes on with its bits. Or nobody ever takes what has come. */
static void fails(void)
{
    struct late late = {.make = make_again, .failure = PENSTOCK_ERR_DEVICE};
    penstock_ofdm *ofdm = new_ofdm("cpu");
    warnings = 0;
    run(ofdm, 0, 3 * BATCH, true);
    send_late(ofdm, &late);
    run(ofdm, 3 * BATCH, truth.symbol_count, true);
    CHECK(warnings == 1 && !ofdm->build && !strcmp(penstock_ofdm_device(ofdm), "cpu"), "%u warnings, on %s", warnings,
          penstock_ofdm_device(ofdm));
    check_sent("the CPU that goes on", &got);
    late.failure = PENSTOCK_OK;
    send_late(ofdm, &late);
    penstock_ofdm_free(ofdm);
}

/* The device is lost after it has come: every call from one on. */
static void lost(void)
{
    struct late late = {.make = make_again};
    long moved = 0, k = 0;
    for (bool reached = true; reached && k < 3000; k++) {
        penstock_ofdm *ofdm = new_ofdm("cpu");
        run(ofdm, 0, BATCH, true);
        send_late(ofdm, &late);
        long before = penstock__trace_calls();
        penstock__trace_fail_from(k);
        run(ofdm, BATCH, truth.symbol_count, true);
        reached = penstock__trace_calls() - before > k;
        penstock__trace_fail_at(-1);
        moved += penstock__ofdm_fallbacks(ofdm) > 0;
        check_sent("a lost device", &got);
        penstock_ofdm_free(ofdm);
    }
    CHECK(moved > 10 && k < 3000, "%ld of %ld runs moved to the CPU", moved, k);
}

/* ---------------------------------------------------------------- streams --------------------- */

static struct ofdm_stream *of_stream(penstock_stream *stream)
{
    return (struct ofdm_stream *)(void *)stream;
}

static struct penstock__rx *of_receiver(penstock_stream *receiver)
{
    return (struct penstock__rx *)(void *)receiver;
}

static int make_stream(penstock_stream **stream, const char *device)
{
    return penstock_ofdm_stream_open(
        stream, context,
        &PENSTOCK_OFDM_STREAM_DESC(.n = truth.grid.n, .guard = truth.grid.guard, .carriers = truth.carriers,
                                   .carrier_count = truth.grid.carrier_count, .continuous = true),
        device);
}

/* Another stream's demodulator. */
static int make_for_stream(penstock_ofdm **ofdm)
{
    penstock_stream *other;
    int status = make_stream(&other, preferred);
    if (status)
        return status;
    *ofdm = of_stream(other)->data;
    of_stream(other)->data = NULL;
    penstock_stream_free(other);
    return PENSTOCK_OK;
}

/* Samples `first` .. `end` - 1; carriers of `*symbols` symbols so far. */
static void run_stream(penstock_stream *stream, size_t first, size_t end, penstock_cf32 *points, size_t *symbols)
{
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    size_t carriers = truth.grid.carrier_count, chunk;
    for (size_t at = first; at < end; at += chunk) {
        chunk = end - at < 500 ? end - at : 500;
        CHECK_OK(penstock_stream_push(stream, truth.samples + at, chunk, NULL));
        while (penstock_ofdm_stream_pull(stream, &result) == 1) {
            memcpy(points + *symbols * carriers, result.points, result.symbols * carriers * sizeof *points);
            *symbols += result.symbols;
        }
    }
}

static void streams(void)
{
    struct late late = {.make = make_for_stream};
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    size_t all = truth.sample_count / (truth.grid.n + truth.grid.guard), made = 0, other_made = 0;
    size_t count = all * truth.grid.carrier_count;
    penstock_cf32 *points = calloc(count, sizeof *points), *others = calloc(count, sizeof *others);
    penstock_stream *stream = NULL;
    CHECK_OK(make_stream(&stream, "cpu"));
    run_stream(stream, 0, truth.sample_count, points, &made);
    CHECK_OK(penstock_stream_reset(stream));
    run_stream(stream, 0, truth.sample_count / 2, others, &other_made);
    send_late(of_stream(stream)->data, &late);
    run_stream(stream, truth.sample_count / 2, truth.sample_count, others, &other_made);
    CHECK(is_late(penstock_stream_device(stream)), "a stream ends on %s", penstock_stream_device(stream));
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(made == all && other_made == all && stats.out == all && !stats.cpu_while_compiling,
          "%zu and %zu symbols of %zu", made, other_made, all);
    double error = 0, power = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)(points[i].re - others[i].re), 2) + pow((double)(points[i].im - others[i].im), 2);
        power += pow((double)points[i].re, 2) + pow((double)points[i].im, 2);
    }
    CHECK(power > 1 && sqrt(error / power) < 1e-6, "a stream's carriers differ by %g", sqrt(error / power));
    penstock_stream_free(stream);
    free(points);
    free(others);
}

/* ---------------------------------------------------------------- Wi-Fi ----------------------- */

/* Another receiver's demodulator. */
static int make_for_receiver(penstock_ofdm **ofdm)
{
    penstock_stream *other;
    int status = penstock_wifi_receiver_open(&other, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), preferred);
    if (status)
        return status;
    *ofdm = of_receiver(other)->ofdm;
    of_receiver(other)->ofdm = NULL;
    penstock_stream_free(other);
    return PENSTOCK_OK;
}

/* In the middle of a frame. */
static void receivers(void)
{
    static struct wifi_frames frames;
    struct late late = {.make = make_for_receiver};
    struct wifi_stream *stream = wifi_make_stream(PENSTOCK_WIFI, 16, 200, 9);
    for (size_t k = 0; k < stream->frames; k += 5) {
        size_t at = stream->start[k] + 700;
        penstock_stream *receiver = wifi_make_receiver(context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu");
        frames.count = 0;
        CHECK_OK(penstock_stream_push(receiver, stream->samples, at, NULL));
        wifi_frames_pull(&frames, receiver);
        send_late(of_receiver(receiver)->ofdm, &late);
        CHECK_OK(penstock_stream_push(receiver, stream->samples + at, stream->count - at, NULL));
        CHECK_OK(penstock_stream_finish(receiver));
        wifi_frames_pull(&frames, receiver);
        wifi_check_stream(stream, &frames, "a receiver that goes over");
        CHECK(is_late(penstock_stream_device(receiver)), "a receiver ends on %s", penstock_stream_device(receiver));
        wifi_frames_free(&frames);
        penstock_stream_free(receiver);
    }
    wifi_stream_free(stream);
}

int main(int count, char **arguments)
{
    penstock_plan *plan = NULL;
    long live = penstock__memory_live();
    kind = count > 1 ? arguments[1] : "trace";
    way = count > 2 ? OFDM_ONE_KERNEL : OFDM_TRANSFORMS;
    snprintf(preferred, sizeof preferred, "prefer:%s", kind);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_lines, .threads = 2)));
    if (penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 64), kind) == PENSTOCK_ERR_NO_DEVICE) {
        int skipped = test_skip(penstock_error_text());
        penstock_context_free(context); /* which waits for drivers that are being loaded */
        return skipped;
    }
    penstock_plan_free(plan);
    synthesis_make(&truth, &grid, 3);
    make_outcome(&got);
    batches(true);
    batches(false);
    fails();
    if (!strcmp(kind, "trace"))
        lost();
    streams();
    receivers();
    free_outcome(&got);
    synthesis_free(&truth);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
