/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * ofdm: demodulation of symbols made here from random points, an echo channel, a carrier offset and a
 * phase and slope of each symbol's own. Without noise the points must come out as they went in, and the
 * soft bits must be the max-log ratios of those points.
 */
#include "bench_resident.h"
#include "cases.h"
#include "random.h"
#include "reference_dft.h"

#include <complex.h>
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
    return true;
}

struct ofdm_run {
    const struct ofdm_case *ofdm;
    const struct ofdm_grid *grid;
    int32_t carriers[GRID_CARRIERS], pilots[GRID_PILOTS];
    size_t carrier_count, pilot_count, symbol_count, sample_count;
    penstock_cf32 pilot_values[GRID_PILOTS];
    penstock_ofdm_frame frame;
    penstock_cf32 *channel, *samples, *sent, *points;
    int16_t *integers; /* the samples, where the case wants them so */
    penstock_ofdm_symbol *symbols;
    int8_t *soft;
    penstock_ofdm *demodulator;
    const struct case_target *target;
    bool repeated; /* symbols may repeat earlier ones, whatever their carriers' offset: points are not looked at */
};

static const double turn = 6.28318530717958647692;

static double complex polar(double phase)
{
    return cos(phase) + I * sin(phase);
}

static size_t bin_of(int32_t carrier, size_t n)
{
    return carrier < 0 ? n - (size_t)-carrier : (size_t)carrier;
}

/* Amplitudes of one axis: Gray-coded, 0...0 the lowest, mean power of the whole constellation one. */
static double axis_level(unsigned bits, unsigned width, bool both_axes)
{
    unsigned level = 0;
    double count = (double)(1u << width), power = (count * count - 1) / 3 * (both_axes ? 2 : 1);
    for (unsigned shift = width; shift-- > 0;)
        level = level << 1 | ((bits >> shift & 1) ^ (level & 1));
    return (2.0 * level - count + 1) / sqrt(power);
}

static double complex point_of(unsigned bits, penstock_constellation constellation)
{
    unsigned width = (unsigned)constellation;
    if (width == 1)
        return axis_level(bits, 1, false);
    return axis_level(bits >> width / 2, width / 2, true) +
           I * axis_level(bits & ((1u << width / 2) - 1), width / 2, true);
}

/* Three echoes within the guard interval. */
static double complex channel_at(const struct ofdm_grid *grid, int32_t carrier)
{
    double step = -turn * carrier / (double)grid->n;
    return 1 + 0.4 * polar(1 + 2 * step) + 0.2 * I * polar(5 * step);
}

static void fill_symbol(struct ofdm_run *run, size_t index, double *bins, uint64_t *state)
{
    const struct ofdm_grid *grid = run->grid;
    double phase = 2 * random_uniform(state) - 1;
    double slope = (0.4 * random_uniform(state) - 0.2) * 2 / (double)grid->n;
    run->symbols[index].phase = (float)phase; /* used where there are no pilots */
    run->symbols[index].slope = (float)slope;
    phase = run->pilot_count ? phase : (double)run->symbols[index].phase;
    slope = run->pilot_count ? slope : (double)run->symbols[index].slope;
    memset(bins, 0, 2 * grid->n * sizeof *bins);
    for (size_t i = 0; i < run->carrier_count + run->pilot_count; i++) {
        bool pilot = i >= run->carrier_count;
        int32_t carrier = pilot ? run->pilots[i - run->carrier_count] : run->carriers[i];
        double complex value = 1;
        if (pilot) {
            value = run->pilot_values[i - run->carrier_count].re;
        } else {
            value = point_of((unsigned)random_bits(state) & ((1u << run->ofdm->constellation) - 1),
                             run->ofdm->constellation);
            run->sent[index * run->carrier_count + i] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
        }
        value *= channel_at(grid, carrier) * polar(phase + slope * carrier);
        bins[2 * bin_of(carrier, grid->n)] = creal(value);
        bins[2 * bin_of(carrier, grid->n) + 1] = cimag(value);
    }
}

