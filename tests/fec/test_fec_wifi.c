/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The bit level of clause 17 against the tables printed in the standard: "annex I" is IEEE 802.11-2020 annex I, the
 * worked example that was annex G of IEEE 802.11a-1999.
 */
#include "fec/crc32.h"
#include "fec/interleaver.h"
#include "fec/scrambler.h"
#include "fec/viterbi.h"

#include "test.h"

/* Bits as printed, blanks left out, against `got`, which has eight or one a byte. Returns how many there are. */
static size_t check_bits(const char *what, const char *printed, const uint8_t *got, bool packed)
{
    size_t count = 0;
    for (const char *c = printed; *c; c++) {
        unsigned bit;
        if (*c != '0' && *c != '1')
            continue;
        bit = packed ? got[count / 8] >> count % 8 & 1u : got[count];
        CHECK(bit == (unsigned)(*c - '0'), "%s: bit %zu", what, count);
        count++;
    }
    return count;
}

/* ---------------------------------------------------------------- rates and SIGNAL ------------ */

/* Tables 17-4 (rate, constellation, code, N_BPSC, N_CBPS, N_DBPS) and 17-6 (R1 - R4). */
static const struct {
    double mbps;
    const char *signal;
    enum penstock__code_rate code;
    unsigned bits, coded, data;
} table[8] = {
    {6, "1101", PENSTOCK__CODE_1_2, 1, 48, 24},    {9, "1111", PENSTOCK__CODE_3_4, 1, 48, 36},
    {12, "0101", PENSTOCK__CODE_1_2, 2, 96, 48},   {18, "0111", PENSTOCK__CODE_3_4, 2, 96, 72},
    {24, "1001", PENSTOCK__CODE_1_2, 4, 192, 96},  {36, "1011", PENSTOCK__CODE_3_4, 4, 192, 144},
    {48, "0001", PENSTOCK__CODE_2_3, 6, 288, 192}, {54, "0011", PENSTOCK__CODE_3_4, 6, 288, 216},
};

static void test_rates(void)
{
    for (int i = 0; i < 8; i++) {
        const struct penstock__wifi_rate *rate = &penstock__wifi_rates[i];
        uint8_t bits = rate->signal;
        CHECK(rate->mbps == table[i].mbps, "%g Mb/s", rate->mbps);
        CHECK_EQ(check_bits("RATE", table[i].signal, &bits, true), 4);
        CHECK_EQ(rate->index, i);
        CHECK_EQ(rate->code_rate, table[i].code);
        CHECK_EQ(rate->constellation, table[i].bits);
        CHECK_EQ(rate->coded_bits, table[i].coded);
        CHECK_EQ(rate->data_bits, table[i].data);
        CHECK_EQ(penstock__coded_count(rate->code_rate, rate->data_bits), table[i].coded);
        CHECK(penstock__wifi_rate_by_signal(rate->signal) == rate, "RATE bits of %g Mb/s", rate->mbps);
        CHECK(penstock__wifi_rate_by_mbps(rate->mbps) == rate, "%g Mb/s not found", rate->mbps);
    }
    for (unsigned bits = 0; bits < 16; bits++) /* R4 is 1 in all that exist */
        CHECK((penstock__wifi_rate_by_signal(bits) != NULL) == (bits >= 8), "RATE bits %u", bits);
    CHECK(!penstock__wifi_rate_by_mbps(11), "11 Mb/s exists");
}

