/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What is 802.11a/g's own in a receiver (rx/receiver.h). A sample travels through these files in this order:
 *
 *     detect.c       short training field: autocorrelation over groups of 16 samples, free of DC
 *     synchronise.c  long training field: confirmation, timing by the first path, carrier offset, DC
 *     estimate.c     channel from the two long symbols, smoothed over delay; noise
 *     signal.c       SIGNAL field; channel and carrier offset refined by it
 *     format.c       HT, VHT and later formats by the symbols after SIGNAL
 *     track.c        phase and clock of a frame from its pilots
 *     decode.c       soft bits to octets
 *     coded.c        the same where a device does it: rates, and what is left to be done with the bits
 *     receiver.c     the table of all these, and the public calls
 */
#ifndef PENSTOCK_RX_WIFI_RECEIVER_H
#define PENSTOCK_RX_WIFI_RECEIVER_H

#include "fec/interleaver.h"
#include "fec/wifi_rates.h"
#include "rx/receiver.h"
#include "rx/wifi/complex.h"
#include "tx/wifi_training.h"

#define GROUP               16 /* samples of one group of the detector: a period of the short training field */
#define WINDOW_GROUPS       8 /* groups of products that one metric sees: with the lag they fit into the field anywhere */
#define BEFORE              96  /* samples before a candidate that its examination reads */
#define LONG_FIELD          384 /* and after: all that the search for the long training field reads, */
#define AFTER               640 /* and to the end of the second symbol after SIGNAL */
#define SEGMENT             (BEFORE + AFTER)
#define MARGIN              16 /* samples by which a frame's symbols may move, its clock being slow or quick */
#define ROTATION            16 /* samples turned from one exact phase; divides SEGMENT and where rotations start */
#define WINDOW_OFFSET       3  /* of FFT windows, before the guard interval's end as given by the first path */
#define USED_CARRIERS       52
#define LATER               29   /* samples from the long symbols' windows to the first path, at most, and 1 */
#define PENSTOCK__WIFI_TAPS 20   /* of the longest channel that is smoothed */
#define MAX_SYMBOLS         1366 /* DATA symbols of the longest frame: 4095 octets at 6 Mb/s */
#define HEAD                208  /* samples from a frame's reference to its first DATA symbol */
#define SHORT_TO_LONG       192  /* samples from the start of the short training field to the first long symbol */
#define SIGNAL_END          205  /* samples from there to the end of what the SIGNAL field's transform reads */

/* ---------------------------------------------------------------- detection ------------------- */

/* Of each window that begins at a multiple of GROUP samples: as rx/receiver.h's look(). */
void penstock__wifi_look(const penstock_cf32 *samples, size_t windows, float *strength);

/* What the detector knows of a window. */
struct penstock__wifi_window {
    penstock_cf32 lag; /* covariance at lag 16, summed over the window: its phase gives the carrier offset */
    penstock_cf32 mean;
    float power; /* mean of |sample - mean|^2 */
};

struct penstock__wifi_window penstock__wifi_window(const penstock_cf32 *samples);

/* ---------------------------------------------------------------- a frame --------------------- */

/* frame.reference is the first sample of the first long training symbol, on the first path; the offset's phase is zero
 * there, and frame.ofdm's channel is as seen at the guard interval's end. */
struct penstock__wifi_node {
    struct penstock__rx_frame frame;
    penstock_wifi_format format;
    const struct penstock__wifi_rate *rate; /* NULL: not known */
    unsigned length;
    int mcs;
    double snr_db, evm_db, raw_ber, sfo_ppm;
    double tracked_cfo; /* turns per sample, over the whole frame */
    uint8_t *psdu;      /* NULL until decoded; its memory holds `points` too */
    penstock_cf32 *points;

    /* By bin; for samples as the frame looks at them, until it is decoded, and for those that came from then on. Last,
     * as it is the one part of which the thread that gives the frame to the caller reads nothing. */
    penstock_cf32 channel[PENSTOCK__WIFI_FFT];
};

/* ---------------------------------------------------------------- examination ----------------- */

/* By bin, parts apart. */
struct penstock__wifi_bins {
    float re[PENSTOCK__WIFI_FFT], im[PENSTOCK__WIFI_FFT];
};

