/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What receivers have in common: the life of the stream, the ring of samples, who works when on which thread, and the
 * list of frames between their discovery and the caller. What is a standard's own is a table of functions.
 *
 *     receiver.c   the stream's calls
 *     samples.c    the ring of samples
 *     condition.c  any format to float, NaN and infinity to zero, clipping counted
 *     look.c       samples are converted, and looked at while they are in the cache, on all threads
 *     search.c     windows that stand out become candidates
 *     schedule.c   search, examine, decode, each spread over the context's threads
 *     frames.c     the list of frames
 *     decode.c     a frame's symbols on one thread, where the device is the processor
 *     batch.c      for other devices, batches of many frames, and several of them on their way
 *     demodulate.c  what one takes where a device only demodulates
 *     device.c     frames from samples to bits on a device that demodulates and decodes, and
 *     device_batch.c  what one batch of them takes there
 *
 * Positions are in samples of the stream, signed, since the first frame's window may begin before it. What is
 * computed for a position depends on nothing but the samples around it, so that any split of the stream into pushes,
 * and any number of threads, gives the same frames to the bit.
 */
#ifndef PENSTOCK_RX_RECEIVER_H
#define PENSTOCK_RX_RECEIVER_H

#include "backends/backend.h"
#include "core/stream/stream.h"

#include <penstock/ofdm.h>

#define PENSTOCK__RX_PAST  16
#define PENSTOCK__RX_SPARE 1024

struct penstock__rx;

struct penstock__rx_candidate {
    int64_t position; /* of the window that stood out */
    int64_t until;    /* its examination needs at least the samples before this */
};

enum penstock__rx_state {
    PENSTOCK__RX_WAITING, /* for the samples up to its end */
    PENSTOCK__RX_SENT,    /* on its way through a device */
    PENSTOCK__RX_DONE     /* can be reported */
};

struct penstock__rx_frame {
    /* One line of the processor's caches: what is read on the way from one thread to another. */
    struct penstock__rx_frame *before, *next; /* in the order of their starts */
    int64_t start;                            /* first sample */
    int64_t reference; /* first sample that its demodulation looks at; symbols' starts are relative to it */
    int64_t end;       /* one past its last sample */
    int64_t until;     /* its demodulation needs at least the samples before this */
    int64_t last_end;  /* the last end of it and of those that were before it in the list */
    enum penstock__rx_state state;
    bool headed, unsupported;
    bool sure;     /* a checksum says that the frame is what it seems */
    bool unlisted; /* by no kernel that needs its numbers to be within some limits */

    unsigned symbols;
    bool truncated, decoded, checked;
    const penstock_cf32 *kept; /* its samples as it looks at them, in memory of a device's batch; NULL: in the ring */
    char reason[96];

    void *memory; /* for what it gives, by `reserve`; a frame that is given back keeps it for the next one */
    size_t memory_bytes;

    /* How to look at its samples: (x - mean) * scale; of `ofdm` all but the origin, which is `reference`. */
    penstock_cf32 mean;
    float scale;
    penstock_ofdm_frame ofdm;
};

enum penstock__rx_finding {
    PENSTOCK__RX_NOTHING,
    PENSTOCK__RX_FRAME,
    PENSTOCK__RX_LATER /* to be examined again when the samples before candidate->until are there */
};

/* How a standard's frames are coded, where a device may decode them: by a code of two generators, zero-terminated. */
struct penstock__rx_code {
    unsigned generators[2], constraint;
    unsigned rates, most_steps;                /* of a symbol */
    size_t most_bits;                          /* of a frame, with all that is coded but the tail */
    void (*rate)(unsigned rate, int32_t *row); /* as in struct penstock_coded_problem; places of `row` are -1 before */
    void (*frame)(const struct penstock__rx_frame *frame, unsigned *rate, size_t *steps); /* steps of all of it */

    /* The end of a frame, of which bits, coded bits that were received wrong and squared distances of points from the
     * nearest ones, with levels at odd integers, come from the device. */
    void (*finish)(void *worker, struct penstock__rx_frame *frame, const uint8_t *bits, uint64_t wrong, double error);
};

/* A standard. Functions that get a worker's own memory run on several threads at once; `rx` is read-only to them. */
struct penstock__rx_standard {
    size_t frame_bytes;  /* a frame's object, which begins with a struct penstock__rx_frame */
    size_t worker_bytes; /* a worker's own memory, zeroed before worker_init */

