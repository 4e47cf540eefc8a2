/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Prints a transform on the chip as the macros that kernels/stages.h is written in. */
#include "gpu/prologue.h"

#define LONG 8193 /* points */

static void define(struct gpu_text *text, const char *name, unsigned long value)
{
    penstock__text_add(text, "#define %s %lu\n", name, value);
}

/* Work-items with nothing to do stand aside on a GPU. On a CPU they compute along: its loops have no branches then. */
static bool guarded(const struct gpu_shape *shape, unsigned limit, bool writes)
{
    return limit < shape->lanes && (writes || !shape->cpu);
}

static void open_guard(struct gpu_text *text, const struct gpu_shape *shape, unsigned limit, bool writes)
{
    if (guarded(shape, limit, writes))
        penstock__text_add(text, " if (lane < %u) {", limit);
}

static void close_guard(struct gpu_text *text, const struct gpu_shape *shape, unsigned limit, bool writes)
{
    if (guarded(shape, limit, writes))
        penstock__text_add(text, " }");
}

static void define_sizes(struct gpu_text *text, const struct gpu_shape *shape, unsigned columns)
{
    unsigned step = shape->columns ? shape->per_group : 1;
    define(text, "N", shape->n);
    define(text, "SLOTS", shape->slots);
    define(text, "LANES", shape->lanes);
    define(text, "PER_GROUP", shape->per_group);
    define(text, "LOWS", shape->lows);
    define(text, "GROUP_X", penstock__gpu_group_x(shape));
    define(text, "GROUP_Y", penstock__gpu_group_size(shape) / penstock__gpu_group_x(shape));
    define(text, "COLUMNS", columns);
    define(text, "RESIDENT", shape->resident);
    define(text, "AHEAD", shape->ahead);
    define(text, "CPU", shape->cpu);
    define(text, "HALVES", shape->halves);
    define(text, "STEP", step);
    define(text, "JOINED", shape->joined);
    define(text, "TURNED", shape->turned);
    define(text, "MEMBER_STEP", shape->columns ? 1 : shape->joined ? shape->region / 2 : shape->region);
    define(text, "PLANE", shape->halves ? 0 : shape->plane * step);
    define(text, "LOCAL_FLOATS", (unsigned long)shape->region * shape->per_group);
    define(text, "LOCAL_COUNT", (unsigned long)shape->region * shape->per_group / (shape->joined ? 2 : 1));
    penstock__text_add(text, "#define EACH_SLOT(X)");
    for (unsigned slot = 0; slot < shape->slots; slot++)
        penstock__text_add(text, " X(%u)", slot);
    penstock__text_add(text, "\n");
}

/* How the kernel is to divide lane + position by the span. */
static const char *division(const struct gpu_shape *shape, unsigned position, unsigned span)
{
    if (span == 1)
        return "ONE";
    if (position + shape->lanes <= span)
        return "SHORT";
    if (!shape->cpu && position % span == 0)
        return "EVEN";
    return span % shape->lows || shape->lows == 1 ? "ANY" : "LONG";
}

static void call_radix(struct gpu_text *text, const struct gpu_shape *shape, unsigned s, unsigned b)
{
    penstock__text_add(text, " DFT%u(%u", shape->radix[s], penstock__gpu_slot_in(shape, s, b, 0));
    for (unsigned k = 1; k < shape->radix[s]; k++)
        penstock__text_add(text, ", %u", penstock__gpu_slot_in(shape, s, b, k));
    penstock__text_add(text, ")");
}

static void read_twiddles(struct gpu_text *text, const struct gpu_shape *shape, unsigned s, unsigned b,
                          unsigned table_at)
{
    unsigned span = shape->span[s], position = b * shape->lanes;
    for (unsigned k = 1; k < shape->radix[s]; k++)
        penstock__text_add(text, " TWIDDLE(%u, %s, %u, %u, %u)", penstock__gpu_slot_out(shape, s, b, k),
                           division(shape, position, span), table_at + 2 * (k - 1) * span, position, span);
}

/* Powers of two among the exponents are read, the others made of them, up to three products deep; on the way through a
 * convolution, where errors of two transforms add up, exponents to 3 and multiples of 4 are read, and one product is
 * enough. */
static void make_twiddles(struct gpu_text *text, const struct gpu_shape *shape, unsigned s, unsigned b,
                          unsigned table_at)
{
    unsigned span = shape->span[s], position = b * shape->lanes;
    penstock__text_add(text, " { TWIDDLE_AT(%s, %u, %u)", division(shape, position, span), position, span);
    for (unsigned k = 1; k < shape->radix[s]; k++) {
        unsigned upper = k / 4 * 4;
        if (shape->stages == shape->chain)
            for (upper = 1; 2 * upper <= k;)
                upper *= 2;
        if (k < 3 || upper == k || (k == 3 && upper == 0))
            penstock__text_add(text, " TWIDDLE_READ(%u, %u)", k, table_at + 2 * (k - 1) * span);
        else
            penstock__text_add(text, " TWIDDLE_MAKE(%u, %u, %u)", k, upper, k - upper);
        penstock__text_add(text, " TWIDDLE_USE(%u, %u)", penstock__gpu_slot_out(shape, s, b, k), k);
    }
    penstock__text_add(text, " }");
}

/* Butterflies and the twiddle factors of their values. */
static void define_stage(struct gpu_text *text, const struct gpu_shape *shape, unsigned s, unsigned table_at, bool ptx)
{
    unsigned radix = shape->radix[s], span = shape->span[s];
    penstock__gpu_radix_define(text, radix, ptx);
    penstock__text_add(text, "#define STAGE_%u", s);
    for (unsigned b = 0; b < shape->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(shape, s, b);
        open_guard(text, shape, limit, false);
        if (radix > 1)
            call_radix(text, shape, s, b);
        if (span > 1 && (shape->cpu || radix < 4))
            read_twiddles(text, shape, s, b, table_at);
        else if (span > 1)
            make_twiddles(text, shape, s, b, table_at);
        close_guard(text, shape, limit, false);
    }
    penstock__text_add(text, "\n");
}

