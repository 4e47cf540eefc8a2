/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Registers are made as they are named; one that is declared in braces has no value behind them that anybody reads. */
#include "ptx_run.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES    8192 /* a power of two */
#define OPERANDS 8
#define SEVERAL  UINT_MAX
#define SPACE    ((int64_t)1 << 32) /* buffer i begins at address (i + 1) SPACE, shared memory at 0 */

union cell {
    int64_t i;
    float f;
};

struct name {
    char text[24];
    union cell *cells; /* of each work-item; of a label NULL */
    size_t at;         /* a label's first instruction */
};

struct guard { /* of a float of shared memory: who used it last, and before which barrier */
    unsigned writer, reader, written, read;
};

struct state {
    struct ptx_run *run;
    struct name *names;
    char **lines, *text;
    size_t count, at;
    float *shared;
    struct guard *guards;
    char *operand[OPERANDS];
    unsigned operands;
    union cell *scratch[OPERANDS];
    size_t *resume; /* of each work-item: the instruction before which it does none */
    bool *active;   /* which do this one */
    unsigned busy;  /* how many */
};

static bool fail(struct state *self, const char *why)
{
    const char *line = self->at && self->lines ? self->lines[self->at - 1] : "";
    if (!self->run->error[0])
        snprintf(self->run->error, sizeof self->run->error, "%s: %.120s", why, line);
    return false;
}

static struct name *name_of(struct state *self, const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    for (unsigned i = 0; i < NAMES; i++) {
        struct name *name = &self->names[(hash + i) % NAMES];
        if (!name->text[0])
            snprintf(name->text, sizeof name->text, "%s", text);
        if (!strcmp(name->text, text))
            return name;
    }
    return NULL;
}

/* ---------------------------------------------------------------- text ------------------------ */

static char *trim(char *at)
{
    at += strspn(at, " \t\n{}");
    for (char *end = at + strlen(at); end > at && strchr(" \t\n", end[-1]);)
        *--end = 0;
    return at;
}

static void blank_comments(char *text)
{
    for (char *at = text; (at = strstr(at, "//"));)
        while (*at && *at != '\n')
            *at++ = ' ';
}

/* Instructions end with a semicolon, labels with a colon; declarations go. */
static bool read_lines(struct state *self, char *body)
{
    size_t most = 1;
    for (const char *at = body; *at; at++)
        most += *at == ';';
    if (!(self->lines = calloc(most, sizeof *self->lines)))
        return fail(self, "no memory");
    for (char *next; (next = strchr(body, ';')); body = next + 1) {
        char *colon, *line;
        *next = 0;
        line = trim(body);
        while (*line == '$' && (colon = strchr(line, ':'))) {
            struct name *name;
            *colon = 0;
            if (!(name = name_of(self, line)))
                return fail(self, "too many names");
            name->at = self->count;
            line = trim(colon + 1);
        }
        if (*line && *line != '.')
            self->lines[self->count++] = line;
    }
    return true;
}

static void split(struct state *self, char *at)
{
    self->operands = 0;
    while (*(at += strspn(at, " ,{}[]\t\n")) && self->operands < OPERANDS) {
        self->operand[self->operands++] = at;
        at += strcspn(at, " ,{}[]\t\n");
        if (*at)
            *at++ = 0;
    }
}

/* ---------------------------------------------------------------- operands -------------------- */

static union cell *cells_of(struct state *self, const char *text)
{
    struct name *name = name_of(self, text);
    if (name && !name->cells && (name->cells = malloc(self->run->items * sizeof *name->cells)))
        for (unsigned t = 0; t < self->run->items; t++)
            name->cells[t] = (union cell){.f = NAN};
    return name ? name->cells : NULL;
}

/* A register, or a number in all cells of a scratch one. */
static const union cell *value_of(struct state *self, unsigned i)
{
    const char *text = self->operand[i];
    union cell all = {0}, *cells = self->scratch[i];
    bool across = !strcmp(text, "%tid.x"), down = !strcmp(text, "%tid.y");
    unsigned width = self->run->width ? self->run->width : self->run->items;
    if (!strncmp(text, "0f", 2)) {
        uint32_t bits = (uint32_t)strtoul(text + 2, NULL, 16);
        memcpy(&all.f, &bits, sizeof bits);
    } else if (!strcmp(text, "%ctaid.x"))
        all.i = self->run->group;
    else if ((*text >= '0' && *text <= '9') || *text == '-')
        all.i = strtoll(text, NULL, 0);
    else if (!across && !down && strcmp(text, "memory") != 0 && strcmp(text, "exchange") != 0)
        return cells_of(self, text);
    for (unsigned t = 0; t < self->run->items; t++)
        cells[t] = across ? (union cell){.i = t % width} : down ? (union cell){.i = t / width} : all;
    return cells;
}