/* What a transform of 64 samples in two steps of eight multiplies by between them: exp(-2 pi i a b / 64). */
struct frame_turns {
    float re[8][8], im[8][8];
};

/* For the correlation with the long symbol by a transform of 256 samples, n = 8 r + l, to carriers k + 8 m + 32 f,
 * where k, f, l < 8 and m < 4. */
struct penstock__wifi_correlator {
    float quarter_re[8][4], quarter_im[8][4];     /* exp(-2 pi i k b / 32) */
    float re[32][8], im[32][8];                   /* at 4 k + m: exp(-2 pi i (k + 8 m) l / 256) */
    float symbol_re[4][8][8], symbol_im[4][8][8]; /* the symbol, unit energy, at (4 k + m) / 8, f, (4 k + m) % 8 */
};

/* Constants of the standard in the forms that the receiver needs, made once; zeroed before. */
struct penstock__wifi_tables {
    int32_t used[USED_CARRIERS];               /* carriers -26 .. 26 without 0 */
    float known[PENSTOCK__WIFI_FFT];           /* of the long training symbol; 0 where no carrier is used */
    float delay_window[PENSTOCK__WIFI_FFT];    /* and with a window, for the search of the first path */
    penstock_cf32 twiddle[PENSTOCK__WIFI_FFT]; /* exp(-2 pi i k / 64) */
    struct penstock__wifi_bins later[LATER];   /* of what is seen so many samples later: exp(-2 pi i k later / 64) */
    struct penstock__wifi_bins long_time;      /* by sample: conjugate of the long symbol, unit energy */
    struct frame_turns fft;
    struct penstock__wifi_correlator correlator;

    /* Rows whose first `smooth_taps` span the channels of so few taps, and how many dimensions these keep. */
    struct penstock__wifi_bins smooth[PENSTOCK__WIFI_TAPS];
    unsigned smooth_taps[3];
    float smooth_rank[3];
    struct penstock__wifi_soft_map soft_maps[PENSTOCK__WIFI_RATES];
};

void penstock__wifi_tables_init(struct penstock__wifi_tables *tables);

/* How samples are looked at: (x - mean) * scale, without the carrier offset, which is in turns per sample. */
struct penstock__wifi_correction {
    penstock_cf32 mean;
    float scale;
    double cfo;
};

/* What the carrier offset makes of samples `from` + ROTATION a + k: anchor[a] turn[k]. */
struct penstock__wifi_phases {
    size_t from;
    float turn_re[ROTATION], turn_im[ROTATION];
    float anchor_re[SEGMENT / ROTATION + 2], anchor_im[SEGMENT / ROTATION + 2]; /* a multiple of eight */
};

/* What one worker needs while it examines a candidate. Positions in it: sample i is stream sample base + i. */
struct penstock__wifi_segment {
    int64_t base;
    const penstock_cf32 *samples; /* as they came */
    struct penstock__wifi_correction correction;
    struct penstock__wifi_phases phases;
    float re[SEGMENT], im[SEGMENT];           /* looked at, with phase zero at sample 0, where it is needed */
    size_t window;                            /* where the FFT windows of the two long symbols start */
    size_t first;                             /* where the first path's long symbol starts */
    struct penstock__wifi_bins least_squares; /* channel estimate, relative to `first`, not smoothed; else zero */
    struct penstock__wifi_bins channel;
    float noise;
};

/* The carrier offset's phases of samples [from, to); and a look at such, for which these are there. As the steps are of
 * ROTATION samples, both do some before and behind as well. */
void penstock__wifi_turn(struct penstock__wifi_segment *segment, size_t from, size_t to);
void penstock__wifi_rotate(struct penstock__wifi_segment *segment, size_t from, size_t to);

/* False if there is no long training field. `samples` is stream sample `position` - BEFORE. */
bool penstock__wifi_synchronise(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                                int64_t position, const penstock_cf32 *samples);

/* The 64-point DFT, forward and not scaled; and of two symbols in a row, and of their sum. */
void penstock__wifi_transform(const struct penstock__wifi_tables *tables, struct penstock__wifi_bins *out,
                              const struct penstock__wifi_bins *in);
void penstock__wifi_transform_both(const struct penstock__wifi_tables *tables, struct penstock__wifi_bins *first,
                                   struct penstock__wifi_bins *second, const float *re, const float *im);
