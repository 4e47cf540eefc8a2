/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A diagram's box on a canvas: scales, ticks, labels, curves, legend, colour bar. */
#ifndef PENSTOCK_APPS_AXES_H
#define PENSTOCK_APPS_AXES_H

#include "canvas.h"

struct scale {
    double low, high;  /* at the left or lower end, and at the other; low > high turns the scale round */
    int base;          /* 10: by decades, 2: by octaves, 0: not logarithmic */
    const char *label; /* NULL: the scale has no ticks */
};

struct axes {
    struct canvas *canvas;
    int left, top, width, height; /* of the box */
    struct scale x, y;
    bool grid;
};

/* Box, grid, ticks and labels; the title stands above. */
void axes_draw(const struct axes *axes, const char *title);

double axes_x(const struct axes *axes, double value);
double axes_y(const struct axes *axes, double value);

/* Points joined by lines; `marked` adds a disc at each. Points outside the box are left out. */
void axes_curve(const struct axes *axes, const double *x, const double *y, size_t count, bool marked,
                struct colour colour);

/* Row `row` of the legend, at the box's right. */
void axes_legend(const struct axes *axes, int row, struct colour colour, const char *text);

/* A bar of the colour map at the box's right, from scale.low to scale.high. */
void axes_colour_bar(const struct axes *axes, const struct scale *scale);

/* Colours for curves that can be told apart, also by the colour-blind; any index. */
struct colour curve_colour(size_t index);

#endif
