/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The contract between the core and a backend, and the services that the core offers to backends. A
 * backend includes this header, its own files and (OpenCL, CUDA) lib/gpu, and nothing else of ours.
 *
 * To write one: copy null/, fill in `struct penstock_backend`, add a line to core/backends.c. The FFT
 * is all that it must compute: filter and OFDM plans fall back on a child FFT plan and a CPU part.
 *
 * Rules
 * - The core allocates each object's private part (`priv`), zeroed and aligned to 64 bytes, of the
 *   size that the backend names, before the backend's init function, and frees it after the backend's
 *   free function. A free function is called once after its init function returned 0, and never
 *   otherwise: init cleans up after itself when it fails.
 * - Functions return 0 or a negative penstock_status and say why with penstock__error().
 * - The core calls any function of one device from one thread at a time per slot; two slots of one
 *   plan may be driven by two threads. A plan is read-only after plan_init.
 * - After a failure of upload, enqueue, download, mark or wait the core frees the slot and, if it goes
 *   on with the device, makes another. When slot_free has returned, nothing that was asked of the slot
 *   touches host memory any more.
 * - No printing, no exit, no signal handlers, no change of locale or floating-point mode.
 */
#ifndef PENSTOCK_BACKEND_H
#define PENSTOCK_BACKEND_H

#include <penstock/penstock.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>

#define PENSTOCK_BACKEND_ABI 1

/* ---------------------------------------------------------------- objects --------------------- */

struct penstock_backend;

/* A row of the device table; the core owns it. */
struct penstock_device {
    const struct penstock_backend *backend;
    penstock_context *context;
    unsigned index; /* among the backend's devices */
    unsigned twins; /* devices of the same product and driver before it */
    char name[56];
    char product[128];
    char driver[128];
    char reason[256]; /* "" where present */
    unsigned compute_units;
    uint64_t memory_bytes;
    char profile[128]; /* probe sets it: what a GPU's kernels are shaped by, in words; "" of others */
    bool on_cpu;       /* probe sets it: works on the processor's own cores, as "cpu" does */
    char address[24];  /* probe sets it where it is known: on the PCI bus, "0000:17:00"; else "" */
    bool opened;
    bool host_memory; /* open may set it: buffer_wrap works; where not on_cpu, for what is aligned to 64 bytes alone */
    size_t alignment; /* open may set it: parts of its memory begin at multiples of so many bytes; 0: 16 */
    struct penstock_device *const *members; /* of several devices under one name, core/device_group.h: they, and */
    size_t member_count;                    /* how many; of others NULL and 0. A backend never meets such */
    uint64_t shared; /* 0, or before open: an object of the driver's in which the device is to work; of backends with
                        SHARES alone */
    void (*tell)(const char *doing); /* in the process that tries plans (penstock__probe_plan), else NULL: as of
                                        `trial`. Where it is set no kernel goes to the cache folder */
    void *priv;
};

struct penstock_buffer {
    struct penstock_device *device;
    size_t bytes;
    void *host; /* address in host memory where the device shares it, else NULL */
    bool wrapped;
    void *priv;
};

struct penstock_slot {
    struct penstock_device *device;
    void *priv;
};

/* ---------------------------------------------------------------- problems -------------------- */

enum penstock_problem_kind {
    PENSTOCK_PROBLEM_FFT,
    PENSTOCK_PROBLEM_OFDM, /* optional for a backend, as is */
    PENSTOCK_PROBLEM_FILTER,
    PENSTOCK_PROBLEM_VITERBI, /* given only to backends with PENSTOCK_BACKEND_FEC */
    PENSTOCK_PROBLEM_LDPC,    /* likewise, with PENSTOCK_BACKEND_LDPC */
    PENSTOCK_PROBLEM_RESAMPLE /* likewise, with PENSTOCK_BACKEND_RESAMPLE */
};

/* A penstock_fft_desc, checked, with every default filled in. */
struct penstock_fft_problem {
    size_t n;
    penstock_direction direction;
    penstock_domain domain;
    penstock_format format;
    const float *window; /* n factors or NULL; folded: fold n of them */
    size_t fold; /* 0, or as many times n samples are a frame: sample j, times its factor, is added to point j + the
                    frame's turn, modulo n. The turn of a job's first frame is the job's, each next one's is by the
                    spacing larger. Complex samples, forward, nothing else asked for; see penstock__fft_folds() */
    size_t spacing;
    size_t skip;
    double shift; /* turns per sample */
    penstock_output output;
    bool centered;
    bool half; /* values leave as numbers of 16 bits */
    float scale;
    unsigned average; /* >= 1 */
    bool gathered;    /* each frame has a penstock_gather: spacing, skip and shift are not used */
    size_t rows;      /* > 1: 2-D, `rows` rows of n / rows values */
    size_t columns;   /* > 1: that many transforms of n / columns values side by side, values `columns` apart */
    bool transposed;  /* nothing is computed: the frame's n / columns rows become its columns; only GPU backends ask
                         that of themselves */
    penstock_fft_options options; /* zero but for backends with PENSTOCK_BACKEND_OPTIONS */
    bool tune; /* the core times the launch configurations that the backend lists; a backend may pass it over */
};

/* Whether a frame is more than one transform of n values that lie together. */
static inline bool penstock__fft_is_plane(const struct penstock_fft_problem *fft)
{
    return fft->rows > 1 || fft->columns > 1;
}

