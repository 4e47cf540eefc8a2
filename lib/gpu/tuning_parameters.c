/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reads tuning parameters from text. */
#include "gpu/tuning_parameters.h"

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

static void read_parameter(struct gpu_tuning *tuning, const char *name, const char *value)
{
    const struct {
        const char *name;
        unsigned *to;
    } plain[] = {{"lanes=", &tuning->lanes}, {"group=", &tuning->per_group}, {"resident=", &tuning->resident},
                 {"ahead=", &tuning->ahead}, {"total=", &tuning->total},     {"halves=", &tuning->halves},
                 {"pad=", &tuning->pad},     {"chunk=", &tuning->chunk},     {"fused=", &tuning->fused}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strncmp(name, plain[i].name, strlen(plain[i].name)))
            *plain[i].to = strncmp(value, "none", 4) ? (unsigned)strtoul(value, NULL, 10) : TUNING_NONE;
    if (!strncmp(name, "radix=", 6))
        tuning->stages = read_list(tuning->radix, TUNING_MAX_STAGES, value);
    if (!strncmp(name, "parts=", 6))
        read_list(tuning->parts, 3, value);
}

void penstock__gpu_tuning_parameters(struct gpu_tuning *tuning, unsigned n, const char *text)
{
    bool ours = false;
    memset(tuning, 0, sizeof *tuning);
    while (text && *text) {
        const char *value = strchr(text, '='), *next = strpbrk(text, ",;");
        if (value && !strncmp(text, "n=", 2))
            ours = strtoul(value + 1, NULL, 10) == n;
        else if (value && ours)
            read_parameter(tuning, text, value + 1);
        text = next ? next + 1 : NULL;
    }
}
