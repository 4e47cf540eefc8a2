/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streams: samples go in, in any chunks, and results come out in order. All kinds have this one life:
 *
 *     penstock_stream *stream;
 *     if (penstock_spectrum_open(&stream, context, &PENSTOCK_SPECTRUM_DESC(.n = 2048), "auto"))
 *         ... penstock_error_text() says why ...
 *     while ((count = read(samples, ROOM)))
 *         for (size_t at = 0, taken; at < count; at += taken) {
 *             penstock_stream_push(stream, samples + at, count - at, &taken);
 *             while (!penstock_stream_pull(stream, vectors, 16, false, &given) && given)
 *                 ... use them ...
 *         }
 *     penstock_stream_finish(stream);
 *     while (!penstock_stream_pull(stream, vectors, 16, true, &given) && given)
 *         ... use them ...
 *     penstock_stream_free(stream);
 *
 * Kinds: penstock_fft_stream_open(), penstock_spectrum_open(), penstock_filter_open(), penstock_resampler_open(),
 * penstock_channelizer_open(), penstock_synthesizer_open(), penstock_ofdm_stream_open(), penstock_wifi_receiver_open(),
 * penstock_viterbi_stream_open(), penstock_viterbi_blocks_open(), penstock_ldpc_blocks_open(). What only one kind has
 * (other taps, another window, frames) is in its own header, with its name, and is an error for streams of other kinds.
 *
 * An item is what a kind says: a sample, a vector, a frame of channels. Any split of the items into calls gives the
 * same results to the bit. One thread at a time uses a stream.
 */
#ifndef PENSTOCK_STREAM_H
#define PENSTOCK_STREAM_H

#include <penstock/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_stream penstock_stream;

/*
 * Takes items, one after the other; of these `*taken`. Where `*taken` < `count`, results wait to be pulled: pull, then
 * push the rest, from item `*taken` on. Pulling until none comes always makes room. `taken` may be NULL for OFDM and
 * Wi-Fi streams alone, which take all.
 *
 * PENSTOCK_PLANAR samples are taken all or none, as the rest of such a push is no planar push: 0 are taken while
 * results of the one before wait to be pulled, else all, and what there is no room for is kept in memory of its own.
 *
 * An error loses nothing that was taken. After a failure of the device, which memory that a batch lacked is too, every
 * push returns it until a reset, but pulls first give what was complete before; kinds that say so try again instead.
 */
PENSTOCK_API int penstock_stream_push(penstock_stream *stream, const void *items, size_t count, size_t *taken);

/*
 * Up to `capacity` results that are ready; `wait`: first finish what has been sent to the device. Without it results
 * come later, by as many batches as are in flight. PENSTOCK_ERR_UNSUPPORTED for kinds whose results are frames, which
 * have a pull of their own.
 */
PENSTOCK_API int penstock_stream_pull(penstock_stream *stream, void *items, size_t capacity, bool wait, size_t *count);

/*
 * Push and pull in one, the fastest way: `*taken` of the `count` items at `in` are taken, and `*given` <= capacity
 * results come to `out`, which does not overlap `in`. A device that works in the host's memory (cpu, reference) reads
 * straight from `in` and writes straight to `out` where nothing waits in the stream: no copy, no batch to wait for, and
 * the same bits. Call again with the rest; nothing comes while both are 0. After an error nothing of this call was
 * taken by a device that works straight.
 */
PENSTOCK_API int penstock_stream_run(penstock_stream *stream, const void *in, size_t count, size_t *taken, void *out,
                                     size_t capacity, size_t *given);

/*
 * The same where items are values of several channels, by channel: as many arrays as penstock_stream_info says, each of
 * `count` values, or with room for `capacity`. Synthesis banks are pushed so, filters and analysis banks pulled,
 * filters run.
 */
PENSTOCK_API int penstock_stream_push_channels(penstock_stream *stream, const void *const *channels, size_t count,
                                               size_t *taken);
PENSTOCK_API int penstock_stream_pull_channels(penstock_stream *stream, void *const *channels, size_t capacity,
                                               bool wait, size_t *count);
PENSTOCK_API int penstock_stream_run_channels(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                                              void *const *channels, size_t capacity, size_t *given);