/* What a folded problem can be: penstock__problem_check() refuses others. */
static inline bool penstock__fft_folds(const struct penstock_fft_problem *fft)
{
    return fft->window && fft->domain == PENSTOCK_COMPLEX && fft->direction == PENSTOCK_FORWARD &&
           fft->format != PENSTOCK_PLANAR && fft->format != PENSTOCK_F32 && !fft->gathered && !fft->skip &&
           fft->shift == 0 && fft->average == 1 && !penstock__fft_is_plane(fft);
}

/* Factors of its window. */
static inline size_t penstock__fft_window_count(const struct penstock_fft_problem *fft)
{
    return fft->window ? (fft->fold ? fft->fold : 1) * fft->n : 0;
}

static inline bool penstock__fft_has_options(const struct penstock_fft_problem *fft)
{
    const penstock_fft_options *options = &fft->options;
    return options->radix || options->scratch || options->column_way || options->items || options->group ||
           options->arithmetic || options->images;
}

/* Samples that a transform takes, and values that it gives. */
static inline size_t penstock__fft_in_count(const struct penstock_fft_problem *fft)
{
    return fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE ? fft->n / 2 + 1 : fft->n;
}

static inline size_t penstock__fft_out_count(const struct penstock_fft_problem *fft)
{
    return fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_FORWARD ? fft->n / 2 + 1 : fft->n;
}

/* Samples that a frame is made of. */
static inline size_t penstock__fft_frame(const struct penstock_fft_problem *fft)
{
    return fft->fold ? fft->fold * fft->n : penstock__fft_in_count(fft);
}

/* Samples that `frames` >= 1 frames span in the input. */
static inline size_t penstock__fft_samples(const struct penstock_fft_problem *fft, size_t frames)
{
    return (frames - 1) * fft->spacing + fft->skip + penstock__fft_frame(fft);
}

/* Numbers that one value in the output is: one or a pair of them. */
static inline size_t penstock__fft_out_parts(const struct penstock_fft_problem *fft)
{
    bool real = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    return real || fft->output != PENSTOCK_OUTPUT_COMPLEX ? 1 : 2;
}

/* Bytes of that value. */
static inline size_t penstock__fft_out_item(const struct penstock_fft_problem *fft)
{
    return penstock__fft_out_parts(fft) * (fft->half ? sizeof(uint16_t) : sizeof(float));
}

/*
 * Symbols to soft bits, `bits` a carrier. `complete`: the output of a batch is the soft bits of all symbols, then, each
 * part from a multiple of 8 bytes on, all points, all pilots as penstock_ofdm_result has them, and two floats a symbol,
 * phase and slope. `mixed`: frames may have any constellation of at most `bits`, the bits that a point has not being 0.
 */
struct penstock_ofdm_problem {
    size_t n;
    penstock_format format; /* neither PLANAR nor F32 */
    unsigned bits;          /* of each point: 1 (BPSK) or an even number to 10 */
    size_t carrier_count;
    const uint32_t *bins; /* of the carriers, in the order of the output */
    bool mixed;
    bool complete; /* only with `mixed` */
    bool own;      /* phase and slope are those of the symbol's own pilots; only with `mixed` and pilots */
    size_t pilot_count, pilot_rows;
    const uint32_t *pilot_bins;
    const penstock_cf32 *pilot_values; /* rows of pilot_count; a pilot's absolute value is the same in all rows */
};

/* Where each part of `complete` output begins for a batch of one symbol, as many times later for others; and the bytes
 * of a symbol. */
static inline size_t penstock__ofdm_points_at(const struct penstock_ofdm_problem *ofdm)
{
    return (ofdm->carrier_count * ofdm->bits + 7) / 8 * 8;
}

static inline size_t penstock__ofdm_pilots_at(const struct penstock_ofdm_problem *ofdm)
{
    return penstock__ofdm_points_at(ofdm) + ofdm->carrier_count * sizeof(penstock_cf32);
}

static inline size_t penstock__ofdm_phase_at(const struct penstock_ofdm_problem *ofdm)
{
    return penstock__ofdm_pilots_at(ofdm) + ofdm->pilot_count * sizeof(penstock_cf32);
}

static inline size_t penstock__ofdm_row(const struct penstock_ofdm_problem *ofdm)
{
    return ofdm->complete ? penstock__ofdm_phase_at(ofdm) + 2 * sizeof(float) : ofdm->carrier_count * ofdm->bits;
}

/* Pairs of floats that a frame has in struct penstock_ofdm_tables. */
static inline size_t penstock__ofdm_coefficients(const struct penstock_ofdm_problem *ofdm)
{
    return ofdm->n + 2 + 3 * ofdm->pilot_count;
}

/*
 * Overlap-save by `partitions` sets of n taps: frame i reads n + (partitions - 1) block samples from i block on. Part p
 * of the response, in the order of penstock__filter_place(), is multiplied by the transform of the n samples from (i +
 * partitions - 1 - p) block on; of the inverse transform (not divided by n) of the sum of these products, each
 * `decimation`-th value is kept from `first` on, block / decimation of them. With `rotated` value j of frame i is then
 * multiplied by exp(2 pi i phase) and by value j of a table. Real samples (F32) give the real parts of their values.
 */
