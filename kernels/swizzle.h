/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Where points lie in local memory without gaps, so that more work-groups find room in it: those of the same 16 change
 * places, by exclusive or with what a gap would be (lib/gpu/launch_config.h, `swizzled`). Comes after stages.h, whose
 * words these are; all numbers are powers of two, LANES and `every` at least 16.
 */
#undef PLACE_AT
#undef TAKE_AT

#define MOVED(p, every, gap) ((gap) ? (k_index)((k_size)(p) / (every)) * (gap) % 16 : 0)

/* Of lane + offset the lane alone has bits below 16. */
#define PLACE_AT(offset, every, gap)                                                                              \
    ((lane ^ ((offset) % (every) == 0 ? (MOVED(lane, every, gap) + (offset) / (every) * (gap)) % 16               \
                                      : MOVED(lane + (offset), every, gap))) + (offset))

/* No two of quotient, remainder and offset have a bit in common: what of the offset is not moved is a constant. */
#define TAKE_AT(kind, position, span, group, offset, every, gap)                                                  \
    (((OVER_##kind(position, span) * (group) + WITHIN_##kind(position, span)) ^ ((offset) % 16) ^                 \
      ((every) % (group) == 0                                                                                     \
           ? MOVED(OVER_##kind(position, span), (every) / (group), gap)                                           \
           : MOVED(OVER_##kind(position, span) * (group) + WITHIN_##kind(position, span) + offset, every, gap))) + \
     (offset) / 16 * 16)
