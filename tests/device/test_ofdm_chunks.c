/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM batches that go to a device in many chunks: symbols at even distances, with and without a carrier offset, and
 * with one somewhere among them that is out of line, of another frame, turned or wrong. Soft bits are within one of
 * those of the CPU, and the same bits as of short batches whose symbols are listed one by one.
 */
#include "ops/ofdm/ofdm.h"
#include "test.h"

enum { N = 16, GUARD = 4, CARRIERS = 12, BITS = 2, ROW = CARRIERS * BITS, STEP = N + GUARD };
enum { SYMBOLS = 500000, SAMPLES = SYMBOLS * STEP + 8, FRAMES = 2, SHORT = 5000 };
enum { CHUNK = 52429 }; /* symbols that go to the device at once, by ofdm_flow.c */

static int16_t *samples;
static penstock_cf32 channels[FRAMES][N];
static penstock_ofdm_frame frames[FRAMES];
static penstock_ofdm_symbol *symbols;
static int8_t *got, *want, *listed;
static int executed;

static uint32_t random_bits(void)
{
    static uint32_t state = 12345;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

static void make_signal(void)
{
    samples = malloc(2 * SAMPLES * sizeof *samples);
    symbols = malloc((SHORT + 1 + SYMBOLS) * sizeof *symbols);
    got = malloc((size_t)SYMBOLS * ROW);
    want = malloc((size_t)SYMBOLS * ROW);
    listed = malloc((size_t)SYMBOLS * ROW);
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        samples[i] = (int16_t)(random_bits() >> 18) - 8192;
    for (int f = 0; f < FRAMES; f++) {
        for (int k = 0; k < N; k++)
            channels[f][k] = (penstock_cf32){1 + (float)(random_bits() % 100) / 100, (float)f - 0.5F};
        frames[f] = (penstock_ofdm_frame){
            .channel = channels[f], .noise = 0.02F + (float)f / 50, .constellation = PENSTOCK_QPSK, .origin = 77};
    }
}

static void line_up(double cfo)
{
    for (size_t i = 0; i < SYMBOLS; i++)
        symbols[i] = (penstock_ofdm_symbol){.start = 3 + i * STEP};
    frames[0].cfo = cfo;
    frames[1].cfo = -2 * cfo;
}

static int make(penstock_ofdm **ofdm, penstock_context *context, const char *device)
{
    static const int32_t carriers[CARRIERS] = {-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6};
    return penstock_ofdm_new(ofdm, context,
                             &PENSTOCK_OFDM_DESC(.n = N, .guard = GUARD, .window_offset = 1, .carriers = carriers,
                                                 .carrier_count = CARRIERS, .format = PENSTOCK_CS16,
                                                 .tracking = PENSTOCK_TRACK_GIVEN, .max_constellation = PENSTOCK_QPSK),
                             device);
}

static int run(penstock_ofdm *ofdm, const penstock_ofdm_symbol *from, size_t count, int8_t *soft)
{
    return penstock_ofdm_run(ofdm,
                             &PENSTOCK_OFDM_BATCH(.samples = samples, .sample_count = SAMPLES, .frames = frames,
                                                  .frame_count = FRAMES, .symbols = from, .symbol_count = count),
                             &PENSTOCK_OFDM_RESULT(.soft = soft));
}

/* Symbols `first` on, and one more that is not where the next would be: so all are listed. */
static void run_listed(penstock_ofdm *ofdm, size_t first, size_t count)
{
    static int8_t soft[(SHORT + 1) * ROW];
    penstock_ofdm_symbol *some = symbols + SYMBOLS;
    memcpy(some, symbols + first, count * sizeof *some);
    some[count] = some[count - 1];
    some[count].start += 1;
    CHECK_OK(run(ofdm, some, count + 1, soft));
    memcpy(listed + first * ROW, soft, count * ROW);
}

static void compare(const char *what, penstock_ofdm *ofdm, penstock_ofdm *cpu)
{
    size_t far = 0, values = (size_t)SYMBOLS * ROW;
    uint64_t chunks = penstock__ofdm_fused_blocks(ofdm);
    memset(got, 99, values);
    CHECK_OK(run(ofdm, symbols, SYMBOLS, got));
    CHECK(penstock__ofdm_fused_blocks(ofdm) - chunks >= 9, "%s: %llu chunks", what,
          (unsigned long long)(penstock__ofdm_fused_blocks(ofdm) - chunks));
    CHECK_OK(run(cpu, symbols, SYMBOLS, want));
    for (size_t i = 0; i < values; i++)
        far += abs(got[i] - want[i]) > 1;
    CHECK(!far, "%s: %zu of %zu soft bits are off by more than one", what, far, values);
    for (size_t first = 0; first < SYMBOLS; first += SHORT)
        run_listed(ofdm, first, SHORT);
    CHECK(!memcmp(got, listed, values), "%s: other bits than with all symbols listed", what);
    executed++;
}

/* Symbol `odd` is wrong: the device says what the CPU says. */
static void compare_refusal(const char *what, penstock_ofdm *ofdm, penstock_ofdm *cpu)
{
    char text[300];
    int status = run(cpu, symbols, SYMBOLS, want);
    snprintf(text, sizeof text, "%s", penstock_error_text());
    CHECK(status == PENSTOCK_ERR_ARGUMENT && run(ofdm, symbols, SYMBOLS, got) == status, "%s: not refused", what);
    CHECK(!strcmp(text, penstock_error_text()), "%s: '%s', the CPU says '%s'", what, penstock_error_text(), text);
    executed++;
}

static void check_odd(penstock_ofdm *ofdm, penstock_ofdm *cpu, size_t odd)
{
    static const penstock_ofdm_symbol good[] = {{.start = 1}, {.frame = 1}, {.phase = 0.5F}, {.slope = -0.1F}},
                                      bad[] = {{.start = SAMPLES}, {.frame = FRAMES}, {.phase = INFINITY}};
    char what[40];
    snprintf(what, sizeof what, "odd symbol %zu", odd);
    penstock_ofdm_symbol *symbol = &symbols[odd], usual = *symbol;
    for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
        bool wrong = i >= sizeof good / sizeof *good;
        *symbol = wrong ? bad[i - sizeof good / sizeof *good] : good[i];
        symbol->start += usual.start;
        if (wrong)
            compare_refusal(what, ofdm, cpu);
        else if (i == odd % (sizeof good / sizeof *good))
            compare(what, ofdm, cpu);
    }
    *symbol = usual;
}

