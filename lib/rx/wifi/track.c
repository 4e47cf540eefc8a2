/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A frame's phase and clock from its pilots. The phase is a random walk with a slowly changing frequency, seen through
 * noise: a Kalman filter follows it and, since the whole frame is there, a second pass backwards makes each symbol's
 * phase the best that all pilots before and after it allow (H. Rauch, F. Tung and C. Striebel, "Maximum likelihood
 * estimates of linear dynamic systems", AIAA Journal 3(8), 1965). Clocks drift apart at a constant speed: a line
 * through the pilots' delays, by least squares, with what clocks usually do (20 ppm) and how exactly the channel's
 * estimate knows the delay as first guess. When the drift has grown to a sample, the FFT windows move by it.
 */
#include "rx/wifi/frame_kernels.h"

#define LINE       8   /* samples of one line of the processor's caches */
#define FIRST      2.4 /* symbols from the middle of the long symbols to that of the first DATA symbol */
#define PER_SAMPLE (TWO_PI / PENSTOCK__WIFI_FFT) /* radians a carrier that a sample of delay makes */

/* In radians and symbols: variance of the phase's random walk and of its frequency's, of the frequency after the
 * preamble at 0 dB; and of the clock's drift in samples a symbol (20 ppm of 80). */
#define PHASE_WALK     5e-4
#define FREQUENCY_WALK 1e-7
#define FREQUENCY_0DB  2.5e-3
#define DRIFT_PRIOR    (1.6e-3 * 1.6e-3)

/* Variance of the delay that the channel's estimate has, against that of one symbol's pilots: they have 980 of 12402
 * (the sum of the squares of the carriers' numbers), in two and a half symbols. */
#define DELAY_PRIOR (980.0 / 12402 / 2.5)

/* What symbols' pilots are compared with, and the sums of |channel|^2, and of that weighted with the carrier squared.
 */
struct pilots {
    struct frame_pilots known;
    double power, slope_power;
};

/* What a constant of one in all samples of a window makes of a carrier: the sum of a geometric series. */
static penstock_cf32 carrier_of_constant(double turns)
{
    penstock_cf32 sum = {1, 0};
    for (unsigned n = 1; n < PENSTOCK__WIFI_FFT; n *= 2)
        sum = cf32_mul(sum, cf32_add((penstock_cf32){1, 0}, cf32_turn(turns * n)));
    return sum;
}

/* exp(-2 pi i (cfo + carrier / 64) n) */
static void fill_turns(struct frame_pilots *known, const struct penstock__wifi_tables *tables, double cfo)
{
    penstock_cf32 turns[FOLDED];
    for (unsigned n = 0; n < FOLDED; n++)
        turns[n] = cf32_turn(-cfo * (int)n);
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        const int32_t carrier = penstock__wifi_pilot_carriers[p];
        const struct penstock__wifi_bins *of_carrier = &tables->later[carrier < 0 ? -carrier : carrier];
        const float sign = carrier < 0 ? -1 : 1;
        for (unsigned n = 0; n < FOLDED; n++) {
            const penstock_cf32 value =
                cf32_mul(turns[n], (penstock_cf32){of_carrier->re[n], sign * of_carrier->im[n]});
            known->re[p][2 * n] = known->re[p][2 * n + 1] = value.re;
            known->im[p][2 * n] = known->im[p][2 * n + 1] = value.im;
        }
    }
}

static void prepare(struct pilots *pilots, const struct penstock__wifi_tables *tables,
                    const struct penstock__wifi_node *node, const struct penstock__rx_view *view)
{
    const double cfo = node->frame.ofdm.cfo;
    struct frame_pilots *known = &pilots->known;
    const bool constant = view->mean.re != 0 || view->mean.im != 0;
    pilots->power = pilots->slope_power = 1e-12; /* no division by zero; the received power is one */
    known->half = cf32_turn(-cfo * (PENSTOCK__WIFI_FFT / 2));
    known->quarter = cf32_turn(-cfo * (PENSTOCK__WIFI_FFT / 4) + 0.25);
    fill_turns(known, tables, cfo);
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        const int32_t carrier = penstock__wifi_pilot_carriers[p];
        const double turns = -(cfo + (double)carrier / PENSTOCK__WIFI_FFT);
        /* The window begins WINDOW_OFFSET samples before the channel's reference. */
        const penstock_cf32 channel =
            cf32_mul(node->channel[carrier & 63], tables->twiddle[(carrier * WINDOW_OFFSET) & 63]);
        known->constant[p] = constant ? cf32_mul(view->mean, carrier_of_constant(turns)) : (penstock_cf32){0, 0};
        known->expected[p] =
            cf32_scale((penstock_cf32){channel.re, -channel.im}, penstock__wifi_pilot_values[p] * view->scale);
        pilots->power += cf32_power(channel);
        pilots->slope_power += (double)cf32_power(channel) * carrier * carrier;
    }
    known->slope_scale = (float)(1 / pilots->slope_power);
}

