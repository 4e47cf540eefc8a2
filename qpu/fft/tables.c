/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */
#include "tables.h"

#include <math.h>
#include <string.h>

static const double TAU = 6.283185307179586476925286766559;

static uint32_t float_word(double value)
{
    float rounded = (float)value;
    uint32_t word;
    memcpy(&word, &rounded, sizeof word);
    return word;
}

/*
 * The QPU cuts where others round, which makes results smaller: by 0.3 to 0.4 parts in a million a pass for noise, by
 * 0.1 for a tone, whose sums are mostly exact. Twiddles that are larger by what lies between bring the mean error near
 * zero.
 */
static const double GAIN_LANES = 1 + 0x1p-22, GAIN_INNER = 1 + 0x1p-22, GAIN_OUTER = 1 + 0x1.8p-23;

/* One lane of a row: gain * exp(-2 pi j number / 2^log_period). */
static void twiddle(uint32_t *row, unsigned lane, uint64_t number, unsigned log_period, double gain)
{
    uint64_t period = UINT64_C(1) << log_period;
    number &= period - 1;
    row[lane] = float_word(gain * sin(TAU * (double)number / (double)period));
    row[LANES + lane] = float_word(gain * cos(TAU * (double)number / (double)period));
}

static unsigned bit(unsigned number, unsigned place)
{
    return number >> place & 1;
}

/* The program doubles flags: bit 31 becomes the carry, bit 30 the sign. */
static uint32_t flags(unsigned carry, unsigned negative)
{
    return (uint32_t)carry << 31 | (uint32_t)negative << 30;
}

void qpu_fft__constants(uint32_t to[CONSTANT_VECTORS * LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned point = 2 * bit(lane, 3) + bit(lane, 0), frequency = bit(lane, 1) + 2 * bit(lane, 2);
        uint32_t row[2 * LANES];
        twiddle(row, lane, point * frequency, LANE_BITS, GAIN_LANES);
        to[lane] = flags(bit(lane, 2), bit(lane, 1) & bit(lane, 2));
        to[LANES + lane] = flags(bit(lane, 0) & bit(lane, 3), bit(lane, 0));
        to[2 * LANES + lane] = flags(0, bit(lane, 1) & bit(lane, 3));
        to[3 * LANES + lane] = float_word(bit(lane, 1) ? -1 : 1);
        to[4 * LANES + lane] = float_word(bit(lane, 3) ? -1 : 1);
        to[5 * LANES + lane] = row[LANES + lane];
        to[6 * LANES + lane] = row[lane];
    }
}

void qpu_fft__lane_offsets(const struct qpu_fft__geometry *g, unsigned pass, uint32_t to[LANES])
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    for (unsigned lane = 0; lane < LANES; lane++)
        to[lane] = qpu_fft__weigh(&p->before, p->lane_before, LANE_BITS, lane);
}

/* The low part of a pass's frequency that a lane has. */
static unsigned lane_frequency(const struct qpu_fft__pass *p, unsigned pass, unsigned lane)
{
    unsigned frequency = 0;
    for (unsigned i = 0; i < LANE_BITS; i++)
        if (p->lane_after[i].digit == pass && p->lane_after[i].bit < p->lane_bits)
            frequency |= bit(lane, i) << p->lane_after[i].bit;
    return frequency;
}

uint32_t qpu_fft__inner_rows(const struct qpu_fft__geometry *g, unsigned pass)
{
    return g->pass[pass].lane_bits ? (UINT32_C(1) << g->pass[pass].register_bits) - 1 : 0;
}

void qpu_fft__inner_table(const struct qpu_fft__geometry *g, unsigned pass, uint32_t *to)
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    double gain =
        pass + 1 == g->pass_count && p->lane_bits < LANE_BITS ? GAIN_INNER : 1; /* else another table has it */
    for (unsigned i = 1; i <= qpu_fft__inner_rows(g, pass); i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            twiddle(to + (i - 1) * 2 * LANES, lane, i * lane_frequency(p, pass, lane), g->digit_bits[pass], gain);
}

uint32_t qpu_fft__sequence_vectors(const struct qpu_fft__geometry *g, unsigned parts)
{
    return (parts << g->pass[0].register_bits) + 2 * qpu_fft__inner_rows(g, 0);
}

void qpu_fft__sequence(const struct qpu_fft__geometry *g, uint32_t group, const float *weights, unsigned parts,
                       uint32_t sample_bytes, uint32_t *to)
{
    const struct qpu_fft__pass *p = &g->pass[0];
    for (unsigned i = 0; i < 1u << p->register_bits; i++) {
        for (unsigned part = 0; part < parts; part++, to += LANES)
            for (unsigned lane = 0; lane < LANES; lane++)
                to[lane] = float_word(weights[qpu_fft__sample(g, group, i, lane) / sample_bytes * parts + part]);
        if (!i || !p->lane_bits)
            continue;
        for (unsigned lane = 0; lane < LANES; lane++) {
            uint32_t row[2 * LANES];
            twiddle(row, lane, i * lane_frequency(p, 0, lane), g->digit_bits[0], 1);
            to[lane] = row[LANES + lane];
            to[LANES + lane] = row[lane];
        }
        to += 2 * LANES;
    }
}

uint32_t qpu_fft__outer_rows(const struct qpu_fft__geometry *g, unsigned pass)
{
    return pass + 1 < g->pass_count ? UINT32_C(1) << g->pass[pass].register_bits : 0;
}

void qpu_fft__outer_table(const struct qpu_fft__geometry *g, unsigned pass, uint32_t table, uint32_t *to)
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    uint32_t group = qpu_fft__group_of(g, pass, table);
    unsigned log_period = 0;
    for (unsigned d = pass; d < g->pass_count; d++)
        log_period += g->dimension[d] == g->dimension[pass] ? g->digit_bits[d] : 0;
    for (unsigned i = 0; i < qpu_fft__outer_rows(g, pass); i++)
        for (unsigned lane = 0; lane < LANES; lane++) {
            uint64_t frequency = lane_frequency(p, pass, lane) | qpu_fft__reversed(i, p->register_bits) << p->lane_bits;
            twiddle(to + i * 2 * LANES, lane, frequency * qpu_fft__rest(g, pass, group, lane), log_period, GAIN_OUTER);
        }
}
