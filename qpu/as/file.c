/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Program files of the command-line tools. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 26 };

static bool is_standard(const char *path)
{
    return !strcmp(path, "-");
}

static bool is_hex(const char *path)
{
    size_t length = strlen(path);
    return is_standard(path) || (length >= 4 && !strcmp(path + length - 4, ".hex"));
}

static bool complain(const char *tool, const char *path, const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", tool, path, what);
    return false;
}

bool qpu_read_text(const char *tool, const char *path, char **text, size_t *size)
{
    FILE *file = is_standard(path) ? stdin : fopen(path, "rb");
    size_t capacity = 0, got;
    bool good = file;
    *text = NULL;
    *size = 0;
    errno = file ? 0 : errno;
    while (good) {
        if (*size + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *grown = *size < LARGEST ? realloc(*text, capacity) : NULL;
            if (!grown) {
                errno = *size < LARGEST ? ENOMEM : EFBIG;
                good = false;
                break;
            }
            *text = grown;
        }
        got = fread(*text + *size, 1, capacity - 1 - *size, file);
        *size += got;
        if (!got)
            break;
    }
    if (good && ferror(file))
        good = false;
    int reason = errno;
    if (file && file != stdin)
        fclose(file);
    if (good) {
        (*text)[*size] = 0;
        return true;
    }
    free(*text);
    *text = NULL;
    return complain(tool, path, strerror(reason ? reason : EIO));
}

static bool store(uint8_t *bytes, size_t *count, const char *number, char **end)
{
    errno = 0;
    unsigned long long word = strtoull(number, end, 16);
    if (*end == number || errno || word > UINT32_MAX)
        return false;
    for (int i = 0; i < 4; i++)
        bytes[(*count)++] = (uint8_t)(word >> 8 * i);
    return true;
}

static bool parse_hex(const char *tool, const char *path, char *text, size_t size, uint8_t **result, size_t *count)
{
    uint8_t *bytes = malloc(size * 4 + 4); /* "1,2" would do for two words */
    int line = 1;
    *count = 0;
    if (!bytes)
        return complain(tool, path, strerror(ENOMEM));
    for (char *at = text; at < text + size;) {
        if (at[0] == '/' && at[1] == '/') {
            while (*at && *at != '\n')
                at++;
        } else if (*at && strchr(" \t\r\n,", *at)) {
            line += *at == '\n';
            at++;
        } else if (!store(bytes, count, at, &at) || (*at && !strchr(" \t\r\n,/", *at))) {
            fprintf(stderr, "%s: %s:%d: expected a hexadecimal word of 32 bits\n", tool, path, line);
            free(bytes);
            return false;
        }
    }
    *result = bytes;
    return true;
}

bool qpu_read_program(const char *tool, const char *path, uint8_t **bytes, size_t *size)
{
    char *text;
    size_t length;
    *bytes = NULL;
    if (!qpu_read_text(tool, path, &text, &length))
        return false;
    if (!is_hex(path)) {
        *bytes = (uint8_t *)text;
        *size = length;
        return true;
    }
    bool good = parse_hex(tool, path, text, length, bytes, size);
    free(text);
    return good;
}

static bool write_file(const char *tool, const char *path, bool (*write)(FILE *, const void *, size_t),
                       const void *data, size_t size)
{
    FILE *file = is_standard(path) ? stdout : fopen(path, "wb");
    if (!file)
        return complain(tool, path, strerror(errno));
    errno = 0;
    bool good = write(file, data, size) && !fflush(file);
    int reason = errno;
    if (file != stdout && fclose(file) && good) {
        good = false;
        reason = errno;
    }
    if (good)
        return true;
    if (file != stdout)
        remove(path);
    return complain(tool, path, strerror(reason ? reason : EIO));
}

static bool write_raw(FILE *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file) == size;
}

/* One instruction a line. */
static bool write_hex(FILE *file, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4 && i + k < size; k++)
            word |= (uint32_t)bytes[i + k] << 8 * k;
        if (fprintf(file, "0x%08x,%s", (unsigned)word, i % 8 && i + 4 < size ? "\n" : i + 4 < size ? " " : "\n") < 0)
            return false;
    }
    return true;
}

bool qpu_write_program(const char *tool, const char *path, const uint8_t *bytes, size_t size)
{
    return write_file(tool, path, is_hex(path) ? write_hex : write_raw, bytes, size);
}

bool qpu_write_text(const char *tool, const char *path, const char *text)
{
    return write_file(tool, path, write_raw, text, strlen(text));
}
