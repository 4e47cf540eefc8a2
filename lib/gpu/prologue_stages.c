/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Prints a transform on the chip as the macros that kernels/stages.h is written in. */
#include "gpu/prologue.h"

#define LONG 8193 /* points */

static void define(struct gpu_text *text, const char *name, unsigned long value)
{
    penstock__text_add(text, "#define %s %lu\n", name, value);
}

static void define_sizes(struct gpu_text *text, const struct gpu_launch_config *config, unsigned columns)
{
    unsigned step = config->columns ? config->per_group : 1;
    define(text, "N", config->n);
    define(text, "SLOTS", config->slots);
    define(text, "LANES", config->lanes);
    define(text, "PER_GROUP", config->per_group);
    define(text, "LOWS", config->lows);
    define(text, "GROUP_X", penstock__gpu_group_x(config));
    define(text, "GROUP_Y", penstock__gpu_group_size(config) / penstock__gpu_group_x(config));
    define(text, "COLUMNS", columns);
    define(text, "RESIDENT", config->resident);
    define(text, "AHEAD", config->ahead);
    define(text, "CPU", config->cpu);
    define(text, "HALVES", config->halves);
    define(text, "STEP", step);
    define(text, "JOINED", config->joined);
    define(text, "TURNED", config->turned);
    define(text, "MEMBER_STEP", config->columns ? 1 : config->joined ? config->region / 2 : config->region);
    define(text, "PLANE", config->halves ? 0 : config->plane * step);
    define(text, "LOCAL_FLOATS", (unsigned long)config->region * config->per_group);
    define(text, "LOCAL_COUNT", (unsigned long)config->region * config->per_group / (config->joined ? 2 : 1));
    penstock__text_add(text, "#define EACH_SLOT(X)");
    for (unsigned slot = 0; slot < config->slots; slot++)
        penstock__text_add(text, " X(%u)", slot);
    penstock__text_add(text, "\n");
}

/* How the kernel is to divide lane + position by the span. */
static const char *division(const struct gpu_launch_config *config, unsigned position, unsigned span)
{
    if (span == 1)
        return "ONE";
    if (position + config->lanes <= span)
        return "SHORT";
    if (!config->cpu && position % span == 0)
        return "EVEN";
    return span % config->lows || config->lows == 1 ? "ANY" : "LONG";
}

static void call_radix(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s, unsigned b)
{
    penstock__text_add(text, " DFT%u(%u", config->radix[s], penstock__gpu_slot_in(config, s, b, 0));
    for (unsigned k = 1; k < config->radix[s]; k++)
        penstock__text_add(text, ", %u", penstock__gpu_slot_in(config, s, b, k));
    penstock__text_add(text, ")");
}

static void read_twiddles(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s, unsigned b,
                          unsigned table_at)
{
    unsigned span = config->span[s], position = b * config->lanes;
    for (unsigned k = 1; k < config->radix[s]; k++)
        penstock__text_add(text, " TWIDDLE(%u, %s, %u, %u, %u)", penstock__gpu_slot_out(config, s, b, k),
                           division(config, position, span), table_at + 2 * (k - 1) * span, position, span);
}

/* Powers of two among the exponents are read, the others made of them, up to three products deep; on the way through a
 * convolution, where errors of two transforms add up, exponents to 3 and multiples of 4 are read, and one product is
 * enough. */
static void make_twiddles(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s, unsigned b,
                          unsigned table_at)
{
    unsigned span = config->span[s], position = b * config->lanes;
    penstock__text_add(text, " { TWIDDLE_AT(%s, %u, %u)", division(config, position, span), position, span);
    for (unsigned k = 1; k < config->radix[s]; k++) {
        unsigned upper = k / 4 * 4;
        if (config->stages == config->chain)
            for (upper = 1; 2 * upper <= k;)
                upper *= 2;
        if (k < 3 || upper == k || (k == 3 && upper == 0))
            penstock__text_add(text, " TWIDDLE_READ(%u, %u)", k, table_at + 2 * (k - 1) * span);
        else
            penstock__text_add(text, " TWIDDLE_MAKE(%u, %u, %u)", k, upper, k - upper);
        penstock__text_add(text, " TWIDDLE_USE(%u, %u)", penstock__gpu_slot_out(config, s, b, k), k);
    }
    penstock__text_add(text, " }");
}

/* Butterflies and the twiddle factors of their values. */
static void define_stage(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s, unsigned table_at,
                         bool ptx)
{
    unsigned radix = config->radix[s], span = config->span[s];
    penstock__gpu_radix_define(text, radix, ptx);
    penstock__text_add(text, "#define STAGE_%u", s);
    for (unsigned b = 0; b < config->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(config, s, b);
        penstock__gpu_open_guard(text, config, limit, false);
        if (radix > 1)
            call_radix(text, config, s, b);
        if (span > 1 && (config->cpu || radix < 4))
            read_twiddles(text, config, s, b, table_at);
        else if (span > 1)
            make_twiddles(text, config, s, b, table_at);
        penstock__gpu_close_guard(text, config, limit, false);
    }
    penstock__text_add(text, "\n");
}