static void test_signal(void)
{
    for (int r = 0; r < 8; r++)
        for (unsigned length = 0; length < 4096; length += 7) {
            const struct penstock__wifi_rate *rate = &penstock__wifi_rates[r];
            uint32_t bits = penstock__wifi_signal_encode(rate, length);
            struct penstock__wifi_signal signal;
            CHECK(bits < 1u << 18, "tail bits are set");
            CHECK_EQ(penstock__wifi_signal_decode(&signal, bits), PENSTOCK__SIGNAL_OK);
            CHECK(signal.rate == rate && signal.length == length && !signal.reserved, "%g Mb/s, %u bytes", rate->mbps,
                  length);
            for (int i = 0; i < 18; i++) { /* any single error is noticed */
                CHECK_EQ(penstock__wifi_signal_decode(&signal, bits ^ 1u << i), PENSTOCK__SIGNAL_PARITY);
                CHECK(!signal.rate, "rate of a broken SIGNAL");
            }
            CHECK_EQ(penstock__wifi_signal_decode(&signal, bits | 1u << 20), PENSTOCK__SIGNAL_TAIL);
            CHECK_EQ(penstock__wifi_signal_decode(&signal, bits ^ (1u << 4 | 1u << 17)), PENSTOCK__SIGNAL_OK);
            CHECK(signal.reserved, "reserved bit");
        }
    struct penstock__wifi_signal unknown;
    CHECK_EQ(penstock__wifi_signal_decode(&unknown, 3 | 100 << 5 | 1 << 17), PENSTOCK__SIGNAL_RATE);
    CHECK(!unknown.rate && unknown.length == 100, "unknown rate with %u bytes", unknown.length);
}

/* ---------------------------------------------------------------- annex I --------------------- */

/* The bits of SIGNAL, after encoding and after interleaving. */
static void test_example_signal(void)
{
    const struct penstock__wifi_rate *slowest = &penstock__wifi_rates[0];
    uint32_t bits = penstock__wifi_signal_encode(penstock__wifi_rate_by_mbps(36), 100);
    uint8_t packed[3] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16)}, coded[48], sent[48];
    uint16_t place[48];
    CHECK_EQ(check_bits("SIGNAL", "1011 0 001001100000 0 000000", packed, true), 24);
    CHECK_EQ(penstock__convolutional_encode(coded, packed, 24, slowest->code_rate), 48);
    CHECK_EQ(check_bits("SIGNAL after encoding", "11010001 10100001 00000010 00111110 01110000 00000000", coded, false),
             48);
    penstock__wifi_interleaver(place, slowest);
    for (int k = 0; k < 48; k++)
        sent[place[k]] = coded[k];
    CHECK_EQ(
        check_bits("SIGNAL after interleaving", "10010100 11010000 00010100 10000011 00100100 10010100", sent, false),
        48);
}

/* The first DATA bits, before and after scrambling and encoding. */
static void test_example_data(void)
{
    const struct penstock__wifi_rate *rate = penstock__wifi_rate_by_mbps(36);
    uint8_t data[18] = {0,    0,    0x04, 0x02, 0x00, 0x2e, 0x00, 0x60, 0x08,
                        0xcd, 0x37, 0xa6, 0x00, 0x20, 0xd6, 0x01, 0x3c, 0xf1};
    uint8_t coded[192];
    CHECK_EQ(check_bits("DATA", "00000000 00000000 00100000 01000000 00000000 01110100", data, true), 48);
    penstock__scramble(data, sizeof data, 0x5d); /* 1011101 */
    CHECK_EQ(check_bits("DATA after scrambling",
                        "01101100 00011001 10001001 10001111 01101000 00100001 11110100 10100101 01100001 01001111 "
                        "11010111 10101110 00100100 00001100 11110011 00111010 11100100 10111100",
                        data, true),
             144);
    CHECK_EQ(penstock__convolutional_encode(coded, data, 144, rate->code_rate), 192);
    CHECK_EQ(check_bits("first DATA symbol after encoding", "00101011 00001000 10100001 11110000 10011101 10110101",
                        coded, false),
             48);
}

/* ---------------------------------------------------------------- decisions ------------------- */

