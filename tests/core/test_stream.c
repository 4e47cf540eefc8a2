/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What all kinds of streams have in common, from one table: any split gives the same bits, by push and pull, by both in
 * one call and through memory that the stream lends; a reset begins anew; after the end nothing is taken; every item is
 * counted; what is complete comes within the latency; a change to the taps or window that it has changes no bit; memory
 * is constant; and allocations and calls of the device may fail without a sample lost or a wrong value. Usage:
 * test_stream [DEVICE]
 */
#include "device.h"
#include "failure_sweep.h"
#include "stream_kinds.h"

#define GUARD  64 /* bytes behind what a call may write */
#define POISON 0x5a
#define SPLITS (SANITIZED ? 4 : 12)

static penstock_context *context;
static const struct stream_case *now; /* the case of a sweep, */
static bool lent;                     /* and whether it goes through lent memory */
static char *want, *got;              /* of one pass, with room for MOST items */
static size_t wanted;
static int executed;

/* ---------------------------------------------------------------- passes ---------------------- */

/* How a pass cuts its stream: in one piece (seed 0), or at random; and what it does between two chunks. */
struct pass {
    uint64_t seed;
    bool both, changes; /* by run() instead of push() and pull(); sets the taps or window that there are */
    bool lent;          /* now and then through the stream's own memory */
};

static size_t most_items(const struct stream_case *c)
{
    return c->count * 4 + 4096;
}

static size_t chunk_of(struct pass *pass, size_t left)
{
    size_t most = test_random(&pass->seed) % 3 ? 300 : 30, chunk = test_random(&pass->seed) % most;
    return chunk < left ? chunk : left;
}

/* Whether a push is more than its items. */
static bool announces(const struct stream_case *c)
{
    return c->kind->push && c->kind->push != penstock_stream_push;
}

/* Some of the items through memory that the stream lends, as push. */
static int push_lent(const struct stream_case *c, penstock_stream *stream, const char *from, size_t count,
                     size_t *taken)
{
    void *to = NULL;
    size_t room = 0;
    int status = penstock_stream_acquire(stream, &to, &room);
    if (status || !room)
        return status ? status : penstock_stream_commit(stream, 0); /* what was committed before waits on */
    CHECK(to, "%s: room for %zu items at NULL", c->name, room);
    CHECK_EQ(penstock_stream_commit(stream, room + 1), PENSTOCK_ERR_ARGUMENT);
    count = count < room ? count : room;
    memcpy(to, from, count * c->in_bytes);
    *taken = count;
    status = penstock_stream_commit(stream, count);
    CHECK_EQ(penstock_stream_commit(stream, 1), PENSTOCK_ERR_ARGUMENT);
    return status;
}

