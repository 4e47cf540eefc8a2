/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A diagram of bars from zero on: ours filled, the peer's rate as a mark across. */
#include "bench_chart.h"

#include "peers/peers.h"
#include "picture/axes.h"
#include "picture/picture_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_chart_add(struct bench_chart *chart, const struct bench_row *row)
{
    struct bench_bar *more = realloc(chart->bars, (chart->count + 1) * sizeof *more);
    if (!more)
        return;
    chart->bars = more;
    more += chart->count++;
    snprintf(more->label, sizeof more->label, "%s  %s x%u", row->name, row->device, row->threads);
    more->rate_msps = bench_rate_msps(row);
    more->peer_rate_msps = row->has_peer ? row->peer_rate_msps : NAN;
    more->ratio = row->has_peer ? row->ratio : NAN;
    more->peer = row->has_peer ? row->peer : NULL;
}

void bench_chart_free(struct bench_chart *chart)
{
    free(chart->bars);
    *chart = (struct bench_chart){0};
}

enum { PITCH = 24, BAR = 14, TOP = 48, RIGHT = 60, BOTTOM = 56, WIDTH = 640 };

static void draw_bar(const struct axes *axes, const struct bench_bar *bar, int row)
{
    static const struct colour ours = {0, 114, 178}, theirs = {213, 94, 0};
    int middle = axes->top + row * PITCH + PITCH / 2, end = (int)axes_x(axes, bar->rate_msps);
    char number[64];
    int used = snprintf(number, sizeof number, bar->rate_msps < 100 ? "%.1f" : "%.0f", bar->rate_msps);
    if (bar->peer)
        snprintf(number + used, sizeof number - (size_t)used, ", %.2f of %s", bar->ratio, bar->peer->name);
    canvas_fill(axes->canvas, axes->left, middle - BAR / 2, end - axes->left, BAR, ours);
    if (isfinite(bar->peer_rate_msps))
        canvas_fill(axes->canvas, (int)axes_x(axes, bar->peer_rate_msps) - 1, middle - BAR / 2 - 3, 3, BAR + 6, theirs);
    canvas_text(axes->canvas, axes->left - 10, middle, ANCHOR_RIGHT, ink, bar->label);
    double furthest = isfinite(bar->peer_rate_msps) ? fmax(bar->peer_rate_msps, bar->rate_msps) : bar->rate_msps;
    canvas_text(axes->canvas, (int)axes_x(axes, furthest) + 8, middle, ANCHOR_LEFT, ink, number);
}

struct drawing {
    const struct bench_chart *chart;
    const struct peer *peer; /* NULL: none */
    double most_msps;
    int left;
};

static void draw(struct canvas *canvas, const void *subject)
{
    const struct drawing *drawing = subject;
    const struct peer *peer = drawing->peer;
    struct axes axes = {.canvas = canvas,
                        .left = drawing->left,
                        .top = TOP,
                        .width = WIDTH,
                        .height = (int)drawing->chart->count * PITCH,
                        .x = {.high = (peer ? 1.32 : 1.12) * drawing->most_msps, .label = "Msamples/s"},
                        .grid = true};
    char title[120];
    snprintf(title, sizeof title, "penstock %s: rate of cases, xN: with N threads%s%s", penstock_version(),
             peer ? "; marks: " : "", peer ? peer->name : "");
    axes_draw(&axes, title);
    for (size_t i = 0; i < drawing->chart->count; i++)
        draw_bar(&axes, &drawing->chart->bars[i], (int)i);
}

int bench_chart_write(const struct bench_chart *chart, const char *path)
{
    struct drawing drawing = {.chart = chart, .most_msps = 1};
    for (size_t i = 0; i < chart->count; i++) {
        const struct bench_bar *bar = &chart->bars[i];
        int width = text_width(bar->label);
        drawing.most_msps = fmax(drawing.most_msps, fmax(bar->rate_msps, bar->peer_rate_msps)); /* fmax passes NAN by */
        drawing.left = width > drawing.left ? width : drawing.left;
        drawing.peer = bar->peer ? bar->peer : drawing.peer;
    }
    drawing.left += 30;
    return picture_write(path, drawing.left + WIDTH + RIGHT, TOP + (int)chart->count * PITCH + BOTTOM, draw, &drawing);
}
