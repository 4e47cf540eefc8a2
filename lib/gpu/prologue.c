/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Prints a pass as the macros that kernels/fft.cl is written in: what it loads and stores. */
#include "gpu/prologue.h"

static void define(struct gpu_text *text, const char *name, unsigned long value)
{
    penstock__text_add(text, "#define %s %lu\n", name, value);
}

/* ---------------------------------------------------------------- stages of load and store ---- */

/* How many frames that follow each other a work-item folds together; 0: each point is folded where it is needed. */
static unsigned folded_together(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass,
                                const struct penstock_fft_problem *fft)
{
    enum { LEAST = 2, MOST = 16, MOST_SAMPLES = 32 };
    const struct gpu_launch_config *config = &pass->config;
    const unsigned strips = penstock__gpu_group_size(config) / config->n;
    const unsigned frames = strips > 1 ? (config->per_group + strips - 1) / strips : config->per_group;
    const bool able = pass->first && pass->last && decomposition->method == GPU_PLAIN && !config->cpu &&
                      config->joined && config->region >= 2 * config->n;
    return able && fft->fold && fft->fold <= MOST_SAMPLES && fft->average == 1 &&
                   fft->spacing == decomposition->total && frames >= LEAST && frames <= MOST
               ? frames
               : 0;
}

static void define_load(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                        const struct gpu_pass *pass, const struct gpu_table *table,
                        const struct penstock_fft_problem *fft)
{
    bool first = pass->first;
    define(text, "FORMAT", first ? fft->format : PENSTOCK_CF32);
    define(text, "GATHERED", first && fft->gathered);
    define(text, "SPACING", first ? fft->spacing : decomposition->total);
    define(text, "SKIP", first ? fft->skip : 0);
    define(text, "WINDOW", table->window_kind);
    define(text, "WINDOW_AT", table->window_at);
    define(text, "WINDOW_SIDE", table->window_side);
    define(text, "FOLD", first ? fft->fold : 0);
    define(text, "FOLD_AT", table->fold_at);
    define(text, "FOLD_TOGETHER", folded_together(decomposition, pass, fft));
    define(text, "HALF_AT", table->half_at);
    define(text, "ORDER_IN_AT", table->order_in_at);
    define(text, "REVERSE_IN", first && fft->direction == PENSTOCK_REVERSE);
    define(text, "IN_COUNT",
           first && decomposition->method == GPU_BLUESTEIN ? decomposition->length : decomposition->total);
    penstock__text_add(text, "#define FIRST_IN %s\n", first ? "first" : "0");
}

/* Values of the last pass that are stored, bin N of packed real samples not counted. */
static size_t out_count(const struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft)
{
    return decomposition->real == GPU_PACKED ? decomposition->length : penstock__fft_out_count(fft);
}

static size_t bins(const struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft)
{
    bool halved = decomposition->real == GPU_PACKED && fft->direction == PENSTOCK_REVERSE;
    return halved ? decomposition->length : penstock__fft_out_count(fft);
}

static void define_store(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                         const struct gpu_pass *pass, const struct gpu_table *table,
                         const struct penstock_fft_problem *fft)
{
    bool last = pass->last;
    define(text, "OUTPUT", last ? fft->output : PENSTOCK_OUTPUT_COMPLEX);
    define(text, "HALF_OUT", last && fft->half);
    define(text, "CENTERED", last && fft->centered);
    define(text, "CENTER_AT", decomposition->length / decomposition->side / 2 * decomposition->side);
    define(text, "AVERAGE", last ? fft->average : 1);
    define(text, "REVERSE_OUT", last && fft->direction == PENSTOCK_REVERSE);
    define(text, "OUT_COUNT", last ? out_count(decomposition, fft) : decomposition->total);
    define(text, "BINS", last ? bins(decomposition, fft) : decomposition->total);
    define(text, "ORDER_OUT_AT", table->order_out_at);
    define(text, "CHIRP_AT", table->chirp_at);
    define(text, "FINE_AT", table->fine_at);
    define(text, "FINE_BITS", table->fine_bits);
    define(text, "COARSE_AT", table->coarse_at);
    penstock__text_add(text, "#define FIRST_OUT %s\n#define SCALE (", last ? "first" : "0");
    penstock__text_add_float(text, last ? fft->scale : 1.0f);
    penstock__text_add(text, ")\n");
}

