/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A picture in memory and what can be drawn on it. Positions are in pixels, the origin at the upper left. */
#ifndef PENSTOCK_APPS_CANVAS_H
#define PENSTOCK_APPS_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct colour {
    uint8_t red, green, blue;
};

struct canvas {
    int width, height;
    struct colour *pixels; /* rows from the top */
};

static const struct colour white = {255, 255, 255}, ink = {38, 38, 42}, grid_grey = {226, 226, 230};

/* False when out of memory. */
bool canvas_init(struct canvas *canvas, int width, int height, struct colour background);
void canvas_free(struct canvas *canvas);

/* What lies outside the picture is left out, here and below. */
void canvas_set(struct canvas *canvas, int x, int y, struct colour colour);
void canvas_blend(struct canvas *canvas, int x, int y, struct colour colour, double opacity);
void canvas_fill(struct canvas *canvas, int x, int y, int width, int height, struct colour colour);
void canvas_frame(struct canvas *canvas, int x, int y, int width, int height, struct colour colour);

/* Antialiased. */
void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double width, struct colour colour);
void canvas_disc(struct canvas *canvas, double x, double y, double radius, struct colour colour);
void canvas_ring(struct canvas *canvas, double x, double y, double radius, double width, struct colour colour);

enum anchor { ANCHOR_LEFT, ANCHOR_MIDDLE, ANCHOR_RIGHT };
enum { TEXT_HEIGHT = 13, TEXT_ADVANCE = 7 };

/* ASCII; `y` is the middle of the line. canvas_text_up() reads from below to above, centred on x and y. */
int text_width(const char *text);
void canvas_text(struct canvas *canvas, int x, int y, enum anchor anchor, struct colour colour, const char *text);
void canvas_text_bold(struct canvas *canvas, int x, int y, enum anchor anchor, struct colour colour, const char *text);
void canvas_text_up(struct canvas *canvas, int x, int y, struct colour colour, const char *text);

/* 0 (dark violet) .. 1 (yellow): the viridis map, even in lightness. */
struct colour colour_map(double value);

/* Writes the picture to a file that outfile_open() opened. Returns an exit code; a build without libpng always fails.
 */
int canvas_write_png(const struct canvas *canvas, FILE *file, const char *path);

/* Tells whether this build can write pictures, before any work is done for one. Returns an exit code. */
int png_available(const char *option);

#endif
