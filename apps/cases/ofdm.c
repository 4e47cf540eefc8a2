/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* ofdm: demodulation of the symbols of ofdm_signal.h. Without noise the points must come out as they went in, and the
 * soft bits must be the max-log ratios of those points. */
#include "bench/bench_on_device.h"
#include "cases.h"
#include "ofdm_pass.h"
#include "ofdm_signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    penstock_constellation constellation;
} constellations[] = {
    {"bpsk", PENSTOCK_BPSK},   {"qpsk", PENSTOCK_QPSK},     {"qam16", PENSTOCK_QAM16},
    {"qam64", PENSTOCK_QAM64}, {"qam256", PENSTOCK_QAM256}, {"qam1024", PENSTOCK_QAM1024},
};

static bool parse_word(struct ofdm_case *ofdm, const char *word)
{
    for (size_t i = 0; i < sizeof constellations / sizeof constellations[0]; i++)
        if (!strcmp(word, constellations[i].name)) {
            ofdm->constellation = constellations[i].constellation;
            return true;
        }
    if (!strcmp(word, "cs16"))
        return ofdm->integers = true;
    if (!strcmp(word, "stream"))
        return ofdm->stream = true;
    if (!strcmp(word, "acquire"))
        return ofdm->acquire = ofdm->stream = true;
    return parse_count(word, "x", &ofdm->symbols);
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    *problem = count ? words[0] : "no grid";
    test->ofdm.constellation = PENSTOCK_QPSK;
    if (!count || !ofdm_grid_find(&test->ofdm.grid, words[0]))
        return false;
    for (size_t i = 1; i < count; i++) {
        *problem = words[i];
        if (!parse_word(&test->ofdm, words[i]))
            return false;
    }
    *problem = "streams are of cf32";
    return !test->ofdm.stream || !test->ofdm.integers;
}

struct ofdm_run {
    const struct ofdm_case *ofdm;
    struct ofdm_signal signal;
    int16_t *integers; /* its samples, where the case wants them so */
    penstock_cf32 *points;
    int8_t *soft;
    penstock_ofdm *demodulator;
    const struct case_target *target;
};

/* What a device reads and writes; NULL if there is none. */
static void *reached(const struct ofdm_run *run, size_t bytes)
{
    void *memory;
    return penstock_host_memory_new(&memory, run->target->context, run->target->device, bytes) ? NULL : memory;
}

