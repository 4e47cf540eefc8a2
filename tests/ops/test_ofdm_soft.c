/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A stream of OFDM symbols' soft bits alone: those of a stream that gives points too, of the same samples as floats, on
 * each device; with pilots that are tracked, too; decoded on the device, what a link to the decoder gives; and what it
 * refuses.
 *
 * Argument: a device; without one, cpu, reference and trace.
 */
#include "refused.h"

#include <stdlib.h>

enum { SAMPLES = 40000, N = 128, GUARD = 20, CARRIERS = 60, PILOTS = 4, SYMBOLS = SAMPLES / (N + GUARD) };

static int16_t integers[2 * SAMPLES];
static penstock_cf32 samples[SAMPLES];
static int32_t carriers[CARRIERS];
static const int32_t pilots[PILOTS] = {-50, -40, 40, 50};
static const penstock_cf32 pilot_values[2 * PILOTS] = {{1, 0}, {-1, 0}, {1, 0},  {0, 1},
                                                       {1, 0}, {0, 1},  {-1, 0}, {1, 0}};
static int8_t want[SYMBOLS * CARRIERS * 4], got[sizeof want];

static penstock_ofdm_stream_desc describe(bool soft, size_t rows)
{
    penstock_ofdm_stream_desc desc =
        PENSTOCK_OFDM_STREAM_DESC(.n = N, .guard = GUARD, .carriers = carriers, .carrier_count = CARRIERS,
                                  .constellation = PENSTOCK_QAM16, .continuous = true, .soft = soft,
                                  .format = soft ? PENSTOCK_CS16 : PENSTOCK_CF32);
    if (rows) {
        desc.pilots = pilots;
        desc.pilot_count = PILOTS;
        desc.pilot_values = pilot_values;
        desc.pilot_rows = rows;
        desc.track = true;
    }
    return desc;
}

/* Symbols that give points too; bytes of their soft bits. */
static size_t with_points(penstock_context *context, const char *device, size_t rows)
{
    const penstock_ofdm_stream_desc desc = describe(false, rows);
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    penstock_stream *stream;
    size_t bytes = 0;
    CHECK_OK(penstock_ofdm_stream_open(&stream, context, &desc, device));
    CHECK_OK(penstock_stream_push(stream, samples, SAMPLES, NULL));
    CHECK_OK(penstock_stream_finish(stream));
    while (penstock_ofdm_stream_pull(stream, &result) == 1) {
        memcpy(want + bytes, result.soft, result.symbols * CARRIERS * 4);
        bytes += result.symbols * CARRIERS * 4;
    }
    penstock_stream_free(stream);
    return bytes;
}

static void check_device(penstock_context *context, const char *device, size_t rows)
{
    const penstock_ofdm_stream_desc desc = describe(true, rows);
    const size_t wanted = with_points(context, device, rows);
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    penstock_stream *stream;
    size_t taken, given = 1, made = 0, off = 0, strong = 0;
    uint64_t seed = 3;
    CHECK_OK(penstock_ofdm_stream_open(&stream, context, &desc, device));
    CHECK_OK(penstock_stream_get_info(stream, &info));
    CHECK_EQ(info.out_bytes, CARRIERS * 4);
    for (size_t at = 0; at < SAMPLES; at += taken) {
        const size_t piece = test_random(&seed) % 5000 + 1;
        CHECK_OK(penstock_stream_push(stream, integers + 2 * at, piece < SAMPLES - at ? piece : SAMPLES - at, &taken));
        CHECK_OK(penstock_stream_pull(stream, got + made, 20, at % 2, &given));
        made += given * info.out_bytes;
    }
    CHECK_OK(penstock_stream_finish(stream));
    for (given = 1; given; made += given * info.out_bytes)
        CHECK_OK(penstock_stream_pull(stream, got + made, (sizeof got - made) / info.out_bytes, true, &given));
    CHECK(made == wanted && made == sizeof want, "%s: %zu bytes of %zu", device, made, wanted);
    for (size_t i = 0; i < made; i++) {
        off += abs(got[i] - want[i]) > 1;
        strong += abs(want[i]) > 5;
    }
    CHECK(!off && strong > made / 4, "%s: %zu of %zu soft bits differ, %zu are strong", device, off, made, strong);
    penstock_stream_free(stream);
}

/* ---------------------------------------------------------------- decoded --------------------- */

enum { BITS = CARRIERS * 4 / 2 - 6 }; /* of a block that a symbol holds */

