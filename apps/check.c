/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock check: every case on every device against references of its own. */
#include "cases/cases.h"
#include "check_state.h"
#include "shared/interrupt.h"
#include "shared/options.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "shared/targets.h"

#include <stdio.h>
#include <string.h>

/* What of the cases is checked here: part `number` of `count`, which other processes or machines may do the rest of. */
struct part {
    size_t number, count; /* number from 1 on */
};

/* One device's share of a check. */
struct inspection {
    struct case_target target;
    struct check_state state;
    bool resumable;
    const struct part *part;
    size_t visited;                        /* cases that were seen, be they of another part */
    size_t held, failed, skipped, earlier; /* `earlier` ones were held or skipped before an interruption */
};

static const char *const outcome_names[] = {
    [CASE_HELD] = "held",
    [CASE_FAILED] = "FAILED",
    [CASE_SKIPPED] = "SKIPPED",
};

static void count_outcome(struct inspection *inspection, enum case_outcome outcome)
{
    inspection->held += outcome == CASE_HELD;
    inspection->failed += outcome == CASE_FAILED;
    inspection->skipped += outcome == CASE_SKIPPED;
}

/* Neighbours are alike, and even lengths quicker than odd ones: cases are dealt out by a hash of their place. */
static bool is_of_part(const struct part *part, size_t place)
{
    return (uint32_t)(place * 2654435761u) * (uint64_t)part->count >> 32 == part->number - 1;
}

static int check_case(void *argument, const char *text)
{
    struct inspection *inspection = argument;
    struct case_verdict verdict = {CASE_FAILED, ""};
    struct test_case test;
    int code = case_parse(&test, text);
    if (code || interrupted())
        return code ? code : 1;
    if (!is_of_part(inspection->part, inspection->visited++))
        return EXIT_DONE;
    if (inspection->resumable && check_state_done(&inspection->state, text)) {
        inspection->earlier++;
        return EXIT_DONE;
    }
    progress_done((double)(inspection->held + inspection->failed + inspection->skipped + inspection->earlier),
                  "%s on %s", text, inspection->target.device);
    test.kind->check(&test, &inspection->target, &verdict);
    if (verdict.outcome == CASE_SKIPPED && case_is_required(&test, inspection->target.device))
        verdict.outcome = CASE_FAILED;
    progress_clear();
    interrupt_hold();
    printf("%-7s  %-10s  %-36s  %s\n", outcome_names[verdict.outcome], inspection->target.device, text, verdict.text);
    count_outcome(inspection, verdict.outcome);
    if (inspection->resumable && verdict.outcome != CASE_FAILED)
        check_state_note(&inspection->state, text);
    code = outfile_flush_stdout();
    interrupt_release();
    return code;
}

struct case_count {
    const struct part *part;
    size_t place, count;
};

static int count_case(void *argument, const char *text)
{
    struct case_count *cases = argument;
    (void)text;
    cases->count += is_of_part(cases->part, cases->place++);
    return EXIT_DONE;
}

/* Of a device's share; what was done before an interruption is among them. */
static double count_cases(const char *device, char *const *cases, bool full, const struct part *part)
{
    struct case_count found = {.part = part};
    for (size_t i = 0; cases && cases[i]; i++)
        count_case(&found, cases[i]);
    if (!cases)
        case_list_check(device, full, count_case, &found);
    return (double)found.count;
}

/* Product and driver of a device, which a resumed check must find unchanged. */
static void describe(penstock_context *context, const char *device, char *text, size_t bytes)
{
    size_t count = 0;
    *text = '\0';
    if (penstock_device_count(context, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && !strcmp(info.name, device))
            snprintf(text, bytes, "%s, %s", info.product, info.driver);
    }
}

static void print_totals(const struct inspection *inspection)
{
    printf("%s: %zu cases executed, %zu held, %zu failed, %zu SKIPPED", inspection->target.device,
           inspection->held + inspection->failed, inspection->held, inspection->failed, inspection->skipped);
    if (inspection->earlier)
        printf(", %zu done before an interruption", inspection->earlier);
    puts(interrupted() ? ", interrupted" : "");
}

/* Within a case. */
static int conclude(void *owner)
{
    const struct inspection *inspection = owner;
    progress_clear();
    print_totals(inspection);
    return interrupt_tell(inspection->failed ? EXIT_DATA : EXIT_DONE);
}

