/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The receiver on real signals: every legacy frame byte for byte on each device, in any chunks, format and level, and
 * with a DC offset; HT frames recognised.
 */
#include "wifi_frames.h"
#include "wifi_recordings.h"

static struct wifi_truth rows[WIFI_MAX_ROWS];
static size_t row_count;
static bool seen[WIFI_MAX_ROWS];

struct totals {
    size_t legacy, ht, two_streams, more;
    uint64_t triggers;
};

static const struct wifi_truth *row_at(const char *file, uint64_t sample)
{
    for (size_t i = 0; i < row_count; i++)
        if (!strcmp(rows[i].file, file) && labs(rows[i].start - (long)sample) <= 4)
            return &rows[i];
    return NULL;
}

static bool psdu_equal(const penstock_wifi_frame *frame, const struct wifi_truth *row)
{
    char hex[3];
    if (frame->length != row->length || strlen(row->psdu) != 2 * (size_t)frame->length)
        return false;
    for (unsigned i = 0; i < frame->length; i++) {
        snprintf(hex, sizeof hex, "%02x", frame->psdu[i]);
        if (memcmp(hex, row->psdu + (size_t)2 * i, 2) != 0)
            return false;
    }
    return true;
}

static void judge(struct totals *totals, const char *file, const struct wifi_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++) {
        const penstock_wifi_frame *frame = &frames->frame[i];
        const struct wifi_truth *row = row_at(file, frame->sample);
        CHECK(frame->fcs_ok || frame->reason, "a frame at %" PRIu64 " that is not good has no reason", frame->sample);
        if (frame->fcs_ok && !row) {
            printf("further frame with a good FCS: %s, sample %" PRIu64 "\n", file, frame->sample);
            totals->more++;
        } else if (frame->fcs_ok && row->legacy && row->fcs_ok && psdu_equal(frame, row)) {
            CHECK(frame->rate_mbps == row->mbps, "%g Mb/s, expected %g", frame->rate_mbps, row->mbps);
            CHECK(fabs(frame->cfo_hz - row->cfo_hz) < 4000, "offset %.0f Hz, expected %.0f", frame->cfo_hz,
                  row->cfo_hz);
            totals->legacy += !seen[row - rows];
            seen[row - rows] = true;
        } else if (row && frame->format == PENSTOCK_WIFI_HT && frame->mcs == row->mcs && frame->length == row->length) {
            totals->ht++;
            totals->two_streams += row->mcs > 7;
        }
    }
    totals->triggers += frames->counters.triggers;
}

/* How a recording is presented. */
struct variant {
    const char *name;
    penstock_format format;
    double level; /* factor, of the recording's own level; integers: the peak's value */
    double dc;    /* of the recording's own effective value */
    size_t chunk;
};

static void *present(const struct wifi_recording *recording, const struct variant *variant)
{
    size_t count = recording->count;
    double power = 0;
    for (size_t i = 0; i < count; i++)
        power += pow(recording->samples[i].re, 2) + pow(recording->samples[i].im, 2);
    double dc = variant->dc * sqrt(power / (double)count);
    penstock_cf32 *floats = malloc(count * sizeof *floats);
    int8_t *bytes = malloc(2 * count);
    for (size_t i = 0; i < 2 * count; i++) {
        const penstock_cf32 *sample = &recording->samples[i / 2];
        double value = (double)(i % 2 ? sample->im : sample->re) + dc * (i % 2 ? -0.6 : 0.8);
        if (variant->format == PENSTOCK_CF32)
            (i % 2 ? &floats[i / 2].im : &floats[i / 2].re)[0] = (float)(value * variant->level);
        else if (variant->format == PENSTOCK_CS8)
            bytes[i] = (int8_t)lrint(value / (double)recording->peak * variant->level);
        else
            ((uint8_t *)bytes)[i] = (uint8_t)lrint(value / (double)recording->peak * variant->level + 127.5);
    }
    free(variant->format == PENSTOCK_CF32 ? (void *)bytes : (void *)floats);
    return variant->format == PENSTOCK_CF32 ? (void *)floats : (void *)bytes;
}

static struct totals receive_all(penstock_context *context, const char *device, const char *folder,
                                 const struct variant *variant)
{
    static struct wifi_frames frames;
    struct totals totals = {0};
    penstock_stream *receiver = NULL;
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = variant->format),
                                         device));
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; receiver && i < row_count; i++) {
        struct wifi_recording recording;
        if (i && !strcmp(rows[i].file, rows[i - 1].file))
            continue;
        CHECK(wifi_recording_read(&recording, folder, rows[i].file), "%s cannot be read", rows[i].file);
        void *samples = present(&recording, variant);
        CHECK_OK(penstock_stream_reset(receiver));
        wifi_frames_receive(&frames, receiver, variant->format, samples, recording.count, variant->chunk);
        judge(&totals, rows[i].file, &frames);
        wifi_frames_free(&frames);
        free(samples);
        wifi_recording_free(&recording);
    }
    penstock_stream_free(receiver);
    printf("%s, %s: %zu legacy frames, %zu HT (%zu of two streams), %" PRIu64 " triggers\n", device, variant->name,
           totals.legacy, totals.ht, totals.two_streams, totals.triggers);
    return totals;
}

