/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The public face of sources: checks, the kind behind a name, limits in samples and seconds, resampling. */
#include "core/base/description.h"
#include "radio/resample.h"
#include "radio/source_kind.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_RATE_HZ   1e12
#define CHUNK_SAMPLES 65536 /* that go to the resampler at a time */
#define ROUNDING      1e-12 /* by which a product of seconds and rate may miss a whole number, relative */

void penstock__source_note(const penstock_source *source, penstock_log_level level, const char *format, ...)
{
    char line[512];
    va_list arguments;
    if (!source->context)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    penstock__log(source->context, level, "%s", line);
}

bool penstock__sigmf_name(const char *text)
{
    const char *dot = strrchr(text, '.');
    return dot && (!strcmp(dot, ".sigmf-meta") || !strcmp(dot, ".sigmf-data"));
}

static const struct penstock__source_kind *kind_of(const char *text, const penstock_source_desc *desc)
{
    const char *dot = strrchr(text, '.');
    if (!strncmp(text, "soapy:", 6))
        return &penstock__source_soapy;
    /* the data alone is raw to a caller who says what is in it */
    if (penstock__sigmf_name(text) && !(desc->raw && !strcmp(dot, ".sigmf-data")))
        return &penstock__source_sigmf;
    return &penstock__source_raw;
}

/* ---------------------------------------------------------------- opening --------------------- */

static int check_number(const char *name, double value, double least, double most)
{
    if (value >= least && value <= most)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s is %g, not a number from %g to %g", name, value, least, most);
}

static int check_description(const penstock_source_desc *desc)
{
    const struct {
        const char *name;
        double value, least, most;
    } ranges[] = {
        {"rate_hz", desc->rate_hz, 0.0, MAX_RATE_HZ},
        {"frequency_hz", desc->frequency_hz, 0.0, 1e12},
        {"gain_db", desc->gain_set ? desc->gain_db : 0.0, -1000.0, 1000.0},
        {"bandwidth_hz", desc->bandwidth_hz, 0.0, MAX_RATE_HZ},
        {"seconds", desc->seconds, 0.0, 1e9},
        {"resample_hz", desc->resample_hz, 0.0, MAX_RATE_HZ},
        {"timeout_s", desc->timeout_s, 0.0, 1e6},
        {"reconnect_s", desc->reconnect_s, -1e9, 1e9},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        int status = check_number(ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most);
        if (status)
            return status;
    }
    return PENSTOCK_OK;
}

static void set_limit(penstock_source *source)
{
    const penstock_source_desc *desc = &source->desc;
    double samples = desc->seconds * source->rate_hz;
    samples = fabs(samples - rint(samples)) < ROUNDING * samples ? rint(samples) : ceil(samples);
    source->left = desc->count ? desc->count : UINT64_MAX;
    if (desc->seconds > 0.0 && samples < (double)source->left)
        source->left = (uint64_t)samples;
    if (source->total_samples > source->left)
        source->total_samples = source->left;
}

static void close_resampler(penstock_source *source)
{
    penstock__resampler_free(source->resampler);
    penstock__free(source->chunk);
    penstock__free(source->converted);
    source->resampler = NULL;
    source->chunk = NULL;
    source->converted = NULL;
}

static int open_resampler(penstock_source *source, double rate_hz)
{
    size_t bytes = penstock_format_bytes(source->format);
    int status = PENSTOCK_OK;
    if (rate_hz != source->rate_hz)
        status = penstock__resampler_new(&source->resampler, source->rate_hz, rate_hz);
    if (!status && (!(source->chunk = penstock__alloc(CHUNK_SAMPLES * bytes)) ||
                    !(source->converted = penstock__alloc(CHUNK_SAMPLES * sizeof *source->converted))))
        status = PENSTOCK_ERR_MEMORY;
    if (status)
        close_resampler(source);
    else
        source->desc.resample_hz = rate_hz;
    return status;
}

int penstock_source_resample(penstock_source *source, double rate_hz)
{
    if (!source)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source is NULL");
    if (!(rate_hz > 0.0 && rate_hz <= MAX_RATE_HZ))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "rate_hz is %g, not a number above 0 and up to %g", rate_hz,
                               MAX_RATE_HZ);
    if (source->reading || source->converted)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: a rate is asked for once, and before the first read",
                               source->description);
    return open_resampler(source, rate_hz);
}

int penstock_source_open(penstock_source **source, penstock_context *context, const char *text,
                         const penstock_source_desc *desc)
{
    penstock_source *self;
    int status;
    if (!source)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source is NULL");
    *source = NULL;
    if (!text || !*text)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "no source named: a path, '-' or soapy:ARGS");
    if (!(self = penstock__calloc(1, sizeof *self)))
        return PENSTOCK_ERR_MEMORY;
    atomic_init(&self->stop, false);
    self->context = context;
    self->forks = penstock__forks();
    if ((status = penstock__description_read(&self->desc, sizeof self->desc, desc, "penstock_source_desc")) ||
        (status = check_description(&self->desc)))
        goto fail;
    if (self->desc.antenna && !(self->antenna = penstock__strdup(self->desc.antenna))) {
        status = PENSTOCK_ERR_MEMORY;
        goto fail;
    }
    self->desc.antenna = self->antenna;
    self->kind = kind_of(text, &self->desc);
    if ((status = self->kind->open(self, text)))
        goto fail;
    if (!self->captures.count &&
        (status =
             penstock__captures_add(&self->captures, &(struct penstock__capture){.frequency_hz = self->frequency_hz})))
        goto fail;
    set_limit(self);
    if (self->desc.resample_hz > 0.0 && (status = open_resampler(self, self->desc.resample_hz)))
        goto fail;
    *source = self;
    return PENSTOCK_OK;
