/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study plans: what plans of GPU transforms cost to make, with kernels to compile and with kept ones, and what
 * tuning them brings. Kernels are kept in a folder of this run alone, so that the first plan of each kind is a cold
 * one.
 */
#include "bench/bench_plan.h"
#include "cases/signals.h"
#include "picture/axes.h"
#include "picture/picture_file.h"
#include "shared/interrupt.h"
#include "shared/median.h"
#include "shared/progress.h"
#include "study.h"
#include "study_device.h"
#include "study_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, WARM = 7, ON_DEVICE = 1 << 28, ON_HOST = 1 << 23 };

static const size_t lengths[] = {64,   128,  256,  509,  512,  600,   1000,  1021,  1024,  1200,  1536,
                                 2048, 3072, 4096, 4099, 8192, 10007, 16384, 32768, 65521, 65536, 1 << 20};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One length: the library's choice, and the shape that tuning chose. */
struct plans_row {
    size_t n;
    unsigned kernels, passes, timed;
    double bytes;                   /* through memory, of a transform */
    double usual_s, tuned_s, ratio; /* of a transform; the best over the library's choice */
    double timing_ms;               /* of the shapes */
    double cold_ms, warm_ms, tuned_cold_ms, retuned_ms, tuned_warm_ms; /* of making a plan */
    char variant[80];
};

struct plans_study {
    const struct study *wanted;
    struct study_folder folder;
    penstock_context *context;
    struct study_device device;
    struct plans_row rows[LENGTHS];
    size_t count;
};

/* ---------------------------------------------------------------- measuring ------------------- */

static int make_plan(penstock_plan **plan, const struct plans_study *s, size_t n, bool tune, size_t batch, double *ms)
{
    double start = seconds_now();
    int status =
        penstock_fft_plan(plan, s->context, &PENSTOCK_FFT_DESC(.n = n, .batch = batch, .tune = tune), s->device.name);
    *ms = 1e3 * (seconds_now() - start);
    return status;
}

/* The median of some more of the kind. */
static int make_warm(const struct plans_study *s, size_t n, bool tune, size_t batch, double *ms)
{
    double all[WARM];
    int status = PENSTOCK_OK;
    for (int i = 0; i < WARM && !status; i++) {
        penstock_plan *plan = NULL;
        status = make_plan(&plan, s, n, tune, batch, &all[i]);
        penstock_plan_free(plan);
    }
    *ms = status ? NAN : median(all, WARM);
    return status;
}

/* Both plans with their samples on the device or, where that is the host, beside them, in turns. */
struct subject {
    struct bench_plan work;
    penstock_bench *on_device;
};

static int run(const struct plans_study *s, const struct subject *subject, size_t frames, unsigned repeats,
               double *seconds)
{
    if (subject->on_device)
        return penstock_bench_run(subject->on_device, repeats, seconds);
    double start = seconds_now();
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < repeats && !status; i++)
        status = penstock_plan_run(subject->work.plan, s->device.in, s->device.out, frames);
    *seconds = (seconds_now() - start) / repeats;
    return status;
}

static int time_both(const struct plans_study *s, struct plans_row *row, const struct subject pair[2], size_t frames)
{
    double times[2][ROUNDS], ratios[ROUNDS], once = 0;
    int status = PENSTOCK_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = run(s, &pair[i % 2], frames, 1, &once);
    unsigned repeats = (unsigned)fmin(1000, 2e-3 / fmax(once, 1e-7)) + 1;
    for (int i = 0; i < 2 * ROUNDS && !status; i++)
        status = run(s, &pair[(i + i / 2) % 2], frames, repeats, &times[(i + i / 2) % 2][i / 2]);
    if (status)
        return status;
    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = times[1][i] / times[0][i];
    row->ratio = median(ratios, ROUNDS);
    row->usual_s = median(times[0], ROUNDS) / (double)frames;
    row->tuned_s = median(times[1], ROUNDS) / (double)frames;
    return PENSTOCK_OK;
}

