/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Canvas and file of a study's picture. */
#include "study_picture.h"
#include "command.h"
#include "outfile.h"

int study_picture_write(const char *path, int width, int height, void (*draw)(struct canvas *canvas, const void *study),
                        const void *study)
{
    struct canvas canvas;
    FILE *file;
    int code = outfile_open(&file, path), closing;
    if (code)
        return code;
    if (canvas_init(&canvas, width, height, white)) {
        draw(&canvas, study);
        code = canvas_write_png(&canvas, file, path);
        canvas_free(&canvas);
    } else {
        code = fail(EXIT_DATA, "out of memory");
    }
    closing = outfile_close(file, path);
    return code ? code : closing;
}
