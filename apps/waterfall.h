/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Spectra in time order, reduced as they come so that any length of signal fits a picture: neighbouring
 * rows are joined whenever there are twice as many as wanted, neighbouring bins from the start.
 */
#ifndef PENSTOCK_APPS_WATERFALL_H
#define PENSTOCK_APPS_WATERFALL_H

#include "shared/command.h"

#include <stdio.h>

struct waterfall {
    size_t bins;      /* of a spectrum that is put in */
    size_t columns;   /* of the picture, <= bins */
    size_t rows;      /* complete ones */
    size_t most_rows; /* never more than this */
    uint64_t per_row; /* spectra joined into one row */
    uint64_t in_row;  /* spectra in the row that is being filled */
    uint64_t spectra; /* put in so far */
    bool peak;        /* joined by the largest, not by the mean */
    float *power;     /* most_rows + 1 rows, and one for a spectrum's columns */
};

enum { WATERFALL_COLUMNS = 1024, WATERFALL_ROWS = 720 };

/* `expected` spectra will come; 0: unknown. False when out of memory. */
bool waterfall_init(struct waterfall *waterfall, size_t bins, uint64_t expected, bool peak);
void waterfall_add(struct waterfall *waterfall, const float *power);
void waterfall_free(struct waterfall *waterfall);

/* What the picture is labelled with. */
struct waterfall_labels {
    double width_hz, frequency_hz; /* of the spectrum, and its middle; 0: unknown, the axis shows the offset */
    double seconds_per_spectrum;
    double low_db, high_db; /* of the colour scale; NAN: from the data */
    const char *title;
};

/* Draws the picture into an open file. Returns an exit code. */
int waterfall_write(struct waterfall *waterfall, const struct waterfall_labels *labels, FILE *file, const char *path);

#endif
