/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Cases: what `penstock check` verifies and `penstock bench` times, in a short syntax of words between
 * colons. The first word is the kind; each kind is one `const struct case_kind`.
 *
 *     fft:1024:hann:x64        a batch of 64 windowed transforms
 *     fft:256x64               a transform of 256 rows and 64 columns
 *     spectrum:1024:hop256     a stream of them
 *     filter:ccf:129:d4        complex samples through 129 real taps, one of 4 kept
 *     channelizer:64:hop32     a filter bank of 64 channels at twice their rate
 *     synthesizer:64           the way back from 64 channels
 *     ofdm:wifi:qam64:x100     100 symbols
 *     receive:wifi:54          frames at 54 Mb/s
 *     viterbi:dvb:3/4:1024     blocks of 1024 bits of a convolutional code
 *     ldpc:wifi:1944:1/2       blocks of a low-density parity-check code
 *     chain:filter:ccf:129:d4+spectrum:1024    a filter linked to a spectrum
 *     chain:channelizer:64+spectrum:256        a filter bank linked to spectra of all its channels
 *     chain:ofdm:wifi:qam64+viterbi:wifi:3/4   OFDM symbols linked to what decodes their bits
 */
#ifndef PENSTOCK_APPS_CASES_H
#define PENSTOCK_APPS_CASES_H

#include "bench/bench_run.h"
#include "ofdm_grid.h"
#include "shared/command.h"

#define CASE_MOST_SAMPLES 0x1p40 /* of one run: sizes in bytes are computed in 64 bits */

enum { CASE_TEXT = 96, CASE_WORDS = 12, WINDOW_TEXT = 32, CASE_MOST_CHANNELS = 32 /* of a filter */ };

struct case_kind;

struct fft_case {
    size_t n, skip, batch; /* batch 0: the user of the case chooses */
    size_t rows, columns;  /* 0: n values are one transform */
    penstock_fft_options options;
    unsigned average;
    penstock_direction direction;
    penstock_domain domain;
    penstock_format format;
    penstock_output output;
    bool centered, half; /* half: values of 16 bits */
    bool tuned;
    char window[WINDOW_TEXT]; /* "": none */
};

struct spectrum_case {
    size_t n, hop, batch; /* batch: spectra in the stream */
    unsigned average;
    penstock_format format;
    penstock_output output;
    char window[WINDOW_TEXT];
    bool acquire;    /* through the stream's own memory, not pushed and pulled */
    bool vectors;    /* a stream of vectors: penstock_fft_stream_open() */
    size_t channels; /* of a filter bank, whose frames are the items; 0: none */
};

struct filter_case {
    size_t taps, decimation, samples; /* samples of the stream; 0: the user of the case chooses */
    size_t n;                         /* of the transforms; 0: the library chooses */
    size_t interpolation, channels;   /* channel c is shifted by c / 64 more */
    penstock_format format;
    bool real_taps;
    bool acquire; /* through the stream's own memory, not pushed and pulled */
    bool push;    /* timed in large pieces, pushed and pulled */
    bool enqueue; /* timed with samples and values in the device's memory */
    bool stream;  /* timed in chunks as a scheduler gives them, beside a stream that copies */
    double shift; /* turns per sample */
};

struct channelizer_case {
    size_t channels, hop, samples; /* samples of the stream; 0: the user of the case chooses */
    size_t depth;                  /* taps a channel; 0: the library's choice */
    size_t keep;                   /* channels kept; 0: all */
    bool synthesis;                /* the way back: frames in, samples out, and no run, enqueue or format */
    bool streams;                  /* frames are pulled, or pushed, by channel */
    bool run;                      /* pushed and pulled in one call */
    bool acquire;                  /* through the stream's own memory, not pushed and pulled */
    bool enqueue;                  /* timed with samples and frames in the device's memory */
    penstock_format format;
};

struct ofdm_case {
    struct ofdm_grid grid;
    penstock_constellation constellation;
    size_t symbols;
    bool integers;        /* cs16 */
    bool acquire, stream; /* timed through a stream, and through the memory that it lends */
};

enum receive_mode { RECEIVE_FRAMES, RECEIVE_IDLE, RECEIVE_CHUNKS, RECEIVE_RECORDINGS };

struct receive_case {
    penstock_wifi_profile profile;
    enum receive_mode mode;
    double mbps;  /* of RECEIVE_FRAMES */
    size_t chunk; /* of RECEIVE_CHUNKS */
};

struct viterbi_case {
    char code[20];       /* as penstock_viterbi_code() takes it */
    size_t bits, blocks; /* 0: the user of the case chooses */
    penstock_soft soft;
    bool noisy;
    double ebn0_db; /* where noisy */
};

