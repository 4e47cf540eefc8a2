/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of an OFDM stream that are on their way at once, on a device that takes a chunk of symbols in one kernel:
 * the same bits as symbol by symbol, near to those of the CPU, from pushes and from lent memory, and whether symbols
 * are listed for the device or follow from the first one; and a device that is lost with some of them on their way.
 * Argument: opencl or cuda.
 */
#include "device.h"
#include "ops/ofdm/ofdm_stream.h"
#include "shim_calls.h"

enum { N = 64, GUARD = 16, STEP = N + GUARD, CARRIERS = 48, PILOTS = 4, BITS = 4, TRAINING = 2 };
enum { CHUNK = 6554, SYMBOLS = 4 * CHUNK + 700, SAMPLES = SYMBOLS * STEP + 30, FRAME = 300 };

static penstock_cf32 samples[SAMPLES], training[N];
static const penstock_cf32 pilot_values[2 * PILOTS] = {{1, 0}, {1, 0}, {1, 0}, {-1, 0},
                                                       {1, 0}, {1, 0}, {1, 0}, {-1, 0}};
static int32_t carriers[CARRIERS], pilots[PILOTS] = {-21, -7, 7, 21};

/* The last two are alike but for a second row of pilots, the same as the first, for which symbols are listed. */
enum signal { FRAMES, CONTINUOUS, TRACKED, LISTED };
static const char *const names[] = {"frames", "continuous", "tracked", "listed"};

struct made {
    size_t symbols, frames;
    unsigned most; /* batches on their way at once */
    penstock_cf32 points[SYMBOLS * CARRIERS];
    int8_t soft[SYMBOLS * CARRIERS * BITS];
};
static struct made want, ahead, small;

static void make_signal(void)
{
    uint64_t seed = 8;
    size_t count = 0;
    for (int32_t k = -26; k <= 26; k++)
        if (k && k % 14 != 7 && k % 14 != -7)
            carriers[count++] = k;
    for (int k = -26; k <= 26; k++)
        if (k)
            training[k & 63].re = k % 3 ? 1 : -1;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
}

static int new_stream(penstock_stream **stream, penstock_context *context, enum signal signal, const char *device)
{
    const bool frames = signal == FRAMES;
    penstock_ofdm_stream_desc desc =
        PENSTOCK_OFDM_STREAM_DESC(.n = N, .guard = GUARD, .carriers = carriers, .carrier_count = CARRIERS,
                                  .constellation = PENSTOCK_QAM16, .continuous = !frames);
    if (signal != CONTINUOUS) {
        desc.pilots = pilots;
        desc.pilot_count = PILOTS;
        desc.pilot_values = pilot_values;
        desc.pilot_rows = signal == LISTED ? 2 : 1;
        desc.track = true;
    }
    if (frames) {
        desc.training = training;
        desc.training_symbols = TRAINING;
    }
    return penstock_ofdm_stream_open(stream, context, &desc, device);
}

/* All frames lie closer together than their samples, but for a gap here and there. */
static int announce(penstock_stream *stream)
{
    int status = PENSTOCK_OK;
    for (uint64_t at = 5, f = 0; at + (TRAINING + FRAME) * STEP <= SAMPLES && !status; f++) {
        status = penstock_ofdm_stream_frame(stream, at, FRAME, 1e-3 * (double)(f % 5));
        at += (TRAINING + FRAME) * STEP + (f % 7 ? 0 : 333);
    }
    return status;
}

static int pull(penstock_stream *stream, struct made *made)
{
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    int status;
    while ((status = penstock_ofdm_stream_pull(stream, &result)) == 1) {
        memcpy(made->points + made->symbols * CARRIERS, result.points,
               result.symbols * CARRIERS * sizeof *result.points);
        memcpy(made->soft + made->symbols * CARRIERS * BITS, result.soft, result.symbols * CARRIERS * BITS);
        made->symbols += result.symbols;
        made->frames++;
    }
    return status;
}

static int push(penstock_stream *stream, bool lent, const penstock_cf32 *from, size_t count, size_t *taken)
{
    void *to;
    size_t room;
    *taken = count;
    if (!lent)
        return penstock_stream_push(stream, from, count, NULL);
    int status = penstock_stream_acquire(stream, &to, &room);
    *taken = count < room ? count : room;
    if (!status)
        memcpy(to, from, *taken * sizeof *from);
    return status ? status : penstock_stream_commit(stream, *taken);
}

/* Chunks of `most`; pulled after each, or, with `late`, once the stream is finished, before which `halfway` is called
 * once. */
