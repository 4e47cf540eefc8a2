/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reads the macros that lib/gpu generates. */
#include "gpu_model_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned gpu_model_constant(const struct run *run, const char *name)
{
    char line[64];
    const char *at;
    snprintf(line, sizeof line, "#define %s ", name);
    at = strstr(run->text, line);
    return at ? (unsigned)strtoul(at + strlen(line), NULL, 10) : 0;
}

static const char *body_of(const struct run *run, const char *name)
{
    char line[64];
    const char *at;
    for (at = run->text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        snprintf(line, sizeof line, "#define %s", name);
        if (!strncmp(at, line, strlen(line)) && strchr(" (\n", at[strlen(line)])) {
            at += strlen(line);
            return *at == '(' && at[1] == 'X' ? at + 3 : at;
        }
        if (!strchr(at, '\n'))
            break;
    }
    return NULL;
}

static const char *read_call(struct operation *operation, const char *at)
{
    size_t length = strcspn(at, "( \n");
    snprintf(operation->name, sizeof operation->name, "%.*s", (int)length, at);
    at += length;
    if (*at != '(')
        return at;
    for (at++; *at != ')'; at += strspn(at, ", ")) {
        length = strcspn(at, ",)");
        if (*at >= '0' && *at <= '9')
            operation->number[operation->count++] = (unsigned)strtoul(at, NULL, 10);
        else
            snprintf(operation->kind, sizeof operation->kind, "%.*s", (int)length, at);
        at += length;
    }
    return at + 1;
}

/* "if (lane < 5)", "if (lane >= 2 && lane < 5)", "if (lane >= 2)" */
static const char *read_condition(unsigned *from, unsigned *to, const char *at)
{
    const char *end = strchr(at, ')'), *least = strstr(at, ">= "), *limit = strstr(at, "< ");
    if (least && least < end)
        *from = (unsigned)strtoul(least + 3, NULL, 10);
    if (limit && limit < end)
        *to = (unsigned)strtoul(limit + 2, NULL, 10);
    return end + 1;
}

/* The calls in a macro's body. */
bool gpu_model_parse(struct list *list, const struct run *run, const char *name)
{
    unsigned lanes = run->node->shape.lanes, from = 0, to = lanes, other = lanes;
    const char *at = body_of(run, name);
    bool block = false;
    list->count = 0;
    if (!at)
        return false;
    while (*(at += strspn(at, " ;")) != '\n') {
        if (!strncmp(at, "if (", 4)) {
            at = read_condition(&from, &to, at);
            other = to;
        } else if (!strncmp(at, "else {", 6)) {
            from = other;
            to = lanes;
            block = true;
            at += 6;
        } else if (*at == '{') {
            block = true;
            at++;
        } else if (*at == '}') {
            block = false;
            from = 0;
            to = lanes;
            at++;
        } else {
            struct operation *operation = &list->operation[list->count++];
            if (list->count == MOST_OPERATIONS)
                return false;
            *operation = (struct operation){.from = from, .to = to};
            at = read_call(operation, at);
            if (!block) {
                from = 0;
                to = lanes;
            }
        }
    }
    return true;
}
