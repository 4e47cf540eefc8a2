/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of method and of nodes. */
#include "gpu/scheme.h"
#include "gpu/knobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ON_CHIP 16384 /* more points would leave too few registers for each of 1024 work-items */
#define MOST_OF_NODE 4096

struct search {
    const struct gpu_limits *limits;
    unsigned variant;
    bool forward;
    struct gpu_knobs knobs; /* of the whole transform */
};

static int shape_of(struct gpu_shape *shape, const struct search *search, struct gpu_wish wish)
{
    wish.variant = search->variant;
    return penstock__gpu_shape(shape, &wish, search->limits);
}

/* ---------------------------------------------------------------- one node -------------------- */

static int one_node(struct gpu_scheme *scheme, const struct search *search, unsigned total)
{
    struct gpu_node *node = &scheme->node[0];
    bool twice = scheme->method != GPU_PLAIN, unpack = scheme->real == GPU_PACKED && search->forward;
    if (total > MOST_ON_CHIP)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points are too many for one kernel", total);
    *node = (struct gpu_node){.inner = 1, .first = true, .last = true, .middle = twice, .back = twice};
    scheme->total = total;
    scheme->count = 1;
    return shape_of(&node->shape, search, (struct gpu_wish){.n = total, .twice = twice, .unpack = unpack});
}