/* What stage s leaves, for the exchange before the next one or, at the end of a chain, for what has no gaps. */
static void define_give(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s)
{
    bool end = s + 1 == config->chain || s + 1 == config->stages;
    penstock__text_add(text, "#define GIVE_%u(X)", s);
    for (unsigned b = 0; b < config->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(config, s, b);
        penstock__gpu_open_guard(text, config, limit, true);
        for (unsigned k = 0; k < config->radix[s]; k++)
            penstock__text_add(text, " X(%u, %u, %u, %u)", penstock__gpu_slot_out(config, s, b, k),
                               penstock__gpu_offset(config, s, b, k), end ? 1 : config->every[s + 1],
                               end ? 0 : config->gap[s + 1]);
        penstock__gpu_close_guard(text, config, limit, true);
    }
    penstock__text_add(text, "\n");
}

static void define_take(struct gpu_text *text, const struct gpu_launch_config *config, unsigned s)
{
    unsigned radix = config->radix[s], span = config->span[s];
    penstock__text_add(text, "#define TAKE_%u(X)", s);
    for (unsigned b = 0; b < config->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(config, s, b), position = b * config->lanes;
        penstock__gpu_open_guard(text, config, limit, false);
        for (unsigned k = 0; k < radix; k++)
            penstock__text_add(text, " X(%u, %s, %u, %u, %u, %u, %u, %u)", penstock__gpu_slot_in(config, s, b, k),
                               division(config, position, span), position, span, span * radix, k * span,
                               config->every[s], config->gap[s]);
        penstock__gpu_close_guard(text, config, limit, false);
    }
    penstock__text_add(text, "\n");
}

/*
 * A convolution whose radices read the same backwards goes twice through the same stages. Of long ones there is one
 * copy then, in a loop, since compilers take half a second for two. ONWARD: from where its points lie to where it takes
 * them.
 */
static bool goes_twice(const struct gpu_launch_config *config)
{
    bool same = !config->cpu && config->n >= LONG && config->chain > 1 && config->stages == 2 * config->chain;
    for (unsigned s = 0; s < config->chain && same; s++)
        same = config->radix[s] == config->radix[config->chain + s];
    return same && config->buffers == 1;
}

static void define_onward(struct gpu_text *text, const struct gpu_launch_config *config)
{
    unsigned lies[GPU_MAX_SLOTS]; /* in which slot what belongs in slot i is */
    for (unsigned i = 0; i < GPU_MAX_SLOTS; i++)
        lies[i] = i;
    for (unsigned b = 0; b < config->share[0]; b++)
        for (unsigned k = 0; k < config->radix[0]; k++)
            lies[penstock__gpu_slot_in(config, 0, b, k)] = penstock__gpu_slot_in(config, config->chain, b, k);
    penstock__text_add(text, "#define ONWARD");
    for (unsigned i = 0; i < config->slots; i++) {
        unsigned from = lies[i];
        while (from < i) /* it was exchanged before */
            from = lies[from];
        if (from != i)
            penstock__text_add(text, " SWAP(%u, %u)", i, from);
    }
    penstock__text_add(text, "\n");
}

static void define_twice(struct gpu_text *text, const struct gpu_launch_config *config)
{
    penstock__text_add(text, "#define ROUND STAGE_0");
    for (unsigned s = 1; s < config->chain; s++)
        penstock__text_add(text, " K_BARRIER(); RELOCATE EXCHANGE(%u, %u, 0) STAGE_%u", s - 1, s, s);
    penstock__text_add(text, "\n");
    define_onward(text, config);
    penstock__text_add(text, "#define TRANSFORM TWICE\n");
}

/* Two buffers in turn need no barrier before they are written again: that of the exchange in between suffices. */
static void define_transform(struct gpu_text *text, const struct gpu_launch_config *config)
{
    unsigned step = config->columns ? config->per_group : 1, exchange = 0;
    penstock__text_add(text, "#define TRANSFORM STAGE_0");
    for (unsigned stage = 1; stage < config->stages || exchange < config->exchanges; stage++) {
        unsigned buffer = exchange % config->buffers * 2 * config->plane * step;
        if (stage == config->chain && stage < config->stages) {
            penstock__text_add(text, " MIDDLE STAGE_%u", stage);
            continue;
        }
        if (exchange++ > 0 && config->buffers == 1)
            penstock__text_add(text, " K_BARRIER(); RELOCATE");
        if (stage < config->stages)
            penstock__text_add(text, " EXCHANGE(%u, %u, %u) STAGE_%u", stage - 1, stage, buffer, stage);
        else
            penstock__text_add(text, " UNPACK(%u, %u)", stage - 1, buffer);
    }
    penstock__text_add(text, "\n");
}

void penstock__gpu_prologue_stages(struct gpu_text *text, const struct gpu_launch_config *config,
                                   const unsigned *stage_at, unsigned columns, bool ptx)
{
    define_sizes(text, config, columns);
    for (unsigned s = 0; s < config->stages; s++) {
        define_stage(text, config, s, stage_at[s], ptx);
        define_give(text, config, s);
        if (s)
            define_take(text, config, s);
    }
    if (goes_twice(config))
        define_twice(text, config);
    else
        define_transform(text, config);
}