/* As pull. */
static int pull_lent(const struct stream_case *c, penstock_stream *stream, char *to, size_t capacity, bool wait,
                     size_t *count)
{
    const void *from = NULL;
    size_t shown = 0;
    int status = penstock_stream_peek(stream, wait, &from, &shown);
    *count = 0;
    if (!status && !shown)
        CHECK_OK(penstock_stream_release(stream, 0));
    if (status || !shown)
        return status;
    *count = shown < capacity ? shown : capacity;
    memcpy(to, from, *count * c->out_bytes);
    CHECK_EQ(penstock_stream_release(stream, shown + 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_stream_release(stream, *count));
    CHECK_EQ(penstock_stream_release(stream, 1), PENSTOCK_ERR_ARGUMENT);
    return PENSTOCK_OK;
}

/* One call of pull or run into `items` of room, with a guard behind them. */
static int take_out(const struct stream_case *c, penstock_stream *stream, char *to, size_t room, bool wait,
                    size_t *count)
{
    memset(to + room * c->out_bytes, POISON, GUARD);
    int status = stream_pull(c, stream, to, room, wait, count);
    size_t whole = 0;
    while (whole < GUARD && to[room * c->out_bytes + whole] == POISON)
        whole++;
    CHECK(whole == GUARD, "%s: a pull writes behind its %zu items", c->name, room);
    CHECK(*count <= room, "%s: %zu items in room for %zu", c->name, *count, room);
    return status;
}

static int push_chunk(const struct stream_case *c, penstock_stream *stream, struct pass *pass, size_t *at, char *to,
                      size_t *made)
{
    size_t left = c->count - *at, chunk = pass->seed ? chunk_of(pass, left) : left, taken = 0, given = 0;
    const char *from = (const char *)c->in + *at * c->in_bytes;
    int status;
    if (pass->both) {
        size_t room = test_random(&pass->seed) % 200;
        status = penstock_stream_run(stream, from, chunk, &taken, to + *made * c->out_bytes, room, &given);
        CHECK(given <= room, "%s: run gives %zu items in room for %zu", c->name, given, room);
    } else if (pass->lent && !announces(c) && test_random(&pass->seed) % 4) {
        chunk = test_random(&pass->seed) % 8 ? chunk : left; /* more than there is room for */
        status = push_lent(c, stream, from, chunk, &taken);
    } else {
        status = stream_push(c, stream, from, chunk, &taken);
    }
    CHECK(taken <= chunk, "%s: %zu of %zu items were taken", c->name, taken, chunk);
    *at += taken;
    *made += given;
    return status;
}

static int pull_all(const struct stream_case *c, penstock_stream *stream, struct pass *pass, char *to, size_t *made)
{
    size_t given = 1;
    int status = PENSTOCK_OK;
    while (given && !status) {
        size_t room = pass->seed ? 1 + test_random(&pass->seed) % 100 : most_items(c) - *made;
        if (pass->lent && !c->kind->pull && test_random(&pass->seed) % 4)
            status = pull_lent(c, stream, to + *made * c->out_bytes, room, pass->seed % 3 == 1, &given);
        else
            status = take_out(c, stream, to + *made * c->out_bytes, room, pass->seed % 3 == 1, &given);
        *made += given;
        if (pass->seed && test_random(&pass->seed) % 4 == 0)
            break; /* what is left comes later */
    }
    return status;
}

/* Items in [from, until) of a case through a stream. */
static int feed(const struct stream_case *c, penstock_stream *stream, struct pass *pass, size_t *at, size_t until,
                char *to, size_t *made)
{
    int status = PENSTOCK_OK;
    while (*at < until && !status) {
        if (pass->changes && c->kind->change && test_random(&pass->seed) % 4 == 0)
            status = c->kind->change(stream, c->desc, *at);
        if (!status)
            status = push_chunk(c, stream, pass, at, to, made);
        if (!status)
            status = pull_all(c, stream, pass, to, made);
    }
    return status;
}

/* To the stream's end. */
static int drain(const struct stream_case *c, penstock_stream *stream, char *to, size_t *made)
{
    int status = penstock_stream_finish(stream);
    size_t given = 1;
    while (given && !status) {
        status = take_out(c, stream, to + *made * c->out_bytes, 500, true, &given);
        *made += given;
    }
    return status;
}

static int pass_all(const struct stream_case *c, penstock_stream *stream, struct pass pass, char *to, size_t *made)
{
    size_t at = 0;
    *made = 0;
    int status = feed(c, stream, &pass, &at, c->count, to, made);
    return status ? status : drain(c, stream, to, made);
}

static bool same_bits(const struct stream_case *c, size_t made)
{
    return made == wanted && !memcmp(got, want, wanted * c->out_bytes);
}

/* ---------------------------------------------------------------- properties ------------------ */

static void check_split(const struct stream_case *c, penstock_stream *stream)
{
    size_t made;
    for (uint64_t seed = 1; seed <= SPLITS; seed++)
        for (int way = 0; way < 8; way++) {
            struct pass pass = {.seed = seed, .both = way & 1, .changes = way & 2, .lent = way & 4};
            if ((pass.both && c->kind->pull) || (pass.changes && !c->kind->change))
                continue;
            CHECK_OK(penstock_stream_reset(stream));
            CHECK_OK(pass_all(c, stream, pass, got, &made));
            CHECK(same_bits(c, made), "%s: split %d%s%s%s: %zu items of %zu, or other bits", c->name, (int)seed,
                  pass.both ? ", by run" : "", pass.changes ? ", with changes" : "", pass.lent ? ", lent" : "", made,
                  wanted);
            executed++;
        }
}

/* Somewhere in the stream it begins anew. */
static void check_reset(const struct stream_case *c, penstock_stream *stream)
{
    uint64_t seed = 77;
    for (int i = 0; i < 4; i++) {
        size_t at = 0, made = 0;
        struct pass pass = {.seed = 5 + (uint64_t)i};
        CHECK_OK(penstock_stream_reset(stream));
        CHECK_OK(feed(c, stream, &pass, &at, test_random(&seed) % c->count, got, &made));
        CHECK_OK(penstock_stream_reset(stream));
        CHECK_OK(pass_all(c, stream, (struct pass){0}, got, &made));
        CHECK(same_bits(c, made), "%s: %zu items of %zu after a reset, or other bits", c->name, made, wanted);
    }
}

static void check_end(const struct stream_case *c, penstock_stream *stream)
{
    size_t taken = 0, given = 0;
    void *to;
    const void *from;
    CHECK_EQ(penstock_stream_acquire(stream, &to, &taken), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_stream_commit(stream, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_peek(stream, true, &from, &taken), c->kind->pull ? PENSTOCK_ERR_UNSUPPORTED : 0);
    CHECK_EQ(penstock_stream_release(stream, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_peek(stream, true, NULL, &taken), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_acquire(stream, NULL, &taken), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(stream_push(c, stream, c->in, 1, &taken), PENSTOCK_ERR_STATE);
    CHECK_EQ(taken, 0);
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_OK(take_out(c, stream, got, 1, true, &given));
    CHECK(!given, "%s: more comes after all", c->name);
}

static void check_stats(const struct stream_case *c, penstock_stream *stream)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    size_t made = 0, at = 0, items;
    CHECK_OK(penstock_stream_reset(stream));
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(!stats.in && !stats.out && !stats.queue && stats.latency_p99_s == 0 && stats.batch == 0,
          "%s: a reset leaves counts", c->name);
    struct pass pass = {.seed = 3};
    while (at < c->count) {
        items = made;
        CHECK_OK(feed(c, stream, &pass, &at, at + 1, got, &made));
        CHECK_OK(penstock_stream_get_stats(stream, &stats));
        CHECK(stats.in == at && stats.out == made && stats.queue <= stats.in, "%s: %llu in, %llu out, %llu wait",
              c->name, (unsigned long long)stats.in, (unsigned long long)stats.out, (unsigned long long)stats.queue);
        CHECK(made == items || stats.latency_p50_s > 0, "%s: no latency", c->name);
    }
    CHECK_OK(drain(c, stream, got, &made));
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(stats.in == c->count && stats.out == wanted && made == wanted, "%s: %llu in, %llu out at the end", c->name,
          (unsigned long long)stats.in, (unsigned long long)stats.out);
    CHECK(stats.batch > 0 && !stats.fallbacks && !stats.drops && !stats.cpu_while_compiling, "%s: counts of batches",
          c->name);
}

/* With a limit that has passed at once all that is complete comes without waiting. */
static void check_latency(const struct stream_case *c, penstock_stream *stream)
{
    size_t made = 0, at = 0, given = 0;
    struct pass pass = {.seed = 9};
    CHECK_OK(penstock_stream_reset(stream));
    CHECK(isinf(penstock_stream_due_s(stream)), "%s: due with nothing in", c->name);
    CHECK_EQ(penstock_stream_set_max_latency(stream, -1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_set_max_latency(stream, (double)NAN), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_stream_set_max_latency(stream, 1e-9));
    while (at < c->count) {
        CHECK_OK(push_chunk(c, stream, &pass, &at, got, &made));
        do {
            CHECK_OK(take_out(c, stream, got + made * c->out_bytes, 500, false, &given));
            made += given;
        } while (given);
        CHECK_OK(take_out(c, stream, got + made * c->out_bytes, 500, true, &given));
        CHECK(!given, "%s: %zu items came late", c->name, given);
        made += given;
    }
    CHECK_OK(drain(c, stream, got, &made));
    CHECK(same_bits(c, made), "%s: %zu items of %zu within the latency, or other bits", c->name, made, wanted);
    CHECK_OK(penstock_stream_set_max_latency(stream, 0));
}

/* What is due by a limit alone is not due without one; Wi-Fi has one of its own then. */
static void check_latency_taken_back(const struct stream_case *c, penstock_stream *stream)
{
    size_t at = 0, made = 0;
    double due_s = (double)INFINITY;
    struct pass pass = {.seed = 10};
    CHECK_OK(penstock_stream_reset(stream));
    CHECK_OK(penstock_stream_set_max_latency(stream, 1000));
    while (at < c->count && !(due_s > 0 && isfinite(due_s))) {
        CHECK_OK(push_chunk(c, stream, &pass, &at, got, &made));
        due_s = penstock_stream_due_s(stream);
    }
    CHECK_OK(penstock_stream_set_max_latency(stream, 0));
    if (due_s > 0 && isfinite(due_s))
        CHECK(strcmp(c->name, "wifi") ? isinf(penstock_stream_due_s(stream)) : penstock_stream_due_s(stream) <= 10e-3,
              "%s: due in %g s, and in %g s without a limit", c->name, due_s, penstock_stream_due_s(stream));
}

static uint64_t count_taken(const penstock_stream *stream)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(penstock_stream_get_info(stream, &info));
    return info.taken;
}

/* The case's items again and again, by commits of all that there is room for, up to `most`. */
static size_t commit_until_full(const struct stream_case *c, penstock_stream *stream, size_t most)
{
    size_t total = 0;
    while (total < most) {
        void *to = NULL;
        size_t room = 0;
        CHECK_OK(penstock_stream_acquire(stream, &to, &room));
        room = room < most - total ? room : most - total;
        if (!room)
            break;
        for (size_t i = 0; i < room; i++)
            memcpy((char *)to + i * c->in_bytes, (const char *)c->in + (total + i) % c->count * c->in_bytes,
                   c->in_bytes);
        CHECK_OK(penstock_stream_commit(stream, room));
        total += room;
    }
    CHECK_OK(penstock_stream_commit(stream, 0));
    CHECK_EQ(count_taken(stream), total);
    return total;
}

/* All results that there are, into a sum of FNV (Fowler, Noll, Vo). */
static size_t sum_results(const struct stream_case *c, penstock_stream *stream, bool wait, uint64_t *sum)
{
    size_t all = 0, given = 1;
    while (given) {
        CHECK_OK(take_out(c, stream, got, 1000, wait, &given));
        for (size_t i = 0; i < given * c->out_bytes; i++)
            *sum = (*sum ^ (unsigned char)got[i]) * 0x100000001b3u;
        all += given;
    }
    return all;
}

/* What was committed and found no room stays in order: to the end that was told meanwhile, or pushed behind. */
static void check_held(const struct stream_case *c, penstock_stream *stream, size_t most)
{
    uint64_t lent_sum = 0, pushed_sum = 0;
    size_t lent_count, pushed_count = 0, at = 0;
    if (c->kind->pull) /* takes all */
        return;
    CHECK_OK(penstock_stream_reset(stream));
    size_t total = commit_until_full(c, stream, most), taken = 0;
    if (total < most) {
        CHECK_OK(stream_push(c, stream, c->in, 1, &taken));
        CHECK_EQ(taken, 0);
    }
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_EQ(stream_push(c, stream, c->in, 1, &taken), PENSTOCK_ERR_STATE);
    lent_count = sum_results(c, stream, true, &lent_sum);
    CHECK_OK(penstock_stream_reset(stream));
    while (at < total) {
        size_t first = at % c->count, chunk = c->count - first < total - at ? c->count - first : total - at;
        CHECK_OK(stream_push(c, stream, (const char *)c->in + first * c->in_bytes, chunk, &taken));
        at += taken;
        pushed_count += sum_results(c, stream, false, &pushed_sum);
    }
    CHECK_OK(penstock_stream_finish(stream));
    pushed_count += sum_results(c, stream, true, &pushed_sum);
    CHECK(lent_count == pushed_count && lent_sum == pushed_sum,
          "%s: %zu items of %zu committed, not %zu, or other bits", c->name, lent_count, total, pushed_count);
}

/* What is made when it is first needed (memory to lend) may come in a first set of passes; a leak grows in each. */
static void check_memory(const struct stream_case *c, penstock_stream *stream)
{
    size_t made;
    long grown = 1;
    for (int set = 0; set < 3 && grown > 0; set++) {
        long live = penstock__memory_live();
        for (int i = 0; i < 5; i++) {
            CHECK_OK(penstock_stream_reset(stream));
            CHECK_OK(pass_all(c, stream, (struct pass){.seed = 21}, got, &made));
        }
        grown = penstock__memory_live() - live;
    }
    CHECK(grown <= 0, "%s: memory grows by %ld blocks", c->name, grown);
}

static void check_case(const struct stream_case *c, const char *device)
{
    penstock_stream *stream = NULL;
    if (c->kind->untraced && !strncmp(device, "trace", strlen("trace"))) {
        CHECK_EQ(c->kind->open(&stream, context, c->desc, device), PENSTOCK_ERR_UNSUPPORTED);
        CHECK(!stream, "%s: a stream on %s", c->name, device);
        return;
    }
    CHECK_OK(c->kind->open(&stream, context, c->desc, device));
    if (!stream)
        return;
    CHECK_OK(pass_all(c, stream, (struct pass){0}, want, &wanted));
    CHECK(wanted > 3, "%s: %zu items", c->name, wanted);
    check_end(c, stream);
    check_reset(c, stream);
    check_split(c, stream);
    check_stats(c, stream);
    check_latency(c, stream);
    check_latency_taken_back(c, stream);
    check_held(c, stream, (size_t)1 << 25);
    check_held(c, stream, 5003);
    check_memory(c, stream);
    penstock_stream_free(stream);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* Once through: on the way in and out the first error ends it. */
static int use(penstock_context *of, const char *device, bool *wrong)
{
    penstock_stream *stream = NULL;
    size_t made = 0;
    int status = now->kind->open(&stream, of, now->desc, device);
    if (!status)
        status = pass_all(now, stream, (struct pass){.seed = 4, .lent = lent}, got, &made);
    sweep_over();
    *wrong = (!status && made != wanted) || made > wanted || (made && !stream_values_agree(now, got, want, made));
    if (stream && status) {
        CHECK_OK(penstock_stream_reset(stream));
        CHECK_OK(pass_all(now, stream, (struct pass){0}, got, &made));
        *wrong = *wrong || made != wanted || !stream_values_agree(now, got, want, made);
    }
    penstock_stream_free(stream);
    return status;
}

static void check_failures(const struct stream_case *c)
{
    penstock_stream *stream = NULL;
    now = c;
    CHECK_OK(c->kind->open(&stream, context, c->desc, "cpu"));
    CHECK_OK(pass_all(c, stream, (struct pass){0}, want, &wanted));
    penstock_stream_free(stream);
    printf("%s, ", c->name);
    sweep_allocations(use, "cpu", 2);
    printf("%s, lent, ", c->name);
    lent = true;
    sweep_allocations(use, "cpu", 2);
    lent = false;
    if (c->kind->untraced)
        return;
    printf("%s, ", c->name);
    sweep_allocations(use, "trace", 2);
    sweep_calls(use);
}

/* ---------------------------------------------------------------- all ------------------------- */

/* On OpenCL half of the cases, those of tests/core/test_fork.c: PoCL takes seconds to compile each. */
static void check_device(const char *device, const struct stream_case *cases, size_t count)
{
    int before = executed;
    for (size_t i = 0; i < count; i++)
        if (test_drawn(i, strcmp(device, "opencl") ? 1 : 3))
            check_case(&cases[i], device);
    printf("%s: %zu cases, %d passes\n", device, count, executed - before);
    CHECK(executed > before, "nothing was done on %s", device);
}

int main(int argc, char **argv)
{
    size_t count, most = 0;
    int exits = test_device(&context, argc > 1 ? argv[1] : "cpu");
    if (!context)
        return exits;
    const struct stream_case *cases = stream_cases(&count);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = most_items(&cases[i]) * cases[i].out_bytes + GUARD;
        most = bytes > most ? bytes : most;
    }
    want = malloc(most);
    got = malloc(most);
    CHECK(want && got, "no memory");
    if (argc > 1) {
        check_device(argv[1], cases, count);
    } else {
        check_device("cpu", cases, count);
        check_device("trace", cases, count);
        for (size_t i = 0; i < count; i++)
            check_failures(&cases[i]);
    }
    penstock_context_free(context);
    stream_cases_free();
    free(want);
    free(got);
    return test_finish();
}
