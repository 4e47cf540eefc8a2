/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An interpreter of generated plans. */
#include "gpu/prologue.h"
#include "gpu_model_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- operations ------------------ */

static double complex *slot(const struct run *run, unsigned lane, unsigned s)
{
    return &run->slots[lane * run->pass->config.slots + s];
}

static double complex factor(const struct run *run, size_t at)
{
    return (double)run->table->values[at] + I * (double)run->table->values[at + 1];
}

static void load(struct run *run, const struct operation *op, unsigned lane)
{
    unsigned columns = penstock__gpu_columns(run->decomposition, run->pass), s = op->number[0];
    unsigned at = op->count > 1 ? (lane + op->number[1]) * columns + run->column : 0;
    bool rader = run->decomposition->method == GPU_RADER;
    if (op->call == CALL_ZERO || (op->call == CALL_LOAD_IF_ANY && at >= run->decomposition->length)) {
        *slot(run, lane, s) = 0;
        return;
    }
    at = rader ? (unsigned)run->table->values[run->table->order_in_at + at] : at;
    run->loaded[at]++;
    *slot(run, lane, s) = run->in[at];
    if (run->table->window_kind == 2)
        *slot(run, lane, s) *= factor(run, run->table->window_at + 2 * (size_t)at);
}

/* exp(-2 pi i k / radix) */
static const double complex *roots_of(unsigned radix)
{
    static double complex roots[GPU_MAX_RADIX + 1][GPU_MAX_RADIX];
    if (roots[radix][0] == 0)
        for (unsigned k = 0; k < radix; k++) {
            double re, im;
            penstock__unit_root(&re, &im, k, radix);
            roots[radix][k] = re - I * im;
        }
    return roots[radix];
}

static void butterfly(struct run *run, const struct operation *op, unsigned lane)
{
    unsigned radix = op->count;
    const double complex *root = roots_of(radix);
    double complex given[GPU_MAX_RADIX], values[GPU_MAX_RADIX];
    if (!run->values)
        return;
    for (unsigned k = 0; k < radix; k++)
        given[k] = *slot(run, lane, op->number[k]);
    for (unsigned k = 0; k < radix; k++) {
        values[k] = 0;
        for (unsigned m = 0, turn = 0; m < radix; m++, turn = (turn + k) % radix) {
            double re = creal(given[m]), im = cimag(given[m]), c = creal(root[turn]), s = cimag(root[turn]);
            values[k] += (re * c - im * s) + I * (re * s + im * c);
        }
    }
    for (unsigned k = 0; k < radix; k++)
        *slot(run, lane, op->number[penstock__gpu_radix_order(radix, k)]) = values[k];
}

static void twiddle(struct run *run, const struct operation *op, unsigned lane)
{
    unsigned j = (lane + op->number[2]) % op->number[3];
    *slot(run, lane, op->number[0]) *= factor(run, op->number[1] + 2 * (size_t)j);
}

/* TWIDDLE_AT, TWIDDLE_READ, TWIDDLE_MAKE and TWIDDLE_USE */
static void make_twiddle(struct run *run, const struct operation *op, unsigned lane)
{
    double complex *w = run->twiddles[lane];
    const unsigned *number = op->number;
    if (op->call == CALL_TWIDDLE_AT)
        run->within[lane] = (lane + number[0]) % number[1];
    else if (op->call == CALL_TWIDDLE_READ)
        w[number[0]] = factor(run, number[1] + 2 * (size_t)run->within[lane]);
    else if (op->call == CALL_TWIDDLE_MAKE)
        w[number[0]] = w[number[1]] * w[number[2]];
    else
        *slot(run, lane, number[0]) *= w[number[1]];
}

static void exchange(struct run *run, const struct operation *op, unsigned lane, bool give)
{
    unsigned j = lane + op->number[1], p = j;
    const unsigned *gaps = op->number + (give ? 2 : 5);
    if (!give) {
        unsigned span = op->number[2], over = j / span, within = j % span;
        if ((op->kind == KIND_SHORT && over) || (op->kind == KIND_ONE && span != 1) ||
            (op->kind == KIND_EVEN && op->number[1] % span) ||
            (op->kind == KIND_LONG && (span % run->pass->config.lows || op->number[1] % run->pass->config.lows)))
            run->model->overruns++;
        p = over * op->number[3] + within + op->number[4];
    }
    if (give)
        run->local[gpu_model_place(run, p, gaps)] = *slot(run, lane, op->number[0]);
    else
        *slot(run, lane, op->number[0]) = run->local[gpu_model_place(run, p, gaps)];
}