static int allocate(struct ofdm_run *run)
{
    const struct ofdm_signal *signal = &run->signal;
    size_t values = signal->symbol_count * signal->carrier_count;
    run->points = calloc(values, sizeof *run->points);
    run->soft = reached(run, values * (size_t)run->ofdm->constellation);
    if (run->ofdm->integers)
        run->integers = reached(run, signal->sample_count * 2 * sizeof *run->integers);
    return run->points && run->soft && (run->integers || !run->ofdm->integers) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* `repeated`: as ofdm_signal_make() has it; the points are not looked at then. */
static int prepare(struct ofdm_run *run, const struct ofdm_case *ofdm, size_t symbols, const struct case_target *target,
                   bool repeated)
{
    const struct ofdm_grid *grid = &ofdm->grid;
    const struct ofdm_signal *signal = &run->signal;
    *run = (struct ofdm_run){.ofdm = ofdm, .target = target};
    if (!ofdm_signal_make(&run->signal, grid, ofdm->constellation, symbols, repeated) || allocate(run))
        return PENSTOCK_ERR_MEMORY;
    if (run->integers)
        ofdm_signal_quantise(&run->signal, run->integers);
    return penstock_ofdm_new(
        &run->demodulator, target->context,
        &PENSTOCK_OFDM_DESC(.n = grid->n, .guard = grid->guard, .window_offset = grid->guard / 4,
                            .carriers = signal->carriers, .carrier_count = signal->carrier_count,
                            .pilots = signal->pilots, .pilot_count = signal->pilot_count,
                            .pilot_values = signal->pilot_values, .pilot_rows = 1,
                            .format = run->integers ? PENSTOCK_CS16 : PENSTOCK_CF32,
                            .tracking = signal->pilot_count ? PENSTOCK_TRACK_PILOTS : PENSTOCK_TRACK_GIVEN,
                            .max_constellation = ofdm->constellation, .batch = symbols),
        target->device);
}

static void release(struct ofdm_run *run)
{
    penstock_ofdm_free(run->demodulator);
    ofdm_signal_free(&run->signal);
    free(run->points);
    penstock_host_memory_free(run->target->context, run->integers);
    penstock_host_memory_free(run->target->context, run->soft);
}

static int demodulate(struct ofdm_run *run, penstock_cf32 *points, int8_t *soft)
{
    const void *samples = run->integers ? (const void *)run->integers : (const void *)run->signal.samples;
    penstock_ofdm_batch batch =
        PENSTOCK_OFDM_BATCH(.samples = samples, .sample_count = run->signal.sample_count, .frames = &run->signal.frame,
                            .frame_count = 1, .symbols = run->signal.symbols, .symbol_count = run->signal.symbol_count);
    return penstock_ofdm_run(run->demodulator, &batch, &PENSTOCK_OFDM_RESULT(.points = points, .soft = soft));
}

/* The max-log ratio of bit `bit` (0: first) by trying every point. */
static double log_ratio(const struct ofdm_run *run, double complex point, double weight, unsigned bit)
{
    unsigned width = (unsigned)run->ofdm->constellation;
    double nearest[2] = {HUGE_VAL, HUGE_VAL};
    for (unsigned bits = 0; bits < 1u << width; bits++) {
        double distance = pow(cabs(point - ofdm_point(bits, run->ofdm->constellation)), 2);
        unsigned value = bits >> (width - 1 - bit) & 1;
        nearest[value] = fmin(nearest[value], distance);
    }
    return weight * (nearest[1] - nearest[0]);
}

/* Soft bits of every `step`th value that are off by more than the rounding of a half can explain. */
static size_t count_wrong_soft(const struct ofdm_run *run, size_t step, size_t *compared)
{
    size_t wrong = 0, width = (size_t)run->ofdm->constellation;
    *compared = 0;
    for (size_t i = 0; i < run->signal.symbol_count * run->signal.carrier_count; i += step) {
        penstock_cf32 gain =
            run->signal.channel[ofdm_bin(run->signal.carriers[i % run->signal.carrier_count], run->signal.grid->n)];
        double weight = (pow(gain.re, 2) + pow(gain.im, 2)) / run->signal.frame.noise;
        for (unsigned bit = 0; bit < width; bit++, ++*compared) {
            double expected = log_ratio(run, run->points[i].re + I * run->points[i].im, weight, bit);
            expected = fmin(fmax(expected, -127), 127);
            wrong += fabs(run->soft[i * width + bit] - expected) > 0.51;
        }
    }
    return wrong;
}

static void compare(const struct ofdm_run *run, struct case_verdict *verdict)
{
    /* Float rounding through FFT and equaliser leaves about -120; integers of 16 bits at a tenth of full scale, with
     * a channel that weakens carriers by up to 10 dB, about -70. */
    const double bound_db = run->integers ? -60 : -90;
    size_t values = run->signal.symbol_count * run->signal.carrier_count, compared = 0;
    double difference = 0, power = 0;
    for (size_t i = 0; i < values; i++) {
        difference +=
            pow(run->points[i].re - run->signal.sent[i].re, 2) + pow(run->points[i].im - run->signal.sent[i].im, 2);
        power += pow(run->signal.sent[i].re, 2) + pow(run->signal.sent[i].im, 2);
    }
    double error_db = 10 * log10(difference / power);
    size_t wrong = count_wrong_soft(run, values / 500 + 1, &compared);
    if (!(error_db <= bound_db))
        verdict_failed(verdict, "error vector %.1f dB is above the bound %.1f dB", error_db, bound_db);
    else if (wrong)
        verdict_failed(verdict, "%zu of %zu soft bits are not the max-log ratio", wrong, compared);
    else
        verdict_held(verdict, "error vector %.1f dB, bound %.1f dB, %zu points, %zu soft bits", error_db, bound_db,
                     values, compared);
}

/* Soft bits alone, which a device may make on another way: within one of those that come with the points. */
static int compare_soft(struct ofdm_run *run, struct case_verdict *verdict)
{
    size_t count = run->signal.symbol_count * run->signal.carrier_count * (size_t)run->ofdm->constellation, wrong = 0;
    int8_t *soft = malloc(count);
    int status = soft ? demodulate(run, NULL, soft) : PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < count && !status; i++)
        wrong += abs(soft[i] - run->soft[i]) > 1;
    free(soft);
    if (wrong)
        verdict_failed(verdict, "%zu of %zu soft bits asked for alone differ by more than one", wrong, count);
    return status;
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    enum { SYMBOLS = 5 };
    struct ofdm_run run;
    if (test->ofdm.stream) {
        ofdm_pass_check(&test->ofdm, target, verdict);
        return;
    }
    int status = prepare(&run, &test->ofdm, test->ofdm.symbols ? test->ofdm.symbols : SYMBOLS, target, false);
    if (status || (status = demodulate(&run, run.points, run.soft)))
        verdict_status(verdict, status);
    else
        compare(&run, verdict);
    if (!status && verdict->outcome == CASE_HELD && (status = compare_soft(&run, verdict)))
        verdict_status(verdict, status);
    release(&run);
}

static int run_symbols(void *state)
{
    struct ofdm_run *run = state;
    int status = demodulate(run, run->points, run->soft);
    return status ? fail_status(status) : EXIT_DONE;
}

static int run_soft(void *state)
{
    struct ofdm_run *run = state;
    int status = demodulate(run, NULL, run->soft);
    return status ? fail_status(status) : EXIT_DONE;
}

