/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM symbols' soft bits linked to blocks of a convolutional code. */
#include "chain_coded.h"
#include "bench/bench_stream.h"
#include "coded_blocks.h"
#include "enqueued.h"
#include "ofdm_signal.h"
#include "pass.h"
#include "reference_dft.h"
#include "shared/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BITS = 1024 };

bool chain_coded_parse(struct test_case *test, char *const *words, size_t at, size_t count, const char **problem)
{
    struct test_case first = {0}, second = {0};
    struct coded_chain_case *chain = &test->chain.coded;
    char *rest[CASE_WORDS];
    size_t others = 0;
    test->chain.is_coded = true;
    for (size_t i = 1; i <= at; i++)
        if (!strcmp(words[i], "acquire"))
            chain->acquire = true;
        else if (!strcmp(words[i], "enqueue"))
            chain->enqueue = true;
        else
            rest[others++] = words[i];
    if (!case_ofdm.parse(&first, rest, others, problem) ||
        !case_viterbi.parse(&second, words + at + 1, count - at - 1, problem))
        return false;
    chain->ofdm = first.ofdm;
    chain->viterbi = second.viterbi;
    *problem = "a chain is enqueued, or acquired, or neither";
    if (chain->ofdm.stream || (chain->acquire && chain->enqueue))
        return false;
    *problem = "a chain's blocks are of soft bits in bytes, as many as the symbols have, and without noise";
    return !chain->viterbi.blocks && !chain->viterbi.noisy && chain->viterbi.soft == PENSTOCK_SOFT_S8;
}

/* ---------------------------------------------------------------- the signal ------------------ */

struct coded_run {
    const struct coded_chain_case *chain;
    penstock_viterbi_desc desc;
    struct coded_blocks coded; /* that repeat */
    int32_t carriers[GRID_CARRIERS], pilots[GRID_PILOTS];
    size_t carrier_count, pilot_count, step, soft; /* samples of a symbol, and its soft bits */
    size_t symbols, made, samples, blocks;         /* `made`: of the symbols are different */
    size_t in_bytes;
    char *in, *out;
    penstock_stream *first, *second;
    bool random_chunks, filled; /* the memory that a stream lends has samples */
};

