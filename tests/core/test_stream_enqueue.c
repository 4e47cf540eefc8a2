/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streams whose items are enqueued in their device's memory: any split gives the bits of pushes and pulls, the end and
 * a reset are as with those, allocations fail one by one, and what does not fit is an error in words. Usage:
 * test_stream_enqueue [DEVICE]; without one, cpu, trace and reference.
 */
#include "core/base/memory.h"
#include "refused.h"

#include <penstock/penstock.h>

enum { ITEMS = 3000, MOST = 1 << 20, SPLITS = 6 };

static uint64_t samples[MOST / 8];
static char want[MOST], got[MOST];
static float taps[100];
static unsigned filters, others; /* kinds of streams that ran */

/* ---------------------------------------------------------------- kinds ----------------------- */

static int open_fft(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_fft_stream_open(stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 16), device);
}

static int open_odd_fft(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_fft_stream_open(stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 15, .window = taps), device);
}

static int open_mean(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = 128, .hop = 40, .average = 3, .window = "hann", .output = PENSTOCK_OUTPUT_POWER);
    return penstock_spectrum_open(stream, context, &desc, device);
}

static int open_integers(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_spectrum_desc desc =
        PENSTOCK_SPECTRUM_DESC(.n = 64, .hop = 63, .format = PENSTOCK_CS16, .output = PENSTOCK_OUTPUT_DECIBEL);
    return penstock_spectrum_open(stream, context, &desc, device);
}

static int open_channels(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_spectrum_desc desc = PENSTOCK_SPECTRUM_DESC(.n = 32, .hop = 20, .average = 2, .window = "hann",
                                                               .output = PENSTOCK_OUTPUT_POWER, .channels = 3);
    return penstock_spectrum_open(stream, context, &desc, device);
}

static int open_blocks(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_viterbi_blocks_open(stream, context, &PENSTOCK_VITERBI_DESC(.bits = 50), device);
}

static int open_symbols(penstock_stream **stream, penstock_context *context, const char *device)
{
    static const int32_t carriers[] = {-20, -7, -3, -1, 1, 2, 5, 11, 30};
    const penstock_ofdm_stream_desc desc =
        PENSTOCK_OFDM_STREAM_DESC(.n = 64, .guard = 16, .carriers = carriers, .carrier_count = 9,
                                  .constellation = PENSTOCK_QAM16, .continuous = true, .soft = true,
                                  .format = PENSTOCK_CS16);
    return penstock_ofdm_stream_open(stream, context, &desc, device);
}

static int open_bank(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_channelizer_desc desc = PENSTOCK_CHANNELIZER_DESC(.channels = 8, .hop = 6, .tail = true);
    return penstock_channelizer_open(stream, context, &desc, device);
}

static int open_integer_bank(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_channelizer_desc desc =
        PENSTOCK_CHANNELIZER_DESC(.channels = 8, .format = PENSTOCK_CS16, .advance = 7);
    return penstock_channelizer_open(stream, context, &desc, device);
}

static int open_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    return penstock_filter_open(stream, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 33), device);
}

static int open_long_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_filter_desc desc =
        PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 100, .decimation = 4, .shift = 0.123, .tail = true);
    return penstock_filter_open(stream, context, &desc, device);
}

static int open_integer_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_filter_desc desc =
        PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 65, .format = PENSTOCK_CS16, .advance = 32);
    return penstock_filter_open(stream, context, &desc, device);
}

static int open_real_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_filter_desc desc =
        PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 17, .format = PENSTOCK_F32, .tail = true);
    return penstock_filter_open(stream, context, &desc, device);
}

static int open_interpolating_filter(penstock_stream **stream, penstock_context *context, const char *device)
{
    const penstock_filter_desc desc = PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 100, .interpolation = 3,
                                                           .decimation = 2, .shift = 0.123, .advance = 7, .tail = true);
    return penstock_filter_open(stream, context, &desc, device);
}

typedef int open_fn(penstock_stream **stream, penstock_context *context, const char *device);

