/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "tally.h"

#include <inttypes.h>
#include <string.h>

void tally_source(struct tally *tally, const penstock_source *source)
{
    tally->in = PENSTOCK_SOURCE_COUNTERS;
    if (source)
        penstock_source_get_counters(source, &tally->in);
}

void tally_sink(struct tally *tally, const penstock_sink *sink)
{
    penstock_sink_counters one = PENSTOCK_SINK_COUNTERS;
    if (!sink || penstock_sink_get_counters(sink, &one))
        return;
    tally->out.size = sizeof tally->out;
    tally->out.samples += one.samples;
    tally->out.clipped += one.clipped;
    tally->out.not_finite += one.not_finite;
}

void tally_list(struct tally_count counts[TALLY_COUNTS], const struct tally *tally)
{
    const struct tally_count all[TALLY_COUNTS] = {
        {"clipped", "clipped", tally->in.clipped},
        {"not finite", "not_finite", tally->in.not_finite},
        {"overflows", "overflows", tally->in.overflows},
        {"samples lost", "lost", tally->in.lost_samples},
        {"losses of unknown size", "unknown_losses", tally->in.unknown_losses},
        {"timeouts", "timeouts", tally->in.timeouts},
        {"reconnects", "reconnects", tally->in.reconnects},
        {"samples missing", "missing", tally->in.missing_samples},
        {"clipped on writing", "clipped_on_writing", tally->out.clipped},
        {"not finite on writing", "not_finite_on_writing", tally->out.not_finite},
    };
    memcpy(counts, all, sizeof all);
}

void tally_print(FILE *out, const struct tally *tally)
{
    struct tally_count counts[TALLY_COUNTS];
    tally_list(counts, tally);
    for (size_t i = 0; i < TALLY_COUNTS; i++)
        if (counts[i].count)
            fprintf(out, ", %s %" PRIu64, counts[i].name, counts[i].count);
}

void tally_warn(const struct tally *tally)
{
    const penstock_source_counters *in = &tally->in;
    const penstock_sink_counters *out = &tally->out;
    if (in->clipped)
        warn("%" PRIu64 " of %" PRIu64 " samples of the input are at its format's limit: the signal is clipped",
             in->clipped, in->taken);
    if (in->not_finite)
        warn("%" PRIu64 " of %" PRIu64 " samples of the input are NaN or infinite", in->not_finite, in->taken);
    if (out->clipped)
        warn("%" PRIu64 " of %" PRIu64 " samples were too large for the output's format, and clipped", out->clipped,
             out->samples);
    if (out->not_finite)
        warn("%" PRIu64 " of %" PRIu64 " samples written are NaN or infinite", out->not_finite, out->samples);
}