/* Plans of both kinds, cold and warm; then tuned once more for another batch, with all kernels kept. */
static int make_both(const struct plans_study *s, struct plans_row *row, struct subject pair[2], size_t frames)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO, tuned = PENSTOCK_PLAN_INFO;
    penstock_plan *again = NULL;
    int status;
    if ((status = make_plan(&pair[0].work.plan, s, row->n, false, frames, &row->cold_ms)) ||
        (status = make_warm(s, row->n, false, frames, &row->warm_ms)) ||
        (status = make_plan(&pair[1].work.plan, s, row->n, true, frames, &row->tuned_cold_ms)) ||
        (status = make_warm(s, row->n, true, frames, &row->tuned_warm_ms)) ||
        (status = make_plan(&again, s, row->n, true, frames + 1, &row->retuned_ms)) ||
        (status = penstock_plan_get_info(pair[0].work.plan, &info)) ||
        (status = penstock_plan_get_info(pair[1].work.plan, &tuned))) {
        penstock_plan_free(again);
        return status;
    }
    penstock_plan_free(again);
    row->kernels = tuned.kernels;
    row->passes = tuned.passes;
    row->bytes = (double)(tuned.in_bytes + tuned.out_bytes) * tuned.passes;
    row->timed = tuned.timed;
    row->timing_ms = 1e3 * tuned.tuning_s;
    snprintf(row->variant, sizeof row->variant, "%s", tuned.variant);
    return PENSTOCK_OK;
}

static int measure(struct plans_study *s, size_t n)
{
    struct plans_row *row = &s->rows[s->count];
    struct subject pair[2] = {{.work.average = 1}, {.work.average = 1}};
    size_t frames = (s->device.on_device ? ON_DEVICE : ON_HOST) / (n * sizeof(penstock_cf32));
    int status;
    *row = (struct plans_row){.n = n};
    frames = frames ? frames : 1;
    progress_done((double)s->count, "%zu points", n);
    status = make_both(s, row, pair, frames);
    for (int i = 0; i < 2 && !status && s->device.on_device; i++) {
        pair[i].work.frames = frames;
        status = bench_plan_new(&pair[i].on_device, s->context, &pair[i].work, s->device.block, STUDY_BLOCK_BYTES);
    }
    if (!status)
        status = time_both(s, row, pair, frames);
    for (int i = 0; i < 2; i++) {
        penstock_bench_free(pair[i].on_device);
        penstock_plan_free(pair[i].work.plan);
    }
    interrupt_hold();
    s->count += !status;
    interrupt_release();
    return status ? fail_status(status) : EXIT_DONE;
}

/* ---------------------------------------------------------------- table ----------------------- */

static void print_table(const struct plans_study *s, bool csv)
{
    puts(csv ? "points,device,kernels,passes,bytes,usual_us,tuned_us,ratio,shapes,timing_ms,plan_cold_ms,plan_warm_ms,"
               "tuned_cold_ms,retuned_ms,tuned_warm_ms,variant"
             : "                           bytes a      us each                     timing  ms to make a plan: tuned,\n"
               " points kernels passes transform    usual    tuned  ratio shapes   ms     cold   warm     cold  "
               "kernels kept  warm  tuned to");
    for (size_t i = 0; i < s->count; i++) {
        const struct plans_row *r = &s->rows[i];
        if (csv)
            printf("%zu,%s,%u,%u,%.0f,%.6g,%.6g,%.4f,%u,%.4g,%.5g,%.4g,%.5g,%.4g,%.4g,\"%s\"\n", r->n, s->device.name,
                   r->kernels, r->passes, r->bytes, 1e6 * r->usual_s, 1e6 * r->tuned_s, r->ratio, r->timed,
                   r->timing_ms, r->cold_ms, r->warm_ms, r->tuned_cold_ms, r->retuned_ms, r->tuned_warm_ms, r->variant);
        else
            printf("%7zu %7u %6u %9.0f %8.4g %8.4g %6.3f %6u %4.0f %8.0f %6.1f %8.0f %13.1f %5.1f  %s\n", r->n,
                   r->kernels, r->passes, r->bytes, 1e6 * r->usual_s, 1e6 * r->tuned_s, r->ratio, r->timed,
                   r->timing_ms, r->cold_ms, r->warm_ms, r->tuned_cold_ms, r->retuned_ms, r->tuned_warm_ms, r->variant);
    }
    if (!csv)
        printf("%s on %s\n", s->device.name, s->device.product);
}

/* ---------------------------------------------------------------- picture --------------------- */

static void draw_curve(const struct axes *axes, const struct plans_study *s, size_t member, int row, const char *name)
{
    double x[LENGTHS], y[LENGTHS];
    for (size_t i = 0; i < s->count; i++) {
        x[i] = (double)s->rows[i].n;
        memcpy(&y[i], (const char *)&s->rows[i] + member, sizeof y[i]);
    }
    axes_curve(axes, x, y, s->count, true, curve_colour((size_t)row));
    axes_legend(axes, row, curve_colour((size_t)row), name);
}

