/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Verdicts about drivers, and their text. Whatever the text is, what comes of it is a verdict or none. */
#include "core/verdict.h"

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

void penstock__verdict_identity(char identity[264], const struct penstock_device *device)
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

static bool next_device(struct penstock__verdict_reader *reader, const char *identity)
{
    struct penstock__verdict *verdict = reader->verdict;
    if (reader->trying || *verdict->reason || verdict->count == PENSTOCK__MAX_DEVICES)
        return false;
    copy_text(verdict->devices[verdict->count].identity, sizeof verdict->devices[0].identity, identity);
    *verdict->devices[verdict->count++].reason = 0;
    reader->trying = true;
    return true;
}

void penstock__verdict_blame(struct penstock__verdict_reader *reader, const char *reason)
{
    struct penstock__verdict *verdict = reader->verdict;
    if (reader->trying)
        copy_text(verdict->devices[verdict->count - 1].reason, sizeof verdict->devices[0].reason, reason);
    else
        copy_text(verdict->reason, sizeof verdict->reason, reason);
    reader->trying = false;
}

bool penstock__verdict_read_line(struct penstock__verdict_reader *reader, const char *line)
{
    const char *rest;
    if (reader->done)
        return false;
    if ((rest = behind(line, PENSTOCK__VERDICT_DEVICE)))
        return next_device(reader, rest);
    if ((rest = behind(line, PENSTOCK__VERDICT_STEP))) {
        copy_text(reader->doing, sizeof reader->doing, rest);
        return true;
    }
    if ((rest = behind(line, PENSTOCK__VERDICT_BAD)) && *rest && (reader->trying || !reader->verdict->count)) {
        penstock__verdict_blame(reader, rest);
        return true;
    }
    if (!strcmp(line, PENSTOCK__VERDICT_GOOD) && reader->trying) {
        reader->trying = false;
        return true;
    }
    reader->done = !strcmp(line, PENSTOCK__VERDICT_DONE) && !reader->trying;
    return reader->done;
}

/* ---------------------------------------------------------------- the whole ------------------- */

size_t penstock__verdict_write(char *text, size_t capacity, const struct penstock__verdict *verdict)
{
    size_t used = 0;
    if (*verdict->reason)
        used += (size_t)snprintf(text, capacity, PENSTOCK__VERDICT_BAD "%s\n", verdict->reason);
    for (unsigned i = 0; i < verdict->count && used < capacity; i++) {
        const char *reason = verdict->devices[i].reason;
        used += (size_t)snprintf(text + used, capacity - used, PENSTOCK__VERDICT_DEVICE "%s\n%s%s\n",
                                 verdict->devices[i].identity, *reason ? PENSTOCK__VERDICT_BAD : PENSTOCK__VERDICT_GOOD,
                                 reason);
    }
    if (used < capacity)
        used += (size_t)snprintf(text + used, capacity - used, PENSTOCK__VERDICT_DONE "\n");
    return used < capacity ? used : 0;
}

bool penstock__verdict_read(struct penstock__verdict *verdict, const char *text)
{
    struct penstock__verdict_reader reader = {.verdict = verdict};
    memset(verdict, 0, sizeof *verdict);
    while (*text) {
        char line[LINE_BYTES];
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line || text[length] != '\n')
            return false;
        memcpy(line, text, length);
        line[length] = 0;
        if (!penstock__verdict_read_line(&reader, line))
            return false;
        text += length + 1;
    }
    return reader.done;
}

bool penstock__verdict_fits(const struct penstock__verdict *verdict, const struct penstock_device *rows, size_t count)
{
    char identity[264];
    if (verdict->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        penstock__verdict_identity(identity, &rows[i]);
        if (strcmp(identity, verdict->devices[i].identity))
            return false;
    }
    return true;
}

/* Where the verdict has the device, from entry `first` on; both have the driver's order. `count` where it has not. */
static unsigned find(const struct penstock__verdict *verdict, unsigned first, const struct penstock_device *row)
{
    char identity[264];
    penstock__verdict_identity(identity, row);
    while (first < verdict->count && strcmp(identity, verdict->devices[first].identity))
        first++;
    return first;
}

void penstock__verdict_apply(const struct penstock__verdict *verdict, struct penstock_device *rows, size_t count)
{
    unsigned next = 0;
    for (size_t i = 0; i < count && !verdict->untried; i++) {
        unsigned at = find(verdict, next, &rows[i]);
        const bool known = at < verdict->count;
        snprintf(rows[i].reason, sizeof rows[i].reason, "%s",
                 known ? verdict->devices[at].reason : "the process that tries the driver's devices did not find it");
        if (known)
            next = at + 1;
    }
}

bool penstock__verdict_all_good(const struct penstock__verdict *verdict)
{
    bool good = !*verdict->reason;
    for (unsigned i = 0; i < verdict->count; i++)
        good = good && !*verdict->devices[i].reason;
    return good;
}
