/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A link whose two streams work on one device. */
#include "core/stream/device_link_state.h"
#include "core/stream/link.h"

#define NO_PIECE      PENSTOCK__DEVICE_PIECES
#define LEAST_BATCHES 3 /* one that gathers, one that is kept, one on its way */

/* ---------------------------------------------------------------- back to the host ------------ */

/* The link before, whose samples this one's source makes values of on the device; or NULL. */
static struct penstock__device_link *link_before(const struct penstock__device_link *link)
{
    return link->from->source ? link->from->source->device : NULL;
}

void penstock__device_link_leave(struct penstock__device_link *link)
{
    struct penstock__device_link *before = link_before(link);
    if (before && before->behind == link)
        before->behind = NULL;
    for (; link->cut_count; link->cut_count--) {
        penstock_buffer_free(link->cuts[link->first_cut].in);
        link->first_cut = (link->first_cut + 1) % PENSTOCK__RING_MOST;
    }
    penstock__batcher_device_end(link->batcher);
    penstock__batcher_device_owner(link->batcher, NULL, NULL);
    link->active = false;
    link->lead = 0;
    link->to->source->skip = link->source->take_back(link->from) * link->groups.sample_bytes;
}

/* With the error's text, once. */
static void give_up(struct penstock__device_link *link)
{
    penstock__log(link->from->context, PENSTOCK_LOG_WARNING,
                  "from the %s to the %s values go over the host from now on, since: %s", link->from->kind->name,
                  link->to->kind->name, penstock_error_text());
    link->given_up = true;
    if (link->behind)
        penstock__device_link_settle(link->behind); /* which reads from the pieces */
    penstock__device_pieces_free(&link->pieces);    /* first: nothing touches the streams' memory any more */
    if (link->active)
        penstock__device_link_leave(link);
    link->source->share(link->from, false);
}

void penstock__device_link_used(struct penstock__device_link *link, size_t samples)
{
    const size_t lead = samples < link->lead ? samples : link->lead;
    link->lead -= lead;
    link->to->source->at += lead * link->groups.sample_bytes;
    link->source->used(link->from, samples - lead);
}

/* Waits for the oldest groups on their way. */
static void land(struct penstock__device_link *link)
{
    struct penstock__device_cut *cut = &link->cuts[link->first_cut];
    const struct penstock__device_piece *piece = &link->pieces.pieces[cut->piece];
    struct penstock_slot *slot = &piece->queue->slot;
    if (penstock__queue_note(piece->queue, slot->device->backend->wait(slot, cut->mark))) {
        give_up(link);
        return;
    }
    const size_t all = cut->groups * link->groups.step - penstock__batcher_device_landed(link->batcher);
    penstock_buffer_free(cut->in);
    link->first_cut = (link->first_cut + 1) % PENSTOCK__RING_MOST;
    link->cut_count--;
    if (!all)
        return;
    const size_t items = all / (link->to->in_bytes / link->groups.sample_bytes);
    penstock__device_link_used(link, all);
    link->to->handed_over += items;
    penstock__stream_took(link->to, items, piece->since);
}

void penstock__device_link_settle(struct penstock__device_link *link)
{
    if (link->behind)
        penstock__device_link_settle(link->behind);
    while (link->active && link->cut_count)
        land(link);
    if (link->active)
        penstock__device_link_leave(link);
}

static void settle(void *link)
{
    penstock__device_link_settle(link);
}

/* ---------------------------------------------------------------- onto the device ------------- */

/* Pieces of so many blocks that each begins, and each lump of groups, where the device lets memory begin; and of as
 * many that what a piece leaves over lies within it alone. */
static int lay_out(struct penstock__device_link *link, const struct penstock__device_shape *shape)
{
    const size_t step = penstock__device_pieces_step(shape->device, link->groups.sample_bytes);
    const size_t whole = step / penstock__common_divisor(step, shape->values), blocks = shape->blocks / whole * whole;
    const size_t lump = step / penstock__common_divisor(step, link->groups.step);
    const size_t least = penstock__groups_samples(&link->groups, lump), before = penstock__round_up(least, step);
    const struct penstock__device_pieces like = {.device = shape->device,
                                                 .sample_bytes = link->groups.sample_bytes,
                                                 .before = before,
                                                 .own = blocks * shape->values,
                                                 .in_bytes = blocks ? link->source->bytes(link->from, blocks) : 0,
                                                 .out_bytes = penstock__batcher_capacity(link->batcher) *
                                                              link->groups.result_bytes};
    if (like.own < least || penstock__batcher_capacity(link->batcher) < lump)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s reads no batches of %zu values, in steps of %zu there",
                               shape->device->name, shape->blocks * shape->values, lump * link->groups.step);
    const struct penstock__device_pieces *now = &link->pieces;
    if (now->device != like.device || now->before != like.before || now->own != like.own ||
        now->in_bytes != like.in_bytes || now->out_bytes != like.out_bytes) {
        penstock__device_pieces_free(&link->pieces);
        link->pieces = like;
    }
    link->blocks = blocks;
    link->lump = lump;
    return PENSTOCK_OK;
}

