/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of method and of passes. */
#include "gpu/decomposition.h"
#include "gpu/transpose.h"
#include "gpu/tuning_parameters.h"

#include <math.h>
#include <string.h>

#define MOST_ON_CHIP 16384 /* more points would leave too few registers for each of 1024 work-items */
#define MOST_OF_PASS 4096

#define unsupported(...) penstock__error(PENSTOCK_ERR_UNSUPPORTED, __VA_ARGS__)

struct search {
    const struct gpu_limits *limits;
    unsigned variant;
    bool forward, whole;      /* whole: that of struct gpu_requirements */
    unsigned most;            /* points of a pass */
    struct gpu_tuning tuning; /* of the whole transform */
    const penstock_fft_options *options;
    unsigned char *fits[2]; /* answers of pass_fits() for each number of points: 0 not asked yet, 1 no, 2 yes */
};

static int config_of(struct gpu_launch_config *config, const struct search *search,
                     struct gpu_requirements requirements)
{
    requirements.variant = search->variant;
    requirements.radix = search->options->radix;
    if (search->options->scratch == PENSTOCK_SCRATCH_GLOBAL && !requirements.radix)
        requirements.radix = GPU_MAX_RADIX; /* a pass is one stage, and exchanges nothing in local memory */
    requirements.items = search->options->items;
    requirements.group = search->options->group;
    requirements.turned = requirements.turned && search->options->scratch != PENSTOCK_SCRATCH_GLOBAL;
    return penstock__gpu_launch_config(config, &requirements, search->limits);
}

/* ---------------------------------------------------------------- one pass -------------------- */

static int one_pass(struct gpu_decomposition *decomposition, const struct search *search, unsigned total)
{
    struct gpu_pass *pass = &decomposition->pass[0];
    bool twice = decomposition->method != GPU_PLAIN, unpack = decomposition->real == GPU_PACKED && search->forward;
    if (total > MOST_ON_CHIP)
        return unsupported("%u points are too many for one kernel", total);
    *pass = (struct gpu_pass){.inner = 1, .first = true, .last = true, .middle = twice, .back = twice};
    decomposition->total = total;
    decomposition->count = 1;
    return config_of(
        &pass->config, search,
        (struct gpu_requirements){.n = total, .twice = twice, .unpack = unpack, .whole = search->whole && !twice});
}

/* The cheapest smooth number from `least` to the next power of two whose convolution fits one kernel. */
static bool cheapest(struct gpu_decomposition *decomposition, const struct search *search, unsigned least)
{
    struct gpu_decomposition tried = *decomposition;
    double best = INFINITY;
    unsigned step = least > 512 ? 32 : least > 64 ? 8 : 1, power = 1, enough = least + least / 5;
    unsigned wanted = search->tuning.total;
    while (power < least)
        power *= 2;
    if (!wanted && least > 8192 && least <= 9216 && !search->variant && !search->limits->cpu &&
        !one_pass(&tried, search, 9216))
        wanted = 9216; /* measured: two groups of it fit a multiprocessor */
    for (unsigned m = (least + step - 1) / step * step; m <= power && m <= MOST_ON_CHIP; m += step) {
        if ((wanted ? m != wanted : m > enough && m != power) || !penstock__gpu_smooth(m) ||
            one_pass(&tried, search, m))
            continue;
        if (penstock__gpu_launch_config_cost(&tried.pass[0].config) >= best)
            continue;
        best = penstock__gpu_launch_config_cost(&tried.pass[0].config);
        *decomposition = tried;
    }
    return best < INFINITY;
}

/*
 * What Rader's way costs besides operations: it reads samples and writes values point by point. Short transforms are
 * bound by memory on a GPU: on an H200, 127 points by Rader reach a third of the copy rate, 509 and 1021 by Bluestein
 * two fifths of it.
 */
static double scattered(const struct gpu_decomposition *decomposition, const struct search *search)
{
    return search->limits->cpu || decomposition->length >= 2048 ? 1.3 : 2.2;
}

static bool one_convolution(struct gpu_decomposition *decomposition, const struct search *search)
{
    struct gpu_decomposition rader = *decomposition;
    bool fits;
    decomposition->method = GPU_BLUESTEIN;
    fits = cheapest(decomposition, search, 2 * decomposition->length - 1);
    rader.method = GPU_RADER;
    if (!penstock__gpu_is_prime(decomposition->length) || !penstock__gpu_smooth(decomposition->length - 1) ||
        one_pass(&rader, search, decomposition->length - 1) ||
        (fits && penstock__gpu_launch_config_cost(&rader.pass[0].config) * scattered(decomposition, search) >=
                     penstock__gpu_launch_config_cost(&decomposition->pass[0].config)))
        return fits;
    *decomposition = rader;
    return true;
}

