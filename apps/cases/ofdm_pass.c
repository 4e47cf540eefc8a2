/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM symbols that follow each other, through a stream. */
#include "ofdm_pass.h"
#include "accuracy.h"
#include "bench/bench_stream.h"
#include "flow.h"
#include "lent.h"
#include "reference_dft.h"
#include "shared/progress.h"
#include "shared/random.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>

struct ofdm_pass {
    const struct ofdm_case *ofdm;
    penstock_stream *stream;
    int32_t carriers[GRID_CARRIERS], pilots[GRID_PILOTS];
    size_t carrier_count, pilot_count, step, symbols, samples;
    penstock_cf32 pilot_values[GRID_PILOTS], *in, *points; /* points NULL: they are not looked at */
    bool random_chunks, filled;                            /* the memory that the stream lends has samples */
};

/* ---------------------------------------------------------------- life ------------------------ */

static int prepare(struct ofdm_pass *pass, const struct ofdm_case *ofdm, size_t symbols,
                   const struct case_target *target, bool checked)
{
    uint64_t seed = ofdm->grid.n;
    *pass = (struct ofdm_pass){
        .ofdm = ofdm, .step = ofdm->grid.n + ofdm->grid.guard, .symbols = symbols, .random_chunks = checked};
    ofdm_grid_carriers(&ofdm->grid, pass->carriers, &pass->carrier_count, pass->pilots, &pass->pilot_count);
    for (size_t i = 0; i < pass->pilot_count; i++)
        pass->pilot_values[i].re = i % 3 ? 1 : -1;
    pass->samples = symbols * pass->step + pass->step / 2; /* and some that make none */
    pass->in = malloc(pass->samples * sizeof *pass->in);
    if (checked)
        pass->points = malloc(symbols * pass->carrier_count * sizeof *pass->points);
    if (!pass->in || (checked && !pass->points))
        return PENSTOCK_ERR_MEMORY;
    signal_random(pass->in, PENSTOCK_CF32, pass->samples, &seed);
    return penstock_ofdm_stream_open(
        &pass->stream, target->context,
        &PENSTOCK_OFDM_STREAM_DESC(.n = ofdm->grid.n, .guard = ofdm->grid.guard, .carriers = pass->carriers,
                                   .carrier_count = pass->carrier_count, .pilots = pass->pilots,
                                   .pilot_count = pass->pilot_count, .pilot_values = pass->pilot_values,
                                   .pilot_rows = 1, .track = pass->pilot_count && !checked,
                                   .constellation = ofdm->constellation, .continuous = true),
        target->device);
}

static void release(struct ofdm_pass *pass)
{
    penstock_stream_free(pass->stream);
    free(pass->in);
    free(pass->points);
}

/* ---------------------------------------------------------------- a pass ---------------------- */

/* Takes symbols until there are `enough`, or all that are there. */
static int pull(struct ofdm_pass *pass, size_t enough, size_t *count)
{
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    int status = PENSTOCK_OK;
    while (*count < enough && (status = penstock_ofdm_stream_pull(pass->stream, &result)) == 1) {
        for (size_t i = 0; i < result.symbols * pass->carrier_count && pass->points; i++)
            pass->points[*count * pass->carrier_count + i] = result.points[i];
        *count += result.symbols;
    }
    return status > 0 ? PENSTOCK_OK : status;
}

