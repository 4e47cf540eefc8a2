/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The FCS of every frame that the truth table of the recordings calls good. */
#include <penstock/wifi.h>

#include "test.h"

#define COLUMNS 16

enum column { FORMAT = 3, FCS_OK = 9, PSDU = 15 };

static int split(char *line, char *fields[COLUMNS])
{
    int count = 0;
    while (count < COLUMNS) {
        fields[count++] = line;
        line += strcspn(line, "\t\n");
        if (*line != '\t')
            break;
        *line++ = 0;
    }
    *line = 0;
    return count;
}

static size_t parse_hex(uint8_t *bytes, size_t capacity, const char *text)
{
    size_t count = 0;
    unsigned value;
    while (count < capacity && sscanf(text + 2 * count, "%2x", &value) == 1)
        bytes[count++] = (uint8_t)value;
    return count;
}

int main(void)
{
    const char *folder = test_recordings();
    static char path[4096], line[40000];
    char *fields[COLUMNS];
    int legacy = 0;
    FILE *file;
    if (!folder)
        return 77;
    snprintf(path, sizeof path, "%s/wifi/truth.tsv", folder);
    file = fopen(path, "r");
    CHECK(file, "cannot open %s", path);
    for (int row = 0; file && fgets(line, sizeof line, file); row++) {
        static uint8_t psdu[PENSTOCK_WIFI_MAX_PSDU];
        size_t count;
        uint32_t sent;
        if (split(line, fields) < COLUMNS || strcmp(fields[FORMAT], "legacy") || strcmp(fields[FCS_OK], "1"))
            continue;
        count = parse_hex(psdu, sizeof psdu, fields[PSDU]);
        CHECK(count > 4, "row %d has %zu bytes", row, count);
        if (count <= 4)
            continue;
        legacy++;
        sent = psdu[count - 4] | (uint32_t)psdu[count - 3] << 8 | (uint32_t)psdu[count - 2] << 16 |
               (uint32_t)psdu[count - 1] << 24;
        CHECK(penstock_wifi_fcs(psdu, count - 4) == sent, "row %d: %08x, not %08x", row,
              (unsigned)penstock_wifi_fcs(psdu, count - 4), (unsigned)sent);
    }
    if (file)
        fclose(file);
    CHECK_EQ(legacy, 200);
    return test_finish();
}
