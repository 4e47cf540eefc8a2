/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms along the columns of a frame, and along its rows too where it is 2-D, by transforms of one line. Columns
 * go through scratch memory a few at a time, which is whole lines of the cache; so do rows, since a transform's input
 * and output are apart. A centred plane is put in its place here.
 */
#include "backends/cpu/transform.h"

#include <string.h>

#define TOGETHER 8 /* columns: 64 bytes of a row */

struct planes {
    size_t width, height, first_row, first_column; /* the last two: where value 0 goes */
    struct cpu_transform along_columns, along_rows;
    bool rows;
    size_t rows_together;
    size_t column_step, row_step, lines_at, line_scratch_at; /* bytes */
};

static void destroy(struct cpu_transform *t)
{
    struct planes *planes = t->priv;
    planes->along_columns.kind->free(&planes->along_columns);
    if (planes->rows)
        planes->along_rows.kind->free(&planes->along_rows);
    penstock__free(planes);
}

static void lay_out(struct cpu_transform *t, struct planes *planes)
{
    size_t scratch = planes->along_columns.scratch_bytes;
    planes->row_step = penstock__aligned((planes->width + 2) * sizeof(penstock_cf32));
    planes->column_step = penstock__aligned((planes->height + 2) * sizeof(penstock_cf32));
    planes->rows_together = planes->rows && planes->along_rows.together ? planes->along_rows.together : 1;
    size_t columns = TOGETHER * planes->column_step, rows = planes->rows_together * planes->row_step;
    planes->lines_at = columns > rows ? columns : rows;
    planes->line_scratch_at = 2 * planes->lines_at;
    if (planes->rows && planes->along_rows.scratch_bytes > scratch)
        scratch = planes->along_rows.scratch_bytes;
    t->scratch_bytes = planes->line_scratch_at + penstock__aligned(scratch);
    t->alignment = sizeof(float);
}

static int line_init(struct cpu_transform *line, size_t n, unsigned variant, penstock_direction direction)
{
    *line = (struct cpu_transform){.n = n, .direction = direction};
    if (!(line->kind = penstock__cpu_transform_kind(line, variant)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "cpu has no variant %u of %zu points", variant, n);
    return line->kind->init(line);
}

int penstock__cpu_2d_init(struct cpu_transform *t, unsigned variant, const struct penstock_fft_problem *fft)
{
    struct planes *planes = penstock__calloc(1, sizeof *planes);
    int status;
    if (!planes)
        return PENSTOCK_ERR_MEMORY;
    planes->rows = fft->rows > 1;
    planes->width = planes->rows ? fft->n / fft->rows : fft->columns;
    planes->height = fft->n / planes->width;
    planes->first_row = fft->centered ? planes->height / 2 : 0;
    planes->first_column = fft->centered && planes->rows ? planes->width / 2 : 0;
    if ((status = line_init(&planes->along_columns, planes->height, variant, fft->direction)))
        goto free_2d;
    if (planes->rows && (status = line_init(&planes->along_rows, planes->width, variant, fft->direction)))
        goto free_columns;
    lay_out(t, planes);
    t->kind = &penstock__cpu_transform_2d;
    t->priv = planes;
    return PENSTOCK_OK;
free_columns:
    planes->along_columns.kind->free(&planes->along_columns);
free_2d:
    penstock__free(planes);
    return status;
}

/* ---------------------------------------------------------------- one frame ------------------- */

static void transform_columns(const struct planes *planes, const penstock_cf32 *in, penstock_cf32 *out, char *scratch)
{
    char *transformed = scratch + planes->lines_at;
    for (size_t first = 0; first < planes->width; first += TOGETHER) {
        size_t count = planes->width - first < TOGETHER ? planes->width - first : TOGETHER;
        for (size_t row = 0; row < planes->height; row++)
            for (size_t c = 0; c < count; c++)
                ((penstock_cf32 *)(void *)(scratch + c * planes->column_step))[row] =
                    in[row * planes->width + first + c];
        planes->along_columns.kind->run(&planes->along_columns, scratch, planes->column_step, transformed,
                                        planes->column_step, count, scratch + planes->line_scratch_at);
        for (size_t row = 0; row < planes->height; row++) {
            size_t to = row + planes->first_row < planes->height ? row + planes->first_row
                                                                 : row + planes->first_row - planes->height;
            for (size_t c = 0; c < count; c++)
                out[to * planes->width + first + c] =
                    ((penstock_cf32 *)(void *)(transformed + c * planes->column_step))[row];
        }
    }
}

static void transform_rows(const struct planes *planes, penstock_cf32 *values, char *scratch)
{
    size_t low = planes->width - planes->first_column;
    for (size_t first = 0; first < planes->height; first += planes->rows_together) {
        size_t left = planes->height - first, count = left < planes->rows_together ? left : planes->rows_together;
        for (size_t row = 0; row < count; row++)
            memcpy(scratch + row * planes->row_step, values + row * planes->width, planes->width * sizeof *values);
        planes->along_rows.kind->run(&planes->along_rows, scratch, planes->row_step, scratch + planes->lines_at,
                                     planes->row_step, count, scratch + planes->line_scratch_at);
        for (size_t row = 0; row < count; row++, values += planes->width) {
            const penstock_cf32 *transformed = (const void *)(scratch + planes->lines_at + row * planes->row_step);
            memcpy(values + planes->first_column, transformed, low * sizeof *values);
            memcpy(values, transformed + low, planes->first_column * sizeof *values);
        }
    }
}

static void run(const struct cpu_transform *t, const void *in, size_t in_step, void *out, size_t out_step, size_t count,
                void *scratch)
{
    const struct planes *planes = t->priv;
    const char *from = in;
    char *to = out;
    for (size_t i = 0; i < count; i++, from += in_step, to += out_step) {
        transform_columns(planes, (const penstock_cf32 *)(const void *)from, (penstock_cf32 *)(void *)to, scratch);
        if (planes->rows)
            transform_rows(planes, (penstock_cf32 *)(void *)to, scratch);
    }
}

const struct cpu_transform_kind penstock__cpu_transform_2d = {.name = "line by line", .free = destroy, .run = run};
