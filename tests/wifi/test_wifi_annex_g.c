/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The transmitter against the worked example of the standard (IEEE 802.11a-1999 annex G, IEEE 802.11-2020 annex I):
 * 100 octets at 36 Mb/s. Its tables of time and frequency values are read from the recordings, digit for digit.
 */
#include "backends/backend.h"

#include <penstock/wifi.h>

#include "test.h"

#define EXAMPLE_SAMPLES 881

/* Table G.1. Its last four octets are no valid FCS, as its text has been changed since they were computed. */
static void example_psdu(uint8_t psdu[100])
{
    static const uint8_t header[24] = {0x04, 0x02, 0x00, 0x2e, 0x00, 0x60, 0x08, 0xcd, 0x37, 0xa6, 0x00, 0x20,
                                       0xd6, 0x01, 0x3c, 0xf1, 0x00, 0x60, 0x08, 0xad, 0x3b, 0xaf, 0x00, 0x00};
    static const uint8_t fcs[4] = {0xda, 0x57, 0x99, 0xed};
    memcpy(psdu, header, sizeof header);
    memcpy(psdu + 24, "Joy, bright spark of divinity,\nDaughter of Elysium,\nFire-insired we trea", 72);
    memcpy(psdu + 96, fcs, sizeof fcs);
}

/* Lines "index re im" of a table; comments are left out. */
static int read_table(penstock_cf32 *values, int capacity, const char *folder, const char *name)
{
    char path[4096], line[256];
    int count = 0;
    FILE *file;
    snprintf(path, sizeof path, "%s/wifi/annex-g/%s", folder, name);
    file = fopen(path, "r");
    CHECK(file, "cannot open %s", path);
    while (file && count < capacity && fgets(line, sizeof line, file)) {
        int index;
        float re, im;
        if (sscanf(line, "%d %f %f", &index, &re, &im) == 3)
            values[count++] = (penstock_cf32){re, im};
    }
    if (file)
        fclose(file);
    return count;
}

/* The tables have three decimals. */
static void check_printed(const char *what, int i, penstock_cf32 got, penstock_cf32 want)
{
    CHECK(fabs(got.re - want.re) <= 5.001e-4 && fabs(got.im - want.im) <= 5.001e-4,
          "%s[%d] is %.5f %+.5fi, the standard prints %.3f %+.3fi", what, i, got.re, got.im, want.re, want.im);
}

/* From ours (mean power one) to the standard's (an inverse DFT with the factor 1/64). */
static penstock_cf32 standard_level(penstock_cf32 x)
{
    double scale = sqrt(52.0) / 64;
    return (penstock_cf32){(float)(scale * x.re), (float)(scale * x.im)};
}

static void test_time_tables(const char *folder, const penstock_cf32 *frame)
{
    static const struct {
        const char *name;
        int first, count;
        bool first_shared, last_shared; /* the table has the field alone, the packet adds its neighbour's edge */
    } tables[] = {
        {"annexg_packet.dat", 0, EXAMPLE_SAMPLES, false, false},
        {"G4.dat", 0, 161, false, true},
        {"G6.dat", 160, 161, true, true},
        {"annexg_signal.dat", 320, 81, true, true},
    };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        penstock_cf32 want[EXAMPLE_SAMPLES];
        int count = read_table(want, EXAMPLE_SAMPLES, folder, tables[t].name);
        CHECK_EQ(count, tables[t].count);
        for (int i = tables[t].first_shared; i < count - tables[t].last_shared; i++)
            check_printed(tables[t].name, i, standard_level(frame[tables[t].first + i]), want[i]);
    }
}

/* The spectrum of the 64 samples from `start` on. */
static void spectrum(double values[128], const penstock_cf32 *start)
{
    for (int i = 0; i < 64; i++) {
        values[2 * i] = start[i].re * sqrt(52.0) / 64;
        values[2 * i + 1] = start[i].im * sqrt(52.0) / 64;
    }
    CHECK_OK(penstock__dft(values, 64, PENSTOCK_FORWARD));
}

static void test_frequency_tables(const char *folder, const penstock_cf32 *frame)
{
    static const struct {
        const char *name;
        int start; /* of a window free of edges */
    } tables[] = {
        {"G2.dat", 16},
        {"G5.dat", 160 + 32},
        {"G11.dat", 320 + 16},
        {"G22.dat", 400 + 16},
    };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        penstock_cf32 want[64];
        double got[128];
        CHECK_EQ(read_table(want, 64, folder, tables[t].name), 64);
        spectrum(got, frame + tables[t].start);
        for (int k = -32; k < 32; k++)
            check_printed(tables[t].name, k, (penstock_cf32){(float)got[2 * (k & 63)], (float)got[2 * (k & 63) + 1]},
                          want[k + 32]);
    }
}

static void test_short_period(const char *folder, const penstock_cf32 *frame)
{
    penstock_cf32 want[64];
    CHECK_EQ(read_table(want, 64, folder, "G3.dat"), 64);
    for (int i = 0; i < 64; i++)
        check_printed("G3.dat", i, standard_level(frame[16 + i]), want[i]);
}

static void test_annex_g(const char *folder)
{
    penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 36);
    static penstock_cf32 frame[EXAMPLE_SAMPLES];
    uint8_t psdu[100];
    example_psdu(psdu);
    CHECK_EQ(penstock_wifi_frame_samples(&desc, sizeof psdu), EXAMPLE_SAMPLES);
    CHECK_OK(penstock_wifi_modulate(&desc, psdu, sizeof psdu, frame));
    test_time_tables(folder, frame);
    test_frequency_tables(folder, frame);
    test_short_period(folder, frame);
}

int main(void)
{
    const char *folder = test_recordings();
    if (!folder)
        return 77;
    test_annex_g(folder);
    return test_finish();
}
