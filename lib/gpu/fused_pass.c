/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Transforms of powers of two, written out as source. */
#include "gpu/fused_pass.h"

#include <math.h>

static const double tau = 6.28318530717958647692528676655900577;

/* ---------------------------------------------------------------- tables ---------------------- */

static unsigned rows(unsigned radix)
{
    return penstock__fused_rows(radix);
}

size_t penstock__fused_table_floats(const struct fused_config *config)
{
    size_t count = 0;
    for (unsigned s = 1; s < config->passes; s++)
        count += (size_t)config->before[s] * (rows(config->radix[s]) + 1) * 4 * (config->regions && s == 2 ? 2 : 1);
    return count ? count : 4; /* a buffer cannot be empty */
}

static void put(float *to, double angle)
{
    to[0] = (float)cos(angle);
    to[1] = (float)sin(angle);
}

/*
 * Factor 0 is that of the first layer, w^(R/2) with w = exp(-2 pi i j / (S R)); factors L/4 + q, q < L/4, are those of
 * layer L = 4, 8, .. R: w^(R/L) exp(-2 pi i q / L). The other half of a layer's factors are -i times these.
 */
static void fill_pass(float *table, const struct fused_config *config, unsigned s, bool swapped)
{
    unsigned before = config->before[s], radix = config->radix[s];
    for (unsigned at = 0; at < before; at++) {
        unsigned j = swapped ? penstock__fused_swapped(config, at) : at;
        double angle = -tau * j / ((double)before * radix);
        for (unsigned i = 0; i < 2 * rows(radix); i++) {
            unsigned layer = i ? 4 : 2;
            while (layer / 2 <= i)
                layer *= 2;
            unsigned q = i - layer / 4;
            put(table + 4 * ((size_t)i / 2 * before + at) + 2 * (i % 2), angle * (radix / layer) - tau * q / layer);
        }
        float *last = table + 4 * ((size_t)rows(radix) * before + at);
        put(last, angle);
        put(last + 2, 2 * angle);
    }
}

