/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Overlapped transforms, sums over the rows before, on each device: against the definition in double precision, of any
 * number of points, hop and depth, from any turn on; the same bits in one batch, in pieces, and on one thread; and
 * what is no such problem is refused. Argument: a device in place of those without a GPU.
 */
#include "core/check/expected.h"
#include "core/plan/plan.h"
#include "core/plan/problem.h"
#include "test.h"

enum { FRAMES = 700, MOST_N = 1024, MOST_WEIGHTS = 4096 };

static float weights[MOST_WEIGHTS];
static int cases;

static const struct shape {
    size_t n, hop, fold;
    penstock_format format;
} shapes[] = {
    {64, 32, 12, PENSTOCK_CF32}, {64, 64, 1, PENSTOCK_CF32},    {64, 31, 9, PENSTOCK_CS16},
    {16, 1, 200, PENSTOCK_CF32}, {60, 45, 16, PENSTOCK_CF32},   {7, 5, 4, PENSTOCK_CS8},
    {2, 1, 33, PENSTOCK_CF32},   {1024, 512, 8, PENSTOCK_CF32}, {128, 100, 3, PENSTOCK_CF16},
};

static struct penstock_problem problem_of(const struct shape *shape)
{
    return (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FFT,
                                     .in_bytes = shape->n * penstock_format_bytes(shape->format),
                                     .out_bytes = shape->hop * sizeof(penstock_cf32),
                                     .batch = 64,
                                     .fft = {.n = shape->n,
                                             .direction = PENSTOCK_REVERSE,
                                             .domain = PENSTOCK_COMPLEX,
                                             .format = shape->format,
                                             .window = weights,
                                             .fold = shape->fold,
                                             .hop = shape->hop,
                                             .spacing = shape->n,
                                             .output = PENSTOCK_OUTPUT_COMPLEX,
                                             .scale = 0.5f,
                                             .average = 1}};
}

static int run(penstock_plan *plan, const char *in, size_t turn, penstock_cf32 *out, size_t frames)
{
    uint64_t ticket;
    int status = penstock__plan_submit_turned(plan, in, turn, out, frames, &ticket);
    return status ? status : penstock_plan_wait(plan, ticket);
}

static double error_of(const penstock_cf32 *got, const double *want, size_t count)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)got[i].re - want[2 * i], 2) + pow((double)got[i].im - want[2 * i + 1], 2);
        norm += want[2 * i] * want[2 * i] + want[2 * i + 1] * want[2 * i + 1];
    }
    return sqrt(error / norm);
}

struct memory {
    char *in;
    penstock_cf32 *out, *again;
    double *want;
};

static void compare(penstock_plan *plan, const struct penstock_problem *problem, struct memory *memory, uint64_t seed)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    const size_t turn = test_random(&seed) % fft->n, values = FRAMES * fft->hop;
    const double factor = penstock__plan_executor(plan)->state.device->backend->error_factor,
                 bound =
                     1e-7 * (sqrt(log2((double)fft->n)) + 1 + sqrt((double)fft->fold) / 4) * (factor > 0 ? factor : 1);
    CHECK_OK(run(plan, memory->in, turn, memory->out, FRAMES));
    CHECK_OK(penstock__expected(memory->want, fft, memory->in, penstock__fft_samples(fft, FRAMES), NULL, turn, FRAMES));
    const double error = error_of(memory->out, memory->want, values);
    CHECK(error < bound, "n %zu, hop %zu, over %zu rows: error %.3g, bound %.3g", fft->n, fft->hop, fft->fold, error,
          bound);
    for (size_t at = 0, some; at < FRAMES; at += some) {
        some = 1 + test_random(&seed) % (at % 2 ? 9 : 300);
        some = some < FRAMES - at ? some : FRAMES - at;
        CHECK_OK(run(plan, memory->in + at * problem->in_bytes, penstock__fft_turn(fft, turn, at),
                     memory->again + at * fft->hop, some));
    }
    CHECK(!memcmp(memory->out, memory->again, values * sizeof *memory->out), "n %zu, hop %zu: pieces are others",
          fft->n, fft->hop);
}

static void check(penstock_context *context, const char *device, const struct shape *shape, uint64_t seed)
{
    const struct penstock_problem problem = problem_of(shape);
    const size_t samples = penstock__fft_samples(&problem.fft, FRAMES);
    struct memory memory = {.in = malloc(samples * sizeof(penstock_cf32)),
                            .out = malloc(FRAMES * problem.out_bytes),
                            .again = malloc(FRAMES * problem.out_bytes),
                            .want = malloc(FRAMES * shape->hop * 2 * sizeof(double))};
    penstock_plan *plan = NULL;
    int status = penstock__plan_new(&plan, context, &problem, device, 2, false);
    for (size_t i = 0; i < samples * penstock_format_bytes(shape->format); i++)
        memory.in[i] = (char)test_random(&seed);
    for (size_t i = 0; i < 2 * samples && shape->format == PENSTOCK_CF32; i++)
        ((float *)(void *)memory.in)[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < 2 * samples && shape->format == PENSTOCK_CF16; i++)
        ((uint16_t *)(void *)memory.in)[i] &= 0x3bff; /* numbers */
    if (status == PENSTOCK_ERR_UNSUPPORTED)
        printf("%s: %s\n", device, penstock_error_text());
    else if (status)
        CHECK_OK(status);
    else
        compare(plan, &problem, &memory, seed);
    cases += !status;
    penstock_plan_free(plan);
    free(memory.in);
    free(memory.out);
    free(memory.again);
    free(memory.want);
}

static void check_refused(void)
{
    const struct penstock_problem good = problem_of(&shapes[0]);
    struct penstock_problem bad = good;
    CHECK_OK(penstock__problem_check(&good));
    bad.fft.hop = 65;
    bad.out_bytes = 65 * sizeof(penstock_cf32);
    CHECK_EQ(penstock__problem_check(&bad), PENSTOCK_ERR_ARGUMENT);
    bad = good;
    bad.fft.direction = PENSTOCK_FORWARD;
    CHECK_EQ(penstock__problem_check(&bad), PENSTOCK_ERR_ARGUMENT);
    bad = good;
    bad.fft.fold = 0;
    CHECK_EQ(penstock__problem_check(&bad), PENSTOCK_ERR_ARGUMENT);
    bad = good;
    bad.fft.window = NULL;
    CHECK_EQ(penstock__problem_check(&bad), PENSTOCK_ERR_ARGUMENT);
}

int main(int count, char **arguments)
{
    static const char *const usual[] = {"cpu", "trace", "reference"};
    uint64_t seed = 4;
    for (size_t i = 0; i < MOST_WEIGHTS; i++)
        weights[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *device = count > 1 ? arguments[1] : usual[i];
        for (unsigned threads = 1; threads < 4; threads += 2) {
            penstock_context *context;
            size_t index;
            CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
            const bool there = !penstock_device_find(context, device, &index);
            if (!there && count > 1) {
                const int skipped = test_skip(penstock_error_text());
                penstock_context_free(context);
                return skipped;
            }
            if (!there) /* a build may have no reference */
                printf("%s\n", penstock_error_text());
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes && there; s++)
                check(context, device, &shapes[s], s);
            penstock_context_free(context);
        }
        if (count > 1)
            break;
    }
    check_refused();
    printf("%d cases\n", cases);
    CHECK(cases >= (count > 1 ? 6 : 36), "only %d cases", cases);
    return test_finish();
}
