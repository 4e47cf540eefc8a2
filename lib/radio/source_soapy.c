/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Radios through SoapySDR. Reading goes on through overflows (counted; time stamps tell how much was lost), silence and
 * the loss of the device, which is looked for again.
 *
 * A stream ends when the driver says END_BURST and then gives an error or nothing more; an error without that is a
 * loss.
 */
#include "radio/soapy_clock.h"
#include "radio/soapy_device.h"
#include "radio/soapy_held.h"
#include "radio/source_kind.h"

#include <SoapySDR/Errors.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WAIT_US        100000            /* longest wait for samples before `stop` is looked at */
#define RETRY_MS       100               /* between two looks for a radio that disappeared */
#define MOST_SAMPLES   ((size_t)1 << 20) /* asked for at a time: SoapySDR counts them in an int */
#define SILENCE_FACTOR 5.0               /* a radio silent for this many time-outs is taken for lost */

struct soapy {
    struct penstock__soapy_device device;
    struct penstock__soapy_listener listener;
    bool listening;
    char *args;
    double timeout_s, reconnect_s;
    uint64_t samples;

    struct penstock__soapy_clock clock;
    bool maybe_lost; /* the next time stamp tells */
    bool surely;     /* something was lost, be there a time stamp or not */

    struct penstock__soapy_held held;

    double heard_s; /* when the last samples came */
    bool silence_told;
    bool burst_ended;
    int pending;   /* a code that came while samples were in hand */
    double lost_s; /* since when it is looked for, until samples come; 0: it is not */
    bool lost;     /* for good */
    char why_lost[256];
};

/* A stream has started: nothing is known of it yet. */
static void start_clock(struct soapy *soapy)
{
    soapy->clock = (struct penstock__soapy_clock){0};
    soapy->maybe_lost = soapy->surely = soapy->burst_ended = soapy->silence_told = false;
    soapy->held.count = soapy->held.given = 0;
    soapy->pending = 0;
    soapy->heard_s = penstock__now_s();
}

/* ---------------------------------------------------------------- life ------------------------ */

/* Files that device arguments name are read, as the replay module does. */
static int note_files(penstock_source *source, const char *args)
{
    SoapySDRKwargs given = SoapySDRKwargs_fromString(args);
    int status = PENSTOCK_OK;
    for (size_t i = 0; i < given.size && !status; i++) {
        char *value = given.vals[i];
        status = penstock__identities_add_path(&source->files, value);
        if (!status && penstock__sigmf_name(value)) { /* the other one of the two files */
            char *ending = value + strlen(value) - strlen("meta");
            memcpy(ending, strcmp(ending, "meta") ? "meta" : "data", strlen("meta"));
            status = penstock__identities_add_path(&source->files, value);
        }
    }
    SoapySDRKwargs_clear(&given);
    return status;
}

static int soapy_open(penstock_source *source, const char *text)
{
    const penstock_source_desc *desc = &source->desc;
    struct soapy *soapy = source->priv = penstock__calloc(1, sizeof *soapy);
    int status;
    if (!soapy || !(soapy->args = penstock__strdup(text + strlen("soapy:"))))
        return PENSTOCK_ERR_MEMORY;
    soapy->timeout_s = desc->timeout_s > 0.0 ? desc->timeout_s : 1.0;
    soapy->reconnect_s = desc->reconnect_s == 0.0 ? 5.0 : desc->reconnect_s;
    if (desc->soapy_log && source->context) {
        soapy->listener.context = source->context;
        soapy->listening = true;
        penstock__soapy_listen(&soapy->listener);
    }
    if ((status = penstock__soapy_open(&soapy->device, soapy->args, desc)) ||
        (status = note_files(source, soapy->args)) ||
        (status =
             penstock__soapy_held_init(&soapy->held, soapy->device.mtu, penstock_format_bytes(soapy->device.format))))
        return status;
    source->format = soapy->device.format;
    source->rate_hz = soapy->device.rate_hz;
    source->frequency_hz = soapy->device.frequency_hz;
    snprintf(source->hardware, sizeof source->hardware, "SoapySDR %s", soapy->device.name);
    snprintf(source->description, sizeof source->description, "SoapySDR %s, %s", soapy->device.name,
             penstock_format_name(source->format));
    start_clock(soapy);
    return PENSTOCK_OK;
}

