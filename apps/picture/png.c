/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pictures as PNG files through libpng. */
#include "canvas.h"
#include "shared/outfile.h"

#include <png.h>

int png_available(const char *option)
{
    (void)option;
    return EXIT_DONE;
}

int canvas_write_png(const struct canvas *canvas, FILE *file, const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .flags = PNG_IMAGE_FLAG_FAST, /* half of the time, and two thirds of the bytes for a waterfall */
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_stdio(&image, file, 0, canvas->pixels, 0, NULL))
        return EXIT_DONE;
    int code = outfile_check(file);
    return code ? code : fail(EXIT_DATA, "cannot write the picture '%s': %s", path, image.message);
}