static void define_pass(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                        const struct gpu_pass *pass, const struct gpu_table *table)
{
    unsigned columns = penstock__gpu_columns(decomposition, pass);
    define(text, "METHOD", decomposition->method);
    define(text, "REAL", decomposition->real);
    define(text, "PAIRED", decomposition->paired);
    define(text, "IMAGE_IN", decomposition->texel && pass->first);
    define(text, "IMAGE_OUT", decomposition->texel && pass->last);
    define(text, "TEXEL", decomposition->texel);
    define(text, "LENGTH", decomposition->length);
    define(text, "INNER", pass->inner);
    define(text, "BLOCKS", (columns + pass->config.per_group - 1) / pass->config.per_group);
    define(text, "BACK", pass->back);
    define(text, "LAST", pass->last);
    define(text, "SPECTRUM_AT", table->spectrum_at);
}

/* ---------------------------------------------------------------- points ---------------------- */

/* Points lane + offset, lane < limit: all of them samples, none, or the first ones. */
static const char *load_word(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass,
                             unsigned offset, unsigned limit)
{
    size_t columns = penstock__gpu_columns(decomposition, pass);
    size_t first = offset * columns, end = (offset + limit) * columns;
    size_t count = pass->first && decomposition->method == GPU_BLUESTEIN ? decomposition->length : decomposition->total;
    if (end <= count)
        return "LOAD";
    return first >= count ? "ZERO" : "LOAD_IF_ANY";
}

static void define_load_points(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                               const struct gpu_pass *pass)
{
    const struct gpu_launch_config *config = &pass->config;
    penstock__text_add(text, "#define LOAD_POINTS");
    if (decomposition->method == GPU_RADER)
        penstock__text_add(text, " RADER_LOAD");
    for (unsigned b = 0; b < config->share[0]; b++) {
        unsigned limit = penstock__gpu_limit(config, 0, b);
        penstock__gpu_open_guard(text, config, limit, true);
        for (unsigned k = 0; k < config->radix[0]; k++) {
            unsigned slot = penstock__gpu_slot_in(config, 0, b, k), offset = penstock__gpu_offset(config, 0, b, k);
            const char *word = load_word(decomposition, pass, offset, limit);
            if (*word == 'Z')
                penstock__text_add(text, " ZERO(%u)", slot);
            else
                penstock__text_add(text, " %s(%u, %u)", word, slot, offset);
        }
        penstock__gpu_close_guard(text, config, limit, true);
        if (limit < config->lanes && config->cpu) { /* they compute too there, with no harm */
            penstock__text_add(text, " else {");
            for (unsigned k = 0; k < config->radix[0]; k++)
                penstock__text_add(text, " ZERO(%u)", penstock__gpu_slot_in(config, 0, b, k));
            penstock__text_add(text, " }");
        }
    }
    penstock__text_add(text, "\n");
}

struct finish {
    struct gpu_text *text;
    unsigned slot, offset;
};

/* Lanes from .. to of a slot that go to offset `to_offset`. */
static void finish_lanes(const struct finish *finish, unsigned from, unsigned to, unsigned lanes, unsigned to_offset)
{
    if (from >= to)
        return;
    if (from > 0 && to < lanes)
        penstock__text_add(finish->text, " if (lane >= %u && lane < %u)", from, to);
    else if (from > 0)
        penstock__text_add(finish->text, " if (lane >= %u)", from);
    else if (to < lanes)
        penstock__text_add(finish->text, " if (lane < %u)", to);
    penstock__text_add(finish->text, " FINISH(%u, %u, %d)", finish->slot, finish->offset, (int)to_offset);
}

static unsigned within(unsigned value, unsigned offset, unsigned limit)
{
    return value <= offset ? 0 : value - offset < limit ? value - offset : limit;
}

/* One slot of a transform whose points lie together: the lanes before and behind the middle of a centred spectrum. */
static void finish_row(const struct finish *finish, const struct gpu_launch_config *config, unsigned limit,
                       unsigned count, unsigned length, bool centered)
{
    unsigned offset = finish->offset, upper = length - length / 2;
    unsigned end = within(count, offset, limit), middle = centered ? within(upper, offset, end) : end;
    finish_lanes(finish, 0, middle, config->lanes, centered ? offset + length / 2 : offset);
    finish_lanes(finish, middle, end, config->lanes, offset - upper);
}