/* Delay in samples as offset + drift * time, fitted. */
struct clock {
    double weight;           /* of one measurement: its variance's inverse */
    double oo, od, dd, o, d; /* normal equations */
    double offset, drift;
};

static void clock_start(struct clock *clock, double noise)
{
    *clock = (struct clock){.weight = 1 / noise, .oo = 1 / (DELAY_PRIOR * noise), .dd = 1 / DRIFT_PRIOR};
}

static double clock_delay(const struct clock *clock, double time)
{
    double delay = clock->offset + clock->drift * time;
    return delay > -MARGIN ? delay < MARGIN ? delay : MARGIN : -MARGIN; /* NaN too */
}

static void clock_learn(struct clock *clock, double time, double delay)
{
    const double weighted = delay * clock->weight, moment = time * clock->weight;
    clock->oo += clock->weight;
    clock->od += moment;
    clock->dd += time * moment;
    clock->o += weighted;
    clock->d += weighted * time;
}

static void clock_solve(struct clock *clock)
{
    const double inverse = 1 / (clock->oo * clock->dd - clock->od * clock->od);
    clock->offset = (clock->o * clock->dd - clock->d * clock->od) * inverse;
    clock->drift = (clock->d * clock->oo - clock->o * clock->od) * inverse;
}

/* Phase in turns and frequency in turns a symbol, with their covariance, in radians. */
struct phase {
    double noise; /* variance of one measurement, radians */
    double phase, frequency, pp, pf, ff;
};

static void phase_start(struct phase *phase, double noise, double snr)
{
    double ff = FREQUENCY_0DB / snr + 1e-6;
    *phase = (struct phase){.noise = noise, .pp = FIRST * FIRST * ff + PHASE_WALK, .pf = FIRST * ff, .ff = ff};
}

static void phase_learn(struct phase *phase, double turns)
{
    const double inverse = 1 / (phase->pp + phase->noise), gain = phase->pp * inverse, f_gain = phase->pf * inverse;
    const double ahead = turns - phase->phase, innovation = ahead - rint(ahead);
    phase->phase += gain * innovation;
    phase->frequency += f_gain * innovation;
    phase->ff -= f_gain * phase->pf;
    phase->pf -= gain * phase->pf;
    phase->pp -= gain * phase->pp;
}

static void phase_predict(struct phase *phase)
{
    phase->phase += phase->frequency;
    phase->pp += 2 * phase->pf + phase->ff + PHASE_WALK;
    phase->pf += phase->ff;
    phase->ff += FREQUENCY_WALK;
}

/* What a symbol learns from the next one's phase and frequency: side by side, as these do not matter for it. */
static void find_gains(struct penstock__wifi_tracker *tracker, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const double p = tracker->pp[i], c = tracker->pf[i], f = tracker->ff[i];
        const double pp = p + 2 * c + f + PHASE_WALK, pf = c + f, ff = f + FREQUENCY_WALK;
        const double inverse = 1 / (pp * ff - pf * pf), ap = p + c, af = c + f;
        tracker->gains[0][i] = (ap * ff - c * pf) * inverse;
        tracker->gains[1][i] = (c * pp - ap * pf) * inverse;
        tracker->gains[2][i] = (af * ff - f * pf) * inverse;
        tracker->gains[3][i] = (f * pp - af * pf) * inverse;
    }
}

static void phase_smooth(struct penstock__wifi_tracker *tracker, unsigned count)
{
    double next_phase = tracker->phase[count - 1], next_frequency = tracker->frequency[count - 1];
    find_gains(tracker, count - 1);
    for (unsigned i = count - 1; i-- > 0;) {
        const double phase = next_phase - (tracker->phase[i] + tracker->frequency[i]),
                     frequency = next_frequency - tracker->frequency[i];
        next_phase = tracker->phase[i] += tracker->gains[0][i] * phase + tracker->gains[1][i] * frequency;
        next_frequency = tracker->frequency[i] += tracker->gains[2][i] * phase + tracker->gains[3][i] * frequency;
    }
}

/* First sample of DATA symbol i, moved by whole samples. */
static size_t symbol_start(unsigned i, double slip)
{
    return (size_t)(2 * PENSTOCK__WIFI_FFT + (int64_t)PENSTOCK__WIFI_SYMBOL * (i + 1) + (int64_t)slip);
}

/* One past the last sample that a window reads. */
static int64_t window_end(size_t window)
{
    return (int64_t)window + PENSTOCK__WIFI_FFT;
}

static void keep(struct penstock__wifi_tracker *tracker, unsigned i, const struct phase *phase)
{
    tracker->phase[i] = phase->phase;
    tracker->frequency[i] = phase->frequency;
    tracker->pp[i] = phase->pp;
    tracker->pf[i] = phase->pf;
    tracker->ff[i] = phase->ff;
}

/* Samples that are looked at soon: those of a symbol are too few for the processor to find out by itself that they lie
 * in a row. */
