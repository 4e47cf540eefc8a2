/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the files of the 802.11a/g receiver share. A sample travels through them in this order:
 *
 *     condition.c    any format to float, NaN and infinity to zero, clipping counted
 *     detect.c       short training field: autocorrelation over groups of 16 samples, free of DC
 *     synchronise.c  long training field: confirmation, timing by the first path, carrier offset, DC
 *     estimate.c     channel from the two long symbols, smoothed over delay; noise
 *     signal.c       SIGNAL field; channel and carrier offset refined by it
 *     format.c       HT, VHT and later formats by the symbols after SIGNAL
 *     track.c        phase and clock of a frame from its pilots
 *     decode.c       symbols of many frames in one batch on the device, then bits
 *     frames.c       list of frames, what the caller sees
 *     schedule.c     who works when
 *     receiver.c     the public calls and the buffer of samples
 *
 * Positions are in samples of the stream, signed, since the first frame's window may begin before it. What is
 * computed for a position depends on nothing but the samples around it, so that any split of the stream into
 * pushes gives the same frames to the bit.
 */
#ifndef PENSTOCK_RX_WIFI_RECEIVER_H
#define PENSTOCK_RX_WIFI_RECEIVER_H

#include "backends/backend.h"
#include "core/stream.h"
#include "fec/interleaver.h"
#include "fec/wifi_rates.h"
#include "rx/wifi/complex.h"
#include "tx/wifi_training.h"

#define GROUP         16  /* samples of one group of the detector: a period of the short training field */
#define WINDOW_GROUPS 8   /* groups of products that one metric sees: with the lag they fit into the field anywhere */
#define BEFORE        96  /* samples before a candidate that its examination reads */
#define LONG_FIELD    384 /* and after: all that the search for the long training field reads, */
#define AFTER         640 /* and to the end of the second symbol after SIGNAL */
#define SEGMENT       (BEFORE + AFTER)
#define MARGIN        16 /* samples by which a frame's symbols may move, its clock being slow or quick */
#define WINDOW_OFFSET 3  /* of FFT windows, before the guard interval's end as given by the first path */
#define USED_CARRIERS 52
#define MAX_SYMBOLS   1366 /* DATA symbols of the longest frame: 4095 octets at 6 Mb/s */
#define PAST          16

/* ---------------------------------------------------------------- detection ------------------- */

struct penstock__wifi_candidate {
    int64_t position;  /* of the window in which the short training field stood out */
    penstock_cf32 lag; /* covariance at lag 16, summed over the window: its phase gives the carrier offset */
    penstock_cf32 mean;
    float power;   /* mean of |sample - mean|^2; > 0 */
    int64_t until; /* its examination needs at least the samples before this */
};

/* Sums over the groups; group i of the arrays is group first_group + i of the stream. */
struct penstock__wifi_detector {
    size_t count;
    int64_t first_group;
    float *lag_re, *lag_im, *power, *sum_re, *sum_im;
    float *metric, *strength;     /* of the window that starts at each group */
    unsigned run_length, run_gap; /* the run of windows above the threshold that is being walked through */
    float run_best;
    struct penstock__wifi_candidate run_candidate;
};

int penstock__wifi_detector_init(struct penstock__wifi_detector *detector, size_t max_groups);
void penstock__wifi_detector_reset(struct penstock__wifi_detector *detector);
void penstock__wifi_detector_free(struct penstock__wifi_detector *detector);

/* Sums of the groups `first` .. `first + count` of the detector's arrays; `samples` is where group `first` starts and
 * GROUP more samples than the groups have can be read. */
void penstock__wifi_detector_sums(struct penstock__wifi_detector *detector, size_t first, size_t count,
                                  const penstock_cf32 *samples);

/* Metrics of the windows that start at groups `first` .. `first + count`; WINDOW_GROUPS more groups must be summed. */
void penstock__wifi_detector_metrics(struct penstock__wifi_detector *detector, size_t first, size_t count);

/* Leaves the first `windows` groups behind. */
void penstock__wifi_detector_forget(struct penstock__wifi_detector *detector, size_t windows);

/* Takes window i into the run; true if a run ended with it: then *candidate is its best window. */
bool penstock__wifi_detector_step(struct penstock__wifi_detector *detector, size_t i,
                                  struct penstock__wifi_candidate *candidate);

/* Ends the run at the end of the stream. */
bool penstock__wifi_detector_end(struct penstock__wifi_detector *detector, struct penstock__wifi_candidate *candidate);

/* ---------------------------------------------------------------- a frame --------------------- */

enum penstock__wifi_state {
    PENSTOCK__WIFI_WAITING, /* for the samples up to its end */
    PENSTOCK__WIFI_DONE     /* can be reported */
};

struct penstock__wifi_node {
    struct penstock__wifi_node *next;
    enum penstock__wifi_state state;
    int64_t start;     /* first sample of the short training field */
    int64_t reference; /* first sample of the first long training symbol, on the first path */
    int64_t end;       /* one past its last sample */
    int64_t until;     /* its data's decoding needs at least the samples before this */
    bool sure;         /* a checksum says that the frame is what it seems */