struct penstock_filter_problem {
    size_t n;               /* even */
    penstock_format format; /* not PLANAR; samples as they are in memory, as of OFDM */
    size_t block, first;
    size_t partitions, decimation; /* >= 1; block is a multiple of decimation */
    bool rotated;
};

/* Values that a block gives. */
static inline size_t penstock__filter_values(const struct penstock_filter_problem *filter)
{
    return filter->block / filter->decimation;
}

/* Samples that `frames` >= 1 frames span in the input. */
static inline size_t penstock__filter_samples(const struct penstock_filter_problem *filter, size_t frames)
{
    return (frames + filter->partitions - 2) * filter->block + filter->n;
}

/*
 * Where value k of a part's spectrum stands among its n, an even number: values n / 2 apart lie side by side, since a
 * work-item needs both; and of 4096 the pairs stand as the work-items of lib/gpu/fused_pass.h want them one after the
 * other, the two low digits to base 16 exchanged.
 */
static inline size_t penstock__filter_place(size_t n, size_t k)
{
    size_t pair = k < n / 2 ? k : k - n / 2;
    if (n == 4096)
        pair = pair / 256 * 256 + pair % 16 * 16 + pair / 16 % 16;
    return 2 * pair + (k < n / 2 ? 0 : 1);
}

/* Pairs of floats of a response: partitions n, and with `rotated` the table and one more pair, whose bits are by how
 * much the phase of a frame is ahead of the one before: two uint32_t, the upper half first, in units of 2^-64 turns. */
static inline size_t penstock__filter_response(const struct penstock_filter_problem *filter)
{
    return filter->partitions * filter->n + (filter->rotated ? penstock__filter_values(filter) + 1 : 0);
}

/*
 * Blocks of a convolutional code: a penstock_viterbi_desc, checked, with every default filled in. A frame is a block; a
 * sample is a soft bit. A job with places (`gather`) has a penstock_viterbi_block for each of its blocks, whose results
 * are as far apart as if all had `bits`; without them blocks have `bits` and lie one behind the other.
 *
 * A tail-biting block is decoded as the steps from `depth` before it to `depth` behind it, going round it as often as
 * that takes, both ends open, of which the block's own are the result. With `depth` 0 it is a chunk of a stream.
 */
struct penstock_viterbi_problem {
    unsigned generators[PENSTOCK_MAX_GENERATORS];
    unsigned count, constraint, inverted;
    size_t period;                       /* coded bits of the puncturing pattern, a multiple of count */
    uint8_t kept[PENSTOCK_MAX_PUNCTURE]; /* whether each of these is sent: 0 or 1 */
    penstock_trellis_end end;
    size_t depth; /* 0 but for tail-biting blocks */
    size_t bits;
    penstock_soft soft;
    float scale; /* 0: of each block its own */
    penstock_bits result;
};

/* Steps of the trellis that are sent for so many bits, and coded bits that are sent for so many steps. */
static inline size_t penstock__viterbi_steps(const struct penstock_viterbi_problem *viterbi, size_t bits)
{
    return bits + (viterbi->end == PENSTOCK_TRELLIS_ZERO ? viterbi->constraint - 1 : 0);
}

static inline size_t penstock__viterbi_sent(const struct penstock_viterbi_problem *viterbi, size_t steps)
{
    size_t coded = steps * viterbi->count, sent = 0, part = 0;
    for (size_t i = 0; i < viterbi->period; i++) {
        sent += viterbi->kept[i];
        part += i < coded % viterbi->period && viterbi->kept[i];
    }
    return coded / viterbi->period * sent + part;
}