/*
 * Without a copy: the stream's own memory, which is what its device reaches by itself where that is another one than
 * the processor (FFT streams, spectra, filters, resamplers, synthesizers of all channels, and what goes into OFDM
 * streams; but for those that convert what is pushed), or else what is pushed or pulled within the call. All kinds
 * have it, but those whose results are frames do not lend them.
 *
 *     penstock_stream_acquire(stream, &to, &room);           ... write up to `room` items at `to` ...
 *     penstock_stream_commit(stream, count);
 *     penstock_stream_peek(stream, false, &from, &count);    ... read up to `count` results at `from` ...
 *     penstock_stream_release(stream, count);
 *
 * A room or count of 0 is what 0 items taken or given are: pull or peek first, or nothing is ready. No other call of
 * the stream comes between acquire and commit, nor between peek and release. Items count as taken once they are
 * committed, as given once they are released; both may be fewer than there were, and those that were not released are
 * peeked again. May be mixed with pushes and pulls; all come in order. PENSTOCK_PLANAR samples are written as for a
 * push of `count`.
 */
PENSTOCK_API int penstock_stream_acquire(penstock_stream *stream, void **to, size_t *room);
PENSTOCK_API int penstock_stream_commit(penstock_stream *stream, size_t count);
PENSTOCK_API int penstock_stream_peek(penstock_stream *stream, bool wait, const void **from, size_t *count);
PENSTOCK_API int penstock_stream_release(penstock_stream *stream, size_t count);

/* For a source that stalls: makes the results of all items pushed so far ready, as far as there are such, without
 * changing one of them to more than its last bits. */
PENSTOCK_API int penstock_stream_flush(penstock_stream *stream);

/* No more items come: all becomes ready. Pushing again needs a reset. */
PENSTOCK_API int penstock_stream_finish(penstock_stream *stream);

/* Back to the first item, with the taps, window, channels and latency that were set last. */
PENSTOCK_API int penstock_stream_reset(penstock_stream *stream);
PENSTOCK_API void penstock_stream_free(penstock_stream *stream);

/* The oldest result that waits is made and given by the first call after so long: another max_latency_s of the
 * description, for results that wait too. 0: only full batches and the end, for Wi-Fi its default. What needs more
 * items is no result yet: a filter's incomplete block, say, which penstock_stream_flush() makes. */
PENSTOCK_API int penstock_stream_set_max_latency(penstock_stream *stream, double max_latency_s);

/* Seconds until that time has passed for a result that waits, 0 where a pull gives something at once; INFINITY where
 * nothing waits or there is no limit. */
PENSTOCK_API double penstock_stream_due_s(const penstock_stream *stream);

/* ---------------------------------------------------------------- chains ---------------------- */

/*
 * From now on results of `from` are the items of `to`: push into the first stream of a chain, and pull from the last.
 * What cannot go on, as results after it wait to be pulled, is held, and fewer items are taken. Flush, finish and
 * reset of the first stream go through the chain; a finished chain is pulled until nothing comes. Values are those that
 * the streams give one by one, to the bit, however items are split. Those of a filter for a spectrum or FFT stream on
 * its device stay there by the batch, as do those of a channelizer for a spectrum of as many channels, and soft bits of
 * an OFDM stream for blocks to be decoded; else one line of the log says that values of a device go by way of the host.
 *
 * Results are values of a format, and items must be of the same: filter, resampler, channelizer, synthesizer or
 * FFT stream into filter, FFT stream, spectrum, channelizer, synthesizer, resampler, OFDM stream or Wi-Fi receiver. A
 * vector is its values one after the other; and soft bits in bytes go from an OFDM stream of these alone to Viterbi
 * streams and blocks to be decoded. Streams of several channels are linked channel by channel, each to one
 * other, and what goes nowhere is dropped; a channelizer into a synthesizer or spectrum of as many channels goes whole.
 *
 * PENSTOCK_ERR_ARGUMENT for other values, channels that do not fit, or a circle; PENSTOCK_ERR_STATE where either is
 * linked so already, and for each call that would take items or results away from a link; PENSTOCK_ERR_UNSUPPORTED for
 * results that are frames. A chain is one thread's at a time. Freeing a stream, in any order, cuts its links; what was
 * held there is lost, and the others go on by themselves.
 */
PENSTOCK_API int penstock_stream_link(penstock_stream *from, penstock_stream *to);
PENSTOCK_API int penstock_stream_link_channel(penstock_stream *from, size_t channel, penstock_stream *to);

/* Cuts a link: what was held there is lost, and both streams go on by themselves. */
PENSTOCK_API int penstock_stream_unlink(penstock_stream *from, penstock_stream *to);

/*
 * The results of `next` go where those of `from` went, after these, and `from` is linked to none any more: first all
 * that it gives without more items goes on, as in a pull that waits. PENSTOCK_ERR_STATE where `from` was finished, its
 * results as a whole go nowhere, or those of `next` go to another stream; after any error all is as it was.
 */
PENSTOCK_API int penstock_stream_relink(penstock_stream *from, penstock_stream *next);

/* ---------------------------------------------------------------- on the device --------------- */

