/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The replay device as any SoapySDR program sees it: hidden unless asked for, time stamps, flags, sensors, the end. */
#include "files.h"

#include <SoapySDR/Device.h>
#include <SoapySDR/Errors.h>
#include <SoapySDR/Formats.h>

#define SAMPLES 50000
#define WAIT_US 100000

static int16_t recorded[2 * SAMPLES], got[2 * SAMPLES];

static SoapySDRDevice *make(const char *arguments)
{
    char text[1024];
    SoapySDRDevice *device;
    snprintf(text, sizeof text, "driver=replay,path=%s,format=cs16,rate=1e6,%s", test_path("recording"), arguments);
    device = SoapySDRDevice_makeStrArgs(text);
    CHECK(device, "%s: %s", text, SoapySDRDevice_lastError());
    return device;
}

static SoapySDRStream *start(SoapySDRDevice *device, const char *format)
{
    SoapySDRStream *stream = SoapySDRDevice_setupStream(device, SOAPY_SDR_RX, format, NULL, 0, NULL);
    CHECK(stream, "%s", SoapySDRDevice_lastError());
    CHECK_EQ(SoapySDRDevice_activateStream(device, stream, 0, 0, 0), 0);
    return stream;
}

static void stop(SoapySDRDevice *device, SoapySDRStream *stream)
{
    CHECK_EQ(SoapySDRDevice_deactivateStream(device, stream, 0, 0), 0);
    CHECK_EQ(SoapySDRDevice_closeStream(device, stream), 0);
    CHECK_EQ(SoapySDRDevice_unmake(device), 0);
}

static void shows_itself_only_on_request(void)
{
    static const char *const silent[] = {"", "driver=replay", "path=x", "driver=rtlsdr,path=x"};
    size_t count = 99;
    SoapySDRKwargs *found;
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        found = SoapySDRDevice_enumerateStrArgs(silent[i], &count);
        for (size_t k = 0; k < count; k++)
            CHECK(strcmp(SoapySDRKwargs_get(&found[k], "driver"), "replay") != 0, "'%s' shows it", silent[i]);
        SoapySDRKwargsList_clear(found, count);
        CHECK(count < 99, "enumerated");
    }
    found = SoapySDRDevice_enumerateStrArgs("driver=replay,path=x", &count);
    CHECK_EQ(count, 1);
    SoapySDRKwargsList_clear(found, count);
}

static void stamps_and_end(void)
{
    SoapySDRDevice *device = make("pace=fast,time=1000000000123,overflow_at=20000,overflow=1234");
    SoapySDRStream *stream = start(device, SOAPY_SDR_CS16);
    size_t position = 0, lost = 0, ends = 0;
    uint64_t seed = 4;
    char *ended;
    for (int turn = 0; turn < 10000; turn++) {
        size_t n = test_random(&seed) % 3000 + 1;
        void *const buffers[] = {got};
        long long time_ns = -1;
        int flags = -1;
        int count = SoapySDRDevice_readStream(device, stream, buffers, n, &flags, &time_ns, WAIT_US);
        if (count == SOAPY_SDR_OVERFLOW) {
            CHECK_EQ(position, 20000);
            position += 1234;
            lost++;
        } else if (count > 0) {
            CHECK_EQ(flags, SOAPY_SDR_HAS_TIME);
            CHECK_EQ(time_ns, 1000000000123LL + (long long)position * 1000);
            CHECK(!memcmp(got, recorded + 2 * position, (size_t)count * 4), "from sample %zu on", position);
            position += (size_t)count;
        } else if (count == 0) {
            CHECK_EQ(flags, SOAPY_SDR_END_BURST);
            ends++;
        } else {
            CHECK_EQ(count, SOAPY_SDR_STREAM_ERROR);
            break;
        }
    }
    CHECK_EQ(position, SAMPLES);
    CHECK_EQ(lost, 1);
    CHECK_EQ(ends, 1);
    ended = SoapySDRDevice_readSensor(device, "ended");
    CHECK(ended && !strcmp(ended, "true"), "%s", ended);
    SoapySDR_free(ended);
    stop(device, stream);
}