static void soapy_close(penstock_source *source)
{
    struct soapy *soapy = source->priv;
    if (!soapy)
        return;
    penstock__soapy_close(&soapy->device);
    if (soapy->listening)
        penstock__soapy_unlisten(&soapy->listener);
    penstock__soapy_held_free(&soapy->held);
    penstock__free(soapy->args);
    penstock__free(soapy);
}

/* ---------------------------------------------------------------- loss and return ------------- */

static int report_loss(struct soapy *soapy)
{
    return penstock__error(PENSTOCK_ERR_RADIO, "radio %s was lost after %llu samples: %s", soapy->device.name,
                           (unsigned long long)soapy->samples, soapy->why_lost);
}

/* Whether it is that radio, as it was. */
static bool is_same(const struct penstock__soapy_device *again, const struct penstock__soapy_device *before)
{
    return !strcmp(again->name, before->name) && !strcmp(again->serial, before->serial) &&
           again->format == before->format && again->rate_hz == before->rate_hz &&
           again->frequency_hz == before->frequency_hz;
}

/* The device again, as it was; false if it is not there or has changed. */
static bool reopen(penstock_source *source, struct soapy *soapy)
{
    struct penstock__soapy_device again;
    if (penstock__soapy_open(&again, soapy->args, &source->desc))
        return false;
    if (is_same(&again, &soapy->device)) {
        soapy->device = again;
        return true;
    }
    penstock__soapy_close(&again);
    return false;
}

/* Looks for a device that was lost, for `why`, until it is back, the time is over or a stop is asked for. */
static int look_for_radio(penstock_source *source, const char *why)
{
    struct soapy *soapy = source->priv;
    bool again = soapy->lost_s > 0.0; /* it was back, and gave nothing */
    if (!again)
        soapy->lost_s = penstock__now_s();
    snprintf(soapy->why_lost, sizeof soapy->why_lost, "%s", why);
    soapy->lost = true;
    penstock__soapy_close(&soapy->device);
    if (soapy->reconnect_s < 0.0)
        return report_loss(soapy);
    if (again)
        poll(NULL, 0, RETRY_MS);
    else
        penstock__source_note(source, PENSTOCK_LOG_WARNING, "radio %s was lost (%s): looking for it for %g s",
                              soapy->device.name, why, soapy->reconnect_s);
    while (penstock__now_s() - soapy->lost_s < soapy->reconnect_s && !atomic_load(&source->stop)) {
        if (reopen(source, soapy)) {
            soapy->lost = false;
            start_clock(soapy);
            soapy->maybe_lost = soapy->surely = true; /* what was on air meanwhile; its clock may have begun anew */
            return PENSTOCK_OK;
        }
        poll(NULL, 0, RETRY_MS);
    }
    if (atomic_load(&source->stop))
        return PENSTOCK_OK;
    snprintf(soapy->why_lost, sizeof soapy->why_lost, "%.100s, and it did not come back within %g s", why,
             soapy->reconnect_s);
    return report_loss(soapy);
}

/* ---------------------------------------------------------------- reading --------------------- */

static void tell_overflow(penstock_source *source, const char *what)
{
    const struct soapy *soapy = source->priv;
    uint64_t n = ++source->counters.overflows;
    if ((n & (n - 1)) == 0) /* at 1, 2, 4, 8, ...: a radio may lose samples thousands of times a second */
        penstock__source_note(source, PENSTOCK_LOG_WARNING, "radio %s lost samples (%s), %llu time%s so far",
                              soapy->device.name, what, (unsigned long long)n, n == 1 ? "" : "s");
}

/* The next samples are behind it. */
static void count_overflow(penstock_source *source, const char *what)
{
    struct soapy *soapy = source->priv;
    soapy->maybe_lost = soapy->surely = true;
    tell_overflow(source, what);
}

