/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reads knobs from text. */
#include "gpu/knobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "16x16x8" */
static unsigned read_list(unsigned *values, unsigned most, const char *text)
{
    unsigned count = 0;
    char *end;
    while (count < most && (values[count] = (unsigned)strtoul(text, &end, 10))) {
        count++;
        if (*end != 'x')
            break;
        text = end + 1;
    }
    return count;
}

static void read_knob(struct gpu_knobs *knobs, const char *name, const char *value)
{
    const struct {
        const char *name;
        unsigned *to;
    } plain[] = {{"lanes=", &knobs->lanes}, {"group=", &knobs->per_group}, {"resident=", &knobs->resident},
                 {"ahead=", &knobs->ahead}, {"total=", &knobs->total},     {"halves=", &knobs->halves},
                 {"pad=", &knobs->pad},     {"chunk=", &knobs->chunk},     {"fused=", &knobs->fused}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strncmp(name, plain[i].name, strlen(plain[i].name)))
            *plain[i].to = strncmp(value, "none", 4) ? (unsigned)strtoul(value, NULL, 10) : KNOBS_NONE;
    if (!strncmp(name, "radix=", 6))
        knobs->stages = read_list(knobs->radix, KNOBS_MAX_STAGES, value);
    if (!strncmp(name, "parts=", 6))
        read_list(knobs->parts, 3, value);
}

void penstock__gpu_knobs(struct gpu_knobs *knobs, unsigned n, const char *text)
{
    bool ours = false;
    memset(knobs, 0, sizeof *knobs);
    while (text && *text) {
        const char *value = strchr(text, '='), *next = strpbrk(text, ",;");
        if (value && !strncmp(text, "n=", 2))
            ours = strtoul(value + 1, NULL, 10) == n;
        else if (value && ours)
            read_knob(knobs, text, value + 1);
        text = next ? next + 1 : NULL;
    }
}
