/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Drawing of diagrams. */
#include "axes.h"

#include <math.h>
#include <string.h>

/* M. Okabe, K. Ito, "Color Universal Design", 2008; the yellow darkened for white paper. */
static const struct colour palette[] = {
    {0, 114, 178}, {213, 94, 0},  {0, 158, 115}, {204, 121, 167}, {86, 180, 233},
    {230, 159, 0}, {120, 94, 40}, {60, 60, 60},  {150, 0, 60},
};

struct colour curve_colour(size_t index)
{
    return palette[index % (sizeof palette / sizeof palette[0])];
}

static double position(const struct scale *scale, double value)
{
    if (scale->base)
        return log(value / scale->low) / log(scale->high / scale->low);
    return (value - scale->low) / (scale->high - scale->low);
}

double axes_x(const struct axes *axes, double value)
{
    return axes->left + position(&axes->x, value) * (axes->width - 1);
}

double axes_y(const struct axes *axes, double value)
{
    return axes->top + (1 - position(&axes->y, value)) * (axes->height - 1);
}

/* 1, 2 or 5 times a power of ten, so that at most `most` steps cover the span. */
static double nice_step(double span, int most)
{
    double step = pow(10, floor(log10(span / most)));
    const double factors[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (span / (step * factors[i]) <= most)
            return step * factors[i];
    return step * 10;
}

/* Ticks of a scale, with their texts, for `most` of them. */
struct ticks {
    double values[64];
    char texts[64][16];
    size_t count;
};

static void add_tick(struct ticks *ticks, double value, const char *format, int digits)
{
    if (ticks->count == sizeof ticks->values / sizeof ticks->values[0])
        return;
    ticks->values[ticks->count] = value;
    snprintf(ticks->texts[ticks->count], sizeof ticks->texts[0], format, digits, value);
    ticks->count++;
}

/* Powers of the base: digits where they are few. */
static void find_powers(struct ticks *ticks, double base, double low, double high, int most)
{
    double first = ceil(log(low) / log(base) - 1e-9), last = floor(log(high) / log(base) + 1e-6);
    double step = ceil((last - first + 1) / most);
    for (double power = first; power <= last; power += step) {
        double value = pow(base, power);
        add_tick(ticks, value, "%.*g", 6);
        if (ticks->count && (value > 1e5 || value < 1e-4))
            snprintf(ticks->texts[ticks->count - 1], sizeof ticks->texts[0], "%.0f^%.0f", base, power);
    }
}

static void find_ticks(struct ticks *ticks, const struct scale *scale, int most)
{
    double low = fmin(scale->low, scale->high), high = fmax(scale->low, scale->high);
    ticks->count = 0;
    if (scale->base) {
        find_powers(ticks, scale->base, low, high, most);
        return;
    }
    double step = nice_step(high - low, most);
    int digits = (int)fmax(0, -floor(log10(step) + 1e-9));
    for (double i = ceil(low / step - 1e-6); i * step <= high + 1e-6 * step; i++)
        add_tick(ticks, i == 0 ? 0 : i * step, "%.*f", digits);
}

static void draw_x(const struct axes *axes)
{
    struct ticks ticks;
    int bottom = axes->top + axes->height;
    find_ticks(&ticks, &axes->x, axes->width / 60);
    for (size_t i = 0; i < ticks.count; i++) {
        int x = (int)lrint(axes_x(axes, ticks.values[i]));
        if (axes->grid)
            canvas_fill(axes->canvas, x, axes->top, 1, axes->height, grid_grey);
        canvas_fill(axes->canvas, x, bottom, 1, 5, ink);
        canvas_text(axes->canvas, x, bottom + 14, ANCHOR_MIDDLE, ink, ticks.texts[i]);
    }
    canvas_text(axes->canvas, axes->left + axes->width / 2, bottom + 34, ANCHOR_MIDDLE, ink, axes->x.label);
}

/* Between decades: 2 .. 9 times, without texts. */
static void draw_minor_y(const struct axes *axes)
{
    double low = fmin(axes->y.low, axes->y.high), high = fmax(axes->y.low, axes->y.high);
    for (double decade = pow(10, floor(log10(low))); decade < high; decade *= 10)
        for (int i = 2; i < 10; i++)
            if (decade * i > low && decade * i < high) {
                int y = (int)lrint(axes_y(axes, decade * i));
                canvas_fill(axes->canvas, axes->left - 3, y, 3, 1, ink);
                if (axes->grid)
                    canvas_fill(axes->canvas, axes->left, y, axes->width, 1, (struct colour){242, 242, 244});
            }
}

static void draw_y(const struct axes *axes)
{
    struct ticks ticks;
    size_t widest = 0;
    find_ticks(&ticks, &axes->y, axes->height / 40);
    if (axes->y.base == 10)
        draw_minor_y(axes);
    for (size_t i = 0; i < ticks.count; i++) {
        int y = (int)lrint(axes_y(axes, ticks.values[i]));
        if (axes->grid)
            canvas_fill(axes->canvas, axes->left, y, axes->width, 1, grid_grey);
        canvas_fill(axes->canvas, axes->left - 5, y, 5, 1, ink);
        canvas_text(axes->canvas, axes->left - 9, y, ANCHOR_RIGHT, ink, ticks.texts[i]);
        if (strlen(ticks.texts[i]) > widest)
            widest = strlen(ticks.texts[i]);
    }
    canvas_text_up(axes->canvas, axes->left - 26 - (int)widest * TEXT_ADVANCE, axes->top + axes->height / 2, ink,
                   axes->y.label);
}

void axes_draw(const struct axes *axes, const char *title)
{
    if (axes->x.label)
        draw_x(axes);
    if (axes->y.label)
        draw_y(axes);
    canvas_frame(axes->canvas, axes->left - 1, axes->top - 1, axes->width + 2, axes->height + 2, ink);
    canvas_text_bold(axes->canvas, axes->left, axes->top - 18, ANCHOR_LEFT, ink, title);
}

static bool inside(const struct axes *axes, double x, double y)
{
    double u = position(&axes->x, x), v = position(&axes->y, y);
    return u >= 0 && u <= 1 && v >= 0 && v <= 1;
}

void axes_curve(const struct axes *axes, const double *x, const double *y, size_t count, bool marked,
                struct colour colour)
{
    for (size_t i = 0; i < count; i++) {
        if (!inside(axes, x[i], y[i]))
            continue;
        double to_x = axes_x(axes, x[i]), to_y = axes_y(axes, y[i]);
        if (i && inside(axes, x[i - 1], y[i - 1]))
            canvas_line(axes->canvas, axes_x(axes, x[i - 1]), axes_y(axes, y[i - 1]), to_x, to_y, 2, colour);
        if (marked)
            canvas_disc(axes->canvas, to_x, to_y, 3.5, colour);
    }
}

void axes_legend(const struct axes *axes, int row, struct colour colour, const char *text)
{
    enum { PITCH = 22, SAMPLE = 26, GAP = 22 };
    int x = axes->left + axes->width + GAP, y = axes->top + PITCH / 2 + row * PITCH;
    canvas_line(axes->canvas, x, y, x + SAMPLE, y, 2, colour);
    canvas_disc(axes->canvas, x + SAMPLE / 2.0, y, 3.5, colour);
    canvas_text(axes->canvas, x + SAMPLE + 8, y, ANCHOR_LEFT, ink, text);
}

void axes_colour_bar(const struct axes *axes, const struct scale *scale)
{
    enum { GAP = 20, WIDTH = 16 };
    struct axes bar = {.canvas = axes->canvas,
                       .left = axes->left + axes->width + GAP,
                       .top = axes->top,
                       .width = WIDTH,
                       .height = axes->height,
                       .y = *scale};
    struct ticks ticks;
    size_t widest = 0;
    for (int row = 0; row < bar.height; row++)
        canvas_fill(bar.canvas, bar.left, bar.top + row, WIDTH, 1, colour_map(1 - row / (bar.height - 1.0)));
    canvas_frame(bar.canvas, bar.left - 1, bar.top - 1, WIDTH + 2, bar.height + 2, ink);
    find_ticks(&ticks, scale, bar.height / 40);
    for (size_t i = 0; i < ticks.count; i++) {
        int y = (int)lrint(axes_y(&bar, ticks.values[i]));
        canvas_fill(bar.canvas, bar.left + WIDTH, y, 5, 1, ink);
        canvas_text(bar.canvas, bar.left + WIDTH + 9, y, ANCHOR_LEFT, ink, ticks.texts[i]);
        if (strlen(ticks.texts[i]) > widest)
            widest = strlen(ticks.texts[i]);
    }
    canvas_text_up(bar.canvas, bar.left + WIDTH + 24 + (int)widest * TEXT_ADVANCE, bar.top + bar.height / 2, ink,
                   scale->label);
}
