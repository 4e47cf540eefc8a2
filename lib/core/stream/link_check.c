/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What can be linked to what. */
#include "core/stream/link_check.h"
#include "backends/backend.h"

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

static const char *name_of(unsigned value)
{
    return value == PENSTOCK__SOFT_BITS ? "soft bits in bytes" : penstock_format_name((penstock_format)(value - 1));
}

static int check_values(const char *call, const penstock_stream *from, size_t channel, const penstock_stream *to)
{
    const char *source = from->kind->name, *target = to->kind->name;
    if (!from->kind->pull)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: results of the kind %s are frames, no items of another",
                               call, source);
    if (!from->out_values || !to->in_values || to->in_values == 1 + PENSTOCK_PLANAR)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: the values of %s are none that %s takes", call, source,
                               target);
    if (from->out_values != to->in_values)
        return bad("%s: %s gives %s, %s takes %s", call, source, name_of(from->out_values), target,
                   name_of(to->in_values));
    if (channel != PENSTOCK__LINK_WHOLE)
        return channel < from->out_channels && to->in_channels <= 1
                   ? PENSTOCK_OK
                   : bad("%s: channel %zu of %zu into %zu", call, channel, from->out_channels, to->in_channels);
    if (from->out_channels > 1 && from->out_channels != to->in_channels)
        return bad("%s: %s gives %zu channels; penstock_stream_link_channel() links one", call, source,
                   from->out_channels);
    if (to->in_channels > 1 && from->out_channels != to->in_channels)
        return bad("%s: %s takes %zu channels, %s gives one", call, target, to->in_channels, source);
    return PENSTOCK_OK;
}

static bool leads_to(const penstock_stream *from, const penstock_stream *to)
{
    if (from == to)
        return true;
    for (const struct penstock__link *link = from->links; link; link = link->following)
        if (leads_to(link->to, to))
            return true;
    return false;
}

int penstock__link_check(const char *call, const penstock_stream *from, size_t channel, const penstock_stream *to)
{
    if (!from || !to)
        return bad("%s: a stream is NULL", call);
    if (to->source)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: this %s is linked to a %s already", call, to->kind->name,
                               to->source->from->kind->name);
    for (const struct penstock__link *link = from->links; link; link = link->following)
        if (link->channel == channel || link->channel == PENSTOCK__LINK_WHOLE || channel == PENSTOCK__LINK_WHOLE)
            return penstock__error(PENSTOCK_ERR_STATE, "%s: results of this %s go to a %s already", call,
                                   from->kind->name, link->to->kind->name);
    if (leads_to(to, from))
        return bad("%s: the results of this %s would come back to it in a circle", call, to->kind->name);
    if (from->out_channels > PENSTOCK__LINK_CHANNELS && channel != PENSTOCK__LINK_WHOLE)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: of %zu channels; at most %d can be linked each", call,
                               from->out_channels, PENSTOCK__LINK_CHANNELS);
    return check_values(call, from, channel, to);
}

int penstock__link_check_next(const char *call, const penstock_stream *from, const penstock_stream *next)
{
    if (!from || !next)
        return bad("%s: a stream is NULL", call);
    if (!from->links || from->links->channel != PENSTOCK__LINK_WHOLE)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: results of this %s, as a whole, go nowhere", call,
                               from->kind->name);
    if (from->finished || from->lent.end == PENSTOCK__LENT_FINISH)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: this %s was finished", call, from->kind->name);
    if (next->links)
        return penstock__error(PENSTOCK_ERR_STATE, "%s: results of the next %s go to a %s already", call,
                               next->kind->name, next->links->to->kind->name);
    if (leads_to(from->links->to, next))
        return bad("%s: the results of this %s would come back to it in a circle", call, next->kind->name);
    return check_values(call, next, PENSTOCK__LINK_WHOLE, from->links->to);
}
