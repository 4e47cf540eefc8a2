/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Text that grows: generated source. Out of memory is remembered, so that only the end has to be checked. */
#ifndef PENSTOCK_GPU_TEXT_H
#define PENSTOCK_GPU_TEXT_H

#include "backends/backend.h"

struct gpu_text {
    char *content; /* NULL or ends with 0 */
    size_t length, capacity;
    bool failed; /* the error text is set */
};

/* No conversion for floating point: it would follow the locale. */
void penstock__text_add(struct gpu_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As it is, and in a tenth of the time: of files. */
void penstock__text_add_whole(struct gpu_text *text, const char *more);

/* `value` as a float literal that reads back as the same number, whatever the locale. */
void penstock__text_add_float(struct gpu_text *text, float value);

void penstock__text_free(struct gpu_text *text);

/* FNV-1a of 128 bits, by words of eight bytes, printed as 32 hexadecimal digits: G. Fowler, L. Noll, K.-P. Vo. Fed
 * piece by piece. */
struct gpu_hash {
    uint64_t high, low;
};

struct gpu_hash penstock__hash_start(void);
void penstock__hash_add(struct gpu_hash *hash, const char *text);
void penstock__hash_print(const struct gpu_hash *hash, char digits[33]);

#endif
