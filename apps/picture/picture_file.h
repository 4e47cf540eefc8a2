/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A picture that is drawn at once. */
#ifndef PENSTOCK_APPS_PICTURE_FILE_H
#define PENSTOCK_APPS_PICTURE_FILE_H

#include "canvas.h"

/* Writes what `draw` puts on a white canvas of so many pixels to a PNG file. Returns an exit code. */
int picture_write(const char *path, int width, int height, void (*draw)(struct canvas *canvas, const void *subject),
                  const void *subject);

#endif
