/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reading of truth.tsv and of the sample files beside it. */
#include "recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 3 * PENSTOCK_WIFI_MAX_PSDU };

/* Columns of truth.tsv. */
enum {
    FILE_NAME,
    FRAME,
    START,
    FORMAT,
    RATE,
    MCS,
    LENGTH,
    AGGREGATE,
    SGI,
    FCS_OK,
    CFO,
    SNR,
    EVM,
    SFO,
    BER,
    PSDU,
    COLUMNS
};

static bool parse_row(struct recorded_frame *frame, char *line)
{
    char *fields[COLUMNS] = {NULL}, *rest = line;
    size_t count = 0;
    while (rest && count < COLUMNS)
        fields[count++] = strsep(&rest, "\t");
    if (count < COLUMNS || strlen(fields[FILE_NAME]) >= sizeof frame->file)
        return false;
    *frame = (struct recorded_frame){.start = strtoull(fields[START], NULL, 10),
                                     .legacy = !strcmp(fields[FORMAT], "legacy"),
                                     .fcs_ok = fields[FCS_OK][0] == '1',
                                     .rate_mbps = strtod(fields[RATE], NULL),
                                     .length = (unsigned)strtoul(fields[LENGTH], NULL, 10)};
    strcpy(frame->file, fields[FILE_NAME]);
    for (size_t i = 0; i < frame->length && i < sizeof frame->psdu; i++) {
        unsigned byte;
        if (sscanf(fields[PSDU] + 2 * i, "%2x", &byte) != 1)
            return !frame->fcs_ok || !frame->legacy;
        frame->psdu[i] = (uint8_t)byte;
    }
    return true;
}

static bool read_rows(struct recordings *recordings, FILE *file)
{
    char *line = malloc(LINE);
    bool good = line && fgets(line, LINE, file); /* the first line names the columns */
    while (good && fgets(line, LINE, file)) {
        struct recorded_frame *more = realloc(recordings->frames, (recordings->count + 1) * sizeof *recordings->frames);
        good = more && (recordings->frames = more, parse_row(&more[recordings->count], line));
        recordings->count += good;
    }
    free(line);
    return good && recordings->count;
}

bool recordings_open(struct recordings *recordings)
{
    const char *folder = getenv("PENSTOCK_RECORDINGS");
    char path[480];
    *recordings = (struct recordings){0};
    snprintf(recordings->folder, sizeof recordings->folder, "%s/wifi", folder ? folder : "../shared/recordings");
    snprintf(path, sizeof path, "%s/truth.tsv", recordings->folder);
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(recordings->reason, sizeof recordings->reason,
                 "no recordings: %.400s is absent (set PENSTOCK_RECORDINGS)", path);
        return false;
    }
    bool good = read_rows(recordings, file);
    fclose(file);
    if (!good)
        snprintf(recordings->reason, sizeof recordings->reason, "row %zu of %.400s cannot be read",
                 recordings->count + 1, path);
    return good;
}

void recordings_free(struct recordings *recordings)
{
    free(recordings->frames);
    recordings->frames = NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* .cf32 holds floats, .txt "I Q" lines, all others int16 pairs; a count of 0 is the end. */
static size_t read_samples(FILE *file, const char *name, penstock_cf32 *out, size_t most)
{
    size_t count = 0;
    int16_t pair[2];
    if (ends_with(name, ".cf32"))
        return fread(out, sizeof *out, most, file);
    if (ends_with(name, ".txt")) {
        while (count < most && fscanf(file, "%f %f", &out[count].re, &out[count].im) == 2)
            count++;
        return count;
    }
    while (count < most && fread(pair, sizeof pair, 1, file) == 1) {
        out[count].re = (float)pair[0] / 32768.0f;
        out[count++].im = (float)pair[1] / 32768.0f;
    }
    return count;
}

penstock_cf32 *recordings_load(const struct recordings *recordings, const char *file, size_t *count)
{
    enum { BLOCK = 65536 };
    char path[640];
    penstock_cf32 *samples = NULL;
    size_t got = 0;
    snprintf(path, sizeof path, "%s/%s", recordings->folder, file);
    FILE *in = fopen(path, "rb");
    *count = 0;
    if (!in)
        return NULL;
    do {
        penstock_cf32 *more = realloc(samples, (*count + BLOCK) * sizeof *more);
        if (!more) {
            free(samples);
            samples = NULL;
            break;
        }
        samples = more;
        got = read_samples(in, file, samples + *count, BLOCK);
        *count += got;
    } while (got);
    fclose(in);
    return samples;
}
