/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM demodulation of synthetic symbols with known points, channel, carrier offset, phase and slope, made in double
 * precision: points and tracking within float32's error, soft bits as brute force has them, on every device;
 * and the same bits whatever else is in the batch.
 */
#include "ofdm_synthesis.h"
#include "ops/ofdm/ofdm.h"
#include "test.h"

static int executed;

/* Every output. */
struct outcome {
    penstock_cf32 *points, *pilots;
    int8_t *soft;
    float *phase, *slope;
};

static void make_outcome(struct outcome *outcome, const struct synthesis *s)
{
    size_t rows = s->symbol_count;
    outcome->points = calloc(rows * s->grid.carrier_count, sizeof *outcome->points);
    outcome->soft = calloc(rows * s->grid.carrier_count, PENSTOCK_QAM1024);
    outcome->pilots = calloc(rows * s->grid.pilot_count + 1, sizeof *outcome->pilots);
    outcome->phase = calloc(rows, sizeof *outcome->phase);
    outcome->slope = calloc(rows, sizeof *outcome->slope);
}

static void free_outcome(struct outcome *outcome)
{
    free(outcome->points);
    free(outcome->soft);
    free(outcome->pilots);
    free(outcome->phase);
    free(outcome->slope);
}

static penstock_ofdm_result rows_from(const struct outcome *o, const struct synthesis *s, size_t row)
{
    return PENSTOCK_OFDM_RESULT(.points = o->points + row * s->grid.carrier_count,
                                .soft = o->soft + row * s->grid.carrier_count * PENSTOCK_QAM1024,
                                .pilots = o->pilots + row * s->grid.pilot_count, .phase = o->phase + row,
                                .slope = o->slope + row);
}

static void check_points(const char *what, const struct synthesis *s, const struct outcome *o)
{
    size_t count = s->grid.carrier_count, pilots = s->grid.pilot_count;
    double sum = 0, power = 0, worst_phase = 0, worst_pilot = 0;
    int worst_soft = 0;
    for (size_t i = 0; i < s->symbol_count; i++) {
        const penstock_ofdm_frame *frame = &s->frames[s->symbols[i].frame];
        for (size_t k = 0; k < count; k++) {
            const double *sent = s->sent[i * count + k];
            penstock_cf32 got = o->points[i * count + k];
            double llr[10] = {0},
                   weight = s->weight[s->symbols[i].frame * s->grid.n + synthesis_bin(s, s->carriers[k])];
            sum += pow((double)got.re - sent[0], 2) + pow((double)got.im - sent[1], 2);
            power += sent[0] * sent[0] + sent[1] * sent[1];
            constellation_llr(llr, (int)frame->constellation, sent[0], sent[1], weight);
            for (int b = 0; b < PENSTOCK_QAM1024; b++) {
                double want = fmax(-127, fmin(127, rint(llr[b] * (double)frame->llr_scale)));
                int difference = abs(o->soft[(i * count + k) * PENSTOCK_QAM1024 + (size_t)b] - (int)want);
                worst_soft = difference > worst_soft ? difference : worst_soft;
            }
        }
        for (size_t p = 0; p < pilots; p++) {
            double angle = s->phase[i] + s->slope[i] * s->pilots[p];
            penstock_cf32 got = o->pilots[i * pilots + p];
            worst_pilot = fmax(worst_pilot, hypot((double)got.re - cos(angle), (double)got.im - sin(angle)));
        }
        worst_phase = fmax(worst_phase, fabs(remainder((double)o->phase[i] - s->phase[i], TAU)));
        worst_phase = fmax(worst_phase, fabs(remainder((double)o->slope[i] - s->slope[i], TAU)) * s->last_carrier);
    }
    double error = sqrt(sum / power);
    CHECK(error < 2e-6, "%s: relative error of the points %.3g", what, error);
    CHECK(worst_pilot < 1e-5, "%s: pilots differ by up to %.3g", what, worst_pilot);
    CHECK(worst_phase < 1e-5, "%s: phases differ by up to %.3g", what, worst_phase);
    CHECK(worst_soft <= 1, "%s: soft bits differ by up to %d", what, worst_soft);
}

