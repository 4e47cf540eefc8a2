/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Each row of the receiver is a frame that was sent, and each frame that was sent is a row: frames of any rate and
 * length with silence, noise or a constant between them, in floats and in 16 and 8 bits. The end of a frame and the
 * silence behind it are no training fields. PENSTOCK_TEST_FULL=1 sends ten times as many.
 */
#include "wifi_frames.h"

enum { PROFILES = 3, FRAMES = 4, STREAMS = 1000, ROOM = 4 * (2 << 16) };

static penstock_stream *receivers[PROFILES][2]; /* by format: cf32, cs16 */
static penstock_cf32 stream[ROOM];
static int16_t integers[2 * ROOM];
static uint8_t psdu[FRAMES][2400];
static struct wifi_frames frames;
static size_t sent, rows;

struct stream_case {
    unsigned number;
    penstock_wifi_profile profile;
    double mbps, noise_db, mean, cfo_turns;
    int bits; /* of the integers; 0: floats */
    size_t start[FRAMES], length[FRAMES], count;
};

static const double rates_mbps[] = {6, 9, 12, 18, 24, 36, 48, 54};

static struct stream_case draw_case(unsigned number, uint64_t *state)
{
    struct stream_case c = {.number = number};
    *state = 0x9e3779b97f4a7c15u * (number + 1);
    test_random(state);
    c.profile = (penstock_wifi_profile)(test_random(state) % PROFILES);
    c.mbps = rates_mbps[test_random(state) % 8] * penstock_wifi_rate_hz(c.profile) / 20e6;
    c.bits = (int[]){0, 16, 16, 8}[test_random(state) % 4];
    /* A quarter with a floor of noise well below what the rate needs, a quarter with a receiver's constant. */
    c.noise_db = test_random(state) % 4 ? 300 : 35;
    c.mean = test_random(state) % 4 ? 0 : 0.05;
    c.cfo_turns = test_random(state) % 2 ? 0 : test_uniform(state) * 0.005;
    return c;
}

/* Frames, each with silence before and behind it, at 16 dB below full scale. */
static void make_stream(struct stream_case *c, uint64_t *state)
{
    size_t at = 0;
    memset(stream, 0, sizeof stream);
    for (size_t i = 0; i < FRAMES; i++) {
        size_t before = 200 + test_random(state) % 1500, length = 14 + test_random(state) % 1100, count;
        wifi_psdu(psdu[i], length, state);
        penstock_wifi_transmit_desc desc =
            PENSTOCK_WIFI_TRANSMIT_DESC(.profile = c->profile, .mbps = c->mbps,
                                        .scrambler_seed = 1 + (unsigned)(test_random(state) % 127));
        penstock_cf32 *frame = wifi_transmit(&desc, psdu[i], length, before, 0, &count);
        for (size_t k = 0; k < count && at + k < ROOM; k++)
            stream[at + k] = frame[k];
        free(frame);
        c->start[i] = at + before;
        c->length[i] = length;
        at += count;
    }
    c->count = at + 1000;
    CHECK(c->count <= ROOM, "stream %u has %zu samples", c->number, c->count);
    for (size_t i = 0; i < c->count; i++) {
        double angle = 6.283185307179586 * fmod(c->cfo_turns * (double)i, 1), re = stream[i].re, im = stream[i].im;
        stream[i].re = (float)(0.16 * (re * cos(angle) - im * sin(angle)));
        stream[i].im = (float)(0.16 * (re * sin(angle) + im * cos(angle)));
    }
    if (c->noise_db < 100)
        wifi_add_noise(stream, c->count, 0.16 * 0.16 * pow(10, -c->noise_db / 10), state);
    for (size_t i = 0; i < c->count; i++)
        stream[i].re += (float)c->mean;
}

static void receive(const struct stream_case *c)
{
    penstock_stream *receiver = receivers[c->profile][c->bits > 0];
    const void *samples = stream;
    double full = c->bits == 8 ? 127 : 32767;
    if (c->bits) {
        for (size_t i = 0; i < c->count; i++) {
            integers[2 * i] = (int16_t)lrint(fmin(fmax(full * (double)stream[i].re, -full), full));
            integers[2 * i + 1] = (int16_t)lrint(fmin(fmax(full * (double)stream[i].im, -full), full));
        }
        samples = integers;
    }
    CHECK_OK(penstock_stream_reset(receiver));
    wifi_frames_receive(&frames, receiver, c->bits ? PENSTOCK_CS16 : PENSTOCK_CF32, samples, c->count, 0);
}

static void check_case(unsigned number)
{
    uint64_t state;
    struct stream_case c = draw_case(number, &state);
    char what[120];
    make_stream(&c, &state);
    receive(&c);
    snprintf(what, sizeof what, "stream %u, profile %d, %g Mb/s, %d bits, noise %g dB, mean %g, offset %g", number,
             (int)c.profile, c.mbps, c.bits, -c.noise_db, c.mean, c.cfo_turns);
    CHECK(frames.count == FRAMES, "%s: %zu rows", what, frames.count);
    for (size_t i = 0, k = 0; i < frames.count; i++) {
        const penstock_wifi_frame *frame = &frames.frame[i];
        while (k < FRAMES && c.start[k] + 2 < frame->sample)
            k++;
        bool there = k < FRAMES && frame->sample + 2 >= c.start[k];
        CHECK(there, "%s: a row at %" PRIu64 ", where no frame was sent: %s", what, frame->sample,
              frame->reason ? frame->reason : "FCS ok");
        CHECK(!there || (frame->fcs_ok && frame->length == c.length[k] && !memcmp(frame->psdu, psdu[k], c.length[k])),
              "%s: frame %zu is not what was sent: %s", what, k, frame->reason ? frame->reason : "octets");
    }
    sent += FRAMES;
    rows += frames.count;
    wifi_frames_free(&frames);
}

int main(void)
{
    unsigned streams = getenv("PENSTOCK_TEST_FULL") ? 10 * STREAMS : STREAMS;
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (int profile = 0; profile < PROFILES && context; profile++)
        for (int integer = 0; integer < 2; integer++)
            CHECK_OK(penstock_wifi_receiver_open(
                &receivers[profile][integer], context,
                &PENSTOCK_WIFI_RECEIVER_DESC(.profile = (penstock_wifi_profile)profile,
                                             .format = integer ? PENSTOCK_CS16 : PENSTOCK_CF32),
                "cpu"));
    for (unsigned i = 0; i < streams; i++)
        check_case(i);
    printf("%zu frames sent, %zu rows\n", sent, rows);
    for (int profile = 0; profile < PROFILES; profile++)
        for (int integer = 0; integer < 2; integer++)
            penstock_stream_free(receivers[profile][integer]);
    penstock_context_free(context);
    return test_finish();
}