static void product(struct run *run, const struct operation *op, unsigned lane)
{
    unsigned columns = penstock__gpu_columns(run->decomposition, run->pass);
    size_t at = (size_t)(lane + op->number[1]) * columns + run->column;
    double complex value = *slot(run, lane, op->number[0]) * factor(run, run->table->spectrum_at + 2 * at);
    *slot(run, lane, op->number[0]) = cimag(value) + I * creal(value);
}

static void store(struct run *run, const struct operation *op, unsigned lane)
{
    const struct gpu_pass *pass = run->pass;
    unsigned columns = penstock__gpu_columns(run->decomposition, pass), inner = pass->inner, k = lane + op->number[1];
    unsigned at = columns == 1 ? k : run->column / inner * inner * pass->config.n + k * inner + run->column % inner;
    unsigned wanted = pass->last ? run->decomposition->length : run->decomposition->total;
    double complex value = *slot(run, lane, op->number[0]);
    if (run->decomposition->method == GPU_RADER)
        at = (unsigned)run->table->values[run->table->order_out_at + k];
    if (at >= wanted)
        return;
    if (inner < columns) {
        unsigned turns = k * (run->column / inner), fine = turns & ((1u << run->table->fine_bits) - 1);
        value *= factor(run, run->table->fine_at + 2 * (size_t)fine) *
                 factor(run, run->table->coarse_at + 2 * (size_t)(turns >> run->table->fine_bits));
    }
    if (pass->last && pass->back)
        value = cimag(value) + I * creal(value);
    if (pass->last && run->decomposition->method == GPU_BLUESTEIN)
        value *= factor(run, run->table->chirp_at + 2 * (size_t)at);
    if (op->count > 2 && (int)op->number[2] != (int)op->number[1])
        run->model->stores_missed++; /* nothing is centred here */
    run->stored[at]++;
    run->out[at] = value;
}

/* ---------------------------------------------------------------- lists ----------------------- */

typedef void step(struct run *run, const struct operation *op, unsigned lane);

static void nothing(struct run *run, const struct operation *op, unsigned lane)
{
    (void)run, (void)op, (void)lane;
}

static void give(struct run *run, const struct operation *op, unsigned lane)
{
    exchange(run, op, lane, true);
}

static void take(struct run *run, const struct operation *op, unsigned lane)
{
    exchange(run, op, lane, false);
}

/* What a list of calls is: of stages, loads and stores, or of an exchange. */
enum list_kind { LIST_PLAIN, LIST_GIVEN, LIST_TAKEN };

/* Each call for all of its work-items; false for a call that is not known. */
static bool each(struct run *run, const char *name, enum list_kind kind)
{
    static step *const steps[] = {[CALL_LOAD] = load,
                                  [CALL_LOAD_IF_ANY] = load,
                                  [CALL_ZERO] = load,
                                  [CALL_DFT] = butterfly,
                                  [CALL_TWIDDLE] = twiddle,
                                  [CALL_TWIDDLE_AT] = make_twiddle,
                                  [CALL_TWIDDLE_READ] = make_twiddle,
                                  [CALL_TWIDDLE_MAKE] = make_twiddle,
                                  [CALL_TWIDDLE_USE] = make_twiddle,
                                  [CALL_PRODUCT_AT] = product,
                                  [CALL_FINISH] = store,
                                  [CALL_FINISH_ANYWHERE] = store,
                                  [CALL_LEAVE_TURNED] = store,
                                  [CALL_RADER_LOAD] = nothing};
    const struct list *list = gpu_model_parse(run, name);
    for (const struct operation *op = list ? list->operation : NULL; list && op < list->operation + list->count; op++) {
        step *call = kind == LIST_GIVEN   ? give
                     : kind == LIST_TAKEN ? take
                                          : (op->call < sizeof steps / sizeof *steps ? steps[op->call] : NULL);
        if (!call || (kind != LIST_PLAIN) != (op->call == CALL_EXCHANGED))
            return false;
        if (op->call == CALL_LEAVE_TURNED && run->column == 0)
            gpu_model_follow_banks(run, op, GPU_MODEL_TURN);
        if (kind != LIST_PLAIN && run->column == 0)
            gpu_model_follow_banks(run, op, kind == LIST_GIVEN ? GPU_MODEL_GIVE : GPU_MODEL_TAKE);
        for (unsigned lane = op->from; lane < op->to; lane++)
            call(run, op, lane);
    }
    return list;
}

