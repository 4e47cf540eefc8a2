/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Wi-Fi recordings with known content: see the README beside them. */
#ifndef PENSTOCK_TEST_WIFI_RECORDINGS_H
#define PENSTOCK_TEST_WIFI_RECORDINGS_H

#include "test.h"

#include <penstock/penstock.h>

#define WIFI_MAX_ROWS 400

struct wifi_truth {
    char file[160];
    long start;
    bool legacy, fcs_ok;
    int mcs; /* of HT */
    double mbps;
    unsigned length;
    double cfo_hz;
    char psdu[2 * 4095 + 1]; /* hexadecimal */
};

struct wifi_recording {
    penstock_cf32 *samples;
    int16_t *cs16; /* NULL unless it was recorded so */
    size_t count;
    float peak;
};

/* Rows of truth.tsv; 0 if it cannot be read. */
static inline size_t wifi_truth_read(struct wifi_truth *rows, const char *folder)
{
    static char path[4200], line[20000];
    size_t count = 0;
    FILE *file;
    snprintf(path, sizeof path, "%s/wifi/truth.tsv", folder);
    if (!(file = fopen(path, "rb")))
        return 0;
    while (fgets(line, sizeof line, file) && count < WIFI_MAX_ROWS) {
        char *fields[17] = {NULL}, *rest = line;
        for (size_t i = 0; i < 17 && rest; i++)
            fields[i] = strsep(&rest, "\t\n");
        if (!fields[15] || !strcmp(fields[0], "file"))
            continue;
        struct wifi_truth *row = &rows[count++];
        snprintf(row->file, sizeof row->file, "%s", fields[0]);
        row->start = atol(fields[2]);
        row->legacy = !strcmp(fields[3], "legacy");
        row->mbps = atof(fields[4]);
        row->mcs = *fields[5] ? atoi(fields[5]) : -1;
        row->length = (unsigned)atoi(fields[6]);
        row->fcs_ok = atoi(fields[9]) == 1;
        row->cfo_hz = atof(fields[10]);
        snprintf(row->psdu, sizeof row->psdu, "%s", fields[15]);
    }
    fclose(file);
    return count;
}

static inline void wifi_recording_free(struct wifi_recording *recording)
{
    free(recording->samples);
    free(recording->cs16);
    *recording = (struct wifi_recording){0};
}

/* By its ending: .dat int16, .cf32, .txt "I Q" a line. */
static inline bool wifi_recording_read(struct wifi_recording *recording, const char *folder, const char *name)
{
    static char path[4400];
    size_t length = strlen(name), capacity = (size_t)1 << 20;
    const char *end = name + (length > 4 ? length - 4 : 0);
    FILE *file;
    *recording = (struct wifi_recording){0};
    if (snprintf(path, sizeof path, "%s/wifi/%s", folder, name) >= (int)sizeof path || !(file = fopen(path, "rb")))
        return false;
    recording->samples = malloc(capacity * sizeof *recording->samples);
    if (!strcmp(end, ".dat")) {
        recording->cs16 = malloc(capacity * 4);
        recording->count = fread(recording->cs16, 4, capacity, file);
        for (size_t i = 0; i < recording->count; i++)
            recording->samples[i] =
                (penstock_cf32){recording->cs16[2 * i] / 32768.0F, recording->cs16[2 * i + 1] / 32768.0F};
    } else if (!strcmp(end, ".txt")) {
        float re, im;
        while (recording->count < capacity && fscanf(file, "%f %f", &re, &im) == 2)
            recording->samples[recording->count++] = (penstock_cf32){re / 32768, im / 32768};
    } else {
        recording->count = fread(recording->samples, sizeof *recording->samples, capacity, file);
    }
    fclose(file);
    for (size_t i = 0; i < recording->count; i++) {
        recording->peak = fmaxf(recording->peak, fabsf(recording->samples[i].re));
        recording->peak = fmaxf(recording->peak, fabsf(recording->samples[i].im));
    }
    return recording->count > 0;
}

#endif