/* Channels change from batch to batch, and the frame behind the first chunk: a slot must not go on with the gains that
 * it had. */
/* The same symbols with the samples on the device, all at once and by a second call without a frame. */
static void compare_enqueued(const char *what, penstock_ofdm *ofdm, penstock_context *context, const char *device)
{
    const size_t first = 1000, values = (SYMBOLS - first) * ROW, bytes = (SYMBOLS - first) * STEP * 2 * sizeof *samples;
    penstock_ofdm_frame frame = frames[0];
    penstock_queue *queue = NULL;
    penstock_buffer *in = NULL, *out = NULL;
    for (size_t i = 0; i < SYMBOLS; i++)
        symbols[i].frame = 0;
    CHECK_OK(run(ofdm, symbols, SYMBOLS, want));
    CHECK_OK(penstock_queue_new(&queue, context, device));
    CHECK_OK(penstock_buffer_new(&in, context, device, bytes));
    CHECK_OK(penstock_buffer_new(&out, context, device, values));
    for (int again = 0; again < 2; again++) {
        size_t at = 10 + 20 * (size_t)again; /* the offset's phase is counted from the first sample of each call */
        memset(got, 99, values);
        CHECK_OK(penstock_buffer_upload(in, samples + 2 * (3 + at * STEP), bytes, queue));
        frame.origin = (uint64_t)77 - 3 - at * STEP; /* modulo 2^64 */
        CHECK_OK(penstock_ofdm_enqueue(ofdm, again ? NULL : &frame, in, out, SYMBOLS - first, queue));
        CHECK_OK(penstock_buffer_download(out, got, values, queue));
        if (!again || frame.cfo == 0)
            CHECK(!memcmp(got, want + at * ROW, values), "%s, call %d: other bits on the device", what, again);
    }
    CHECK_EQ(penstock_ofdm_enqueue(ofdm, NULL, in, out, SYMBOLS, queue), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_enqueue(ofdm, NULL, in, out, SIZE_MAX / 8, queue), PENSTOCK_ERR_ARGUMENT);
    penstock_buffer_free(in);
    penstock_buffer_free(out);
    penstock_queue_free(queue);
    executed++;
}

static void check_gains(penstock_ofdm *ofdm, penstock_ofdm *cpu)
{
    for (int change = 0; change < 4; change++) {
        for (int k = 0; k < N; k++)
            channels[change % FRAMES][k].im += 0.75F;
        line_up(change > 1 ? 1.7e-3 : 0);
        for (size_t i = change ? CHUNK : SYMBOLS; i < SYMBOLS; i++)
            symbols[i].frame = 1;
        compare("gains", ofdm, cpu);
    }
}

static void check(penstock_ofdm *ofdm, penstock_ofdm *cpu, penstock_context *context, const char *device)
{
    make_signal();
    line_up(0);
    compare("no offset", ofdm, cpu);
    line_up(1.7e-3);
    compare("offset", ofdm, cpu);
    compare_enqueued("offset", ofdm, context, device);
    line_up(0);
    compare_enqueued("no offset", ofdm, context, device);
    check_gains(ofdm, cpu);
    line_up(1.7e-3);
    for (size_t odd = 1; odd < SYMBOLS; odd = odd < 1000 ? odd + 49999 : odd + 149999)
        check_odd(ofdm, cpu, odd);
    check_odd(ofdm, cpu, SYMBOLS - 1);
    free(samples);
    free(symbols);
    free(got);
    free(want);
    free(listed);
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "opencl";
    penstock_context *context = NULL;
    penstock_ofdm *ofdm = NULL, *cpu = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    int status = make(&ofdm, context, device);
    CHECK(!status || status == PENSTOCK_ERR_DEVICE, "%s", penstock_error_text());
    if (!status)
        CHECK_OK(make(&cpu, context, "cpu"));
    if (cpu)
        check(ofdm, cpu, context, device);
    penstock_ofdm_free(ofdm);
    penstock_ofdm_free(cpu);
    penstock_context_free(context);
    printf("%d cases\n", executed);
    return executed ? test_finish() : test_skip("the device is absent");
}
