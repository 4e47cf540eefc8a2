/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams whose results are the items of others. */
#include "backends/backend.h"
#include "core/stream/link_check.h"

#include <string.h>

/* Pulled at a time: what stays in the cache of a thread or two; the more there are, the more must be worth handing out.
 */
#define HELD_LEAST ((size_t)64 << 10)
#define HELD_PAIR  ((size_t)32 << 10) /* times the square of the threads */
#define HELD_MOST  ((size_t)8 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

/* ---------------------------------------------------------------- moving ---------------------- */

static size_t held_bytes(const penstock_stream *from)
{
    const size_t threads = penstock__threads(from->context), bytes = threads * threads * HELD_PAIR;
    return bytes < HELD_LEAST ? HELD_LEAST : bytes < HELD_MOST ? bytes : HELD_MOST;
}

/* Bytes of a value of one channel, or of an item. */
static size_t value_bytes(const struct penstock__link *link)
{
    return link->channel == PENSTOCK__LINK_WHOLE ? link->from->out_bytes
                                                 : link->from->out_bytes / link->from->out_channels;
}

static int reserve(struct penstock__link *link, size_t bytes)
{
    if (link->at && link->bytes > link->at)
        memmove(link->held, link->held + link->at, link->bytes - link->at);
    link->bytes -= link->at;
    link->at = 0;
    if (link->room >= link->bytes + bytes)
        return PENSTOCK_OK;
    char *more = penstock__realloc(link->held, link->bytes, link->bytes + bytes);
    if (!more)
        return PENSTOCK_ERR_MEMORY;
    link->held = more;
    link->room = link->bytes + bytes;
    return PENSTOCK_OK;
}

/* A channelizer may give other channels than when it was linked. */
static int check_channels(const struct penstock__link *link)
{
    const size_t channels = link->from->out_channels;
    if (link->channel != PENSTOCK__LINK_WHOLE && channels > PENSTOCK__LINK_CHANNELS)
        return penstock__error(PENSTOCK_ERR_STATE, "the %s has %zu channels now; at most %d can be linked each",
                               link->from->kind->name, channels, PENSTOCK__LINK_CHANNELS);
    if (link->channel == PENSTOCK__LINK_WHOLE ? channels <= 1 || channels == link->to->in_channels
                                              : link->channel < channels)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_STATE, "the %s has %zu channels now; the %s was linked to others",
                           link->from->kind->name, channels, link->to->kind->name);
}

/* What the stream gives at most at a time goes behind what is held: nothing that it can take whole. */
static int fetch(penstock_stream *from, bool wait, size_t *count)
{
    const size_t held = held_bytes(from), most = from->out_bytes < held ? held / from->out_bytes : 1,
                 lacks = penstock__device_link_lacks(from->links->device),
                 capacity = lacks && lacks < most ? lacks : most;
    const bool now = wait || from->finished || from->passing == PENSTOCK__LENT_FLUSH ||
                     (from->source && penstock__device_link_waits(from->source->device));
    int status = PENSTOCK_OK;
    *count = 0;
    for (struct penstock__link *link = from->links; link && !status; link = link->following)
        if (!(status = check_channels(link)))
            status = reserve(link, capacity * value_bytes(link));
    if (status)
        return status;
    if (from->links->channel == PENSTOCK__LINK_WHOLE) {
        struct penstock__room room = {.whole = from->links->held + from->links->bytes};
        status = penstock__lent_pull(from, &room, capacity, now, count);
    } else {
        void *channels[PENSTOCK__LINK_CHANNELS]; /* all of which are set: check_channels() */
        if (!from->unlinked && !(from->unlinked = penstock__alloc(held + from->out_bytes)))
            return PENSTOCK_ERR_MEMORY;
        for (size_t c = 0; c < from->out_channels; c++)
            channels[c] = from->unlinked;
        for (struct penstock__link *link = from->links; link; link = link->following)
            channels[link->channel] = link->held + link->bytes;
        status = penstock__lent_pull(from, &(struct penstock__room){.channels = channels}, capacity, now, count);
    }
    for (struct penstock__link *link = from->links; link; link = link->following) {
        link->bytes += *count * value_bytes(link);
        const size_t had = link->skip < link->bytes - link->at ? link->skip : link->bytes - link->at;
        link->at += had;
        link->skip -= had;
    }
    return status;
}