    /* Windows of `window` samples, a multiple of `group`, begin at multiples of `group` samples of the stream. Those
     * that stand out make a run; it ends with `gap_most` others in it or `run_most` windows, and its strongest window
     * is a candidate. */
    size_t group, window;
    unsigned run_most, gap_most; /* gap_most >= 1 */

    size_t before, after; /* samples that an examination may read around a candidate's position */
    size_t needed;        /* of those after it at least so many must be there */
    size_t padding;       /* zeros behind the end of the stream: `after` and a window */
    size_t kept;          /* samples kept before the search: its longest run and what a candidate needs */
    size_t longest;       /* of a frame */
    size_t latency;       /* samples by which the examination of the shortest frame may come after its end */

    size_t same;       /* frames do not start closer together than this, else it is one found twice */
    size_t splice;     /* samples by which a frame may start before the one before it ends */
    size_t spare;      /* samples at a frame's end that its demodulation does without */
    unsigned overlaps; /* frames that a new one may start in; more are the work of somebody who wants to keep us busy */

    /* OFDM: from the reference to the first symbol, of a symbol, by which symbols may move in all. */
    size_t head, symbol, margin;
    unsigned fft, most_symbols, carriers, pilots, bits; /* points; of a frame; of a symbol; of a carrier at most */

    /* The strength of each of `windows` windows, 0 where it does not stand out; the first one begins at `samples`. */
    void (*look)(const penstock_cf32 *samples, size_t windows, float *strength);

    /* The stream is known before `end`; anything may lie behind that. `samples` is candidate->position - before. */
    enum penstock__rx_finding (*examine)(const struct penstock__rx *rx, void *worker,
                                         struct penstock__rx_candidate *candidate, const penstock_cf32 *samples,
                                         int64_t end, struct penstock__rx_frame *frame);

    /* frame->memory for what it gives; again after an error. */
    int (*reserve)(const struct penstock__rx *rx, struct penstock__rx_frame *frame);

    /* Phase, clock and place of each symbol, from samples that penstock__rx_view() shows; frame->until too. */
    void (*track)(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame,
                  penstock_ofdm_symbol *symbols);

    /* Demodulated symbols, in their order, and then the end of the frame, which is done. */
    void (*take)(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame, size_t first,
                 size_t count, const int8_t *soft, const penstock_cf32 *points);
    void (*finish)(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame);

    const struct penstock__rx_code *code; /* NULL: no device decodes */

    int (*worker_init)(void *worker);
    void (*worker_free)(void *worker);
};

/* ---------------------------------------------------------------- parts ----------------------- */

/* One thread's memory. */
struct penstock__rx_worker {
    void *own;                        /* the standard's */
    struct penstock__rx_frame *frame; /* what an examination makes */
    penstock_ofdm_symbol *symbols;    /* of a frame */
    penstock_cf32 *samples, *points;  /* of a few symbols, where the processor demodulates, */
    int8_t *soft;                     /* as these */
    penstock_cf32 *seam;              /* samples of windows that begin in what another thread converts */
    void *ofdm;                       /* and the demodulator's memory */
    size_t ofdm_bytes;
    double ofdm_s; /* what that has taken */
};

struct penstock__rx_search {
    int64_t next;    /* window to be gone through */
    int64_t looked;  /* those before it were looked at */
    float *strength; /* of the windows from `next` on that were looked at, */
    uint64_t *marks; /* and a bit for each that stands out */
    unsigned run_length, run_gap;
    float run_best;
    int64_t run_window; /* the strongest */
};

struct penstock__rx_batches;
struct penstock__rx_device;
struct penstock__async_build;

struct penstock__rx_counters {
    uint64_t triggers, found, headers, decoded, checked, unsupported, truncated, clipped, not_finite, fallbacks;
};

struct penstock__rx {
    struct penstock_stream stream;
    const struct penstock__rx_standard *standard;
    penstock_ofdm *ofdm;
    penstock_format format;
    double rate_hz;

    /* samples[i] is stream sample base + i, up to `end`; `total` of them came from the caller. */
    penstock_cf32 *samples;
    size_t capacity;
    int64_t base, end, total;