/* The member's least and largest value. */
static void find_range(const struct plans_study *s, size_t member, double *low, double *high)
{
    for (size_t i = 0; i < s->count; i++) {
        double value;
        memcpy(&value, (const char *)&s->rows[i] + member, sizeof value);
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

/* Whole decades around all times to make a plan. */
static void find_decades(const struct plans_study *s, struct scale *scale)
{
    static const size_t members[] = {offsetof(struct plans_row, cold_ms), offsetof(struct plans_row, warm_ms),
                                     offsetof(struct plans_row, tuned_cold_ms), offsetof(struct plans_row, retuned_ms),
                                     offsetof(struct plans_row, tuned_warm_ms)};
    double low = 1, high = 10;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        find_range(s, members[i], &low, &high);
    scale->low = pow(10, floor(log10(fmax(low, 1e-6))));
    scale->high = pow(10, ceil(log10(high)));
}

/* Times to make a plan, above; what tuning brings, below. */
static void draw(struct canvas *canvas, const void *study)
{
    const struct plans_study *s = study;
    char title[200];
    double low = 0.9, high = 1.1;
    struct axes axes = {.canvas = canvas,
                        .left = 90,
                        .top = 50,
                        .width = 740,
                        .height = 320,
                        .x = {.low = (double)s->rows[0].n / 1.5,
                              .high = 1.5 * (double)s->rows[s->count - 1].n,
                              .base = 2,
                              .label = "points"},
                        .y = {.base = 10, .label = "ms to make a plan"},
                        .grid = true};
    snprintf(title, sizeof title, "penstock %s: plans, on %s (%.60s)", penstock_version(), s->device.name,
             s->device.product);
    find_decades(s, &axes.y);
    find_range(s, offsetof(struct plans_row, ratio), &low, &high);
    axes_draw(&axes, title);
    draw_curve(&axes, s, offsetof(struct plans_row, cold_ms), 0, "cold");
    draw_curve(&axes, s, offsetof(struct plans_row, warm_ms), 1, "warm");
    draw_curve(&axes, s, offsetof(struct plans_row, tuned_cold_ms), 2, "tuned, cold");
    draw_curve(&axes, s, offsetof(struct plans_row, retuned_ms), 3, "tuned, kernels kept");
    draw_curve(&axes, s, offsetof(struct plans_row, tuned_warm_ms), 4, "tuned, warm");
    axes.top = 470;
    axes.height = 200;
    axes.y = (struct scale){.low = low - 0.02, .high = high + 0.02, .label = "tuned time / usual"};
    axes_draw(&axes, "");
    draw_curve(&axes, s, offsetof(struct plans_row, ratio), 5, "tuned / usual");
}

/* ---------------------------------------------------------------- study ----------------------- */

/* What there is, after an interrupt too: then nobody else takes the folder away. */
static int conclude(void *subject)
{
    struct plans_study *s = subject;
    const struct study *wanted = s->wanted;
    if (interrupted())
        study_folder_close(&s->folder);
    if (!s->count)
        return interrupted() ? interrupt_tell(EXIT_DONE)
                             : fail(EXIT_USAGE, "--most %zu is impossible: the study begins at %zu points",
                                    wanted->most, lengths[0]);
    print_table(s, wanted->csv);
    return interrupt_tell(wanted->png ? picture_write(wanted->png, 1080, 740, draw, s) : EXIT_DONE);
}

static int study(struct plans_study *s, const struct study *wanted)
{
    int code = study_device_find(&s->device, s->context, wanted->device, ON_HOST);
    size_t most = wanted->most ? wanted->most : 65536, count = 0;
    for (size_t i = 0; i < LENGTHS; i++)
        count += lengths[i] <= most;
    progress_begin("lengths", (double)count);
    for (size_t i = 0; i < LENGTHS && !code && !interrupted(); i++)
        if (lengths[i] <= most)
            code = measure(s, lengths[i]);
    progress_clear();
    return code ? code : interrupt_conclude(conclude, s);
}

int study_plans(const struct study *wanted)
{
    struct plans_study *s = calloc(1, sizeof *s);
    int code = s ? study_folder_open(&s->folder) : fail(EXIT_DATA, "out of memory");
    if (!code) {
        s->wanted = wanted;
        interrupt_conclude_by(conclude, s, EXIT_DONE);
        if (!(code = open_context(&s->context, 0)))
            code = study(s, wanted);
        interrupt_conclude_by(NULL, NULL, code);
    }
    if (s) {
        penstock_context_free(s->context);
        study_folder_close(&s->folder);
        study_device_free(&s->device);
    }
    free(s);
    return code;
}