/*
 * With the items in the memory of the stream's device (penstock/buffer.h), where the results stay too: takes `count`
 * items that `in` begins with, and puts the results that are complete with them to the start of `out`, `*given` of
 * them. All is enqueued after what is in `queue`, and the call returns at once; the buffers belong to the queue until
 * then, and lie apart. Results are those of pushes and pulls, to the bit, however items are split. What makes no result
 * yet stays with the stream, in the device's memory: the first call makes room for it, and waits. With `out` and
 * `queue` NULL nothing is done, and `*given` is how many results `count` more items will give.
 *
 * After penstock_stream_finish() a call with no items gives the results that are left. A stream whose items are
 * enqueued is not pushed, pulled or linked before a reset; other taps or another window hold from the next call on.
 * Calls in different queues are ordered by penstock_queue_follow(), and all is done before a reset or the stream's end.
 * After an error of the device the stream is of no use before a reset.
 *
 * FFT streams and spectra that convert nothing and average on the device, blocks to be decoded, filters of one channel
 * where penstock_filter_enqueue() works, soft bits of OFDM symbols where penstock_ofdm_enqueue() does, and channelizers
 * that give all channels, of PENSTOCK_CF32, _CS16, _CS8 or _CF16 on devices with a kernel for their branches; else
 * PENSTOCK_ERR_UNSUPPORTED with text.
 */
PENSTOCK_API int penstock_stream_enqueue(penstock_stream *stream, const penstock_buffer *in, size_t count,
                                         penstock_buffer *out, size_t *given, penstock_queue *queue);

/* ---------------------------------------------------------------- what is known --------------- */

typedef struct penstock_stream_info {
    size_t size;
    const char *kind;      /* "spectrum", ... */
    const char *device;    /* that computes now; lives as long as the stream, or until it goes over to another one */
    size_t in_bytes;       /* of an item in */
    size_t out_bytes;      /* of an item out; 0 where results are frames */
    size_t in_channels;    /* arrays of a push by channel; 0: there is none */
    size_t out_channels;   /* arrays of a pull by channel; 0: there is none */
    uint64_t taken, given; /* items in and out since the stream was opened or reset */
    uint64_t waiting;      /* items out that are complete and were not given, where the kind tells */
    uint64_t batch;        /* items out that are made at a time where a device works in batches, else 0 */
    const char *linked_on; /* device in whose memory items come from the stream that it is linked to, as `device`; NULL:
                              none, or over the host */
} penstock_stream_info;

#define PENSTOCK_STREAM_INFO PENSTOCK_DESCRIPTION(penstock_stream_info, )

PENSTOCK_API int penstock_stream_get_info(const penstock_stream *stream, penstock_stream_info *info);

/* Its `device` alone. */
PENSTOCK_API const char *penstock_stream_device(const penstock_stream *stream);

/* Since the stream was opened or reset: how much, how fast, how late. */
typedef struct penstock_stream_stats {
    size_t size;
    uint64_t in, out;               /* items */
    uint64_t queue;                 /* items in that wait: no item out that was given covers them */
    double in_rate_hz, out_rate_hz; /* items a second, over the last one to two seconds */
    double batch;                   /* items out of a mean batch; 0: none was done yet */
    double transfer_s, kernel_s;    /* what copies and kernels of a mean batch cost; 0 until one is done. On OpenCL and
                                       CUDA by the device's clock: the first batch is timed, then one whenever their
                                       number has doubled, then each 256th, with nothing else of the stream's on the
                                       device; others count by their size. What the processor does before, between
                                       and after is in neither. transfer_s is 0 where the device works in the host's
                                       memory. Other devices compute within the call: kernel_s is what it takes, the
                                       processor's part included. NAN where the device's clock fails */
    double latency_p50_s;         /* from the push of an item out's last item in to its pull: half of them took less, */
    double latency_p99_s;         /* and 99 of 100; rounded up by at most a fifth, 1 us at least; 0: none came yet */
    uint64_t fallbacks;           /* batches that the CPU did because the device failed */
    uint64_t drops;               /* items in that were lost for want of time or memory */
    uint64_t cpu_while_compiling; /* batches that the CPU did because the device was not ready:
                                     penstock_context_desc.cpu_while_compiling */
    const penstock_device_work *shares; /* where the device is several ("cuda:*"), what those did that did anything; */
    size_t share_count;                 /* live as long as the stream, and are NULL and 0 for one device */
    uint64_t handed_over; /* of the items in: that came from the stream it is linked to within the memory of a device.
                             Batches of these are not in `batch`, transfer_s and kernel_s */
} penstock_stream_stats;

#define PENSTOCK_STREAM_STATS PENSTOCK_DESCRIPTION(penstock_stream_stats, )

PENSTOCK_API int penstock_stream_get_stats(const penstock_stream *stream, penstock_stream_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