    /* How to look at its samples: (x - mean) * scale, turned back by the offset with phase zero at `reference`. */
    penstock_cf32 mean;
    float scale;
    double cfo;                                /* turns per sample */
    penstock_cf32 channel[PENSTOCK__WIFI_FFT]; /* by bin, at the guard interval's end */
    float noise;                               /* on a bin of the unnormalised FFT */

    penstock_wifi_format format;
    const struct penstock__wifi_rate *rate; /* NULL: not known */
    unsigned length, symbols;
    int mcs;
    double snr_db, evm_db, raw_ber, sfo_ppm;
    double tracked_cfo; /* turns per sample, over the whole frame */
    bool truncated, decoded, fcs_ok;
    char reason[96];
    uint8_t *psdu; /* NULL until decoded; its memory holds `points` too */
    penstock_cf32 *points;
    void *memory;
};

/* ---------------------------------------------------------------- examination ----------------- */

/* Constants of the standard in the forms that the receiver needs, made once. */
struct penstock__wifi_tables {
    int32_t used[USED_CARRIERS];                 /* carriers -26 .. 26 without 0 */
    penstock_cf32 twiddle[PENSTOCK__WIFI_FFT];   /* exp(-2 pi i k / 64) */
    penstock_cf32 long_time[PENSTOCK__WIFI_FFT]; /* conjugate of the long symbol, unit energy */
    float delay_window[PENSTOCK__WIFI_FFT];      /* by bin, for the search of the first path */
    float
        *smooth[3]; /* projections on channels of few taps: USED_CARRIERS rows of as many real, then imaginary parts */
    float smooth_rank[3]; /* their traces: how many dimensions they keep */
    struct penstock__wifi_soft_map soft_maps[PENSTOCK__WIFI_RATES];
};

int penstock__wifi_tables_init(struct penstock__wifi_tables *tables);
void penstock__wifi_tables_free(struct penstock__wifi_tables *tables);

/* 64-point DFT, forward and not scaled. */
void penstock__wifi_fft(const struct penstock__wifi_tables *tables, penstock_cf32 *out, const penstock_cf32 *in);

/* What one worker needs while it examines a candidate. Positions in it: sample i is stream sample base + i. */
struct penstock__wifi_segment {
    int64_t base;
    penstock_cf32 raw[SEGMENT];     /* (x - mean) * scale */
    penstock_cf32 rotated[SEGMENT]; /* the same without the carrier offset, phase zero at sample 0 */
    penstock_cf32 mean;             /* that was taken out, before the scale */
    float scale;
    double cfo;                                      /* turns per sample */
    size_t window;                                   /* where the FFT windows of the two long symbols start */
    size_t first;                                    /* where the first path's long symbol starts */
    penstock_cf32 least_squares[PENSTOCK__WIFI_FFT]; /* channel estimate by bin, relative to `first`, not smoothed */
    penstock_cf32 channel[PENSTOCK__WIFI_FFT];
    float noise;
};

/* Rotates samples [from, SEGMENT) by the segment's carrier offset. */
void penstock__wifi_rotate(struct penstock__wifi_segment *segment, size_t from);

/* False if there is no long training field. `samples` is stream sample candidate->position - BEFORE. */
bool penstock__wifi_synchronise(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                                const struct penstock__wifi_candidate *candidate, const penstock_cf32 *samples);

/* least_squares and noise from the two long symbols. */
void penstock__wifi_estimate(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment);

/* `channel` from `least_squares` whose elements have the noise `variance`. */
void penstock__wifi_smooth(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           float variance);

/* Carriers of the symbol `index` (0 is SIGNAL), not equalised, as seen at the guard interval's end. */
void penstock__wifi_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                           unsigned index, penstock_cf32 *bins);

/* Reads the SIGNAL field into node->rate, length, symbols and end, or node->reason; refines channel and offset. */
void penstock__wifi_signal(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           struct penstock__wifi_node *node, void *viterbi);

/* The 24 bits a symbol of one or two BPSK symbols coded as one word (SIGNAL, HT-SIG), first one lowest, from 48
 * weighted values a symbol. *agreement: the share of the soft bits' weight that the word explains, -1 .. 1. */
uint64_t penstock__wifi_decode_header(const struct penstock__wifi_tables *tables, const float *values, unsigned symbols,
                                      void *viterbi, float *agreement);

/* Symbols after SIGNAL that the next call reads. */
unsigned penstock__wifi_later_symbols(const struct penstock__wifi_node *node);

/* Recognises HT, VHT and later formats after a SIGNAL field with 6 Mb/s. */
void penstock__wifi_recognise(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                              struct penstock__wifi_node *node, void *viterbi);

enum penstock__wifi_verdict {
    PENSTOCK__WIFI_NOTHING,
    PENSTOCK__WIFI_FRAME,
    PENSTOCK__WIFI_LATER /* to be examined again when the samples before candidate->until are there */
};