static void fetch(const penstock_cf32 *samples)
{
    for (unsigned n = 0; n <= PENSTOCK__WIFI_FFT; n += LINE)
        __builtin_prefetch(samples + n);
}

/* Symbols `first` .. `first` + `count`, at delays as they are known before these: those change by far less than what
 * the slope that remains is exact for. */
static void look(const struct pilots *pilots, const struct penstock__rx_view *view, const struct clock *clock,
                 unsigned first, unsigned count, double *delays, size_t *windows, struct frame_symbols *symbols)
{
    const struct frame_kernels *kernels = penstock__frame_kernels();
    for (unsigned i = 0; i < SYMBOLS_AT_ONCE; i++) {
        if (i >= count) { /* no symbol: nothing is learned of it */
            for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++)
                symbols->re[p][i] = symbols->im[p][i] = 0;
            symbols->slope[i] = 0;
            continue;
        }
        const double slip = rint(delays[i] = clock_delay(clock, first + i + FIRST));
        const size_t start = symbol_start(first + i, slip);
        windows[i] = start + PENSTOCK__WIFI_GUARD - WINDOW_OFFSET;
        symbols->slope[i] = (float)(-PER_SAMPLE * (delays[i] - slip));
        fetch(view->samples + windows[i] + SYMBOLS_AT_ONCE * PENSTOCK__WIFI_SYMBOL);
        kernels->see(symbols, i, view->samples + windows[i], &pilots->known);
    }
    kernels->combine(symbols, &pilots->known);
}

/* Forward through the frame: the filtered phases go into `tracker`; one past the last sample that was read, which is of
 * the last symbol, as others move by less than their distance. */
static int64_t follow(const struct penstock__rx *rx, const struct penstock__wifi_node *node, struct clock *clock,
                      struct penstock__wifi_tracker *tracker)
{
    const struct penstock__rx_view view = penstock__rx_view(rx, &node->frame);
    const double noise = (double)node->frame.ofdm.noise, cfo = node->frame.ofdm.cfo;
    struct pilots pilots;
    struct phase phase;
    size_t windows[SYMBOLS_AT_ONCE], last = 0;
    prepare(&pilots, &penstock__wifi_of(rx)->tables, node, &view);
    phase_start(&phase, noise / (2 * pilots.power) + 1e-9, pilots.power / PENSTOCK__WIFI_PILOTS / noise);
    clock_start(clock, noise / (2 * pilots.slope_power) / (PER_SAMPLE * PER_SAMPLE) + 1e-9);
    for (unsigned first = 0; first < node->frame.symbols; first += SYMBOLS_AT_ONCE) {
        const unsigned left = node->frame.symbols - first, count = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;
        double delays[SYMBOLS_AT_ONCE];
        struct frame_symbols symbols;
        look(&pilots, &view, clock, first, count, delays, windows, &symbols);
        last = windows[count - 1];
        for (unsigned i = 0; i < count; i++) {
            if (isfinite(symbols.rest[i])) { /* not where the samples are zero, or so large that sums overflow */
                clock_learn(clock, first + i + FIRST, delays[i] - (double)symbols.rest[i] * (1 / PER_SAMPLE));
                phase_learn(&phase, (double)symbols.phase[i] * (1 / TWO_PI) - cfo * (double)windows[i] +
                                        (penstock__wifi_pilot_polarity[(first + i + 1) % 127] < 0 ? 0.5 : 0));
            }
            keep(tracker, first + i, &phase);
            phase_predict(&phase);
        }
        clock_solve(clock);
    }
    return window_end(last);
}

void penstock__wifi_track(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame,
                          penstock_ofdm_symbol *symbols)
{
    struct penstock__wifi_tracker *tracker = &((struct penstock__wifi_worker *)worker)->tracker;
    struct penstock__wifi_node *node = penstock__wifi_node(frame);
    struct clock clock;
    const int64_t seen = follow(rx, node, &clock, tracker);
    const unsigned count = node->frame.symbols;
    phase_smooth(tracker, count);
    for (unsigned i = 0; i < count; i++) {
        const double delay = clock_delay(&clock, i + FIRST), slip = rint(delay);
        symbols[i].start = symbol_start(i, slip);
        symbols[i].pilot_row = (i + 1) % 127;
        symbols[i].phase = (float)(TWO_PI * (tracker->phase[i] - rint(tracker->phase[i])));
        symbols[i].slope = (float)(-PER_SAMPLE * (delay - slip));
    }
    const int64_t end = window_end(symbols[count - 1].start + PENSTOCK__WIFI_GUARD - WINDOW_OFFSET);
    node->frame.until = node->frame.reference + (end > seen ? end : seen);
    node->sfo_ppm = -clock.drift / PENSTOCK__WIFI_SYMBOL * 1e6;
    node->tracked_cfo =
        node->frame.ofdm.cfo + tracker->phase[count - 1] / (PENSTOCK__WIFI_SYMBOL * (count - 1 + FIRST));
}
