/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "image.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t LARGEST = (size_t)1 << 29;

static bool is_hex(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".hex") == 0;
}

static bool read_whole(const char *path, char **text, size_t *size, char error[IMAGE_ERROR])
{
    FILE *file = fopen(path, "rb");
    size_t room = 0, used = 0, got = 1;
    char *data = NULL, *larger;
    if (!file) {
        snprintf(error, IMAGE_ERROR, "%s: %s", path, strerror(errno));
        return false;
    }
    while (got) {
        if (used + 1 >= room) {
            room = room ? 2 * room : 65536;
            if (room > LARGEST || !(larger = realloc(data, room))) {
                snprintf(error, IMAGE_ERROR, "%.480s: too large", path);
                goto fail;
            }
            data = larger;
        }
        got = fread(data + used, 1, room - used - 1, file);
        used += got;
    }
    if (ferror(file)) {
        snprintf(error, IMAGE_ERROR, "%s: %s", path, strerror(errno));
        goto fail;
    }
    fclose(file);
    data[used] = '\0';
    *text = data;
    *size = used;
    return true;
fail:
    fclose(file);
    free(data);
    return false;
}

/* Past white space, commas and comments to end of line. */
static const char *skip(const char *at, unsigned *line)
{
    for (;; at++) {
        if (at[0] == '/' && at[1] == '/')
            at += strcspn(at, "\n");
        if (*at == '\n')
            ++*line;
        else if (*at == '\0' || (!isspace((unsigned char)*at) && *at != ','))
            return at;
    }
}

/* A word takes at least three characters and one between words, so the text's own size holds all words. */
static bool parse_words(const char *path, const char *text, char *words, size_t *size, char error[IMAGE_ERROR])
{
    unsigned line = 1;
    *size = 0;
    for (const char *at = skip(text, &line); *at; at = skip(at, &line)) {
        char *end = NULL;
        unsigned long long value = 0;
        if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && isxdigit((unsigned char)at[2]))
            value = strtoull(at, &end, 16);
        if (!end || value > UINT32_MAX || (*end && !isspace((unsigned char)*end) && *end != ',' && *end != '/')) {
            snprintf(error, IMAGE_ERROR, "%s:%u: expected a word like 0x100009e7, found \"%.12s\"", path, line, at);
            return false;
        }
        for (int i = 0; i < 4; i++)
            words[(*size)++] = (char)(unsigned char)(value >> 8 * i);
        at = end;
    }
    return true;
}

static bool words_of_text(const char *path, char **text, size_t *size, char error[IMAGE_ERROR])
{
    char *words = malloc(*size + 8);
    if (!words) {
        snprintf(error, IMAGE_ERROR, "%.480s: too large", path);
        return false;
    }
    if (!parse_words(path, *text, words, size, error)) {
        free(words);
        return false;
    }
    free(*text);
    *text = words;
    return true;
}

bool image_read(const char *path, uint8_t **bytes, size_t *size, char error[IMAGE_ERROR])
{
    char *text, *padded;
    size_t whole;
    if (!read_whole(path, &text, size, error))
        return false;
    if (is_hex(path) && !words_of_text(path, &text, size, error)) {
        free(text);
        return false;
    }
    if (*size == 0) {
        snprintf(error, IMAGE_ERROR, "%s: empty", path);
        free(text);
        return false;
    }
    whole = (*size + 7) / 8 * 8;
    if (!(padded = realloc(text, whole))) {
        snprintf(error, IMAGE_ERROR, "%.480s: too large", path);
        free(text);
        return false;
    }
    memset(padded + *size, 0, whole - *size);
    *bytes = (uint8_t *)padded;
    *size = whole;
    return true;
}

static void print_words(FILE *file, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4 && i + k < size; k++)
            word |= (uint32_t)bytes[i + k] << 8 * k;
        fprintf(file, "0x%08x%s", word, i + 4 >= size || i % 32 == 28 ? ",\n" : ", ");
    }
}

bool image_write(const char *path, const uint8_t *bytes, size_t size, char error[IMAGE_ERROR])
{
    FILE *file = fopen(path, "wb");
    bool good;
    if (!file) {
        snprintf(error, IMAGE_ERROR, "%s: %s", path, strerror(errno));
        return false;
    }
    if (is_hex(path))
        print_words(file, bytes, size);
    else
        fwrite(bytes, 1, size, file);
    good = !ferror(file);
    if (fclose(file) || !good) {
        snprintf(error, IMAGE_ERROR, "%s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