/* ---------------------------------------------------------------- several passes -------------- */

struct parts {
    unsigned count, part[GPU_MAX_PASSES];
};

/* More points fit no pass, whatever their radices: four columns of floats in local memory, a quarter of the items. */
static unsigned most_of_pass(const struct gpu_limits *limits, const penstock_fft_options *options)
{
    size_t local = limits->local_bytes / (4 * (options->group ? options->group : 4)), items = limits->max_group / 4;
    size_t most = items * GPU_MAX_SLOTS < local ? items * GPU_MAX_SLOTS : local;
    return most > MOST_OF_PASS ? MOST_OF_PASS : most > GPU_MAX_RADIX ? (unsigned)most : GPU_MAX_RADIX;
}

static bool pass_fits(const struct search *search, unsigned n, bool twice)
{
    struct gpu_launch_config config;
    if (n > search->most)
        return false;
    unsigned char *answer = search->fits[twice] + n;
    if (!*answer)
        *answer = 1 + !config_of(&config, search, (struct gpu_requirements){.n = n, .columns = true, .twice = twice});
    return *answer == 2;
}

/* How good it is that the largest of some passes has n points: columns should fill whole lines of memory. */
static double badness(unsigned n, unsigned other)
{
    double worst = n > other ? n : other;
    return worst * (n % 8 || other % 8 ? 1.5 : 1);
}

/* total = a b, both of them passes: a <= b where both orders fit. */
static bool split_in_two(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    double best = INFINITY;
    const unsigned *wanted = search->tuning.parts;
    if (wanted[0] && wanted[0] * wanted[1] == total) {
        *parts = (struct parts){2, {wanted[0], wanted[1]}};
        return true;
    }
    for (unsigned a = (unsigned)sqrt(total); a >= 2 && total / a <= search->most && total / a <= best; a--) {
        unsigned b = total / a;
        if (total % a || badness(a, b) > best)
            continue;
        bool fits = pass_fits(search, a, false) && pass_fits(search, b, twice);
        if (!fits && !(pass_fits(search, b, false) && pass_fits(search, a, twice)))
            continue;
        best = badness(a, b);
        *parts = (struct parts){2, {fits ? a : b, fits ? b : a}};
    }
    return best < INFINITY;
}

static bool split_in_three(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    double best = INFINITY;
    for (unsigned a = 16; a <= MOST_OF_PASS && a < total; a++) {
        struct parts rest;
        if (total % a || a >= best || total / a > search->most * search->most || !pass_fits(search, a, false) ||
            !split_in_two(&rest, search, total / a, twice))
            continue;
        if (badness(rest.part[0], rest.part[1]) + a >= best)
            continue;
        best = badness(rest.part[0], rest.part[1]) + a;
        *parts = (struct parts){3, {a, rest.part[0], rest.part[1]}};
    }
    return best < INFINITY;
}

/* A pass for each stage: what is between them goes through global memory. */
static bool split_in_stages(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    unsigned most = search->options->radix ? search->options->radix : GPU_MAX_RADIX;
    *parts = (struct parts){.count = 0};
    for (unsigned left = total; left > 1; parts->count++) {
        unsigned radix = most < left ? most : left;
        if (parts->count == (twice ? GPU_MAX_PARTS : GPU_MAX_PASSES))
            return false;
        while (radix > 1 && left % radix)
            radix--;
        for (radix = radix > 1 ? radix : most; left % radix; radix++)
            ; /* a prime above `most` */
        parts->part[parts->count] = radix;
        left /= radix;
    }
    return parts->count > 0;
}

static bool split(struct parts *parts, const struct search *search, unsigned total, bool twice)
{
    if (!penstock__gpu_smooth(total))
        return false;
    if (search->options->scratch == PENSTOCK_SCRATCH_GLOBAL)
        return split_in_stages(parts, search, total, twice);
    return search->options->scratch != PENSTOCK_SCRATCH_LOCAL &&
           (split_in_two(parts, search, total, twice) || split_in_three(parts, search, total, twice));
}