/* One symbol with its guard interval, carrier offset on it. */
static void modulate(struct ofdm_run *run, size_t index, const struct reference_dft *dft, const double *bins)
{
    const struct ofdm_grid *grid = run->grid;
    size_t start = index * (grid->n + grid->guard);
    for (size_t j = 0; j < grid->n; j++) {
        double value[2];
        reference_dft_bin(dft, bins, true, j, value);
        for (int copy = 0; copy < 2; copy++) {
            size_t at = start + grid->guard + j - (copy ? grid->n : 0);
            if (copy && j < grid->n - grid->guard)
                continue;
            double complex sample =
                (value[0] + I * value[1]) / (double)grid->n * polar(turn * run->frame.cfo * (double)at);
            run->samples[at] = (penstock_cf32){(float)creal(sample), (float)cimag(sample)};
        }
    }
}

/* What a device reads and writes; NULL if there is none. */
static void *reached(const struct ofdm_run *run, size_t bytes)
{
    void *memory;
    return penstock_host_memory_new(&memory, run->target->context, run->target->device, bytes) ? NULL : memory;
}

static bool allocate(struct ofdm_run *run)
{
    size_t values = run->symbol_count * run->carrier_count;
    run->channel = calloc(run->grid->n, sizeof *run->channel);
    run->samples = calloc(run->sample_count, sizeof *run->samples);
    run->sent = calloc(values, sizeof *run->sent);
    run->points = calloc(values, sizeof *run->points);
    run->symbols = calloc(run->symbol_count, sizeof *run->symbols);
    run->soft = reached(run, values * (size_t)run->ofdm->constellation);
    if (run->ofdm->integers)
        run->integers = reached(run, run->sample_count * 2 * sizeof *run->integers);
    return run->channel && run->samples && run->sent && run->points && run->symbols && run->soft &&
           (run->integers || !run->ofdm->integers);
}

/* A tenth of full scale, which the channel takes part in. */
static void quantise(struct ofdm_run *run)
{
    const float *values = &run->samples->re;
    double power = 0;
    for (size_t i = 0; i < 2 * run->sample_count; i++)
        power += (double)values[i] * (double)values[i];
    float gain = (float)(0.1 / sqrt(power / (double)(2 * run->sample_count)));
    for (size_t i = 0; i < 2 * run->sample_count; i++)
        run->integers[i] = (int16_t)lrintf(fminf(fmaxf(32768 * gain * values[i], -32768), 32767));
    for (size_t k = 0; k < run->grid->n; k++)
        run->channel[k] = (penstock_cf32){gain * run->channel[k].re, gain * run->channel[k].im};
    run->frame.noise *= gain * gain;
}

enum { MADE = 4096 }; /* symbols that others may repeat */

static bool make_signal(struct ofdm_run *run)
{
    uint64_t state = run->grid->n + (uint64_t)run->ofdm->constellation;
    struct reference_dft dft;
    double *bins = malloc(2 * run->grid->n * sizeof *bins);
    bool good = reference_dft_init(&dft, run->grid->n) && bins;
    size_t made = run->repeated && run->symbol_count > MADE ? MADE : run->symbol_count,
           each = run->grid->n + run->grid->guard;
    for (size_t i = 0; good && i < made; i++) {
        fill_symbol(run, i, bins, &state);
        modulate(run, i, &dft, bins);
        run->symbols[i].start = i * (run->grid->n + run->grid->guard);
    }
    for (size_t i = made; good && i < run->symbol_count; i++) { /* more of them are the same again */
        memcpy(run->samples + i * each, run->samples + (i - made) * each, each * sizeof *run->samples);
        memcpy(run->sent + i * run->carrier_count, run->sent + (i - made) * run->carrier_count,
               run->carrier_count * sizeof *run->sent);
        run->symbols[i] = run->symbols[i - made];
        run->symbols[i].start = i * each;
    }
    reference_dft_free(&dft);
    free(bins);
    return good;
}

