/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the cases of decoders share: blocks of random bits, coded, as soft bits, and a plan that decodes them. */
#ifndef PENSTOCK_APP_CODED_BLOCKS_H
#define PENSTOCK_APP_CODED_BLOCKS_H

#include "cases.h"

#include <penstock/fec.h>

struct coded_blocks {
    penstock_plan *plan;
    penstock_soft soft_format;
    size_t blocks, bits, sent, out_bytes; /* data bits, bits that are sent and bytes of a result, of each */
    uint8_t *data, *coded, *out;          /* data and results packed, the first bit lowest */
    void *soft;
    uint64_t seed;
};

/* Memory for them, and random data; PENSTOCK_ERR_MEMORY is not spoken of. */
int coded_blocks_new(struct coded_blocks *run);
void coded_blocks_free(struct coded_blocks *run);

/* Soft bit `i` of what is coded, of that level; where `wrong`, of the other bit. */
void coded_blocks_put(struct coded_blocks *run, size_t i, bool wrong, int level);

/* Bits of `count` decoded blocks that differ from the data, which repeat. The last ones of an open block are not looked
 * at: they are not as sure as the others. */
size_t coded_blocks_wrong(const struct coded_blocks *run, const void *decoded, size_t count,
                          const penstock_viterbi_desc *desc);

/* Times the plan, and with samples on the device where it has a clock. A sample is a decoded bit. */
int coded_blocks_bench(struct coded_blocks *run, const struct case_target *target, struct bench_row *row);

#endif
