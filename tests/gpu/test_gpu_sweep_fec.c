/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Every call of a GPU's driver, and every allocation, fails once, k = 0, 1, ..., in the lives of decoders: plans of
 * both kinds of code, and streams of their blocks; and in that of a resampler. The library says so or gives the CPU's
 * bits, of a resampler its values, and leaks nothing. The CUDA driver for tests does neither: by its name alone a plan
 * always fails, and `prefer:` goes on with the CPU.
 */
#include "core/base/memory.h"
#include "shim_calls.h"
#include "test.h"

#include <penstock/penstock.h>

enum {
    BLOCKS = 7,
    BITS = 40,
    SENT = 2 * (BITS + 6),
    WORD = 4 * 7,
    DATA = 2 * 7,
    PIECES = 5,
    PIECE = 128, /* samples, two bytes each, of a resampler */
    OUTPUTS = PIECES * PIECE * 2,
    MOST = OUTPUTS * (int)sizeof(penstock_cf32)
};

static const int16_t base[] = {0, 1, 2, -1, 3, -1, 1, 0};
static int8_t soft[MOST];
static _Alignas(penstock_cf32) uint8_t want[MOST], out[MOST];

static int viterbi_description(penstock_viterbi_desc *desc)
{
    *desc = PENSTOCK_VITERBI_DESC(.bits = BITS, .batch = 3);
    return penstock_viterbi_code(desc, "wifi");
}

static int run(penstock_plan *plan)
{
    int status = penstock_plan_run(plan, soft, out, BLOCKS);
    return status ? status : penstock_plan_run(plan, soft, out, BLOCKS);
}

static int viterbi_plan(penstock_context *context, const char *device)
{
    penstock_viterbi_desc desc;
    penstock_plan *plan = NULL;
    int status = viterbi_description(&desc);
    if (!status)
        status = penstock_viterbi_plan(&plan, context, &desc, device);
    if (!status)
        status = run(plan);
    penstock_plan_free(plan);
    return status;
}

static penstock_ldpc_desc ldpc_description(void)
{
    return PENSTOCK_LDPC_DESC(.base = base, .rows = 2, .columns = 4, .lifting = 7, .batch = 3, .stop_early = true);
}

static int ldpc_plan(penstock_context *context, const char *device)
{
    const penstock_ldpc_desc desc = ldpc_description();
    penstock_plan *plan = NULL;
    int status = penstock_ldpc_plan(&plan, context, &desc, device);
    if (!status)
        status = run(plan);
    penstock_plan_free(plan);
    return status;
}

/* All blocks in, all results out. */
static int pass(penstock_stream *stream, size_t sent, size_t bytes)
{
    size_t pushed = 0, pulled = 0, count = 1;
    int status = PENSTOCK_OK;
    while (!status && pulled < BLOCKS && count) {
        const bool all = pushed == BLOCKS;
        size_t taken = 0;
        if (all)
            status = penstock_stream_finish(stream);
        else
            status = penstock_stream_push(stream, soft + pushed * sent, BLOCKS - pushed, &taken);
        if (!status)
            status = penstock_stream_pull(stream, out + pulled * bytes, BLOCKS - pulled, all, &count);
        pushed += taken;
        pulled += count;
        count += taken;
    }
    penstock_stream_free(stream);
    return status;
}

static int viterbi_blocks(penstock_context *context, const char *device)
{
    penstock_viterbi_desc desc;
    penstock_stream *opened = NULL;
    int status = viterbi_description(&desc);
    if (!status)
        status = penstock_viterbi_blocks_open(&opened, context, &desc, device);
    return status ? status : pass(opened, SENT, BITS / 8);
}

static int ldpc_blocks(penstock_context *context, const char *device)
{
    const penstock_ldpc_desc desc = ldpc_description();
    penstock_stream *opened = NULL;
    int status = penstock_ldpc_blocks_open(&opened, context, &desc, device);
    return status ? status : pass(opened, WORD, (DATA + 7) / 8);
}

/* Pieces that are flushed one by one, in the middle another ratio, and the end. */
static int resampler(penstock_context *context, const char *device)
{
    penstock_stream *stream = NULL;
    penstock_cf32 *values = (penstock_cf32 *)(void *)out;
    size_t taken = 0, made = 0, count = 1;
    int status = penstock_resampler_open(
        &stream, context, &PENSTOCK_RESAMPLER_DESC(.ratio = 0.96, .format = PENSTOCK_CS8, .attenuation_db = 40),
        device);
    for (size_t i = 0; i < PIECES && !status; i++) {
        status = penstock_stream_push(stream, soft + 2 * i * PIECE, PIECE, &taken);
        if (!status && i == PIECES / 2)
            status = penstock_resampler_set_ratio(stream, 1.2345678, (i + 1) * PIECE);
        if (!status)
            status = penstock_stream_flush(stream);
        if (!status)
            status = penstock_stream_pull(stream, values + made, OUTPUTS - made, false, &count);
        made += status ? 0 : count;
    }
    if (!status)
        status = penstock_stream_finish(stream);
    for (count = 1; count && !status; made += status ? 0 : count)
        status = penstock_stream_pull(stream, values + made, OUTPUTS - made, true, &count);
    penstock_stream_free(stream);
    return status;
}

