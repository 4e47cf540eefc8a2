/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Filters and OFDM demodulators on two devices, with the samples there: what is enqueued on either gives the bits of
 * one device alone, in any order, and taps and frames go to each of them once. Usage: test_group_device cuda|opencl
 */
#include "one_kernel.h"
#include "shim_calls.h"
#include "test.h"

#include <penstock/penstock.h>

enum { BLOCKS = 3, TAPS = 33, N = 64, GUARD = 16, CARRIERS = 12, SYMBOLS = 9, ROUNDS = 4, DEVICES = 2 };
enum { FRAME_BYTES = CARRIERS * PENSTOCK_QPSK * SYMBOLS, ROOM = 1 << 16 };

static const char *kind;
static penstock_context *context;
static penstock_cf32 samples[ROOM], channel[N];
static float taps[TAPS], other_taps[TAPS];
static char want[ROOM], got[ROOM];

/* Queue and memory of a device. */
struct place {
    penstock_queue *queue;
    penstock_buffer *in, *out;
};

static void place_open(struct place *place, const char *device, size_t in_bytes, size_t out_bytes)
{
    *place = (struct place){NULL, NULL, NULL};
    CHECK_OK(penstock_queue_new(&place->queue, context, device));
    CHECK_OK(penstock_buffer_new(&place->in, context, device, in_bytes));
    CHECK_OK(penstock_buffer_new(&place->out, context, device, out_bytes));
    CHECK_OK(penstock_buffer_upload(place->in, samples, in_bytes, place->queue));
}

static void place_close(struct place *place)
{
    penstock_queue_free(place->queue);
    penstock_buffer_free(place->in);
    penstock_buffer_free(place->out);
}

static const char *name_of(int index)
{
    static char name[24];
    if (index < 0)
        snprintf(name, sizeof name, "%s:*", kind);
    else
        snprintf(name, sizeof name, "%s:%d", kind, index);
    return name;
}

static long copies(void)
{
    return shim.copies ? shim.copies(0) + (strcmp(kind, "cuda") ? 0 : shim.copies(1)) : 0;
}

/* Work that is enqueued at a place: its values are `want`, and it copies `most` times beyond the result's at most. */
static void check(const struct place *place, int status, size_t bytes, long before, long most, const char *what)
{
    CHECK(!status, "%s: %s", what, penstock_error_text());
    memset(got, 99, bytes);
    const long sent = copies() - before;
    CHECK_OK(penstock_buffer_download(place->out, got, bytes, place->queue));
    CHECK(!memcmp(want, got, bytes), "%s: other bits than of one device", what);
    CHECK(sent <= most && (!shim.copies || sent == most), "%s: %ld copies, not %ld", what, sent, most);
}

/* ---------------------------------------------------------------- filters --------------------- */

static int open_filter(penstock_stream **filter, const char *device)
{
    return penstock_filter_open(
        filter, context,
        &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS, .n = 256, .decimation = 2, .shift = 0.1), device);
}

/* By one device alone, with these taps. */
static void want_filtered(const float *with, const penstock_filter_info *info, size_t in_bytes, size_t out_bytes)
{
    penstock_stream *filter;
    struct place place;
    CHECK_OK(open_filter(&filter, name_of(0)));
    place_open(&place, name_of(0), in_bytes, out_bytes);
    CHECK_OK(penstock_filter_set_taps(filter, NULL, with, TAPS, 0));
    CHECK_OK(penstock_filter_enqueue(filter, place.in, place.out, 0, BLOCKS, place.queue));
    CHECK_OK(penstock_buffer_download(place.out, want, out_bytes, place.queue));
    CHECK(info->n == 256, "n is %zu", info->n);
    place_close(&place);
    penstock_stream_free(filter);
}

static void check_filter(void)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    struct place places[DEVICES];
    penstock_stream *filter;
    CHECK_OK(open_filter(&filter, name_of(-1)));
    CHECK_OK(penstock_filter_get_info(filter, &info));
    const size_t in_bytes = ((BLOCKS - 1) * info.block + info.reads) * sizeof *samples,
                 out_bytes = BLOCKS * info.block / 2 * info.value_bytes;
    CHECK(in_bytes <= sizeof samples && out_bytes <= sizeof want, "%zu bytes", in_bytes);
    for (int i = 0; i < DEVICES; i++)
        place_open(&places[i], name_of(i), in_bytes, out_bytes);
    for (int changed = 0; changed < 2; changed++) {
        const float *with = changed ? other_taps : taps;
        want_filtered(with, &info, in_bytes, out_bytes);
        if (changed)
            CHECK_OK(penstock_filter_set_taps(filter, NULL, with, TAPS, 0));
        for (int i = 0; i < ROUNDS * DEVICES; i++) {
            const struct place *place = &places[i % DEVICES];
            const long before = copies();
            int status = penstock_filter_enqueue(filter, place->in, place->out, 0, BLOCKS, place->queue);
            check(place, status, out_bytes, before, i < DEVICES, "filter");
        }
    }
    for (int i = 0; i < DEVICES; i++)
        place_close(&places[i]);
    penstock_stream_free(filter);
}