void penstock__wifi_transform_sum(const struct penstock__wifi_tables *tables, struct penstock__wifi_bins *sum,
                                  const float *re, const float *im);

/* The noise of each bin of the two long symbols. */
float penstock__wifi_noise(const struct penstock__wifi_tables *tables, const struct penstock__wifi_bins *first,
                           const struct penstock__wifi_bins *second);

/* least_squares and noise from these. */
void penstock__wifi_estimate(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment);

/* `channel` from `least_squares` whose elements have the noise `variance`. */
void penstock__wifi_smooth(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           float variance);

/* Carriers of the symbol `index` (0 is SIGNAL), not equalised, as seen at the guard interval's end. */
void penstock__wifi_symbol(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                           unsigned index, struct penstock__wifi_bins *bins);

/* Bins times the channel's conjugate. */
void penstock__wifi_weigh(struct penstock__wifi_bins *weighted, const struct penstock__wifi_bins *bins,
                          const struct penstock__wifi_bins *channel);

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

/* All of the above for one candidate: as rx/receiver.h's examine(). */
enum penstock__rx_finding penstock__wifi_examine(const struct penstock__rx *rx, void *worker,
                                                 struct penstock__rx_candidate *candidate, const penstock_cf32 *samples,
                                                 int64_t end, struct penstock__rx_frame *frame);

/* ---------------------------------------------------------------- data ------------------------ */

/* Memory of one worker for penstock__wifi_track(). */
struct penstock__wifi_tracker {
    double phase[MAX_SYMBOLS], frequency[MAX_SYMBOLS];
    double pp[MAX_SYMBOLS], pf[MAX_SYMBOLS], ff[MAX_SYMBOLS]; /* their covariance */
    double gains[4][MAX_SYMBOLS];
};

/* As rx/receiver.h's track(). */
void penstock__wifi_track(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame,
                          penstock_ofdm_symbol *symbols);

/* One thread's memory. */
struct penstock__wifi_worker {
    struct penstock__wifi_segment segment;
    struct penstock__wifi_tracker tracker;
    void *viterbi;
    int8_t *soft;    /* two for each trellis step of the longest frame, and the last symbol's padding */
    uint8_t *packed; /* its bits */
    double error;    /* squared distance of its points from the nearest of the constellation, so far */
};

/* As rx/receiver.h says. */
int penstock__wifi_worker_init(void *worker);
void penstock__wifi_worker_free(void *worker);
int penstock__wifi_reserve(const struct penstock__rx *rx, struct penstock__rx_frame *frame);
void penstock__wifi_take(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame, size_t first,
                         size_t count, const int8_t *soft, const penstock_cf32 *points);
void penstock__wifi_finish(const struct penstock__rx *rx, void *worker, struct penstock__rx_frame *frame);

/* A frame whose bits are in worker->packed: descrambled, checked, done. `wrong` and `error` as of penstock__rx_code. */
void penstock__wifi_complete(struct penstock__wifi_worker *worker, struct penstock__wifi_node *node, uint64_t wrong,
                             double error);

/* node->channel for samples as they came. */
void penstock__wifi_unscale(struct penstock__wifi_node *node);

extern const struct penstock__rx_code penstock__wifi_code;

/* ---------------------------------------------------------------- the receiver ---------------- */

struct penstock__wifi {
    struct penstock__rx rx;
    double clock; /* 1, 0.5, 0.25 */
    bool points;
    struct penstock__wifi_tables tables;
};

static inline const struct penstock__wifi *penstock__wifi_of(const struct penstock__rx *rx)
{
    return (const struct penstock__wifi *)(const void *)rx;
}

static inline struct penstock__wifi_node *penstock__wifi_node(struct penstock__rx_frame *frame)
{
    return (struct penstock__wifi_node *)(void *)frame;
}

/* penstock_wifi_receiver_open(), and the same without the CPU that serves meanwhile: for one who measures. */
typedef int penstock__wifi_open(penstock_stream **stream, penstock_context *context,
                                const penstock_wifi_receiver_desc *desc, const char *device);
penstock__wifi_open penstock__wifi_open_whole;

/* "prefer:" the device with which a receiver, opened so, is the fastest, of those that do the problem. */
int penstock__wifi_choose(char device[64], penstock_context *context, const struct penstock_problem *problem,
                          penstock__wifi_open *open);

#endif