/* Forward through all parts and, for a convolution, back in the opposite order; the last part serves both ways. */
static int make_passes(struct gpu_decomposition *decomposition, const struct search *search, const struct parts *parts)
{
    bool twice = decomposition->method != GPU_PLAIN;
    unsigned inner = decomposition->side, turn = parts->count - 1;
    decomposition->count = twice ? 2 * parts->count - 1 : parts->count;
    for (unsigned i = 0; i < decomposition->count; i++) {
        unsigned n = parts->part[i <= turn ? i : 2 * turn - i];
        struct gpu_pass *pass = &decomposition->pass[i];
        int status;
        *pass = (struct gpu_pass){.first = i == 0,
                                  .last = i == decomposition->count - 1,
                                  .middle = twice && i == turn,
                                  .back = twice && i >= turn};
        inner = pass->middle ? 1 : inner;
        if ((status = config_of(
                 &pass->config, search,
                 (struct gpu_requirements){.n = n, .columns = true, .twice = pass->middle, .turned = inner == 1})))
            return status;
        pass->inner = inner;
        inner *= n;
    }
    return PENSTOCK_OK;
}

/* The least number of points for a long convolution that divides into as few passes as can be. */
static bool long_convolution(struct gpu_decomposition *decomposition, struct parts *parts, const struct search *search)
{
    const struct {
        unsigned step;
        bool (*split)(struct parts *parts, const struct search *search, unsigned total, bool twice);
    } ways[] = {{256, split_in_two}, {4096, split_in_three}, {1, split_in_stages}};
    unsigned from = search->options->scratch == PENSTOCK_SCRATCH_GLOBAL ? 2 : 0;
    unsigned least = 2 * decomposition->length - 1;
    decomposition->method = GPU_BLUESTEIN;
    for (unsigned way = from; way < 2 || way == from; way++) {
        unsigned step = ways[way].step;
        if (way == 0 && !search->variant && !search->limits->cpu && least > 20000 && least <= 20736)
            step = 20736; /* 144 x 144: measured on an H200 */
        unsigned end = 2 * least + step, most = way ? end : search->most * search->most;
        for (unsigned m = (least + step - 1) / step * step; m < end && m <= most; m += step)
            if (penstock__gpu_smooth(m) && (!search->tuning.total || m == search->tuning.total) &&
                ways[way].split(parts, search, m, true)) {
                decomposition->total = m;
                return true;
            }
    }
    return false;
}

static int several_passes(struct gpu_decomposition *decomposition, const struct search *search)
{
    struct parts parts;
    decomposition->method = GPU_PLAIN;
    decomposition->total = decomposition->length;
    if (search->options->scratch == PENSTOCK_SCRATCH_LOCAL)
        return unsupported("%u points do not fit the device's local memory", decomposition->length);
    if (!split(&parts, search, decomposition->length, false) && !long_convolution(decomposition, &parts, search))
        return unsupported("%u points do not fit the device in %s", decomposition->length,
                           search->options->scratch == PENSTOCK_SCRATCH_GLOBAL ? "a pass for each stage"
                                                                               : "at most three passes");
    if (parts.count == 1)
        return one_pass(decomposition, search, decomposition->total);
    return make_passes(decomposition, search, &parts);
}

/* ---------------------------------------------------------------- any length ------------------ */

/* Side by side: passes of columns, from the first on. */
static int columns_decomposition(struct gpu_decomposition *decomposition, const struct search *search)
{
    unsigned points = decomposition->length / decomposition->side;
    struct parts parts = {1, {points}};
    decomposition->method = GPU_PLAIN;
    decomposition->total = decomposition->length;
    if (points == 1 || search->options->scratch == PENSTOCK_SCRATCH_GLOBAL || !penstock__gpu_smooth(points) ||
        !pass_fits(search, points, false))
        parts.count = 0;
    if (!parts.count && points > 1 && !split(&parts, search, points, false))
        return unsupported("columns of %u points are not transformed side by side: transpose them", points);
    if (points == 1)
        parts = (struct parts){1, {1}};
    return make_passes(decomposition, search, &parts);
}

static int complex_decomposition(struct gpu_decomposition *decomposition, const struct search *search)
{
    bool global = search->options->scratch == PENSTOCK_SCRATCH_GLOBAL && decomposition->length > 1;
    if (decomposition->side > 1)
        return columns_decomposition(decomposition, search);
    decomposition->method = GPU_PLAIN;
    if (!global && penstock__gpu_smooth(decomposition->length) &&
        !one_pass(decomposition, search, decomposition->length))
        return PENSTOCK_OK;
    if (!global && !penstock__gpu_smooth(decomposition->length) && one_convolution(decomposition, search))
        return PENSTOCK_OK;
    return several_passes(decomposition, search);
}

static int pair(struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft,
                const struct gpu_limits *limits)
{
    if (!limits->half_arithmetic)
        return unsupported("the device has no arithmetic in numbers of 16 bits (cl_khr_fp16)");
    if (decomposition->method != GPU_PLAIN || decomposition->real != GPU_COMPLEX || decomposition->count != 1 ||
        fft->average > 1)
        return unsupported("arithmetic in numbers of 16 bits is for complex transforms of one kernel without "
                           "average, and those of %zu points are not",
                           fft->n);
    decomposition->paired = true;
    decomposition->pass[0].config.ahead = 0;
    return PENSTOCK_OK;
}