/* Symbols in another order and in groups of any size: the same rows. */
static void check_grouping(const char *what, const struct synthesis *s, penstock_ofdm *ofdm,
                           const struct outcome *whole)
{
    struct outcome o;
    uint64_t seed = 7;
    size_t count = s->grid.carrier_count, at = 0, group;
    make_outcome(&o, s);
    for (; at < s->symbol_count; at += group) {
        penstock_ofdm_result result = rows_from(&o, s, at);
        group = 1 + test_random(&seed) % 5;
        group = group < s->symbol_count - at ? group : s->symbol_count - at;
        CHECK_OK(penstock_ofdm_run(ofdm,
                                   &PENSTOCK_OFDM_BATCH(.samples = s->samples, .sample_count = s->sample_count,
                                                        .frames = s->frames, .frame_count = s->frame_count,
                                                        .symbols = s->symbols + at, .symbol_count = group),
                                   &result));
    }
    CHECK(!memcmp(o.points, whole->points, s->symbol_count * count * sizeof *o.points),
          "%s: points depend on the batch", what);
    CHECK(!memcmp(o.soft, whole->soft, s->symbol_count * count * PENSTOCK_QAM1024), "%s: soft bits do", what);
    CHECK(!memcmp(o.pilots, whole->pilots, s->symbol_count * s->grid.pilot_count * sizeof *o.pilots),
          "%s: pilots depend on the batch", what);
    CHECK(!memcmp(o.phase, whole->phase, s->symbol_count * sizeof *o.phase), "%s: phases depend on the batch", what);
    CHECK(!memcmp(o.slope, whole->slope, s->symbol_count * sizeof *o.slope), "%s: slopes depend on the batch", what);
    free_outcome(&o);
}

/* Soft bits alone, and the device's transforms with the CPU behind them: at most one step from those of one kernel. */
static void check_ways(const char *what, penstock_context *context, const struct synthesis *s, penstock_ofdm *ofdm,
                       penstock_tracking tracking, const struct outcome *whole)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_ofdm_desc desc = synthesis_desc(s, tracking);
    penstock_ofdm_batch batch = synthesis_batch(s);
    uint64_t blocks = penstock__ofdm_fused_blocks(ofdm);
    CHECK_OK(penstock_ofdm_get_info(ofdm, &info));
    CHECK(info.kernels == 1 && info.passes == 1 && !strncmp(info.variant, "ofdm", 4), "%s: %u kernels, %u passes, %s",
          what, info.kernels, info.passes, info.variant);
    CHECK_EQ(info.out_bytes, s->grid.carrier_count * PENSTOCK_QAM1024);
    CHECK(blocks > 0, "%s: not in one kernel", what);
    for (int way = 0; way < 2; way++) {
        penstock_ofdm *other = NULL;
        struct outcome o;
        size_t soft = s->symbol_count * s->grid.carrier_count * PENSTOCK_QAM1024, wrong = 0;
        make_outcome(&o, s);
        CHECK_OK(penstock__ofdm_new(&other, context, &desc, penstock_ofdm_device(ofdm),
                                    way ? OFDM_TRANSFORMS : OFDM_ONE_KERNEL, NULL));
        CHECK_OK(penstock_ofdm_run(other, &batch, &PENSTOCK_OFDM_RESULT(.soft = o.soft)));
        CHECK_OK(penstock_ofdm_get_info(other, &info));
        for (size_t i = 0; i < soft; i++)
            wrong += abs(o.soft[i] - whole->soft[i]) > 1;
        CHECK(!wrong, "%s: %zu soft bits differ by more than one, made by %s", what, wrong, info.variant);
        CHECK((penstock__ofdm_fused_blocks(other) > 0) == (strncmp(info.variant, "ofdm", 4) == 0), "%s: %s", what,
              info.variant);
        penstock_ofdm_free(other);
        free_outcome(&o);
    }
}

/* A long batch's one symbol that cannot be is named, wherever it is, and harms nothing that comes after. */
static void check_refused(const char *what, const struct synthesis *s, penstock_ofdm *ofdm, const struct outcome *whole)
{
    enum { MANY = 20000 };
    penstock_ofdm_batch batch = synthesis_batch(s);
    size_t row = s->grid.carrier_count * PENSTOCK_QAM1024;
    penstock_ofdm_symbol *symbols = calloc(MANY, sizeof *symbols);
    int8_t *soft = calloc(MANY, row);
    for (size_t i = 0; i < MANY; i++)
        symbols[i] = s->symbols[i * s->symbol_count / MANY]; /* in order, so that they may go in chunks */
    batch.symbols = symbols;
    batch.symbol_count = MANY;
    for (size_t bad = 3; bad <= MANY; bad = bad < 1000 ? MANY - 1 : bad + 1) {
        char name[32];
        bool good = bad == MANY;
        if (!good)
            symbols[bad].start = s->sample_count;
        snprintf(name, sizeof name, "symbol %zu ", bad);
        int status = penstock_ofdm_run(ofdm, &batch, &PENSTOCK_OFDM_RESULT(.soft = soft));
        CHECK(good ? !status : status == PENSTOCK_ERR_ARGUMENT && strstr(penstock_error_text(), name), "%s: %d: %s",
              what, status, penstock_error_text());
        if (!good)
            symbols[bad] = s->symbols[bad * s->symbol_count / MANY];
    }
    for (size_t i = 0; i < MANY; i++)
        CHECK(!memcmp(soft + i * row, whole->soft + i * s->symbol_count / MANY * row, row), "%s: symbol %zu", what, i);
    free(symbols);
    free(soft);
}

