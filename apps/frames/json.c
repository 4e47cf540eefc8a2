/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames as JSON, one object a line, and the reception's totals as the last one, through jansson. */
#include "frames.h"
#include "shared/outfile.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct json_output {
    FILE *file;
    const uint64_t *lost;
    json_int_t frames; /* written */
};

static const char *const format_names[] = {
    [PENSTOCK_WIFI_LEGACY] = "legacy",
    [PENSTOCK_WIFI_HT] = "HT",
    [PENSTOCK_WIFI_VHT] = "VHT",
    [PENSTOCK_WIFI_UNKNOWN] = "unknown",
};

static int open_json(void **state, const char *path, const struct stream_facts *facts)
{
    struct json_output *output = malloc(sizeof *output);
    *state = NULL;
    if (!output)
        return fail(EXIT_DATA, "out of memory");
    output->lost = facts->lost;
    output->frames = 0;
    int code = outfile_open(&output->file, path);
    if (code)
        free(output);
    else
        *state = output;
    return code;
}

/* What is unknown is null: JSON has no NaN. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *hexadecimal(const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * PENSTOCK_WIFI_MAX_PSDU];
    if (!bytes || count > PENSTOCK_WIFI_MAX_PSDU)
        return json_null();
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return json_stringn(text, 2 * count);
}

/* A line; takes the reference. NULL: there was no memory for it. */
static int write_line(FILE *file, json_t *row, const char *what)
{
    if (!row)
        return fail(EXIT_DATA, "%s cannot be written as JSON", what);
    json_dumpf(row, file, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    fputc('\n', file);
    json_decref(row);
    return outfile_check(file);
}

static int write_frame(void *state, const penstock_wifi_frame *frame)
{
    struct json_output *output = state;
    json_t *row =
        json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s*}", "sample",
                  (json_int_t)frame->sample, "lost", (json_int_t)*output->lost, "format", format_names[frame->format],
                  "bandwidth_hz", number(frame->bandwidth_hz), "rate_mbps", number(frame->rate_mbps), "mcs",
                  frame->mcs >= 0 ? json_integer(frame->mcs) : json_null(), "length", (int)frame->length, "fcs_ok",
                  (int)frame->fcs_ok, "snr_db", number(frame->snr_db), "evm_db", number(frame->evm_db), "cfo_hz",
                  number(frame->cfo_hz), "sfo_ppm", number(frame->sfo_ppm), "raw_ber", number(frame->raw_ber), "psdu",
                  hexadecimal(frame->psdu, frame->length), "reason", frame->reason);
    int code = write_line(output->file, row, "a frame");
    output->frames += !code;
    return code;
}

/* No frame has the name "summary". */
static int write_totals(void *state, const struct reception_totals *totals)
{
    struct json_output *output = state;
    const penstock_wifi_counters *c = &totals->receiver;
    struct tally_count counts[TALLY_COUNTS];
    json_t *summary = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "device", totals->device, "samples",
        (json_int_t)c->samples, "frames", output->frames, "triggers", (json_int_t)c->triggers, "synchronised",
        (json_int_t)c->synchronised, "signals", (json_int_t)c->signals, "decoded", (json_int_t)c->decoded, "fcs_ok",
        (json_int_t)c->fcs_ok, "unsupported", (json_int_t)c->unsupported, "truncated", (json_int_t)c->truncated,
        "fallbacks", (json_int_t)c->fallbacks, "taken", (json_int_t)totals->tally.in.taken);
    bool failed = !summary;
    tally_list(counts, &totals->tally);
    for (size_t i = 0; i < TALLY_INPUT_COUNTS && !failed; i++)
        failed = json_object_set_new(summary, counts[i].key, json_integer((json_int_t)counts[i].count)) != 0;
    if (failed)
        json_decref(summary);
    return write_line(output->file, failed ? NULL : json_pack("{s:o}", "summary", summary), "the summary");
}

static int close_json(void *state, bool keep)
{
    (void)keep;
    struct json_output *output = state;
    if (!output)
        return EXIT_DONE;
    int code = outfile_close(output->file);
    free(output);
    return code;
}

const struct frame_output frame_json = {
    .open = open_json, .frame = write_frame, .totals = write_totals, .close = close_json};