/* Points that wait in local memory to become texels together. */
static size_t staged_points(const struct gpu_decomposition *decomposition, const struct gpu_pass *last)
{
    return last->config.per_group * (size_t)(last->config.columns ? last->config.n : decomposition->length);
}

static int use_images(struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft,
                      const struct gpu_limits *limits)
{
    struct gpu_pass *last = &decomposition->pass[decomposition->count - 1];
    const struct gpu_launch_config *config = &last->config;
    if (!limits->texel)
        return unsupported("images are for OpenCL devices that make images of floats from buffers");
    if (fft->format != PENSTOCK_CF32 || fft->output != PENSTOCK_OUTPUT_COMPLEX || fft->half ||
        decomposition->real != GPU_COMPLEX || decomposition->paired)
        return unsupported("images are for complex transforms of floats, from cf32 to complex values");
    if (limits->texel == 2 &&
        (fft->n % 2 || fft->skip % 2 || fft->spacing % 2 || fft->gathered ||
         (config->columns && (config->per_group % 2 || penstock__gpu_columns(decomposition, last) % 2)) ||
         (config->columns && fft->centered && config->n % 2)))
        return unsupported("the device's images have two points to a texel: length, skip, spacing and columns "
                           "must be even");
    if (limits->texel == 2 &&
        penstock__gpu_local_bytes(config) + 8 * staged_points(decomposition, last) > limits->local_bytes)
        return unsupported("%zu points do not fit local memory to become texels", staged_points(decomposition, last));
    decomposition->texel = limits->texel;
    for (unsigned i = 0; i < decomposition->count; i++)
        decomposition->pass[i].config.ahead = 0;
    return PENSTOCK_OK;
}

bool penstock__gpu_whole(const struct penstock_fft_problem *fft)
{
    return (fft->format == PENSTOCK_CF32 || fft->format == PENSTOCK_F32) && fft->output == PENSTOCK_OUTPUT_COMPLEX &&
           !fft->half && !fft->window && fft->shift == 0 && !fft->gathered && fft->average == 1;
}

static int decomposition_of_kind(struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft,
                                 const struct gpu_limits *limits, unsigned variant)
{
    unsigned char fits[2][MOST_OF_PASS + 1] = {{0}};
    struct search search = {.limits = limits,
                            .variant = variant,
                            .forward = fft->direction == PENSTOCK_FORWARD,
                            .whole = penstock__gpu_whole(fft),
                            .options = &fft->options,
                            .most = most_of_pass(limits, &fft->options),
                            .fits = {fits[0], fits[1]}};
    if (!penstock__fft_has_options(fft))
        penstock__gpu_tuning_parameters(&search.tuning, (unsigned)fft->n, penstock__gpu_wanted(limits, variant));
    memset(decomposition, 0, sizeof *decomposition);
    if (variant >= GPU_VARIANTS)
        return unsupported("there is no variant %u", variant);
    if (fft->transposed)
        return penstock__gpu_transpose_decomposition(decomposition, fft, limits);
    decomposition->length = (unsigned)fft->n;
    decomposition->chunk = search.tuning.chunk ? (size_t)1 << search.tuning.chunk : 0;
    decomposition->side = fft->columns > 1 ? (unsigned)fft->columns : 1;
    if (fft->rows > 1)
        return unsupported("rows and columns are two schemes");
    if (fft->domain == PENSTOCK_REAL && fft->n % 2 == 0 && fft->n >= 4 && penstock__gpu_smooth(fft->n / 2) &&
        fft->options.scratch != PENSTOCK_SCRATCH_GLOBAL) {
        decomposition->real = GPU_PACKED;
        decomposition->length = (unsigned)(fft->n / 2);
        if (!one_pass(decomposition, &search, decomposition->length))
            return PENSTOCK_OK;
        decomposition->length = (unsigned)fft->n;
    }
    decomposition->real = fft->domain == PENSTOCK_REAL ? GPU_WHOLE : GPU_COMPLEX;
    return complex_decomposition(decomposition, &search);
}

int penstock__gpu_decomposition(struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft,
                                const struct gpu_limits *limits, unsigned variant)
{
    int status = decomposition_of_kind(decomposition, fft, limits, variant);
    if (!status && fft->options.arithmetic == PENSTOCK_ARITHMETIC_HALF)
        status = pair(decomposition, fft, limits);
    return status || !fft->options.images ? status : use_images(decomposition, fft, limits);
}
