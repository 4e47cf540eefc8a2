/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which kernels decode blocks of a convolutional code, their source, and their launches. */
#include "gpu/viterbi.h"
#include "gpu/launch.h"
#include "gpu/source.h"
#include "gpu/viterbi_code.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK           24 /* steps that the fast kernel does between two ways back */
#define STEPS           6  /* of a group */
#define WARP            32
#define FAST_CONSTRAINT 7
#define FULL            384 /* work-items of a multiprocessor, whose registers that fills */
#define CPU_GROUP       8
#define ROWS_GROUP      256
#define LEVEL_GROUP     8
#define CHECK_GROUP     64
#define TILE            32
#define LEAST_WINDOW    96
#define WORTH           0.97 /* of the time is taken with more windows: they are checked, too */
#define MOST_WINDOWS    4096
#define WHOLE_PER_UNIT  16
#define DECISION_BYTES  ((size_t)256 << 20)
#define BEST_BITS       ((size_t)1 << 25) /* of a batch from which on the cost of launches does not count */

static const char *const names[GPU_VITERBI_KERNELS] = {"level", "fill", "decode", "check", "whole"};

/* ---------------------------------------------------------------- configuration --------------- */

static size_t row_steps(const struct gpu_viterbi *self, const struct penstock_viterbi_problem *viterbi, size_t bits)
{
    return self->first + penstock__viterbi_steps(viterbi, bits) + viterbi->depth;
}

/* "group=128,resident=3,lag=6,warm=96,windows=2" */
static void override(struct gpu_viterbi *self, const char *text)
{
    const struct {
        const char *name;
        unsigned *to;
    } tuning[] = {{"group=", &self->group},
                  {"resident=", &self->resident},
                  {"lag=", &self->lag},
                  {"warm=", &self->warm},
                  {"windows=", &self->windows}};
    for (size_t i = 0; text && i < sizeof tuning / sizeof *tuning; i++) {
        const char *found = strstr(text, tuning[i].name);
        unsigned value = found ? (unsigned)strtoul(found + strlen(tuning[i].name), NULL, 10) : 0;
        if (value)
            *tuning[i].to = value;
    }
    self->warm = (unsigned)penstock__round_up(self->warm, CHUNK);
}

static size_t ring_bytes(const struct gpu_viterbi *self)
{
    return (size_t)64 * (self->lag + 3);
}

/* Work-items of a group, and groups of a multiprocessor, for local memory and registers. */
static bool fill_unit(struct gpu_viterbi *self, const struct gpu_limits *limits)
{
    const char *wanted = limits->config ? limits->config : getenv("PENSTOCK_VITERBI_SHAPE");
    unsigned depth = self->lag * STEPS * 2;
    self->warm = (unsigned)penstock__round_up(depth * 4 / 3, CHUNK);
    self->group = limits->cpu ? CPU_GROUP : 128;
    while (self->group > 32 &&
           (self->group * ring_bytes(self) > limits->local_bytes || self->group > limits->max_group))
        self->group -= 32;
    self->resident = 0;
    override(self, wanted);
    if (self->group * ring_bytes(self) > limits->local_bytes || self->group > limits->max_group)
        return false;
    if (!self->resident)
        self->resident = (unsigned)(limits->local_bytes / (self->group * ring_bytes(self)));
    if (self->resident * self->group > FULL)
        self->resident = FULL / self->group;
    self->resident = self->resident ? self->resident : 1;
    self->full = limits->units ? self->resident * self->group : FULL; /* OpenCL gives a group but a part of it */
    return self->lag >= 2;
}