static void check_device(penstock_context *context, const struct synthesis *s, const char *device,
                         penstock_tracking tracking, bool kernel)
{
    penstock_ofdm *ofdm = NULL;
    struct outcome o;
    char what[160];
    penstock_ofdm_desc desc = synthesis_desc(s, tracking);
    int status = penstock__ofdm_new(&ofdm, context, &desc, device, kernel ? OFDM_ONE_KERNEL : OFDM_WHERE_IT_PAYS, NULL);
    snprintf(what, sizeof what, "%s, %s, %s", s->grid.name, device, tracking ? "given" : "pilots");
    if (status == PENSTOCK_ERR_NO_DEVICE || status == PENSTOCK_ERR_UNSUPPORTED)
        return;
    CHECK(!status, "%s: %s", what, penstock_error_text());
    if (status)
        return;
    CHECK(!strncmp(penstock_ofdm_device(ofdm), device, strlen(device)), "%s: runs on %s", what,
          penstock_ofdm_device(ofdm));
    make_outcome(&o, s);
    penstock_ofdm_batch batch = synthesis_batch(s);
    penstock_ofdm_result result = rows_from(&o, s, 0);
    CHECK_OK(penstock_ofdm_run(ofdm, &batch, &result));
    check_points(what, s, &o);
    check_grouping(what, s, ofdm, &o);
    if (kernel)
        check_ways(what, context, s, ofdm, tracking, &o);
    if (s->grid.n <= 64)
        check_refused(what, s, ofdm, &o);
    executed++;
    free_outcome(&o);
    penstock_ofdm_free(ofdm);
}

/* A kernel for all takes a CPU's compiler seconds, of which there are two or four a case. */
static bool chosen(size_t grid, penstock_tracking tracking, bool kernel)
{
    bool pilots = tracking == PENSTOCK_TRACK_PILOTS;
    return !kernel || getenv("PENSTOCK_TEST_FULL") || (pilots && (grid == 0 || grid == 3)) || (!pilots && grid == 4);
}

/* The devices are the arguments, before "kernel" if the device's own kernel for all is to be tested;
 * "cpu", "reference" and "trace" without any. */
int main(int argc, char **argv)
{
    static const char *const usual[] = {"cpu", "reference", "trace"};
    static const struct synthesis_grid grids[] = {
        {.name = "wifi",
         .n = 64,
         .guard = 16,
         .window_offset = 4,
         .edge = 26,
         .pilot_step = 14,
         .pilot_first = -21,
         .rows = 5,
         .symbols = 301,
         .frames = 7},
        {.name = "lte",
         .n = 2048,
         .guard = 144,
         .window_offset = 30,
         .edge = 600,
         .pilot_step = 6,
         .pilot_first = -597,
         .rows = 2,
         .symbols = 20,
         .frames = 3},
        {.name = "dab", .n = 2048, .guard = 504, .window_offset = 504, .edge = 768, .symbols = 12, .frames = 2},
        {.name = "600",
         .n = 600,
         .guard = 41,
         .window_offset = 7,
         .edge = 299,
         .pilot_step = 11,
         .pilot_first = -290,
         .rows = 1,
         .symbols = 24,
         .frames = 24},
        {.name = "odd",
         .n = 75,
         .guard = 9,
         .window_offset = 9,
         .edge = 30,
         .pilot_step = 61,
         .pilot_first = 3,
         .rows = 3,
         .symbols = 60,
         .frames = 4},
        {.name = "no guard", .n = 16, .edge = 7, .symbols = 40, .frames = 3},
        {.name = "largest",
         .n = 8192,
         .guard = 256,
         .window_offset = 64,
         .edge = 3408,
         .pilot_step = 12,
         .pilot_first = -3408,
         .rows = 1,
         .symbols = 6,
         .frames = 1},
    };
    const bool kernel = argc > 2 && !strcmp(argv[argc - 1], "kernel");
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (int d = 0; d < (argc > 1 ? argc - 1 - kernel : 3); d++) {
        const char *device = argc > 1 ? argv[d + 1] : usual[d];
        executed = 0;
        for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
            struct synthesis s;
            synthesis_make(&s, &grids[g], 100 * g + 1);
            for (int t = PENSTOCK_TRACK_PILOTS; t <= PENSTOCK_TRACK_GIVEN; t++)
                if (chosen(g, (penstock_tracking)t, kernel))
                    check_device(context, &s, device, (penstock_tracking)t, kernel);
            synthesis_free(&s);
        }
        printf("%s: %d cases\n", device, executed);
        CHECK(strcmp(device, "cpu") || executed == 14, "cases are left out on the CPU");
        CHECK(!kernel || !executed || executed == (getenv("PENSTOCK_TEST_FULL") ? 14 : 3), "%d cases", executed);
    }
    penstock_context_free(context);
    return argc > 1 && !executed ? test_skip("the device is absent") : test_finish();
}
