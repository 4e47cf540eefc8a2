/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What --json says in a build without jansson. */
#include "device_list.h"
#include "frames/frames.h"

int device_list_json(penstock_context *context, size_t count)
{
    (void)context;
    (void)count;
    return fail(EXIT_USAGE, "--json is not in this build: jansson, " PENSTOCK_WHY_NO_JANSSON);
}

int choice_row_json(const struct choice_row *row)
{
    (void)row;
    return device_list_json(NULL, 0);
}

static int open_json(void **state, const char *path, const struct stream_facts *facts)
{
    (void)path;
    (void)facts;
    *state = NULL;
    return fail(EXIT_USAGE, "--json is not in this build: jansson, " PENSTOCK_WHY_NO_JANSSON);
}

static int no_frame(void *state, const penstock_wifi_frame *frame)
{
    (void)state;
    (void)frame;
    return EXIT_USAGE;
}

static int close_json(void *state, bool keep)
{
    (void)state;
    (void)keep;
    return EXIT_DONE;
}

const struct frame_output frame_json = {.open = open_json, .frame = no_frame, .close = close_json};