int penstock__gpu_viterbi_config(struct gpu_viterbi *self, const struct penstock_problem *problem,
                                 const struct gpu_limits *limits, unsigned variant, bool pairs)
{
    const struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    const bool all_sent = penstock__viterbi_sent(viterbi, viterbi->period / viterbi->count) == viterbi->period;
    *self = (struct gpu_viterbi){.stride = viterbi->count > 2 ? 4 : 2,
                                 .states = 1u << (viterbi->constraint - 1),
                                 .first = penstock__round_up(viterbi->depth, CHUNK),
                                 .local_bytes = limits->local_bytes,
                                 .rows_group = penstock__gpu_group(limits, ROWS_GROUP),
                                 .check_group = penstock__gpu_group(limits, CHECK_GROUP),
                                 .cpu = limits->cpu};
    self->lag = (unsigned)(penstock__viterbi_depth(viterbi) + 2 * STEPS - 1) / (2 * STEPS);
    self->fast =
        viterbi->constraint == FAST_CONSTRAINT && penstock__gpu_viterbi_range(self, viterbi) && fill_unit(self, limits);
    self->pairs = pairs && self->fast && !variant;
    if (variant > (self->fast ? 1u + pairs : 0u))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no simpler kernel");
    if (variant == 1u + pairs)
        self->fast = false;
    self->direct = viterbi->soft == PENSTOCK_SOFT_S8 && all_sent && viterbi->count == self->stride && !viterbi->depth;
    if (limits->single_only && viterbi->soft == PENSTOCK_SOFT_F32 && viterbi->scale == 0)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "floats without a given scale need numbers of 64 bits, which "
                                                         "the device does not have");
    self->row_bytes = penstock__round_up(row_steps(self, viterbi, viterbi->bits) * self->stride, 16);
    if (self->states > limits->max_group)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%u states need as many work-items in a group", self->states);
    return PENSTOCK_OK;
}

void penstock__gpu_viterbi_describe(struct penstock_plan_state *plan, const struct gpu_viterbi *self)
{
    const struct penstock_viterbi_problem *viterbi = &plan->problem->viterbi;
    if (self->fast)
        penstock__gpu_describe(plan, "viterbi in registers, %u a group, lag %u, %s", self->group, self->lag * STEPS,
                               self->direct ? "direct" : "rows");
    else
        penstock__gpu_describe(plan, "viterbi, a group a block");
    plan->kernels = 0;
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS; i++)
        plan->kernels += penstock__gpu_viterbi_name(self, plan->problem, i) != NULL;
    plan->passes = 1;
    plan->best_batch = self->cpu ? CPU_GROUP * 16 : (BEST_BITS + viterbi->bits - 1) / viterbi->bits;
}

/* ---------------------------------------------------------------- source ---------------------- */

static void add_number(struct gpu_text *text, const char *name, size_t value)
{
    penstock__text_add(text, "#define %s %zu\n", name, value);
}

static void add_format(struct gpu_text *text, const struct penstock_problem *problem)
{
    const struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    size_t sent = 0;
    add_number(text, "SOFT_FORMAT", viterbi->soft);
    add_number(text, "OWN_SCALE", viterbi->soft == PENSTOCK_SOFT_F32 && viterbi->scale == 0);
    penstock__text_add(text, "#define SCALE ");
    penstock__text_add_float(text, viterbi->scale);
    penstock__text_add(text, "\n#define PLACE_VALUES ");
    for (size_t i = 0; i < viterbi->period; i++) {
        penstock__text_add(text, "%s%d", i ? ", " : "", viterbi->kept[i] ? (int)sent : -1);
        sent += viterbi->kept[i];
    }
    penstock__text_add(text, "\n");
    add_number(text, "PERIOD", viterbi->period);
    add_number(text, "SENT", sent);
}

static void add_code(struct gpu_text *text, const struct gpu_viterbi *self,
                     const struct penstock_viterbi_problem *viterbi)
{
    penstock__text_add(text, "#define EACH_GENERATOR(DO)");
    for (unsigned g = 0; g < viterbi->count; g++)
        penstock__text_add(text, " DO(%u, %u)", g, viterbi->inverted >> g & 1);
    for (unsigned g = 0; g < viterbi->count; g++)
        penstock__text_add(text, "\n#define GENERATOR_%u %u", g, viterbi->generators[g]);
    penstock__text_add(text, "\n");
    add_number(text, "COUNT", viterbi->count);
    add_number(text, "STRIDE", self->stride);
    add_number(text, "CONSTRAINT", viterbi->constraint);
    add_number(text, "STATES", self->states);
    add_number(text, "START_ZERO", viterbi->end != PENSTOCK_TRELLIS_TAIL_BITING);
    add_number(text, "END_ZERO", viterbi->end == PENSTOCK_TRELLIS_ZERO);
}

static void add_sizes(struct gpu_text *text, const struct gpu_viterbi *self, const struct penstock_problem *problem)
{
    const struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    add_number(text, "FIRST", self->first);
    add_number(text, "DEPTH", viterbi->depth);
    add_number(text, "TAIL", viterbi->end == PENSTOCK_TRELLIS_ZERO ? viterbi->constraint - 1 : 0);
    add_number(text, "BITS", viterbi->bits);
    penstock__text_add(text, "#define IN_COUNT %zuu\n", problem->in_bytes / penstock__viterbi_soft_bytes(viterbi));
    penstock__text_add(text, "#define OUT_BYTES %zuu\n#define ROW_BYTES %zuu\n", problem->out_bytes, self->row_bytes);
    add_number(text, "RESULT", viterbi->result);
    add_number(text, "DIRECT", self->direct);
    add_number(text, "LISTED", self->fast);
}