static int prepare(struct ofdm_run *run, const struct ofdm_case *ofdm, size_t symbols, const struct case_target *target,
                   bool repeated)
{
    const struct ofdm_grid *grid = &ofdm->grid;
    *run =
        (struct ofdm_run){.ofdm = ofdm, .grid = grid, .symbol_count = symbols, .target = target, .repeated = repeated};
    ofdm_grid_carriers(grid, run->carriers, &run->carrier_count, run->pilots, &run->pilot_count);
    run->sample_count = symbols * (grid->n + grid->guard);
    for (size_t i = 0; i < run->pilot_count; i++)
        run->pilot_values[i].re = i % 3 ? 1 : -1;
    run->frame = (penstock_ofdm_frame){.noise = 0.02f, .cfo = 1.7e-4, .constellation = ofdm->constellation};
    if (!allocate(run))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < run->carrier_count + run->pilot_count; i++) {
        int32_t carrier = i < run->carrier_count ? run->carriers[i] : run->pilots[i - run->carrier_count];
        double complex value = channel_at(grid, carrier);
        run->channel[bin_of(carrier, grid->n)] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
    }
    run->frame.channel = run->channel;
    if (!make_signal(run))
        return PENSTOCK_ERR_MEMORY;
    if (run->integers)
        quantise(run);
    return penstock_ofdm_new(
        &run->demodulator, target->context,
        &PENSTOCK_OFDM_DESC(.n = grid->n, .guard = grid->guard, .window_offset = grid->guard / 4,
                            .carriers = run->carriers, .carrier_count = run->carrier_count, .pilots = run->pilots,
                            .pilot_count = run->pilot_count, .pilot_values = run->pilot_values, .pilot_rows = 1,
                            .format = run->integers ? PENSTOCK_CS16 : PENSTOCK_CF32,
                            .tracking = run->pilot_count ? PENSTOCK_TRACK_PILOTS : PENSTOCK_TRACK_GIVEN,
                            .max_constellation = ofdm->constellation, .batch = symbols),
        target->device);
}

static void release(struct ofdm_run *run)
{
    penstock_ofdm_free(run->demodulator);
    free(run->channel);
    free(run->samples);
    penstock_host_memory_free(run->target->context, run->integers);
    free(run->sent);
    free(run->points);
    free(run->symbols);
    penstock_host_memory_free(run->target->context, run->soft);
}

static int demodulate(struct ofdm_run *run, penstock_cf32 *points, int8_t *soft)
{
    const void *samples = run->integers ? (const void *)run->integers : (const void *)run->samples;
    penstock_ofdm_batch batch =
        PENSTOCK_OFDM_BATCH(.samples = samples, .sample_count = run->sample_count, .frames = &run->frame,
                            .frame_count = 1, .symbols = run->symbols, .symbol_count = run->symbol_count);
    return penstock_ofdm_run(run->demodulator, &batch, &PENSTOCK_OFDM_RESULT(.points = points, .soft = soft));
}

