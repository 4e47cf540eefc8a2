/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Prints a plan as the macros that kernels/fft.cl is written in. */
#include "gpu/prologue.h"

static void define(struct gpu_text *text, const char *name, unsigned long value)
{
    penstock__text_add(text, "#define %s %lu\n", name, value);
}

static void define_problem(struct gpu_text *text, const struct gpu_table *table, const struct penstock_fft_problem *fft)
{
    define(text, "FORMAT", fft->format);
    define(text, "REAL", fft->domain == PENSTOCK_REAL);
    define(text, "REVERSE", fft->direction == PENSTOCK_REVERSE);
    define(text, "GATHERED", fft->gathered);
    define(text, "SPACING", fft->spacing);
    define(text, "SKIP", fft->skip);
    define(text, "WINDOW", table->window_kind);
    define(text, "WINDOW_AT", table->window_at);
    define(text, "HALF_AT", table->half_at);
    define(text, "OUTPUT", fft->output);
    define(text, "CENTERED", fft->centered);
    define(text, "AVERAGE", fft->average);
    define(text, "BINS",
           fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE ? fft->n / 2
                                                                              : penstock__fft_out_count(fft));
    penstock__text_add(text, "#define SCALE (");
    penstock__text_add_float(text, fft->scale);
    penstock__text_add(text, ")\n");
}

static void define_shape(struct gpu_text *text, const struct gpu_shape *shape)
{
    define(text, "N", shape->n);
    define(text, "SLOTS", shape->slots);
    define(text, "LANES", shape->lanes);
    define(text, "PER_GROUP", shape->per_group);
    define(text, "LOWS", shape->lows);
    define(text, "GROUP_X", penstock__gpu_group_x(shape));
    define(text, "GROUP_Y", penstock__gpu_group_size(shape) / penstock__gpu_group_x(shape));
    define(text, "CPU", shape->cpu);
    define(text, "HALVES", shape->halves);
    define(text, "PAD", shape->pad_shift);
    define(text, "PLANE", shape->halves ? 0 : shape->plane);
    define(text, "REGION", shape->region);
    define(text, "LOCAL_FLOATS", (unsigned long)shape->region * shape->per_group);
    penstock__text_add(text, "#define EACH_SLOT(X)");
    for (unsigned slot = 0; slot < shape->slots; slot++)
        penstock__text_add(text, " X(%u)", slot);
    penstock__text_add(text, "\n");
}

/* How kernels/fft.cl is to divide lane + position by the span. */
static const char *division(const struct gpu_shape *shape, unsigned position, unsigned span)
{
    if (span == 1)
        return "ONE";
    if (position + shape->lanes <= span)
        return "SHORT";
    return span % shape->lows ? "ANY" : "LONG";
}

/* Butterfly b of a stage lies in the slots b, b + step, b + 2 step, ... and is number lane + b lanes. */
static void define_stage(struct gpu_text *text, const struct gpu_shape *shape, const struct gpu_table *table,
                         unsigned s)
{
    unsigned radix = shape->radix[s], span = shape->span[s], step = shape->slots / radix;
    penstock__text_add(text, "#define DFT_%u", s);
    for (unsigned b = 0; b < step; b++) {
        penstock__text_add(text, " DFT%u(%u", radix, b);
        for (unsigned k = 1; k < radix; k++)
            penstock__text_add(text, ", %u", b + k * step);
        penstock__text_add(text, ")");
    }
    penstock__text_add(text, "\n#define TWIDDLES_%u", s);
    for (unsigned b = 0; b < step && span > 1; b++)
        for (unsigned k = 1; k < radix; k++)
            penstock__text_add(text, " TWIDDLE(%u, %s, %u, %u, %u)", b + k * step,
                               division(shape, b * shape->lanes, span), table->stage_at[s] + 2 * (k - 1) * span,
                               b * shape->lanes, span);
    penstock__text_add(text, "\n");
    if (s == 0)
        return;
    penstock__text_add(text, "#define GATHER_%u(X)", s);
    for (unsigned b = 0; b < step; b++)
        for (unsigned k = 0; k < radix; k++)
            penstock__text_add(text, " X(%u, %s, %u, %u, %u, %u)", b + k * step,
                               division(shape, b * shape->lanes, span), b * shape->lanes, span, span * radix, k * span);
    penstock__text_add(text, "\n");
}

/* Two buffers in turn need no barrier before they are written again: that of the exchange in between suffices. */
static void define_transform(struct gpu_text *text, const struct gpu_shape *shape)
{
    penstock__text_add(text, "#define TRANSFORM STAGE(0)");
    for (unsigned exchange = 0; exchange < shape->exchanges; exchange++) {
        unsigned buffer = exchange % shape->buffers * 2 * shape->plane, stage = exchange + 1;
        if (exchange > 0 && shape->buffers == 1)
            penstock__text_add(text, " K_BARRIER(); RELOCATE");
        if (stage < shape->stages)
            penstock__text_add(text, " EXCHANGE(%u, %u) STAGE(%u)", stage, buffer, stage);
        else
            penstock__text_add(text, " UNPACK(%u)", buffer);
    }
    penstock__text_add(text, "\n");
}

void penstock__gpu_prologue(struct gpu_text *text, const struct gpu_shape *shape, const struct gpu_table *table,
                            const struct penstock_fft_problem *fft)
{
    define_problem(text, table, fft);
    define_shape(text, shape);
    for (unsigned s = 0; s < shape->stages; s++)
        define_stage(text, shape, table, s);
    define_transform(text, shape);
}