static const struct kind {
    const char *name;
    open_fn *open;
    size_t items;
    bool filter; /* which not every device does in one kernel */
} kinds[] = {
    {"fft", open_fft, ITEMS / 16, false},
    {"fft of 15 points with a window", open_odd_fft, ITEMS / 15, false},
    {"means of overlapping spectra", open_mean, ITEMS, false},
    {"decibels of integers", open_integers, ITEMS, false},
    {"spectra of channels", open_channels, ITEMS / 3, false},
    {"viterbi blocks", open_blocks, 40, false},
    {"filter bank", open_bank, ITEMS, true},
    {"filter bank of integers", open_integer_bank, ITEMS, true},
    {"soft bits of symbols", open_symbols, ITEMS, true},
    {"filter", open_filter, ITEMS, true},
    {"filter with shift, decimation and tail", open_long_filter, ITEMS, true},
    {"filter of integers, ahead", open_integer_filter, ITEMS, true},
    {"filter of real samples", open_real_filter, ITEMS, true},
    {"filter by 2 / 3, ahead, with shift and tail", open_interpolating_filter, ITEMS, true},
};

/* ---------------------------------------------------------------- runs ------------------------ */

struct rig {
    penstock_stream *stream;
    penstock_stream_info info;
    penstock_buffer *in, *out;
    penstock_queue *queue;
};

static int rig_open(struct rig *rig, penstock_context *context, const char *device, open_fn *open)
{
    *rig = (struct rig){.info = PENSTOCK_STREAM_INFO};
    int status = open(&rig->stream, context, device);
    if (status)
        return status;
    CHECK_OK(penstock_stream_get_info(rig->stream, &rig->info));
    CHECK_OK(penstock_buffer_new(&rig->in, context, device, MOST));
    CHECK_OK(penstock_buffer_new(&rig->out, context, device, MOST));
    CHECK_OK(penstock_queue_new(&rig->queue, context, device));
    return PENSTOCK_OK;
}

static void rig_close(struct rig *rig)
{
    penstock_queue_free(rig->queue); /* which waits */
    penstock_stream_free(rig->stream);
    penstock_buffer_free(rig->in);
    penstock_buffer_free(rig->out);
}

/* Bytes of all results, by pushes and pulls. */
static size_t by_pushes(const struct rig *rig, size_t items)
{
    size_t at = 0, taken, given, bytes = 0;
    do {
        if (at < items) {
            CHECK_OK(
                penstock_stream_push(rig->stream, (const char *)samples + at * rig->info.in_bytes, items - at, &taken));
            if ((at += taken) == items)
                CHECK_OK(penstock_stream_finish(rig->stream));
        }
        CHECK_OK(penstock_stream_pull(rig->stream, want + bytes, (MOST - bytes) / rig->info.out_bytes, true, &given));
        bytes += given * rig->info.out_bytes;
    } while (given || at < items);
    CHECK_OK(penstock_stream_reset(rig->stream));
    return bytes;
}

/* One call, whose results are appended to those in `got`. */
static int enqueue(const struct rig *rig, size_t at, size_t count, size_t *bytes)
{
    const char *from = (const char *)samples + at * rig->info.in_bytes;
    size_t foreseen, given;
    int status = penstock_buffer_upload(rig->in, from, count * rig->info.in_bytes, rig->queue);
    if (status || (status = penstock_stream_enqueue(rig->stream, NULL, count, NULL, &foreseen, NULL)) ||
        (status = penstock_stream_enqueue(rig->stream, rig->in, count, rig->out, &given, rig->queue)))
        return status;
    CHECK(given == foreseen, "%zu results, %zu were foreseen", given, foreseen);
    *bytes += given * rig->info.out_bytes;
    return penstock_buffer_download(rig->out, got + *bytes - given * rig->info.out_bytes, given * rig->info.out_bytes,
                                    rig->queue);
}

/* All items in pieces of up to `most`; the results' bytes. */
static int by_enqueues(const struct rig *rig, size_t items, size_t most, uint64_t *seed, size_t *bytes)
{
    int status = PENSTOCK_OK;
    *bytes = 0;
    for (size_t at = 0, count; at < items && !status; at += count) {
        count = (size_t)(test_random(seed) % (most + 1));
        count = count < items - at ? count : items - at;
        status = enqueue(rig, at, count, bytes);
    }
    if (!status && !(status = penstock_stream_finish(rig->stream)))
        status = enqueue(rig, items, 0, bytes);
    return status;
}

