/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock fec ber: random bits, coded, in white noise, decoded on a device. */
#include "fec.h"
#include "picture/axes.h"
#include "picture/picture_file.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 400, BATCH_BITS = 1 << 19, LEVEL = 32 };

/* Of some batches. */
struct counts {
    double tried, wrong, blocks_tried, blocks_wrong;
};

struct curve {
    struct fec *fec;
    penstock_plan *plan;
    size_t blocks; /* of a batch */
    double rate;   /* of the code, its tail included */
    double bit_weights[FEC_MOST_WEIGHT];
    uint8_t *bits, *coded, *decoded;
    void *soft;
    char device[160];
    size_t count; /* of points; it and what follows change between interrupt_hold() and interrupt_release() */
    double ebn0_db[MOST_POINTS], rates[MOST_POINTS], bounds[MOST_POINTS], uncoded[MOST_POINTS];
    struct counts counts[MOST_POINTS];
};

static int make(struct curve *curve, penstock_context *context)
{
    struct fec *fec = curve->fec;
    size_t all;
    curve->blocks = (BATCH_BITS + fec->desc.bits - 1) / fec->desc.bits;
    all = curve->blocks * fec->sent;
    curve->rate = (double)fec->desc.bits / (double)fec->sent;
    curve->bits = calloc(curve->blocks, fec->bytes);
    curve->decoded = calloc(curve->blocks, fec->bytes);
    curve->coded = calloc(all, 1);
    curve->soft = calloc(all, sizeof(float));
    if (!curve->bits || !curve->decoded || !curve->coded || !curve->soft)
        return fail(EXIT_DATA, "out of memory");
    fec->desc.batch = curve->blocks;
    progress_wait(PROGRESS_PLAN);
    int status = penstock_viterbi_plan(&curve->plan, context, &fec->desc, fec->device);
    progress_arrived();
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    if (status || (status = penstock_plan_get_info(curve->plan, &info)))
        return fail_status(status);
    snprintf(curve->device, sizeof curve->device, "%s", info.device);
    return fec_weights(curve->bit_weights, &fec->desc);
}

static void put(struct curve *curve, size_t i, float value)
{
    if (curve->fec->desc.soft == PENSTOCK_SOFT_F32)
        ((float *)curve->soft)[i] = value;
    else if (curve->fec->desc.soft == PENSTOCK_SOFT_HARD)
        ((uint8_t *)curve->soft)[i] = value < 0;
    else
        ((int8_t *)curve->soft)[i] = (int8_t)lrintf(fmaxf(-127, fminf(127, LEVEL * value)));
}

/* Adds to the counts. */
static int batch(struct curve *curve, double ebn0_db, uint64_t *seed, struct counts *counts)
{
    const struct fec *fec = curve->fec;
    const size_t bytes = curve->blocks * fec->bytes, all = curve->blocks * fec->sent, left = fec->desc.bits % 8;
    const double power = 0.5 / curve->rate * pow(10, -ebn0_db / 10); /* of the noise in one dimension */
    penstock_cf32 noise[512];
    for (size_t i = 0; i < bytes; i++)
        curve->bits[i] = (uint8_t)random_bits(seed);
    for (size_t i = 0; i < curve->blocks && left; i++)
        curve->bits[(i + 1) * fec->bytes - 1] &= (uint8_t)((1u << left) - 1);
    int status = penstock_viterbi_encode(&fec->desc, curve->coded, curve->bits, curve->blocks);
    for (size_t i = 0; i < all && !status; i++) {
        if (i % 1024 == 0) {
            memset(noise, 0, sizeof noise);
            random_noise(noise, 512, 2 * power, seed);
        }
        const penstock_cf32 *here = &noise[i % 1024 / 2];
        put(curve, i, (curve->coded[i] ? -1.0F : 1.0F) + (i % 2 ? here->im : here->re));
    }
    if (status || (status = penstock_plan_run(curve->plan, curve->soft, curve->decoded, curve->blocks)))
        return fail_status(status);
    for (size_t b = 0; b < curve->blocks; b++) {
        unsigned wrong = 0;
        for (size_t i = b * fec->bytes; i < (b + 1) * fec->bytes; i++)
            wrong += (unsigned)__builtin_popcount(curve->bits[i] ^ curve->decoded[i]);
        counts->wrong += wrong;
        counts->blocks_wrong += wrong > 0;
    }
    counts->tried += (double)curve->blocks * (double)fec->desc.bits;
    counts->blocks_tried += (double)curve->blocks;
    return EXIT_DONE;
}

static void set_point(struct curve *curve, size_t p, double ebn0_db, const struct counts *counts)
{
    interrupt_hold();
    curve->counts[p] = *counts;
    curve->ebn0_db[p] = ebn0_db;
    curve->rates[p] = counts->wrong / counts->tried;
    curve->bounds[p] = fec_bound(curve->bit_weights, curve->rate, ebn0_db);
    curve->uncoded[p] = fec_uncoded(ebn0_db);
    curve->count = p + 1;
    interrupt_release();
}