/* The last capture's first sample came among `got` of them just now, by this machine's clock, to the millisecond. */
static void take_time(penstock_source *source, size_t got)
{
    struct penstock__capture *capture = &source->captures.items[source->captures.count - 1];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double ms = 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec - 1e3 * (double)got / source->rate_hz;
    capture->timed = true;
    capture->origin_ns = (int64_t)llround(ms) * 1000000;
    capture->origin = capture->sample + capture->lost;
}

/* Samples go on behind a loss: of `lost` ones, or of nobody knows how many. */
static void note_gap(penstock_source *source, uint64_t lost, bool unknown)
{
    const struct soapy *soapy = source->priv;
    if (soapy->samples && (lost || unknown)) /* before the first one nothing can be lost */
        penstock__captures_gap(&source->captures, soapy->samples, lost, unknown);
}

/* Of samples that come at `time_ns` if `flags` says so: is there a loss before them that nothing else tells of? */
static bool jumps(const struct soapy *soapy, int flags, long long time_ns)
{
    return flags & SOAPY_SDR_HAS_TIME && !soapy->maybe_lost &&
           penstock__soapy_clock_jumps(&soapy->clock, soapy->device.rate_hz, time_ns);
}

static void account_time(penstock_source *source, int flags, long long time_ns)
{
    struct soapy *soapy = source->priv;
    double lost;
    if (!(flags & SOAPY_SDR_HAS_TIME)) {
        if (soapy->surely) {
            note_gap(source, 0, true);
            soapy->clock.stamped = false;
        }
        return;
    }
    if (jumps(soapy, flags, time_ns)) {
        soapy->maybe_lost = true;
        tell_overflow(source, "its time stamps jump");
    }
    if (soapy->maybe_lost && penstock__soapy_clock_lost(&soapy->clock, soapy->device.rate_hz, time_ns, &lost))
        note_gap(source, (uint64_t)llround(lost), false);
    else if (soapy->surely)
        note_gap(source, 0, true);
    penstock__soapy_clock_stamp(&soapy->clock, soapy->device.rate_hz, time_ns);
}

/* `got` samples came, the first of them at `time_ns` if `flags` says so. */
static void account(penstock_source *source, size_t got, int flags, long long time_ns)
{
    struct soapy *soapy = source->priv;
    account_time(source, flags, time_ns);
    if (!soapy->samples || (soapy->surely && !source->captures.items[source->captures.count - 1].timed))
        take_time(source, got);
    soapy->maybe_lost = soapy->surely = false;
    if (soapy->lost_s > 0.0) {
        source->counters.reconnects++;
        penstock__source_note(source, PENSTOCK_LOG_WARNING, "radio %s is back after %.1f s", soapy->device.name,
                              penstock__now_s() - soapy->lost_s);
        soapy->lost_s = 0.0;
    }
    soapy->clock.since += got;
    soapy->samples += got;
    soapy->heard_s = penstock__now_s();
    soapy->silence_told = false;
    if (flags & SOAPY_SDR_END_ABRUPT)
        count_overflow(source, "END_ABRUPT");
}

/* What is known of samples that were read. */
static void take(penstock_source *source, size_t got, int flags, long long time_ns)
{
    struct soapy *soapy = source->priv;
    account(source, got, flags, time_ns);
    soapy->burst_ended = (flags & SOAPY_SDR_END_BURST) != 0;
}

/* Samples, 0 or a code of SoapySDR. What comes after a loss is held where others lie before it. */
static int read_once(penstock_source *source, void *samples, size_t capacity, long wait_us, bool others)
{
    struct soapy *soapy = source->priv;
    void *const buffers[] = {samples};
    long long time_ns = 0;
    int flags = 0;
    int got = SoapySDRDevice_readStream(soapy->device.device, soapy->device.stream, buffers,
                                        capacity < MOST_SAMPLES ? capacity : MOST_SAMPLES, &flags, &time_ns, wait_us);
    if (got > 0)
        penstock__soapy_widen(&soapy->device, samples, (size_t)got);
    if (got > 0 && others && jumps(soapy, flags, time_ns)) {
        penstock__soapy_held_keep(&soapy->held, samples, (size_t)got, flags, time_ns);
        return 0;
    }
    if (got > 0)
        take(source, (size_t)got, flags, time_ns);
    else if (!got && flags & SOAPY_SDR_END_BURST)
        soapy->burst_ended = true;
    return got;
}