/* Both streams' device, with the batcher of the second one. */
struct penstock__batcher *penstock__device_link_find(const struct penstock__device_link *link,
                                                     struct penstock__device_shape *shape)
{
    struct penstock__batcher *batcher;
    if (link->given_up || !link->source->shape(link->from, shape) || shape->batches < LEAST_BATCHES ||
        shape->batches > PENSTOCK__DEVICE_PIECES || !shape->device->backend->copy ||
        !(batcher = link->to->kind->device_batcher(link->to)) || !penstock__batcher_device_is(batcher, shape->device) ||
        (shape->unit && penstock__batcher_device_groups(batcher).step % shape->unit))
        return NULL;
    return batcher;
}

static bool nothing_waits(const struct penstock__device_link *link)
{
    return !penstock__lent_unread(&link->from->lent) && !penstock__lent_waits(&link->from->lent) &&
           !penstock__lent_waits(&link->to->lent) && link->to->lent.end == PENSTOCK__LENT_OPEN;
}

/* What came by the host and makes no group yet: it is the batcher's, or less than an item of it, which the host's link
 * holds. */
static const void *held_samples(const struct penstock__device_link *link, size_t *count)
{
    const struct penstock__link *host = link->to->source;
    const void *held = penstock__batcher_device_held(link->batcher, count);
    if (*count || host->at == host->bytes)
        return held;
    *count = (host->bytes - host->at) / link->groups.sample_bytes;
    return host->held + host->at;
}

/* Where the first stream has a full batch, and the second one all that came before. If all of its batches are on their
 * way, nothing goes by the host until a result was read: else that would fill each one that becomes free. */
static bool enter(struct penstock__device_link *link)
{
    const struct penstock__device_source *source = link->source;
    struct penstock__device_shape shape;
    struct penstock__batcher *batcher = penstock__device_link_find(link, &shape);
    size_t held;
    source->share(link->from, batcher != NULL);
    if (!batcher || !source->full(link->from) || !source->idle(link->from) || !source->can_make(link->from) ||
        !source->room(link->from) || !nothing_waits(link))
        return false;
    if (!penstock__batcher_device_begin(batcher)) {
        link->stalled = penstock__batcher_device_is_full(batcher);
        return false;
    }
    link->batcher = batcher;
    link->groups = penstock__batcher_device_groups(batcher);
    penstock__batcher_device_held(batcher, &held);
    const struct penstock__link *host = link->to->source;
    const size_t bytes = host->bytes - host->at;
    if ((bytes && held) || bytes % penstock__device_pieces_step(shape.device, 1))
        return false;
    int status = lay_out(link, &shape);
    if (!status && held % penstock__device_pieces_step(shape.device, link->groups.sample_bytes))
        status = penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s reads nothing behind %zu values there",
                                 shape.device->name, held);
    if (status) {
        give_up(link);
        return false;
    }
    if (!link->told)
        penstock__log(link->from->context, PENSTOCK_LOG_INFO, "from the %s to the %s values stay on %s",
                      link->from->kind->name, link->to->kind->name, shape.device->name);
    link->told = link->active = true;
    link->lead = bytes / link->groups.sample_bytes;
    link->piece = NO_PIECE;
    link->first_part = link->part_count = 0;
    if (link_before(link))
        link_before(link)->behind = link;
    penstock__batcher_device_owner(batcher, settle, link);
    return true;
}

/* ---------------------------------------------------------------- on the device --------------- */

static size_t complete_groups(const struct penstock__device_link *link)
{
    if (!link->active || link->piece == NO_PIECE)
        return 0;
    const struct penstock__device_piece *piece = &link->pieces.pieces[link->piece];
    return penstock__groups_complete(&link->groups, piece->end - piece->start);
}

size_t penstock__device_link_groups(const struct penstock__device_link *link)
{
    const size_t complete = complete_groups(link);
    return complete ? complete - complete % link->lump : 0; /* no lump before the first piece */
}

/* The first stream's batch fills the next piece. */
static int fill(struct penstock__device_link *link)
{
    const struct penstock__device_source *source = link->source;
    const size_t blocks = source->blocks ? source->blocks(link->from, link->blocks) : link->blocks;
    const unsigned number = source->number(link->from), before = link->piece;
    struct penstock__device_piece *piece = &link->pieces.pieces[number];
    size_t held;
    int status = penstock__device_piece_make(&link->pieces, number);
    if (status || (status = source->make(link->from, blocks, piece->in, piece->filled, piece->queue)))
        return status;
    link->piece = number;
    if (before != NO_PIECE) {
        status = penstock__device_piece_continue(&link->pieces, number, before);
    } else {
        const void *samples = held_samples(link, &held);
        status = penstock__device_piece_begin(&link->pieces, number, samples, held);
    }
    piece->end -= (link->blocks - blocks) * (link->pieces.own / link->blocks);
    return status;
}