/* As much as `to` takes; `*stuck`: it waits for its results to be pulled. */
static int deliver(struct penstock__link *link, bool wait, bool *stuck)
{
    penstock_stream *to = link->to;
    while (link->bytes - link->at >= to->in_bytes) {
        const struct penstock__items items = {.whole = link->held + link->at};
        size_t taken = 0;
        int status = penstock__stream_take(to, &items, (link->bytes - link->at) / to->in_bytes, &taken);
        link->at += taken * to->in_bytes;
        if (status || (to->links && (status = penstock__link_move(to, wait))))
            return status;
        if (!taken) {
            *stuck = true;
            return PENSTOCK_OK;
        }
    }
    return PENSTOCK_OK;
}

/* All that was given has gone on. */
static int pass_end(penstock_stream *from)
{
    const enum penstock__lent_end end = from->passing;
    int status = PENSTOCK_OK;
    if (end == PENSTOCK__LENT_OPEN || from->lent.end != PENSTOCK__LENT_OPEN || penstock__lent_waits(&from->lent))
        return PENSTOCK_OK;
    from->passing = PENSTOCK__LENT_OPEN;
    for (struct penstock__link *link = from->links; link; link = link->following) {
        penstock__link_settle(link->to);
        int failed = penstock__lent_end(link->to, end);
        if (!failed && link->to->links)
            failed = penstock__link_end(link->to, end);
        status = status ? status : failed;
    }
    return status;
}

void penstock__link_settle(penstock_stream *from)
{
    for (struct penstock__link *link = from->links; link; link = link->following) {
        if (link->device)
            penstock__device_link_settle(link->device);
        penstock__link_settle(link->to);
    }
}

/* Holds the stream's end as long as its first link has something on a device that waits for results to be read. */
static void end_device(penstock_stream *from)
{
    const struct penstock__link *link = from->links;
    from->lent.end_held = link && link->device && !penstock__device_link_end(link->device);
    if (!from->lent.end_held)
        penstock__link_settle(from);
}

/* Whether all that can go now does so on the device. */
static bool goes_on_device(penstock_stream *from, bool wait)
{
    const struct penstock__link *link = from->links;
    return link && link->device && !link->following && !link->skip &&
           penstock__device_link_move(
               link->device, wait,
               from->finished || (from->passing != PENSTOCK__LENT_OPEN && from->lent.end == PENSTOCK__LENT_OPEN));
}

int penstock__link_move(penstock_stream *from, bool wait)
{
    size_t count;
    do {
        bool stuck = false;
        int status = PENSTOCK_OK;
        for (struct penstock__link *link = from->links; link && !status; link = link->following)
            status = deliver(link, wait, &stuck);
        if (status || stuck)
            return status;
        if (from->lent.end_held)
            end_device(from);
        if (goes_on_device(from, wait)) {
            const struct penstock__link *link = from->links;
            status = link->to->links ? penstock__link_move(link->to, wait) : PENSTOCK_OK;
            if (status || penstock__device_link_is_active(link->device))
                return status;
        } /* else what the one behind has given up is taken back here, too */
        if ((status = fetch(from, wait, &count)))
            return status;
    } while (count);
    return pass_end(from);
}

int penstock__link_feed(penstock_stream *to, bool wait)
{
    int status = to->source ? penstock__link_feed(to->source->from, wait) : PENSTOCK_OK;
    return status || !to->source ? status : penstock__link_move(to->source->from, wait);
}

int penstock__link_end(penstock_stream *from, enum penstock__lent_end end)
{
    from->passing = end > from->passing ? end : from->passing;
    return penstock__link_move(from, false);
}

bool penstock__link_end_device(penstock_stream *from, enum penstock__lent_end end)
{
    end_device(from);
    if (!from->lent.end_held)
        return true;
    from->lent.end = end > from->lent.end ? end : from->lent.end;
    from->passing = end > from->passing ? end : from->passing;
    return false;
}

void penstock__link_reset(penstock_stream *from)
{
    from->passing = PENSTOCK__LENT_OPEN;
    for (struct penstock__link *link = from->links; link; link = link->following) {
        link->at = link->bytes = link->skip = 0;
        penstock__lent_reset(link->to);
        penstock__stream_start(link->to);
        link->to->kind->reset(link->to);
        penstock__link_reset(link->to);
    }
}

/* ---------------------------------------------------------------- life ------------------------ */

