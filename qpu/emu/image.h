/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory images as files: hexadecimal words as text where the name ends in .hex, raw little-endian bytes elsewhere. */
#ifndef PENSTOCK_QPU_IMAGE_H
#define PENSTOCK_QPU_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_ERROR = 512 };

/* The file's bytes with zeros up to a multiple of 8; the caller frees them. False with one line in `error`. */
bool image_read(const char *path, uint8_t **bytes, size_t *size, char error[IMAGE_ERROR]);
bool image_write(const char *path, const uint8_t *bytes, size_t size, char error[IMAGE_ERROR]);

#endif