/* The max-log ratio of bit `bit` (0: first) by trying every point. */
static double log_ratio(const struct ofdm_run *run, double complex point, double weight, unsigned bit)
{
    unsigned width = (unsigned)run->ofdm->constellation;
    double nearest[2] = {HUGE_VAL, HUGE_VAL};
    for (unsigned bits = 0; bits < 1u << width; bits++) {
        double distance = pow(cabs(point - point_of(bits, run->ofdm->constellation)), 2);
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
    for (size_t i = 0; i < run->symbol_count * run->carrier_count; i += step) {
        penstock_cf32 gain = run->channel[bin_of(run->carriers[i % run->carrier_count], run->grid->n)];
        double weight = (pow(gain.re, 2) + pow(gain.im, 2)) / run->frame.noise;
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
    size_t values = run->symbol_count * run->carrier_count, compared = 0;
    double difference = 0, power = 0;
    for (size_t i = 0; i < values; i++) {
        difference += pow(run->points[i].re - run->sent[i].re, 2) + pow(run->points[i].im - run->sent[i].im, 2);
        power += pow(run->sent[i].re, 2) + pow(run->sent[i].im, 2);
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
    size_t count = run->symbol_count * run->carrier_count * (size_t)run->ofdm->constellation, wrong = 0;
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

static int make_resident(penstock_resident **resident, void *argument, const void *in, size_t in_bytes, size_t symbols)
{
    struct ofdm_run *run = argument;
    return penstock_resident_new_ofdm(resident, run->demodulator, in, in_bytes, &run->frame, symbols);
}

/* What a bin is multiplied by so that levels stand at +-1, 3, 5, 7; the samples there are noise of full scale. */
static void fill_response(const struct ofdm_run *run, penstock_cf32 *response)
{
    for (size_t i = 0; i < run->carrier_count; i++) {
        size_t bin = bin_of(run->carriers[i], run->grid->n);
        double complex h = run->channel[bin].re + I * (double)run->channel[bin].im;
        double complex value =
            sqrt(42) / h * polar(turn * (double)bin * (double)(run->grid->guard / 4) / (double)run->grid->n);
        response[bin] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
    }
}

/*
 * Samples of full scale, a channel of one value on all carriers, and soft bits of about 20: the equaliser's weights
 * are then the same for all, as the separate kernels have them.
 */
static int measure_resident(struct ofdm_run *run, const struct case_target *target, struct bench_row *row, bool *done)
{
    const struct ofdm_grid *grid = run->grid;
    penstock_cf32 *response = calloc(grid->n, sizeof *response);
    float level = 6, channel = (float)(0.577 * sqrt((double)grid->n) / 0.65); /* points of mean power 0.65^2 */
    if (!response)
        return fail(EXIT_DATA, "out of memory");
    for (size_t k = 0; k < grid->n; k++)
        run->channel[k] = (penstock_cf32){0.8f * channel, 0.6f * channel};
    run->frame.noise = channel * channel * 4 / (42 * level);
    run->frame.cfo = 0;
    fill_response(run, response);
    struct resident_bench bench = {.make = make_resident,
                                   .argument = run,
                                   .format = run->integers ? PENSTOCK_CS16 : PENSTOCK_CF32,
                                   .frames = run->ofdm->symbols,
                                   .frame_samples = grid->n + grid->guard,
                                   .average = 1};
    bench.work = (struct device_work){.kind = DEVICE_WORK_OFDM,
                                      .n = grid->n,
                                      .spacing = bench.frame_samples,
                                      .skip = grid->guard - grid->guard / 4,
                                      .carriers = (size_t)grid->outermost,
                                      .response = response,
                                      .level = level};
    bench.for_peer = run->integers && !run->pilot_count && run->ofdm->constellation == PENSTOCK_QAM64;
    int code = bench_resident(row, target, &bench, done);
    free(response);
    return code;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct ofdm_case *ofdm = &test->ofdm;
    size_t all = case_bench_samples(target) / 2,
           symbols = ofdm->symbols ? ofdm->symbols : all / (ofdm->grid.n + ofdm->grid.guard) + 1;
    struct ofdm_run run;
    int status = prepare(&run, ofdm, symbols, target, true), code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        row->batch = symbols;
        row->samples_per_run = (double)run.sample_count;
        bool resident = false, alone = !run.pilot_count; /* then a device may have one kernel for soft bits */
        size_t out_bytes = run.carrier_count * ((alone ? 0 : sizeof *run.points) + (size_t)ofdm->constellation);
        row->bytes_per_sample = (double)penstock_format_bytes(run.integers ? PENSTOCK_CS16 : PENSTOCK_CF32) +
                                (double)out_bytes / (double)(ofdm->grid.n + ofdm->grid.guard);
        code = bench_measure(row, &(struct workload){.run = alone ? run_soft : run_symbols, .state = &run}, NULL, 0.5);
        if (!code)
            code = measure_resident(&run, target, row, &resident);
    }
    release(&run);
    return code;
}

const struct case_kind case_ofdm = {
    .name = "ofdm",
    .syntax = "ofdm:wifi|vht80|lte5|lte20|N/GUARD/CARRIERS[:bpsk|qpsk|qam16|qam64|qam256|qam1024][:cs16][:xSYMBOLS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
