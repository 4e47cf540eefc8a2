/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The table of cases: its texts, how many there are, and the reference that they are judged by. */
#include "cases/cases.h"
#include "cases/reference_dft.h"
#include "frames/mac.h"
#include "test.h"

struct tally {
    size_t count, duplicates;
    char texts[8192][CASE_TEXT];
};

static int count_case(void *argument, const char *text)
{
    struct tally *tally = argument;
    struct test_case test;
    CHECK(!case_parse(&test, text), "the list has '%s'", text);
    CHECK(!strcmp(test.text, text), "'%s' is kept as '%s'", text, test.text);
    for (size_t i = 0; i < tally->count && i < 100; i++)
        tally->duplicates += !strcmp(tally->texts[i], text) && strncmp(text, "fft:", 4);
    if (tally->count < 8192)
        snprintf(tally->texts[tally->count], CASE_TEXT, "%s", text);
    tally->count++;
    return 0;
}

/* 4096 lengths and 68 + 44 longer ones on the CPU and on OpenCL, 1024 lengths on the reference, forward and reverse. */
static void test_lists(void)
{
    static struct tally tally;
    enum { QUICK = 62 + 8 + 12 + 10 + 7 + 7 + 8 + 11 + 14 + 9 + 7 }; /* fft, spectrum, filter, ..., ldpc */
    static const struct {
        const char *device;
        bool full;
        size_t count;
    } lists[] = {{"cpu", false, QUICK},
                 {"cpu", true, QUICK + 2 * (4096 + 68 + 44)},
                 {"opencl:0", true, QUICK + 2 * (4096 + 68 + 44)},
                 {"reference", false, QUICK},
                 {"reference", true, QUICK + 2 * 1024}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        tally.count = tally.duplicates = 0;
        CHECK_EQ(case_list_check(lists[i].device, lists[i].full, count_case, &tally), 0);
        CHECK(tally.count == lists[i].count, "%s has %zu cases, not %zu", lists[i].device, tally.count, lists[i].count);
        CHECK_EQ(tally.duplicates, 0);
    }
    tally.count = 0;
    case_list_bench(count_case, &tally);
    CHECK(tally.count >= 10, "bench has only %zu cases", tally.count);
}

static int stop_at_third(void *argument, const char *text)
{
    (void)text;
    return ++*(size_t *)argument == 3 ? 7 : 0;
}

static void test_meaning(void)
{
    struct test_case test;
    size_t visited = 0;
    CHECK_EQ(case_list_check("cpu", true, stop_at_third, &visited), 7);
    CHECK_EQ(visited, 3);
    CHECK_EQ(case_parse(&test, "fft:100:kaiser=8.6:cs8:decibel:avg3:skip7:centered:reverse:x12"), 0);
    CHECK_EQ(test.fft.n, 100);
    CHECK(!test.fft.tuned, "tuned without the word");
    CHECK(!case_parse(&test, "fft:64:tuned") && test.fft.tuned, "fft:64:tuned");
    CHECK_EQ(case_parse(&test, "fft:100:kaiser=8.6:cs8:decibel:avg3:skip7:centered:reverse:x12"), 0);
    CHECK(!strcmp(test.fft.window, "kaiser:8.6"), "window %s", test.fft.window);
    CHECK_EQ(test.fft.format, PENSTOCK_CS8);
    CHECK_EQ(test.fft.output, PENSTOCK_OUTPUT_DECIBEL);
    CHECK_EQ(test.fft.average, 3);
    CHECK_EQ(test.fft.skip, 7);
    CHECK_EQ(test.fft.batch, 12);
    CHECK_EQ(test.fft.direction, PENSTOCK_REVERSE);
    CHECK(test.fft.centered, "not centered");
    CHECK_EQ(case_parse(&test, "synthesizer:60:t8:keep5:acquire:x9000"), 0);
    CHECK(test.channelizer.synthesis && test.channelizer.acquire && !test.channelizer.streams, "no synthesis bank");
    CHECK_EQ(test.channelizer.hop, 30);
    CHECK_EQ(test.channelizer.depth, 8);
    CHECK_EQ(test.channelizer.keep, 5);
    CHECK_EQ(test.channelizer.samples, 9000);
    CHECK(!case_parse(&test, "channelizer:60") && !test.channelizer.synthesis, "channelizer:60");
    CHECK_EQ(test.channelizer.hop, 60);
    CHECK_EQ(case_parse(&test, "receive:wifi-5mhz:13.5"), 0);
    CHECK_EQ(test.receive.profile, PENSTOCK_WIFI_5MHZ);
    CHECK(test.receive.mbps == 13.5, "%g Mb/s", test.receive.mbps);
    CHECK_EQ(case_parse(&test, "receive:wifi:chunk79"), 0);
    CHECK_EQ(test.receive.chunk, 79);
    CHECK_EQ(test.receive.mode, RECEIVE_CHUNKS);
    CHECK_EQ(case_parse(&test, "chain:filter:ccc:65:d4:cs16:x5000+spectrum:256:hop64:avg3:power"), 0);
    CHECK_EQ(test.chain.filter.taps, 65);
    CHECK_EQ(test.chain.filter.decimation, 4);
    CHECK_EQ(test.chain.filter.samples, 5000);
    CHECK_EQ(test.chain.filter.format, PENSTOCK_CS16);
    CHECK_EQ(test.chain.spectrum.n, 256);
    CHECK_EQ(test.chain.spectrum.hop, 64);
    CHECK_EQ(test.chain.spectrum.average, 3);
    CHECK(!test.chain.has_bank, "a filter is taken for a filter bank");
    CHECK(!test.chain.filter.enqueue, "a chain is enqueued unasked");
    CHECK_EQ(case_parse(&test, "chain:filter:ccf:65:enqueue+spectrum:256"), 0);
    CHECK(test.chain.filter.enqueue, "a chain is not enqueued");
    CHECK_EQ(case_parse(&test, "chain:channelizer:60:hop45:enqueue+spectrum:256:hop64"), 0);
    CHECK(test.chain.has_bank && test.chain.bank.enqueue, "a filter bank is not taken for one");
    CHECK_EQ(test.chain.bank.hop, 45);
    CHECK_EQ(test.chain.spectrum.channels, 60);
    CHECK_EQ(case_parse(&test, "chain:ofdm:wifi:qam16:cs16:enqueue:x70+viterbi:wifi:3/4:500"), 0);
    CHECK(test.chain.is_coded && test.chain.coded.enqueue && !test.chain.coded.acquire, "no coded chain, enqueued");
    CHECK(test.chain.coded.ofdm.integers && test.chain.coded.ofdm.symbols == 70, "other symbols");
    CHECK(!strcmp(test.chain.coded.viterbi.code, "wifi:3/4"), "code %s", test.chain.coded.viterbi.code);
    CHECK_EQ(test.chain.coded.viterbi.bits, 500);
}