    /* Work is done every `hop` samples, next when `end` is there, or when samples have waited for max_latency_s; the
     * first of them since `since`, INFINITY: none; those of frames that are on their way through a device since
     * `sent_since`. A source that is faster than the radio has up to `most_hops` hops
     * gathered, for all threads to have enough: it is `ahead_s`, not counted what passes in the calls that work. */
    int64_t hop, next, worked, most_hops;
    double max_latency_s, since, sent_since, ahead_s, left_at;
    bool gathers;

    struct penstock__rx_search search;
    struct penstock__rx_candidate *candidates;
    struct penstock__rx_examined *examined; /* of as many of them */
    size_t candidate_count, most_candidates;

    struct penstock__rx_worker *workers;
    unsigned worker_count;
    struct penstock__rx_frame **decoding; /* frames that are decoded side by side */
    struct penstock__rx_batches *batches; /* NULL until a device needs them */
    struct penstock__rx_device *device;   /* NULL: none decodes, or it is not ready */
    struct penstock__async_build *build;  /* of it */
    bool waits, device_tried;             /* whether the CPU may serve until it is ready */

    struct penstock__rx_frame *first, *last, *current; /* the list; and what the last pull gave */
    struct penstock__rx_frame *waiting;                /* of the list; those before it do not wait, NULL: none does */
    struct penstock__rx_past {
        int64_t start, end;
    } past[PENSTOCK__RX_PAST]; /* frames that were taken out, as long as one still to be found may lie in them */
    unsigned past_count;
    struct penstock__rx_frame *spare[PENSTOCK__RX_SPARE]; /* given back: what the next ones are made in */
    size_t spare_count;
    int64_t sure_until; /* frames before this lie within one that is sure */
    struct penstock__rx_counters counters;
    uint64_t earlier_fallbacks, earlier_cpu_while_compiling; /* those before the last reset */
};

/* ---------------------------------------------------------------- receiver.c ------------------ */

/* All but the demodulator; `rx` is zeroed but for stream, standard, format and rate_hz. What is made before a failure
 * is released by the free function too. */
int penstock__rx_init(struct penstock__rx *rx, double max_latency_s);
void penstock__rx_free(struct penstock__rx *rx);
void penstock__rx_cancel(penstock_stream *stream);

/* For the table of the stream's kind. */
int penstock__rx_push(penstock_stream *stream, const struct penstock__items *items, size_t count, size_t *taken);
int penstock__rx_finish(penstock_stream *stream);
void penstock__rx_reset(penstock_stream *stream);
int penstock__rx_set_max_latency(penstock_stream *stream, double max_latency_s);
double penstock__rx_due_s(const penstock_stream *stream);
void penstock__rx_get_info(const penstock_stream *stream, penstock_stream_info *info);
void penstock__rx_get_stats(const penstock_stream *stream, penstock_stream_stats *stats);

/* The next frame becomes rx->current, until the next call: 1, 0 where none is ready, or an error. */
int penstock__rx_pull(struct penstock__rx *rx);

/* ---------------------------------------------------------------- samples.c ------------------- */

int penstock__rx_samples_init(struct penstock__rx *rx);
void penstock__rx_samples_start(struct penstock__rx *rx);

/* `count` samples more, up to the next hop at most; NULL: zeros. */
void penstock__rx_append(struct penstock__rx *rx, const void *items, size_t count);

/* A frame's samples from its reference on, as they came: it looks at (x - mean) * scale. Behind the end of the stream
 * lies what is of no use, as far as standard->after. */
struct penstock__rx_view {
    const penstock_cf32 *samples;
    penstock_cf32 mean;
    float scale;
};

struct penstock__rx_view penstock__rx_view(const struct penstock__rx *rx, const struct penstock__rx_frame *frame);

/* Samples of a frame from reference + `at` on, as it looks at them; zero where there are none. Past the processor's
 * caches: for a device that reads them. */
void penstock__rx_read(const struct penstock__rx *rx, const struct penstock__rx_frame *frame, int64_t at, size_t count,
                       bool past_caches, penstock_cf32 *out);

/* ---------------------------------------------------------------- look.c ---------------------- */

/* Puts `count` samples of the stream's format behind those that are there; many are looked at as well. */
void penstock__rx_convert(struct penstock__rx *rx, const void *items, size_t count);

/* Looks at all windows that were not looked at. */
void penstock__rx_look(struct penstock__rx *rx);

/* ---------------------------------------------------------------- search.c -------------------- */