static void add_fast(struct gpu_text *text, const struct gpu_viterbi *self,
                     const struct penstock_viterbi_problem *viterbi)
{
    add_number(text, "GROUP", self->group);
    add_number(text, "RESIDENT", self->resident);
    add_number(text, "HISTORY", self->history);
    add_number(text, "LAG", self->lag);
    add_number(text, "LEAD", (CHUNK - self->lag * STEPS % CHUNK) % CHUNK);
    penstock__text_add(text, "#define WARM %d\n", (int)self->warm);
    add_number(text, "BASE", self->base);
    add_number(text, "NVIDIA_PAIRS", self->pairs);
    penstock__gpu_viterbi_steps(text, self, viterbi);
}

int penstock__gpu_viterbi_source(struct gpu_text *text, const penstock_context *context, const struct gpu_viterbi *self,
                                 const struct penstock_problem *problem, enum gpu_viterbi_program program)
{
    static const char *const registers[] = {"portability.h", "blocks.h", "pairs.h", "viterbi.cl", NULL};
    static const char *const rest[] = {"portability.h", "blocks.h", "rows.h", "whole.h", NULL};
    static const char *const both[] = {"portability.h", "blocks.h", "rows.h", "pairs.h", "viterbi.cl", "whole.h", NULL};
    const char *const *const files[] = {
        [GPU_VITERBI_REGISTERS] = registers, [GPU_VITERBI_REST] = rest, [GPU_VITERBI_BOTH] = both};
    program = self->fast ? program : GPU_VITERBI_REST;
    add_number(text, "CPU", self->cpu);
    if (self->rows_group != ROWS_GROUP)
        add_number(text, "ROWS_GROUP", self->rows_group);
    if (self->check_group != CHECK_GROUP)
        add_number(text, "CHECK_GROUP", self->check_group);
    add_format(text, problem);
    add_code(text, self, &problem->viterbi);
    add_sizes(text, self, problem);
    if (program & GPU_VITERBI_REGISTERS)
        add_fast(text, self, &problem->viterbi);
    return penstock__gpu_source_files(text, context, files[program]);
}

/* ---------------------------------------------------------------- kernels --------------------- */

const char *penstock__gpu_viterbi_name(const struct gpu_viterbi *self, const struct penstock_problem *problem,
                                       unsigned kernel)
{
    const struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    const bool own_scale = viterbi->soft == PENSTOCK_SOFT_F32 && viterbi->scale == 0;
    if ((kernel == GPU_VITERBI_LEVEL && !own_scale) || (kernel == GPU_VITERBI_FILL && self->direct) ||
        ((kernel == GPU_VITERBI_DECODE || kernel == GPU_VITERBI_CHECK) && !self->fast))
        return NULL;
    return names[kernel];
}

unsigned penstock__gpu_viterbi_group(const struct gpu_viterbi *self, unsigned kernel)
{
    const unsigned groups[GPU_VITERBI_KERNELS] = {LEVEL_GROUP, self->rows_group, self->group, self->check_group,
                                                  self->states};
    return groups[kernel];
}

size_t penstock__gpu_viterbi_local(const struct gpu_viterbi *self, unsigned kernel)
{
    if (kernel == GPU_VITERBI_LEVEL)
        return (size_t)2 * LEVEL_GROUP * sizeof(double);
    if (kernel == GPU_VITERBI_WHOLE)
        return (size_t)4 * (3 * self->states + TILE * self->stride / 4 + 1);
    return kernel == GPU_VITERBI_DECODE ? self->group * ring_bytes(self) : 0;
}

/* ---------------------------------------------------------------- a batch --------------------- */

static size_t groups_for(size_t items, size_t group)
{
    return (items + group - 1) / group;
}

/* Nanoseconds of a multiprocessor for a step of so many work-items, as measured on an H200: it issues to four warps at
 * a time, and the first ones wait for their own results. */
static double step_time(size_t items)
{
    return items ? 51 + 73.5 * (double)groups_for(items, 4 * WARP) : 0;
}