static bool middle(struct run *run)
{
    double complex first = run->first;
    if (run->decomposition->method == GPU_RADER) {
        const struct operation op = {.number = {0, 0}, .count = 2};
        run->sum = first + *slot(run, 0, 0);
        for (unsigned lane = 0; lane < penstock__gpu_limit(&run->pass->config, run->pass->config.chain - 1, 0); lane++)
            product(run, &op, lane);
        *slot(run, 0, 0) += cimag(first) + I * creal(first);
    }
    return each(run, "PRODUCTS", LIST_PLAIN);
}

/* kernels/real.h: every slot and the mate of its point, whose values lie in local memory. */
static bool unpack(struct run *run, const char *name)
{
    const struct list *list = gpu_model_parse(run, name);
    for (const struct operation *op = list ? list->operation : NULL; list && op < list->operation + list->count; op++) {
        if (run->column == 0)
            gpu_model_follow_banks(run, op, GPU_MODEL_MATE);
        for (unsigned lane = op->from; lane < op->to; lane++) {
            unsigned at = lane + op->number[1];
            double complex *z = slot(run, lane, op->number[0]);
            double complex mate = conj(run->local[gpu_model_place(run, gpu_model_mate(run, at), op->number + 2)]);
            *z = (*z + mate) / 2 - I * conj(factor(run, run->table->half_at + 2 * (size_t)at)) * (*z - mate) / 2;
        }
    }
    return list;
}

/* SWAP(a, b) in all work-items, from where a round leaves points to where the next one takes them. */
static bool onward(struct run *run)
{
    const struct list *list = gpu_model_parse(run, "ONWARD");
    for (unsigned i = 0; list && i < list->count; i++)
        for (unsigned lane = 0; lane < run->pass->config.lanes; lane++) {
            double complex *a = slot(run, lane, list->operation[i].number[0]),
                           *b = slot(run, lane, list->operation[i].number[1]), held = *a;
            *a = *b;
            *b = held;
        }
    return list;
}

static bool transform(struct run *run, const char *macro)
{
    const struct list *list = gpu_model_parse(run, macro);
    char name[32];
    bool good = list;
    for (unsigned i = 0; good && i < list->count; i++) {
        struct operation op = list->operation[i];
        if (!strncmp(op.name, "STAGE_", 6)) {
            good = each(run, op.name, LIST_PLAIN);
        } else if (!strcmp(op.name, "EXCHANGE")) {
            snprintf(name, sizeof name, "GIVE_%u", op.number[0]);
            good = each(run, name, LIST_GIVEN);
            snprintf(name, sizeof name, "TAKE_%u", op.number[1]);
            good = good && each(run, name, LIST_TAKEN);
        } else if (!strcmp(op.name, "UNPACK")) {
            snprintf(name, sizeof name, "GIVE_%u", op.number[0]);
            good = each(run, name, LIST_GIVEN) && unpack(run, name);
        } else if (!strcmp(op.name, "MIDDLE")) {
            good = middle(run);
        } else if (!strcmp(op.name, "TWICE")) {
            good = transform(run, "ROUND") && middle(run) && onward(run) && transform(run, "ROUND");
        } else {
            good = !strcmp(op.name, "K_BARRIER") || !strcmp(op.name, "RELOCATE");
        }
    }
    return good;
}

/* ---------------------------------------------------------------- passes ---------------------- */

/* Columns that leave as rows go to their places one by one here; what is left to see is that work-items reach all. */
static bool leave(struct run *run)
{
    const struct gpu_launch_config *config = &run->pass->config;
    const struct list *list;
    if (!config->turned)
        return each(run, "STORE_POINTS", LIST_PLAIN);
    list = gpu_model_parse(run, "STORE_POINTS");
    if (!list || list->count * config->lanes < config->n || (config->n | 1) > config->plane)
        return false;
    for (unsigned i = 0; i < list->count; i++) {
        if (list->operation[i].call != CALL_FINISH_TURNED || list->operation[i].number[0] != i)
            return false;
        if (run->column == 0)
            gpu_model_follow_banks(run, &list->operation[i], GPU_MODEL_LEAVE);
    }
    return each(run, "TURNED_POINTS", LIST_PLAIN);
}

