/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Viterbi streams: what was coded without blocks comes back, in any chunks the same bits, whose errors are those of the
 * whole decoded as one block; descriptions that are refused; failing allocations. */
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>

enum { BITS = 60000, MOST = 2 * BITS + 64 };

static penstock_context *context;
static uint8_t bits[BITS], coded[MOST], out[BITS + 64], other[BITS + 64], whole[BITS];
static int8_t soft[MOST];

/* Pushes chunks of up to `most` and pulls what is there; items out. */
static size_t run(const penstock_viterbi_desc *desc, const char *device, uint8_t *to, size_t count, size_t most,
                  bool flushes)
{
    penstock_stream *stream = NULL;
    uint64_t state = most;
    size_t total = 0, given;
    CHECK_OK(penstock_viterbi_stream_open(&stream, context, desc, device));
    if (!stream)
        return 0;
    for (size_t at = 0, taken = 0; at < count; at += taken) {
        size_t chunk = 1 + (size_t)(test_random(&state) >> 20) % most;
        chunk = count - at < chunk ? count - at : chunk;
        CHECK_OK(penstock_stream_push(stream, soft + at, chunk, &taken));
        if (flushes && test_random(&state) >> 20 & 1)
            CHECK_OK(penstock_stream_flush(stream));
        CHECK_OK(penstock_stream_pull(stream, to + total, taken ? 1 + most / 3 : BITS + 64 - total, false, &given));
        total += given;
    }
    CHECK_OK(penstock_stream_finish(stream));
    do {
        CHECK_OK(penstock_stream_pull(stream, to + total, BITS + 64 - total, true, &given));
        total += given;
    } while (given);
    penstock_stream_free(stream);
    return total;
}

static size_t errors(const uint8_t *decoded, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += decoded[i] != bits[i];
    return wrong;
}

static void test_code(const char *name, double sigma)
{
    penstock_viterbi_desc desc =
        PENSTOCK_VITERBI_DESC(.bits = BITS, .result = PENSTOCK_BITS_UNPACKED, .end = PENSTOCK_TRELLIS_OPEN);
    size_t sent = 0, got, streamed, together;
    uint64_t state = 5;
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_viterbi_code(&desc, name));
    for (size_t i = 0; i < BITS; i++)
        bits[i] = test_random(&state) >> 40 & 1;
    CHECK_OK(penstock_viterbi_sent(&sent, &desc));
    CHECK_OK(penstock_viterbi_encode(&desc, coded, bits, 1));
    for (size_t i = 0; i < sent; i++) {
        double noise = 0;
        for (int k = 0; k < 12; k++)
            noise += 0.5 * test_uniform(&state);
        double value = 32 * ((coded[i] ? -1 : 1) + sigma * noise);
        soft[i] = (int8_t)lrint(value > 127 ? 127 : value < -127 ? -127 : value);
    }
    CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "cpu"));
    CHECK_OK(penstock_plan_run(plan, soft, whole, 1));
    penstock_plan_free(plan);
    desc.bits = 500;
    desc.batch = 7;
    got = run(&desc, "cpu", out, sent, sent, false);
    CHECK(got == BITS, "%s: %zu bits of %d", name, got, BITS);
    streamed = errors(out, BITS - 100);
    together = errors(whole, BITS - 100);
    CHECK(together > (sigma > 0 ? 20u : 0u) || sigma == 0, "%s: %zu errors are too few to be compared", name, together);
    CHECK((double)streamed <= 1.1 * (double)together + 12, "%s: %zu errors, as one block %zu", name, streamed,
          together);
    for (size_t most = 1; most <= 30000; most *= 31) {
        size_t again = run(&desc, "cpu", other, sent, most, most > 1000);
        CHECK(again == got && !memcmp(out, other, got), "%s: chunks of up to %zu give other bits", name, most);
    }
    for (int order = 0; order < 2; order++) {
        desc.result = order ? PENSTOCK_BITS_MSB_FIRST : PENSTOCK_BITS_LSB_FIRST;
        size_t again = run(&desc, "cpu", other, sent, 777, true), wrong = 0;
        for (size_t i = 0; i < BITS; i++)
            wrong += (other[i / 8] >> (order ? 7 - i % 8 : i % 8) & 1) != out[i];
        CHECK(again == BITS / 8 && !wrong, "%s: %zu packed bits differ", name, wrong);
    }
}

static void test_refused(void)
{
    penstock_stream *stream = (penstock_stream *)&stream;
    CHECK_EQ(penstock_viterbi_stream_open(&stream, context, &PENSTOCK_VITERBI_DESC(.bits = 8), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK(!stream && strstr(penstock_error_text(), "OPEN"), "%s", penstock_error_text());
    CHECK_EQ(penstock_viterbi_stream_open(&stream, context,
                                          &PENSTOCK_VITERBI_DESC(.bits = 1 << 20, .end = PENSTOCK_TRELLIS_OPEN), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_viterbi_stream_open(NULL, context, NULL, "cpu"), PENSTOCK_ERR_ARGUMENT);
}

/* Allocation k fails for every k; nothing that was taken is lost by that. */
static void test_memory(void)
{
    const penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = 256, .batch = 2, .end = PENSTOCK_TRELLIS_OPEN);
    const long live = penstock__memory_live();
    const size_t count = 4000, items = run(&desc, "cpu", out, count, count, false);
    long k = 0;
    bool failed = true;
    for (; failed && k < 1000; k++) {
        penstock_stream *stream = NULL;
        size_t total = 0, given = 0, at = 0;
        penstock__memory_fail_at(k);
        failed = penstock_viterbi_stream_open(&stream, context, &desc, "cpu");
        while (stream && (at < count || given)) {
            size_t taken = 0;
            failed |= at < count && penstock_stream_push(stream, soft + at, count - at, &taken);
            at += taken;
            failed |= !!penstock_stream_pull(stream, other + total, 1000, false, &given);
            total += given;
        }
        for (int tries = 0; stream && tries < 2 && penstock_stream_finish(stream); tries++)
            failed = true;
        penstock__memory_fail_at(-1);
        if (stream)
            CHECK_OK(penstock_stream_pull(stream, other + total, 1000, true, &given));
        total += stream ? given : 0;
        CHECK(!stream || (total == items && !memcmp(out, other, items)), "allocation %ld: %zu of %zu items", k, total,
              items);
        penstock_stream_free(stream);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!failed && k > 5, "%ld allocations were failed", k);
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, NULL));
    test_code("ccsds", 0);
    test_code("ccsds", 0.75);
    test_code("dvb:3/4", 0.55);
    test_code("dvb:7/8", 0.45);
    test_refused();
    test_memory();
    penstock_context_free(context);
    return test_finish();
}
