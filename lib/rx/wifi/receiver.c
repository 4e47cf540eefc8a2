/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The 802.11a/g receiver: its table, and the public calls. */
#include "rx/wifi/receiver.h"

#include "core/base/description.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/stream/link.h"
#include "ops/ofdm/ofdm.h"

#define LONGEST_FRAME (400 + (MAX_SYMBOLS + 1) * PENSTOCK__WIFI_SYMBOL)

static const struct penstock__rx_standard standard = {
    .frame_bytes = sizeof(struct penstock__wifi_node),
    .worker_bytes = sizeof(struct penstock__wifi_worker),
    .group = GROUP,
    .window = (WINDOW_GROUPS + 2) * GROUP,
    .run_most = 24, /* more than a short training field can make */
    .gap_most = 2,
    .before = BEFORE,
    .after = AFTER,
    .needed = LONG_FIELD,
    .padding = 1024,
    .kept = 1024,
    .longest = LONGEST_FRAME,
    .latency = 320,
    .same = 160,
    .splice = 64,
    .spare = WINDOW_OFFSET,
    .overlaps = 3,
    .head = HEAD,
    .symbol = PENSTOCK__WIFI_SYMBOL,
    .margin = MARGIN,
    .fft = PENSTOCK__WIFI_FFT,
    .most_symbols = MAX_SYMBOLS,
    .carriers = PENSTOCK__WIFI_CARRIERS,
    .pilots = PENSTOCK__WIFI_PILOTS,
    .bits = 6,
    .code = &penstock__wifi_code,
    .look = penstock__wifi_look,
    .examine = penstock__wifi_examine,
    .reserve = penstock__wifi_reserve,
    .track = penstock__wifi_track,
    .take = penstock__wifi_take,
    .finish = penstock__wifi_finish,
    .worker_init = penstock__wifi_worker_init,
    .worker_free = penstock__wifi_worker_free,
};

/* ---------------------------------------------------------------- life ------------------------ */

static const struct penstock__stream_kind kind;

static struct penstock__wifi *of(penstock_stream *stream)
{
    return (struct penstock__wifi *)(void *)stream;
}

static int choose(char device[64], penstock_context *context, const struct penstock_problem *problem)
{
    return penstock__wifi_choose(device, context, problem, penstock__wifi_open_whole);
}

/* What a receiver is opened with; `waits`: the CPU serves until a device is ready. */
struct opening {
    const char *device;
    bool points, waits;
};

static int make_ofdm(struct penstock__rx *rx, const void *owner)
{
    const struct opening *opening = owner;
    penstock_cf32 pilots[127][PENSTOCK__WIFI_PILOTS];
    for (unsigned row = 0; row < 127; row++)
        for (unsigned i = 0; i < PENSTOCK__WIFI_PILOTS; i++)
            pilots[row][i] =
                (penstock_cf32){penstock__wifi_pilot_values[i] * (float)penstock__wifi_pilot_polarity[row], 0};
    /* Points that are wanted come down with the soft bits, and all that comes after these is the host's. */
    return penstock__ofdm_new(
        &rx->ofdm, rx->stream.context,
        &PENSTOCK_OFDM_DESC(.n = PENSTOCK__WIFI_FFT, .guard = PENSTOCK__WIFI_GUARD, .window_offset = WINDOW_OFFSET,
                            .format = PENSTOCK_CF32, .carriers = penstock__wifi_data_carriers,
                            .carrier_count = PENSTOCK__WIFI_CARRIERS, .pilots = penstock__wifi_pilot_carriers,
                            .pilot_count = PENSTOCK__WIFI_PILOTS, .pilot_values = pilots[0], .pilot_rows = 127,
                            .tracking = PENSTOCK_TRACK_GIVEN, .max_constellation = PENSTOCK_QAM64, .batch = 512),
        opening->device, opening->points ? OFDM_TRANSFORMS : OFDM_LISTED, opening->points ? NULL : choose);
}

static int check(const penstock_wifi_receiver_desc *desc)
{
    if (penstock_wifi_rate_hz(desc->profile) == 0)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_wifi_receiver_open: profile %d is none of 0 .. 2",
                               (int)desc->profile);
    if (desc->format != PENSTOCK_CF32 && desc->format != PENSTOCK_CS16 && desc->format != PENSTOCK_CS8 &&
        desc->format != PENSTOCK_CU8)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "penstock_wifi_receiver_open: the format must be cf32, cs16, cs8 or cu8");
    return PENSTOCK_OK;
}

static int make(struct penstock__wifi *made, const penstock_wifi_receiver_desc *d, const struct opening *opening)
{
    struct penstock__rx *rx = &made->rx;
    int status;
    made->points = d->points;
    made->clock = rx->rate_hz / penstock_wifi_rate_hz(PENSTOCK_WIFI);
    rx->waits = opening->waits;
    penstock__wifi_tables_init(&made->tables);
    if (!(status = penstock__rx_init(rx, d->max_latency_s)))
        status = d->points ? make_ofdm(rx, opening) : penstock__rx_device_new(rx, opening->device, make_ofdm, opening);
    if (!status)
        penstock__ofdm_set_event_times(rx->ofdm, &rx->stream.meter.event_times);
    return status;
}

