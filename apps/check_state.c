/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The file of verified cases. A torn last line is thrown away: it does not match. */
#include "check_state.h"

#include "shared/cache_folder.h"
#include "shared/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 700 };

/* The next line is `text`: it stays. Otherwise it and all after it go, and writing starts there. */
static bool expect_line(struct check_state *state, const char *text)
{
    char line[LINE];
    long start = ftell(state->file);
    size_t length = strlen(text);
    if (fgets(line, sizeof line, state->file) && !strncmp(line, text, length) && !strcmp(line + length, "\n"))
        return true;
    state->replaying = false;
    fseek(state->file, start, SEEK_SET);
    if (ftruncate(fileno(state->file), start))
        check_state_close(state, false);
    return false;
}

void check_state_open(struct check_state *state, const char *device, const char *identity)
{
    char folder[FOLDER_TEXT], header[LINE];
    *state = (struct check_state){0};
    if (!cache_folder(folder))
        return;
    snprintf(state->path, sizeof state->path, "%s/check-%s.txt", folder, device);
    state->file = fopen(state->path, "r+e");
    if (!state->file)
        state->file = fopen(state->path, "w+e");
    if (!state->file) {
        warn("an interrupted check cannot be resumed: '%s' cannot be written: %s", state->path, strerror(errno));
        return;
    }
    state->replaying = true;
    snprintf(header, sizeof header, "penstock %s, %s, %s", penstock_version(), device, identity);
    if (!expect_line(state, header))
        check_state_note(state, header);
}

bool check_state_done(struct check_state *state, const char *text)
{
    return state->file && state->replaying && expect_line(state, text);
}

void check_state_note(struct check_state *state, const char *text)
{
    if (state->file && (fprintf(state->file, "%s\n", text) < 0 || fflush(state->file)))
        check_state_close(state, false);
}

void check_state_close(struct check_state *state, bool complete)
{
    if (state->file)
        fclose(state->file);
    state->file = NULL;
    if (complete && *state->path)
        unlink(state->path);
}
