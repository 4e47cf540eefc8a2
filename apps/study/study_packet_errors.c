/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study per: frames in white noise, detection included. Recorded frames where there are some (their own
 * noise, at 33 dB or below, is left in), the transmitter's elsewhere. The ratio is the frame's mean power over the
 * noise's, both in the whole 20 MHz.
 */
#include "cases/air.h"
#include "picture/axes.h"
#include "picture/picture_file.h"
#include "shared/interrupt.h"
#include "shared/progress.h"
#include "shared/random.h"
#include "study_frames.h"

#include <math.h>
#include <stdlib.h>

enum { RATES = 8, MOST_POINTS = 40 };

/* Where the curves are looked for: from well below to well above the published ten percent points. */
static const struct {
    double mbps, first_db;
} rates[RATES] = {{6, -3}, {9, -1}, {12, 0}, {18, 3}, {24, 5}, {36, 8}, {48, 12}, {54, 13}};

struct curve {
    struct study_frames frames;
    double snr_db[MOST_POINTS], error_rate[MOST_POINTS];
    size_t count;
    double ten_percent_db; /* NAN: not crossed */
};

/* A part of the point's frames at a time, with a gap of random length before each, so that memory stays small. */
static int measure_part(const struct study_frames *sent, const struct study *study, penstock_stream *receiver,
                        double snr_db, size_t frames, uint64_t *state, size_t *found)
{
    enum { GAP = 400, TAIL = 2000 };
    struct air air = {0};
    struct air_result result;
    bool good = true;
    for (size_t i = 0; i < frames && good; i++) {
        const struct study_frame *frame = &sent->frame[i % sent->count];
        good = air_silence(&air, GAP + (size_t)(random_uniform(state) * GAP)) &&
               air_samples(&air, frame->samples, frame->count, frame->psdu, study->length);
    }
    int code = good && air_silence(&air, TAIL) ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
    if (!code) {
        air_noise(&air, pow(10, -snr_db / 10), random_bits(state));
        int status = air_receive(&result, &air, receiver, 65536);
        code = status ? fail_status(status) : EXIT_DONE;
        *found += code ? 0 : result.found;
    }
    air_free(&air);
    return code;
}

static int measure_point(struct curve *curve, const struct study *study, penstock_stream *receiver, double snr_db)
{
    const size_t part = study->length > 1000 ? 20 : 200, frames = study->frames;
    uint64_t state = (uint64_t)(1000 + 10 * snr_db);
    size_t found = 0;
    int code = EXIT_DONE;
    for (size_t done = 0; done < frames && !code; done += part)
        code = measure_part(&curve->frames, study, receiver, snr_db, frames - done < part ? frames - done : part,
                            &state, &found);
    interrupt_hold();
    curve->snr_db[curve->count] = snr_db;
    curve->error_rate[curve->count] = 1 - (double)found / (double)frames;
    curve->count += !code;
    interrupt_release();
    return code;
}

/* Where the curve crosses one in ten, between points on the logarithmic scale; no error counts as half an error. */
static double find_crossing(const struct curve *curve, size_t frames)
{
    for (size_t i = 1; i < curve->count; i++) {
        double before = log10(fmax(curve->error_rate[i - 1], 0.5 / (double)frames));
        double after = log10(fmax(curve->error_rate[i], 0.5 / (double)frames));
        if (before >= -1 && after < -1)
            return curve->snr_db[i - 1] + (curve->snr_db[i] - curve->snr_db[i - 1]) * (before + 1) / (before - after);
    }
    return NAN;
}

static int measure_curve(struct curve *curve, const struct study *study, penstock_stream *receiver, size_t rate)
{
    const double step_db = 0.5;
    int code = EXIT_DONE;
    size_t clean = 0; /* points below one in a hundred */
    for (size_t i = 0; i < MOST_POINTS && clean < 2 && !code && !interrupted(); i++) {
        progress_done((double)rate, "%g Mb/s at %.1f dB", rates[rate].mbps, rates[rate].first_db + step_db * (double)i);
        code = measure_point(curve, study, receiver, rates[rate].first_db + step_db * (double)i);
        clean += !code && curve->error_rate[i] < 0.01;
    }
    interrupt_hold();
    curve->ten_percent_db = find_crossing(curve, study->frames);
    interrupt_release();
    return code;
}