static void define_store_points(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                                const struct gpu_pass *pass, const struct penstock_fft_problem *fft)
{
    const struct gpu_launch_config *config = &pass->config;
    bool row = penstock__gpu_columns(decomposition, pass) == 1 && decomposition->method != GPU_RADER;
    unsigned s = config->stages - 1;
    penstock__text_add(text, "#define STORE_POINTS");
    for (unsigned i = 0; config->turned && i < (config->n + config->lanes - 1) / config->lanes; i++)
        penstock__text_add(text, " FINISH_TURNED(%u)", i);
    for (unsigned b = 0; b < config->share[s] && !config->turned; b++)
        for (unsigned k = 0; k < config->radix[s]; k++) {
            unsigned limit = penstock__gpu_limit(config, s, b);
            struct finish finish = {text, penstock__gpu_slot_out(config, s, b, k),
                                    penstock__gpu_offset(config, s, b, k)};
            if (row) {
                finish_row(&finish, config, limit, (unsigned)out_count(decomposition, fft), decomposition->length,
                           fft->centered);
                continue;
            }
            penstock__gpu_open_guard(text, config, limit, true);
            penstock__text_add(text, " FINISH_ANYWHERE(%u, %u)", finish.slot, finish.offset);
            penstock__gpu_close_guard(text, config, limit, true);
        }
    penstock__text_add(text, "\n");
}

/* `name` as a list of calls of `call` for every slot at the end of stage s. */
static void define_slots(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s, const char *name,
                         const char *call, unsigned skip)
{
    penstock__text_add(text, "#define %s", name);
    for (unsigned b = 0; b < config->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(config, s, b);
        penstock__gpu_open_guard(text, config, limit, true);
        for (unsigned k = b == 0 ? skip : 0; k < config->radix[s]; k++)
            penstock__text_add(text, " %s(%u, %u)", call, penstock__gpu_slot_out(config, s, b, k),
                               penstock__gpu_offset(config, s, b, k));
        penstock__gpu_close_guard(text, config, limit, true);
    }
    penstock__text_add(text, "\n");
}

void penstock__gpu_prologue_memory(struct gpu_text *text, const struct gpu_decomposition *decomposition,
                                   const struct gpu_pass *pass, const struct gpu_table *table,
                                   const struct penstock_fft_problem *fft)
{
    define_load(text, decomposition, pass, table, fft);
    define_store(text, decomposition, pass, table, fft);
    define(text, "METHOD", GPU_PLAIN);
    define(text, "REAL", decomposition->real);
    define(text, "LENGTH", decomposition->length);
}

#define MOST_IN_PTX (1u << 28) /* points: a place in a table is a number of 31 bits of bytes */

/* Of shorter passes compiling takes little, and registers less well given out were 2 % of 10007 points' speed. */
#define LEAST_IN_PTX 256

/* There and back is twice the work of other passes, for the optimizer too. */
bool penstock__gpu_in_ptx(const struct gpu_decomposition *decomposition, unsigned index)
{
    const struct gpu_pass *pass = &decomposition->pass[index];
    return decomposition->method == GPU_BLUESTEIN && pass->middle && pass->config.joined && !pass->config.cpu &&
           pass->config.n >= LEAST_IN_PTX && !decomposition->texel && decomposition->total < MOST_IN_PTX;
}

void penstock__gpu_prologue(struct gpu_text *text, const struct gpu_decomposition *decomposition, unsigned index,
                            const struct gpu_table *table, const struct penstock_fft_problem *fft, bool ptx)
{
    const struct gpu_pass *pass = &decomposition->pass[index];
    define_load(text, decomposition, pass, table, fft);
    define_store(text, decomposition, pass, table, fft);
    define_pass(text, decomposition, pass, table);
    penstock__gpu_prologue_stages(text, &pass->config, table->stage_at, penstock__gpu_columns(decomposition, pass),
                                  ptx);
    define_load_points(text, decomposition, pass);
    define_slots(text, &pass->config, 0, "FETCH_POINTS", "FETCH_POINT", 0);
    define_slots(text, &pass->config, pass->config.stages - 1, "SUM_POINTS", "SUM_ADD_AT", 0);
    define_slots(text, &pass->config, pass->config.stages - 1, "TURNED_POINTS", "LEAVE_TURNED", 0);
    define_store_points(text, decomposition, pass, fft);
    if (pass->middle) {
        bool rader = decomposition->method == GPU_RADER;
        define_slots(text, &pass->config, pass->config.chain - 1, "PRODUCTS", "PRODUCT_AT", rader);
        penstock__text_add(text, "#define MIDDLE %sPRODUCTS\n", rader ? "RADER_FIRST " : "");
    }
}
