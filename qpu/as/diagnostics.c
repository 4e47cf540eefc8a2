/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Errors and warnings: collected with their place, sorted, each told once. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WARNINGS = 200 };

static const struct {
    const char *name;
    bool warning;
} rules[QPU_RULE_COUNT] = {
    [QPU_RULE_NONE] = {"syntax", false},
    [QPU_RULE_REGISTER_LATENCY] = {"register-latency", false},
    [QPU_RULE_ROTATE_LATENCY] = {"rotate-latency", false},
    [QPU_RULE_ROTATE_QUAD] = {"rotate-quad", true},
    [QPU_RULE_SFU_LATENCY] = {"sfu-latency", false},
    [QPU_RULE_BRANCH_DISTANCE] = {"branch-distance", false},
    [QPU_RULE_BRANCH_FLAGS] = {"branch-flags", true},
    [QPU_RULE_SAME_DESTINATION] = {"same-destination", false},
    [QPU_RULE_CONDITIONAL_WRITE] = {"conditional-write", false},
    [QPU_RULE_ONE_UNIT] = {"one-unit", false},
    [QPU_RULE_VPM_COMBINATION] = {"vpm-combination", false},
    [QPU_RULE_UNIFORM_LATENCY] = {"uniform-latency", false},
    [QPU_RULE_THREAD_END] = {"thread-end", false},
    [QPU_RULE_NOSWAP_DISTANCE] = {"noswap-distance", false},
    [QPU_RULE_TMU_QUEUE] = {"tmu-queue", false},
    [QPU_RULE_VPM_SETUP] = {"vpm-setup", false},
    [QPU_RULE_VPM_LATENCY] = {"vpm-latency", true},
    [QPU_RULE_PENDING_END] = {"pending-end", false},
    [QPU_RULE_PACK_TARGET] = {"pack-target", false},
    [QPU_RULE_RUNS_OFF] = {"runs-off", true},
};

const char *qpu_rule_name(enum qpu_rule rule)
{
    return (unsigned)rule < QPU_RULE_COUNT ? rules[rule].name : NULL;
}

bool qpu_rule_is_warning(enum qpu_rule rule)
{
    return (unsigned)rule < QPU_RULE_COUNT && rules[rule].warning;
}

static bool told_already(const struct qpu__assembler *as, int source, const struct qpu_diagnostic *d)
{
    for (size_t i = 0; i < as->diagnostic_count; i++) {
        const struct qpu_diagnostic *other = &as->diagnostics[i];
        if (as->diagnostic_sources[i] == source && other->line == d->line && other->column == d->column &&
            !strcmp(other->text, d->text))
            return true;
    }
    return false;
}

/* Keeps the two arrays in step; without memory only the count remains, and `arena.exhausted` says why. */
static void record(struct qpu__assembler *as, const struct qpu__source *source, const struct qpu_diagnostic *d)
{
    int number = source ? source->number : 0;
    if (told_already(as, number, d) || (d->warning && as->diagnostic_count >= MOST_WARNINGS))
        return;
    if (!d->warning && ++as->error_count >= QPU__MOST_ERRORS)
        as->stopped = true;
    void *list =
        qpu__grow(&as->arena, as->diagnostics, as->diagnostic_count, &as->diagnostic_capacity, sizeof *as->diagnostics);
    void *sources = qpu__grow(&as->arena, as->diagnostic_sources, as->diagnostic_count, &as->diagnostic_source_capacity,
                              sizeof *as->diagnostic_sources);
    if (list)
        as->diagnostics = list;
    if (sources)
        as->diagnostic_sources = sources;
    if (!list || !sources)
        return;
    as->diagnostic_sources[as->diagnostic_count] = number;
    as->diagnostics[as->diagnostic_count++] = *d;
}

static void tell(struct qpu__assembler *as, const struct qpu__token *at, const struct qpu__scope *scope,
                 enum qpu_rule rule, const char *format, va_list arguments)
{
    char text[512];
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (scope && scope->use && length >= 0 && (size_t)length < sizeof text)
        length += snprintf(text + length, sizeof text - (size_t)length, " (in %s, used at %s:%d)", scope->what,
                           scope->use->source->file, scope->use->line);
    if (rule && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, " [%s]", qpu_rule_name(rule));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    struct qpu_diagnostic d = {.file = at && at->source ? at->source->file : "command line",
                               .line = at ? at->line : 1,
                               .column = at ? at->column : 1,
                               .warning = qpu_rule_is_warning(rule) && !as->options->warnings_are_errors,
                               .rule = rule,
                               .text = qpu__copy(&as->arena, text, strlen(text))};
    if (d.text)
        record(as, at ? at->source : NULL, &d);
}

bool qpu__error(struct qpu__assembler *as, const struct qpu__token *at, const char *format, ...)
{
    va_list arguments;
    if (as->single) { /* nobody reads it */
        as->error_count++;
        return false;
    }
    if (at->kind == QPU__WRONG) {
        qpu__report(as, &(struct qpu__origin){.place = at, .scope_use = as->scope}, QPU_RULE_NONE, "%s", at->text);
        return false;
    }
    va_start(arguments, format);
    tell(as, at, as->scope, QPU_RULE_NONE, format, arguments);
    va_end(arguments);
    return false;
}

void qpu__report(struct qpu__assembler *as, const struct qpu__origin *at, enum qpu_rule rule, const char *format, ...)
{
    va_list arguments;
    if (as->options->ignored[rule])
        return;
    va_start(arguments, format);
    tell(as, at->place, at->scope_use, rule, format, arguments);
    va_end(arguments);
}

struct sorted {
    struct qpu_diagnostic diagnostic;
    int source;
    size_t order;
};

static int compare(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->diagnostic.line != b->diagnostic.line)
        return a->diagnostic.line < b->diagnostic.line ? -1 : 1;
    if (a->diagnostic.column != b->diagnostic.column)
        return a->diagnostic.column < b->diagnostic.column ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void qpu__sort_diagnostics(struct qpu__assembler *as)
{
    struct sorted *sorted = qpu__alloc(&as->arena, as->diagnostic_count * sizeof *sorted);
    if (!sorted || !as->diagnostic_count)
        return;
    for (size_t i = 0; i < as->diagnostic_count; i++)
        sorted[i] = (struct sorted){as->diagnostics[i], as->diagnostic_sources[i], i};
    qsort(sorted, as->diagnostic_count, sizeof *sorted, compare);
    for (size_t i = 0; i < as->diagnostic_count; i++)
        as->diagnostics[i] = sorted[i].diagnostic;
}

/* The second pass says again what the first has said, and knows more. */
void qpu__forget_diagnostics(struct qpu__assembler *as)
{
    as->diagnostic_count = 0;
    as->error_count = 0;
}