static void check_kind(penstock_context *context, const char *device, const struct kind *kind)
{
    static const size_t most[SPLITS] = {1, 7, 100, 700, ITEMS, ITEMS};
    uint64_t seed = 9;
    struct rig rig;
    size_t none, bytes;
    CHECK_OK(rig_open(&rig, context, device, kind->open));
    if (penstock_stream_enqueue(rig.stream, NULL, 0, NULL, &none, NULL) == PENSTOCK_ERR_UNSUPPORTED ||
        enqueue(&rig, 0, kind->items, &(size_t){0}) == PENSTOCK_ERR_UNSUPPORTED) {
        printf("%s on %s: %s\n", kind->name, device, penstock_error_text());
        rig_close(&rig);
        return;
    }
    *(kind->filter ? &filters : &others) += 1;
    CHECK_OK(penstock_stream_reset(rig.stream));
    const size_t right = by_pushes(&rig, kind->items);
    CHECK(right > 0, "%s gives nothing", kind->name);
    for (int i = 0; i < SPLITS; i++) {
        int status = by_enqueues(&rig, kind->items, most[i], &seed, &bytes);
        CHECK(!status, "%s on %s: %s", kind->name, device, penstock_error_text());
        CHECK(bytes == right, "%s on %s, by %zu: %zu bytes, not %zu", kind->name, device, most[i], bytes, right);
        CHECK(!memcmp(got, want, right), "%s on %s, by %zu: other bits", kind->name, device, most[i]);
        CHECK_OK(penstock_stream_get_info(rig.stream, &rig.info));
        CHECK(rig.info.taken == kind->items && rig.info.given == right / rig.info.out_bytes, "%s: %d taken, %d given",
              kind->name, (int)rig.info.taken, (int)rig.info.given);
        CHECK_OK(penstock_stream_reset(rig.stream));
    }
    CHECK_EQ(by_pushes(&rig, kind->items), right); /* and pushed again */
    rig_close(&rig);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* Allocation k of a stream's enqueues fails; where its queue is of use still, a reset makes all well. */
static bool fail_at(penstock_context *context, const char *device, long k, long *failed)
{
    uint64_t seed = 1;
    struct rig rig;
    size_t bytes;
    CHECK_OK(rig_open(&rig, context, device, open_mean));
    const size_t right = by_pushes(&rig, ITEMS);
    const long before = penstock__memory_calls();
    penstock__memory_fail_at(k);
    int status = by_enqueues(&rig, ITEMS, 700, &seed, &bytes);
    const bool reached = penstock__memory_calls() - before > k;
    penstock__memory_fail_at(-1);
    CHECK(!status || (reached && *penstock_error_text()), "allocation %ld: %d", k, status);
    *failed += status != PENSTOCK_OK;
    if (status && !penstock_queue_wait(rig.queue)) {
        CHECK_OK(penstock_stream_reset(rig.stream));
        status = by_enqueues(&rig, ITEMS, 700, &seed, &bytes);
        CHECK(!status, "allocation %ld, after a reset: %s", k, penstock_error_text());
    }
    CHECK(status || (bytes == right && !memcmp(got, want, right)), "allocation %ld: other results", k);
    rig_close(&rig);
    return reached;
}

static void sweep(penstock_context *context, const char *device)
{
    const long live = penstock__memory_live();
    long failed = 0, k = 0, now;
    while (k < 2000 && fail_at(context, device, k, &failed))
        k++;
    CHECK(failed > 3 && k < 2000, "%ld of %ld allocations failed", failed, k);
    now = penstock__memory_live();
    CHECK(fail_at(context, device, 0, &failed) && penstock__memory_live() == now, "%ld blocks leaked",
          penstock__memory_live() - now);
    printf("%s: %ld allocations, %ld blocks are kept\n", device, k, now - live);
}

static void refuse(penstock_context *context, const char *device)
{
    struct rig rig;
    penstock_buffer *few;
    penstock_stream *other;
    size_t given, taken;
    CHECK_OK(rig_open(&rig, context, device, open_fft));
    CHECK_OK(penstock_buffer_new(&few, context, device, 64));
    CHECK_REFUSED(penstock_stream_enqueue(NULL, rig.in, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "stream is NULL");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, NULL, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "given is NULL");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, NULL), PENSTOCK_ERR_ARGUMENT,
                  "queue is NULL");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, NULL, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "input is NULL");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, NULL, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "output is NULL");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, few, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "has 64 bytes, not 128");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, few, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "has 64 bytes, not 128");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.in, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "overlap");
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, SIZE_MAX, rig.out, &given, rig.queue),
                  PENSTOCK_ERR_ARGUMENT, "memory");
    CHECK_OK(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, rig.queue));
    CHECK_EQ(given, 1);
    CHECK_REFUSED(penstock_stream_push(rig.stream, samples, 1, &taken), PENSTOCK_ERR_STATE, "are enqueued");
    CHECK_REFUSED(penstock_stream_pull(rig.stream, got, 1, true, &taken), PENSTOCK_ERR_STATE, "are enqueued");
    CHECK_REFUSED(penstock_stream_run(rig.stream, samples, 1, &taken, got, 1, &given), PENSTOCK_ERR_STATE,
                  "are enqueued");
    CHECK_REFUSED(penstock_stream_acquire(rig.stream, &(void *){NULL}, &taken), PENSTOCK_ERR_STATE, "are enqueued");
    CHECK_REFUSED(penstock_stream_peek(rig.stream, true, &(const void *){NULL}, &taken), PENSTOCK_ERR_STATE,
                  "are enqueued");
    CHECK_OK(penstock_stream_finish(rig.stream));
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_STATE,
                  "finished");
    CHECK_OK(penstock_stream_reset(rig.stream));
    CHECK_OK(penstock_stream_push(rig.stream, samples, 1, &taken));
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_STATE,
                  "were pushed");
    CHECK_OK(penstock_stream_reset(rig.stream));
    CHECK_OK(open_fft(&other, context, device));
    CHECK_OK(penstock_stream_link(rig.stream, other));
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_STATE,
                  "linked");
    CHECK_REFUSED(penstock_stream_enqueue(other, rig.in, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_STATE, "linked");
    penstock_stream_free(other);
    penstock_buffer_free(few);
    rig_close(&rig);
    CHECK_OK(penstock_resampler_open(&other, context, &PENSTOCK_RESAMPLER_DESC(.ratio = 0.5), "cpu"));
    CHECK_REFUSED(penstock_stream_enqueue(other, NULL, 0, NULL, &given, NULL), PENSTOCK_ERR_UNSUPPORTED,
                  "takes no items on a device");
    penstock_stream_free(other);
}

