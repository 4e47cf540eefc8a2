/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Soft bits of OFDM symbols stay on the device on their way to a decoder of blocks, however these lie in the symbols:
 * the bits that were coded, and of the streams one by one whatever the pieces, with flushes, resets, a latency, and
 * streams freed in between. While calls of a driver for tests or allocations fail, no bit is lost.
 *
 * Argument: a device.
 */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "link_run.h"
#include "shim_calls.h"

#include <math.h>

enum { N = 512, GUARD = 16, STEP = N + GUARD, CARRIERS = 24, SOFT = 2 * CARRIERS, BITS = SOFT / 2 - 6 };
enum { KNOWN = 61, BATCH = (16 << 20) / (4 * STEP) + 1, MOST = 6 * BATCH + 1234, FEW = 4 * BATCH + 99, AMPLITUDE = 64 };

static const char *device = "opencl";
static int16_t *integers; /* of MOST symbols, of which each one that is KNOWN further is the same */
static unsigned char data[KNOWN][(BITS + 7) / 8];
static char *between, *want, *got; /* of `room` bytes */

/* ---------------------------------------------------------------- the signal ------------------ */

static void put_symbol(int16_t *to, const uint8_t *coded)
{
    for (int t = 0; t < STEP; t++) {
        double re = 0, im = 0;
        for (int c = 0; c < CARRIERS; c++) {
            const int carrier = c < CARRIERS / 2 ? c - CARRIERS / 2 : c - CARRIERS / 2 + 1;
            const double turns = 6.283185307179586 * carrier * (t - GUARD) / N;
            const double x = coded[2 * c] ? AMPLITUDE : -AMPLITUDE, y = coded[2 * c + 1] ? AMPLITUDE : -AMPLITUDE;
            re += x * cos(turns) - y * sin(turns);
            im += x * sin(turns) + y * cos(turns);
        }
        to[2 * t] = (int16_t)lrint(re);
        to[2 * t + 1] = (int16_t)lrint(im);
    }
}

/* In each symbol a block of the usual code. */
static void make_signal(void)
{
    static uint8_t coded[KNOWN][SOFT];
    uint64_t seed = 9;
    for (int i = 0; i < KNOWN; i++)
        for (int bit = 0; bit < BITS; bit++)
            data[i][bit / 8] |= (unsigned char)((test_random(&seed) & 1) << bit % 8);
    CHECK_OK(penstock_viterbi_encode(&PENSTOCK_VITERBI_DESC(.bits = BITS), coded[0], data[0], KNOWN));
    for (int i = 0; i < KNOWN; i++)
        put_symbol(integers + (size_t)i * 2 * STEP, coded[i]);
    for (size_t i = KNOWN; i < MOST; i++)
        memcpy(integers + i * 2 * STEP, integers + (i - KNOWN) * 2 * STEP, 2 * STEP * sizeof *integers);
}

/* ---------------------------------------------------------------- streams --------------------- */

static int open_symbols(penstock_stream **symbols, penstock_context *context, const char *on)
{
    int32_t carriers[CARRIERS];
    for (int c = 0; c < CARRIERS; c++)
        carriers[c] = c < CARRIERS / 2 ? c - CARRIERS / 2 : c - CARRIERS / 2 + 1;
    const penstock_ofdm_stream_desc desc =
        PENSTOCK_OFDM_STREAM_DESC(.n = N, .guard = GUARD, .carriers = carriers, .carrier_count = CARRIERS,
                                  .constellation = PENSTOCK_QPSK, .continuous = true, .soft = true,
                                  .format = PENSTOCK_CS16);
    return penstock_ofdm_stream_open(symbols, context, &desc, on);
}

static int open_blocks(penstock_stream **blocks, penstock_context *context, const char *on, size_t bits)
{
    penstock_ldpc_desc ldpc = PENSTOCK_LDPC_DESC();
    if (bits)
        return penstock_viterbi_blocks_open(blocks, context, &PENSTOCK_VITERBI_DESC(.bits = bits), on);
    CHECK_OK(penstock_ldpc_code(&ldpc, "wifi:648:1/2"));
    return penstock_ldpc_blocks_open(blocks, context, &ldpc, on);
}