/* The whole stream once. Symbols are asked for when enough others have followed to keep a device busy. */
static int pass_once(struct ofdm_pass *pass, size_t *count)
{
    enum { TOGETHER = 1 << 22 };
    const size_t chunk = flow_most_bytes() / sizeof *pass->in;
    uint64_t seed = 1;
    size_t taken;
    int status = penstock_stream_reset(pass->stream);
    *count = 0;
    for (size_t done = 0; !status && done < pass->samples; done += taken) {
        size_t left = pass->samples - done, most = pass->ofdm->acquire ? TOGETHER : chunk;
        if (pass->random_chunks)
            most = 1 + (size_t)(random_uniform(&seed) * 3.0 * (double)pass->step);
        left = left < most ? left : most;
        taken = 0;
        status = pass->ofdm->acquire
                     ? lent_push(pass->stream, pass->random_chunks || !pass->filled, pass->in + done, left, &taken)
                     : penstock_stream_push(pass->stream, pass->in + done, left, &taken);
        const size_t pushed = done + taken;
        if (!status && pass->random_chunks)
            status = pull(pass, SIZE_MAX, count);
        else if (!status && pushed > TOGETHER)
            status = pull(pass, (pushed - TOGETHER) / pass->step, count);
    }
    pass->filled = true;
    if (!status)
        status = penstock_stream_finish(pass->stream);
    return status ? status : pull(pass, SIZE_MAX, count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Relative L2 of the points to the bins in double precision; NAN when out of memory. */
static double measure_error(const struct ofdm_pass *pass)
{
    const size_t n = pass->ofdm->grid.n;
    struct reference_dft dft = {0};
    double difference = 0, power = 0, *values = malloc(2 * n * sizeof *values);
    const bool ready = values && reference_dft_init(&dft, n);
    for (size_t s = 0; s < pass->symbols && ready; s++) {
        const penstock_cf32 *from = pass->in + s * pass->step + pass->ofdm->grid.guard;
        for (size_t i = 0; i < n; i++) {
            values[2 * i] = from[i].re;
            values[2 * i + 1] = from[i].im;
        }
        for (size_t c = 0; c < pass->carrier_count; c++) {
            const penstock_cf32 got = pass->points[s * pass->carrier_count + c];
            double bin[2];
            reference_dft_bin(&dft, values, false, (size_t)(pass->carriers[c] + (int32_t)n) % n, bin);
            difference += pow(got.re - bin[0], 2) + pow(got.im - bin[1], 2);
            power += bin[0] * bin[0] + bin[1] * bin[1];
        }
    }
    reference_dft_free(&dft);
    free(values);
    return ready ? sqrt(difference / power) : NAN;
}

void ofdm_pass_check(const struct ofdm_case *ofdm, const struct case_target *target, struct case_verdict *verdict)
{
    enum { SYMBOLS = 5 };
    struct ofdm_pass pass;
    size_t count = 0;
    int status = prepare(&pass, ofdm, ofdm->symbols ? ofdm->symbols : SYMBOLS, target, true);
    if (status || (status = pass_once(&pass, &count))) {
        verdict_status(verdict, status);
    } else if (count != pass.symbols) {
        verdict_failed(verdict, "%zu symbols came of %zu samples, not %zu", count, pass.samples, pass.symbols);
    } else {
        /* of the transform, and three roundings more of rotation and equaliser */
        const double error = measure_error(&pass), bound = 1e-7 * (sqrt(log2((double)ofdm->grid.n)) + 2) *
                                                           accuracy_factor(target->device, ofdm->grid.n);
        if (error <= bound)
            verdict_held(verdict, "error %.2e, bound %.2e, %zu symbols", error, bound, count);
        else
            verdict_failed(verdict, "error %.2e is above the bound %.2e", error, bound);
    }
    release(&pass);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_pass(void *state)
{
    struct ofdm_pass *pass = state;
    size_t count = 0;
    int status = pass_once(pass, &count);
    if (status)
        return fail_status(status);
    return count == pass->symbols ? EXIT_DONE : fail(EXIT_DATA, "%zu symbols, not %zu", count, pass->symbols);
}

int ofdm_pass_bench(const struct ofdm_case *ofdm, const struct case_target *target, struct bench_row *row)
{
    const size_t usual = 2 * case_bench_samples(target) / (ofdm->grid.n + ofdm->grid.guard) + 1;
    struct ofdm_pass pass;
    const double start = seconds_now();
    int status = prepare(&pass, ofdm, ofdm->symbols ? ofdm->symbols : usual, target, false),
        code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        const size_t symbol = pass.carrier_count * (sizeof *pass.points + (size_t)ofdm->constellation);
        const double in_bytes = (double)(pass.samples * sizeof *pass.in), out_bytes = (double)(pass.symbols * symbol);
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = pass.symbols;
        row->samples_per_run = (double)pass.samples;
        row->bytes_per_sample = (in_bytes + out_bytes) / row->samples_per_run;
        code = bench_measure(row, &(struct workload){run_pass, &pass}, NULL, 0.5);
        if (!code)
            bench_stream_limits(row, target, in_bytes, out_bytes);
    }
    release(&pass);
    return code;
}
