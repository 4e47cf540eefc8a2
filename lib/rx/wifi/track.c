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

struct pilots {
    struct frame_pilots of_samples;                /* exp(-2 pi i (cfo + k/64) n) for each of the four carriers k */
    penstock_cf32 expected[PENSTOCK__WIFI_PILOTS]; /* channel times pilot value at polarity 1, conjugate */
    double power, slope_power;                     /* sum of |channel|^2, and weighted with the carrier squared */
};

static void prepare(struct pilots *pilots, const struct penstock__wifi_node *node)
{
    pilots->power = pilots->slope_power = 1e-12; /* no division by zero; the received power is one */
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        int32_t carrier = penstock__wifi_pilot_carriers[p];
        double turns = -(node->frame.ofdm.cfo + (double)carrier / PENSTOCK__WIFI_FFT);
        penstock_cf32 step = cf32_turn(turns), value = {1, 0}, channel = node->channel[carrier & 63];
        for (unsigned n = 0; n < PENSTOCK__WIFI_FFT; n++) {
            pilots->of_samples.by_re[n][p] = value.re;
            pilots->of_samples.by_re[n][p + PENSTOCK__WIFI_PILOTS] = value.im;
            pilots->of_samples.by_im[n][p] = -value.im;
            pilots->of_samples.by_im[n][p + PENSTOCK__WIFI_PILOTS] = value.re;
            value = (n + 1) % 16 ? cf32_mul(value, step) : cf32_turn(turns * (n + 1));
        }
        /* The window begins WINDOW_OFFSET samples before the channel's reference. */
        channel = cf32_mul(channel, cf32_turn((double)(-carrier * WINDOW_OFFSET) / PENSTOCK__WIFI_FFT));
        pilots->expected[p] = cf32_scale(channel, penstock__wifi_pilot_values[p]);
        pilots->power += cf32_power(channel);
        pilots->slope_power += (double)cf32_power(channel) * carrier * carrier;
    }
}

/* The four carriers of the window at `x`, each times the conjugate of what is expected. */
static void see(const struct pilots *pilots, penstock_cf32 out[PENSTOCK__WIFI_PILOTS], const penstock_cf32 *x,
                penstock_cf32 turn)
{
    penstock__frame_kernels()->see(out, x, &pilots->of_samples);
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++)
        out[p] = cf32_mul(cf32_mul_conj(out[p], pilots->expected[p]), turn);
}

/* Common phase of the four, `slope` radians a carrier being taken out, and what slope remains. */
static penstock_cf32 combine(const struct pilots *pilots, const penstock_cf32 seen[PENSTOCK__WIFI_PILOTS], double slope,
                             double *rest)
{
    /* Pilots are at -21, -7, 7, 21. */
    const penstock_cf32 back = cf32_turn(-slope * 7 / TWO_PI), back3 = cf32_mul(cf32_mul(back, back), back);
    const penstock_cf32 level[PENSTOCK__WIFI_PILOTS] = {cf32_mul_conj(seen[0], back3), cf32_mul_conj(seen[1], back),
                                                        cf32_mul(seen[2], back), cf32_mul(seen[3], back3)};
    penstock_cf32 sum = cf32_add(cf32_add(level[0], level[1]), cf32_add(level[2], level[3]));
    double size = sqrt((double)cf32_power(sum)), moment = 0;
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++)
        moment += penstock__wifi_pilot_carriers[p] * (double)cf32_mul_conj(level[p], sum).im;
    *rest = moment / size / pilots->slope_power;
    return sum;
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
    return delay > -MARGIN ? fmin(delay, MARGIN) : -MARGIN; /* NaN too */
}

static void clock_learn(struct clock *clock, double time, double delay)
{
    const double weighted = delay * clock->weight, moment = time * clock->weight;
    clock->oo += clock->weight;
    clock->od += moment;
    clock->dd += time * moment;
    clock->o += weighted;
    clock->d += weighted * time;
    const double inverse = 1 / (clock->oo * clock->dd - clock->od * clock->od);
    clock->offset = (clock->o * clock->dd - clock->d * clock->od) * inverse;
    clock->drift = (clock->d * clock->oo - clock->o * clock->od) * inverse;
}

/* Phase and frequency (radians a symbol) with their covariance. */
struct phase {
    double noise; /* variance of one measurement */
    double phase, frequency, pp, pf, ff;
};

static void phase_start(struct phase *phase, double noise, double snr)
{
    double ff = FREQUENCY_0DB / snr + 1e-6;
    *phase = (struct phase){.noise = noise, .pp = FIRST * FIRST * ff + PHASE_WALK, .pf = FIRST * ff, .ff = ff};
}