/* Of the multiprocessor that has most groups. */
static double time_of(const struct gpu_viterbi *self, size_t windows, size_t steps, unsigned units)
{
    const size_t groups = groups_for(groups_for(windows, self->group), units), beside = self->full / self->group;
    return (double)steps *
           ((double)(groups / beside) * step_time(beside * self->group) + step_time(groups % beside * self->group));
}

/* How many windows a block is cut into, and their length, so that the multiprocessors have work at all times. */
static void cut(struct gpu_viterbi_job *work, const struct gpu_viterbi *self, size_t steps, size_t count,
                unsigned units)
{
    const size_t beside = self->warm + STEPS * self->lag + CHUNK;
    double best = 0;
    size_t most = self->cpu ? 1 : steps / LEAST_WINDOW;
    most = most < 1 ? 1 : most > MOST_WINDOWS ? MOST_WINDOWS : most;
    for (size_t n = self->windows ? self->windows : 1; n <= (self->windows ? self->windows : most); n++) {
        size_t length = penstock__round_up((steps + n - 1) / n, CHUNK), windows = (steps + length - 1) / length;
        double time = time_of(self, windows * count, length + (windows > 1 ? beside : CHUNK), units);
        if (best == 0 || time < best * WORTH) {
            best = time;
            work->windows = (uint32_t)windows;
            work->length = (uint32_t)length;
        }
    }
}

/* A launch that does not fill the multiprocessors goes to those which the kernel before has left, three groups to one
 * where others have none, unless each takes so much memory that there is no room for more than the fullest must have.
 */
static size_t decode_local(const struct gpu_viterbi *self, size_t groups, unsigned units)
{
    const size_t needs = penstock__gpu_viterbi_local(self, GPU_VITERBI_DECODE), most = groups_for(groups, units);
    const size_t share = self->local_bytes / (most + 1);
    return share > needs ? share : needs;
}

int penstock__gpu_viterbi_job(struct gpu_viterbi_job *work, const struct penstock_plan_state *plan,
                              const struct gpu_viterbi *self, const struct penstock_job *job)
{
    const struct penstock_viterbi_problem *viterbi = &plan->problem->viterbi;
    const size_t steps = row_steps(self, viterbi, viterbi->bits), count = job->frames;
    const size_t kept = (steps + TILE - 1) / TILE * self->states * sizeof(uint32_t);
    const unsigned units = plan->device->compute_units ? plan->device->compute_units : 1;
    size_t all_windows, groups = DECISION_BYTES / kept;
    *work = (struct gpu_viterbi_job){.count = (int32_t)count, .windows = 1, .length = (uint32_t)steps};
    if (self->fast)
        cut(work, self, steps, count, units);
    all_windows = count * work->windows;
    if (count > INT32_MAX / 64 || all_windows > INT32_MAX ||
        count * (self->row_bytes / 4) / self->rows_group > INT32_MAX)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu blocks are too many for one batch", plan->device->name,
                               count);
    groups = groups > (size_t)units * WHOLE_PER_UNIT ? (size_t)units * WHOLE_PER_UNIT : groups;
    groups = groups > count ? count : groups < 1 ? 1 : groups;
    work->whole_groups = (uint32_t)groups;
    work->bytes = self->direct ? job->samples : count * self->row_bytes;
    work->mask = ~(((1u << self->history) - 1) * 0x10001u);
    work->memory[GPU_VITERBI_ROWS] = self->direct ? 0 : count * self->row_bytes;
    work->memory[GPU_VITERBI_WORK] = sizeof(uint32_t) * (4 + 2 * count + all_windows * (work->windows > 1 ? 65 : 1));
    work->memory[GPU_VITERBI_DECISIONS] = groups * kept;
    for (unsigned i = 0; i < GPU_VITERBI_KERNELS; i++) {
        const size_t items[GPU_VITERBI_KERNELS] = {count * LEVEL_GROUP, count * (self->row_bytes / 4), all_windows,
                                                   all_windows, groups * self->states};
        if (penstock__gpu_viterbi_name(self, plan->problem, i))
            work->groups[i] = groups_for(items[i], penstock__gpu_viterbi_group(self, i));
        work->local[i] = penstock__gpu_viterbi_local(self, i);
    }
    work->local[GPU_VITERBI_DECODE] = decode_local(self, work->groups[GPU_VITERBI_DECODE], units);
    return PENSTOCK_OK;
}