/* Pairs known without computing: an impulse, a tone, and a constant. */
static void test_reference(void)
{
    enum { N = 12 };
    struct reference_dft dft;
    double in[2 * N] = {0}, out[2];
    CHECK(reference_dft_init(&dft, N), "no memory");
    in[2 * 1] = 1; /* an impulse at 1 turns by -1/12 a bin */
    for (size_t k = 0; k < N; k++) {
        reference_dft_bin(&dft, in, false, k, out);
        double angle = -6.28318530717958647692 * (double)k / N;
        CHECK(hypot(out[0] - cos(angle), out[1] - sin(angle)) < 1e-15, "bin %zu", k);
    }
    for (size_t j = 0; j < N; j++) { /* three turns in the frame, reversed it comes out at bin N - 3 */
        in[2 * j] = cos(6.28318530717958647692 * 3.0 * (double)j / N);
        in[2 * j + 1] = sin(6.28318530717958647692 * 3.0 * (double)j / N);
    }
    for (size_t k = 0; k < N; k++) {
        reference_dft_bin(&dft, in, false, k, out);
        CHECK(hypot(out[0] - (k == 3 ? N : 0), out[1]) < 1e-13, "bin %zu", k);
        reference_dft_bin(&dft, in, true, k, out);
        CHECK(hypot(out[0] - (k == N - 3 ? N : 0), out[1]) < 1e-13, "reverse bin %zu", k);
    }
    reference_dft_free(&dft);
}

static void check_header(const uint8_t *psdu, size_t length, const char *type, const char *source,
                         const char *destination)
{
    char text[MAC_TEXT_BYTES];
    struct mac_header header = mac_parse(psdu, length);
    CHECK(!strcmp(header.type, type), "type '%s', expected '%s'", header.type, type);
    CHECK(!strcmp(mac_text(text, header.source), source), "source %s, expected %s", text, source);
    CHECK(!strcmp(mac_text(text, header.destination), destination), "destination %s, expected %s", text, destination);
}

/* IEEE 802.11-2020 table 9-30: which address is which depends on the directions. */
static void test_mac(void)
{
    uint8_t psdu[34] = {0x08, 0};
    for (size_t i = 0; i < 6; i++) {
        psdu[4 + i] = 0x11;
        psdu[10 + i] = 0x22;
        psdu[16 + i] = 0x33;
        psdu[24 + i] = 0x44;
    }
    const char *const a1 = "11:11:11:11:11:11", *const a2 = "22:22:22:22:22:22", *const a3 = "33:33:33:33:33:33",
                      *const a4 = "44:44:44:44:44:44";
    check_header(psdu, sizeof psdu, "data", a2, a1);
    psdu[1] = 1; /* to the distribution system */
    check_header(psdu, sizeof psdu, "data", a2, a3);
    psdu[1] = 2; /* from it */
    check_header(psdu, sizeof psdu, "data", a3, a1);
    psdu[1] = 3;
    check_header(psdu, sizeof psdu, "data", a4, a3);
    psdu[0] = 0x88;
    check_header(psdu, sizeof psdu, "QoS data", a4, a3);
    psdu[0] = 0xd4;
    check_header(psdu, 14, "ACK", "-", a1);
    psdu[0] = 0xb4;
    check_header(psdu, 20, "RTS", a2, a1);
    psdu[0] = 0x80;
    check_header(psdu, sizeof psdu, "beacon", a2, a1);
    check_header(psdu, 10, "too short", "-", "-");
}

int main(void)
{
    test_lists();
    test_meaning();
    test_reference();
    test_mac();
    return test_finish();
}
