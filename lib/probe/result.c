/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Results about drivers, and their text. Whatever the text is, what comes of it is a result or none. */
#include "probe/result.h"

#include <stdio.h>
#include <string.h>

#define LINE_BYTES 512

/* As much as fits; drivers' names and messages may have anything in them, and terminals obey some of it. */
static void copy_text(char *to, size_t capacity, const char *from)
{
    const char *last = to + capacity - 1;
    for (; *from && to < last; from++)
        *to++ = (unsigned char)*from < ' ' || *from == 0x7f ? '?' : *from;
    *to = 0;
}

void penstock__result_identity(char identity[264], const struct penstock_device *device)
{
    char text[264];
    snprintf(text, sizeof text, "%s, %s", device->product, device->driver);
    copy_text(identity, sizeof text, text);
}

/* ---------------------------------------------------------------- a line ---------------------- */

/* What follows `word` in the line, or NULL. */
static const char *behind(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) ? NULL : line + length;
}

static bool next_device(struct penstock__result_reader *reader, const char *identity)
{
    struct penstock__probe_result *result = reader->result;
    if (reader->trying || result->whole.outcome || result->count == PENSTOCK__MAX_DEVICES)
        return false;
    copy_text(result->devices[result->count].identity, sizeof result->devices[0].identity, identity);
    result->devices[result->count++].finding = (struct penstock__finding){.outcome = PENSTOCK__GOOD};
    reader->trying = true;
    return true;
}

void penstock__result_blame(struct penstock__result_reader *reader, enum penstock__outcome outcome, const char *reason)
{
    struct penstock__probe_result *result = reader->result;
    struct penstock__finding *finding = reader->trying ? &result->devices[result->count - 1].finding : &result->whole;
    finding->outcome = outcome;
    copy_text(finding->reason, sizeof finding->reason, reason);
    reader->trying = false;
}

/* "bad " or "late ", with a reason, where there may be one. */
static bool read_blame(struct penstock__result_reader *reader, const char *line)
{
    enum penstock__outcome outcome = PENSTOCK__BAD;
    const char *rest = behind(line, PENSTOCK__RESULT_BAD);
    if (!rest && (rest = behind(line, PENSTOCK__RESULT_LATE)))
        outcome = PENSTOCK__LATE;
    if (!rest || !*rest || (!reader->trying && reader->result->count))
        return false;
    penstock__result_blame(reader, outcome, rest);
    return true;
}

bool penstock__result_read_line(struct penstock__result_reader *reader, const char *line)
{
    const char *rest;
    if (reader->done)
        return false;
    if ((rest = behind(line, PENSTOCK__RESULT_DEVICE)))
        return next_device(reader, rest);
    if ((rest = behind(line, PENSTOCK__RESULT_STEP))) {
        copy_text(reader->doing, sizeof reader->doing, rest);
        return true;
    }
    if (read_blame(reader, line))
        return true;
    if (!strcmp(line, PENSTOCK__RESULT_GOOD) && reader->trying) {
        reader->trying = false;
        return true;
    }
    reader->done = !strcmp(line, PENSTOCK__RESULT_DONE) && !reader->trying;
    return reader->done;
}

/* ---------------------------------------------------------------- the whole ------------------- */

static const char *word_of(const struct penstock__finding *finding)
{
    static const char *const words[] = {[PENSTOCK__GOOD] = PENSTOCK__RESULT_GOOD,
                                        [PENSTOCK__BAD] = PENSTOCK__RESULT_BAD,
                                        [PENSTOCK__LATE] = PENSTOCK__RESULT_LATE};
    return words[finding->outcome];
}

size_t penstock__result_write(char *text, size_t capacity, const struct penstock__probe_result *result)
{
    size_t used = 0;
    if (result->whole.outcome)
        used += (size_t)snprintf(text, capacity, "%s%s\n", word_of(&result->whole), result->whole.reason);
    for (unsigned i = 0; i < result->count && used < capacity && !result->whole.outcome; i++) {
        const struct penstock__finding *finding = &result->devices[i].finding;
        used += (size_t)snprintf(text + used, capacity - used, PENSTOCK__RESULT_DEVICE "%s\n%s%s\n",
                                 result->devices[i].identity, word_of(finding), finding->reason);
    }
    if (used < capacity)
        used += (size_t)snprintf(text + used, capacity - used, PENSTOCK__RESULT_DONE "\n");
    return used < capacity ? used : 0;
}

bool penstock__result_read(struct penstock__probe_result *result, const char *text)
{
    struct penstock__result_reader reader = {.result = result};
    memset(result, 0, sizeof *result);
    while (*text) {
        char line[LINE_BYTES];
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line || text[length] != '\n')
            return false;
        memcpy(line, text, length);
        line[length] = 0;
        if (!penstock__result_read_line(&reader, line))
            return false;
        text += length + 1;
    }
    return reader.done;
}

bool penstock__result_fits(const struct penstock__probe_result *result, const struct penstock_device *rows,
                           size_t count)
{
    char identity[264];
    if (result->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        penstock__result_identity(identity, &rows[i]);
        if (strcmp(identity, result->devices[i].identity))
            return false;
    }
    return true;
}

/* Where the result has the device, from entry `first` on; both have the driver's order. `count` where it has not. */
static unsigned find(const struct penstock__probe_result *result, unsigned first, const struct penstock_device *row)
{
    char identity[264];
    penstock__result_identity(identity, row);
    while (first < result->count && strcmp(identity, result->devices[first].identity))
        first++;
    return first;
}

/* Devices of the same identity before `row`: how another process finds it. */
static unsigned count_twins(const struct penstock_device *rows, const struct penstock_device *row)
{
    unsigned count = 0;
    for (; rows < row; rows++)
        count += !strcmp(rows->product, row->product) && !strcmp(rows->driver, row->driver);
    return count;
}

bool penstock__result_has(const struct penstock__probe_result *result, enum penstock__outcome outcome)
{
    bool has = result->whole.outcome == outcome;
    for (unsigned i = 0; i < result->count; i++)
        has = has || result->devices[i].finding.outcome == outcome;
    return has;
}

void penstock__result_apply(const struct penstock__probe_result *result, struct penstock_device *rows, size_t count)
{
    const char *const unknown = penstock__result_has(result, PENSTOCK__LATE)
                                    ? "the driver's other devices took so long that it was not tried"
                                    : "the process that tries the driver's devices did not find it";
    unsigned next = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned at = find(result, next, &rows[i]);
        const bool known = at < result->count;
        rows[i].twins = count_twins(rows, &rows[i]);
        if (result->untried)
            continue;
        snprintf(rows[i].reason, sizeof rows[i].reason, "%s", known ? result->devices[at].finding.reason : unknown);
        if (known)
            next = at + 1;
    }
}