/* "%r4+272" */
static const union cell *address_of(struct state *self, unsigned i, int64_t *offset)
{
    char *plus = strchr(self->operand[i], '+');
    *offset = plus ? strtoll(plus + 1, NULL, 0) : 0;
    if (plus)
        *plus = 0;
    return value_of(self, i);
}

/* ---------------------------------------------------------------- memory ---------------------- */

static bool guarded(struct state *self, size_t at, unsigned item, bool store)
{
    struct guard *guard = &self->guards[at];
    unsigned now = self->run->barriers + 1;
    if ((guard->written == now && guard->writer != item) || (store && guard->read == now && guard->reader != item))
        return fail(self, "a race");
    if (store) {
        guard->written = now;
        guard->writer = item;
    } else {
        guard->reader = guard->read == now && guard->reader != item ? SEVERAL : item;
        guard->read = now;
    }
    return true;
}

static bool access_one(struct state *self, union cell *cell, int64_t address, unsigned item, bool store, bool shared)
{
    struct ptx_run *run = self->run;
    int64_t buffer = address / SPACE - 1;
    size_t at = (size_t)(address % SPACE) / 4, count = run->shared_bytes / 4;
    float *values = self->shared;
    if (shared != (buffer < 0) || buffer >= PTX_PARAMETERS)
        return fail(self, "an address of another space");
    if (!shared) {
        values = run->parameter[buffer].value;
        count = run->parameter[buffer].count;
        if (store && run->parameter[buffer].stores)
            run->parameter[buffer].stores[at < count ? at : 0]++;
        else if (store)
            return fail(self, "a store to what is only read");
    }
    if (at >= count)
        return fail(self, "out of bounds");
    if (shared && !guarded(self, at, item, store))
        return false;
    if (isnan(store ? cell->f : values[at]))
        return fail(self, "not a number");
    if (store)
        values[at] = cell->f;
    else
        cell->f = values[at];
    return true;
}

static bool access_memory(struct state *self, const char *operation)
{
    bool store = operation[0] == 's', shared = strstr(operation, ".shared");
    unsigned values = strstr(operation, ".v4.") ? 4 : strstr(operation, ".v2.") ? 2 : 1, first = store ? 1 : 0;
    int64_t offset;
    bool floats = strstr(operation, ".f32") || strstr(operation, ".u32"); /* a copy may call them so */
    if (!floats || self->operands != values + 1)
        return fail(self, "not floats");
    const union cell *address = address_of(self, store ? 0 : values, &offset);
    for (unsigned k = 0; k < values; k++) {
        union cell *cells = cells_of(self, self->operand[first + k]);
        for (unsigned t = 0; t < self->run->items; t++) {
            if (!self->active[t])
                continue;
            if ((address[t].i + offset) % (4 * values))
                return fail(self, "not aligned");
            if (!access_one(self, &cells[t], address[t].i + offset + 4 * k, t, store, shared))
                return false;
        }
    }
    return true;
}

static bool read_parameter(struct state *self)
{
    const char *number = strrchr(self->operand[1], '_');
    unsigned i = number ? (unsigned)atoi(number + 1) : PTX_PARAMETERS;
    union cell *cells = cells_of(self, self->operand[0]);
    if (i >= PTX_PARAMETERS)
        return fail(self, "no such parameter");
    for (unsigned t = 0; t < self->run->items; t++)
        cells[t].i = self->run->parameter[i].value ? (i + 1) * SPACE : self->run->number[i];
    return true;
}

/* ---------------------------------------------------------------- arithmetic ------------------ */

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool compute(struct state *self, const char *operation)
{
    const char *type = strrchr(operation, '.');
    const union cell *a, *b, *c;
    union cell *to;
    bool whole = starts(operation, "setp") || strstr(operation, ".wide") || !strcmp(type, ".pred");
    if (self->operands < 2 || self->operands > 4)
        return fail(self, "unknown");
    to = cells_of(self, self->operand[0]);
    a = value_of(self, 1);
    b = self->operands > 2 ? value_of(self, 2) : a;
    c = self->operands > 3 ? value_of(self, 3) : a;
    if (!to || !a || !b || !c)
        return fail(self, "too many names");
    for (unsigned t = 0; t < self->run->items; t++) {
        if (!self->active[t])
            continue;
        bool narrow = !strcmp(type, ".u32"); /* numbers of 32 bits lie as signed ones */
        int64_t x = narrow ? (uint32_t)a[t].i : a[t].i, y = narrow ? (uint32_t)b[t].i : b[t].i, z;
        if (!strcmp(type, ".f32")) {
            to[t].f = ptx_of_floats(operation, a[t].f, b[t].f, c[t].f);
            continue;
        }
        if (!ptx_of_integers(&z, operation, x, y, c[t].i))
            return fail(self, "unknown");
        to[t].i = whole || strstr(type, "64") ? z : (int32_t)z;
    }
    return true;
}

