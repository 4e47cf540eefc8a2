/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The receiver eats whatever a radio or a file gives it. First byte: format (2 bits) and chunks of the second pass;
 * the rest are samples. What comes out is consistent, and the same in other chunks.
 */
#include <penstock/penstock.h>

#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

struct summary {
    uint64_t sample;
    unsigned length, sum;
    penstock_wifi_format format;
    bool fcs_ok;
};

static size_t receive(penstock_stream *receiver, const uint8_t *samples, size_t count, size_t width, size_t chunk,
                      struct summary *frames)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    penstock_wifi_counters counters = PENSTOCK_WIFI_COUNTERS;
    size_t found = 0;
    uint64_t last = 0;
    int status;
    must(!penstock_stream_reset(receiver));
    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < chunk ? count - done : chunk;
        must(!penstock_stream_push(receiver, samples + done * width, part, NULL));
    }
    must(!penstock_stream_finish(receiver));
    while ((status = penstock_wifi_receiver_pull(receiver, &frame)) == 1) {
        must(frame.sample >= last && frame.samples > 0 && frame.length <= 65535);
        must(!frame.decoded == !frame.psdu && (frame.decoded || !frame.fcs_ok));
        must(frame.fcs_ok == !frame.reason && (!frame.reason || *frame.reason));
        last = frame.sample;
        if (found == MAX_FRAMES)
            continue;
        frames[found] = (struct summary){frame.sample, frame.length, 0, frame.format, frame.fcs_ok};
        for (unsigned i = 0; frame.psdu && i < frame.length; i++)
            frames[found].sum = 31 * frames[found].sum + frame.psdu[i];
        found++;
    }
    must(status == 0);
    must(!penstock_wifi_receiver_get_counters(receiver, &counters) && counters.samples == count);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8};
    static penstock_context *context;
    static penstock_stream *receivers[4];
    static struct summary once[MAX_FRAMES], again[MAX_FRAMES];
    if (!size)
        return 0;
    if (!context)
        must(!penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "")));
    unsigned kind = data[0] & 3;
    size_t width = penstock_format_bytes(formats[kind]), count = (size - 1) / width;
    penstock_wifi_receiver_desc desc =
        PENSTOCK_WIFI_RECEIVER_DESC(.format = formats[kind], .points = kind & 1, .max_latency_s = 1e-4);
    if (!receivers[kind])
        must(!penstock_wifi_receiver_open(&receivers[kind], context, &desc, "cpu"));
    uint8_t *samples = malloc(count * width + 1); /* aligned, which data + 1 is not */
    must(samples);
    memcpy(samples, data + 1, count * width);
    memset(once, 0, sizeof once);
    memset(again, 0, sizeof again);
    size_t found = receive(receivers[kind], samples, count, width, count + 1, once);
    must(found == receive(receivers[kind], samples, count, width, 1 + (data[0] >> 2), again));
    must(!memcmp(once, again, sizeof once));
    free(samples);
    return 0;
}