/* ---------------------------------------------------------------- OFDM ------------------------ */

static int open_ofdm(penstock_ofdm **ofdm, const char *device)
{
    static const int32_t carriers[CARRIERS] = {-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6};
    return penstock_ofdm_new(ofdm, context,
                             &PENSTOCK_OFDM_DESC(.n = N, .guard = GUARD, .window_offset = 1, .carriers = carriers,
                                                 .carrier_count = CARRIERS, .tracking = PENSTOCK_TRACK_GIVEN,
                                                 .max_constellation = PENSTOCK_QPSK),
                             device);
}

static penstock_ofdm_frame frame_of(int changed)
{
    return (penstock_ofdm_frame){
        .channel = channel, .noise = changed ? 0.02F : 0.05F, .constellation = PENSTOCK_QPSK, .cfo = 1e-4 * changed};
}

static void want_demodulated(const penstock_ofdm_frame *frame, size_t in_bytes)
{
    penstock_ofdm *ofdm;
    struct place place;
    CHECK_OK(open_ofdm(&ofdm, name_of(0)));
    place_open(&place, name_of(0), in_bytes, FRAME_BYTES);
    CHECK_OK(penstock_ofdm_enqueue(ofdm, frame, place.in, place.out, SYMBOLS, place.queue));
    CHECK_OK(penstock_buffer_download(place.out, want, FRAME_BYTES, place.queue));
    place_close(&place);
    penstock_ofdm_free(ofdm);
}

static void check_ofdm(void)
{
    const size_t in_bytes = (size_t)SYMBOLS * (N + GUARD) * sizeof *samples;
    struct place places[DEVICES];
    penstock_ofdm *ofdm;
    CHECK_OK(open_ofdm(&ofdm, name_of(-1)));
    for (int i = 0; i < DEVICES; i++)
        place_open(&places[i], name_of(i), in_bytes, FRAME_BYTES);
    for (int changed = 0; changed < 2; changed++) {
        const penstock_ofdm_frame frame = frame_of(changed);
        want_demodulated(&frame, in_bytes);
        for (int i = 0; i < ROUNDS * DEVICES; i++) {
            const struct place *place = &places[i % DEVICES];
            const long before = copies();
            if (!changed && i < DEVICES)
                CHECK_EQ(penstock_ofdm_enqueue(ofdm, NULL, place->in, place->out, SYMBOLS, place->queue),
                         PENSTOCK_ERR_STATE);
            int status =
                penstock_ofdm_enqueue(ofdm, i < DEVICES ? &frame : NULL, place->in, place->out, SYMBOLS, place->queue);
            check(place, status, FRAME_BYTES, before, i < DEVICES ? 1 + changed : 0, "OFDM"); /* an offset has a list */
        }
    }
    for (int i = 0; i < DEVICES; i++)
        place_close(&places[i]);
    penstock_ofdm_free(ofdm);
}

/* Whether there are two, and whether they filter in one kernel. */
static bool is_there(void)
{
    penstock_stream *filter = NULL;
    bool there = !open_filter(&filter, name_of(1)) && one_kernel(filter, context) != PENSTOCK_ERR_UNSUPPORTED;
    penstock_stream_free(filter);
    return there;
}

int main(int count, char **arguments)
{
    uint64_t seed = 3;
    kind = count > 1 ? arguments[1] : "opencl";
    shim_load(strcmp(kind, "cuda") ? "PENSTOCK_OPENCL_LIBRARY" : "PENSTOCK_CUDA_LIBRARY"); /* which counts copies */
    for (size_t i = 0; i < ROOM; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t i = 0; i < TAPS; i++) {
        taps[i] = (float)test_uniform(&seed);
        other_taps[i] = (float)test_uniform(&seed);
    }
    for (size_t i = 0; i < N; i++)
        channel[i] = (penstock_cf32){1 + (float)test_uniform(&seed) / 4, 0.3F};
    CHECK_OK(penstock_context_new(&context, NULL));
    const bool there = is_there();
    if (there) {
        check_filter();
        check_ofdm();
    }
    penstock_context_free(context);
    return there ? test_finish() : test_skip(penstock_error_text());
}