static bool run_columns(struct run *run)
{
    unsigned columns = penstock__gpu_columns(run->decomposition, run->pass);
    bool good = gpu_model_constant(run, "COLUMNS") == columns && gpu_model_constant(run, "N") == run->pass->config.n;
    run->first = run->in[0];
    for (run->column = 0; good && run->column < columns; run->column++)
        good = each(run, "LOAD_POINTS", LIST_PLAIN) && transform(run, "TRANSFORM") && leave(run);
    if (run->decomposition->method == GPU_RADER) {
        run->loaded[0]++;
        run->stored[0]++;
        run->out[0] = run->sum;
    }
    return good;
}

static unsigned misses(const unsigned char *seen, size_t count)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += seen[i] != 1;
    return sum;
}

static void count_misses(const struct run *run)
{
    const struct gpu_decomposition *decomposition = run->decomposition;
    unsigned loaded = misses(run->loaded, run->pass->first ? decomposition->length : decomposition->total);
    unsigned stored = misses(run->stored, run->pass->last ? decomposition->length : decomposition->total);
    *(run->pass->first ? &run->model->loads_missed : &run->model->points_missed) += loaded;
    *(run->pass->last ? &run->model->stores_missed : &run->model->points_missed) += stored;
}

static bool allocate(struct run *run)
{
    size_t most = (run->decomposition->total > run->decomposition->length ? run->decomposition->total
                                                                          : run->decomposition->length) +
                  1;
    run->in = calloc(most, sizeof *run->in);
    run->out = calloc(most, sizeof *run->out);
    run->loaded = malloc(most);
    run->stored = malloc(most);
    return run->in && run->out && run->loaded && run->stored;
}

static void release(struct run *run)
{
    free(run->in);
    free(run->out);
    free(run->loaded);
    free(run->stored);
}

static int run_pass(struct run *run, unsigned index)
{
    bool packed = run->decomposition->real == GPU_PACKED;
    const struct penstock_fft_problem fft = {.n = run->decomposition->length * (packed ? 2 : 1),
                                             .spacing = run->decomposition->length,
                                             .format = packed ? PENSTOCK_F32 : PENSTOCK_CF32,
                                             .domain = packed ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                                             .scale = 1,
                                             .average = 1};
    const struct gpu_launch_config *config = &run->decomposition->pass[index].config;
    size_t most = (run->decomposition->total > run->decomposition->length ? run->decomposition->total
                                                                          : run->decomposition->length) +
                  1;
    struct gpu_text text = {0};
    struct gpu_table table;
    int status = penstock__gpu_table(&table, run->decomposition, index, &fft);
    if (status)
        return status;
    penstock__gpu_prologue(&text, run->decomposition, index, &table, &fft,
                           penstock__gpu_in_ptx(run->decomposition, index));
    run->pass = &run->decomposition->pass[index];
    run->table = &table;
    run->text = text.content;
    run->group_x = gpu_model_constant(run, "GROUP_X");
    run->step = gpu_model_constant(run, "STEP");
    run->member_step = gpu_model_constant(run, "MEMBER_STEP");
    run->slots = calloc((size_t)config->lanes * config->slots, sizeof *run->slots);
    run->local = calloc(config->plane + 1, sizeof *run->local);
    run->twiddles = calloc(config->lanes, sizeof *run->twiddles);
    run->within = calloc(config->lanes, sizeof *run->within);
    memset(run->loaded, 0, most);
    memset(run->stored, 0, most);
    if (!run->slots || !run->local || !run->twiddles || !run->within || !gpu_model_read(run) || !run_columns(run))
        status = penstock__error(PENSTOCK_ERR_CHECK, "the model does not understand pass %u of %u", index,
                                 run->decomposition->count);
    count_misses(run);
    memcpy(run->in, run->out, (most - 1) * sizeof *run->in);
    free(run->slots);
    free(run->local);
    free(run->twiddles);
    free(run->within);
    gpu_model_unread(run);
    penstock__text_free(&text);
    penstock__gpu_table_free(&table);
    return status;
}

int gpu_model_run(struct gpu_model *model, double *data, const struct gpu_decomposition *decomposition, bool values)
{
    struct run run = {.model = model, .decomposition = decomposition, .values = values};
    int status = allocate(&run) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    *model = (struct gpu_model){.conflicts = 1};
    if (!status)
        memcpy(run.in, data, decomposition->length * sizeof *run.in);
    for (unsigned i = 0; i < decomposition->count && !status; i++)
        status = run_pass(&run, i);
    if (!status)
        memcpy(data, run.out, decomposition->length * sizeof *run.out);
    release(&run);
    return status;
}
