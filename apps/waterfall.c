/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reduction of spectra, and the picture made of them. */
#include "waterfall.h"

#include "picture/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool waterfall_init(struct waterfall *waterfall, size_t bins, uint64_t expected, bool peak)
{
    *waterfall = (struct waterfall){.bins = bins,
                                    .columns = bins < WATERFALL_COLUMNS ? bins : WATERFALL_COLUMNS,
                                    .most_rows = expected ? WATERFALL_ROWS : 2 * WATERFALL_ROWS,
                                    .per_row = expected ? (expected + WATERFALL_ROWS - 1) / WATERFALL_ROWS : 1,
                                    .peak = peak};
    waterfall->power = calloc((waterfall->most_rows + 2) * waterfall->columns, sizeof *waterfall->power);
    return waterfall->power != NULL;
}

void waterfall_free(struct waterfall *waterfall)
{
    free(waterfall->power);
    waterfall->power = NULL;
}

/* Rows 2i and 2i + 1 become row i. */
static void halve(struct waterfall *w)
{
    for (size_t row = 0; row < w->most_rows / 2; row++)
        for (size_t x = 0; x < w->columns; x++) {
            float a = w->power[2 * row * w->columns + x], b = w->power[(2 * row + 1) * w->columns + x];
            w->power[row * w->columns + x] = w->peak ? fmaxf(a, b) : 0.5f * (a + b);
        }
    w->rows = w->most_rows / 2;
    w->per_row *= 2;
}

static void keep_largest(float *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] > to[i] || isnan(to[i]) ? from[i] : to[i];
}

static void add(float *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* Bins that share a column, as one value; in which columns' borders come as quotients do. */
static const float *join_bins(const struct waterfall *w, const float *power)
{
    float *joined = w->power + (w->most_rows + 1) * w->columns;
    const size_t least = w->bins / w->columns, more = w->bins % w->columns;
    size_t end = 0, rest = 0;
    if (w->bins == w->columns)
        return power;
    for (size_t x = 0; x < w->columns; x++) {
        const size_t first = end;
        rest += more;
        end += least + (rest >= w->columns);
        rest -= rest >= w->columns ? w->columns : 0;
        joined[x] = power[first];
        for (size_t i = first + 1; i < end; i++)
            joined[x] = w->peak ? fmaxf(joined[x], power[i]) : joined[x] + power[i];
        joined[x] /= w->peak ? 1 : (float)(end - first);
    }
    return joined;
}

/* The last one may hold fewer spectra than the others. */
static void complete_row(struct waterfall *w)
{
    float *row = w->power + w->rows * w->columns;
    if (!w->in_row)
        return;
    if (!w->peak)
        for (size_t x = 0; x < w->columns; x++)
            row[x] /= (float)w->in_row;
    w->in_row = 0;
    w->rows++;
}

void waterfall_add(struct waterfall *w, const float *power)
{
    if (w->rows == w->most_rows)
        halve(w);
    float *row = w->power + w->rows * w->columns;
    const float *joined = join_bins(w, power);
    if (w->in_row == 0)
        memcpy(row, joined, w->columns * sizeof *row);
    else
        (w->peak ? keep_largest : add)(row, joined, w->columns);
    w->spectra++;
    if (++w->in_row >= w->per_row)
        complete_row(w);
}

static double decibels(double power)
{
    return 10 * log10(fmax(power, 1e-30));
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The colour scale: from a little below the lower quartile, which is noise as a rule, to what all but one value in a
 * thousand stay below, or 10 dB less than the largest of all. */
static bool choose_scale(const struct waterfall *w, struct scale *scale)
{
    enum { MOST = 1 << 18 };
    size_t count = w->rows * w->columns, step = count / MOST + 1, taken = 0;
    float *sorted = malloc((count / step + 1) * sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i += step)
        if (isfinite(w->power[i]))
            sorted[taken++] = w->power[i];
    if (!taken)
        sorted[taken++] = 0;
    qsort(sorted, taken, sizeof *sorted, by_value);
    double low = decibels(sorted[taken / 4]);
    double high = fmax(decibels(sorted[taken - 1 - taken / 1000]), decibels(sorted[taken - 1]) - 10);
    free(sorted);
    if (isnan(scale->low))
        scale->low = fmin(5 * floor((low - 3) / 5), isnan(scale->high) ? INFINITY : scale->high - 10);
    if (isnan(scale->high))
        scale->high = fmax(5 * ceil(high / 5), scale->low + 10);
    return true;
}

static void draw_cells(const struct waterfall *w, const struct axes *axes, const struct scale *scale)
{
    for (int y = 0; y < axes->height; y++) {
        const float *row = w->power + (size_t)y * w->rows / (size_t)axes->height * w->columns;
        for (int x = 0; x < axes->width; x++) {
            double db = decibels(row[(size_t)x * w->columns / (size_t)axes->width]);
            canvas_set(axes->canvas, axes->left + x, axes->top + y,
                       colour_map((db - scale->low) / (scale->high - scale->low)));
        }
    }
}

/* The unit in which a span of time reads well. */
static double time_unit(double seconds, const char **label)
{
    *label = seconds >= 1 ? "time s" : seconds >= 1e-3 ? "time ms" : "time us";
    return seconds >= 1 ? 1 : seconds >= 1e-3 ? 1e-3 : 1e-6;
}

int waterfall_write(struct waterfall *w, const struct waterfall_labels *labels, FILE *file, const char *path)
{
    enum { LEFT = 86, TOP = 46, RIGHT = 110, BOTTOM = 56, LEAST = 360 };
    struct scale colours = {.low = labels->low_db, .high = labels->high_db, .label = "power dBFS"};
    double seconds = (double)w->spectra * labels->seconds_per_spectrum, centre = labels->frequency_hz / 1e6;
    const char *time_label;
    double unit = time_unit(seconds, &time_label);
    struct canvas canvas;
    complete_row(w);
    if (!choose_scale(w, &colours))
        return fail(EXIT_DATA, "out of memory");
    int wider = (int)((WATERFALL_COLUMNS + w->columns - 1) / w->columns);
    int higher = (int)((LEAST + w->rows - 1) / w->rows);
    struct axes axes = {
        .canvas = &canvas,
        .left = LEFT,
        .top = TOP,
        .width = (int)w->columns * (w->columns <= WATERFALL_COLUMNS / 2 ? wider : 1),
        .height = (int)w->rows * higher,
        .x = {.low = centre - labels->width_hz / 2e6,
              .high = centre + labels->width_hz / 2e6,
              .label = centre > 0 ? "frequency MHz" : "frequency offset MHz"},
        .y = {.low = seconds / unit, .high = 0, .label = time_label},
    };
    if (!canvas_init(&canvas, LEFT + axes.width + RIGHT, TOP + axes.height + BOTTOM, white))
        return fail(EXIT_DATA, "out of memory");
    draw_cells(w, &axes, &colours);
    axes_draw(&axes, labels->title);
    axes_colour_bar(&axes, &colours);
    int code = canvas_write_png(&canvas, file, path);
    canvas_free(&canvas);
    return code;
}