static int open_both(penstock_stream **symbols, penstock_stream **blocks, penstock_context *context, const char *device,
                     size_t rows)
{
    const penstock_ofdm_stream_desc desc = describe(true, rows);
    int status = penstock_ofdm_stream_open(symbols, context, &desc, device);
    return status ? status
                  : penstock_viterbi_blocks_open(blocks, context, &PENSTOCK_VITERBI_DESC(.bits = BITS), device);
}

/* By a link, over the host. */
static size_t decode_linked(penstock_context *context, const char *device, size_t rows)
{
    penstock_stream *symbols, *blocks;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t taken, given;
    CHECK_OK(open_both(&symbols, &blocks, context, device, rows));
    CHECK_OK(penstock_stream_get_info(blocks, &info));
    CHECK_OK(penstock_stream_link(symbols, blocks));
    CHECK_OK(penstock_stream_push(symbols, integers, SAMPLES, &taken));
    CHECK_EQ(taken, SAMPLES);
    CHECK_OK(penstock_stream_finish(symbols));
    CHECK_OK(penstock_stream_pull(blocks, want, SYMBOLS, true, &given));
    CHECK_EQ(given, SYMBOLS);
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
    return given * info.out_bytes;
}

/* Samples, soft bits and blocks in the device's memory: the bits of a link. False: it cannot. */
static bool decode_there(penstock_context *context, const char *device, size_t rows)
{
    const size_t bytes = decode_linked(context, device, rows);
    penstock_stream *symbols, *blocks;
    penstock_buffer *in, *soft, *out;
    penstock_queue *queue;
    size_t given;
    CHECK_OK(open_both(&symbols, &blocks, context, device, rows));
    const bool able = !penstock_stream_enqueue(symbols, NULL, SAMPLES, NULL, &given, NULL);
    if (able) {
        CHECK_OK(penstock_buffer_new(&in, context, device, sizeof integers));
        CHECK_OK(penstock_buffer_new(&soft, context, device, sizeof want));
        CHECK_OK(penstock_buffer_new(&out, context, device, bytes));
        CHECK_OK(penstock_queue_new(&queue, context, device));
        CHECK_OK(penstock_buffer_upload(in, integers, sizeof integers, queue));
        CHECK_OK(penstock_stream_enqueue(symbols, in, SAMPLES, soft, &given, queue));
        CHECK_EQ(given, SYMBOLS);
        CHECK_OK(penstock_stream_enqueue(blocks, soft, given, out, &given, queue));
        CHECK_EQ(given, SYMBOLS);
        CHECK_OK(penstock_buffer_download(out, got, bytes, queue));
        CHECK(!memcmp(got, want, bytes), "%s: other bits than by a link", device);
        penstock_queue_free(queue);
        penstock_buffer_free(in);
        penstock_buffer_free(soft);
        penstock_buffer_free(out);
    }
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
    return able;
}

static void check_refusals(penstock_context *context)
{
    penstock_ofdm_stream_desc desc = describe(true, 0);
    penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
    penstock_stream *stream;
    CHECK_OK(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"));
    CHECK_REFUSED(penstock_ofdm_stream_pull(stream, &result), PENSTOCK_ERR_ARGUMENT, "ofdm soft bits");
    penstock_stream_free(stream);
    desc.continuous = false;
    CHECK_REFUSED(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT, "continuous");
    desc.continuous = true;
    desc.format = PENSTOCK_PLANAR;
    CHECK_REFUSED(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT, "not of planar");
    desc.format = (penstock_format)77;
    CHECK_REFUSED(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT, "77");
    desc.format = PENSTOCK_CS16;
    desc.soft = false;
    CHECK_REFUSED(penstock_ofdm_stream_open(&stream, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT, "goes with soft");
}

int main(int count, char **arguments)
{
    static const char *const usual[] = {"cpu", "reference", "trace"};
    penstock_context *context;
    uint64_t seed = 7;
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        integers[i] = (int16_t)(6000 * test_uniform(&seed));
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)integers[2 * i] / 32768, (float)integers[2 * i + 1] / 32768};
    for (int i = 0; i < CARRIERS; i++)
        carriers[i] = i < CARRIERS / 2 ? i - CARRIERS / 2 : i - CARRIERS / 2 + 1;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < (count > 1 ? 1 : 3); i++) {
        const char *device = count > 1 ? arguments[1] : usual[i];
        if (!is_there(device)) {
            penstock_context_free(context);
            return test_skip(penstock_error_text());
        }
        for (size_t rows = 0; rows <= 2; rows++) {
            check_device(context, device, rows);
            if (strcmp(device, "reference")) /* which decodes, and slowly */
                CHECK(decode_there(context, device, rows) == (count > 1 && rows < 2), "%s: %zu rows, enqueued, or not",
                      device, rows);
        }
    }
    check_refusals(context);
    penstock_context_free(context);
    return test_finish();
}