/* Nothing came: is it time to say so, or to take the radio for lost? `*ended` after the end of a burst. */
static int check_silence(penstock_source *source, bool *ended)
{
    struct soapy *soapy = source->priv;
    double silent_s = penstock__now_s() - soapy->heard_s;
    if (silent_s < soapy->timeout_s)
        return PENSTOCK_OK;
    if (soapy->burst_ended) {
        *ended = true;
        return PENSTOCK_OK;
    }
    if (!soapy->silence_told) {
        soapy->silence_told = soapy->maybe_lost = true;
        source->counters.timeouts++;
        penstock__source_note(source, PENSTOCK_LOG_WARNING, "radio %s has given no samples for %g s",
                              soapy->device.name, soapy->timeout_s);
    }
    return silent_s < SILENCE_FACTOR * soapy->timeout_s ? PENSTOCK_OK : look_for_radio(source, "it is silent");
}

/* What SoapySDR said in place of samples. */
static int handle(penstock_source *source, int code, bool *ended)
{
    struct soapy *soapy = source->priv;
    const char *said = SoapySDRDevice_lastError(); /* by the read that gave the code, "" where it did not throw */
    char why[200];
    switch (code) {
    case SOAPY_SDR_OVERFLOW:
    case SOAPY_SDR_CORRUPTION:
        count_overflow(source, SoapySDR_errToStr(code));
        return PENSTOCK_OK;
    case 0:
    case SOAPY_SDR_TIME_ERROR:
    case SOAPY_SDR_UNDERFLOW:
        poll(NULL, 0, 1); /* a driver that returns at once must not keep a core busy */
        return check_silence(source, ended);
    case SOAPY_SDR_TIMEOUT:
        return check_silence(source, ended);
    default:
        if ((*ended = soapy->burst_ended))
            return PENSTOCK_OK;
        snprintf(why, sizeof why, "%s%s%s", SoapySDR_errToStr(code), *said ? ": " : "", said);
        return look_for_radio(source, why);
    }
}

/* What is there already, behind the first samples. */
static void read_more(penstock_source *source, void *samples, size_t capacity, size_t *count)
{
    struct soapy *soapy = source->priv;
    size_t bytes = penstock_format_bytes(source->format);
    while (*count < capacity && !soapy->burst_ended && !soapy->surely && !soapy->maybe_lost) {
        const size_t room = capacity - *count < soapy->held.capacity ? capacity - *count : soapy->held.capacity;
        int got = read_once(source, (char *)samples + *count * bytes, room, 0, true);
        if (got <= 0) {
            soapy->pending = got == SOAPY_SDR_TIMEOUT ? 0 : got;
            return;
        }
        *count += (size_t)got;
    }
}

static int soapy_read(penstock_source *source, void *samples, size_t capacity, size_t *count)
{
    struct soapy *soapy = source->priv;
    bool ended = false;
    if (soapy->lost)
        return report_loss(soapy);
    if (soapy->held.count) {
        if (!soapy->held.given)
            take(source, soapy->held.count, soapy->held.flags, soapy->held.time_ns);
        *count = penstock__soapy_held_give(&soapy->held, samples, capacity);
        return PENSTOCK_OK;
    }
    while (!ended && !atomic_load(&source->stop)) {
        int status, got = soapy->pending ? soapy->pending : read_once(source, samples, capacity, WAIT_US, false);
        soapy->pending = 0;
        if (got > 0) {
            *count = (size_t)got;
            read_more(source, samples, capacity, count);
            return PENSTOCK_OK;
        }
        if ((status = handle(source, got, &ended)))
            return status;
    }
    return PENSTOCK_OK;
}

const struct penstock__source_kind penstock__source_soapy = {
    .open = soapy_open, .read = soapy_read, .close = soapy_close, .shared = true};