/* The frame is given once for each device. */
static int enqueue(void *argument, size_t symbols, const penstock_buffer *in, penstock_buffer *out,
                   penstock_queue *queue)
{
    struct ofdm_run *run = argument;
    int status = penstock_ofdm_enqueue(run->demodulator, NULL, in, out, symbols, queue);
    return status != PENSTOCK_ERR_STATE
               ? status
               : penstock_ofdm_enqueue(run->demodulator, &run->signal.frame, in, out, symbols, queue);
}

/* What a bin is multiplied by so that levels stand at +-1, 3, 5, 7; the samples there are noise of full scale. */
static void fill_response(const struct ofdm_run *run, penstock_cf32 *response)
{
    for (size_t i = 0; i < run->signal.carrier_count; i++) {
        size_t bin = ofdm_bin(run->signal.carriers[i], run->signal.grid->n);
        double complex h = run->signal.channel[bin].re + I * (double)run->signal.channel[bin].im;
        double turns = (double)bin * (double)(run->signal.grid->guard / 4) / (double)run->signal.grid->n;
        double complex value = sqrt(42) / h * cexp(2 * M_PI * I * turns);
        response[bin] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
    }
}

/*
 * Samples of full scale, a channel of one value on all carriers, and soft bits of about 20: the equaliser's weights
 * are then the same for all, as the separate kernels have them.
 */
static int measure_on_device(struct ofdm_run *run, const struct case_target *target, struct bench_row *row, bool *done)
{
    const struct ofdm_grid *grid = run->signal.grid;
    penstock_cf32 *response = calloc(grid->n, sizeof *response);
    float level = 6, channel = (float)(0.577 * sqrt((double)grid->n) / 0.65); /* points of mean power 0.65^2 */
    if (!response)
        return fail(EXIT_DATA, "out of memory");
    for (size_t k = 0; k < grid->n; k++)
        run->signal.channel[k] = (penstock_cf32){0.8f * channel, 0.6f * channel};
    run->signal.frame.noise = channel * channel * 4 / (42 * level);
    run->signal.frame.cfo = 0;
    fill_response(run, response);
    struct device_bench bench = {.enqueue = enqueue,
                                 .argument = run,
                                 .device = penstock_ofdm_device(run->demodulator),
                                 .format = run->integers ? PENSTOCK_CS16 : PENSTOCK_CF32,
                                 .frames = run->ofdm->symbols,
                                 .frame_samples = grid->n + grid->guard,
                                 .average = 1,
                                 .output_bytes = run->signal.carrier_count * (size_t)run->ofdm->constellation};
    bench.work = (struct device_work){.kind = DEVICE_WORK_OFDM,
                                      .n = grid->n,
                                      .spacing = bench.frame_samples,
                                      .skip = grid->guard - grid->guard / 4,
                                      .carriers = (size_t)grid->outermost,
                                      .response = response,
                                      .level = level};
    bench.for_peer = run->integers && !run->signal.pilot_count && run->ofdm->constellation == PENSTOCK_QAM64;
    int code = bench_on_device(row, target, &bench, done);
    free(response);
    return code;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct ofdm_case *ofdm = &test->ofdm;
    if (ofdm->stream)
        return ofdm_pass_bench(ofdm, target, row);
    /* On a GPU as many bytes as transforms have: with few chunks the first one's way in and the last one's out count.
     */
    size_t usual = case_bench_samples(target), all = strncmp(target->device, "cuda", 4) ? usual / 2 : 2 * usual,
           symbols = ofdm->symbols ? ofdm->symbols : all / (ofdm->grid.n + ofdm->grid.guard) + 1;
    struct ofdm_run run;
    int status = prepare(&run, ofdm, symbols, target, true), code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        row->batch = symbols;
        row->samples_per_run = (double)run.signal.sample_count;
        bool on_device = false, alone = !run.signal.pilot_count; /* then a device may have one kernel for soft bits */
        size_t out_bytes = run.signal.carrier_count * ((alone ? 0 : sizeof *run.points) + (size_t)ofdm->constellation);
        row->bytes_per_sample = (double)penstock_format_bytes(run.integers ? PENSTOCK_CS16 : PENSTOCK_CF32) +
                                (double)out_bytes / (double)(ofdm->grid.n + ofdm->grid.guard);
        code = bench_measure(row, &(struct workload){.run = alone ? run_soft : run_symbols, .state = &run}, NULL, 0.5);
        if (!code)
            code = measure_on_device(&run, target, row, &on_device);
    }
    release(&run);
    return code;
}

const struct case_kind case_ofdm = {
    .name = "ofdm",
    .syntax = "ofdm:wifi|vht80|lte5|lte20|N/GUARD/"
              "CARRIERS[:bpsk|qpsk|qam16|qam64|qam256|qam1024][:cs16|stream|acquire][:xSYMBOLS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