static bool same_bits(size_t bytes)
{
    return !memcmp(out, want, bytes);
}

static bool same_values(size_t bytes)
{
    bool same = true;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        same = same && fabs((double)((float *)(void *)out)[i] - (double)((float *)(void *)want)[i]) < 1e-5;
    return same;
}

static const struct life {
    const char *name;
    int (*live)(penstock_context *context, const char *device);
    size_t bytes;
    bool (*agrees)(size_t bytes);
    bool untraced; /* not on the backend "trace" */
} lives[] = {{"viterbi", viterbi_plan, BLOCKS *BITS / 8, same_bits, false},
             {"ldpc", ldpc_plan, BLOCKS *((DATA + 7) / 8), same_bits, false},
             {"viterbi blocks", viterbi_blocks, BLOCKS *BITS / 8, same_bits, false},
             {"ldpc blocks", ldpc_blocks, BLOCKS *((DATA + 7) / 8), same_bits, false},
             {"resampler", resampler, MOST, same_values, true}};

static long first_allocation; /* of the last life: those before made its context */

static int live_once(const struct life *life, const char *device)
{
    penstock_context *context;
    const long before = penstock__memory_calls();
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 1));
    first_allocation = penstock__memory_calls() - before;
    memset(out, 0, sizeof out);
    if (!status)
        status = life->live(context, device);
    penstock_context_free(context);
    return status;
}

static void check_life(const struct life *life, const char *device, long k)
{
    int status = live_once(life, device);
    const char *rule = shim.broken_rule ? shim.broken_rule() : NULL; /* CUDA's wants a transform's constants */
    CHECK(!status || *penstock_error_text(), "%s, call %ld on %s: an error without text", life->name, k, device);
    CHECK(status || life->agrees(life->bytes), "%s, call %ld on %s: wrong bits, and no error", life->name, k, device);
    CHECK(!shim.live || shim.live() == 0, "%s, call %ld on %s: %ld objects leaked", life->name, k, device, shim.live());
    CHECK(!rule || strstr(rule, "a constant is missing"), "%s, call %ld on %s: %s", life->name, k, device, rule);
    CHECK(penstock__memory_live() == 0, "%s, call %ld on %s: %ld blocks leaked", life->name, k, device,
          penstock__memory_live());
    CHECK(!status || strncmp(device, "prefer:", 7) || status == PENSTOCK_ERR_MEMORY, "%s, call %ld on %s: %s",
          life->name, k, device, penstock_error_text());
}

static void sweep_calls(const struct life *life, const char *device, unsigned every)
{
    long k = 0;
    for (bool beyond = false; !beyond && k < 1000; k++) {
        if (!test_drawn((uint64_t)k, every))
            continue;
        shim.fail_at(k);
        check_life(life, device, k);
        beyond = shim.left() >= 0;
        shim.fail_at(-1);
    }
    CHECK(k > 15 && k < 1000, "%s on %s: %ld calls", life->name, device, k);
    printf("%s on %s: %ld calls\n", life->name, device, k);
}

static void sweep_allocations(const struct life *life, const char *device, unsigned every)
{
    long allocations = penstock__memory_calls();
    check_life(life, device, -1);
    allocations = penstock__memory_calls() - allocations;
    for (long k = first_allocation; k < allocations; k++) {
        if (!test_drawn((uint64_t)k, every))
            continue;
        penstock__memory_fail_at(k);
        check_life(life, device, k);
    }
    penstock__memory_fail_at(-1);
    CHECK(allocations - first_allocation > 8, "%s on %s: %ld allocations", life->name, device,
          allocations - first_allocation);
    printf("%s on %s: %ld allocations\n", life->name, device, allocations - first_allocation);
}

int main(int count, char **arguments)
{
    const char *device = count > 1 ? arguments[1] : "cpu";
    const bool cuda = !strcmp(device, "cuda"), driver = cuda || !strcmp(device, "opencl");
    const char *variable = cuda ? "PENSTOCK_CUDA_LIBRARY" : "PENSTOCK_OPENCL_LIBRARY";
    const char *const names[] = {driver ? cuda ? "prefer:cuda" : "prefer:opencl" : device, device};
    const unsigned every = cuda ? 3 : driver ? 18 : 1; /* calls and allocations, of which one fails */
    uint64_t seed = 1;
    if (driver && !shim_load(variable)) {
        printf("%s: ", variable);
        return test_skip("does not name the driver for tests");
    }
    for (size_t i = 0; i < MOST; i++)
        soft[i] = (int8_t)(test_random(&seed) >> 30);
    if (live_once(&lives[1], device) == PENSTOCK_ERR_NO_DEVICE)
        return test_skip(penstock_error_text());
    for (const struct life *life = lives; life < lives + sizeof lives / sizeof *lives; life++) {
        if (life->untraced && !strcmp(device, "trace"))
            continue;
        CHECK_OK(live_once(life, "cpu"));
        memcpy(want, out, sizeof want);
        for (unsigned i = !driver; i < 2; i++) {
            if (driver)
                sweep_calls(life, names[i], every);
            sweep_allocations(life, names[i], every);
        }
    }
    return test_finish();
}
