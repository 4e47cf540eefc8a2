/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Real and transmitted frames in white noise, detection included: packet error rate of at most 10 % at the signal to
 * noise ratios that the project promises; and noise alone, in which no frame may be found. PENSTOCK_TEST_FULL=1: 400
 * frames a rate and 1e8 samples of noise.
 */
#include "wifi_frames.h"
#include "wifi_recordings.h"

#define LENGTH 138

static bool full;

struct pool {
    size_t count;
    struct {
        penstock_cf32 *samples;
        size_t count;
        uint8_t psdu[LENGTH];
        double power;
    } frame[24];
};

static void add_to_pool(struct pool *pool, penstock_cf32 *samples, size_t count, const uint8_t *psdu)
{
    double power = 0;
    for (size_t i = 0; i < count; i++)
        power += pow(samples[i].re, 2) + pow(samples[i].im, 2);
    pool->frame[pool->count].samples = samples;
    pool->frame[pool->count].count = count;
    pool->frame[pool->count].power = power / (double)count;
    memcpy(pool->frame[pool->count++].psdu, psdu, LENGTH);
}

static void pool_free(struct pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        free(pool->frame[i].samples);
    pool->count = 0;
}

/* The conducted 802.11a frames of a rate. */
static void record_pool(struct pool *pool, const char *folder, double mbps)
{
    static struct wifi_truth rows[WIFI_MAX_ROWS];
    size_t row_count = wifi_truth_read(rows, folder);
    struct wifi_recording recording = {0};
    for (size_t i = 0; i < row_count && pool->count < 24; i++) {
        const struct wifi_truth *row = &rows[i];
        if (!strstr(row->file, "conducted/dot11a") || row->mbps != mbps || row->length != LENGTH || !row->fcs_ok)
            continue;
        CHECK(wifi_recording_read(&recording, folder, row->file), "%s cannot be read", row->file);
        uint8_t psdu[LENGTH];
        for (size_t k = 0; k < LENGTH; k++) {
            unsigned value = 0;
            sscanf(row->psdu + 2 * k, "%2x", &value);
            psdu[k] = (uint8_t)value;
        }
        size_t count = penstock_wifi_frame_samples(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps), LENGTH) - 1;
        penstock_cf32 *samples = calloc(count, sizeof *samples);
        size_t there = recording.count - (size_t)row->start < count ? recording.count - (size_t)row->start : count;
        memcpy(samples, recording.samples + row->start, there * sizeof *samples);
        add_to_pool(pool, samples, count, psdu);
        wifi_recording_free(&recording);
    }
}

static void transmit_pool(struct pool *pool, double mbps)
{
    uint64_t state = 11;
    while (pool->count < 20) {
        uint8_t psdu[LENGTH];
        size_t count;
        wifi_psdu(psdu, LENGTH, &state);
        penstock_cf32 *samples =
            wifi_transmit(&PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps, .scrambler_seed = 1 + (unsigned)pool->count), psdu,
                          LENGTH, 0, 0, &count);
        add_to_pool(pool, samples, count - 1, psdu);
    }
}

static void test_point(penstock_stream *receiver, const struct pool *pool, double mbps, double snr_db)
{
    static struct wifi_frames frames;
    const size_t wanted = full ? 400 : 60;
    uint64_t state = (uint64_t)(mbps * 1000);
    size_t good = 0;
    CHECK_OK(penstock_stream_reset(receiver));
    for (size_t i = 0; i < wanted; i++) {
        size_t number = i % pool->count, count = pool->frame[number].count;
        size_t before = 600 + test_random(&state) % 200, total = before + count + 1000;
        penstock_cf32 *stream = calloc(total, sizeof *stream);
        float level = (float)(1 / sqrt(pool->frame[number].power));
        for (size_t k = 0; k < count; k++) {
            stream[before + k].re = level * pool->frame[number].samples[k].re;
            stream[before + k].im = level * pool->frame[number].samples[k].im;
        }
        wifi_add_noise(stream, total, pow(10, -snr_db / 10), &state);
        CHECK_OK(penstock_stream_reset(receiver));
        wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, stream, total, 0);
        for (size_t k = 0; k < frames.count; k++)
            good += frames.frame[k].fcs_ok && frames.frame[k].length == LENGTH &&
                    !memcmp(frames.frame[k].psdu, pool->frame[number].psdu, LENGTH);
        wifi_frames_free(&frames);
        free(stream);
    }
    printf("%g Mb/s at %.1f dB: %zu of %zu frames\n", mbps, snr_db, good, wanted);
    CHECK(good * 10 >= wanted * 9, "%zu of %zu frames", good, wanted);
}

static void test_noise(penstock_stream *receiver)
{
    static struct wifi_frames frames;
    const size_t block = (size_t)1 << 20, blocks = full ? 96 : 5;
    penstock_cf32 *samples = malloc(block * sizeof *samples);
    uint64_t state = 77;
    CHECK_OK(penstock_stream_reset(receiver));
    for (size_t i = 0; i < blocks; i++) {
        memset(samples, 0, block * sizeof *samples);
        wifi_add_noise(samples, block, 1, &state);
        CHECK_OK(penstock_stream_push(receiver, samples, block, NULL));
        wifi_frames_pull(&frames, receiver);
    }
    CHECK_OK(penstock_stream_finish(receiver));
    wifi_frames_pull(&frames, receiver);
    printf("%zu samples of noise: %" PRIu64 " triggers, %" PRIu64 " long training fields, %zu good frames\n",
           blocks * block, frames.counters.triggers, frames.counters.synchronised, wifi_frames_good(&frames));
    CHECK_EQ(wifi_frames_good(&frames), 0);
    CHECK(frames.counters.triggers <= 2 + blocks * block / 500000, "%" PRIu64 " triggers", frames.counters.triggers);
    wifi_frames_free(&frames);
    free(samples);
}

int main(void)
{
    static const struct {
        double mbps, snr_db;
        bool recorded;
    } points[] = {{6, 1.3, true},   {12, 4.9, true}, {18, 7.7, true},   {24, 10.2, true},
                  {48, 17.8, true}, {9, 4.0, false}, {36, 13.9, false}, {54, 19.8, false}};
    const char *folder = test_recordings(), *mode = getenv("PENSTOCK_TEST_FULL");
    penstock_context *context = NULL;
    penstock_stream *receiver = NULL;
    full = mode && *mode == '1';
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(
        penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.max_latency_s = 5e-4), "cpu"));
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        static struct pool pool;
        if (points[i].recorded && !folder)
            continue;
        if (points[i].recorded)
            record_pool(&pool, folder, points[i].mbps);
        else
            transmit_pool(&pool, points[i].mbps);
        CHECK(pool.count >= 8, "%zu frames with %g Mb/s", pool.count, points[i].mbps);
        test_point(receiver, &pool, points[i].mbps, points[i].snr_db);
        pool_free(&pool);
    }
    test_noise(receiver);
    penstock_stream_free(receiver);
    penstock_context_free(context);
    return test_finish();
}
