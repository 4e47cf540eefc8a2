/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The glyphs of canvas_text(). */
#ifndef PENSTOCK_APPS_FONT_H
#define PENSTOCK_APPS_FONT_H

#include <stdint.h>

enum { FONT_FIRST = ' ', FONT_GLYPHS = 95, FONT_ROWS = 13 };

/* Rows from the top; the leftmost pixel is bit 7. */
extern const uint8_t font_medium[FONT_GLYPHS][FONT_ROWS], font_bold[FONT_GLYPHS][FONT_ROWS];

#endif