static int open_as(penstock_stream **stream, penstock_context *context, const penstock_wifi_receiver_desc *desc,
                   const char *device, bool waits)
{
    penstock_wifi_receiver_desc d;
    struct penstock__wifi *made;
    int status;
    if (!stream || !context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_wifi_receiver_open: %s is NULL",
                               stream ? "context" : "stream");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_wifi_receiver_desc")) ||
        (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->rx = (struct penstock__rx){.stream = {.kind = &kind,
                                                .context = context,
                                                .in_bytes = penstock_format_bytes(d.format),
                                                .in_values = 1 + (unsigned)d.format},
                                     .standard = &standard,
                                     .format = d.format,
                                     .rate_hz = penstock_wifi_rate_hz(d.profile)};
    if ((status = make(made, &d, &(struct opening){device, d.points, waits}))) {
        penstock__stream_free(&made->rx.stream);
        return status;
    }
    penstock_stream_reset(&made->rx.stream);
    *stream = &made->rx.stream;
    return PENSTOCK_OK;
}

int penstock_wifi_receiver_open(penstock_stream **stream, penstock_context *context,
                                const penstock_wifi_receiver_desc *desc, const char *device)
{
    return open_as(stream, context, desc, device, context && penstock__cpu_while_compiling(context, device));
}

int penstock__wifi_open_whole(penstock_stream **stream, penstock_context *context,
                              const penstock_wifi_receiver_desc *desc, const char *device)
{
    return open_as(stream, context, desc, device, false);
}

static void free_stream(penstock_stream *stream)
{
    penstock__rx_free(&of(stream)->rx);
    penstock__free(stream);
}

/* ---------------------------------------------------------------- frames out ------------------ */

static void describe(const struct penstock__wifi *wifi, struct penstock__wifi_node *node, penstock_wifi_frame *frame)
{
    const struct penstock__rx_frame *known = &node->frame;
    frame->sample = known->start > 0 ? (uint64_t)known->start : 0;
    frame->samples = (uint64_t)(known->end - (int64_t)frame->sample);
    frame->format = node->format;
    frame->bandwidth_hz = wifi->rx.rate_hz;
    frame->rate_mbps = node->rate ? node->rate->mbps * wifi->clock : 0;
    frame->mcs = node->mcs;
    frame->length = node->length;
    frame->decoded = known->decoded;
    frame->fcs_ok = known->checked;
    frame->snr_db = node->snr_db;
    frame->evm_db = node->evm_db;
    frame->cfo_hz = node->tracked_cfo * wifi->rx.rate_hz;
    frame->sfo_ppm = node->sfo_ppm;
    frame->raw_ber = node->raw_ber;
    frame->psdu = known->decoded ? node->psdu : NULL;
    frame->points = known->decoded ? node->points : NULL;
    frame->point_count = frame->points ? (size_t)known->symbols * PENSTOCK__WIFI_CARRIERS : 0;
    frame->reason = known->checked ? NULL : known->reason;
    if (!known->decoded)
        penstock__wifi_unscale(node);
    frame->channel = node->channel;
}

int penstock_wifi_receiver_pull(penstock_stream *stream, penstock_wifi_frame *frame)
{
    penstock_wifi_frame described = PENSTOCK_WIFI_FRAME;
    int status = penstock__stream_is(stream, &kind, "penstock_wifi_receiver_pull"), got;
    if (status || (status = penstock__description_write(frame, &described, sizeof described, "penstock_wifi_frame")) ||
        (status = penstock__link_feed(stream, false)))
        return status;
    struct penstock__wifi *wifi = of(stream);
    if ((got = penstock__rx_pull(&wifi->rx)) != 1)
        return got;
    describe(wifi, penstock__wifi_node(wifi->rx.current), &described);
    status = penstock__description_write(frame, &described, sizeof described, "penstock_wifi_frame");
    return status ? status : 1;
}

int penstock_wifi_receiver_get_counters(const penstock_stream *stream, penstock_wifi_counters *counters)
{
    int status = penstock__stream_is(stream, &kind, "penstock_wifi_receiver_get_counters");
    if (status)
        return status;
    const struct penstock__rx_counters *known = &((const struct penstock__rx *)(const void *)stream)->counters;
    const penstock_wifi_counters given = {.size = sizeof given,
                                          .samples = stream->taken,
                                          .triggers = known->triggers,
                                          .synchronised = known->found,
                                          .signals = known->headers,
                                          .decoded = known->decoded,
                                          .fcs_ok = known->checked,
                                          .unsupported = known->unsupported,
                                          .truncated = known->truncated,
                                          .clipped = known->clipped,
                                          .not_finite = known->not_finite,
                                          .fallbacks = known->fallbacks};
    return penstock__description_write(counters, &given, sizeof given, "penstock_wifi_counters");
}

static const struct penstock__stream_kind kind = {
    .name = "wifi",
    .takes_all = true,
    .push = penstock__rx_push,
    .finish = penstock__rx_finish,
    .reset = penstock__rx_reset,
    .cancel = penstock__rx_cancel,
    .free = free_stream,
    .set_max_latency = penstock__rx_set_max_latency,
    .due_s = penstock__rx_due_s,
    .get_info = penstock__rx_get_info,
    .get_stats = penstock__rx_get_stats,
};
