/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream of a convolutional code without blocks, decoded in windows at fixed places, each as a block of its own with
 * some steps before and behind it, of whose states nothing is known. Windows begin where the puncturing pattern does.
 */
#include "core/base/description.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/plan/plan.h"
#include "core/stream/latency.h"
#include "core/stream/stream.h"
#include "ops/coding/viterbi.h"

#include <string.h>

#define USUAL_WINDOW 2048
#define BATCH_BITS   ((size_t)1 << 20) /* when the caller does not say */
#define MOST_WINDOW  ((size_t)1 << 18)
#define MOST_BATCH   ((size_t)1 << 20)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "viterbi stream: " __VA_ARGS__)

struct viterbi_stream {
    struct penstock_stream stream;
    struct penstock_problem problem; /* of a window with what lies before and behind it */
    penstock_plan *plan;
    size_t window, beside; /* steps: of a window, and on each side of it */
    size_t batch;          /* windows that are decoded at once */
    uint64_t next;         /* the first window that is not decoded */
    uint64_t base;         /* soft bits before the first that is held */
    size_t held, room;     /* soft bits */
    char *soft;
    penstock_viterbi_block *blocks;
    unsigned char *decoded; /* of a batch, with what is beside the windows */
    unsigned char *ready;   /* items out from `given` on, `waiting` of them */
    size_t waiting, given_at, ready_room;
    double max_latency_s, since; /* since when a window is complete; 0: none is */
};

static const struct penstock__stream_kind kind;

static struct viterbi_stream *of(penstock_stream *stream)
{
    return (struct viterbi_stream *)(void *)stream;
}

static const struct viterbi_stream *of_const(const penstock_stream *stream)
{
    return (const struct viterbi_stream *)(const void *)stream;
}

static const struct penstock_viterbi_problem *code_of(const struct viterbi_stream *self)
{
    return &self->problem.viterbi;
}

/* ---------------------------------------------------------------- places ---------------------- */

static uint64_t window_begin(const struct viterbi_stream *self, uint64_t window)
{
    uint64_t begin = window * self->window;
    return begin > self->beside ? begin - self->beside : 0;
}

static uint64_t window_end(const struct viterbi_stream *self, uint64_t window)
{
    return (window + 1) * self->window + self->beside;
}

/* A stream may be longer than sizes are where these have 32 bits. */
static uint64_t sent_before(const struct viterbi_stream *self, uint64_t step)
{
    const struct penstock_viterbi_problem *code = code_of(self);
    const size_t data = code->period / code->count;
    return step / data * penstock__viterbi_sent(code, data) + penstock__viterbi_sent(code, (size_t)(step % data));
}

/* Whole steps that so many soft bits are. */
static uint64_t steps_in(const struct viterbi_stream *self, uint64_t soft)
{
    const struct penstock_viterbi_problem *code = code_of(self);
    const uint64_t data = code->period / code->count, sent = sent_before(self, data);
    uint64_t steps = soft / sent * data;
    while (sent_before(self, steps + 1) <= soft)
        steps++;
    return steps;
}

static size_t bits_an_item(const struct viterbi_stream *self)
{
    return code_of(self)->result == PENSTOCK_BITS_UNPACKED ? 1 : 8;
}

/* ---------------------------------------------------------------- life ------------------------ */

static size_t multiple_of(size_t value, size_t data)
{
    size_t unit = data;
    while (unit % 8)
        unit += data;
    return penstock__round_up(value, unit);
}

static int make_problem(struct viterbi_stream *self, const penstock_viterbi_desc *desc)
{
    penstock_viterbi_desc circle = *desc;
    struct penstock_viterbi_problem *code = &self->problem.viterbi;
    size_t data, depth;
    int status;
    if (desc->end != PENSTOCK_TRELLIS_OPEN)
        return bad("end is not PENSTOCK_TRELLIS_OPEN: a stream has no blocks");
    if (desc->bits > MOST_WINDOW || desc->batch > MOST_BATCH)
        return bad("a window of %zu bits, or %zu windows, are more than %zu and %zu", desc->bits, desc->batch,
                   MOST_WINDOW, MOST_BATCH);
    circle.end = PENSTOCK_TRELLIS_TAIL_BITING; /* both ends are open; the circle is of no use here */
    circle.bits = desc->bits ? desc->bits : USUAL_WINDOW;
    if ((status = penstock__viterbi_problem(&self->problem, NULL, &circle)))
        return status;
    data = code->period / code->count;
    depth = code->depth + (code->depth + 2) / 3;
    self->window = multiple_of(circle.bits, data);
    self->beside = multiple_of(depth, data);
    self->batch = desc->batch ? desc->batch : (BATCH_BITS + self->window - 1) / self->window;
    circle.bits = self->window + 2 * self->beside;
    circle.batch = self->batch;
    if ((status = penstock__viterbi_problem(&self->problem, NULL, &circle)))
        return status;
    code->depth = 0;
    return PENSTOCK_OK;
}