/* Until there are enough errors, or enough bits. */
static int measure(struct curve *curve)
{
    const struct fec *fec = curve->fec;
    uint64_t seed = fec->seed;
    int code = EXIT_DONE;
    const double step_db = fec->step_db;
    const size_t points = (size_t)floor((fec->last_db - fec->first_db) / step_db + 1e-9) + 1;
    progress_begin("points", (double)points);
    for (size_t p = 0; p < points && p < MOST_POINTS && !code && !interrupted(); p++) {
        const double ebn0_db = fec->first_db + step_db * (double)p;
        struct counts counts = {0};
        while (counts.tried < (double)fec->count && counts.wrong < (double)fec->errors && !interrupted()) {
            if ((code = batch(curve, ebn0_db, &seed, &counts)))
                break;
            set_point(curve, p, ebn0_db, &counts);
            progress_done((double)p, "%g dB: %.0f errors in %.2g bits", ebn0_db, counts.wrong, counts.tried);
        }
    }
    progress_clear();
    return code;
}

static void print_row(const struct curve *curve, FILE *file, bool csv, size_t i)
{
    const struct counts *counts = &curve->counts[i];
    const double block_rate = counts->blocks_wrong / counts->blocks_tried;
    if (csv)
        fprintf(file, "%g,%.0f,%.0f,%.6g,%.0f,%.0f,%.6g,%.6g,%.6g\n", curve->ebn0_db[i], counts->tried, counts->wrong,
                curve->rates[i], counts->blocks_tried, counts->blocks_wrong, block_rate, curve->bounds[i],
                curve->uncoded[i]);
    else
        fprintf(file, "%8g %11.0f %8.0f %10.3g %10.3g %12.3g %9.3g\n", curve->ebn0_db[i], counts->tried, counts->wrong,
                curve->rates[i], block_rate, curve->bounds[i], curve->uncoded[i]);
}

static void print(const struct curve *curve, FILE *file, bool csv)
{
    fprintf(file, "%s\n",
            csv ? "ebn0_db,bits,errors,ber,blocks,block_errors,bler,union_bound,uncoded"
                : "Eb/N0 dB        bits   errors        BER       BLER  union bound   no code");
    for (size_t i = 0; i < curve->count; i++)
        print_row(curve, file, csv, i);
}

static void draw(struct canvas *canvas, const void *subject)
{
    const struct curve *curve = subject;
    double least = 1;
    char title[320];
    for (size_t i = 0; i < curve->count; i++)
        least = fmin(least, curve->rates[i] > 0 ? curve->rates[i] : 0.5 / curve->counts[i].tried);
    struct axes axes = {.canvas = canvas,
                        .left = 90,
                        .top = 50,
                        .width = 640,
                        .height = 480,
                        .x = {.low = curve->fec->first_db, .high = curve->fec->last_db, .label = "Eb/N0, dB"},
                        .y = {.low = pow(10, floor(log10(least))), .high = 1, .base = 10, .label = "bit error rate"},
                        .grid = true};
    snprintf(title, sizeof title, "%.40s, blocks of %zu bits, white noise, on %s", curve->fec->code,
             curve->fec->desc.bits, curve->device);
    axes_draw(&axes, title);
    axes_curve(&axes, curve->ebn0_db, curve->uncoded, curve->count, false, curve_colour(2));
    axes_curve(&axes, curve->ebn0_db, curve->bounds, curve->count, false, curve_colour(1));
    axes_curve(&axes, curve->ebn0_db, curve->rates, curve->count, true, curve_colour(0));
    axes_legend(&axes, 0, curve_colour(0), "measured");
    axes_legend(&axes, 1, curve_colour(1), "union bound");
    axes_legend(&axes, 2, curve_colour(2), "without a code");
}

/* What there is, after an interrupt too. */
static int conclude(void *owner)
{
    struct curve *curve = owner;
    const struct fec *fec = curve->fec;
    FILE *file = NULL;
    int code = EXIT_DONE;
    if (!curve->count)
        return fail(EXIT_DONE, "interrupted before a point was measured: nothing is written");
    print(curve, stdout, false);
    if (fec->csv && !(code = outfile_open(&file, fec->csv))) {
        print(curve, file, true);
        code = outfile_close(file);
    }
    if (!code)
        code = fec->png ? picture_write(fec->png, 930, 600, draw, curve) : outfile_complete(); /* of both */
    return interrupt_tell(code);
}

int fec_ber(struct fec *fec)
{
    struct curve *curve = calloc(1, sizeof *curve);
    penstock_context *context = NULL;
    int code = curve ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
    if (!code && fec->last_db < fec->first_db)
        code = fail(EXIT_USAGE, "--from %g and --to %g are impossible: the first must not be more", fec->first_db,
                    fec->last_db);
    if (!code && (fec->last_db - fec->first_db) / fec->step_db > MOST_POINTS - 1)
        code = fail(EXIT_USAGE, "--step %g is impossible: that is more than %d points", fec->step_db, MOST_POINTS);
    if (!code && fec->png)
        code = png_available("--png");
    if (!code && fec->png)
        code = outfile_try(fec->png);
    if (!code && fec->csv)
        code = outfile_try(fec->csv);
    if (!code)
        code = open_context(&context, 0);
    if (!code) {
        curve->fec = fec;
        fec->desc.result = PENSTOCK_BITS_LSB_FIRST;
        interrupt_conclude_by(conclude, curve, EXIT_DONE);
        code = make(curve, context);
        if (!code && !(code = measure(curve)))
            code = interrupt_conclude(conclude, curve);
        interrupt_conclude_by(NULL, NULL, code);
    }
    if (curve) {
        penstock_plan_free(curve->plan);
        free(curve->bits);
        free(curve->coded);
        free(curve->decoded);
        free(curve->soft);
    }
    free(curve);
    penstock_context_free(context);
    return code;
}
