/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Output sample m is the sum of the paths at the time m / (1 - sfo) input samples, turned by the carrier offset, plus
 * noise and DC. All of it is a function of m alone, so that any chunking gives the same bits.
 */
#include "backends/backend.h"
#include "core/base/description.h"
#include "tx/interpolator.h"
#include "tx/noise.h"

#include <penstock/channel.h>

#include <math.h>
#include <string.h>

#define MAX_PATHS   64
#define MAX_DELAY_S 1e-4
#define MAX_RATE_HZ 1e10
#define CHUNK       4096 /* input samples that the history has room for besides the paths' reach */
#define FRACTIONS   256  /* steps of the table of taps; linear between them, which leaves an error of -100 dB */
#define TURN_BLOCK  64   /* output samples from one exact phase of the carrier to the next */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "channel: " __VA_ARGS__)

static const double tau = 6.28318530717958647692;

struct path {
    double delay; /* in samples */
    double gain_re, gain_im;
    bool whole;                 /* it is always a whole number of samples */
    struct penstock__taps taps; /* for a delay that is not whole but constant */
};

struct penstock_channel {
    double drift; /* input samples that an output sample is longer */
    double turns; /* of the carrier, per output sample */
    double noise_scale;
    float dc_re, dc_im;
    uint64_t seed;
    size_t path_count;
    struct path *paths;
    bool interpolating;
    double least_delay, largest_delay;
    struct penstock__taps *table; /* FRACTIONS + 1 of them where there is a drift */
    double turn_re[TURN_BLOCK], turn_im[TURN_BLOCK];

    /* The stream. */
    struct penstock__noise noise;
    double block_re, block_im; /* the carrier at the block's first sample */
    uint64_t made;             /* output samples */
    int64_t first;             /* number of the input sample at history[0]; those before 0 are zero */
    size_t held, capacity;     /* samples in history; room */
    penstock_cf32 *history;
    bool ending;
    int64_t end; /* with `ending`: number of input samples */
};

/* ---------------------------------------------------------------- description ----------------- */

static int check(const penstock_channel_desc *desc)
{
    if (!(desc->rate_hz > 0 && desc->rate_hz <= MAX_RATE_HZ))
        return bad("rate %g Hz is not in 0 .. %g", desc->rate_hz, MAX_RATE_HZ);
    if (!desc->paths != !desc->path_count || desc->path_count > MAX_PATHS)
        return bad("%zu paths at %s are not in 1 .. %d", desc->path_count, desc->paths ? "an address" : "NULL",
                   MAX_PATHS);
    for (size_t i = 0; i < desc->path_count; i++) {
        const penstock_path *p = &desc->paths[i];
        if (!(p->delay_s >= 0 && p->delay_s <= MAX_DELAY_S))
            return bad("path %zu: delay %g s is not in 0 .. %g", i, p->delay_s, MAX_DELAY_S);
        if (!(p->gain_db <= 200) || !isfinite(p->phase))
            return bad("path %zu: gain %g dB or phase %g is out of range", i, p->gain_db, p->phase);
    }
    if (!(fabs(desc->cfo_hz) <= desc->rate_hz))
        return bad("carrier offset %g Hz is larger than the rate", desc->cfo_hz);
    if (!(fabs(desc->sfo_ppm) <= 1000))
        return bad("clock offset %g ppm is not in -1000 .. 1000", desc->sfo_ppm);
    if (!(desc->noise_power >= 0 && desc->noise_power <= 1e30))
        return bad("noise power %g is not in 0 .. 1e30", desc->noise_power);
    if (!isfinite(desc->dc_re) || !isfinite(desc->dc_im))
        return bad("DC %g %+gi is not finite", desc->dc_re, desc->dc_im);
    return PENSTOCK_OK;
}