int penstock__fused_table(float **values, size_t *count, const struct fused_config *config, size_t more)
{
    *count = penstock__fused_table_floats(config) + more;
    if (!(*values = penstock__calloc(*count, sizeof **values)))
        return PENSTOCK_ERR_MEMORY;
    for (unsigned s = 1; s < config->passes; s++)
        fill_pass(*values + 4 * (size_t)config->table_at[s], config, s, false);
    if (config->regions)
        fill_pass(*values + 4 * (size_t)config->swapped_at, config, config->passes - 1, true);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- source ---------------------- */

void penstock__fused_constants(struct gpu_text *text, const struct fused_config *config)
{
    penstock__text_add(text,
                       "#define N %u\n#define SLOTS %u\n#define LANES %u\n#define PER_GROUP %u\n#define GROUP %u\n"
                       "#define DENSE %u\n#define REGION %u\n#define CPU %d\n#define EACH_SLOT(X)",
                       config->n, config->slots, config->lanes, config->per_group, config->lanes * config->per_group,
                       config->dense, config->region, config->cpu);
    for (unsigned s = 0; s < config->slots; s++)
        penstock__text_add(text, " X(%u)", s);
    penstock__text_add(text, "\n");
}

static unsigned reversed(unsigned k, unsigned radix)
{
    unsigned result = 0;
    for (; radix > 1; radix /= 2, k /= 2)
        result = 2 * result + k % 2;
    return result;
}

static void add_pair(struct gpu_text *text, unsigned e, unsigned o, double angle, bool reverse)
{
    penstock__text_add(text, " PAIR(v%u, v%u, ", e, o);
    penstock__text_add_float(text, (float)cos(angle));
    penstock__text_add(text, ", ");
    penstock__text_add_float(text, (float)(reverse ? -sin(angle) : sin(angle)));
    penstock__text_add(text, ")");
}

/* A butterfly whose factors are constants. `a`: variables in the order in which the layers want them. */
static void add_first(struct gpu_text *text, const unsigned *a, unsigned radix, bool reverse)
{
    for (unsigned layer = 2; layer <= radix; layer *= 2)
        for (unsigned m = 0; m < layer / 2; m++)
            for (unsigned g = 0; g < radix; g += layer) {
                unsigned e = a[g + m], o = a[g + m + layer / 2];
                if (!m)
                    penstock__text_add(text, " PAIR_ONE(v%u, v%u)", e, o);
                else if (4 * m == layer)
                    penstock__text_add(text, " PAIR_%s(v%u, v%u)", reverse ? "UP" : "DOWN", e, o);
                else
                    add_pair(text, e, o, -tau * m / layer, reverse);
            }
}

/* Factors z0 .. of one butterfly, read or computed: see fill_pass(). */
static void add_factors(struct gpu_text *text, const struct fused_config *config, unsigned s, unsigned table_at)
{
    unsigned radix = config->radix[s], span = config->before[s];
    if (!config->computed[s]) {
        for (unsigned i = 0; i < rows(radix); i++)
            penstock__text_add(text, " FACTORS(z%u, z%u, %u)", 2 * i, 2 * i + 1, table_at + i * span);
        return;
    }
    penstock__text_add(text, " FACTORS(p1, p2, %u)", table_at + rows(radix) * span);
    unsigned power = 1;
    for (unsigned layer = radix; layer >= 4; layer /= 2, power *= 2) {
        if (power > 2)
            penstock__text_add(text, " FACTOR_SQUARED(p%u, p%u)", power, power / 2);
        for (unsigned m = 0; m < layer / 4; m++) {
            if (!m) {
                penstock__text_add(text, " FACTOR_SAME(z%u, p%u)", layer / 4, power);
                continue;
            }
            penstock__text_add(text, " FACTOR_ROTATED(z%u, p%u, ", layer / 4 + m, power);
            penstock__text_add_float(text, (float)cos(tau * m / layer));
            penstock__text_add(text, ", ");
            penstock__text_add_float(text, (float)-sin(tau * m / layer));
            penstock__text_add(text, ")");
        }
    }
    penstock__text_add(text, " FACTOR_SQUARED(z0, z1)");
}

static void add_later(struct gpu_text *text, const unsigned *a, unsigned radix, bool reverse)
{
    for (unsigned layer = 2; layer <= radix; layer *= 2)
        for (unsigned m = 0; m < layer / 2; m++)
            for (unsigned g = 0; g < radix; g += layer) {
                unsigned e = a[g + m], o = a[g + m + layer / 2], quarter = layer / 4 ? layer / 4 : 1;
                unsigned z = layer == 2 ? 0 : quarter + m % quarter;
                if (layer > 2 && m >= quarter) /* -i z, or its conjugate */
                    penstock__text_add(text, " PAIR_%s(v%u, v%u, z%u, y, x)", reverse ? "BY" : "BACK", e, o, z);
                else
                    penstock__text_add(text, " PAIR_%s(v%u, v%u, z%u, x, y)", reverse ? "BACK" : "BY", e, o, z);
            }
}

/* The same as below of butterfly b, whose first value is point q_ + j_ % span. No two terms have a bit in common. */
static void add_swizzled(struct gpu_text *text, const struct fused_config *config, unsigned s, unsigned b,
                         const unsigned *order)
{
    unsigned radix = config->radix[s], span = config->before[s], butterflies = config->slots / radix;
    unsigned together = span > 1 ? 1 : 2;
    penstock__text_add(text, " const k_index m_ = (q_ + j_ %% %u) ^ q_ / %u * %u %% %u;", span, config->every[s],
                       config->gap[s], GPU_SWIZZLE);
    penstock__text_add(text, " LOCAL_PLACE(to_, float2, shared, 0)");
    for (unsigned k = 0; k < radix; k += together) {
        unsigned low = k * span % GPU_SWIZZLE;
        penstock__text_add(text, " LOCAL_GIVE%s(to_, ((m_ ^ %u) + %u), v%u", together > 1 ? "_TWO" : "", low,
                           k * span - low, order[k * butterflies + b]);
        if (together > 1)
            penstock__text_add(text, ", v%u", order[(k + 1) * butterflies + b]);
        penstock__text_add(text, ")");
    }
    penstock__text_add(text, " }");
}

/* Butterflies of pass s put their values, or the part of them that `part` names, into local memory. */
static void add_gives(struct gpu_text *text, const struct fused_config *config, unsigned s, const char *part,
                      const unsigned *order)
{
    unsigned radix = config->radix[s], span = config->before[s], butterflies = config->slots / radix;
    unsigned at = config->two_buffers && s % 2 ? config->odd_at : 0, step = config->every[s], hole = config->gap[s];
    const char *type = *part ? "float" : "float2";
    for (unsigned b = 0; b < butterflies; b++) {
        unsigned position = b * config->lanes;
        penstock__text_add(text, " { const k_index j_ = lane + %u, q_ = j_ / %u * %u;", position, span, span * radix);
        if (config->swizzled) {
            add_swizzled(text, config, s, b, order);
            continue;
        }
        penstock__text_add(text, " LOCAL_PLACE(to_, %s, shared, %u + q_ + j_ %% %u + q_ / %u * %u)", type, at, span,
                           step, hole);
        for (unsigned k = 0; k < radix; k++)
            if (span > 1 || *part)
                penstock__text_add(text, " LOCAL_GIVE%s(to_, %u, v%u%s)", *part ? "_PART" : "", k * span,
                                   order[k * butterflies + b], part);
            else if (k % 2 == 0)
                penstock__text_add(text, " LOCAL_GIVE_TWO(to_, %u, v%u, v%u)", k, order[k * butterflies + b],
                                   order[(k + 1) * butterflies + b]);
        penstock__text_add(text, " }");
    }
}

static void add_takes(struct gpu_text *text, const struct fused_config *config, unsigned s, const char *part)
{
    unsigned at = config->two_buffers && s % 2 ? config->odd_at : 0, step = config->every[s];
    unsigned hole = config->swizzled ? 0 : config->gap[s];
    bool even = hole && config->lanes % step == 0; /* gaps of a point: those before the lane, and a constant */
    if (config->swizzled)
        penstock__text_add(text, " { LOCAL_PLACE(from_, float2, shared, (lane ^ lane / %u * %u %% %u)", step,
                           config->gap[s], GPU_SWIZZLE);
    else
        penstock__text_add(text, " { LOCAL_PLACE(from_, %s, shared, lane + %u", *part ? "float" : "float2", at);
    if (even)
        penstock__text_add(text, " + lane / %u * %u", step, hole);
    penstock__text_add(text, ")");
    for (unsigned i = 0; i < config->slots; i++) {
        unsigned position = i * config->lanes;
        penstock__text_add(text, " LOCAL_TAKE%s(v%u%s, from_, %u)", *part ? "_PART" : "", i, part,
                           position + position / step * hole);
    }
    penstock__text_add(text, " }");
}

/*
 * An exchange by way of regions; see penstock__fused_swapped(). Across, the memory of a region is a table of rows b and
 * columns c, which is read by rows (forward), or written by them; within, rows are two points longer, so that they can
 * be written in pairs by neighbours and be read across without meeting in a bank.
 */
static void add_regions(struct gpu_text *text, const struct fused_config *config, unsigned s, bool reverse,
                        bool barrier, const unsigned *order)
{
    unsigned r = config->slots, region = config->lanes + 2 * r;
    bool across = reverse == (s == 1), apart = across && !reverse, meet = across && reverse;
    if (barrier)
        penstock__text_add(text, " K_BARRIER_%s();", apart ? "LANES" : "FEW");
    penstock__text_add(text, " { K_LOCAL float2 *to_ = shared + ");
    if (apart)
        penstock__text_add(text, "lane;");
    else
        penstock__text_add(text, "lane / %u * %u + lane %% %u * %u;", r, region, r, across ? 1 : r + 2);
    for (unsigned k = 0; k < r; k++)
        if (across)
            penstock__text_add(text, " to_[%u] = v%u;", k * (apart ? region : r), order[k]);
        else if (k % 2 == 0)
            penstock__text_add(text, " LOCAL_GIVE_TWO(to_, %u, v%u, v%u)", k, order[k], order[k + 1]);
    penstock__text_add(text, " } K_BARRIER_%s(); { K_LOCAL const float2 *from_ = shared + ", across ? "LANES" : "FEW");
    if (meet)
        penstock__text_add(text, "lane;");
    else
        penstock__text_add(text, "lane / %u * %u + lane %% %u;", r, region, r);
    for (unsigned i = 0; i < r; i++)
        penstock__text_add(text, " v%u = from_[%u];", i, i * (meet ? region : across ? r : r + 2));
    penstock__text_add(text, " }");
}

/* Points change hands after pass s: out of the variables of `order`, back into v0, v1, ... in the order of the points.
 */
static void add_exchange(struct gpu_text *text, const struct fused_config *config, unsigned s, bool reverse,
                         bool barrier, const unsigned *order)
{
    if (config->regions) {
        add_regions(text, config, s, reverse, barrier, order);
        return;
    }
    static const char *const whole[] = {"", NULL}, *const halves[] = {", x", ", y", NULL};
    for (const char *const *part = config->halves ? halves : whole; *part; part++) {
        if (barrier)
            penstock__text_add(text, " K_BARRIER_LANES();");
        add_gives(text, config, s, *part, order);
        penstock__text_add(text, " K_BARRIER_LANES();");
        add_takes(text, config, s, *part);
        barrier = true;
    }
}

static void add_pass(struct gpu_text *text, const struct fused_config *config, unsigned s, bool reverse,
                     unsigned order[GPU_MAX_SLOTS])
{
    unsigned radix = config->radix[s], butterflies = config->slots / radix, after[GPU_MAX_SLOTS];
    for (unsigned b = 0; b < butterflies; b++) {
        unsigned a[GPU_MAX_SLOTS];
        for (unsigned k = 0; k < radix; k++) {
            a[k] = order[reversed(k, radix) * butterflies + b];
            after[k * butterflies + b] = a[k];
        }
        if (!s) {
            add_first(text, a, radix, reverse);
            continue;
        }
        if (config->regions && !reverse && s == 1)
            penstock__text_add(text, " { const k_index at_ = lane / %u;", config->slots);
        else
            penstock__text_add(text, " { const k_index at_ = (lane + %u) %% %u;", b * config->lanes, config->before[s]);
        add_factors(text, config, s, config->regions && !reverse && s == 2 ? config->swapped_at : config->table_at[s]);
        add_later(text, a, radix, reverse);
        penstock__text_add(text, " }");
    }
    for (unsigned i = 0; i < config->slots; i++)
        order[i] = after[i];
}

void penstock__fused_transform(struct gpu_text *text, const struct fused_config *config, const char *name, bool reverse,
                               bool after, const unsigned *in_order, unsigned order[GPU_MAX_SLOTS])
{
    for (unsigned i = 0; i < config->slots; i++)
        order[i] = in_order ? in_order[i] : i;
    penstock__text_add(text, "#define %s", name);
    for (unsigned s = 0; s < config->passes; s++) {
        add_pass(text, config, s, reverse, order);
        if (s + 1 == config->passes)
            break;
        add_exchange(text, config, s, reverse, s ? !config->two_buffers : after, order);
        for (unsigned i = 0; i < config->slots; i++)
            order[i] = i;
    }
    penstock__text_add(text, "\n");
}