/* Soft bits of every value against coded bits, one by one. */
static void test_errors(void)
{
    enum { STEPS = 203 };
    static const int8_t values[] = {-128, -127, -1, 0, 1, 127};
    uint8_t packed[(STEPS + 7) / 8], coded[2 * STEPS];
    int8_t soft[2 * STEPS];
    uint64_t seed = 3;
    for (size_t steps = 0; steps <= STEPS; steps++) {
        size_t errors = 0;
        test_random_bytes(packed, sizeof packed, &seed);
        CHECK_EQ(penstock__convolutional_encode(coded, packed, steps, PENSTOCK__CODE_1_2), 2 * steps);
        for (size_t i = 0; i < 2 * steps; i++) {
            soft[i] = values[test_random(&seed) % sizeof values];
            errors += soft[i] && coded[i] == (soft[i] > 0);
        }
        CHECK_EQ(penstock__convolutional_errors(packed, soft, steps), errors);
    }
}

/* ---------------------------------------------------------------- scrambler, FCS -------------- */

/* The 127 bits of clause 17.3.5.5 for a start with all ones. */
static const char *const sequence =
    "00001110 11110010 11001001 00000010 00100110 00101110 10110110 00001100 11010100 11100111 10110100 00101010 "
    "11111010 01010001 10111000 1111111";

static void test_scrambler(void)
{
    uint8_t zeros[400] = {0};
    penstock__scramble(zeros, sizeof zeros, 127);
    CHECK_EQ(check_bits("17.3.5.5", sequence, zeros, true), 127);
    for (size_t i = 127; i < 8 * sizeof zeros; i++)
        CHECK((zeros[i / 8] >> i % 8 & 1) == (zeros[(i - 127) / 8] >> (i - 127) % 8 & 1), "period at bit %zu", i);
    for (unsigned seed = 1; seed < 128; seed++) {
        uint64_t state = seed;
        uint8_t bytes[50], copy[50];
        for (size_t i = 0; i < sizeof bytes; i++)
            copy[i] = bytes[i] = i < 2 ? 0 : (uint8_t)test_random(&state);
        penstock__scramble(bytes, sizeof bytes, seed);
        /* What descrambles is found in the first seven bits, whatever the eighth. */
        CHECK_EQ(penstock__scrambler_seed(bytes[0]), seed);
        CHECK_EQ(penstock__scrambler_seed(bytes[0] ^ 128), seed);
        penstock__scramble(bytes, sizeof bytes, penstock__scrambler_seed(bytes[0]));
        CHECK(!memcmp(bytes, copy, sizeof bytes), "seed %u", seed);
    }
    CHECK_EQ(penstock__scrambler_seed(0), 0);
}

/* The polynomial division as clause 9.2.4.8 words it, bit by bit. */
static uint32_t slow_crc(const uint8_t *bytes, size_t count)
{
    uint32_t r = 0xffffffffu, reversed = 0;
    for (size_t i = 0; i < 8 * count; i++) {
        uint32_t top = r >> 31 ^ (bytes[i / 8] >> i % 8 & 1u);
        r = r << 1 ^ (top ? 0x04c11db7u : 0);
    }
    for (int i = 0; i < 32; i++)
        reversed |= (~r >> (31 - i) & 1) << i;
    return reversed;
}

static void test_crc(void)
{
    uint8_t bytes[600];
    uint64_t state = 9;
    CHECK_EQ(penstock__crc32(0, (const uint8_t *)"123456789", 9), 0xcbf43926u); /* the catalogue's check value */
    CHECK_EQ(penstock__crc32(0, NULL, 0), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&state);
    for (size_t count = 0; count < sizeof bytes; count++) {
        size_t cut = test_random(&state) % (count + 1);
        CHECK_EQ(penstock__crc32(0, bytes, count), slow_crc(bytes, count));
        CHECK_EQ(penstock__crc32(penstock__crc32(0, bytes, cut), bytes + cut, count - cut), slow_crc(bytes, count));
    }
}

/* ---------------------------------------------------------------- interleaver ----------------- */