static void print_curve(const struct curve *curve, double mbps)
{
    progress_clear();
    interrupt_hold();
    printf("%-5g %-11s", mbps, curve->frames.recorded ? "recorded" : "transmitter");
    if (isnan(curve->ten_percent_db))
        printf(" %9s ", "-");
    else
        printf(" %6.2f dB ", curve->ten_percent_db);
    for (size_t i = 0; i < curve->count; i++)
        if (curve->error_rate[i] < 0.995)
            printf(" %g:%.3f", curve->snr_db[i], curve->error_rate[i]);
    putchar('\n');
    interrupt_release();
    fflush(stdout);
}

struct drawing {
    const struct curve *curves;
    const struct study *study;
    const char *device;
};

static void draw_curves(struct canvas *canvas, const void *subject)
{
    const struct drawing *drawing = subject;
    const struct curve *curves = drawing->curves;
    const struct study *study = drawing->study;
    struct axes axes = {.canvas = canvas,
                        .left = 90,
                        .top = 50,
                        .width = 740,
                        .height = 520,
                        .x = {.low = -3, .high = 21, .label = "signal-to-noise ratio in 20 MHz, dB"},
                        .y = {.low = 0.8 / (double)study->frames, .high = 1, .base = 10, .label = "packet error rate"},
                        .grid = true};
    char text[160];
    snprintf(text, sizeof text, "802.11a/g, %zu-byte frames, %zu a point, white noise, detection included, on %s",
             study->length, study->frames, drawing->device);
    axes_draw(&axes, text);
    canvas_line(canvas, axes.left, axes_y(&axes, 0.1), axes.left + axes.width, axes_y(&axes, 0.1), 1,
                (struct colour){120, 120, 126});
    for (size_t i = 0; i < RATES; i++) {
        char crossing[16] = "    -";
        if (!isnan(curves[i].ten_percent_db))
            snprintf(crossing, sizeof crossing, "%5.1f dB", curves[i].ten_percent_db);
        axes_curve(&axes, curves[i].snr_db, curves[i].error_rate, curves[i].count, true, curve_colour(i));
        snprintf(text, sizeof text, "%2g Mb/s%s %s", rates[i].mbps, curves[i].frames.recorded ? " " : "*", crossing);
        axes_legend(&axes, (int)i + 1, curve_colour(i), text);
    }
    canvas_text(canvas, axes.left + axes.width + 22, axes.top + 11, ANCHOR_LEFT, ink, "            10 % at");
    canvas_text(canvas, axes.left + axes.width + 22, axes.top + 214, ANCHOR_LEFT, ink, "* own transmitter");
}

/* The curves that there are, after an interrupt too. */
static int conclude(void *drawing)
{
    const struct drawing *all = drawing;
    int code = EXIT_DONE;
    if (all->study->png)
        code = picture_write(all->study->png, 1030, 640, draw_curves, all);
    return interrupt_tell(code);
}

int study_packet_errors(const struct study *study)
{
    struct curve *curves = calloc(RATES, sizeof *curves);
    struct recordings recordings = {0};
    penstock_context *context = NULL;
    penstock_stream *receiver = NULL;
    int code = curves ? open_context(&context, 0) : fail(EXIT_DATA, "out of memory");
    if (code)
        goto done;
    int status = penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.profile = PENSTOCK_WIFI),
                                             study->device);
    if (status) {
        code = fail_status(status);
        goto done;
    }
    if (!recordings_open(&recordings))
        printf("%s: all frames are the transmitter's\n", recordings.reason);
    printf("%-5s %-11s %9s   %s\n", "Mb/s", "frames", "10 % at", "SNR dB : packet error rate");
    for (size_t i = 0; i < RATES; i++)
        curves[i].ten_percent_db = NAN;
    struct drawing drawing = {curves, study, penstock_stream_device(receiver)};
    interrupt_conclude_by(conclude, &drawing, EXIT_DONE);
    progress_begin("rates", RATES);
    for (size_t i = 0; i < RATES && !code && !interrupted(); i++) {
        if ((code = study_frames_find(&curves[i].frames, study, &recordings, rates[i].mbps)) ||
            (code = measure_curve(&curves[i], study, receiver, i)))
            break;
        print_curve(&curves[i], rates[i].mbps);
        interrupt_hold();
        drawing.device = penstock_stream_device(receiver);
        interrupt_release();
    }
    if (!code)
        code = interrupt_conclude(conclude, &drawing);
    interrupt_conclude_by(NULL, NULL, code);
done:
    for (size_t i = 0; curves && i < RATES; i++)
        study_frames_free(&curves[i].frames);
    free(curves);
    recordings_free(&recordings);
    penstock_stream_free(receiver);
    penstock_context_free(context);
    return code;
}
