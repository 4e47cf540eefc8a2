/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study taps: the filter's rate over the number of taps, on one thread. The envelope at a number of taps is the
 * best rate of any filter with as many or more: a filter is never worth less than one that does more.
 */
#include "cases/signals.h"
#include "picture/axes.h"
#include "picture/picture_file.h"
#include "shared/interrupt.h"
#include "shared/progress.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST = 16, MOST = 65536, STEPS = 4, MOST_POINTS = 80, ROUNDS = 15, CHUNK = 65536, SAMPLES = 1 << 20 };

struct point {
    size_t taps, n;
    penstock_stream *filter;
    double rate_msps, envelope_msps; /* of the fastest round */
};

struct taps_study {
    const struct study *wanted;
    penstock_context *context;
    const char *device; /* that transforms */
    penstock_cf32 *in, *out, *taps;
    struct point points[MOST_POINTS];
    size_t count;
};

/* Quarters of octaves, and one more tap than each power of two. */
static void choose_points(struct taps_study *s)
{
    size_t last = 0;
    for (int i = 0;; i++) {
        size_t taps = (size_t)lrint(LEAST * pow(2, (double)i / STEPS));
        if (taps > MOST)
            return;
        if (taps > last)
            s->points[s->count++].taps = last = taps;
        if (i % STEPS == 0 && taps < MOST)
            s->points[s->count++].taps = last = taps + 1;
    }
}

static int make_filters(struct taps_study *s, const char *device)
{
    progress_begin("filters made", (double)s->count);
    for (size_t i = 0; i < s->count && !interrupted(); i++) {
        struct point *point = &s->points[i];
        penstock_filter_info info = PENSTOCK_FILTER_INFO;
        progress_done((double)i, "%zu taps", point->taps);
        int status = penstock_filter_open(&point->filter, s->context,
                                          &PENSTOCK_FILTER_DESC(.taps = s->taps, .tap_count = point->taps), device);
        if (status || (status = penstock_filter_get_info(point->filter, &info)))
            return fail_status(status);
        point->n = info.n;
        s->device = info.device;
    }
    return EXIT_DONE;
}

/* On the CPU the one thread's own time, which other work on the machine hardly changes. */
static double time_now(const struct taps_study *s)
{
    struct timespec time;
    if (strcmp(s->device, "cpu"))
        return seconds_now();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The whole stream in chunks. What counts is the values made: those of the last block that is not whole are not. */
static int run_once(struct taps_study *s, struct point *point)
{
    size_t done = 0, made = 0, taken, more;
    double start = time_now(s);
    while (done < SAMPLES) {
        size_t chunk = SAMPLES - done < CHUNK ? SAMPLES - done : CHUNK;
        int status =
            penstock_stream_run(point->filter, s->in + done, chunk, &taken, s->out + made, 2 * SAMPLES - made, &more);
        if (status)
            return fail_status(status);
        done += taken;
        made += more;
    }
    point->rate_msps = fmax(point->rate_msps, 1e-6 * (double)made / (time_now(s) - start));
    return penstock_stream_reset(point->filter) ? fail_status(PENSTOCK_ERR_STATE) : EXIT_DONE;
}

static int measure_all(struct taps_study *s)
{
    double best = 0;
    progress_begin("measurements", (double)(s->count * ROUNDS));
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < s->count && !interrupted(); k++) {
            /* There and back, so that no point always comes after one that has emptied the caches. */
            struct point *point = &s->points[round % 2 ? s->count - 1 - k : k];
            progress_done((double)(s->count * (size_t)round + k), "%zu taps", point->taps);
            int code = run_once(s, point); /* which fills the caches */
            code = code ? code : run_once(s, point);
            if (code)
                return code;
        }
    for (size_t i = s->count; i-- > 0;) {
        struct point *point = &s->points[i];
        best = fmax(best, point->rate_msps);
        point->envelope_msps = best;
    }
    return EXIT_DONE;
}

