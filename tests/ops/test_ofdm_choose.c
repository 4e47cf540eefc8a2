/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of an OFDM demodulator at "auto": whole demodulators are timed, once for each question, and what a
 * demodulator is made of is in the question. */
#include "backends/trace/trace.h"
#include "candidates.h"
#include "folder.h"
#include "told_choice.h"

#include <penstock/penstock.h>

extern const struct penstock_backend penstock__trace_backend;

enum { N = 64, GUARD = 16, CARRIERS = 3, SYMBOLS = 8 };

static const int32_t carriers[CARRIERS] = {-5, 1, 7}, others[CARRIERS] = {-5, 1, 8};

/* A context whose candidates are the processor and the trace device, which computes by it. */
static penstock_context *new_context(void)
{
    static struct penstock_backend automatic_trace;
    penstock_context *context = NULL;
    automatic_trace = penstock__trace_backend;
    automatic_trace.flags &= ~(unsigned)PENSTOCK_BACKEND_NOT_AUTOMATIC;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    test_candidates(context, NULL, &automatic_trace);
    CHECK_OK(penstock_context_tell_choices(context, tell_choice, NULL));
    return context;
}

/* Where "auto" puts it, which must be where the choice said, and the values that come out. */
static void choose(penstock_context *context, const penstock_ofdm_desc *desc)
{
    static penstock_cf32 in[SYMBOLS * (N + GUARD)], channel[N];
    penstock_ofdm_symbol symbols[SYMBOLS] = {{0}};
    int8_t soft[2][SYMBOLS * CARRIERS * 2];
    penstock_ofdm *ofdm = NULL;
    for (size_t i = 0; i < SYMBOLS * (N + GUARD); i++)
        in[i] = (penstock_cf32){(float)(i * 37 % 101) - 50, (float)(i * 53 % 97) - 48};
    for (size_t k = 0; k < N; k++)
        channel[k] = (penstock_cf32){200, 0};
    for (size_t i = 0; i < SYMBOLS; i++)
        symbols[i].start = i * (N + GUARD);
    const penstock_ofdm_frame frame = {.channel = channel, .noise = 30000, .constellation = PENSTOCK_QPSK};
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(penstock_ofdm_new(&ofdm, context, desc, turn ? "cpu" : "auto"));
        if (!turn)
            CHECK(!strcmp(penstock_ofdm_device(ofdm), told.chosen), "it is on %s, %s was chosen",
                  penstock_ofdm_device(ofdm), told.chosen);
        CHECK_OK(penstock_ofdm_run(ofdm,
                                   &PENSTOCK_OFDM_BATCH(.samples = in, .sample_count = SYMBOLS * (N + GUARD),
                                                        .frames = &frame, .frame_count = 1, .symbols = symbols,
                                                        .symbol_count = SYMBOLS),
                                   &PENSTOCK_OFDM_RESULT(.soft = soft[turn])));
        penstock_ofdm_free(ofdm);
    }
    CHECK(!memcmp(soft[0], soft[1], sizeof soft[0]), "soft bits by auto are others than the CPU's");
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder can be made");
    penstock_context *context = new_context();
    penstock_ofdm_desc desc =
        PENSTOCK_OFDM_DESC(.n = N, .guard = GUARD, .carriers = carriers, .carrier_count = CARRIERS,
                           .max_constellation = PENSTOCK_QPSK, .batch = SYMBOLS);
    choose(context, &desc);
    CHECK(told.choices == 1 && told.candidates == 2 && told.timed == 2 && !told.remembered,
          "%u choices, %u candidates, %u timed", told.choices, told.candidates, told.timed);
    CHECK(!strncmp(told.what, "ofdm: ", 6), "what was chosen for is \"%s\"", told.what);
    choose(context, &desc);
    CHECK(told.choices == 2 && told.timed == 2 && told.remembered, "the second time it was timed again");

    penstock_ofdm_desc other[] = {desc, desc, desc, desc, desc, desc};
    char first[sizeof told.what];
    snprintf(first, sizeof first, "%s", told.what);
    other[0].n = 2 * N;
    other[1].guard = GUARD + 1;
    other[2].carriers = others;
    other[3].format = PENSTOCK_CS16;
    other[4].max_constellation = PENSTOCK_QAM16;
    other[5].batch = SYMBOLS + 1;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        penstock_ofdm *ofdm = NULL;
        CHECK_OK(penstock_ofdm_new(&ofdm, context, &other[i], "auto"));
        CHECK(!told.remembered && told.timed == 2 && told.choices == 3 + i, "description %zu has another one's answer",
              i);
        penstock_ofdm_free(ofdm);
    }
    penstock_context_free(context);
    test_remove_folder();
    return test_finish();
}