/* EXIT_DONE if at least one case ran, none failed and nothing stopped it before the end. */
static int inspect(struct inspection *inspection, char *const *cases, bool full)
{
    const char *device = inspection->target.device;
    const struct part *part = inspection->part;
    char identity[300], name[TARGET_NAME + 50];
    int ended = 0;
    inspection->resumable = full && !cases;
    if (inspection->resumable) {
        describe(inspection->target.context, device, identity, sizeof identity);
        snprintf(name, sizeof name, part->count > 1 ? "%s-%zu-of-%zu" : "%s", device, part->number, part->count);
        check_state_open(&inspection->state, name, identity);
    }
    progress_begin("cases", count_cases(inspection->target.device, cases, full, part));
    interrupt_conclude_by(conclude, inspection, EXIT_DONE);
    if (!cases)
        ended = case_list_check(device, full, check_case, inspection);
    for (size_t i = 0; cases && cases[i] && !ended; i++)
        ended = check_case(inspection, cases[i]);
    interrupt_conclude_by(NULL, NULL, EXIT_DONE);
    if (inspection->resumable)
        check_state_close(&inspection->state, !ended && !inspection->failed);
    size_t executed = inspection->held + inspection->failed;
    print_totals(inspection);
    if (ended && !interrupted())
        return EXIT_DATA;
    if (executed + inspection->earlier == 0 && !interrupted())
        return fail(EXIT_DATA, "no case ran on %s", device);
    return inspection->failed ? EXIT_DATA : outfile_flush_stdout();
}

/* With --full no kernel is kept: none is used again, and PoCL takes twice as long for what is kept as for what runs. */
static int check(const struct options *options, char *const *cases, bool full, const struct part *part)
{
    penstock_context *context = NULL;
    struct targets targets;
    int code = case_parse_all(cases);
    if (code || (code = full ? open_context_uncached(&context) : open_context(&context, 0)))
        return code;
    if ((code = targets_find(&targets, context, options->arguments)))
        goto done;
    for (size_t i = 0; i < targets.count && !interrupted() && !outfile_flush_stdout(); i++) {
        struct inspection inspection = {.target = {context, targets.names[i], usable_cpus(), .thorough = full},
                                        .part = part};
        int of_device = inspect(&inspection, cases, full);
        code = code ? code : of_device;
        if (i + 1 == targets.count && !*options->arguments)
            targets_more(&targets, context);
    }
    if (!*options->arguments)
        targets_warn(context, "checked");
    code = interrupt_tell(code);
    if (!targets.count)
        code = fail(EXIT_DATA, "there is no device to check");
done:
    penstock_context_free(context);
    return code;
}

/* "2/8" */
static int parse_part(struct part *part, const char *text)
{
    enum { MOST_PARTS = 1000000 };
    const char *slash = strchr(text, '/');
    if (slash && number_read_digits(text, (size_t)(slash - text), MOST_PARTS, &part->number) &&
        number_read_digits(slash + 1, strlen(slash + 1), MOST_PARTS, &part->count) && part->number >= 1 &&
        part->number <= part->count)
        return EXIT_DONE;
    return fail(EXIT_USAGE, "--part '%.40s' is impossible: it must be K/N, from 1/N to N/N with N at most %d", text,
                MOST_PARTS);
}

static int run(const struct command *command, int argc, const char **argv)
{
    char **cases = NULL, *text = NULL;
    struct part part = {1, 1};
    bool full = false;
    int code = EXIT_DONE;
    const struct option_row table[] = {
        OPTION_LIST("case", 'c', "CASE", &cases, "Only this case; may be given several times"),
        OPTION_FLAG("full", 0, &full, "Every length and every bin; goes on where it was interrupted"),
        OPTION_TEXT("part", 0, "K/N", &text, "Of all cases the K-th of N parts, for N processes side by side"),
        OPTIONS_END,
    };
    struct options options;
    if (options_parse(&options, command, table, argc, argv, &code) && !(text && (code = parse_part(&part, text))))
        code = check(&options, cases, full, &part);
    options_free(&options);
    return code;
}

const struct command command_check = {
    .name = "check",
    .synopsis = "[DEVICE...] [OPTION...]",
    .summary = "Verify devices against independent references",
    .notes = "Without DEVICE all that are present are checked. References: a double-precision DFT by its definition,\n"
             "max-log ratios by trying every point, frames of the transmitter, and recordings where they are at\n"
             "hand (PENSTOCK_RECORDINGS). Exit code 0: at least one case ran on each device, and all held.\n\n"
             "A case is one of these, where a window's parameter follows '=' (kaiser=8.6):\n",
    .more = case_print_kinds,
    .run = run,
};