/* A call with no time may not be given an event: a server that polls would lose the samples of the call before. */
static void events_wait_for_a_caller_who_waits(void)
{
    SoapySDRDevice *device = make("pace=fast,overflow_at=100,overflow=10");
    SoapySDRStream *stream = start(device, SOAPY_SDR_CS16);
    void *const buffers[] = {got};
    long long time_ns;
    int flags;
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, WAIT_US), 100);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, 0), SOAPY_SDR_TIMEOUT);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, WAIT_US), SOAPY_SDR_OVERFLOW);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, SAMPLES, &flags, &time_ns, WAIT_US), SAMPLES - 110);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, 0), SOAPY_SDR_TIMEOUT);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, WAIT_US), 0);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, WAIT_US),
             SOAPY_SDR_STREAM_ERROR);
    /* started again, it plays again */
    CHECK_EQ(SoapySDRDevice_deactivateStream(device, stream, 0, 0), 0);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, 1000, &flags, &time_ns, 0), SOAPY_SDR_TIMEOUT);
    CHECK_EQ(SoapySDRDevice_activateStream(device, stream, 0, 0, 0), 0);
    CHECK_EQ(SoapySDRDevice_readStream(device, stream, buffers, SAMPLES, &flags, &time_ns, WAIT_US), SAMPLES);
    CHECK(!memcmp(got, recorded, sizeof recorded), "the recording again");
    stop(device, stream);
}

/* In real time there is nothing yet for a caller who does not wait, and never more than has been on air. */
static void pace(void)
{
    SoapySDRDevice *device = make("loop=1");
    SoapySDRStream *stream;
    void *const buffers[] = {got};
    long long time_ns;
    char *value;
    int flags, count;
    stream = start(device, SOAPY_SDR_CS16);
    count = SoapySDRDevice_readStream(device, stream, buffers, 1, &flags, &time_ns, WAIT_US);
    CHECK_EQ(count, 1);
    value = SoapySDRDevice_readSetting(device, "pace");
    CHECK(value && !strcmp(value, "realtime"), "%s", value);
    SoapySDR_free(value);
    CHECK(SoapySDRDevice_writeSetting(device, "pace", "slow") != 0, "no such pace");
    CHECK_EQ(SoapySDRDevice_writeSetting(device, "pace", "fast"), 0);
    count = SoapySDRDevice_readStream(device, stream, buffers, SAMPLES, &flags, &time_ns, 0);
    CHECK_EQ(count, SAMPLES);
    CHECK_EQ(SoapySDRDevice_writeSetting(device, "pace", "realtime"), 0);
    count = SoapySDRDevice_readStream(device, stream, buffers, SAMPLES, &flags, &time_ns, 10 * WAIT_US);
    CHECK(count > 0, "%d", count);
    stop(device, stream);
}

static void settings(void)
{
    SoapySDRDevice *device = make("frequency=5.2e9");
    CHECK(SoapySDRDevice_getFrequency(device, SOAPY_SDR_RX, 0) == 5.2e9, "tuned");
    CHECK_EQ(SoapySDRDevice_setFrequency(device, SOAPY_SDR_RX, 0, 2.4e9, NULL), 0);
    CHECK(SoapySDRDevice_getFrequency(device, SOAPY_SDR_RX, 0) == 2.4e9, "retuned");
    CHECK_EQ(SoapySDRDevice_setSampleRate(device, SOAPY_SDR_RX, 0, 1e6), 0);
    CHECK(SoapySDRDevice_setSampleRate(device, SOAPY_SDR_RX, 0, 2e6) != 0, "another rate");
    CHECK(SoapySDRDevice_setAntenna(device, SOAPY_SDR_RX, 0, "TX") != 0, "another antenna");
    CHECK_EQ(SoapySDRDevice_setGain(device, SOAPY_SDR_RX, 0, 33.0), 0);
    CHECK(SoapySDRDevice_getGain(device, SOAPY_SDR_RX, 0) == 33.0, "gain");
    CHECK_EQ(SoapySDRDevice_getNumChannels(device, SOAPY_SDR_TX), 0);
    CHECK(!SoapySDRDevice_setupStream(device, SOAPY_SDR_TX, SOAPY_SDR_CS16, NULL, 0, NULL), "no transmitter");
    CHECK(!SoapySDRDevice_setupStream(device, SOAPY_SDR_RX, "CS12", NULL, 0, NULL), "no such format");
    CHECK_EQ(SoapySDRDevice_unmake(device), 0);
}

int main(void)
{
    uint64_t seed = 1;
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        recorded[i] = (int16_t)test_random(&seed);
    test_write_file("recording", recorded, sizeof recorded);
    shows_itself_only_on_request();
    stamps_and_end();
    events_wait_for_a_caller_who_waits();
    pace();
    settings();
    test_remove_folder();
    return test_finish();
}