static int open_chain(penstock_stream **symbols, penstock_stream **blocks, penstock_context *context, const char *on,
                      size_t bits)
{
    int status = open_symbols(symbols, context, on);
    if (!status)
        status = open_blocks(blocks, context, on, bits);
    return status ? status : penstock_stream_link(*symbols, *blocks);
}

/* One by one; bytes of blocks. */
static size_t run_apart(penstock_context *context, size_t samples, size_t bits)
{
    penstock_stream *symbols, *blocks;
    size_t soft, made;
    CHECK_OK(open_symbols(&symbols, context, device));
    CHECK_OK(open_blocks(&blocks, context, device, bits));
    CHECK_OK(run(symbols, symbols, integers, samples, between, &soft, 0));
    CHECK_OK(run(blocks, blocks, between, soft / info_of(blocks).in_bytes, want, &made, 0));
    CHECK(soft == samples / STEP * SOFT && made, "%zu soft bits, %zu bytes", soft, made);
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
    return made;
}

/* Whether they are the blocks' bytes from number `first` on. */
static bool is_data(const char *bytes, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if ((unsigned char)bytes[i - first] != data[i / sizeof data[0] % KNOWN][i % sizeof data[0]])
            return false;
    return true;
}

/* ---------------------------------------------------------------- bits ------------------------ */

static void check_pair(penstock_context *context, size_t bits, uint64_t seeds, const char *what)
{
    const size_t samples = (size_t)MOST * STEP - 7, wanted = run_apart(context, samples, bits);
    penstock_stream *symbols, *blocks;
    size_t made;
    CHECK_OK(open_chain(&symbols, &blocks, context, device, bits));
    CHECK(info_of(blocks).linked_on, "%s: linked by the host alone", what);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        if (seed && !test_drawn(bits + seed, 2))
            continue;
        CHECK_OK(run(symbols, blocks, integers, samples, got, &made, seed));
        CHECK(made == wanted && !memcmp(got, want, wanted), "%s, seed %d: %zu bytes of %zu, or others", what, (int)seed,
              made, wanted);
        const penstock_stream_stats one = stats_of(symbols), two = stats_of(blocks);
        CHECK(one.out == samples / STEP && two.in == one.out * SOFT / info_of(blocks).in_bytes,
              "%s, seed %d: %d symbols, %d blocks", what, (int)seed, (int)one.out, (int)two.in);
        CHECK(two.handed_over && two.handed_over <= two.in && (seed % 3 == 1 || 10 * two.handed_over > 6 * two.in),
              "%s, seed %d: of %d blocks %d stay on the device", what, (int)seed, (int)two.in, (int)two.handed_over);
        CHECK(!one.fallbacks && !two.fallbacks, "%s: statistics", what);
        CHECK(seed || two.handed_over == two.in, "%s: of %d blocks %d stay on the device, with the last ones", what,
              (int)two.in, (int)two.handed_over);
        CHECK_OK(penstock_stream_reset(symbols));
        CHECK_OK(push(symbols, blocks, integers, 0, samples / 2, got, &(size_t){0}, seed));
        CHECK_OK(penstock_stream_reset(symbols)); /* with some on its way */
    }
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
}