static size_t common_divisor(size_t a, size_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static int find_sizes(struct coded_run *run)
{
    const struct ofdm_case *ofdm = &run->chain->ofdm;
    int status;
    run->desc = PENSTOCK_VITERBI_DESC();
    if ((status = penstock_viterbi_code(&run->desc, run->chain->viterbi.code)))
        return status;
    run->coded.bits = run->desc.bits = run->chain->viterbi.bits ? run->chain->viterbi.bits : USUAL_BITS;
    run->coded.soft_format = run->desc.soft = PENSTOCK_SOFT_S8;
    ofdm_grid_carriers(&ofdm->grid, run->carriers, &run->carrier_count, run->pilots, &run->pilot_count);
    run->step = ofdm->grid.n + ofdm->grid.guard;
    run->soft = run->carrier_count * (size_t)ofdm->constellation;
    run->in_bytes = penstock_format_bytes(ofdm->integers ? PENSTOCK_CS16 : PENSTOCK_CF32);
    return penstock_viterbi_sent(&run->coded.sent, &run->desc);
}

/* Symbols after which blocks end, too. */
static size_t period_of(const struct coded_run *run)
{
    return run->coded.sent / common_divisor(run->coded.sent, run->soft);
}

/* Coded bits of a symbol, first ones first, on its carriers: its samples behind the guard interval and in it. */
static void put_symbol(const struct coded_run *run, size_t symbol, const struct reference_dft *dft, double *bins)
{
    const struct ofdm_case *ofdm = &run->chain->ofdm;
    const size_t n = ofdm->grid.n, width = (size_t)ofdm->constellation, all = run->coded.blocks * run->coded.sent;
    memset(bins, 0, 2 * n * sizeof *bins);
    for (size_t c = 0; c < run->carrier_count; c++) {
        unsigned bits = 0;
        for (size_t i = 0; i < width; i++) {
            const size_t bit = symbol * run->soft + c * width + i;
            bits = bits << 1 | (bit < all && run->coded.coded[bit]);
        }
        const double complex point = ofdm_point(bits, ofdm->constellation);
        bins[2 * ofdm_bin(run->carriers[c], n)] = creal(point);
        bins[2 * ofdm_bin(run->carriers[c], n) + 1] = cimag(point);
    }
    for (size_t j = 0; j < run->step; j++) {
        const size_t at = 2 * (symbol * run->step + j);
        double value[2];
        reference_dft_bin(dft, bins, true, (j + n - ofdm->grid.guard) % n, value);
        for (size_t part = 0; part < 2; part++)
            if (ofdm->integers)
                ((int16_t *)(void *)run->in)[at + part] =
                    (int16_t)lrint(fmin(fmax(32768 * value[part] / (double)n, -32768), 32767));
            else
                ((float *)(void *)run->in)[at + part] = (float)(value[part] / (double)n);
    }
}

/* The symbols that are different, and those again as often as it takes. */
static int make_samples(struct coded_run *run)
{
    const size_t n = run->chain->ofdm.grid.n, each = run->step * run->in_bytes;
    struct reference_dft dft = {0};
    double *bins = malloc(2 * n * sizeof *bins);
    const bool ready = bins && reference_dft_init(&dft, n);
    for (size_t s = 0; s < run->made && ready; s++)
        put_symbol(run, s, &dft, bins);
    for (size_t s = run->made; s < run->symbols && ready; s++)
        memcpy(run->in + s * each, run->in + (s - run->made) * each, each);
    reference_dft_free(&dft);
    free(bins);
    return ready ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* `most`: of the symbols are different, whether blocks end with them or not. */
static int make_signal(struct coded_run *run, size_t most)
{
    enum { LEAST = 24 };
    const size_t period = period_of(run), whole = (LEAST + period - 1) / period * period;
    run->made = whole < run->symbols ? whole : run->symbols;
    run->coded.blocks = run->made * run->soft / run->coded.sent;
    run->made = run->made < most ? run->made : most;
    run->in = calloc(run->samples, run->in_bytes);
    run->out = malloc((run->blocks + 1) * ((run->coded.bits + 7) / 8));
    if (!run->in || !run->out)
        return PENSTOCK_ERR_MEMORY;
    if (!run->coded.blocks)
        return PENSTOCK_OK;
    int status = coded_blocks_new(&run->coded);
    if (!status)
        status = penstock_viterbi_encode(&run->desc, run->coded.coded, run->coded.data, run->coded.blocks);
    return status ? status : make_samples(run);
}

/* ---------------------------------------------------------------- the streams ----------------- */

static int open_streams(struct coded_run *run, const struct case_target *target)
{
    const struct ofdm_case *ofdm = &run->chain->ofdm;
    int status = penstock_ofdm_stream_open(
        &run->first, target->context,
        &PENSTOCK_OFDM_STREAM_DESC(.n = ofdm->grid.n, .guard = ofdm->grid.guard, .carriers = run->carriers,
                                   .carrier_count = run->carrier_count, .constellation = ofdm->constellation,
                                   .continuous = true, .soft = true,
                                   .format = ofdm->integers ? PENSTOCK_CS16 : PENSTOCK_CF32),
        target->device);
    if (status || (status = penstock_viterbi_blocks_open(&run->second, target->context, &run->desc, target->device)))
        return status;
    return run->chain->enqueue ? PENSTOCK_OK : penstock_stream_link(run->first, run->second);
}

/* `spare`: samples behind the symbols, which make none. */
static int prepare(struct coded_run *run, size_t symbols, size_t spare, size_t most, const struct case_target *target)
{
    run->symbols = symbols;
    run->samples = symbols * run->step + spare;
    run->blocks = symbols * run->soft / run->coded.sent;
    int status = make_signal(run, most);
    return status ? status : open_streams(run, target);
}

static void release(struct coded_run *run)
{
    penstock_stream_free(run->first);
    penstock_stream_free(run->second);
    coded_blocks_free(&run->coded);
    free(run->in);
    free(run->out);
}

/* All samples once, from reset to end. */
static int run_once(struct coded_run *run, size_t *count)
{
    enum { RANDOM_CHUNK = 99999 };
    return pass_run(&(struct pass){.stream = run->first,
                                   .last = run->second,
                                   .in = run->in,
                                   .items = run->samples,
                                   .in_bytes = run->in_bytes,
                                   .out = run->out,
                                   .room = run->blocks + 1,
                                   .out_bytes = (run->coded.bits + 7) / 8,
                                   .acquire = run->chain->acquire,
                                   .filled = &run->filled,
                                   .random_chunk = run->random_chunks ? RANDOM_CHUNK : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

static void compare(const struct coded_run *run, struct case_verdict *verdict)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    const size_t wrong = coded_blocks_wrong(&run->coded, run->out, run->blocks, &run->desc);
    penstock_stream_get_stats(run->second, &stats);
    if (wrong)
        verdict_failed(verdict, "%zu of %zu bits are wrong", wrong, run->blocks * run->coded.bits);
    else
        verdict_held(verdict, "%zu blocks of %zu bits; %.0f %% handed over within the device", run->blocks,
                     run->coded.bits, stats.in ? 100.0 * (double)stats.handed_over / (double)stats.in : 0);
}

void chain_coded_check(const struct coded_chain_case *chain, const struct case_target *target,
                       struct case_verdict *verdict)
{
    enum { SYMBOLS = 9, BLOCKS = 3 };
    struct coded_chain_case linked = *chain;
    struct coded_run run = {.chain = &linked, .random_chunks = true};
    size_t count = 0;
    linked.enqueue = false;
    int status = find_sizes(&run);
    const size_t usual = SYMBOLS + BLOCKS * run.coded.sent / (run.soft ? run.soft : 1);
    if (status ||
        (status = prepare(&run, chain->ofdm.symbols ? chain->ofdm.symbols : usual, run.step / 2, SIZE_MAX, target)))
        verdict_status(verdict, status);
    else if (!run.blocks)
        verdict_failed(verdict, "%zu symbols have no whole block", run.symbols);
    else if ((status = run_once(&run, &count)))
        verdict_status(verdict, status);
    else if (count != run.blocks)
        verdict_failed(verdict, "%zu blocks came of %zu symbols, not %zu", count, run.symbols, run.blocks);
    else
        compare(&run, verdict);
    release(&run);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_chain(void *state)
{
    struct coded_run *run = state;
    size_t count = 0;
    int status = run_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->blocks ? EXIT_DONE : fail(EXIT_DATA, "%zu blocks, not %zu", count, run->blocks);
}

/* What the streams lend has the samples then, as a decoder takes longer for noise. */
static int write_lent(struct coded_run *run)
{
    size_t count;
    run->random_chunks = true;
    int status = run_once(run, &count);
    run->random_chunks = false;
    return status;
}

int chain_coded_bench(const struct coded_chain_case *chain, const struct case_target *target, struct bench_row *row)
{
    enum { MADE_SAMPLES = 1 << 18 };
    struct coded_run run = {.chain = chain};
    const double start = seconds_now();
    int status = find_sizes(&run);
    if (status)
        return bench_status(row, status);
    const size_t period = period_of(&run), least = ENQUEUED_SAMPLES / run.step + 1,
                 usual = (least + period - 1) / period * period;
    status = prepare(&run, chain->ofdm.symbols ? chain->ofdm.symbols : usual, 0, MADE_SAMPLES / run.step + 1, target);
    if (!status && chain->acquire)
        status = write_lent(&run);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        const double in_bytes = (double)(run.samples * run.in_bytes),
                     out_bytes = (double)(run.blocks * ((run.coded.bits + 7) / 8));
        row->plan_cold_ms = 1e3 * (seconds_now() - start);
        row->batch = run.blocks;
        row->samples_per_run = (double)run.samples;
        row->bytes_per_sample = (in_bytes + out_bytes) / row->samples_per_run;
        code = chain->enqueue ? enqueued_bench(target, run.first, run.second, run.in, run.samples, row)
                              : bench_measure(row, &(struct workload){run_chain, &run}, NULL, 0.5);
        if (!code && !chain->enqueue)
            bench_stream_limits(row, target, in_bytes, out_bytes);
    }
    release(&run);
    return code;
}
