/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of later formats, made from their first symbols (IEEE 802.11-2020 figures 19-1 and 21-4): recognised by what
 * follows SIGNAL, skipped for the time that SIGNAL says, with a legacy frame right behind them. HT is also proven by
 * recordings. The checksum's value is the standard's own example, clause 19.3.9.4.4.
 */
#include "backends/backend.h"
#include "fec/interleaver.h"
#include "tx/wifi_training.h"
#include "wifi_frames.h"

#define LENGTH 600 /* in SIGNAL; a multiple of three, as HT and VHT want it */

static penstock_stream *receiver;

/* One symbol with `bits` (48 coded ones) as BPSK, upright or a quarter turned, guard interval included. */
static void put_symbol(penstock_cf32 *samples, const uint8_t *coded, bool turned)
{
    uint16_t place[PENSTOCK__WIFI_MAX_CODED];
    double data[2 * 64] = {0};
    penstock__wifi_interleaver(place, &penstock__wifi_rates[0]);
    for (unsigned i = 0; i < 48; i++)
        data[2 * (penstock__wifi_data_carriers[place[i]] & 63) + turned] = coded[i] ? 1 : -1;
    for (unsigned i = 0; i < 4; i++)
        data[2 * (penstock__wifi_pilot_carriers[i] & 63)] = (double)penstock__wifi_pilot_values[i];
    CHECK_OK(penstock__dft(data, 64, PENSTOCK_REVERSE));
    for (unsigned i = 0; i < 80; i++) {
        unsigned k = (i + 48) % 64;
        samples[i] = (penstock_cf32){(float)(data[2 * k] / sqrt(52)), (float)(data[2 * k + 1] / sqrt(52))};
    }
}

/* Two symbols of 48 bits coded as one word; the tail's six are zero. */
static void put_word(penstock_cf32 *samples, uint64_t bits, bool first_turned)
{
    uint8_t packed[6], coded[96];
    for (unsigned i = 0; i < 6; i++)
        packed[i] = (uint8_t)(bits >> (8 * i));
    penstock__convolutional_encode(coded, packed, 48, PENSTOCK__CODE_1_2);
    put_symbol(samples, coded, first_turned);
    put_symbol(samples + 80, coded + 48, true);
}

static uint64_t word(const char *text)
{
    uint64_t bits = 0;
    unsigned i = 0;
    for (; *text; text++)
        if (*text != ' ')
            bits |= (uint64_t)(*text == '1') << i++;
    return bits;
}

enum kind { HT, HT_BROKEN, VHT, HE, LEGACY };

static void test_kind(enum kind kind, double snr_db)
{
    static struct wifi_frames frames;
    static uint8_t psdu[LENGTH];
    uint64_t state = 100 + (uint64_t)kind;
    size_t length = kind == HE ? LENGTH - 2 : LENGTH, first_count, second_count;
    wifi_psdu(psdu, length, &state);
    penstock_wifi_transmit_desc slow = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 6),
                                quick = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 12);
    penstock_cf32 *first = wifi_transmit(&slow, psdu, length, 500, 0, &first_count);
    /* The standard's example of 34 bits and their checksum, then the tail. */
    uint64_t ht = word("1111 0001 0010 0110 0000 0000 1110 0000 00 10101000");
    if (kind == HT || kind == HT_BROKEN)
        put_word(first + 900, kind == HT ? ht : ht ^ 0x100, true);
    if (kind == VHT)
        put_word(first + 900, ht, false);
    if (kind == HE)
        memcpy(first + 900, first + 820, 80 * sizeof *first);
    uint8_t short_psdu[50];
    wifi_psdu(short_psdu, sizeof short_psdu, &state);
    penstock_cf32 *second = wifi_transmit(&quick, short_psdu, sizeof short_psdu, 40, 800, &second_count);
    first_count--;
    first = realloc(first, (first_count + second_count) * sizeof *first);
    memcpy(first + first_count, second, second_count * sizeof *first);
    wifi_add_noise(first, first_count + second_count, pow(10, -snr_db / 10), &state);
    CHECK_OK(penstock_stream_reset(receiver));
    wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, first, first_count + second_count, 0);
    CHECK(frames.count == 2, "kind %d: %zu frames", (int)kind, frames.count);
    if (frames.count == 2) {
        static const struct {
            penstock_wifi_format format;
            int mcs;
            unsigned length;
            const char *reason;
        } expected[] = {
            [HT] = {PENSTOCK_WIFI_HT, 15, 0x6400 >> 8, "HT format (MCS 15, 2 streams) not supported"},
            [HT_BROKEN] = {PENSTOCK_WIFI_HT, -1, 0, "HT format not supported (checksum of HT-SIG is wrong)"},
            [VHT] = {PENSTOCK_WIFI_VHT, -1, 0, "VHT format (group 8) not supported"},
            [HE] = {PENSTOCK_WIFI_VHT, -1, 0, "HE or later format not supported"},
            [LEGACY] = {PENSTOCK_WIFI_LEGACY, -1, LENGTH, NULL},
        };
        const penstock_wifi_frame *frame = &frames.frame[0];
        const char *reason = expected[kind].reason;
        CHECK_EQ(frame->format, expected[kind].format);
        CHECK_EQ(frame->mcs, expected[kind].mcs);
        CHECK(reason ? frame->reason && !strcmp(frame->reason, reason) : frame->fcs_ok, "kind %d: %s", (int)kind,
              frame->reason ? frame->reason : "no reason");
        CHECK_EQ(frame->samples, first_count - 500);
        CHECK_EQ(frames.counters.unsupported, kind != LEGACY);
        CHECK(frames.frame[1].fcs_ok && frames.frame[1].length == sizeof short_psdu, "kind %d: the next frame",
              (int)kind);
    }
    wifi_frames_free(&frames);
    free(first);
    free(second);
}

int main(void)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu"));
    for (int kind = HT; kind <= LEGACY; kind++) {
        test_kind((enum kind)kind, 30);
        test_kind((enum kind)kind, 10);
    }
    penstock_stream_free(receiver);
    penstock_context_free(context);
    return test_finish();
}
