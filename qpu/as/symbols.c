/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Constants and functions by scope, and labels. A name is looked for from the innermost scope outward. */
#include "internal.h"

#include <string.h>

static bool same(const char *name, int length, const char *other, int other_length)
{
    return length == other_length && !memcmp(name, other, (size_t)length);
}

struct qpu__symbol *qpu__find_symbol(struct qpu__assembler *as, const char *name, int length)
{
    for (struct qpu__scope *scope = as->scope; scope; scope = scope->parent)
        for (struct qpu__symbol *s = scope->symbols; s; s = s->next)
            if (same(s->name, s->length, name, length))
                return s;
    return NULL;
}

/* NULL after an error. */
struct qpu__symbol *qpu__set_symbol(struct qpu__assembler *as, struct qpu__scope *scope, const struct qpu__token *name,
                                    struct qpu__value value, bool final)
{
    struct qpu__symbol *symbol = scope->symbols;
    while (symbol && !same(symbol->name, symbol->length, name->text, name->length))
        symbol = symbol->next;
    if (symbol && symbol->final) {
        qpu__error(as, name, "'%.*s' is constant: .unset it first", name->length, name->text);
        return NULL;
    }
    if (!symbol) {
        symbol = qpu__alloc(&as->arena, sizeof *symbol);
        if (!symbol)
            return NULL;
        symbol->next = scope->symbols;
        scope->symbols = symbol;
    }
    *symbol = (struct qpu__symbol){
        .next = symbol->next, .name = name->text, .length = name->length, .value = value, .final = final};
    return symbol;
}

bool qpu__unset_symbol(struct qpu__assembler *as, struct qpu__scope *scope, const struct qpu__token *name)
{
    for (; scope; scope = scope->parent) {
        for (struct qpu__symbol **link = &scope->symbols; *link; link = &(*link)->next) {
            if (same((*link)->name, (*link)->length, name->text, name->length)) {
                *link = (*link)->next;
                return true;
            }
        }
    }
    return qpu__error(as, name, "'%.*s' is not set", name->length, name->text);
}

static unsigned hash(const char *name, int length)
{
    unsigned h = 5381;
    for (int i = 0; i < length; i++)
        h = h * 33 + (unsigned char)name[i];
    return h & 255;
}

static struct qpu__label *find_label(struct qpu__assembler *as, const struct qpu__token *name)
{
    size_t i = as->label_buckets[hash(name->text, name->length)];
    for (; i; i = as->label_links[i - 1])
        if (same(as->labels[i - 1].name, as->labels[i - 1].length, name->text, name->length))
            return &as->labels[i - 1];
    return NULL;
}

static bool is_numeric(const char *name)
{
    return *name >= '0' && *name <= '9';
}

static bool add_label(struct qpu__assembler *as, const struct qpu__token *name)
{
    size_t link_capacity = as->label_capacity;
    void *links = qpu__grow(&as->arena, as->label_links, as->label_count, &link_capacity, sizeof *as->label_links);
    void *labels = qpu__grow(&as->arena, as->labels, as->label_count, &as->label_capacity, sizeof *as->labels);
    if (links)
        as->label_links = links;
    if (labels)
        as->labels = labels;
    if (!links || !labels)
        return false;
    size_t i = as->label_count++;
    as->labels[i] = (struct qpu__label){
        .name = name->text, .length = name->length, .address = (int64_t)as->size, .place = name, .met = true};
    as->label_links[i] = 0;
    if (!is_numeric(name->text)) {
        unsigned bucket = hash(name->text, name->length);
        as->label_links[i] = as->label_buckets[bucket];
        as->label_buckets[bucket] = i + 1;
    }
    return true;
}

bool qpu__define_label(struct qpu__assembler *as, const struct qpu__token *name)
{
    if (as->pass == 1) {
        struct qpu__label *twin = is_numeric(name->text) ? NULL : find_label(as, name);
        if (twin)
            return qpu__error(as, name, "label '%.*s' is already at %s:%d", name->length, name->text,
                              twin->place->source->file, twin->place->line);
        return add_label(as, name);
    }
    struct qpu__label *label = as->label_next < as->label_count ? &as->labels[as->label_next] : NULL;
    if (!label || label->place != name || label->address != (int64_t)as->size) {
        struct qpu__label *twin = is_numeric(name->text) ? NULL : find_label(as, name);
        if (twin && twin->met)
            return qpu__error(as, name, "label '%.*s' is already at %s:%d", name->length, name->text,
                              twin->place->source->file, twin->place->line);
        return qpu__error(as, name, "label '%.*s' is elsewhere than in the first pass: a condition depends on it",
                          name->length, name->text);
    }
    label->met = true;
    as->label_next++;
    return true;
}

/* Numeric labels may be many of one name: the nearest in the direction of the letter. */
static struct qpu__label *find_local(struct qpu__assembler *as, const struct qpu__token *name)
{
    int length = name->length - 1;
    size_t passed = as->pass == 1 ? as->label_count : as->label_next;
    if (name->text[length] == 'b') {
        for (size_t i = passed; i-- > 0;)
            if (same(as->labels[i].name, as->labels[i].length, name->text, length))
                return &as->labels[i];
        return NULL;
    }
    for (size_t i = passed; i < as->label_count; i++)
        if (same(as->labels[i].name, as->labels[i].length, name->text, length))
            return &as->labels[i];
    return NULL;
}

bool qpu__label_value(struct qpu__assembler *as, const struct qpu__token *name, struct qpu__value *value)
{
    struct qpu__label *label = name->kind == QPU__LOCAL ? find_local(as, name) : find_label(as, name);
    *value = (struct qpu__value){.kind = QPU__LABEL};
    if (label) {
        value->integer = label->address;
        value->unknown = as->pass == 2 && (size_t)(label - as->labels) >= as->label_next;
        return true;
    }
    value->unknown = as->pass == 1;
    return as->pass == 1 || qpu__error(as, name, "there is no label '%.*s'", name->length, name->text);
}
