/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The grids of IEEE 802.11-2020 clauses 17 (wifi) and 21 (80 MHz; its pilots stand almost evenly, here evenly), and of
 * 3GPP TS 36.211 (5 and 20 MHz; with pilots on every sixth carrier as its reference signals). */
#include "ofdm_grid.h"
#include "shared/number.h"

#include <stdlib.h>
#include <string.h>

static const struct ofdm_grid grids[] = {
    {"wifi", 64, 16, 26, 1, 7, 14},
    {"vht80", 256, 64, 122, 2, 11, 32},
    {"lte5", 512, 36, 150, 1, 3, 6},
    {"lte20", 2048, 144, 600, 1, 3, 6},
};

/* "512/64/336": n, guard interval, carriers, as many below zero as above, no pilots. */
static bool parse_numbers(struct ofdm_grid *grid, const char *text)
{
    enum { NUMBERS = 3, MOST_POINTS = 8192 };
    size_t numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) {
        size_t length = strcspn(text, "/");
        if (!number_read_digits(text, length, MOST_POINTS, &numbers[i]) || (text[length] == '/') != (i + 1 < NUMBERS))
            return false;
        text += length + 1;
    }
    size_t n = numbers[0], guard = numbers[1], carriers = numbers[2];
    if (n < 2 || guard > n || carriers < 2 || carriers % 2 || carriers >= n || carriers > GRID_CARRIERS)
        return false;
    *grid = (struct ofdm_grid){"", n, guard, (int32_t)carriers / 2, 1, INT32_MAX, 1};
    return true;
}

bool ofdm_grid_find(struct ofdm_grid *grid, const char *name)
{
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
        if (!strcmp(grids[i].name, name)) {
            *grid = grids[i];
            return true;
        }
    return parse_numbers(grid, name);
}

void ofdm_grid_carriers(const struct ofdm_grid *grid, int32_t *carriers, size_t *carrier_count, int32_t *pilots,
                        size_t *pilot_count)
{
    *carrier_count = *pilot_count = 0;
    for (int32_t k = -grid->outermost; k <= grid->outermost; k++) {
        int32_t distance = abs(k) - grid->pilot_first;
        if (abs(k) < grid->innermost)
            continue;
        if (distance >= 0 && distance % grid->pilot_step == 0)
            pilots[(*pilot_count)++] = k;
        else
            carriers[(*carrier_count)++] = k;
    }
}