static int run(penstock_stream *stream, struct made *made, enum signal signal, bool lent, size_t most, bool late,
               void (*halfway)(void))
{
    const struct ofdm_stream *ofdm = (const struct ofdm_stream *)(const void *)stream;
    int status = penstock_stream_reset(stream);
    made->symbols = made->frames = made->most = 0;
    if (!status && signal == FRAMES)
        status = announce(stream);
    for (size_t at = 0, taken; at < SAMPLES && !status; at += taken) {
        status = push(stream, lent, samples + at, SAMPLES - at < most ? SAMPLES - at : most, &taken);
        made->most = ofdm->on_their_way > made->most ? ofdm->on_their_way : made->most;
        if (!status && !late)
            status = pull(stream, made);
        if (halfway && at > SAMPLES / 2) {
            halfway();
            halfway = NULL;
        }
    }
    if (!status && late)
        status = penstock_stream_finish(stream);
    return status ? status : pull(stream, made);
}

static void compare(const char *what, const struct made *made)
{
    double worst = 0;
    size_t far = 0;
    CHECK(made->symbols == want.symbols && want.symbols > 4 * (size_t)CHUNK - CHUNK, "%s: %zu symbols of %zu", what,
          made->symbols, want.symbols);
    for (size_t i = 0; i < want.symbols * CARRIERS; i++) {
        const double size = 1 + hypot((double)want.points[i].re, (double)want.points[i].im);
        worst = fmax(worst, hypot((double)(made->points[i].re - want.points[i].re),
                                  (double)(made->points[i].im - want.points[i].im)) /
                                size);
    }
    for (size_t i = 0; i < want.symbols * CARRIERS * BITS; i++)
        far += abs(made->soft[i] - want.soft[i]) > 1;
    CHECK(worst < 2e-4, "%s: a point is off by %g", what, worst);
    CHECK(far <= want.symbols * CARRIERS * BITS / 100000, "%s: %zu soft bits are off by more than one", what, far);
}

static void check(penstock_context *context, const char *device, enum signal signal)
{
    penstock_stream *stream = NULL, *cpu = NULL;
    const char *what = names[signal];
    CHECK_OK(new_stream(&cpu, context, signal, "cpu"));
    CHECK_OK(run(cpu, &want, signal, false, SAMPLES, false, NULL));
    CHECK_OK(new_stream(&stream, context, signal, device));
    CHECK_OK(run(stream, &ahead, signal, true, SAMPLES, true, NULL));
    compare(what, &ahead);
    CHECK(ahead.most == 3, "%s: %u batches on their way at once", what, ahead.most);
    CHECK_OK(run(stream, &small, signal, false, 100000, true, NULL));
    CHECK(ahead.symbols == small.symbols && small.most >= 2 && !memcmp(ahead.points, small.points, sizeof small.points),
          "%s: pushes give other points than lent memory", what);
    CHECK_OK(run(stream, &small, signal, false, 30000, false, NULL));
    CHECK(!memcmp(ahead.points, small.points, sizeof small.points) &&
              !memcmp(ahead.soft, small.soft, sizeof small.soft),
          "%s: other bits where each push is pulled", what);
    CHECK_OK(run(stream, &small, signal, true, SAMPLES / 2, true, NULL));
    penstock_stream_free(stream); /* with what is not pulled */
    penstock_stream_free(cpu);
}

/* After TRACKED. */
static void check_listed(penstock_context *context, const char *device)
{
    penstock_stream *stream = NULL;
    CHECK_OK(new_stream(&stream, context, LISTED, device));
    CHECK_OK(run(stream, &small, LISTED, true, SAMPLES, true, NULL));
    CHECK(!memcmp(ahead.points, small.points, sizeof small.points) &&
              !memcmp(ahead.soft, small.soft, sizeof small.soft),
          "other bits where symbols are listed");
    penstock_stream_free(stream);
}

static void lose(void)
{
    shim.fail_from(0);
}

static void check_lost(const char *device, bool preferred, enum signal signal)
{
    char name[40];
    penstock_context *context = NULL;
    penstock_stream *stream = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    snprintf(name, sizeof name, "%s%s", preferred ? "prefer:" : "", device);
    CHECK_OK(new_stream(&stream, context, signal, name));
    int status = run(stream, &ahead, signal, true, SAMPLES, true, lose);
    if (preferred) {
        CHECK_OK(status);
        compare("lost", &ahead);
    } else {
        CHECK(status < 0 && *penstock_error_text(), "a lost device: %d", status);
    }
    penstock_stream_free(stream);
    penstock_context_free(context);
    shim.fail_from(-1);
}

int main(int count, char **arguments)
{
    const char *device = count > 1 ? arguments[1] : "opencl";
    penstock_context *context = NULL;
    const bool driver = shim_load("PENSTOCK_OPENCL_LIBRARY") && shim.fail_from;
    make_signal();
    int exits = test_device(&context, device);
    if (!context)
        return exits;
    for (enum signal signal = FRAMES; signal < LISTED; signal++) {
        check(context, device, signal);
        if (signal == TRACKED)
            check_listed(context, device);
        for (int preferred = 0; preferred < 2 && driver; preferred++)
            check_lost(device, preferred, signal);
    }
    penstock_context_free(context);
    return test_finish();
}