static void phase_learn(struct phase *phase, double innovation)
{
    const double inverse = 1 / (phase->pp + phase->noise), gain = phase->pp * inverse, f_gain = phase->pf * inverse;
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

static void phase_smooth(struct penstock__wifi_tracker *tracker, unsigned count)
{
    for (unsigned i = count - 1; i-- > 0;) {
        const double *p = tracker->covariance[i];
        double pp = p[0] + 2 * p[1] + p[2] + PHASE_WALK, pf = p[1] + p[2], ff = p[2] + FREQUENCY_WALK;
        double determinant = pp * ff - pf * pf, ap = p[0] + p[1], af = p[1] + p[2];
        double phase = tracker->phase[i + 1] - (tracker->phase[i] + tracker->frequency[i]);
        double frequency = tracker->frequency[i + 1] - tracker->frequency[i];
        tracker->phase[i] += ((ap * ff - p[1] * pf) * phase + (p[1] * pp - ap * pf) * frequency) / determinant;
        tracker->frequency[i] += ((af * ff - p[2] * pf) * phase + (p[2] * pp - af * pf) * frequency) / determinant;
    }
}

/* First sample of DATA symbol i, moved by whole samples. */
static size_t symbol_start(unsigned i, double slip)
{
    return (size_t)(2 * PENSTOCK__WIFI_FFT + (int64_t)PENSTOCK__WIFI_SYMBOL * (i + 1) + (int64_t)slip);
}

/* One past the last sample that the transform of a symbol at `start` reads. */
static int64_t window_end(size_t start)
{
    return (int64_t)start + PENSTOCK__WIFI_SYMBOL - WINDOW_OFFSET;
}

/* Forward through the frame: the filtered phases go into `tracker`; one past the last sample that was read. */
static int64_t follow(const struct penstock__rx *rx, const struct penstock__wifi_node *node, struct clock *clock,
                      struct penstock__wifi_tracker *tracker)
{
    penstock_cf32 samples[PENSTOCK__WIFI_FFT];
    struct pilots pilots;
    struct phase phase;
    int64_t until = 0;
    prepare(&pilots, node);
    const double noise = (double)node->frame.ofdm.noise;
    phase_start(&phase, noise / (2 * pilots.power) + 1e-9, pilots.power / PENSTOCK__WIFI_PILOTS / noise);
    clock_start(clock, noise / (2 * pilots.slope_power) / (PER_SAMPLE * PER_SAMPLE) + 1e-9);
    for (unsigned i = 0; i < node->frame.symbols; i++) {
        double time = i + FIRST, delay = clock_delay(clock, time), slip = rint(delay), rest;
        size_t start = symbol_start(i, slip), window = start + PENSTOCK__WIFI_GUARD - WINDOW_OFFSET;
        until = window_end(start) > until ? window_end(start) : until;
        float polarity = penstock__wifi_pilot_polarity[(i + 1) % 127];
        penstock_cf32 seen[PENSTOCK__WIFI_PILOTS];
        penstock__rx_read(rx, &node->frame, (int64_t)window, PENSTOCK__WIFI_FFT, samples);
        see(&pilots, seen, samples,
            cf32_scale(cf32_turn(-node->frame.ofdm.cfo * (double)window - phase.phase / TWO_PI), polarity));
        penstock_cf32 sum = combine(&pilots, seen, -PER_SAMPLE * (delay - slip), &rest);
        if (isfinite(rest)) { /* not where the samples are zero, or so large that sums overflow */
            clock_learn(clock, time, delay - rest / PER_SAMPLE);
            phase_learn(&phase, (double)cf32_angle(sum));
        }
        tracker->phase[i] = phase.phase;
        tracker->frequency[i] = phase.frequency;
        tracker->covariance[i][0] = phase.pp;
        tracker->covariance[i][1] = phase.pf;
        tracker->covariance[i][2] = phase.ff;
        phase_predict(&phase);
    }
    return until;
}

void penstock__wifi_track(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame,
                          penstock_ofdm_symbol *symbols)
{
    struct penstock__wifi_tracker *tracker = &((struct penstock__wifi_worker *)worker)->tracker;
    struct penstock__wifi_node *node = penstock__wifi_node(frame);
    struct clock clock;
    int64_t until = follow(rx, node, &clock, tracker);
    phase_smooth(tracker, node->frame.symbols);
    for (unsigned i = 0; i < node->frame.symbols; i++) {
        double delay = clock_delay(&clock, i + FIRST), slip = rint(delay);
        symbols[i].start = symbol_start(i, slip);
        until = window_end(symbols[i].start) > until ? window_end(symbols[i].start) : until;
        symbols[i].pilot_row = (i + 1) % 127;
        symbols[i].phase = (float)(tracker->phase[i] - TWO_PI * rint(tracker->phase[i] / TWO_PI));
        symbols[i].slope = (float)(-PER_SAMPLE * (delay - slip));
    }
    node->frame.until = node->frame.reference + until;
    node->sfo_ppm = -clock.drift / PENSTOCK__WIFI_SYMBOL * 1e6;
    node->tracked_cfo = node->frame.ofdm.cfo + tracker->phase[node->frame.symbols - 1] / TWO_PI /
                                                   (PENSTOCK__WIFI_SYMBOL * (node->frame.symbols - 1 + FIRST));
}
