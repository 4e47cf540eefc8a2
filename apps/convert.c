/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "convert.h"
#include "flow.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "tally.h"

#include <stdlib.h>
#include <string.h>

struct passage {
    struct conversion *conversion;
    const struct conversion_kind *kind;
};

int conversion_check(struct conversion *c, const char *command_name)
{
    int code;
    if (!c->output)
        return fail(EXIT_USAGE, "%s: --output is missing: the file for the result, or -", command_name);
    if ((code = input_check(&c->input, command_name)))
        return code;
    return c->output_format ? parse_format(&c->format, c->output_format) : EXIT_DONE;
}

int conversion_open_source(struct conversion *c)
{
    int code, status;
    c->info = PENSTOCK_SOURCE_INFO;
    if ((code = open_stream_context(&c->context)) || (code = input_open(&c->source, c->context, &c->input)))
        return code;
    status = penstock_source_get_info(c->source, &c->info);
    return status ? fail_status(status) : EXIT_DONE;
}

int conversion_open_sink(struct conversion *c, const char *description, double rate_hz, double frequency_hz,
                         uint64_t interpolation, uint64_t decimation)
{
    interrupt_hold();
    int status = penstock_sink_open(
        &c->sink, c->output,
        &PENSTOCK_SINK_DESC(.format = c->format, .rate_hz = rate_hz, .frequency_hz = frequency_hz,
                            .description = description, .files = outfile_set(), .source = c->source,
                            .interpolation = interpolation, .decimation = decimation, .context = c->context));
    interrupt_release();
    return status ? fail_status(status) : EXIT_DONE;
}

/* Floats become complex values where they lie, from the last one on. */
static void widen(penstock_cf32 *values, size_t count)
{
    const float *floats = (const float *)(const void *)values;
    while (count--)
        values[count] = (penstock_cf32){floats[count], 0};
}

static int pull_all(const struct passage *p, bool wait)
{
    struct conversion *c = p->conversion;
    size_t count = 0;
    do {
        int status = penstock_stream_pull(c->stream, c->values, c->capacity, wait, &count);
        if (!status && c->real)
            widen(c->values, count);
        interrupt_hold();
        if (!status && count)
            status = penstock_sink_write(c->sink, c->values, count);
        p->kind->note(p->kind->owner);
        interrupt_release();
        if (status)
            return status;
        if (count)
            c->since_s = 0;
    } while (count);
    return PENSTOCK_OK;
}

/* A block of many taps may be longer than what comes in the time that a reader waits: it is not waited for. */
static int pull(void *passage, bool wait)
{
    const struct passage *p = passage;
    struct conversion *c = p->conversion;
    int status = pull_all(p, wait);
    if (status || !c->live || !(c->since_s > 0) || seconds_now() - c->since_s < FLOW_LATENCY_S)
        return status;
    c->since_s = 0;
    status = penstock_stream_flush(c->stream);
    return status ? status : pull_all(p, wait);
}

static int push(void *passage, const void *samples, size_t count, size_t *taken)
{
    struct conversion *c = ((struct passage *)passage)->conversion;
    if (c->live && !(c->since_s > 0))
        c->since_s = seconds_now();
    return penstock_stream_push(c->stream, samples, count, taken);
}

static int finish(void *passage)
{
    return penstock_stream_finish(((struct passage *)passage)->conversion->stream);
}

static void print_summary(const struct passage *p)
{
    struct tally tally = {0};
    tally_source(&tally, p->conversion->source);
    tally_sink(&tally, p->conversion->sink);
    tally_warn(&tally);
    if (outfile_is_stdout(p->conversion->output))
        return;
    p->kind->print_summary(p->kind->owner);
    tally_print(stdout, &tally);
    putchar('\n');
}

static int conclude(void *passage, int code)
{
    const struct passage *p = passage;
    int status = penstock_sink_close(p->conversion->sink);
    int closing = status ? outfile_fail(status) : outfile_complete();
    if (!closing)
        print_summary(p);
    return code ? code : closing;
}

int conversion_run(struct conversion *c, const struct conversion_kind *kind)
{
    struct passage passage = {c, kind};
    c->live = !c->info.total_samples;
    int status = c->live ? penstock_stream_set_max_latency(c->stream, FLOW_LATENCY_S) : PENSTOCK_OK;
    if (status)
        return fail_status(status);
    c->capacity = flow_most_bytes() / sizeof *c->values;
    if (!(c->values = malloc(c->capacity * sizeof *c->values)))
        return fail(EXIT_DATA, "out of memory");
    int code = flow_run(&(struct flow){
        .source = c->source, .owner = &passage, .push = push, .pull = pull, .finish = finish, .conclude = conclude});
    return code ? code : input_check_end(c->source);
}

void conversion_free(struct conversion *c)
{
    free(c->values);
    penstock_sink_free(c->sink);
    penstock_stream_free(c->stream);
    penstock_source_free(c->source);
    penstock_context_free(c->context);
}
