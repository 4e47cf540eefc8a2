/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The equalised points of all decoded frames as a picture: how often a point fell where, one panel a
 * modulation, with the ideal points marked. */
#include "frames.h"
#include "picture/axes.h"
#include "shared/outfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 220, CELL = 2, SIDE = CELLS * CELL, MODULATIONS = 4 };

static const double reach = 1.5; /* a panel shows -reach .. reach on both axes; 64-QAM ends at 1.08 */

static const struct {
    const char *name;
    int levels_i, levels_q; /* amplitudes on each axis; 1: none */
} modulations[MODULATIONS] = {{"BPSK", 2, 1}, {"QPSK", 2, 2}, {"16-QAM", 4, 4}, {"64-QAM", 8, 8}};

struct constellation_output {
    FILE *file;
    uint64_t points[MODULATIONS], frames[MODULATIONS];
    double squares[MODULATIONS]; /* of the errors, as the frames' EVM says */
    uint32_t counts[MODULATIONS][CELLS][CELLS];
    char path[];
};

static int open_constellation(void **state, const char *path, const struct stream_facts *facts)
{
    struct constellation_output *output;
    int code = png_available("--constellation");
    (void)facts;
    *state = NULL;
    if (code)
        return code;
    if (!(output = calloc(1, sizeof *output + strlen(path) + 1)))
        return fail(EXIT_DATA, "out of memory");
    strcpy(output->path, path);
    if ((code = outfile_open(&output->file, path)))
        free(output);
    else
        *state = output;
    return code;
}

/* IEEE 802.11-2020 table 17-4: the rate at 20 MHz tells the modulation. */
static size_t modulation_of(const penstock_wifi_frame *frame)
{
    double rate = frame->rate_mbps * 20e6 / frame->bandwidth_hz;
    return rate < 10 ? 0 : rate < 20 ? 1 : rate < 40 ? 2 : 3;
}

static int add_frame(void *state, const penstock_wifi_frame *frame)
{
    struct constellation_output *output = state;
    if (!frame->decoded || !frame->points || !(frame->bandwidth_hz > 0))
        return EXIT_DONE;
    size_t m = modulation_of(frame);
    output->frames[m]++;
    output->points[m] += frame->point_count;
    output->squares[m] += pow(10, frame->evm_db / 10) * (double)frame->point_count;
    for (size_t i = 0; i < frame->point_count; i++) {
        double x = (frame->points[i].re + reach) / (2 * reach) * CELLS;
        double y = (reach - frame->points[i].im) / (2 * reach) * CELLS;
        if (x >= 0 && x < CELLS && y >= 0 && y < CELLS)
            output->counts[m][(int)y][(int)x]++;
    }
    return EXIT_DONE;
}

static void draw_ideal(const struct axes *axes, size_t m)
{
    int levels_i = modulations[m].levels_i, levels_q = modulations[m].levels_q;
    double power = (levels_i * levels_i - 1 + levels_q * levels_q - 1) / 3.0;
    for (int i = 0; i < levels_i; i++)
        for (int q = 0; q < levels_q; q++)
            canvas_ring(axes->canvas, axes_x(axes, (2 * i - levels_i + 1) / sqrt(power)),
                        axes_y(axes, (2 * q - levels_q + 1) / sqrt(power)), 9, 1.2, (struct colour){236, 112, 99});
}

static void draw_panel(struct canvas *canvas, const struct constellation_output *output, size_t m, int left, int top)
{
    struct axes axes = {.canvas = canvas,
                        .left = left,
                        .top = top,
                        .width = SIDE,
                        .height = SIDE,
                        .x = {.low = -reach, .high = reach, .label = "in phase"},
                        .y = {.low = -reach, .high = reach, .label = "quadrature"}};
    char title[128];
    uint32_t most = 1;
    for (size_t i = 0; i < CELLS * CELLS; i++)
        if (output->counts[m][i / CELLS][i % CELLS] > most)
            most = output->counts[m][i / CELLS][i % CELLS];
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            uint32_t count = output->counts[m][y][x];
            canvas_fill(canvas, left + x * CELL, top + y * CELL, CELL, CELL,
                        colour_map(count ? 0.25 + 0.75 * log1p(count) / log1p(most) : 0));
        }
    draw_ideal(&axes, m);
    snprintf(title, sizeof title, "%s: %llu points of %llu frames, EVM %.1f dB", modulations[m].name,
             (unsigned long long)output->points[m], (unsigned long long)output->frames[m],
             10 * log10(output->squares[m] / (double)output->points[m]));
    axes_draw(&axes, title);
}

static int draw(const struct constellation_output *output)
{
    enum { PANEL_WIDTH = SIDE + 110, PANEL_HEIGHT = SIDE + 100, LEFT = 80, TOP = 44 };
    struct canvas canvas;
    int panels = 0, drawn = 0;
    for (size_t m = 0; m < MODULATIONS; m++)
        panels += output->points[m] > 0;
    if (!panels) {
        warn("no frame was decoded: the picture '%s' is empty", output->path);
        panels = 1;
    }
    int columns = panels > 1 ? 2 : 1, rows = (panels + 1) / 2;
    if (!canvas_init(&canvas, columns * PANEL_WIDTH, rows * PANEL_HEIGHT, white))
        return fail(EXIT_DATA, "out of memory");
    for (size_t m = 0; m < MODULATIONS; m++)
        if (output->points[m]) {
            draw_panel(&canvas, output, m, drawn % 2 * PANEL_WIDTH + LEFT, drawn / 2 * PANEL_HEIGHT + TOP);
            drawn++;
        }
    int code = canvas_write_png(&canvas, output->file, output->path);
    canvas_free(&canvas);
    return code;
}

static int close_constellation(void *state, bool keep)
{
    struct constellation_output *output = state;
    if (!output)
        return EXIT_DONE;
    int code = keep ? draw(output) : EXIT_DONE, closing = outfile_close(output->file);
    free(output);
    return code ? code : closing;
}

const struct frame_output frame_constellation = {
    .open = open_constellation, .frame = add_frame, .close = close_constellation};
