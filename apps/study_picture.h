/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The picture of a study. */
#ifndef PENSTOCK_APPS_STUDY_PICTURE_H
#define PENSTOCK_APPS_STUDY_PICTURE_H

#include "picture/canvas.h"

/* Writes what `draw` puts on a white canvas of so many pixels to a PNG file. Returns an exit code. */
int study_picture_write(const char *path, int width, int height, void (*draw)(struct canvas *canvas, const void *study),
                        const void *study);

#endif
