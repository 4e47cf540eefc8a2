/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pixels, boxes, lines and text. */
#include "canvas.h"

#include "font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool canvas_init(struct canvas *canvas, int width, int height, struct colour background)
{
    *canvas = (struct canvas){.width = width, .height = height};
    canvas->pixels = malloc((size_t)width * (size_t)height * sizeof *canvas->pixels);
    if (!canvas->pixels)
        return false;
    canvas_fill(canvas, 0, 0, width, height, background);
    return true;
}

void canvas_free(struct canvas *canvas)
{
    free(canvas->pixels);
    canvas->pixels = NULL;
}

static struct colour *pixel(struct canvas *canvas, int x, int y)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return NULL;
    return canvas->pixels + (size_t)y * (size_t)canvas->width + (size_t)x;
}

void canvas_set(struct canvas *canvas, int x, int y, struct colour colour)
{
    struct colour *at = pixel(canvas, x, y);
    if (at)
        *at = colour;
}

static uint8_t mix(uint8_t below, uint8_t above, double opacity)
{
    return (uint8_t)lrint(below + opacity * (above - below));
}

void canvas_blend(struct canvas *canvas, int x, int y, struct colour colour, double opacity)
{
    struct colour *at = pixel(canvas, x, y);
    if (!at || !(opacity > 0))
        return;
    opacity = fmin(opacity, 1);
    *at = (struct colour){mix(at->red, colour.red, opacity), mix(at->green, colour.green, opacity),
                          mix(at->blue, colour.blue, opacity)};
}

void canvas_fill(struct canvas *canvas, int x, int y, int width, int height, struct colour colour)
{
    for (int row = y; row < y + height; row++)
        for (int column = x; column < x + width; column++)
            canvas_set(canvas, column, row, colour);
}

void canvas_frame(struct canvas *canvas, int x, int y, int width, int height, struct colour colour)
{
    canvas_fill(canvas, x, y, width, 1, colour);
    canvas_fill(canvas, x, y + height - 1, width, 1, colour);
    canvas_fill(canvas, x, y, 1, height, colour);
    canvas_fill(canvas, x + width - 1, y, 1, height, colour);
}

/* A pixel is covered by as much as its centre lies inside the shape's edge, up to one pixel. */
static double coverage(double inside)
{
    return fmin(fmax(inside + 0.5, 0), 1);
}

void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double width, struct colour colour)
{
    double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy, reach = width / 2 + 1;
    int left = (int)floor(fmin(x0, x1) - reach), right = (int)ceil(fmax(x0, x1) + reach);
    int top = (int)floor(fmin(y0, y1) - reach), bottom = (int)ceil(fmax(y0, y1) + reach);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double along = square > 0 ? ((x - x0) * dx + (y - y0) * dy) / square : 0;
            along = fmin(fmax(along, 0), 1);
            canvas_blend(canvas, x, y, colour, coverage(width / 2 - hypot(x - x0 - along * dx, y - y0 - along * dy)));
        }
}

void canvas_disc(struct canvas *canvas, double x, double y, double radius, struct colour colour)
{
    canvas_line(canvas, x, y, x, y, 2 * radius, colour);
}

void canvas_ring(struct canvas *canvas, double x, double y, double radius, double width, struct colour colour)
{
    int reach = (int)ceil(radius + width);
    for (int row = (int)y - reach; row <= (int)y + reach; row++)
        for (int column = (int)x - reach; column <= (int)x + reach; column++)
            canvas_blend(canvas, column, row, colour, coverage(width / 2 - fabs(hypot(column - x, row - y) - radius)));
}

int text_width(const char *text)
{
    return (int)strlen(text) * TEXT_ADVANCE;
}

typedef const uint8_t (*glyphs)[FONT_ROWS];

/* One glyph; `up` turns it a quarter to the left. */
static void draw_glyph(struct canvas *canvas, int x, int y, char letter, glyphs font, bool up, struct colour colour)
{
    unsigned index = (unsigned char)letter - FONT_FIRST;
    if (index >= FONT_GLYPHS)
        index = '?' - FONT_FIRST;
    for (int row = 0; row < TEXT_HEIGHT; row++)
        for (int column = 0; column < TEXT_ADVANCE; column++)
            if (font[index][row] & 0x80 >> column)
                canvas_set(canvas, up ? x + row : x + column, up ? y - column : y + row, colour);
}

static void draw_text(struct canvas *canvas, int x, int y, enum anchor anchor, glyphs font, struct colour colour,
                      const char *text)
{
    x -= anchor == ANCHOR_LEFT ? 0 : anchor == ANCHOR_MIDDLE ? text_width(text) / 2 : text_width(text);
    for (; *text; text++, x += TEXT_ADVANCE)
        draw_glyph(canvas, x, y - TEXT_HEIGHT / 2, *text, font, false, colour);
}

void canvas_text(struct canvas *canvas, int x, int y, enum anchor anchor, struct colour colour, const char *text)
{
    draw_text(canvas, x, y, anchor, font_medium, colour, text);
}

void canvas_text_bold(struct canvas *canvas, int x, int y, enum anchor anchor, struct colour colour, const char *text)
{
    draw_text(canvas, x, y, anchor, font_bold, colour, text);
}

void canvas_text_up(struct canvas *canvas, int x, int y, struct colour colour, const char *text)
{
    y += text_width(text) / 2;
    for (; *text; text++, y -= TEXT_ADVANCE)
        draw_glyph(canvas, x - TEXT_HEIGHT / 2, y, *text, font_medium, true, colour);
}