/* What stage s leaves, for the exchange before the next one or, at the end of a chain, for what has no gaps. */
static void define_give(struct gpu_text *text, const struct gpu_shape *shape, unsigned s)
{
    bool end = s + 1 == shape->chain || s + 1 == shape->stages;
    penstock__text_add(text, "#define GIVE_%u(X)", s);
    for (unsigned b = 0; b < shape->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(shape, s, b);
        open_guard(text, shape, limit, true);
        for (unsigned k = 0; k < shape->radix[s]; k++)
            penstock__text_add(text, " X(%u, %u, %u, %u)", penstock__gpu_slot_out(shape, s, b, k),
                               penstock__gpu_offset(shape, s, b, k), end ? 1 : shape->every[s + 1],
                               end ? 0 : shape->gap[s + 1]);
        close_guard(text, shape, limit, true);
    }
    penstock__text_add(text, "\n");
}

static void define_take(struct gpu_text *text, const struct gpu_shape *shape, unsigned s)
{
    unsigned radix = shape->radix[s], span = shape->span[s];
    penstock__text_add(text, "#define TAKE_%u(X)", s);
    for (unsigned b = 0; b < shape->share[s]; b++) {
        unsigned limit = penstock__gpu_limit(shape, s, b), position = b * shape->lanes;
        open_guard(text, shape, limit, false);
        for (unsigned k = 0; k < radix; k++)
            penstock__text_add(text, " X(%u, %s, %u, %u, %u, %u, %u, %u)", penstock__gpu_slot_in(shape, s, b, k),
                               division(shape, position, span), position, span, span * radix, k * span, shape->every[s],
                               shape->gap[s]);
        close_guard(text, shape, limit, false);
    }
    penstock__text_add(text, "\n");
}

/*
 * A convolution whose radices read the same backwards goes twice through the same stages. Of long ones there is one
 * copy then, in a loop, since compilers take half a second for two. ONWARD: from where its points lie to where it takes
 * them.
 */
static bool goes_twice(const struct gpu_shape *shape)
{
    bool same = !shape->cpu && shape->n >= LONG && shape->chain > 1 && shape->stages == 2 * shape->chain;
    for (unsigned s = 0; s < shape->chain && same; s++)
        same = shape->radix[s] == shape->radix[shape->chain + s];
    return same && shape->buffers == 1;
}

static void define_onward(struct gpu_text *text, const struct gpu_shape *shape)
{
    unsigned lies[GPU_MAX_SLOTS]; /* in which slot what belongs in slot i is */
    for (unsigned i = 0; i < GPU_MAX_SLOTS; i++)
        lies[i] = i;
    for (unsigned b = 0; b < shape->share[0]; b++)
        for (unsigned k = 0; k < shape->radix[0]; k++)
            lies[penstock__gpu_slot_in(shape, 0, b, k)] = penstock__gpu_slot_in(shape, shape->chain, b, k);
    penstock__text_add(text, "#define ONWARD");
    for (unsigned i = 0; i < shape->slots; i++) {
        unsigned from = lies[i];
        while (from < i) /* it was exchanged before */
            from = lies[from];
        if (from != i)
            penstock__text_add(text, " SWAP(%u, %u)", i, from);
    }
    penstock__text_add(text, "\n");
}

static void define_twice(struct gpu_text *text, const struct gpu_shape *shape)
{
    penstock__text_add(text, "#define ROUND STAGE_0");
    for (unsigned s = 1; s < shape->chain; s++)
        penstock__text_add(text, " K_BARRIER(); RELOCATE EXCHANGE(%u, %u, 0) STAGE_%u", s - 1, s, s);
    penstock__text_add(text, "\n");
    define_onward(text, shape);
    penstock__text_add(text, "#define TRANSFORM TWICE\n");
}

/* Two buffers in turn need no barrier before they are written again: that of the exchange in between suffices. */
static void define_transform(struct gpu_text *text, const struct gpu_shape *shape)
{
    unsigned step = shape->columns ? shape->per_group : 1, exchange = 0;
    penstock__text_add(text, "#define TRANSFORM STAGE_0");
    for (unsigned stage = 1; stage < shape->stages || exchange < shape->exchanges; stage++) {
        unsigned buffer = exchange % shape->buffers * 2 * shape->plane * step;
        if (stage == shape->chain && stage < shape->stages) {
            penstock__text_add(text, " MIDDLE STAGE_%u", stage);
            continue;
        }
        if (exchange++ > 0 && shape->buffers == 1)
            penstock__text_add(text, " K_BARRIER(); RELOCATE");
        if (stage < shape->stages)
            penstock__text_add(text, " EXCHANGE(%u, %u, %u) STAGE_%u", stage - 1, stage, buffer, stage);
        else
            penstock__text_add(text, " UNPACK(%u, %u)", stage - 1, buffer);
    }
    penstock__text_add(text, "\n");
}

void penstock__gpu_prologue_stages(struct gpu_text *text, const struct gpu_shape *shape, const unsigned *stage_at,
                                   unsigned columns, bool ptx)
{
    define_sizes(text, shape, columns);
    for (unsigned s = 0; s < shape->stages; s++) {
        define_stage(text, shape, s, stage_at[s], ptx);
        define_give(text, shape, s);
        if (s)
            define_take(text, shape, s);
    }
    if (goes_twice(shape))
        define_twice(text, shape);
    else
        define_transform(text, shape);
}