/* ---------------------------------------------------------------- running --------------------- */

/* Who does the instruction: those that wait for no later one, and of them those that "@%p1 " or "@!%p1 " names. */
static char *choose(struct state *self, char *line)
{
    bool some = *line == '@', not = some && line[1] == '!';
    char *name = line + 1 + not, *end = some ? strchr(name, ' ') : NULL;
    const union cell *cells = NULL;
    if (some) {
        *end++ = 0;
        cells = cells_of(self, name);
        line = end + strspn(end, " \t");
    }
    self->busy = 0;
    for (unsigned t = 0; t < self->run->items; t++) {
        self->active[t] = self->resume[t] < self->at && (!some || !cells[t].i == not );
        self->busy += self->active[t];
    }
    return line;
}

/* All go there, or those that do, forward, wait there for the others. */
static bool branch(struct state *self)
{
    const struct name *label = name_of(self, self->operand[0]);
    if (!label)
        return fail(self, "no such label");
    if (self->busy == self->run->items)
        self->at = label->at;
    else if (self->busy && label->at < self->at)
        return fail(self, "work-items part in a loop");
    for (unsigned t = 0; t < self->run->items; t++)
        if (self->active[t])
            self->resume[t] = label->at;
    return true;
}

static bool step(struct state *self, char *line, bool *done)
{
    static const char *const nothing[] = {"griddepcontrol", "prefetch", "nop"};
    char *rest;
    line = choose(self, line);
    for (unsigned i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        if (starts(line, nothing[i]))
            return true;
    rest = line + strcspn(line, " \t\n");
    if (*rest)
        *rest++ = 0;
    split(self, rest);
    bool meets = starts(line, "bar.sync") || starts(line, "barrier.sync");
    if (meets || starts(line, "ret")) {
        if (self->busy < self->run->items)
            return fail(self, "not all work-items are here");
        self->run->barriers += meets;
        *done = !meets;
    } else if (starts(line, "bra"))
        return branch(self);
    else if (starts(line, "ld.param"))
        return read_parameter(self);
    else if (starts(line, "ld.") || starts(line, "st."))
        return access_memory(self, line);
    else
        return compute(self, line);
    return true;
}

static bool run_lines(struct state *self)
{
    char copy[512];
    for (bool done = false; !done && self->at < self->count; self->run->steps++) {
        snprintf(copy, sizeof copy, "%s", self->lines[self->at++]);
        if (!step(self, copy, &done))
            return false;
    }
    return true;
}

static bool prepare(struct state *self)
{
    struct ptx_run *run = self->run;
    const char *entry = strstr(run->text, ".entry"), *body = entry ? strchr(entry, '{') : NULL;
    self->names = calloc(NAMES, sizeof *self->names);
    self->shared = malloc(run->shared_bytes + 4);
    self->guards = calloc(run->shared_bytes / 4 + 1, sizeof *self->guards);
    self->resume = calloc(run->items, sizeof *self->resume);
    self->active = calloc(run->items, sizeof *self->active);
    self->text = body ? strdup(body + 1) : NULL;
    for (unsigned i = 0; i < OPERANDS; i++)
        if (!(self->scratch[i] = malloc(run->items * sizeof **self->scratch)))
            return fail(self, "no memory");
    if (!self->names || !self->shared || !self->guards || !self->resume || !self->active || !self->text)
        return fail(self, "no kernel, or no memory");
    for (size_t i = 0; i < run->shared_bytes / 4; i++)
        self->shared[i] = NAN;
    blank_comments(self->text);
    return read_lines(self, self->text);
}

bool ptx_run(struct ptx_run *run)
{
    struct state self = {.run = run};
    bool good = prepare(&self) && run_lines(&self);
    for (unsigned i = 0; self.names && i < NAMES; i++)
        free(self.names[i].cells);
    for (unsigned i = 0; i < OPERANDS; i++)
        free(self.scratch[i]);
    free(self.names);
    free(self.lines);
    free(self.text);
    free(self.shared);
    free(self.guards);
    free(self.resume);
    free(self.active);
    return good;
}
