/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The client of soapy_remote.sh: a recording played by a SoapySDR server comes out byte for byte. */
#include "files.h"

#define SAMPLES 1000003

static uint8_t bytes[SAMPLES * 4], out[SAMPLES * 4];
static const char *url;

static long long play(const char *arguments, penstock_source_desc desc, penstock_source_counters *counters)
{
    char name[1024];
    penstock_source *source;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    long long samples;
    snprintf(name, sizeof name, "soapy:driver=remote,remote=%s,remote:prot=tcp,remote:driver=replay,path=%s%s", url,
             test_path("recording.sigmf-meta"), arguments);
    *counters = PENSTOCK_SOURCE_COUNTERS;
    CHECK_OK(penstock_source_open(&source, NULL, name, &desc));
    if (!source)
        return PENSTOCK_ERR_RADIO;
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.format == PENSTOCK_CS16 && info.rate_hz == 20e6 && info.frequency_hz == 5.2e9, "%d, %g, %g",
          (int)info.format, info.rate_hz, info.frequency_hz);
    samples = test_read_source(source, out, 4, SAMPLES, 10000, 1);
    CHECK(samples >= 0, "%s", penstock_error_text());
    CHECK_OK(penstock_source_get_counters(source, counters));
    penstock_source_free(source);
    return samples;
}

int main(int argc, char **argv)
{
    penstock_source_counters counters;
    uint64_t seed = 1;
    if (argc != 2)
        return test_skip("run by soapy_remote.sh with the server's address");
    url = argv[1];
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    test_random_bytes(bytes, sizeof bytes, &seed);
    test_write_file("recording.sigmf-data", bytes, sizeof bytes);
    test_write_text("recording.sigmf-meta", "{\"global\": {\"core:datatype\": \"ci16_le\", \"core:sample_rate\": 2e7},"
                                            " \"captures\": [{\"core:frequency\": 5.2e9}]}");

    CHECK_EQ(play(",pace=fast", PENSTOCK_SOURCE_DESC(), &counters), SAMPLES);
    CHECK(!memcmp(out, bytes, sizeof bytes), "as fast as it is read");
    CHECK_EQ(counters.overflows + counters.timeouts + counters.reconnects, 0);

    CHECK_EQ(
        play("", PENSTOCK_SOURCE_DESC(.rate_hz = 20e6, .antenna = "RX", .gain_set = true, .gain_db = 20), &counters),
        SAMPLES);
    CHECK(!memcmp(out, bytes, sizeof bytes), "in real time");

    CHECK_EQ(play(",pace=fast,overflow_at=500000,overflow=1003", PENSTOCK_SOURCE_DESC(), &counters), SAMPLES - 1003);
    CHECK(!memcmp(out, bytes, 500000 * 4), "before the overflow");
    CHECK(!memcmp(out + 500000 * 4, bytes + 501003 * 4, (SAMPLES - 501003) * 4), "behind the overflow");
    CHECK_EQ(counters.overflows, 1);
    CHECK_EQ(counters.lost_samples, 1003);
    test_remove_folder();
    return test_finish();
}
