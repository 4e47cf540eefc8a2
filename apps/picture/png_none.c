/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What picture options say in a build without libpng. */
#include "canvas.h"
#include "shared/command.h"

int png_available(const char *option)
{
    return fail(EXIT_USAGE, "%s is not in this build: libpng, %s", option, PENSTOCK_WHY_NO_PNG);
}

int canvas_write_png(const struct canvas *canvas, FILE *file, const char *path)
{
    (void)canvas;
    (void)file;
    return fail(EXIT_USAGE, "'%s' cannot be written: libpng is not in this build", path);
}