/* The receiver's equations 17-21 and 17-22, which the standard states on their own. */
static void test_interleaver(void)
{
    for (int r = 0; r < 8; r++) {
        const struct penstock__wifi_rate *rate = &penstock__wifi_rates[r];
        unsigned n = rate->coded_bits, bits = (unsigned)rate->constellation, s = bits / 2 > 1 ? bits / 2 : 1;
        uint16_t place[PENSTOCK__WIFI_MAX_CODED];
        penstock__wifi_interleaver(place, rate);
        for (unsigned j = 0; j < n; j++) {
            unsigned i = s * (j / s) + (j + 16 * j / n) % s, k = 16 * i - (n - 1) * (16 * i / n);
            CHECK(place[k] == j, "%g Mb/s: bit %u goes to %u, not %u", rate->mbps, k, place[k], j);
        }
    }
}

/* Random data through puncturing, interleaver, soft bits with gaps between carriers, and back. */
static void test_soft_map(void)
{
    uint64_t state = 11;
    for (int r = 0; r < 8; r++)
        for (size_t pitch = (size_t)penstock__wifi_rates[r].constellation; pitch <= 10; pitch++) {
            const struct penstock__wifi_rate *rate = &penstock__wifi_rates[r];
            enum { SYMBOLS = 5 };
            uint8_t data[SYMBOLS * 27 + 1] = {0}, back[SYMBOLS * 27 + 1] = {0}, coded[SYMBOLS * 288];
            int8_t soft[SYMBOLS * 432];
            uint64_t workspace[SYMBOLS * 216];
            uint16_t place[PENSTOCK__WIFI_MAX_CODED];
            size_t steps = SYMBOLS * (size_t)rate->data_bits;
            struct penstock__wifi_soft_map map;
            for (size_t i = 0; i < steps - 6; i++)
                data[i / 8] |= (uint8_t)((test_random(&state) & 1) << i % 8);
            CHECK_EQ(penstock__convolutional_encode(coded, data, steps, rate->code_rate), SYMBOLS * rate->coded_bits);
            penstock__wifi_interleaver(place, rate);
            penstock__wifi_soft_map_init(&map, rate);
            CHECK_EQ(map.soft_count, 2 * rate->data_bits);
            for (size_t symbol = 0; symbol < SYMBOLS; symbol++) {
                int8_t demapped[480], want[432];
                for (size_t i = 0; i < sizeof demapped; i++)
                    demapped[i] = (int8_t)test_random(&state);
                for (size_t k = 0; k < rate->coded_bits; k++) {
                    size_t carrier = place[k] / (unsigned)rate->constellation;
                    int8_t value =
                        (int8_t)(coded[symbol * rate->coded_bits + k] ? -1 - (int)(k % 100) : 1 + (int)(k % 100));
                    demapped[carrier * pitch + place[k] % (unsigned)rate->constellation] = value;
                }
                penstock__wifi_soft_map_apply(&map, soft + symbol * map.soft_count, demapped, pitch);
                int8_t punctured[288];
                for (size_t k = 0; k < rate->coded_bits; k++)
                    punctured[k] =
                        (int8_t)(coded[symbol * rate->coded_bits + k] ? -1 - (int)(k % 100) : 1 + (int)(k % 100));
                penstock__depuncture(want, punctured, rate->data_bits, rate->code_rate);
                CHECK(!memcmp(want, soft + symbol * map.soft_count, map.soft_count), "%g Mb/s, pitch %zu, symbol %zu",
                      rate->mbps, pitch, symbol);
            }
            penstock__viterbi_decode(back, soft, steps, PENSTOCK__TRELLIS_ZERO, workspace);
            CHECK(!memcmp(back, data, (steps + 7) / 8), "%g Mb/s, pitch %zu", rate->mbps, pitch);
        }
}

int main(void)
{
    test_rates();
    test_signal();
    test_example_signal();
    test_example_data();
    test_errors();
    test_scrambler();
    test_crc();
    test_interleaver();
    test_soft_map();
    return test_finish();
}