static void test_variants(penstock_context *context, const char *folder)
{
    static const struct variant variants[] = {
        {"as recorded", PENSTOCK_CF32, 1, 0, 0},           {"1e-4 times the level", PENSTOCK_CF32, 1e-4, 0, 0},
        {"1e4 times the level", PENSTOCK_CF32, 1e4, 0, 0}, {"cs8, peak 64", PENSTOCK_CS8, 64, 0, 4096},
        {"cu8, peak 64", PENSTOCK_CU8, 64, 0, 79},         {"DC at the signal's level", PENSTOCK_CF32, 1, 1, 0},
    };
    uint64_t triggers = 0;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct totals totals = receive_all(context, "cpu", folder, &variants[i]);
        CHECK_EQ(totals.legacy, 200);
        CHECK_EQ(totals.ht, 71);
        CHECK_EQ(totals.two_streams, 3);
        CHECK_EQ(totals.more, 0);
        triggers = i ? triggers : totals.triggers;
        CHECK(totals.triggers <= 2 * triggers, "%s: %" PRIu64 " triggers", variants[i].name, totals.triggers);
    }
}

static void test_devices(penstock_context *context, const char *folder)
{
    static const struct variant plain = {"as recorded", PENSTOCK_CF32, 1, 0, 0};
    size_t count = 0;
    CHECK_OK(penstock_device_count(context, &count));
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        CHECK_OK(penstock_device_get(context, i, &info));
        if (info.reason || !strcmp(info.name, "null") || !strcmp(info.name, "cpu")) {
            printf("%s: %s\n", info.name, info.reason ? info.reason : "not asked here");
            continue;
        }
        struct totals totals = receive_all(context, info.name, folder, &plain);
        CHECK_EQ(totals.legacy, 200);
        CHECK_EQ(totals.ht, 71);
    }
}

/* The same frames to the bit for any chunks, and for int16 and float. */
static void test_chunks(penstock_context *context, const char *folder)
{
    static const size_t chunks[] = {1, 7, 79, 4096};
    static struct wifi_frames whole, split;
    penstock_stream *floats = NULL, *integers = NULL;
    CHECK_OK(
        penstock_wifi_receiver_open(&floats, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = PENSTOCK_CF32), "cpu"));
    CHECK_OK(penstock_wifi_receiver_open(
        &integers, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = PENSTOCK_CS16, .max_latency_s = 1e-4), "cpu"));
    for (size_t i = 0; floats && integers && i < row_count; i++) {
        struct wifi_recording recording;
        if (i && !strcmp(rows[i].file, rows[i - 1].file))
            continue;
        CHECK(wifi_recording_read(&recording, folder, rows[i].file), "%s cannot be read", rows[i].file);
        CHECK_OK(penstock_stream_reset(floats));
        wifi_frames_receive(&whole, floats, PENSTOCK_CF32, recording.samples, recording.count, 0);
        for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
            CHECK_OK(penstock_stream_reset(floats));
            wifi_frames_receive(&split, floats, PENSTOCK_CF32, recording.samples, recording.count, chunks[k]);
            CHECK(wifi_frames_equal(&whole, &split), "%s in chunks of %zu", rows[i].file, chunks[k]);
            CHECK_EQ(split.counters.triggers, whole.counters.triggers);
            wifi_frames_free(&split);
        }
        if (recording.cs16) {
            CHECK_OK(penstock_stream_reset(integers));
            wifi_frames_receive(&split, integers, PENSTOCK_CS16, recording.cs16, recording.count, 997);
            CHECK(wifi_frames_equal(&whole, &split), "%s as int16, short latency", rows[i].file);
            wifi_frames_free(&split);
        }
        wifi_frames_free(&whole);
        wifi_recording_free(&recording);
    }
    penstock_stream_free(floats);
    penstock_stream_free(integers);
}

/* The standard's worked example, IEEE 802.11a-1999 Annex G: its octets, and its FCS, which is not their CRC-32. */
static void test_annex_g(penstock_context *context, const char *folder)
{
    static const char text[] = "Joy, bright spark of divinity,\nDaughter of Elysium,\nFire-insired we trea";
    static const uint8_t fcs[] = {0xda, 0x57, 0x99, 0xed};
    static struct wifi_frames frames;
    static penstock_cf32 samples[1000];
    static char path[4400];
    size_t count = 0;
    penstock_stream *receiver = NULL;
    snprintf(path, sizeof path, "%s/wifi/annex-g/annexg_packet.dat", folder);
    FILE *file = fopen(path, "rb");
    CHECK(file, "%s cannot be read", path);
    while (file && count < 1000 && fscanf(file, "%*d %f %f", &samples[count].re, &samples[count].im) == 2)
        count++;
    if (file)
        fclose(file);
    CHECK_EQ(count, 881);
    CHECK_OK(penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.points = false), "cpu"));
    wifi_frames_receive(&frames, receiver, PENSTOCK_CF32, samples, count, 0);
    CHECK_EQ(frames.count, 1);
    if (frames.count == 1) {
        const penstock_wifi_frame *frame = &frames.frame[0];
        CHECK(frame->sample <= 4 && frame->samples == 880 && frame->rate_mbps == 36, "at %" PRIu64, frame->sample);
        CHECK_EQ(frame->length, 100);
        CHECK(frame->decoded && !memcmp(frame->psdu + 24, text, sizeof text - 1), "the poem is not there");
        CHECK(frame->decoded && !memcmp(frame->psdu + 96, fcs, 4), "the FCS is not as printed");
        CHECK(!frame->fcs_ok && frame->reason && !strncmp(frame->reason, "FCS differs", 11), "%s",
              frame->reason ? frame->reason : "no reason");
    }
    wifi_frames_free(&frames);
    penstock_stream_free(receiver);
}

int main(void)
{
    const char *folder = test_recordings();
    penstock_context *context = NULL;
    if (!folder)
        return 77;
    CHECK((row_count = wifi_truth_read(rows, folder)) > 0, "truth.tsv cannot be read");
    CHECK_OK(penstock_context_new(&context, NULL));
    test_variants(context, folder);
    test_devices(context, folder);
    test_chunks(context, folder);
    test_annex_g(context, folder);
    penstock_context_free(context);
    return test_finish();
}