static void check_pairs(penstock_context *context)
{
    check_pair(context, BITS, 4, "a block a symbol");
    CHECK(is_data(want, 0, (MOST - 1) * sizeof data[0]), "other bits than were coded");
    static const struct {
        size_t bits;
        uint64_t seeds;
        const char *what;
    } others[] = {{6, 2, "two blocks a symbol"},
                  {3 * SOFT / 2 - 6, 4, "a block of three symbols"},
                  {94, 4, "blocks of 200 soft bits"},
                  {250, 4, "blocks of 512 soft bits, which go on behind what the host holds"},
                  {0, 2, "LDPC blocks of 648"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (test_drawn(i, 2))
            check_pair(context, others[i].bits, others[i].seeds, others[i].what);
}

/* ---------------------------------------------------------------- flush, life, latency -------- */

/* All that was pushed comes. */
static void check_flush(penstock_context *context, size_t bits)
{
    const size_t samples = (size_t)MOST * STEP, wanted = run_apart(context, samples, bits);
    penstock_stream *symbols, *blocks;
    size_t made = 0;
    uint64_t seed = 4;
    CHECK_OK(open_chain(&symbols, &blocks, context, device, bits));
    for (size_t at = 0, more; at < samples; at += more) {
        more = test_random(&seed) % (samples / 2) + 1;
        more = more < samples - at ? more : samples - at;
        CHECK_OK(push(symbols, blocks, integers, at, at + more, got, &made, 2));
        CHECK_OK(penstock_stream_flush(symbols));
        CHECK_OK(pull(blocks, got, &made, SIZE_MAX, true));
        CHECK_EQ(made / info_of(blocks).out_bytes, (at + more) / STEP * SOFT / info_of(blocks).in_bytes);
    }
    CHECK(made == wanted && !memcmp(got, want, wanted), "flushed: %zu bytes of %zu, or others", made, wanted);
    CHECK(stats_of(blocks).handed_over, "flushed: nothing stays on the device");
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
}

/* Samples from `at` on until no more are taken, as no result is read. */
static size_t fill(penstock_stream *symbols, size_t at, size_t samples)
{
    size_t taken = 1;
    while (at < samples && taken) {
        const size_t left = samples - at, piece = left < STEP * 100 + 7 ? left : STEP * 100 + 7;
        CHECK_OK(penstock_stream_push(symbols, integers + 2 * at, piece, &taken));
        at += taken;
    }
    return at;
}

/* An end that comes while results wait to be read is there once they are, and no sample before. */
static void check_end_of_full(penstock_context *context, size_t bits)
{
    const size_t samples = (size_t)MOST * STEP, wanted = run_apart(context, samples, bits);
    penstock_stream *symbols, *blocks;
    size_t made = 0, at = 0, taken;
    CHECK_OK(open_chain(&symbols, &blocks, context, device, bits));
    for (bool first = true; at < samples; first = false) {
        at = fill(symbols, at, samples);
        const size_t due = at / STEP * SOFT / info_of(blocks).in_bytes;
        CHECK_OK(at < samples ? penstock_stream_flush(symbols) : penstock_stream_finish(symbols));
        if (at < samples)
            CHECK_OK(penstock_stream_push(symbols, integers + 2 * at, samples - at, &taken));
        CHECK(at == samples || !taken, "%zu samples are taken before those are through", taken);
        CHECK_OK(pull(blocks, got, &made, SIZE_MAX, true));
        CHECK_EQ(made / info_of(blocks).out_bytes, due);
        CHECK(!first || stats_of(blocks).handed_over == due, "of %zu blocks %d stay on the device", due,
              (int)stats_of(blocks).handed_over);
    }
    CHECK(made == wanted && !memcmp(got, want, wanted), "ended full: %zu bytes of %zu, or others", made, wanted);
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
}

/* With results that wait to be pulled a flush holds for what has come since. */
static void check_flush_alone(penstock_context *context)
{
    penstock_stream *symbols;
    size_t taken, given;
    CHECK_OK(open_symbols(&symbols, context, device));
    for (int i = 1; i <= 2; i++) {
        CHECK_OK(penstock_stream_push(symbols, integers, 10 * STEP, &taken));
        CHECK_OK(penstock_stream_flush(symbols));
    }
    CHECK_OK(penstock_stream_pull(symbols, got, 100, false, &given));
    CHECK_EQ(given, 20);
    penstock_stream_free(symbols);
}

/* With much on its way one of the two is freed; the other one goes on where the link has left it. */
static void check_life(penstock_context *context, size_t bits)
{
    const size_t samples = (size_t)MOST * STEP, wanted = run_apart(context, samples, bits);
    penstock_stream *symbols, *blocks;
    size_t made = 0;
    CHECK_OK(open_chain(&symbols, &blocks, context, device, bits));
    CHECK_OK(push(symbols, blocks, integers, 0, samples * 3 / 4, got, &made, 0));
    penstock_stream_free(blocks);
    const size_t given = (size_t)info_of(symbols).given * SOFT;
    made = 0;
    CHECK_OK(push(symbols, symbols, integers, samples * 3 / 4, samples, got, &made, 0));
    CHECK_OK(penstock_stream_finish(symbols));
    CHECK_OK(pull(symbols, got, &made, SIZE_MAX, true));
    CHECK(given && made == (size_t)MOST * SOFT - given && !memcmp(got, between + given, made),
          "alone it gives %zu soft bits after %zu, or others", made, given);
    penstock_stream_free(symbols);

    CHECK_OK(open_chain(&symbols, &blocks, context, device, bits));
    made = 0;
    CHECK_OK(push(symbols, blocks, integers, 0, samples * 3 / 4, got, &made, 0));
    penstock_stream_free(symbols);
    const size_t at = (size_t)stats_of(blocks).in, all = (size_t)MOST * SOFT / info_of(blocks).in_bytes;
    CHECK_OK(push(blocks, blocks, between, at, all, got, &made, 0));
    CHECK_OK(penstock_stream_finish(blocks));
    CHECK_OK(pull(blocks, got, &made, SIZE_MAX, true));
    CHECK(at && made == wanted && !memcmp(got, want, wanted), "from block %zu on alone: %zu bytes of %zu", at, made,
          wanted);
    penstock_stream_free(blocks);
}

/* What a batch or a piece lacks comes once its time is over, without a wait. */
static void check_latency(penstock_context *context, size_t bits, size_t samples)
{
    penstock_stream *symbols, *blocks;
    size_t made = 0;
    const double until = penstock__now_s() + 60;
    CHECK_OK(open_chain(&symbols, &blocks, context, device, bits));
    CHECK_OK(penstock_stream_set_max_latency(symbols, LATENCY_S));
    CHECK_OK(penstock_stream_set_max_latency(blocks, LATENCY_S));
    CHECK_OK(push(symbols, blocks, integers, 0, samples, got, &made, 0));
    const size_t wanted = samples / STEP * SOFT / info_of(blocks).in_bytes;
    while (made / info_of(blocks).out_bytes < wanted && penstock__now_s() < until)
        CHECK_OK(pull(blocks, got, &made, SIZE_MAX, false));
    CHECK_EQ(made / info_of(blocks).out_bytes, wanted);
    CHECK(stats_of(blocks).handed_over, "with a latency nothing stays on the device");
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
}

/* Batches that the decoder has from elsewhere, all of them on their way, do not keep it from the device. */
static void check_full(penstock_context *context)
{
    penstock_stream *symbols, *blocks;
    size_t taken = 1, pushed = 0, made = 0, count = 0;
    CHECK_OK(open_symbols(&symbols, context, device));
    CHECK_OK(open_blocks(&blocks, context, device, BITS));
    const size_t batch = (size_t)info_of(blocks).batch;
    void *soft = calloc(batch, SOFT);
    for (; taken; pushed += taken)
        CHECK_OK(penstock_stream_push(blocks, soft, batch, &taken));
    CHECK(pushed > 2 * batch, "only %zu blocks are on their way", pushed);
    CHECK_OK(penstock_stream_link(symbols, blocks));
    for (int i = 0; i < 50 && !stats_of(blocks).handed_over; i++, count += made / info_of(blocks).out_bytes) {
        made = 0;
        CHECK_OK(push(symbols, blocks, integers, 0, (size_t)BATCH * STEP, got, &made, 0));
        pushed += BATCH;
    }
    CHECK(stats_of(blocks).handed_over, "nothing stays on the device");
    CHECK_OK(penstock_stream_finish(symbols));
    for (made = 1; made; count += made / info_of(blocks).out_bytes) {
        made = 0;
        CHECK_OK(pull(blocks, got, &made, SIZE_MAX, true));
    }
    CHECK(count == pushed, "%zu blocks of %zu", count, pushed);
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
    free(soft);
}

static void keep_line(void *line, penstock_log_level level, const char *text)
{
    (void)level;
    snprintf(line, 200, "%s", text);
}

/* The CPU begins; once the device is ready it goes on there. */
static void check_handover(void)
{
    const size_t together = (size_t)BATCH / KNOWN * KNOWN; /* symbols, which end where the signal begins */
    const double until = penstock__now_s() + 120;
    char name[64], line[200] = "";
    penstock_context *context;
    penstock_stream *symbols, *blocks;
    size_t pushed = 0, pulled = 0, wrong = 0;
    snprintf(name, sizeof name, "prefer:%s", device);
    CHECK_OK(penstock_context_new(
        &context, &PENSTOCK_CONTEXT_DESC(.cpu_while_compiling = true, .log = keep_line, .log_user = line)));
    CHECK_OK(open_chain(&symbols, &blocks, context, name, BITS));
    while (stats_of(blocks).handed_over < 2 * BATCH && penstock__now_s() < until) {
        size_t made = 0;
        CHECK_OK(push(symbols, blocks, integers, 0, together * STEP, got, &made, 0));
        CHECK_OK(pull(blocks, got, &made, SIZE_MAX, false));
        pushed += together;
        wrong += !is_data(got, pulled, made);
        pulled += made;
    }
    size_t made = 0;
    CHECK_OK(penstock_stream_finish(symbols));
    CHECK_OK(pull(blocks, got, &made, SIZE_MAX, true));
    wrong += !is_data(got, pulled, made);
    CHECK(!wrong && pulled + made == pushed * sizeof data[0], "%zu symbols: %zu bytes, %zu times wrong", pushed,
          pulled + made, wrong);
    CHECK(stats_of(symbols).cpu_while_compiling && stats_of(blocks).handed_over, "%d batches of the CPU, %d blocks, %s",
          (int)stats_of(symbols).cpu_while_compiling, (int)stats_of(blocks).handed_over, line);
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- failures -------------------- */

static bool is_all(const penstock_stream *symbols, const penstock_stream *blocks, size_t made)
{
    return made == FEW * sizeof data[0] && is_data(got, 0, made) && stats_of(symbols).out == FEW &&
           stats_of(blocks).in == FEW;
}

/* Call k fails, or all from it on, with the CPU behind. True: the failure was not reached. */
static bool fail_call(penstock_context *context, void (*fail)(long), long k, uint64_t *stayed)
{
    penstock_stream *symbols = NULL, *blocks = NULL;
    size_t made;
    CHECK_OK(open_chain(&symbols, &blocks, context, "prefer:opencl", BITS));
    fail(k);
    int status = run(symbols, blocks, integers, (size_t)FEW * STEP, got, &made, 2);
    const bool beyond = shim.left() >= 0;
    shim.fail_at(-1);
    CHECK(!status && is_all(symbols, blocks, made), "call %ld: %d, %zu bytes", k, status, made);
    *stayed += stats_of(blocks).handed_over;
    penstock_stream_free(blocks);
    penstock_stream_free(symbols);
    return beyond;
}

static void sweep_calls(void (*fail)(long), const char *how)
{
    penstock_context *context;
    const long live = penstock__memory_live();
    long k = 0;
    uint64_t stayed = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (bool beyond = false; !beyond && k < 2000; k++)
        beyond = test_drawn((uint64_t)k, 41) && fail_call(context, fail, k, &stayed);
    penstock_context_free(context);
    printf("%s: call %ld was beyond the last\n", how, k);
    CHECK(k > 20 && k < 2000 && stayed, "%s: %ld calls, %d blocks stay", how, k, (int)stayed);
    CHECK(!shim.live(), "%s: %ld objects of the driver leaked", how, shim.live());
    CHECK(penstock__memory_live() == live, "%s: %ld blocks leaked", how, penstock__memory_live() - live);
}

/* Allocation k of a chain's life fails: an error of a stream, after which a reset is enough, or nothing lost. */
static void sweep_memory(void)
{
    penstock_context *context;
    long failed = 0, k = 0;
    const long live = penstock__memory_live();
    CHECK_OK(penstock_context_new(&context, NULL));
    for (bool reached = true; reached && k < 2000; k++) {
        if (!test_drawn((uint64_t)k, 19))
            continue;
        penstock_stream *symbols = NULL, *blocks = NULL;
        size_t made;
        const long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        const bool opened = !open_chain(&symbols, &blocks, context, device, BITS);
        int status = opened ? run(symbols, blocks, integers, (size_t)FEW * STEP, got, &made, 2) : PENSTOCK_ERR_MEMORY;
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        failed += reached;
        if (opened && status) {
            CHECK_OK(penstock_stream_reset(symbols));
            CHECK_OK(run(symbols, blocks, integers, (size_t)FEW * STEP, got, &made, 2));
        }
        CHECK(!opened || is_all(symbols, blocks, made), "allocation %ld: %zu bytes", k, made);
        penstock_stream_free(symbols);
        penstock_stream_free(blocks);
    }
    CHECK(failed > 3 && k < 2000, "%ld allocations failed", failed);
    printf("%ld allocations\n", failed);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
}

/* Whether the device demodulates in one kernel, and decodes. */
static bool is_there(penstock_context *context)
{
    penstock_stream *symbols = NULL, *blocks = NULL;
    size_t given;
    int status = open_symbols(&symbols, context, device);
    if (!status && !(status = open_blocks(&blocks, context, device, BITS)))
        status = penstock_stream_enqueue(symbols, NULL, STEP, NULL, &given, NULL);
    penstock_stream_free(symbols);
    penstock_stream_free(blocks);
    return !status;
}

int main(int count, char **arguments)
{
    penstock_context *context;
    const long live = penstock__memory_live();
    device = count > 1 ? arguments[1] : device;
    CHECK_OK(penstock_context_new(&context, NULL));
    if (!is_there(context)) {
        penstock_context_free(context);
        return test_skip(penstock_error_text());
    }
    room = (size_t)MOST * SOFT + (1 << 20);
    most_piece = 2 * (size_t)BATCH * STEP;
    integers = malloc((size_t)MOST * 2 * STEP * sizeof *integers);
    between = malloc(room), want = malloc(room), got = malloc(room);
    make_signal();
    check_pairs(context);
    check_flush_alone(context);
    check_full(context);
    for (int i = 0; i < 2; i++) { /* blocks of a symbol, and of others than whole symbols */
        if (test_drawn((uint64_t)i, 2))
            check_flush(context, i ? 250 : BITS);
        if (test_drawn((uint64_t)i + 2, 2))
            check_end_of_full(context, i ? 250 : BITS);
        if (test_drawn((uint64_t)i + 4, 2))
            check_life(context, i ? 250 : BITS);
    }
    check_latency(context, 94, (size_t)MOST * STEP * 3 / 4 + 12345);
    check_latency(context, 94, (size_t)3 * BATCH * STEP);
    penstock_context_free(context);
    check_handover();
    CHECK_EQ(penstock__memory_live(), live);
    if (shim_load("PENSTOCK_OPENCL_LIBRARY") && shim.fail_from) {
        sweep_calls(shim.fail_at, "once");
        sweep_calls(shim.fail_from, "from it on");
        sweep_memory();
    }
    free(integers), free(between), free(want), free(got);
    return test_finish();
}
