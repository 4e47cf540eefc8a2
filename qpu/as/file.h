/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Program files: raw little-endian bytes, or, where the name ends in .hex, words of 32 bits as text (0x... separated
 * by commas or spaces; // starts a comment). The functions say on stderr what failed and return false.
 */
#ifndef PENSTOCK_QPU_AS_FILE_H
#define PENSTOCK_QPU_AS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of a file as it is, with a NUL after it; "-" is stdin. To be freed. */
bool qpu_read_text(const char *tool, const char *path, char **text, size_t *size);

/* The bytes of a program; to be freed. */
bool qpu_read_program(const char *tool, const char *path, uint8_t **bytes, size_t *size);

/* "-" is stdout, as text words. A file that could not be written whole is removed. */
bool qpu_write_program(const char *tool, const char *path, const uint8_t *bytes, size_t size);
bool qpu_write_text(const char *tool, const char *path, const char *text);

#endif
