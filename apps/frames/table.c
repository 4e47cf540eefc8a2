/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames as a table for people, on standard output. */
#include "frames.h"
#include "mac.h"
#include "shared/outfile.h"

#include <math.h>
#include <stdlib.h>

static const char *const format_names[] = {
    [PENSTOCK_WIFI_LEGACY] = "legacy",
    [PENSTOCK_WIFI_HT] = "HT",
    [PENSTOCK_WIFI_VHT] = "VHT or later",
    [PENSTOCK_WIFI_UNKNOWN] = "unknown",
};

struct table_output {
    double rate_hz;
};

static int open_table(void **state, const char *path, const struct stream_facts *facts)
{
    struct table_output *output = malloc(sizeof *output);
    (void)path;
    *state = output;
    if (!output)
        return fail(EXIT_DATA, "out of memory");
    output->rate_hz = facts->rate_hz;
    printf("%13s %5s %5s %6s %6s %8s %4s  %s\n", "time s", "Mb/s", "bytes", "SNR dB", "EVM dB", "CFO Hz", "FCS",
           "frame, source > destination");
    return EXIT_DONE;
}

/* A number in `width` columns, or a dash for what is unknown. */
static void print_number(int width, int digits, double value, bool known)
{
    if (known && isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static int print_frame(void *state, const penstock_wifi_frame *frame)
{
    char source[MAC_TEXT_BYTES], destination[MAC_TEXT_BYTES];
    const struct table_output *output = state;
    printf("%13.7f", (double)frame->sample / output->rate_hz);
    print_number(5, frame->rate_mbps == floor(frame->rate_mbps) ? 0 : 2, frame->rate_mbps, frame->rate_mbps > 0);
    print_number(5, 0, frame->length, frame->length > 0);
    print_number(6, 1, frame->snr_db, true);
    print_number(6, 1, frame->evm_db, true);
    print_number(8, 0, frame->cfo_hz, true);
    printf(" %4s  ", !frame->decoded ? "-" : frame->fcs_ok ? "ok" : "BAD");
    if (frame->fcs_ok) {
        struct mac_header header = mac_parse(frame->psdu, frame->length);
        printf("%-10s", header.type);
        if (header.source || header.destination)
            printf(" %s > %s", mac_text(source, header.source), mac_text(destination, header.destination));
        putchar('\n');
    } else {
        printf("%s: %s\n", format_names[frame->format], frame->reason ? frame->reason : "no reason given");
    }
    return outfile_check(stdout);
}

static int close_table(void *state, bool keep)
{
    int code = state && keep ? outfile_close(stdout) : EXIT_DONE;
    free(state);
    return code;
}

const struct frame_output frame_table = {.open = open_table, .frame = print_frame, .close = close_table};
