/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The strongest frequency of a recording or radio, once for every thousand averaged spectra.
 *
 *     spectrum_peak recording.sigmf-meta
 *     spectrum_peak soapy:driver=rtlsdr
 */
#include <penstock/penstock.h>

#include <stdio.h>

enum { LENGTH = 2048, BLOCK = 65536 };

static float vectors[16][LENGTH];

static void print_peaks(size_t count, const penstock_source_info *info)
{
    for (size_t v = 0; v < count; v++) {
        int peak = 0;
        for (int k = 1; k < LENGTH; k++)
            if (vectors[v][k] > vectors[v][peak])
                peak = k;
        printf("%+.6f MHz  %6.1f dB\n", (info->frequency_hz + (peak - LENGTH / 2) * info->rate_hz / LENGTH) / 1e6,
               vectors[v][peak]);
    }
}

int main(int argc, char **argv)
{
    static char block[BLOCK * 8];
    penstock_context *context = NULL;
    penstock_source *source = NULL;
    penstock_stream *spectrum = NULL;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    size_t count, taken, ready;
    int status = 1;

    if (argc != 2) {
        fprintf(stderr, "usage: %s SOURCE\n", argv[0]);
        return 2;
    }
    if (penstock_context_new(&context, NULL) ||
        penstock_source_open(&source, context, argv[1], &PENSTOCK_SOURCE_DESC(.seconds = 10)) ||
        penstock_source_get_info(source, &info) ||
        penstock_spectrum_open(&spectrum, context,
                               &PENSTOCK_SPECTRUM_DESC(.n = LENGTH, .hop = LENGTH / 2, .format = info.format,
                                                       .window = "blackman-harris", .centered = true, .average = 1000,
                                                       .output = PENSTOCK_OUTPUT_DECIBEL, .scale = 1.0f / LENGTH),
                               "auto"))
        goto fail;
    do {
        if (penstock_source_read(source, block, BLOCK, &count))
            goto fail;
        for (size_t done = 0; done < count; done += taken) {
            const char *rest = block + done * penstock_format_bytes(info.format);
            if (penstock_stream_push(spectrum, rest, count - done, &taken) ||
                penstock_stream_pull(spectrum, vectors, 16, false, &ready))
                goto fail;
            print_peaks(ready, &info);
        }
    } while (count);
    if (penstock_stream_finish(spectrum) || penstock_stream_pull(spectrum, vectors, 16, true, &ready))
        goto fail;
    print_peaks(ready, &info);
    status = 0;
    goto done;
fail:
    fprintf(stderr, "%s\n", penstock_error_text());
done:
    penstock_stream_free(spectrum);
    penstock_source_free(source);
    penstock_context_free(context);
    return status;
}