/* And the second one's reads groups of it. */
static int cut(struct penstock__device_link *link, size_t groups)
{
    struct penstock__device_piece *piece = &link->pieces.pieces[link->piece];
    struct penstock__device_cut *made = &link->cuts[(link->first_cut + link->cut_count) % PENSTOCK__RING_MOST];
    const size_t capacity = penstock__batcher_capacity(link->batcher), most = capacity - capacity % link->lump;
    *made = (struct penstock__device_cut){.piece = link->piece, .groups = groups < most ? groups : most};
    int status = penstock__device_piece_part(&made->in, &link->pieces, link->piece,
                                             penstock__groups_samples(&link->groups, made->groups));
    if (status)
        return status;
    link->cut_count++;
    piece->start += made->groups * link->groups.step;
    status = penstock__batcher_device_put(link->batcher, made->in, piece->out, made->groups, piece->queue);
    if (status)
        return status;
    struct penstock_slot *slot = &piece->queue->slot;
    return penstock__queue_note(piece->queue, slot->device->backend->mark(slot, &made->mark));
}

/* The oldest groups on their way, or those of a link behind. */
static bool land_any(struct penstock__device_link *link)
{
    if (!link->cut_count)
        return link->behind && land_any(link->behind);
    land(link);
    return true;
}

/* Whether there may be more to do; at an end with blocks that fill no batch, and groups that make no lump. */
static bool step(struct penstock__device_link *link, bool ending)
{
    const struct penstock__device_source *source = link->source;
    const bool rest = ending && source->rest && source->rest(link->from);
    const size_t groups = ending && !rest ? complete_groups(link) : penstock__device_link_groups(link);
    if (groups && link->shared) { /* the link behind makes its values of them, once all before have gone on */
        if (link->cut_count)
            land(link);
        return false;
    }
    if (groups && !penstock__batcher_device_room(link->batcher)) {
        if (link->cut_count && !penstock__batcher_device_done(link->batcher))
            land(link); /* the results that must be read first */
        return false;
    }
    if (!groups && !rest && !source->full(link->from))
        return false;
    if (!groups && !source->can_make(link->from)) {
        penstock__device_link_settle(link);
        return false;
    }
    if (!groups && !source->room(link->from))
        return land_any(link) && link->active;
    if (groups ? cut(link, groups) : fill(link))
        give_up(link);
    return link->active;
}

/* And so the links behind it, for whose values this one's pieces wait. */
static void go(struct penstock__device_link *link, bool ending)
{
    do
        while (step(link, ending))
            ;
    while (link->active && link->behind && step(link->behind, false));
}

bool penstock__device_link_end(struct penstock__device_link *link)
{
    if (link->active && !link->shared)
        go(link, true);
    if (link->active && !link->shared && complete_groups(link) && !penstock__batcher_device_room(link->batcher))
        return false;
    penstock__device_link_settle(link);
    return true;
}

/* Whether groups that make no lump have been complete for too long. */
static bool lump_is_overdue(const struct penstock__device_link *link)
{
    if (link->piece == NO_PIECE || penstock__device_link_groups(link))
        return false;
    const struct penstock__device_piece *piece = &link->pieces.pieces[link->piece];
    return penstock__groups_complete(&link->groups, piece->end - piece->start) &&
           penstock__batcher_device_is_late(link->batcher, piece->since);
}

bool penstock__device_link_move(struct penstock__device_link *link, bool wait, bool ending)
{
    if (ending)
        penstock__device_link_settle(link);
    link->stalled = false;
    if (ending || (!link->active && !enter(link)))
        return link->stalled;
    go(link, false);
    if (link->active && !link->behind && !penstock__batcher_device_done(link->batcher)) {
        if (link->cut_count && (wait || penstock__batcher_device_overdue(link->batcher))) {
            land(link);
            if (link->active)
                go(link, false);
        } else if (wait) {
            penstock__device_link_settle(link);
        }
    }
    if (link->active && (link->source->overdue(link->from) || lump_is_overdue(link)))
        penstock__device_link_settle(link);
    return link->active;
}

bool penstock__device_link_is_active(const struct penstock__device_link *link)
{
    return link->active || link->stalled;
}

bool penstock__device_link_waits(const struct penstock__device_link *link)
{
    return link && link->shared && !link->behind && penstock__device_link_groups(link) > 0;
}