static void cut(struct penstock__link *link)
{
    struct penstock__link **at = &link->from->links;
    while (*at != link)
        at = &(*at)->following;
    penstock__device_link_free(link->device); /* first: a link behind it asks for it */
    *at = link->following;
    link->to->source = NULL;
    penstock__free(link->held);
    penstock__free(link);
}

void penstock__link_cut(penstock_stream *stream)
{
    while (stream->links)
        cut(stream->links);
    if (stream->source)
        cut(stream->source);
    penstock__free(stream->unlinked);
    stream->unlinked = NULL;
}

int penstock__link_free_in(const char *call, const penstock_stream *stream)
{
    return stream->source ? penstock__error(PENSTOCK_ERR_STATE,
                                            "%s: the items of this %s come from the %s that it is linked to; that one "
                                            "is pushed, flushed, finished and reset",
                                            call, stream->kind->name, stream->source->from->kind->name)
                          : PENSTOCK_OK;
}

int penstock__link_free_out(const char *call, const penstock_stream *stream)
{
    return stream->links ? penstock__error(PENSTOCK_ERR_STATE,
                                           "%s: the results of this %s go to the %s that is linked to it; pull that "
                                           "one",
                                           call, stream->kind->name, stream->links->to->kind->name)
                         : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- linking --------------------- */

static const char *device_of(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    stream->kind->get_info(stream, &info);
    return info.device;
}

static bool in_host_memory(const char *device)
{
    return !strcmp(device, "cpu") || !strcmp(device, "reference");
}

static int link_streams(const char *call, penstock_stream *from, size_t channel, penstock_stream *to)
{
    struct penstock__link *link;
    int status = penstock__link_check(call, from, channel, to);
    if (status)
        return status;
    if (!(link = penstock__calloc(1, sizeof *link)))
        return PENSTOCK_ERR_MEMORY;
    *link = (struct penstock__link){.from = from, .to = to, .channel = channel, .following = from->links};
    if (channel == PENSTOCK__LINK_WHOLE && (status = penstock__device_link_new(&link->device, from, to))) {
        penstock__free(link);
        return status;
    }
    from->links = link;
    to->source = link;
    if (penstock__device_link_device(link->device))
        return PENSTOCK_OK;
    const char *source = device_of(from), *target = device_of(to);
    if (source && target && (!in_host_memory(source) || !in_host_memory(target)))
        penstock__log(from->context, PENSTOCK_LOG_INFO, "from the %s on %s to the %s on %s values go over the host",
                      from->kind->name, source, to->kind->name, target);
    return PENSTOCK_OK;
}

int penstock_stream_link(penstock_stream *from, penstock_stream *to)
{
    return link_streams(__func__, from, PENSTOCK__LINK_WHOLE, to);
}

int penstock_stream_link_channel(penstock_stream *from, size_t channel, penstock_stream *to)
{
    if (channel == PENSTOCK__LINK_WHOLE)
        return bad("%s: there is no channel %zu", __func__, channel);
    return link_streams(__func__, from, channel, to);
}

/* ---------------------------------------------------------------- other links ----------------- */

static struct penstock__link *link_between(const penstock_stream *from, const penstock_stream *to)
{
    return from && to && to->source && to->source->from == from ? to->source : NULL;
}

int penstock_stream_unlink(penstock_stream *from, penstock_stream *to)
{
    struct penstock__link *link = link_between(from, to);
    if (!link)
        return bad("%s: the two streams are not linked", __func__);
    cut(link);
    return PENSTOCK_OK;
}

int penstock_stream_relink(penstock_stream *from, penstock_stream *next)
{
    struct penstock__device_link *device = NULL;
    size_t count = 1;
    int status = penstock__link_check_next(__func__, from, next);
    if (status)
        return status;
    struct penstock__link *link = from->links;
    penstock__link_settle(from);
    from->lent.end_held = false;
    while (!status && count)
        status = fetch(from, true, &count);
    if (status || (next->out_channels <= 1 && (status = penstock__device_link_new(&device, next, link->to))))
        return status;
    penstock__device_link_free(link->device);
    link->device = device;
    link->from = next;
    next->links = link;
    next->passing = from->passing;
    from->links = NULL;
    from->passing = PENSTOCK__LENT_OPEN;
    return PENSTOCK_OK;
}

const char *penstock__link_device(const penstock_stream *to)
{
    const struct penstock_device *device = to->source ? penstock__device_link_device(to->source->device) : NULL;
    return device ? device->name : NULL;
}