static bool is_prime(unsigned n)
{
    for (unsigned d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

/* The cheapest smooth number from `least` to the next power of two whose convolution fits one kernel. */
static bool cheapest(struct gpu_scheme *scheme, const struct search *search, unsigned least)
{
    struct gpu_scheme tried = *scheme;
    double best = INFINITY;
    unsigned step = least > 512 ? 32 : least > 64 ? 8 : 1, power = 1, enough = least + least / 5;
    unsigned wanted = search->knobs.total;
    while (power < least)
        power *= 2;
    if (!wanted && least > 8192 && least <= 9216 && !search->variant && !search->limits->cpu &&
        !one_node(&tried, search, 9216))
        wanted = 9216; /* measured: two groups of it fit a multiprocessor */
    for (unsigned m = (least + step - 1) / step * step; m <= power && m <= MOST_ON_CHIP; m += step) {
        if ((wanted ? m != wanted : m > enough && m != power) || !penstock__gpu_smooth(m) ||
            one_node(&tried, search, m))
            continue;
        if (penstock__gpu_shape_cost(&tried.node[0].shape) >= best)
            continue;
        best = penstock__gpu_shape_cost(&tried.node[0].shape);
        *scheme = tried;
    }
    return best < INFINITY;
}

/*
 * What Rader's way costs besides operations: it reads samples and writes values point by point. Short transforms are
 * bound by memory on a GPU: on an H200, 127 points by Rader reach a third of the copy rate, 509 and 1021 by Bluestein
 * two fifths of it.
 */
static double scattered(const struct gpu_scheme *scheme, const struct search *search)
{
    return search->limits->cpu || scheme->length >= 2048 ? 1.3 : 2.2;
}

static bool one_convolution(struct gpu_scheme *scheme, const struct search *search)
{
    struct gpu_scheme rader = *scheme;
    bool fits;
    scheme->method = GPU_BLUESTEIN;
    fits = cheapest(scheme, search, 2 * scheme->length - 1);
    rader.method = GPU_RADER;
    if (!is_prime(scheme->length) || !penstock__gpu_smooth(scheme->length - 1) ||
        one_node(&rader, search, scheme->length - 1) ||
        (fits && penstock__gpu_shape_cost(&rader.node[0].shape) * scattered(scheme, search) >=
                     penstock__gpu_shape_cost(&scheme->node[0].shape)))
        return fits;
    *scheme = rader;
    return true;
}

/* ---------------------------------------------------------------- several nodes --------------- */

struct parts {
    unsigned count, part[3];
};

static bool node_fits(const struct search *search, unsigned n, bool twice)
{
    struct gpu_shape shape;
    return n <= MOST_OF_NODE && !shape_of(&shape, search, (struct gpu_wish){.n = n, .columns = true, .twice = twice});
}

/* How good it is that the largest of some nodes has n points: columns should fill whole lines of memory. */
static double badness(unsigned n, unsigned other)
{
    double worst = n > other ? n : other;
    return worst * (n % 8 || other % 8 ? 1.5 : 1);
}

/* total = a b, both of them nodes. */
static bool split_in_two(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    double best = INFINITY;
    const unsigned *wanted = search->knobs.parts;
    if (wanted[0] && wanted[0] * wanted[1] == total) {
        *parts = (struct parts){2, {wanted[0], wanted[1]}};
        return true;
    }
    for (unsigned a = 2; a <= MOST_OF_NODE && a <= total / 2; a++) {
        unsigned b = total / a;
        if (total % a || b > MOST_OF_NODE || badness(a, b) >= best || !node_fits(search, a, false) ||
            !node_fits(search, b, twice))
            continue;
        best = badness(a, b);
        *parts = (struct parts){2, {a, b}};
    }
    return best < INFINITY;
}

static bool split_in_three(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    double best = INFINITY;
    for (unsigned a = 16; a <= MOST_OF_NODE && a < total; a++) {
        struct parts rest;
        if (total % a || a >= best || !node_fits(search, a, false) || !split_in_two(&rest, search, total / a, twice))
            continue;
        if (badness(rest.part[0], rest.part[1]) + a >= best)
            continue;
        best = badness(rest.part[0], rest.part[1]) + a;
        *parts = (struct parts){3, {a, rest.part[0], rest.part[1]}};
    }
    return best < INFINITY;
}

static bool split(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    return penstock__gpu_smooth(total) &&
           (split_in_two(parts, search, total, twice) || split_in_three(parts, search, total, twice));
}

/* Forward through all parts and, for a convolution, back in the opposite order; the last part serves both ways. */
static int make_nodes(struct gpu_scheme *scheme, const struct search *search, const struct parts *parts)
{
    bool twice = scheme->method != GPU_PLAIN;
    unsigned inner = 1, turn = parts->count - 1;
    scheme->count = twice ? 2 * parts->count - 1 : parts->count;
    for (unsigned i = 0; i < scheme->count; i++) {
        unsigned n = parts->part[i <= turn ? i : 2 * turn - i];
        struct gpu_node *node = &scheme->node[i];
        int status;
        *node = (struct gpu_node){
            .first = i == 0, .last = i == scheme->count - 1, .middle = twice && i == turn, .back = twice && i >= turn};
        inner = node->middle ? 1 : inner;
        if ((status =
                 shape_of(&node->shape, search,
                          (struct gpu_wish){.n = n, .columns = true, .twice = node->middle, .turned = inner == 1})))
            return status;
        node->inner = inner;
        inner *= n;
    }
    return PENSTOCK_OK;
}

/* The least number of points for a long convolution that divides into as few nodes as can be. */
static bool long_convolution(struct gpu_scheme *scheme, struct parts *parts, const struct search *search)
{
    const struct {
        unsigned step;
        bool (*split)(struct parts *parts, const struct search *search, unsigned total, bool twice);
    } ways[] = {{256, split_in_two}, {4096, split_in_three}};
    unsigned least = 2 * scheme->length - 1;
    scheme->method = GPU_BLUESTEIN;
    for (unsigned way = 0; way < 2; way++) {
        unsigned step = ways[way].step;
        if (way == 0 && !search->variant && !search->limits->cpu && least > 20000 && least <= 20736)
            step = 20736; /* 144 x 144: measured on an H200 */
        for (unsigned m = (least + step - 1) / step * step; m < 2 * least + step; m += step)
            if (penstock__gpu_smooth(m) && (!search->knobs.total || m == search->knobs.total) &&
                ways[way].split(parts, search, m, true)) {
                scheme->total = m;
                return true;
            }
    }
    return false;
}

static int several_nodes(struct gpu_scheme *scheme, const struct search *search)
{
    struct parts parts;
    scheme->method = GPU_PLAIN;
    scheme->total = scheme->length;
    if (!split(&parts, search, scheme->length, false) && !long_convolution(scheme, &parts, search))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u points do not fit the device in at most three nodes",
                               scheme->length);
    return make_nodes(scheme, search, &parts);
}

/* ---------------------------------------------------------------- any length ------------------ */

static int complex_scheme(struct gpu_scheme *scheme, const struct search *search)
{
    scheme->method = GPU_PLAIN;
    if (penstock__gpu_smooth(scheme->length) && !one_node(scheme, search, scheme->length))
        return PENSTOCK_OK;
    if (!penstock__gpu_smooth(scheme->length) && one_convolution(scheme, search))
        return PENSTOCK_OK;
    return several_nodes(scheme, search);
}

int penstock__gpu_scheme(struct gpu_scheme *scheme, const struct penstock_fft_problem *fft,
                         const struct gpu_limits *limits, unsigned variant)
{
    struct search search = {.limits = limits, .variant = variant, .forward = fft->direction == PENSTOCK_FORWARD};
    penstock__gpu_knobs(&search.knobs, (unsigned)fft->n, variant || limits->cpu ? NULL : getenv("PENSTOCK_GPU_SHAPE"));
    memset(scheme, 0, sizeof *scheme);
    if (variant >= GPU_VARIANTS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no variant %u", variant);
    scheme->length = (unsigned)fft->n;
    scheme->chunk = search.knobs.chunk ? (size_t)1 << search.knobs.chunk : 0;
    if (fft->domain == PENSTOCK_REAL && fft->n % 2 == 0 && fft->n >= 4 && penstock__gpu_smooth(fft->n / 2)) {
        scheme->real = GPU_PACKED;
        scheme->length = (unsigned)(fft->n / 2);
        if (!one_node(scheme, &search, scheme->length))
            return PENSTOCK_OK;
        scheme->length = (unsigned)fft->n;
    }
    scheme->real = fft->domain == PENSTOCK_REAL ? GPU_WHOLE : GPU_COMPLEX;
    return complex_scheme(scheme, &search);
}