struct ldpc_case {
    char code[32];             /* as penstock_ldpc_code() takes it */
    size_t iterations, blocks; /* 0: the user of the case chooses */
    bool stop_early;
    penstock_soft soft;
};

struct resampler_case {
    double ratio;                     /* outputs per sample, or exactly */
    size_t interpolation, decimation; /* the quotient of these; 0: not given so */
    size_t attenuation_db, samples;   /* 0: the user of the case chooses */
    bool acquire;                     /* through the stream's own memory, not pushed and pulled */
    penstock_format format;
};

struct coded_chain_case {
    struct ofdm_case ofdm; /* its symbols are the chain's */
    struct viterbi_case viterbi;
    bool acquire; /* through the streams' own memory, not pushed and pulled */
    bool enqueue; /* timed with samples and bits in the device's memory */
};

struct chain_case {
    bool is_coded;
    struct coded_chain_case coded; /* or */
    bool has_bank;
    struct filter_case filter; /* its samples are the chain's; or */
    struct channelizer_case bank;
    struct spectrum_case spectrum;
};

struct test_case {
    const struct case_kind *kind;
    char text[CASE_TEXT];
    union {
        struct fft_case fft;
        struct spectrum_case spectrum;
        struct filter_case filter;
        struct channelizer_case channelizer; /* or synthesizer */
        struct ofdm_case ofdm;
        struct receive_case receive;
        struct viterbi_case viterbi;
        struct ldpc_case ldpc;
        struct resampler_case resampler;
        struct chain_case chain;
    };
};

enum case_outcome { CASE_HELD, CASE_FAILED, CASE_SKIPPED };

struct case_verdict {
    enum case_outcome outcome;
    char text[256]; /* what was measured, or what went wrong */
};

/* On which device, in which context; `thorough` verifies every value where the quick check samples. */
struct case_target {
    penstock_context *context;
    const char *device;
    unsigned threads; /* of the context */
    bool thorough;
    bool by_itself; /* bench: what the machine allows is not measured beside it */
};

struct case_kind {
    const char *name;
    const char *syntax; /* for --help */
    /* `words` are what follows the kind. False with the wrong one of them in `*problem`, or what is wrong in words. */
    bool (*parse)(struct test_case *test, char *const *words, size_t count, const char **problem);
    void (*check)(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict);
    /* Fills the row. Returns an exit code. */
    int (*bench)(const struct test_case *test, const struct case_target *target, struct bench_row *row);
};

extern const struct case_kind case_fft, case_spectrum, case_filter, case_channelizer, case_synthesizer, case_ofdm,
    case_receive, case_viterbi, case_ldpc, case_resampler, case_chain;

/* All kinds, ended by NULL. */
extern const struct case_kind *const case_kinds[];

/* Their syntax, for --help. */
void case_print_kinds(void);

/* Text to case; fail(EXIT_USAGE) if it is none. Returns an exit code. */
int case_parse(struct test_case *test, const char *text);

/* Whether all of `texts` (ended by NULL, or NULL) are cases: an exit code. */
int case_parse_all(char *const *texts);

/* Is the device bound to compute the case, so that calling it unsupported is a failure? */
bool case_is_required(const struct test_case *test, const char *device);

/* Verdicts; the last one takes the library's error: what a device cannot do is skipped, the rest has failed. */
void verdict_held(struct case_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
void verdict_failed(struct case_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
void verdict_skipped(struct case_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
void verdict_status(struct case_verdict *verdict, int status);

/* Words that several kinds know. */
bool parse_count(const char *word, const char *prefix, size_t *count); /* "x64" with prefix "x" */
bool parse_window(const char *word, char window[WINDOW_TEXT]);         /* "hann", "kaiser=8" */
bool parse_output(const char *word, penstock_output *output);          /* "power", "decibel" */

/* An fft case's own words, as case_kind's parse. */
bool fft_parse(struct test_case *test, char *const *words, size_t count, const char **problem);

/* ---- the lists (list.c) ---- */

/* A device's cases in a fixed order: calls visit(argument, text) for each until it returns other than 0. */
int case_list_check(const char *device, bool full, int (*visit)(void *argument, const char *text), void *argument);
int case_list_bench(int (*visit)(void *argument, const char *text), void *argument);

/* Samples of a run that bench times from host to host: enough to keep copies there and back and the kernel of a CUDA
 * device at work at once; elsewhere few, as calls bring. */
size_t case_bench_samples(const struct case_target *target);

#endif