fail:
    penstock_source_free(self);
    return status;
}

void penstock_source_free(penstock_source *source)
{
    if (!source)
        return;
    if (source->kind && source->kind->close && (!source->kind->shared || source->forks == penstock__forks()))
        source->kind->close(source);
    close_resampler(source);
    penstock__identities_free(&source->files);
    penstock__captures_free(&source->captures);
    penstock__free(source->antenna);
    penstock__free(source);
}

/* ---------------------------------------------------------------- reading --------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Samples as they come, of one capture, up to the limit. */
static int read_limited(penstock_source *source, void *samples, size_t capacity, size_t *count)
{
    int status;
    *count = 0;
    capacity = (size_t)least(capacity, least(source->left, penstock__source_until_gap(source, source->counters.taken)));
    if (source->captures.failed)
        return penstock__error(PENSTOCK_ERR_MEMORY, "%s: no memory for what is known of lost samples",
                               source->description);
    if (!capacity || source->ended || atomic_load(&source->stop))
        return PENSTOCK_OK;
    if ((status = source->kind->read(source, samples, capacity, count)))
        return status;
    source->ended = *count == 0;
    source->left -= *count;
    source->counters.taken += *count;
    penstock__count_received(&source->troubles, source->context, samples, source->format, *count);
    if (*count)
        penstock__source_count_lost(source);
    return PENSTOCK_OK;
}

/* The rate is as wanted already: only the format changes. */
static int read_converted(penstock_source *source, penstock_cf32 *samples, size_t capacity, size_t *count)
{
    int status = read_limited(source, source->chunk, capacity < CHUNK_SAMPLES ? capacity : CHUNK_SAMPLES, count);
    penstock__convert(samples, source->chunk, source->format, 0, *count, *count);
    return status;
}

/* The next chunk of input for the resampler. At the end, and before an error is reported, it gives out its tail. */
static void feed_resampler(penstock_source *source)
{
    penstock__failure_keep(&source->failure, read_limited(source, source->chunk, CHUNK_SAMPLES, &source->chunk_count));
    source->chunk_taken = 0;
    if (!source->chunk_count)
        penstock__resampler_finish(source->resampler);
    penstock__convert(source->converted, source->chunk, source->format, 0, source->chunk_count, source->chunk_count);
}

static int read_resampled(penstock_source *source, penstock_cf32 *samples, size_t capacity, size_t *count)
{
    for (;;) {
        uint64_t room = least(capacity, penstock__source_until_gap_given(source, source->counters.samples));
        size_t taken;
        penstock__resampler_run(source->resampler, source->converted + source->chunk_taken,
                                source->chunk_count - source->chunk_taken, &taken, samples, (size_t)room, count);
        source->chunk_taken += taken;
        if (*count)
            return PENSTOCK_OK;
        if (penstock__resampler_done(source->resampler))
            return penstock__failure_tell(&source->failure);
        if (source->chunk_taken == source->chunk_count)
            feed_resampler(source);
    }
}

int penstock_source_read(penstock_source *source, void *samples, size_t capacity, size_t *count)
{
    int status;
    if (!source || !samples || !count || !capacity)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source, samples or count is NULL, or capacity is 0");
    *count = 0;
    if ((status = penstock__forked(source->forks, source->description)))
        return status;
    source->reading = true;
    if (source->resampler)
        status = read_resampled(source, samples, capacity, count);
    else if (source->converted)
        status = read_converted(source, samples, capacity, count);
    else
        status = read_limited(source, samples, capacity, count);
    source->counters.samples += *count;
    return status;
}

void penstock_source_stop(penstock_source *source)
{
    if (source)
        atomic_store(&source->stop, true);
}

/* ---------------------------------------------------------------- what is known --------------- */

int penstock_source_get_info(const penstock_source *source, penstock_source_info *info)
{
    penstock_source_info mine = {.size = sizeof mine};
    if (!source)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source is NULL");
    mine.format = source->converted ? PENSTOCK_CF32 : source->format;
    mine.rate_hz = source->resampler ? source->desc.resample_hz : source->rate_hz;
    mine.frequency_hz = source->frequency_hz;
    mine.total_samples = source->total_samples;
    if (source->resampler)
        mine.total_samples = penstock__resampler_count(source->resampler, source->total_samples);
    mine.description = source->description;
    mine.hardware = source->hardware[0] ? source->hardware : NULL;
    mine.first_index = penstock__source_first_index(source);
    mine.timed = source->timed;
    mine.start_ns = source->start_ns;
    return penstock__description_write(info, &mine, sizeof mine, "penstock_source_info");
}

int penstock_source_get_counters(const penstock_source *source, penstock_source_counters *counters)
{
    if (!source)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "source is NULL");
    penstock_source_counters mine = source->counters;
    mine.clipped = source->troubles.clipped;
    mine.not_finite = source->troubles.not_finite;
    return penstock__description_write(counters, &mine, sizeof mine, "penstock_source_counters");
}