static inline size_t penstock__viterbi_soft_bytes(const struct penstock_viterbi_problem *viterbi)
{
    return viterbi->soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

/* Bytes of a result. */
static inline size_t penstock__viterbi_out_bytes(const struct penstock_viterbi_problem *viterbi, size_t bits)
{
    return viterbi->result == PENSTOCK_BITS_UNPACKED ? bits : (bits + 7) / 8;
}

/*
 * Blocks of a quasi-cyclic low-density parity-check code: a penstock_ldpc_desc, checked, its graph made. A frame is a
 * block; a sample is a soft bit. The rule of the decoder is that of penstock_ldpc_plan().
 */
struct penstock_ldpc_edge {
    uint16_t column, shift;
};

struct penstock_ldpc_problem {
    unsigned rows, columns, lifting;
    uint16_t first[PENSTOCK_MAX_LDPC_ROWS + 1]; /* edges of row r: first[r] .. first[r + 1] - 1 */
    struct penstock_ldpc_edge edges[PENSTOCK_MAX_LDPC_EDGES];
    size_t punctured, punctured_end, filler;
    unsigned iterations;
    bool stop_early;
    penstock_soft soft;
    float scale; /* 0: of each block its own */
    penstock_bits result;
    bool soft_result, report;
};

#define PENSTOCK__LDPC_HARD 32 /* the level of hard bits */

/* Bits of a word; its data bits; those of them that are in the result; and those bits that are sent. */
static inline size_t penstock__ldpc_word(const struct penstock_ldpc_problem *ldpc)
{
    return (size_t)ldpc->columns * ldpc->lifting;
}

static inline size_t penstock__ldpc_data(const struct penstock_ldpc_problem *ldpc)
{
    return (size_t)(ldpc->columns - ldpc->rows) * ldpc->lifting;
}

static inline size_t penstock__ldpc_bits(const struct penstock_ldpc_problem *ldpc)
{
    return penstock__ldpc_data(ldpc) - ldpc->filler;
}

static inline size_t penstock__ldpc_sent(const struct penstock_ldpc_problem *ldpc)
{
    return penstock__ldpc_word(ldpc) - ldpc->punctured - ldpc->punctured_end - ldpc->filler;
}

/* The parts of a word that are sent: bits [at, end) of it, before and behind the filler; `first` of what is sent. */
struct penstock_ldpc_part {
    size_t at, end, first;
};

static inline void penstock__ldpc_parts(struct penstock_ldpc_part parts[2], const struct penstock_ldpc_problem *ldpc)
{
    const size_t end = penstock__ldpc_word(ldpc) - ldpc->punctured_end, bits = penstock__ldpc_bits(ldpc);
    parts[0] = (struct penstock_ldpc_part){.at = ldpc->punctured, .end = bits};
    parts[1] = (struct penstock_ldpc_part){penstock__ldpc_data(ldpc), end, bits - ldpc->punctured};
}

static inline size_t penstock__ldpc_soft_bytes(const struct penstock_ldpc_problem *ldpc)
{
    return ldpc->soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

/* Bytes of a result, and of its bits alone. */
static inline size_t penstock__ldpc_bits_bytes(const struct penstock_ldpc_problem *ldpc)
{
    size_t bits = penstock__ldpc_bits(ldpc);
    return ldpc->soft_result || ldpc->result == PENSTOCK_BITS_UNPACKED ? bits : (bits + 7) / 8;
}

static inline size_t penstock__ldpc_out_bytes(const struct penstock_ldpc_problem *ldpc)
{
    size_t bytes = penstock__ldpc_bits_bytes(ldpc);
    return ldpc->report ? (bytes + 3) / 4 * 4 + sizeof(penstock_ldpc_report) : bytes;
}

/*
 * Outputs of a polyphase filter at any ratio of rates. A frame is an output, made from head.taps samples of a job from
 * sample `at` on, its place, by the arm at `part` units behind the sample that the first tap belongs to:
 *
 *     y = sum over k < taps of x[at + k] (h[k][a] + f d[k][a]),    a + f = part arms / unit, a whole, 0 <= f < 1
 *
 * The next output's part is head.part units further, and its place head.whole samples, and one more where that reaches
 * a whole unit. Each `block` outputs have a start, place and part of the first, at the job's `gather`, as many as its
 * frames take; with `real` samples, F32, and outputs are of one float and taps real. Samples before the job's `start`
 * and from its `spacing` on are zeros, whatever is in memory there.
 */
struct penstock_resample_problem {
    penstock_format format; /* not PLANAR */
    bool real;              /* only of F32, and with real taps */
    bool complex_taps;
    size_t block; /* a power of two, at most PENSTOCK__RESAMPLE_BLOCK */
};

#define PENSTOCK__RESAMPLE_BLOCK 1024
#define PENSTOCK__RESAMPLE_UNITS ((uint64_t)1 << 53)

struct penstock_resample_start {
    uint32_t at, reserved;
    uint64_t part;
};

/*
 * What a job's coefficients begin with. Behind it stand for each tap, the first sample's first, its h and d for each
 * arm: pairs of floats, complex taps' real parts and imaginary parts in turn. A fixed-point number with 32 bits behind
 * the point, a + f, is the upper half of (part << shift) scale.
 */
struct penstock_resample_head {
    uint32_t taps, arms;   /* taps: a multiple of 8 */
    uint32_t whole, shift; /* part << shift < 2^64 */
    uint64_t unit, part;   /* part < unit <= PENSTOCK__RESAMPLE_UNITS */
    uint64_t scale;
    float inverse; /* 1 / unit */
    uint32_t span; /* samples that the taps of `block` outputs reach over at most */
    uint32_t reserved[4];
};

/* Bytes of the coefficients. */
static inline size_t penstock__resample_bytes(const struct penstock_resample_problem *resample, size_t taps,
                                              size_t arms)
{
    return sizeof(struct penstock_resample_head) + taps * arms * (resample->complex_taps ? 4 : 2) * sizeof(float);
}

/* A job's starts. */
static inline size_t penstock__resample_starts(const struct penstock_resample_problem *resample, size_t outputs)
{
    return (outputs + resample->block - 1) / resample->block;
}

/* Beside samples, what a batch of outputs has. */
struct penstock_resample_tables {
    const struct penstock_resample_start *starts;
    const struct penstock_resample_head *head; /* with what is behind it: */
    size_t head_bytes;
    uint32_t first, end; /* samples that are none of the zeros before and after them */
};

struct penstock_problem {
    enum penstock_problem_kind kind;
    size_t in_bytes;  /* from one frame's start to the next one's; gathered, and of OFDM: of one sample */
    size_t out_bytes; /* of one output frame (with average K: one for K frames), or of one symbol */
    size_t batch;     /* frames that a call usually brings, >= 1 */
    union {
        struct penstock_fft_problem fft;
        struct penstock_ofdm_problem ofdm;
        struct penstock_filter_problem filter;
        struct penstock_viterbi_problem viterbi;
        struct penstock_ldpc_problem ldpc;
        struct penstock_resample_problem resample;
    };
};

/*
 * A symbol: where its transform starts, in samples of the job's input, how it is rotated on load (as a gathered frame
 * is), the frame whose coefficients it has, and what is taken out behind the transform, where it is not from the
 * symbol's own pilots: bin k, which stands for carrier k or k - n, is multiplied by exp(2 pi i (common + carrier slope)
 * / 2^32).
 */
struct penstock_ofdm_descriptor {
    uint32_t start, phase, step, frame;
    uint32_t common, slope;
    uint32_t pilot_row; /* of pilot_values */
    uint32_t phase_low; /* 32 more bits of the phase, where symbols follow from the first */
};

/*
 * A frame's coefficients, pairs of floats: a bin of the transform of samples as they are in memory (integers as whole
 * numbers, cu8 less 127.5) times its gain is a point whose levels stand at odd multiples of |gain|^2 times the ratio.
 * That multiple is also the soft bit of a point at the distance of one level from its only border. Pair n: the ratio,
 * and what takes levels at odd integers to a point of mean power one. Pair n + 1: bits of the frame's constellation,
 * and the pilots' mean carrier k0. Then three pairs a pilot: a gain, which turns all pilots alike, so that only its
 * direction counts; its weights in common phase and slope, which are the sums of weight times angle; and what takes
 * the pilot times gain and conjugate value to what it is received as. At least one frame.
 */
struct penstock_ofdm_tables {
    /* One a symbol; or, if spacing > 0, two: symbol i is the first, moved by i spacing and with i times the second's
     * phase added to its own, 64 bits each; NULL: symbol i starts at start + i spacing (> 0), all are of frame 0 and
     * nothing is taken out. */
    const struct penstock_ofdm_descriptor *descriptors;
    uint32_t start, spacing;
    bool narrow; /* no level is above 21 */
    const penstock_cf32 *coefficients;
    size_t frame_count;
};

static inline size_t penstock__ofdm_descriptors(const struct penstock_ofdm_tables *tables, size_t symbols)
{
    return tables->spacing ? 2 : symbols;
}

/* Where a gathered frame starts, in samples of the job's input, and how it is rotated on load:
 * sample j is multiplied by exp(2 pi i (phase + j step) / 2^32), in arithmetic modulo 2^32. */
struct penstock_gather {
    uint32_t start;
    uint32_t phase;
    uint32_t step;
    uint32_t reserved;
};

/* How variant 0 of a plan can be made beside the library's choice: lines of text that mean something to the backend. */
#define PENSTOCK_MAX_LAUNCH_CONFIGS  8
#define PENSTOCK_LAUNCH_CONFIG_BYTES 160
struct penstock_launch_configs {
    size_t count;
    char text[PENSTOCK_MAX_LAUNCH_CONFIGS][PENSTOCK_LAUNCH_CONFIG_BYTES];
    char identity[64]; /* another one where kernel sources, device, driver or compiler are others */
};

struct penstock_plan_state {
    struct penstock_device *device;
    const struct penstock_problem *problem; /* lives as long as the plan */
    const char *launch_config; /* one that `launch_configs` lists, with variant 0; NULL: the library's choice */
    char variant[64];          /* for penstock_plan_info; plan_init fills it in */
    unsigned kernels, passes;
    size_t best_batch;
    size_t frame_scratch; /* bytes of scratch memory that run_frames takes */
    void *priv;
};

/* One batch. `gather` is NULL unless the problem is gathered, has a list of blocks or resamples. Buffers may be larger
 * than what is in them. Wrapped ones `in` and `out` may be the same memory where each frame's output has the room of
 * the frame's own input. */
struct penstock_job {
    struct penstock_buffer *in;
    struct penstock_buffer *gather;
    struct penstock_buffer *out;
    size_t frames;
    size_t samples; /* at `in`: where PLANAR's Q values start, and what gathered frames may not go beyond */
    /* OFDM: of all frames, descriptors, if any, being at `gather`; FILTER: the response; RESAMPLE: head and taps. */
    struct penstock_buffer *coefficients;
    uint32_t start, spacing; /* OFDM without descriptors; FILTER: the first frame's phase, upper and lower half;
                                RESAMPLE: samples between them are no zeros */
    bool narrow;
};

/* ---------------------------------------------------------------- the contract ---------------- */

/* How memory of the device is copied: by what the device has for that, or by a kernel of ours. */
enum penstock_copy_way { PENSTOCK_COPY_OWN, PENSTOCK_COPY_KERNEL };

/* A copy within the device's memory; places and bytes are multiples of 16. */
struct penstock_device_copy {
    struct penstock_buffer *to, *from;
    size_t to_at, from_at, bytes;
    enum penstock_copy_way way;
};

#define PENSTOCK_STAMPS 4 /* before a batch's copies to the device, its kernels, its copies back, and behind them */

enum penstock_backend_flag {
    PENSTOCK_BACKEND_HOST_MEMORY = 1,    /* buffers are ordinary memory: buffer_wrap exists, nothing is copied */
    PENSTOCK_BACKEND_NOT_AUTOMATIC = 2,  /* "auto" never picks it */
    PENSTOCK_BACKEND_FRAGILE_DRIVER = 4, /* probe in a helper process first: the driver may crash */
    PENSTOCK_BACKEND_FUSED = 8,    /* may support problems of kinds OFDM and FILTER: none are given to it otherwise */
    PENSTOCK_BACKEND_PLANES = 16,  /* knows `rows` and `columns`: no such problems are given to it otherwise */
    PENSTOCK_BACKEND_OPTIONS = 32, /* may know a penstock_fft_options */
    PENSTOCK_BACKEND_FEC = 64,     /* may support problems of kind VITERBI: none are given to it otherwise */
    PENSTOCK_BACKEND_NATIVE = 128, /* the maker's own way to a device: "auto" takes it rather than another backend's */
    PENSTOCK_BACKEND_FORKS = 256,  /* what it has made works in a child after fork(), too; no call into any other one
                                      comes there about what was made before */
    PENSTOCK_BACKEND_LDPC = 512,   /* may support problems of kind LDPC: none are given to it otherwise */
    PENSTOCK_BACKEND_UNROUNDED = 1024,  /* decodes LDPC without the rounding that others share */
    PENSTOCK_BACKEND_DEVELOPERS = 2048, /* not named where users are told what there is */
    PENSTOCK_BACKEND_ADDRESSES = 4096,  /* what buffer_native gives are addresses, so that overlaps can be told */
    PENSTOCK_BACKEND_SHARES = 8192,     /* open takes the device's `shared` */
    PENSTOCK_BACKEND_PORTABLE = 16384, /* memory of host_alloc and host_lock is reached by all devices of the backend */
    PENSTOCK_BACKEND_RESAMPLE = 32768  /* may support problems of kind RESAMPLE: none are given to it otherwise */
};

struct penstock_backend {
    uint32_t abi;        /* PENSTOCK_BACKEND_ABI */
    const char *name;    /* "cpu", "opencl", ...; a device is "name" where `single` says so, else "name:index" */
    const char *licence; /* SPDX expression that the linked libraries impose; "MIT" if none does */
    unsigned flags;
    bool folds;                                                /* knows `fold` of transforms: none has it otherwise */
    bool single;                                               /* one device alone is named without an index */
    size_t device_bytes, buffer_bytes, slot_bytes, plan_bytes; /* private parts; 0: none */
    double error_factor; /* a plan's self-check allows this times 1.0e-7 sqrt(log2 n), relative L2; 0: 1 */

    /*
     * How many devices there are: `*count` <= capacity rows are filled in (product, driver, compute_units,
     * memory_bytes). With none, `reason` says why in one line ("libOpenCL.so.1 not found"). Returns 0 in
     * both cases; an error only for want of memory.
     */
    int (*probe)(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256]);

    /* (optional, for FRAGILE_DRIVER) text that changes when the driver does (files, their sizes and times): a result
     * of the probing helper is remembered under it. Loads no driver. Without it the helper runs once for every context.
     */
    void (*driver_key)(char *text, size_t capacity);

    int (*open)(struct penstock_device *device);
    void (*close)(struct penstock_device *device);

    /* (optional, for FRAGILE_DRIVER) A first small kernel on an open device, compiled anew, and its values checked, as
     * the probing helper asks for before the device is offered. `tell` is called before what a driver may crash in,
     * with what it does then ("compiled a first kernel"). */
    int (*trial)(struct penstock_device *device, void (*tell)(const char *doing));

    int (*buffer_alloc)(struct penstock_buffer *buffer, size_t bytes);
    /* (optional, required with HOST_MEMORY) use the caller's memory, which outlives the buffer */
    int (*buffer_wrap)(struct penstock_buffer *buffer, void *host, size_t bytes);
    void (*buffer_free)(struct penstock_buffer *buffer);

    /* (optional, both or none; with HOST_MEMORY the core wraps instead) A buffer of memory that the application has
     * from the driver, of at least `bytes`, and what the driver calls a buffer's memory. ERR_ARGUMENT where it is no
     * such memory, of another device, or too small. Freeing leaves it to the application. */
    int (*buffer_adopt)(struct penstock_buffer *buffer, uint64_t native);
    uint64_t (*buffer_native)(const struct penstock_buffer *buffer);

    /* (optional, likewise) A buffer that is buffer->bytes of another one, from `at` on, a multiple of the device's
     * alignment. The other one was alloc'd or adopted and outlives it. */
    int (*buffer_part)(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at);

    /* Of an opened device. Pure. > 0: yes, and how well (a higher rank is tried first when nothing was measured); an
     * error whose text names what cannot be done otherwise. */
    int (*supports)(const struct penstock_device *device, const struct penstock_problem *problem);

    /* Variant 0 is the fastest; each next one is simpler. PENSTOCK_ERR_UNSUPPORTED past the last one. */
    int (*plan_init)(struct penstock_plan_state *plan, unsigned variant);
    void (*plan_free)(struct penstock_plan_state *plan);

    /* (optional, with stamp) The configurations that are worth timing for a problem; none where there is nothing to
     * choose. */
    int (*launch_configs)(struct penstock_launch_configs *list, const struct penstock_device *device,
                          const struct penstock_problem *problem);

    int (*slot_init)(struct penstock_slot *slot);
    void (*slot_free)(struct penstock_slot *slot);

    /* (optional, both or none) In the place of slot_init: a slot whose work goes into a queue that the application has
     * from the driver, in order with the application's own, and which outlives it; and what the driver calls a slot's
     * queue. */
    int (*slot_adopt)(struct penstock_slot *slot, uint64_t native);
    uint64_t (*slot_native)(const struct penstock_slot *slot);

    /* (optional; without it the core waits for a mark of `before`) What is asked of `slot` from now on begins when all
     * that was asked of `before`, a slot of the same device, is done. Does not wait. */
    int (*follow)(struct penstock_slot *slot, struct penstock_slot *before);

    /* (optional; where the driver may keep what was enqueued until a mark) It is to begin now. */
    int (*flush)(struct penstock_slot *slot);

    /* In order within a slot; none waits for the device (a CPU may compute within enqueue). `host` stays valid until
     * a wait for a later mark. Not called on wrapped buffers, except enqueue. */
    int (*upload)(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
    int (*enqueue)(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);
    int (*download)(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);

    /* (optional, with HOST_MEMORY) frames `first` .. `first` + `count` - 1 of the `average` that make one output, on
     * the calling thread; the plan is not gathered. `in` is the first sample of frame `first`, `out` is apart from the
     * samples and written by the last frame, `scratch` has frame_scratch bytes, aligned to 64, and keeps the mean from
     * one call to the next one. Bits as those of enqueue. Threads with scratch memory and outputs of their own may call
     * it at once.
     */
    void (*run_frames)(const struct penstock_plan_state *plan, const void *in, size_t first, size_t count, void *out,
                       void *scratch);

    /* (optional, with run_frames) The same of a gathered plan: `count` frames of `samples` samples at `in`, each with
     * its gather; outputs one behind the other. */
    void (*run_gathered)(const struct penstock_plan_state *plan, const void *in, size_t samples,
                         const struct penstock_gather *gather, size_t count, void *out, void *scratch);

    /* (optional) instructions of all processors and of the busiest one, added up over what the plan has run. */
    void (*work)(const struct penstock_plan_state *plan, uint64_t *instructions, uint64_t *critical_path);

    /* A number for all that was enqueued so far; wait blocks until the slot has come that far. */
    int (*mark)(struct penstock_slot *slot, uint64_t *number);
    int (*wait)(struct penstock_slot *slot, uint64_t number);

    /*
     * (optional, both or none) The device's clock. stamp: the device notes its time when all that was enqueued so far
     * is done, as number `which` < PENSTOCK_STAMPS; elapsed, which is called once a later mark was waited for, gives
     * the seconds from one to another, or an error where either was not set. A failure of these leaves the slot as it
     * was.
     */
    int (*stamp)(struct penstock_slot *slot, unsigned which);
    int (*elapsed)(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds);

    /* (optional, with the clock) Within the device's memory, for timing with the samples there. */
    int (*copy)(struct penstock_slot *slot, const struct penstock_device_copy *copy);

    /* (optional, both or none) memory of the host that upload and download reach without a copy in between; aligned to
     * 64 bytes. penstock__host_reached() tells whether something lies in it. */
    int (*host_alloc)(struct penstock_device *device, void **memory, size_t bytes);
    void (*host_free)(struct penstock_device *device, void *memory);

    /* (optional, both or none, with the two) The same of memory that the application has. */
    int (*host_lock)(struct penstock_device *device, void *memory, size_t bytes);
    void (*host_unlock)(struct penstock_device *device, void *memory);
};

/* ---------------------------------------------------------------- services of the core -------- */

/* Sets this thread's error text and returns `status`. `format` makes one line without newline. */
int penstock__error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory: aligned to 64 bytes; NULL and an error text when there is none. Free with penstock__free (NULL is fine). */
void *penstock__alloc(size_t bytes);
void *penstock__calloc(size_t count, size_t bytes);
void *penstock__realloc(void *memory, size_t old_bytes, size_t bytes);
char *penstock__strdup(const char *text);
void penstock__free(void *memory);

void penstock__log(penstock_context *context, penstock_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Threads that penstock__parallel() may use, the caller's included; >= 1. */
unsigned penstock__threads(const penstock_context *context);

/* Calls work(argument, i, worker) for 0 <= i < count, spread over the context's threads, and returns when all are done.
 * `worker` < penstock__threads() tells the threads apart, within this call. May be called by several threads at once;
 * from `work` too, where no other call at that time shares what the inner work has for each worker. */
void penstock__parallel(penstock_context *context, size_t count,
                        void (*work)(void *argument, size_t i, unsigned worker), void *argument);

/* The same for work so short that waking a thread costs as much as it brings: at most `most` sleeping ones are woken,
 * and those that are awake, from a loop before, help without. */
void penstock__parallel_waking(penstock_context *context, size_t count, size_t most,
                               void (*work)(void *argument, size_t i, unsigned worker), void *argument);

/* Changes in a child after fork(): what was begun under another number was begun by another process. */
unsigned penstock__forks(void);

/* PENSTOCK_OK, or PENSTOCK_ERR_STATE with text where `what` was opened under another number. */
int penstock__forked(unsigned number, const char *what);

/*
 * A lock over state of a library that we call. fork() waits for who has it where it is `awaited`. Else, where another
 * thread has it while this process is forked, that state is lost in the child, and taking it gives false there, for
 * ever.
 */
struct penstock_guard {
    pthread_mutex_t lock;
    bool awaited, lost;
    atomic_bool listed;
    struct penstock_guard *following;
};
#define PENSTOCK_GUARD                    \
    {                                     \
        .lock = PTHREAD_MUTEX_INITIALIZER \
    }
#define PENSTOCK_GUARD_AWAITED                              \
    {                                                       \
        .lock = PTHREAD_MUTEX_INITIALIZER, .awaited = true, \
    }
bool penstock__guard(struct penstock_guard *guard);
void penstock__unguard(struct penstock_guard *guard);

/* Processors that this process may run on: a container or taskset may leave it few of the machine's. */
unsigned penstock__processors(void);

/* Seconds of a clock that only goes forward. */
double penstock__now_s(void);

/* Whether what this thread makes is for nobody any more: it is to end soon, and how does not matter. */
bool penstock__cancelled(void);

/* A program of ours in a process of its own: what crashes there does not take this one along. */
struct penstock_helper {
    pid_t process;
    int answer; /* what it writes, for the caller to read */
};

/* A file in memory, for a helper to read from its start; -1 where there can be none. */
int penstock__helper_input(const void *content, size_t bytes);

/*
 * Starts libexec/penstock/NAME, or what the environment variable `variable` names, with `arguments`, which NULL ends,
 * of up to 8. It reads `input`, which stays the caller's, or nothing where that is -1; what it writes about errors is
 * thrown away. 0, or an errno: ENOENT where there is none.
 */
int penstock__helper_start(struct penstock_helper *helper, const char *name, const char *variable,
                           const char *const *arguments, int input);

/* The same, and leaves it to itself: what it writes is thrown away. */
void penstock__helper_leave(const char *name, const char *variable, const char *const *arguments);

/* Kills it, where it is to be `killed`, and waits for its end. The wait status, or -1 where the application has taken
 * that (SIGCHLD ignored, say). */
int penstock__helper_end(struct penstock_helper *helper, bool killed);

/*
 * To be asked in plan_init before it compiles a kernel that is not compiled yet: a driver that crashes then, or when
 * the kernel is run, does so in a process of its own, where the whole plan is made and checked first. `name` tells the
 * kernel from others, and the device's driver from others. PENSTOCK_OK: it is to be compiled here now.
 */
int penstock__probe_plan(struct penstock_device *device, const char *name);

/* Buffer functions and copies of a backend with HOST_MEMORY. */
int penstock__host_buffer_alloc(struct penstock_buffer *buffer, size_t bytes);
int penstock__host_buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes);
void penstock__host_buffer_free(struct penstock_buffer *buffer);
int penstock__host_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
int penstock__host_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);

/* Slots of one that computes within enqueue: `slot_bytes` are this or begin with it, and a mark is a mere count. */
struct penstock_host_slot {
    uint64_t marks;
};
int penstock__host_slot_init(struct penstock_slot *slot);
void penstock__host_slot_free(struct penstock_slot *slot);
int penstock__host_mark(struct penstock_slot *slot, uint64_t *number);
int penstock__host_wait(struct penstock_slot *slot, uint64_t number);

/* Whether these bytes lie in memory that the device's host_alloc gave. */
bool penstock__host_reached(const struct penstock_device *device, const void *host, size_t bytes);

/* Folder for compiled kernels, or NULL; folder that overrides the built-in kernel sources, or NULL. */
const char *penstock__cache_dir(const penstock_context *context);
const char *penstock__kernel_path(const penstock_context *context);

/* Files in the cache folder, by a plain name without '/'. What read gives is what write was given, whole, or NULL where
 * it is absent, damaged or unreadable; free it with penstock__free(). Write replaces at once or not at all; false,
 * without an error text, where the folder cannot be written. */
void *penstock__cache_read(penstock_context *context, const char *name, size_t *bytes);
bool penstock__cache_write(penstock_context *context, const char *name, const void *content, size_t bytes);

/* 64 bits that tell contents apart, for names of cache files. */
uint64_t penstock__hash(const void *content, size_t bytes);

/* Sets a head's shift, scale and inverse, from its arms and unit. */
void penstock__resample_scale(struct penstock_resample_head *head);

/* exp(2 pi i k / n), k < n, rounded from an angle of at most an eighth of a turn: exact at the axes and diagonals. */
void penstock__unit_root(double *re, double *im, uint64_t k, uint64_t n);

/* All n of them, as pairs, to the same bits. */
void penstock__unit_roots(double *pairs, size_t n);

/* Plain double-precision DFT of any length, O(n log n); slow, simple and exact: what others are checked against.
 * `data` holds n complex values (re, im), transformed in place. */
int penstock__dft(double *data, size_t n, penstock_direction direction);

/* The same with its tables kept. A plan is read-only, so threads may share it; each brings its own scratch memory. */
struct penstock_dft_plan;
int penstock__dft_plan_new(struct penstock_dft_plan **plan, size_t n, penstock_direction direction);
size_t penstock__dft_plan_scratch_bytes(const struct penstock_dft_plan *plan);
void penstock__dft_plan_run(const struct penstock_dft_plan *plan, double *data, void *scratch);
void penstock__dft_plan_free(struct penstock_dft_plan *plan);

/* As memcpy and as penstock__convert(), which follows, by all threads of the context where there is much; not from the
 * work of penstock__parallel(). */
void penstock__copy(penstock_context *context, void *to, const void *from, size_t bytes);
void penstock__convert_all(penstock_context *context, penstock_cf32 *to, const void *from, penstock_format format,
                           size_t first, size_t count, size_t total);

/* Samples `first` .. `first + count` of `in` to float, NaN and infinity left as they are. `total` is the number of
 * samples of the whole input (PLANAR needs it). F32 gives im = 0. */
void penstock__convert(penstock_cf32 *out, const void *in, penstock_format format, size_t first, size_t count,
                       size_t total);

#endif
