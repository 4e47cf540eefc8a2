/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Growing text, numbers in it that do not follow the locale, and the hash that names it. */
#include "gpu/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(struct gpu_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 4096;
    char *larger;
    if (text->failed)
        return false;
    while (capacity < text->length + more + 1)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    if (!(larger = penstock__realloc(text->content, text->length, capacity))) {
        text->failed = true;
        return false;
    }
    text->content = larger;
    text->capacity = capacity;
    return true;
}

void penstock__text_add(struct gpu_text *text, const char *format, ...)
{
    va_list arguments;
    size_t room;
    int length;
    if (!reserve(text, 0))
        return;
    room = text->capacity - text->length;
    va_start(arguments, format);
    length = vsnprintf(text->content + text->length, room, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    if ((size_t)length >= room) {
        va_start(arguments, format);
        vsnprintf(text->content + text->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    text->length += (size_t)length;
}

void penstock__text_add_whole(struct gpu_text *text, const char *more)
{
    size_t length = strlen(more);
    if (!reserve(text, length))
        return;
    memcpy(text->content + text->length, more, length + 1);
    text->length += length;
}

void penstock__text_add_float(struct gpu_text *text, float value)
{
    char digits[40];
    size_t kept = 0;
    bool point = false;
    snprintf(digits, sizeof digits, "%.8e", (double)value);
    for (const char *c = digits; *c; c++) {
        if (strchr("+-0123456789e", *c)) {
            digits[kept++] = *c;
        } else if (!point) { /* the locale's decimal point, of one or more bytes */
            digits[kept++] = '.';
            point = true;
        }
    }
    digits[kept] = 0;
    penstock__text_add(text, "%sf", digits);
}

void penstock__text_free(struct gpu_text *text)
{
    penstock__free(text->content);
    *text = (struct gpu_text){0};
}

struct gpu_hash penstock__hash_start(void)
{
    return (struct gpu_hash){.high = 0x6c62272e07bb0142u, .low = 0x62b821756295c58du};
}

/* hash = (hash xor word) * (2^88 + 0x13b) modulo 2^128 */
static void add_word(struct gpu_hash *hash, uint64_t word)
{
    uint64_t low = hash->low ^ word, high = hash->high;
    uint64_t bottom = (low & 0xffffffffu) * 0x13bu, top = (low >> 32) * 0x13bu + (bottom >> 32);
    hash->low = (top << 32) | (bottom & 0xffffffffu);
    hash->high = high * 0x13bu + (top >> 32) + (low << 24);
}

/* Eight bytes at a time, as sources are long. The last word has a 0 at least, so that pieces keep their borders. */
void penstock__hash_add(struct gpu_hash *hash, const char *text)
{
    size_t left = strlen(text);
    uint64_t word;
    for (; left >= sizeof word; text += sizeof word, left -= sizeof word) {
        memcpy(&word, text, sizeof word);
        add_word(hash, word);
    }
    word = 0;
    memcpy(&word, text, left);
    add_word(hash, word);
}

void penstock__hash_print(const struct gpu_hash *hash, char digits[33])
{
    snprintf(digits, 33, "%016llx%016llx", (unsigned long long)hash->high, (unsigned long long)hash->low);
}