/* Queues and buffers of another device. */
static void refuse_others(penstock_context *context, const char *device)
{
    static const char elsewhere[] = "cpu";
    struct rig rig, there;
    size_t given;
    CHECK_OK(rig_open(&rig, context, device, open_fft));
    CHECK_OK(rig_open(&there, context, elsewhere, open_fft));
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, there.in, 1, rig.out, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  elsewhere);
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, there.out, &given, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  elsewhere);
    CHECK_OK(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, rig.queue));
    CHECK_REFUSED(penstock_stream_enqueue(rig.stream, rig.in, 1, rig.out, &given, there.queue), PENSTOCK_ERR_ARGUMENT,
                  elsewhere);
    rig_close(&there);
    rig_close(&rig);
}

/* ---------------------------------------------------------------- all ------------------------- */

static int check_device(const char *device)
{
    penstock_context *context;
    penstock_buffer *buffer;
    CHECK_OK(penstock_context_new(&context, NULL));
    int status = penstock_buffer_new(&buffer, context, device, 64);
    if (status) {
        penstock_context_free(context);
        return test_skip(penstock_error_text());
    }
    penstock_buffer_free(buffer);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        check_kind(context, device, &kinds[i]);
    sweep(context, device);
    refuse(context, device);
    if (strcmp(device, "cpu") && strcmp(device, "trace"))
        refuse_others(context, device);
    penstock_context_free(context);
    return 0;
}

int main(int count, char **arguments)
{
    static const char *const usual[] = {"cpu", "trace", "reference"};
    const bool kernels = count > 2; /* the device does a filter's block in one of them */
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof samples / (sizeof(float)); i++)
        ((float *)samples)[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < sizeof taps / sizeof *taps; i++)
        taps[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *device = count > 1 ? arguments[1] : usual[i];
        filters = others = 0;
        int status = check_device(device);
        if (status)
            return status;
        printf("%s: %u kinds, %u of filters\n", device, others, filters);
        CHECK_EQ(others, 6);
        CHECK_EQ(filters, kernels ? 8 : strcmp(device, "trace") ? 0 : 2); /* of these the banks */
        if (count > 1)
            break;
    }
    return test_finish();
}
