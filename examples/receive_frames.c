/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Wi-Fi frames from a recording at 20 Msamples/s or a radio.
 *
 *     receive_frames recording.sigmf-meta
 *     receive_frames soapy:driver=hackrf opencl:0
 */
#include <penstock/penstock.h>

#include <stdio.h>

enum { BLOCK = 65536 };

static int print_frames(penstock_stream *receiver)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    int got;
    while ((got = penstock_wifi_receiver_pull(receiver, &frame)) > 0)
        printf("sample %10llu  %4.1f Mb/s  %4u bytes  %5.1f dB  %s\n", (unsigned long long)frame.sample,
               frame.rate_mbps, frame.length, frame.snr_db, frame.fcs_ok ? "FCS good" : frame.reason);
    return got;
}

int main(int argc, char **argv)
{
    static char block[BLOCK * 8];
    penstock_context *context = NULL;
    penstock_source *source = NULL;
    penstock_stream *receiver = NULL;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source_desc desc =
        PENSTOCK_SOURCE_DESC(.rate_hz = penstock_wifi_rate_hz(PENSTOCK_WIFI), .frequency_hz = 5.18e9);
    size_t count;
    int status = 1;

    if (argc < 2) {
        fprintf(stderr, "usage: %s SOURCE [DEVICE]\n", argv[0]);
        return 2;
    }
    if (penstock_context_new(&context, NULL) || penstock_source_open(&source, context, argv[1], &desc) ||
        penstock_source_get_info(source, &info) ||
        penstock_wifi_receiver_open(&receiver, context, &PENSTOCK_WIFI_RECEIVER_DESC(.format = info.format),
                                    argc > 2 ? argv[2] : "auto"))
        goto fail;
    do {
        if (penstock_source_read(source, block, BLOCK, &count) ||
            (count && penstock_stream_push(receiver, block, count, NULL)) || print_frames(receiver) < 0)
            goto fail;
    } while (count);
    if (penstock_stream_finish(receiver) || print_frames(receiver) < 0)
        goto fail;
    status = 0;
    goto done;
fail:
    fprintf(stderr, "%s\n", penstock_error_text());
done:
    penstock_stream_free(receiver);
    penstock_source_free(source);
    penstock_context_free(context);
    return status;
}