int penstock__rx_search_init(struct penstock__rx *rx);
void penstock__rx_search_start(struct penstock__rx *rx);
void penstock__rx_search_free(struct penstock__rx *rx);

/* Goes on as far as there are samples, to the end if the stream is finished. */
void penstock__rx_search(struct penstock__rx *rx);

/* No frame that is still to be found starts before this. */
int64_t penstock__rx_horizon(const struct penstock__rx *rx);

/* ---------------------------------------------------------------- schedule.c ------------------ */

struct penstock__rx_examined *penstock__rx_examined_new(size_t candidates);

/* Goes on with all steps as far as there are samples, to the end if the stream is finished. Not `all`: frames may stay
 * on their way through a device. */
int penstock__rx_work(struct penstock__rx *rx, bool all);

/* ---------------------------------------------------------------- frames.c -------------------- */

#define PENSTOCK__RX_AHEAD 8 /* frames that other threads have made, and that are fetched before they are looked at */

/* Gives a frame, which is in no list, back; NULL: nothing. */
void penstock__rx_give_back(struct penstock__rx *rx, struct penstock__rx_frame *frame);

/* The same of a spare one that was not made use of: nothing of it is looked at. */
static inline void penstock__rx_put_back(struct penstock__rx *rx, struct penstock__rx_frame *frame)
{
    if (frame && rx->spare_count < PENSTOCK__RX_SPARE)
        rx->spare[rx->spare_count++] = frame;
    else
        penstock__rx_give_back(rx, frame);
}

/* Another thread has written it, and it will be looked at; NULL: nothing. */
void penstock__rx_fetch(const struct penstock__rx_frame *frame);

/* Gives all of them back; frees what was. */
void penstock__rx_frames_clear(struct penstock__rx *rx);
void penstock__rx_spare_free(struct penstock__rx *rx);

/* Enters it, or gives it back where it is there already, or was. */
void penstock__rx_enter(struct penstock__rx *rx, struct penstock__rx_frame *frame);

/* Takes the first frame out of the list if it is done and starts before the horizon; else NULL. */
struct penstock__rx_frame *penstock__rx_take(struct penstock__rx *rx);

/* Marks what the end of the stream cut off. */
void penstock__rx_truncate(struct penstock__rx *rx);

/* ---------------------------------------------------------------- decode.c and batches -------- */

#define PENSTOCK__RX_DECODED 4096 /* frames side by side at most */

/* All samples of the frame are there, as far as is known. */
static inline bool penstock__rx_complete(const struct penstock__rx *rx, const struct penstock__rx_frame *frame)
{
    return frame->state == PENSTOCK__RX_WAITING && (rx->stream.finished || frame->until <= rx->end);
}

/* Decodes every complete frame of the list, or, not `all`, sends some on their way; on an error those that are not done
 * stay as they are. */
int penstock__rx_decode(struct penstock__rx *rx, bool all);

/* The same by batches on a device that demodulates. */
int penstock__rx_decode_batches(struct penstock__rx *rx);
void penstock__rx_batches_free(struct penstock__rx_batches *batches);

/* Frames that a device takes from samples to bits. Makes the demodulator, and beside it what the rest needs, where
 * `device` names one that may have it; where it does not, or the CPU may serve meanwhile, that follows when the
 * demodulator's device is known. Only the demodulator's failure is an error, that of the rest is a log line. */
int penstock__rx_device_new(struct penstock__rx *rx, const char *device,
                            int (*demodulator)(struct penstock__rx *rx, const void *owner), const void *owner);
void penstock__rx_device_free(struct penstock__rx *rx);

/* Decodes complete frames so, if that is ready; those that wait after it are for others. */
void penstock__rx_decode_there(struct penstock__rx *rx, bool all);

/* Frames that are on their way there, where the demodulator has moved to the CPU. */
void penstock__rx_finish_there(struct penstock__rx *rx);

/* Whether there are such, and an end of it without them. */
bool penstock__rx_device_flying(const struct penstock__rx *rx);
void penstock__rx_device_drop(struct penstock__rx *rx);

/* After all frames of the list are decoded: memory of a device that failed is needed no more. */
void penstock__rx_device_release(struct penstock__rx *rx);

/* After a frame is decoded. */
void penstock__rx_count(struct penstock__rx *rx, const struct penstock__rx_frame *frame);

#endif
