/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Low-density parity-check codes of standards by their names. */
#include "core/base/description.h"
#include "ops/coding/ldpc.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAME 40

/* "1944" to 1944; 0 for what is no such number. */
static unsigned number(const char *text)
{
    char *end;
    unsigned long value = text[0] >= '1' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    return value && value < 100000 && !*end ? (unsigned)value : 0;
}

/* "5/6" to 5; 0 for what is no rate of this form. */
static unsigned numerator(const char *text)
{
    bool form = strlen(text) == 3 && text[0] >= '1' && text[0] <= '8' && text[1] == '/' && text[2] == text[0] + 1;
    return form ? (unsigned)(text[0] - '0') : 0;
}

static bool read_wifi(penstock_ldpc_desc *desc, char *const *words, unsigned count)
{
    unsigned word = count > 1 ? number(words[1]) : 1944, rate = count > 2 ? numerator(words[2]) : 1;
    if (count > 3 || !(desc->base = penstock__ldpc_wifi_base(&desc->rows, word, rate)))
        return false;
    desc->columns = 24;
    desc->lifting = word / 24;
    return true;
}

static bool read_nr(penstock_ldpc_desc *desc, char *const *words, unsigned count)
{
    bool first = count > 1 && !strcmp(words[1], "bg1");
    unsigned most = first ? 46 : 42;
    if (count < 2 || count > 4 || (!first && strcmp(words[1], "bg2")))
        return false;
    desc->graph = first ? PENSTOCK_LDPC_NR_BG1 : PENSTOCK_LDPC_NR_BG2;
    desc->lifting = count > 2 ? number(words[2]) : 384;
    desc->rows = count > 3 ? number(words[3]) : most;
    desc->columns = desc->rows + (first ? 22 : 10);
    desc->punctured = 2 * (size_t)desc->lifting;
    return desc->rows >= 4 && desc->rows <= most && penstock__ldpc_nr_set(desc->lifting) >= 0;
}

static bool read_ccsds(penstock_ldpc_desc *desc, char *const *words, unsigned count)
{
    static const struct {
        char rate[4];
        unsigned data; /* blocks of M bits */
    } rates[] = {{"1/2", 2}, {"2/3", 4}, {"4/5", 8}};
    unsigned bits = count > 1 ? number(words[1]) : 1024;
    for (size_t i = 0; i < sizeof rates / sizeof *rates && count < 4; i++)
        if (!strcmp(count > 2 ? words[2] : "1/2", rates[i].rate) && (bits == 1024 || bits == 4096 || bits == 16384)) {
            desc->graph = PENSTOCK_LDPC_AR4JA;
            desc->rows = 12;
            desc->columns = 4 * (rates[i].data + 3);
            desc->lifting = bits / rates[i].data / 4;
            desc->punctured_end = bits / rates[i].data;
            return true;
        }
    return false;
}

static bool read_name(penstock_ldpc_desc *desc, const char *name)
{
    char copy[MOST_NAME + 1], *words[4], *next = copy;
    unsigned count = 0;
    if (strlen(name) > MOST_NAME)
        return false;
    strcpy(copy, name);
    for (; next; count++) {
        if (count == 4)
            return false;
        words[count] = next;
        if ((next = strchr(next, ':')))
            *next++ = 0;
    }
    return !strcmp(words[0], "wifi")    ? read_wifi(desc, words, count)
           : !strcmp(words[0], "nr")    ? read_nr(desc, words, count)
           : !strcmp(words[0], "ccsds") ? read_ccsds(desc, words, count)
                                        : false;
}

int penstock_ldpc_code(penstock_ldpc_desc *desc, const char *name)
{
    penstock_ldpc_desc filled;
    int status;
    if (!desc || !name)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ldpc_code: description or name is NULL");
    if ((status = penstock__description_read(&filled, sizeof filled, desc, "penstock_ldpc_desc")))
        return status;
    filled.graph = PENSTOCK_LDPC_BASE;
    filled.base = NULL;
    filled.punctured = filled.punctured_end = filled.filler = 0;
    if (!read_name(&filled, name))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "'%.40s' is no LDPC code; there are wifi:648|1296|1944:1/2|2/3|3/4|5/6, "
                               "nr:bg1|bg2:LIFTING:ROWS and ccsds:1024|4096|16384:1/2|2/3|4/5",
                               name);
    return penstock__description_write(desc, &filled, sizeof filled, "penstock_ldpc_desc");
}
