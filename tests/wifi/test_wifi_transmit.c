/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The transmitter at every rate and profile: lengths, power, guard intervals, arguments. */
#include "core/base/memory.h"

#include <penstock/wifi.h>

#include "test.h"

/* Table 17-4: N_DBPS by rate; a frame has ceil((16 + 8 length + 6) / N_DBPS) symbols after 400 samples. */
static void test_frame_samples(void)
{
    static const struct {
        double mbps;
        size_t bits;
    } rates[] = {{6, 24}, {9, 36}, {12, 48}, {18, 72}, {24, 96}, {36, 144}, {48, 192}, {54, 216}};
    static const double clocks[] = {1, 0.5, 0.25};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (int profile = 0; profile < 3; profile++)
            for (size_t length = 1; length <= 4095; length += length < 40 ? 1 : 169) {
                size_t symbols = (16 + 8 * length + 6 + rates[r].bits - 1) / rates[r].bits;
                penstock_wifi_transmit_desc desc =
                    PENSTOCK_WIFI_TRANSMIT_DESC(.profile = (penstock_wifi_profile)profile,
                                                .mbps = rates[r].mbps * clocks[profile]);
                CHECK_EQ(penstock_wifi_frame_samples(&desc, length), 400 + 80 * symbols + 1);
            }
}

/* Every rate: mean power of the data symbols, guard intervals that repeat the symbol's end, nothing past the end. */
static void test_every_rate(void)
{
    static const double mbps[] = {6, 9, 12, 18, 24, 36, 48, 54};
    static uint8_t psdu[1500];
    static penstock_cf32 frame[80 * 600];
    uint64_t state = 17;
    for (size_t i = 0; i < sizeof psdu; i++)
        psdu[i] = (uint8_t)test_random(&state);
    for (size_t r = 0; r < sizeof mbps / sizeof *mbps; r++) {
        penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps[r], .scrambler_seed = 5);
        size_t count = penstock_wifi_frame_samples(&desc, sizeof psdu);
        double power = 0;
        CHECK(count && count < sizeof frame / sizeof *frame, "%zu samples", count);
        frame[count] = (penstock_cf32){1e9f, -1e9f};
        CHECK_OK(penstock_wifi_modulate(&desc, psdu, sizeof psdu, frame));
        CHECK(frame[count].re == 1e9f && frame[count].im == -1e9f, "written past the end");
        for (size_t i = 400; i < count - 1; i++)
            power += (double)frame[i].re * frame[i].re + (double)frame[i].im * frame[i].im;
        power /= (double)(count - 401);
        CHECK(fabs(power - 1) < 0.02, "mean power %.4f at %g Mb/s", power, mbps[r]);
        for (size_t symbol = 320; symbol + 80 < count; symbol += 80)
            for (size_t i = 1; i < 16; i++) {
                penstock_cf32 a = frame[symbol + i], b = frame[symbol + i + 64];
                CHECK(fabs(a.re - b.re) < 1e-6 && fabs(a.im - b.im) < 1e-6, "guard interval at %zu", symbol + i);
            }
    }
}

static void test_profiles(void)
{
    static const char *const names[] = {"wifi", "wifi-10mhz", "wifi-5mhz"};
    static const double rates[] = {20e6, 10e6, 5e6};
    penstock_wifi_profile profile = PENSTOCK_WIFI;
    for (int i = 0; i < 3; i++) {
        CHECK_OK(penstock_wifi_profile_parse(&profile, names[i]));
        CHECK_EQ(profile, i);
        CHECK(penstock_wifi_rate_hz(profile) == rates[i], "%g Hz", penstock_wifi_rate_hz(profile));
    }
    CHECK_EQ(penstock_wifi_profile_parse(&profile, "wifi-40mhz"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_profile_parse(&profile, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_profile_parse(NULL, "wifi"), PENSTOCK_ERR_ARGUMENT);
    CHECK(penstock_wifi_rate_hz((penstock_wifi_profile)3) == 0, "a profile that does not exist has a rate");
}

/* The 10 MHz profile sends the same samples at half the rate. */
static void test_half_clock(void)
{
    static penstock_cf32 full[2000], half[2000];
    static const uint8_t psdu[50] = {1, 2, 3};
    penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 12, .scrambler_seed = 93);
    penstock_wifi_transmit_desc slow = PENSTOCK_WIFI_TRANSMIT_DESC(.profile = PENSTOCK_WIFI_10MHZ, .mbps = 6);
    size_t count = penstock_wifi_frame_samples(&desc, sizeof psdu);
    CHECK_EQ(penstock_wifi_frame_samples(&slow, sizeof psdu), count);
    CHECK_OK(penstock_wifi_modulate(&desc, psdu, sizeof psdu, full));
    CHECK_OK(penstock_wifi_modulate(&slow, psdu, sizeof psdu, half));
    CHECK(!memcmp(full, half, count * sizeof *full), "samples differ");
}

static void test_bad_arguments(void)
{
    static penstock_cf32 frame[4000];
    static const uint8_t psdu[100];
    penstock_wifi_transmit_desc good = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 6);
    const penstock_wifi_transmit_desc wrong[] = {
        PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 7),
        PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = -6),
        PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = NAN),
        PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 54, .profile = PENSTOCK_WIFI_10MHZ),
        PENSTOCK_WIFI_TRANSMIT_DESC(.profile = (penstock_wifi_profile)3),
        PENSTOCK_WIFI_TRANSMIT_DESC(.scrambler_seed = 128),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(penstock_wifi_modulate(&wrong[i], psdu, 100, frame), PENSTOCK_ERR_ARGUMENT);
        CHECK(*penstock_error_text(), "no text for case %zu", i);
        CHECK_EQ(penstock_wifi_frame_samples(&wrong[i], 100), 0);
    }
    CHECK_EQ(penstock_wifi_modulate(NULL, psdu, 100, frame), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_modulate(&good, NULL, 100, frame), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_modulate(&good, psdu, 100, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_modulate(&good, psdu, 0, frame), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_modulate(&good, psdu, 4096, frame), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_wifi_frame_samples(&good, 0), 0);
    CHECK_EQ(penstock_wifi_frame_samples(&good, 4096), 0);
    CHECK_EQ(penstock_wifi_frame_samples(NULL, 100), 0);
}

static void test_allocation_failures(void)
{
    static penstock_cf32 frame[4000];
    static const uint8_t psdu[100];
    penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 6);
    long before = penstock__memory_live(), k = 0;
    int status;
    do {
        penstock__memory_fail_at(k++);
        status = penstock_wifi_modulate(&desc, psdu, sizeof psdu, frame);
        penstock__memory_fail_at(-1);
        CHECK(status == PENSTOCK_OK || status == PENSTOCK_ERR_MEMORY, "status %d at allocation %ld", status, k - 1);
        CHECK_EQ(penstock__memory_live(), before);
    } while (status && k < 100);
    CHECK(k >= 5, "only %ld allocations", k - 1);
    CHECK_EQ(status, PENSTOCK_OK);
}

int main(void)
{
    test_frame_samples();
    test_every_rate();
    test_profiles();
    test_half_clock();
    test_bad_arguments();
    test_allocation_failures();
    return test_finish();
}