/* All of the above for one candidate, which sees of the stream what is before `end`; anything may lie behind that. */
enum penstock__wifi_verdict penstock__wifi_examine(const struct penstock__wifi_tables *tables,
                                                   struct penstock__wifi_segment *segment,
                                                   struct penstock__wifi_candidate *candidate,
                                                   const penstock_cf32 *samples, int64_t end,
                                                   struct penstock__wifi_node *node, void *viterbi);

/* ---------------------------------------------------------------- data ------------------------ */

/* Memory of one worker for penstock__wifi_track(). */
struct penstock__wifi_tracker {
    double phase[MAX_SYMBOLS], frequency[MAX_SYMBOLS];
    double covariance[MAX_SYMBOLS][3];
};

/* `samples`: the frame's samples from node->reference on, conditioned as `node` says, but for the offset; MARGIN more
 * than it has. Fills in start (relative to samples[0]), pilot_row, phase and slope of node->symbols symbols, and
 * node->until: what is said of the frame is true if the samples before it are there. */
void penstock__wifi_track(struct penstock__wifi_node *node, const penstock_cf32 *samples, penstock_ofdm_symbol *symbols,
                          struct penstock__wifi_tracker *tracker);

/* Symbols of frames on their way through the device. */
struct penstock__wifi_batch {
    penstock_cf32 *samples;
    penstock_ofdm_symbol *symbols;
    int8_t *soft;
    penstock_cf32 *points;
    struct penstock__wifi_batch_item *items; /* one a frame */
    penstock_ofdm_frame *frames;
    size_t item_count, sample_count, symbol_count;
};

int penstock__wifi_batch_init(struct penstock__wifi_batch *batch);
void penstock__wifi_batch_free(struct penstock__wifi_batch *batch);

/* One thread's memory. */
struct penstock__wifi_worker {
    struct penstock__wifi_segment segment;
    struct penstock__wifi_tracker tracker;
    void *viterbi;
    int8_t *soft;    /* two for each trellis step of the longest frame, and the last symbol's padding */
    uint8_t *packed; /* its bits */
    uint8_t *coded;  /* its coded bits, one a byte */
};

int penstock__wifi_worker_init(struct penstock__wifi_worker *worker);
void penstock__wifi_worker_free(struct penstock__wifi_worker *worker);

struct wifi_receiver;

/* Decodes every complete frame of the list; on an error those that are not done stay as they are. */
int penstock__wifi_decode(struct wifi_receiver *receiver);

/* ---------------------------------------------------------------- the receiver ---------------- */

struct wifi_receiver {
    struct penstock_stream stream;
    penstock_ofdm *ofdm;
    penstock_format format;
    double rate_hz; /* and bandwidth */
    double clock;   /* 1, 0.5, 0.25 */
    bool points;

    /* samples[i] is stream sample base + i, up to `end`; `total` of them came from the caller. */
    penstock_cf32 *samples;
    size_t capacity;
    int64_t base, end, total;
    int64_t hop, next;           /* work is done every `hop` samples, next when `end` is there, */
    double max_latency_s, since; /* or when samples have waited so long; the first of them, INFINITY: none */

    struct penstock__wifi_detector detector;
    struct penstock__wifi_candidate *candidates;
    size_t candidate_count;

    struct penstock__wifi_tables tables;
    struct penstock__wifi_worker *workers;
    unsigned worker_count;
    struct penstock__wifi_batch batch;

    struct penstock__wifi_node *frames; /* in the order of their starts */
    struct penstock__wifi_past {
        int64_t start, end;
    } past[PAST]; /* frames that were taken out, as long as one that is still to be found may lie in them */
    unsigned past_count;
    struct penstock__wifi_node *current;       /* what the last pull gave, */
    penstock_cf32 channel[PENSTOCK__WIFI_FFT]; /* and its channel for samples as they came */
    int64_t sure_until;                        /* frames before this lie within one that is sure */
    penstock_wifi_counters counters;
    uint64_t earlier_fallbacks, earlier_meanwhile; /* those before the last reset */
};

/* Goes on with all steps as far as there are samples, to the end if the stream is finished. */
int penstock__wifi_work(struct wifi_receiver *receiver);

struct penstock__wifi_node *penstock__wifi_node_new(void);
void penstock__wifi_node_free(struct penstock__wifi_node *node);

/* Enters a copy of `found`, unless it is there already, or was. */
int penstock__wifi_enter(struct wifi_receiver *receiver, const struct penstock__wifi_node *found);

/* Takes the first frame out of the list if it is done and starts before `horizon`, as none does that is still to be
 * found; else NULL. */
struct penstock__wifi_node *penstock__wifi_take(struct wifi_receiver *receiver, int64_t horizon);

/* Marks what the end of the stream cut off. */
void penstock__wifi_truncate(struct wifi_receiver *receiver);

/* `frame` for the caller; receiver->channel too. */
void penstock__wifi_describe(struct wifi_receiver *receiver, const struct penstock__wifi_node *node,
                             penstock_wifi_frame *frame);

#endif
