/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A program as text: its words line by line, and labels where relative branches go. */
#include "operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t load_word(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--)
        word = word << 8 | bytes[i];
    return word;
}

/* The byte that a relative branch at `place` goes to, if that is an instruction of this program. */
static bool target_of(const uint8_t *bytes, size_t size, size_t place, size_t *target)
{
    struct qpu_instruction i = qpu_decode(load_word(bytes + place));
    if (i.kind != QPU_BRANCH || !i.branch_relative || i.branch_register || i.branch_unused ||
        !qpu_branch_condition_name(i.branch_condition))
        return false;
    int64_t to = (int64_t)place + 32 + (int32_t)i.immediate;
    if (to < 0 || to % 8 || to > (int64_t)(size / 8 * 8))
        return false;
    *target = (size_t)to;
    return true;
}

struct text {
    char *bytes;
    size_t used, size;
    bool failed;
};

static void append(struct text *text, const char *line)
{
    size_t length = strlen(line);
    if (text->failed)
        return;
    if (text->size - text->used <= length) {
        size_t size = (text->size + length + 1) * 2;
        char *grown = realloc(text->bytes, size);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->size = size;
    }
    memcpy(text->bytes + text->used, line, length + 1);
    text->used += length;
}

static void append_word(struct text *text, const uint8_t *bytes, size_t size, size_t place)
{
    char line[QPU_TEXT_BYTES], name[32];
    size_t target;
    uint64_t word = load_word(bytes + place);
    append(text, "    ");
    if (qpu_disassemble_word(line, word) && target_of(bytes, size, place, &target)) {
        /* the same text as before, with a label for its number */
        struct qpu_instruction instruction = qpu_decode(word);
        uint64_t again;
        bool exact = !qpu__write(line, &instruction, false, NULL) || !qpu_assemble_word(&again, line) || again != word;
        snprintf(name, sizeof name, "L%zu", target / 8);
        qpu__write(line, &instruction, exact, name);
    }
    append(text, line);
    append(text, "\n");
}

char *qpu_disassemble(const uint8_t *bytes, size_t size)
{
    struct text text = {0};
    size_t words = size / 8, target;
    bool *is_target = calloc(words + 1, 1);
    char line[64];
    append(&text, "");
    for (size_t i = 0; is_target && i < words; i++)
        if (target_of(bytes, size, 8 * i, &target))
            is_target[target / 8] = true;
    for (size_t i = 0; is_target && i <= words; i++) {
        if (is_target[i]) {
            snprintf(line, sizeof line, ":L%zu\n", i);
            append(&text, line);
        }
        if (i < words)
            append_word(&text, bytes, size, 8 * i);
    }
    for (size_t i = words * 8; i < size; i++) {
        snprintf(line, sizeof line, "    .byte 0x%02x\n", (unsigned)bytes[i]);
        append(&text, line);
    }
    if (!is_target || text.failed) {
        free(text.bytes);
        text.bytes = NULL;
    }
    free(is_target);
    return text.bytes;
}
