/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Canvas and file of a picture. */
#include "picture_file.h"
#include "shared/outfile.h"

int picture_write(const char *path, int width, int height, void (*draw)(struct canvas *canvas, const void *subject),
                  const void *subject)
{
    struct canvas canvas;
    FILE *file;
    int code = outfile_open(&file, path);
    if (code)
        return code;
    if (canvas_init(&canvas, width, height, white)) {
        draw(&canvas, subject);
        code = canvas_write_png(&canvas, file, path);
        canvas_free(&canvas);
    } else {
        code = fail(EXIT_DATA, "out of memory");
    }
    int closing = outfile_close(file);
    return code || (code = closing) ? code : outfile_complete();
}