static int make_paths(penstock_channel *c, const penstock_channel_desc *desc)
{
    static const penstock_path direct;
    const penstock_path *paths = desc->paths ? desc->paths : &direct;
    c->path_count = desc->paths ? desc->path_count : 1;
    if (!(c->paths = penstock__calloc(c->path_count, sizeof *c->paths)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < c->path_count; i++) {
        struct path *p = &c->paths[i];
        double gain = pow(10, paths[i].gain_db / 20);
        p->delay = paths[i].delay_s * desc->rate_hz;
        if (fabs(p->delay - rint(p->delay)) < 1e-9) /* such as 100 ns at 20 MHz, which are 2 samples but for rounding */
            p->delay = rint(p->delay);
        p->gain_re = gain * cos(paths[i].phase);
        p->gain_im = gain * sin(paths[i].phase);
        p->whole = c->drift == 0 && p->delay == floor(p->delay);
        if (!p->whole) /* the sample at or before the path's time is ceil(delay) back */
            penstock__taps_fill(&p->taps, ceil(p->delay) - p->delay);
        c->interpolating |= !p->whole;
        c->least_delay = i ? fmin(c->least_delay, p->delay) : p->delay;
        c->largest_delay = fmax(c->largest_delay, p->delay);
    }
    return PENSTOCK_OK;
}

static int make_tables(penstock_channel *c)
{
    size_t reach = (size_t)c->largest_delay + PENSTOCK__INTERPOLATOR_TAPS + 1;
    c->capacity = 2 * reach + CHUNK;
    if (!(c->history = penstock__alloc(c->capacity * sizeof *c->history)))
        return PENSTOCK_ERR_MEMORY;
    for (int i = 0; i < TURN_BLOCK; i++) {
        c->turn_re[i] = cos(tau * c->turns * i);
        c->turn_im[i] = sin(tau * c->turns * i);
    }
    if (c->drift == 0)
        return PENSTOCK_OK;
    if (!(c->table = penstock__alloc((FRACTIONS + 1) * sizeof *c->table)))
        return PENSTOCK_ERR_MEMORY;
    for (int i = 0; i <= FRACTIONS; i++)
        penstock__taps_fill(&c->table[i], (double)i / FRACTIONS);
    return PENSTOCK_OK;
}

int penstock_channel_new(penstock_channel **channel, const penstock_channel_desc *desc)
{
    penstock_channel_desc own;
    penstock_channel *c;
    int status;
    if (!channel)
        return bad("no place to store the channel: NULL");
    *channel = NULL;
    if ((status = penstock__description_read(&own, sizeof own, desc, "penstock_channel_desc")) ||
        (status = check(&own)))
        return status;
    if (!(c = penstock__calloc(1, sizeof *c)))
        return PENSTOCK_ERR_MEMORY;
    c->drift = 1e-6 * own.sfo_ppm / (1 - 1e-6 * own.sfo_ppm);
    c->turns = own.cfo_hz / own.rate_hz;
    c->noise_scale = sqrt(own.noise_power / 2);
    c->dc_re = (float)own.dc_re;
    c->dc_im = (float)own.dc_im;
    c->seed = own.seed;
    if ((status = make_paths(c, &own)) || (status = make_tables(c))) {
        penstock_channel_free(c);
        return status;
    }
    *channel = c;
    return penstock_channel_reset(c);
}

int penstock_channel_reset(penstock_channel *c)
{
    if (!c)
        return bad("the channel is NULL");
    penstock__noise_init(&c->noise, c->seed);
    c->made = 0;
    c->ending = false;
    c->end = 0;
    /* Start with zeros as far back as the first output sample reaches. */
    c->held = (size_t)c->largest_delay + PENSTOCK__INTERPOLATOR_TAPS + 1;
    c->first = -(int64_t)c->held;
    memset(c->history, 0, c->held * sizeof *c->history);
    return PENSTOCK_OK;
}

void penstock_channel_free(penstock_channel *c)
{
    if (!c)
        return;
    penstock__free(c->history);
    penstock__free(c->table);
    penstock__free(c->paths);
    penstock__free(c);
}

/* ---------------------------------------------------------------- samples --------------------- */

/* Where output sample m lies in the input of a path: `fraction` after sample `whole`. */
static inline int64_t position(const penstock_channel *c, uint64_t m, double delay, double *fraction)
{
    double offset = (double)m * c->drift - delay, whole = floor(offset);
    *fraction = offset - whole;
    return (int64_t)m + (int64_t)whole;
}

/* The first and the last input sample that output sample m is made of. */
static int64_t first_needed(const penstock_channel *c, uint64_t m)
{
    double fraction;
    return position(c, m, c->largest_delay, &fraction) - (c->interpolating ? PENSTOCK__INTERPOLATOR_BEFORE : 0);
}

static int64_t last_needed(const penstock_channel *c, uint64_t m)
{
    double fraction;
    return position(c, m, c->least_delay, &fraction) +
           (c->interpolating ? PENSTOCK__INTERPOLATOR_TAPS - PENSTOCK__INTERPOLATOR_BEFORE - 1 : 0);
}

static penstock_cf32 path_sample(const penstock_channel *c, const struct path *path, uint64_t m)
{
    double fraction, place;
    const penstock_cf32 *x = c->history + (position(c, m, path->delay, &fraction) - c->first);
    penstock_cf32 a, b;
    unsigned row;
    float weight;
    if (path->whole)
        return *x;
    x -= PENSTOCK__INTERPOLATOR_BEFORE;
    if (!c->table)
        return penstock__taps_apply(&path->taps, x);
    place = fraction * FRACTIONS;
    row = (unsigned)place < FRACTIONS ? (unsigned)place : FRACTIONS - 1;
    weight = (float)(place - row);
    a = penstock__taps_apply(&c->table[row], x);
    b = penstock__taps_apply(&c->table[row + 1], x);
    return (penstock_cf32){a.re + weight * (b.re - a.re), a.im + weight * (b.im - a.im)};
}

static penstock_cf32 next_sample(penstock_channel *c)
{
    uint64_t m = c->made++;
    unsigned place = m % TURN_BLOCK;
    double re = 0, im = 0, out_re, out_im;
    for (size_t i = 0; i < c->path_count; i++) {
        const struct path *path = &c->paths[i];
        penstock_cf32 x = path_sample(c, path, m);
        re += path->gain_re * x.re - path->gain_im * x.im;
        im += path->gain_re * x.im + path->gain_im * x.re;
    }
    out_re = re;
    out_im = im;
    if (c->turns != 0) {
        double turn_re, turn_im;
        if (!place) {
            double turns = c->turns * (double)m;
            c->block_re = cos(tau * (turns - floor(turns)));
            c->block_im = sin(tau * (turns - floor(turns)));
        }
        turn_re = c->block_re * c->turn_re[place] - c->block_im * c->turn_im[place];
        turn_im = c->block_re * c->turn_im[place] + c->block_im * c->turn_re[place];
        out_re = re * turn_re - im * turn_im;
        out_im = re * turn_im + im * turn_re;
    }
    if (c->noise_scale > 0) {
        out_re += c->noise_scale * penstock__noise_next(&c->noise);
        out_im += c->noise_scale * penstock__noise_next(&c->noise);
    }
    return (penstock_cf32){(float)(out_re + c->dc_re), (float)(out_im + c->dc_im)};
}

/* ---------------------------------------------------------------- stream ---------------------- */

/* Takes what there is room for into the history; at the end zeros, as many as there is room for. */
static size_t take(penstock_channel *c, const penstock_cf32 *in, size_t count)
{
    size_t room = c->capacity - c->held;
    if (room < count || c->ending) {
        int64_t unused = first_needed(c, c->made) - c->first;
        if (unused > 0) {
            unused = unused < (int64_t)c->held ? unused : (int64_t)c->held;
            c->held -= (size_t)unused;
            c->first += unused;
            memmove(c->history, c->history + unused, c->held * sizeof *c->history);
        }
        room = c->capacity - c->held;
    }
    if (c->ending) {
        memset(c->history + c->held, 0, room * sizeof *c->history);
        c->held += room;
        return 0;
    }
    count = count < room ? count : room;
    if (count)
        memcpy(c->history + c->held, in, count * sizeof *in);
    c->held += count;
    return count;
}

static size_t make(penstock_channel *c, penstock_cf32 *out, size_t capacity)
{
    size_t count = 0;
    while (count < capacity && last_needed(c, c->made) < c->first + (int64_t)c->held &&
           !(c->ending && (c->end == 0 || first_needed(c, c->made) >= c->end)))
        out[count++] = next_sample(c);
    return count;
}

int penstock_channel_run(penstock_channel *c, const penstock_cf32 *in, size_t in_count, size_t *taken,
                         penstock_cf32 *out, size_t out_capacity, size_t *count)
{
    size_t took, made;
    if (!c || !taken || !count)
        return bad("%s is NULL", c ? "taken or count" : "the channel");
    *taken = *count = 0;
    if ((!in && in_count) || (!out && out_capacity))
        return bad("%zu samples in at %s, room for %zu out at %s", in_count, in ? "an address" : "NULL", out_capacity,
                   out ? "an address" : "NULL");
    if (in && in_count && c->ending)
        return penstock__error(PENSTOCK_ERR_STATE, "channel: samples after the tail was flushed: reset it first");
    if (!in && !c->ending) {
        c->ending = true;
        c->end = c->first + (int64_t)c->held;
    }
    do {
        took = take(c, in ? in + *taken : NULL, in_count - *taken);
        made = out ? make(c, out + *count, out_capacity - *count) : 0;
        *taken += took;
        *count += made;
    } while (took || made);
    return PENSTOCK_OK;
}
