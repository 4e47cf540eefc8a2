/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames as a pcap file with radiotap headers, as Wireshark and tshark read it. Signal levels are in dB
 * above the noise: without a calibrated radio no other reference is known.
 * Formats: draft-ietf-opsawg-pcap (nanosecond times), www.radiotap.org (fields).
 */
#include "frames.h"
#include "shared/outfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pcap_output {
    FILE *file;
    struct stream_facts facts;
};

enum radiotap_field { /* number of the bit in the present word */
                      FIELD_TSFT = 0,
                      FIELD_FLAGS = 1,
                      FIELD_RATE = 2,
                      FIELD_CHANNEL = 3,
                      FIELD_DB_SIGNAL = 12,
                      FIELD_DB_NOISE = 13
};

enum { FLAG_FCS_AT_END = 0x10, FLAG_BAD_FCS = 0x40 };
enum {
    CHANNEL_OFDM = 0x40,
    CHANNEL_2GHZ = 0x80,
    CHANNEL_5GHZ = 0x100,
    CHANNEL_HALF = 0x4000,
    CHANNEL_QUARTER = 0x8000
};

/* A record under construction; all numbers are little endian. */
struct bytes {
    uint8_t at[64];
    size_t count;
};

static void put(struct bytes *bytes, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        bytes->at[bytes->count++] = (uint8_t)(value >> 8 * i);
}

/* A radiotap field is aligned to its own size within the header. */
static void put_field(struct bytes *bytes, uint32_t *present, enum radiotap_field field, uint64_t value, size_t width)
{
    while (bytes->count % width)
        put(bytes, 0, 1);
    put(bytes, value, width);
    *present |= 1u << field;
}

static uint16_t channel_flags(const penstock_wifi_frame *frame, double frequency_hz)
{
    unsigned flags = CHANNEL_OFDM;
    if (frequency_hz > 0)
        flags |= frequency_hz < 3e9 ? CHANNEL_2GHZ : CHANNEL_5GHZ;
    if (frame->bandwidth_hz == 10e6)
        flags |= CHANNEL_HALF;
    if (frame->bandwidth_hz == 5e6)
        flags |= CHANNEL_QUARTER;
    return (uint16_t)flags;
}

static struct bytes radiotap(const struct pcap_output *output, const penstock_wifi_frame *frame)
{
    struct bytes bytes = {.count = 8}; /* version, padding, length, present word: filled in below */
    uint32_t present = 0;
    double half_megabits = 2 * frame->rate_mbps;
    put_field(&bytes, &present, FIELD_TSFT, (uint64_t)(1e6 * (double)frame->sample / output->facts.rate_hz), 8);
    put_field(&bytes, &present, FIELD_FLAGS, FLAG_FCS_AT_END | (frame->fcs_ok ? 0u : FLAG_BAD_FCS), 1);
    if (half_megabits == floor(half_megabits)) /* 2.25 Mb/s of the 5 MHz profile cannot be said */
        put_field(&bytes, &present, FIELD_RATE, (uint64_t)half_megabits, 1);
    put_field(&bytes, &present, FIELD_CHANNEL, (uint64_t)(output->facts.frequency_hz / 1e6 + 0.5), 2);
    put(&bytes, channel_flags(frame, output->facts.frequency_hz), 2);
    put_field(&bytes, &present, FIELD_DB_SIGNAL, (uint64_t)fmin(fmax(frame->snr_db + 0.5, 0), 255), 1);
    put_field(&bytes, &present, FIELD_DB_NOISE, 0, 1);

    size_t length = bytes.count;
    bytes.count = 0;
    put(&bytes, 0, 2);
    put(&bytes, length, 2);
    put(&bytes, present, 4);
    bytes.count = length;
    return bytes;
}

static void write_bytes(struct pcap_output *output, const void *bytes, size_t count)
{
    fwrite(bytes, 1, count, output->file); /* outfile_check() sees a failure */
}

static int open_pcap(void **state, const char *path, const struct stream_facts *facts)
{
    enum { LINKTYPE_IEEE802_11_RADIOTAP = 127, SNAP_LENGTH = 65535 };
    const uint32_t nanosecond_magic = 0xa1b23c4d;
    struct pcap_output *output = malloc(sizeof *output);
    struct bytes header = {.count = 0};
    *state = NULL;
    if (!output)
        return fail(EXIT_DATA, "out of memory");
    output->facts = *facts;
    int code = outfile_open(&output->file, path);
    if (code) {
        free(output);
        return code;
    }
    put(&header, nanosecond_magic, 4);
    put(&header, 2, 2); /* version 2.4 */
    put(&header, 4, 2);
    put(&header, 0, 8); /* time zone and accuracy: always zero */
    put(&header, SNAP_LENGTH, 4);
    put(&header, LINKTYPE_IEEE802_11_RADIOTAP, 4);
    write_bytes(output, header.at, header.count);
    *state = output;
    return outfile_check(output->file);
}

static int write_frame(void *state, const penstock_wifi_frame *frame)
{
    struct pcap_output *output = state;
    if (!frame->decoded)
        return EXIT_DONE;
    struct bytes tap = radiotap(output, frame), record = {.count = 0};
    double time_s = (double)frame->sample / output->facts.rate_hz, whole_s = floor(time_s);
    put(&record, output->facts.start_s + (uint64_t)whole_s, 4);
    put(&record, (uint64_t)(1e9 * (time_s - whole_s)), 4);
    put(&record, tap.count + frame->length, 4);
    put(&record, tap.count + frame->length, 4);
    write_bytes(output, record.at, record.count);
    write_bytes(output, tap.at, tap.count);
    write_bytes(output, frame->psdu, frame->length);
    return outfile_check(output->file);
}

static int close_pcap(void *state, bool keep)
{
    (void)keep;
    struct pcap_output *output = state;
    if (!output)
        return EXIT_DONE;
    int code = outfile_close(output->file);
    free(output);
    return code;
}

const struct frame_output frame_pcap = {.open = open_pcap, .frame = write_frame, .close = close_pcap};