static int make_memory(struct viterbi_stream *self)
{
    self->room = (size_t)sent_before(self, self->batch * self->window + 2 * self->beside);
    self->soft = penstock__alloc(self->room * penstock__viterbi_soft_bytes(code_of(self)));
    self->blocks = penstock__calloc(self->batch, sizeof *self->blocks);
    self->decoded = penstock__alloc(self->batch * self->problem.out_bytes);
    return self->soft && self->blocks && self->decoded ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock_viterbi_stream_open(penstock_stream **stream, penstock_context *context, const penstock_viterbi_desc *desc,
                                 const char *device)
{
    penstock_viterbi_desc known;
    struct viterbi_stream *made;
    int status;
    if (!stream || !context)
        return bad("penstock_viterbi_stream_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&known, sizeof known, desc, "penstock_viterbi_desc")))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->stream = (struct penstock_stream){.kind = &kind, .context = context, .out_bytes = 1};
    if ((status = make_problem(made, &known)) || (status = make_memory(made)) ||
        (status = penstock__plan_new(&made->plan, context, &made->problem, device, known.slots,
                                     penstock__cpu_while_compiling(context, device)))) {
        penstock__stream_free(&made->stream);
        return status;
    }
    made->stream.in_bytes = penstock__viterbi_soft_bytes(code_of(made));
    made->stream.in_values = code_of(made)->soft == PENSTOCK_SOFT_S8 ? PENSTOCK__SOFT_BITS : 0;
    penstock__plan_set_event_times(made->plan, &made->stream.meter.event_times);
    penstock__stream_start(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void cancel(penstock_stream *stream)
{
    penstock__plan_cancel(of(stream)->plan);
}

static void free_stream(penstock_stream *stream)
{
    struct viterbi_stream *self = of(stream);
    penstock__plan_free(self->plan);
    penstock__free(self->soft);
    penstock__free(self->blocks);
    penstock__free(self->decoded);
    penstock__free(self->ready);
    penstock__free(self);
}

static void reset(penstock_stream *stream)
{
    struct viterbi_stream *self = of(stream);
    self->next = self->base = 0;
    self->held = self->waiting = self->given_at = 0;
    self->since = 0;
    penstock__stream_start(stream);
}

/* ---------------------------------------------------------------- windows --------------------- */

/* Windows from the next one on of which all is held, at most a batch. */
static size_t complete_windows(const struct viterbi_stream *self)
{
    const uint64_t steps = steps_in(self, self->base + self->held);
    uint64_t count;
    if (steps < window_end(self, self->next))
        return 0;
    count = (steps - self->beside) / self->window - self->next;
    return count < self->batch ? (size_t)count : self->batch;
}

/* To be told when soft bits came or windows went. */
static void note_complete(struct viterbi_stream *self)
{
    if (!complete_windows(self))
        self->since = 0;
    else if (self->since == 0)
        self->since = penstock__now_s();
}

/* Windows that are to be decoded now: a batch, or those that have waited for long enough. */
static size_t due_windows(const struct viterbi_stream *self)
{
    const size_t count = complete_windows(self);
    return count == self->batch || penstock__latency_is_over(self->since, self->max_latency_s) ? count : 0;
}

/* Room behind what waits. */
static int make_ready_room(struct viterbi_stream *self, size_t more)
{
    unsigned char *larger;
    if (self->waiting && self->given_at)
        memmove(self->ready, self->ready + self->given_at, self->waiting);
    self->given_at = 0;
    if (self->waiting + more <= self->ready_room)
        return PENSTOCK_OK;
    if (!(larger = penstock__realloc(self->ready, self->ready_room, self->waiting + more)))
        return PENSTOCK_ERR_MEMORY;
    self->ready = larger;
    self->ready_room = self->waiting + more;
    return PENSTOCK_OK;
}

/* Soft bits that no window needs any more. */
static void drop(struct viterbi_stream *self)
{
    const size_t bytes = penstock__viterbi_soft_bytes(code_of(self));
    size_t gone = (size_t)(sent_before(self, window_begin(self, self->next)) - self->base);
    gone = gone < self->held ? gone : self->held;
    memmove(self->soft, self->soft + gone * bytes, (self->held - gone) * bytes);
    self->held -= gone;
    self->base += gone;
}

/* Decodes windows; the last one of a stream of `steps` ends with it. */
static int decode(struct viterbi_stream *self, size_t count, uint64_t steps)
{
    const size_t an_item = bits_an_item(self);
    double began;
    int status = make_ready_room(self, (count * self->window + an_item - 1) / an_item);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = window_begin(self, self->next + i), end = window_end(self, self->next + i);
        self->blocks[i] = (penstock_viterbi_block){.at = sent_before(self, begin) - self->base,
                                                   .bits = (uint32_t)((end < steps ? end : steps) - begin)};
    }
    began = penstock__now_s();
    if ((status = penstock__plan_run_blocks(self->plan, self->soft, self->held, self->blocks, self->decoded, count)))
        return status;
    penstock__meter_batch(&self->stream.meter, count * self->window / an_item,
                          penstock__plan_has_clock(self->plan) ? 0 : penstock__now_s() - began);
    for (size_t i = 0; i < count; i++) {
        uint64_t first = (self->next + i) * self->window, end = first + self->window;
        size_t lead = (size_t)(first - window_begin(self, self->next + i)) / an_item;
        size_t items = (size_t)((end < steps ? end : steps) - first + an_item - 1) / an_item;
        memcpy(self->ready + self->waiting, self->decoded + i * self->problem.out_bytes + lead, items);
        self->waiting += items;
    }
    self->next += count;
    drop(self);
    self->since = 0;
    note_complete(self);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- in and out ------------------ */

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct viterbi_stream *self = of(stream);
    const size_t bytes = stream->in_bytes;
    for (;;) {
        size_t here = self->room - self->held < count - *taken ? self->room - self->held : count - *taken;
        if (here)
            memcpy(self->soft + self->held * bytes, (const char *)in->whole + *taken * bytes, here * bytes);
        self->held += here;
        *taken += here;
        note_complete(self);
        const size_t due = self->waiting ? 0 : due_windows(self);
        if (!due)
            return PENSTOCK_OK;
        int status = decode(self, due, UINT64_MAX);
        if (status)
            return status;
    }
}

/* Items of one window. */
static size_t give(struct viterbi_stream *self, char *to, size_t capacity)
{
    const uint64_t items = self->window / bits_an_item(self), window = self->stream.given / items;
    const size_t left = (size_t)((window + 1) * items - self->stream.given);
    size_t count = self->waiting < capacity ? self->waiting : capacity;
    uint64_t needed = sent_before(self, window_end(self, window));
    count = count < left ? count : left;
    memcpy(to, self->ready + self->given_at, count);
    self->given_at += count;
    self->waiting -= count;
    penstock__stream_gave(&self->stream, count, needed < self->stream.taken ? needed : self->stream.taken, 0);
    return count;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct viterbi_stream *self = of(stream);
    (void)wait;
    while (*count < capacity) {
        const size_t due = self->waiting ? 0 : due_windows(self);
        if (due) {
            int status = decode(self, due, UINT64_MAX);
            if (status)
                return *count ? PENSTOCK_OK : status;
        }
        if (!self->waiting)
            return PENSTOCK_OK;
        *count += give(self, (char *)out->whole + *count, capacity - *count);
    }
    return PENSTOCK_OK;
}

static int flush(penstock_stream *stream)
{
    struct viterbi_stream *self = of(stream);
    int status = PENSTOCK_OK;
    for (size_t count; !status && (count = complete_windows(self));)
        status = decode(self, count, UINT64_MAX);
    return status;
}

static int finish(penstock_stream *stream)
{
    struct viterbi_stream *self = of(stream);
    const uint64_t steps = steps_in(self, self->base + self->held);
    int status = flush(stream);
    stream->finished = true;
    while (!status && self->next * self->window < steps) {
        uint64_t left = (steps - self->next * self->window + self->window - 1) / self->window;
        status = decode(self, left < self->batch ? (size_t)left : self->batch, steps);
    }
    return status;
}

/* ---------------------------------------------------------------- what is known --------------- */

static double due_s(const penstock_stream *stream)
{
    const struct viterbi_stream *self = of_const(stream);
    return self->waiting ? 0 : penstock__latency_left_s(self->since, self->max_latency_s);
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    of(stream)->max_latency_s = max_latency_s;
    return PENSTOCK_OK;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    const struct viterbi_stream *self = of_const(stream);
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    if (!penstock_plan_get_info(self->plan, &plan))
        info->device = plan.device;
    info->waiting = self->waiting;
    info->batch = self->batch * self->window / bits_an_item(self);
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct viterbi_stream *self = of_const(stream);
    stats->fallbacks = penstock__plan_fallbacks(self->plan);
    stats->cpu_while_compiling = penstock__plan_cpu_while_compiling(self->plan);
}

static const struct penstock__stream_kind kind = {
    .name = "viterbi",
    .push = push,
    .pull = pull,
    .flush = flush,
    .finish = finish,
    .reset = reset,
    .cancel = cancel,
    .free = free_stream,
    .due_s = due_s,
    .set_max_latency = set_max_latency,
    .get_info = get_info,
    .get_stats = get_stats,
};
