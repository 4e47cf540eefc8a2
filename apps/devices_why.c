/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock devices --why: the library tells of its choices while the case is done. */
#include "devices_why.h"
#include "cases/cases.h"
#include "device_list.h"
#include "shared/progress.h"
#include "shared/targets.h"

#include <math.h>
#include <penstock/choice.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    pthread_mutex_t lock; /* choices of several threads */
    struct choice_row *rows;
    size_t count;
    bool failed; /* memory */
};

/* ---------------------------------------------------------------- what is told ---------------- */

static char *copied(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void free_row(struct choice_row *row)
{
    free(row->what);
    free(row->device);
    free(row->why);
    free(row->unit);
}

/* A case may make the same plan twice; the first time tells. */
static bool is_known(const struct rows *rows, const penstock_choice *choice)
{
    for (size_t i = 0; i < rows->count; i++)
        if (!strcmp(rows->rows[i].what, choice->what) && !strcmp(rows->rows[i].device, choice->device))
            return true;
    return false;
}

static bool add(struct rows *rows, const penstock_choice *choice)
{
    struct choice_row row = {.what = copied(choice->what),
                             .device = copied(choice->device),
                             .why = copied(choice->why),
                             .unit = copied(choice->unit),
                             .candidate = choice->candidate,
                             .chosen = choice->chosen,
                             .remembered = choice->remembered,
                             .seconds = choice->seconds};
    struct choice_row *more = realloc(rows->rows, (rows->count + 1) * sizeof *more);
    if (more)
        rows->rows = more;
    if (!more || !row.what || !row.device || !row.why || !row.unit) {
        free_row(&row);
        return false;
    }
    rows->rows[rows->count++] = row;
    return true;
}

static void note(void *user, const penstock_choice *choice)
{
    struct rows *rows = user;
    pthread_mutex_lock(&rows->lock);
    if (!is_known(rows, choice) && !add(rows, choice))
        rows->failed = true;
    pthread_mutex_unlock(&rows->lock);
}

/* ---------------------------------------------------------------- print ----------------------- */

static void print_time(const struct choice_row *row)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i < 3 && row->seconds < units[i].unit)
        i++;
    if (row->seconds > 0)
        printf("%7.3g %-2s", row->seconds / units[i].unit, units[i].name);
    else
        printf("%10s", "-");
}

static void print_table(const struct rows *rows)
{
    int width = 6;
    for (size_t i = 0; i < rows->count; i++)
        width = (int)strlen(rows->rows[i].device) > width ? (int)strlen(rows->rows[i].device) : width;
    for (size_t i = 0; i < rows->count; i++) {
        const struct choice_row *row = &rows->rows[i];
        if (!i || strcmp(row->what, rows->rows[i - 1].what))
            printf("%s%s\n%-*s  %-6s  %*s %s  why\n", i ? "\n" : "", row->what, width, "device", "auto",
                   9 - (int)strlen(row->unit), "a", row->unit);
        printf("%-*s  %-6s  ", width, row->device, row->chosen ? "takes" : row->candidate ? "tried" : "-");
        print_time(row);
        printf("  %s%s\n", row->why, row->chosen && row->remembered ? ", as was measured before" : "");
    }
}

static int print_json(const struct rows *rows)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < rows->count && !code; i++)
        code = choice_row_json(&rows->rows[i]);
    return code;
}

/* ---------------------------------------------------------------- the case -------------------- */

static int do_case(const struct test_case *test, const struct case_target *target)
{
    struct bench_row row = {.name = test->text,
                            .device = "auto",
                            .rate_with_transfers_msps = NAN,
                            .bus_msps = NAN,
                            .one_thread_msps = NAN,
                            .plan_cold_ms = NAN,
                            .plan_warm_ms = NAN};
    progress_done(0, "%s on auto", test->text);
    int code = test->kind->bench(test, target, &row);
    progress_clear();
    return code && *row.skipped ? fail(code, "%s", row.skipped) : code;
}

int devices_why(const char *text, bool json, bool wait)
{
    struct rows rows = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct case_target target = {.device = "auto", .threads = usable_cpus(), .by_itself = true};
    struct test_case test;
    int code = case_parse(&test, text);
    if (code || (code = wait ? open_patient_context(&target.context) : open_context(&target.context, 0)))
        return code;
    penstock_context_tell_choices(target.context, note, &rows);
    if (!(code = do_case(&test, &target)) && rows.failed)
        code = fail(EXIT_DATA, "out of memory");
    if (!code && !rows.count)
        code = fail(EXIT_DATA, "%s: \"auto\" has nothing to choose there, the CPU does it", text);
    if (!code && json)
        code = print_json(&rows);
    else if (!code)
        print_table(&rows);
    penstock_context_free(target.context);
    for (size_t i = 0; i < rows.count; i++)
        free_row(&rows.rows[i]);
    free(rows.rows);
    pthread_mutex_destroy(&rows.lock);
    return code;
}
