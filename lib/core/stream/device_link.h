/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A link whose two streams work on one device: whole batches of the first are read there by the second. All else goes
 * over the host, as in any link: what a flush, the end, a pull that waits or a change of taps makes less than a batch.
 * Between the two what is on its way is taken back: results that the second one has not used up are made again, of
 * samples that the first one has kept. So it is too after a failure, for good, and nothing is lost.
 */
#ifndef PENSTOCK_CORE_DEVICE_LINK_H
#define PENSTOCK_CORE_DEVICE_LINK_H

#include "core/stream/stream.h"

struct penstock__device_link;

/* `*link` is NULL where the two kinds never can. */
int penstock__device_link_new(struct penstock__device_link **link, penstock_stream *from, penstock_stream *to);

/* The device that both are on, as they are now, or NULL. */
const struct penstock_device *penstock__device_link_device(const struct penstock__device_link *link);

/* Moves what can go on the device; nothing of the link is held on the host. `wait`: until there are results. `ending`:
 * all that was pushed is to come. False: the host's turn; true also where results must be read before it is the
 * device's. */
bool penstock__device_link_move(struct penstock__device_link *link, bool wait, bool ending);

/* Whether what was moved last stays there. */
bool penstock__device_link_is_active(const struct penstock__device_link *link);

/* Whether samples there wait until all results of the second stream before them have gone on. `link` may be NULL. */
bool penstock__device_link_waits(const struct penstock__device_link *link);

/* Results of the first stream that are to go by the host, behind those that are held there, so that the next batch can
 * stay on the device; 0: any. `link` may be NULL. */
size_t penstock__device_link_lacks(const struct penstock__device_link *link);

/* Takes back what is on its way. */
void penstock__device_link_settle(struct penstock__device_link *link);

/* The same, but what is complete is made and read there before, whether it fills a batch or not. False: results of the
 * second stream must be read first, and then it is to be called again. */
bool penstock__device_link_end(struct penstock__device_link *link);
void penstock__device_link_free(struct penstock__device_link *link);

#endif