static void print_points(const struct taps_study *s, bool csv)
{
    const struct point *worst = s->points;
    puts(csv ? "taps,device,n,rate_msps,envelope_msps,below"
             : "    taps        n  Msample/s  envelope  below the envelope");
    for (size_t i = 0; i < s->count; i++) {
        const struct point *point = &s->points[i];
        double below = 1 - point->rate_msps / point->envelope_msps;
        if (csv)
            printf("%zu,%s,%zu,%.6g,%.6g,%.4f\n", point->taps, s->device, point->n, point->rate_msps,
                   point->envelope_msps, below);
        else
            printf("%8zu %8zu %10.1f %9.1f %8.1f %%\n", point->taps, point->n, point->rate_msps, point->envelope_msps,
                   100 * below);
        if (point->rate_msps / point->envelope_msps < worst->rate_msps / worst->envelope_msps)
            worst = point;
    }
    if (!csv)
        printf("at most %.1f %% below the envelope, at %zu taps, on %s\n",
               100 * (1 - worst->rate_msps / worst->envelope_msps), worst->taps, s->device);
}

static void draw(struct canvas *canvas, const void *study)
{
    const struct taps_study *s = study;
    double taps[MOST_POINTS], rates[MOST_POINTS], envelope[MOST_POINTS], limit[MOST_POINTS], most = 0;
    char title[120];
    for (size_t i = 0; i < s->count; i++) {
        taps[i] = (double)s->points[i].taps;
        rates[i] = s->points[i].rate_msps;
        envelope[i] = s->points[i].envelope_msps;
        limit[i] = 0.85 * envelope[i];
        most = fmax(most, envelope[i]);
    }
    struct axes axes = {.canvas = canvas,
                        .left = 90,
                        .top = 50,
                        .width = 740,
                        .height = 460,
                        .x = {.low = 10, .high = 1e5, .base = 10, .label = "complex taps"},
                        .y = {.low = 0, .high = 1.1 * most, .label = "Msamples/s"},
                        .grid = true};
    snprintf(title, sizeof title, "penstock %s: filter of complex samples, one thread, on %s", penstock_version(),
             s->device);
    axes_draw(&axes, title);
    axes_curve(&axes, taps, envelope, s->count, false, curve_colour(1));
    axes_curve(&axes, taps, limit, s->count, false, curve_colour(2));
    axes_curve(&axes, taps, rates, s->count, true, curve_colour(0));
    axes_legend(&axes, 0, curve_colour(0), "rate");
    axes_legend(&axes, 1, curve_colour(1), "envelope");
    axes_legend(&axes, 2, curve_colour(2), "15 % below it");
}

/* What there is before the end tells nothing: a point's rate is the best of all its rounds. */
static int conclude(void *subject)
{
    const struct taps_study *s = subject;
    if (interrupted())
        return interrupt_tell(EXIT_DONE);
    print_points(s, s->wanted->csv);
    return s->wanted->png ? picture_write(s->wanted->png, 1030, 580, draw, s) : EXIT_DONE;
}

static int study(struct taps_study *s, const struct study *wanted)
{
    uint64_t seed = 1;
    s->in = malloc(SAMPLES * sizeof *s->in);
    s->out = malloc(2 * SAMPLES * sizeof *s->out);
    s->taps = malloc(MOST * sizeof *s->taps);
    if (!s->in || !s->out || !s->taps)
        return fail(EXIT_DATA, "out of memory");
    s->wanted = wanted;
    signal_random(s->in, PENSTOCK_CF32, SAMPLES, &seed);
    signal_random(s->taps, PENSTOCK_CF32, MOST, &seed);
    memset(s->out, 0, 2 * SAMPLES * sizeof *s->out);
    choose_points(s);
    int code = make_filters(s, wanted->device);
    if (!code)
        code = measure_all(s);
    progress_clear();
    return code ? code : interrupt_conclude(conclude, s);
}

int study_taps(const struct study *wanted)
{
    struct taps_study *s = calloc(1, sizeof *s);
    int code = s ? open_context(&s->context, 1) : fail(EXIT_DATA, "out of memory");
    if (!code)
        code = study(s, wanted);
    for (size_t i = 0; s && i < s->count; i++)
        penstock_stream_free(s->points[i].filter);
    if (s) {
        penstock_context_free(s->context);
        free(s->in);
        free(s->out);
        free(s->taps);
    }
    free(s);
    return code;
}
