/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What kernels that do more than a transform have in common. */
#include "gpu/fused_kinds.h"
#include "gpu/launch.h"
#include "gpu/tuning_parameters.h"

#include <string.h>

#define BEST_SAMPLES ((size_t)1 << 20)  /* of a batch from which on the cost of a launch does not count */
#define MOST_SCRATCH ((size_t)64 << 20) /* bytes of a slot */
#define UNIT_GROUPS  16                 /* that a compute unit runs at once, at most */
#define OF_POWERS    2                  /* variants of OFDM's kernel for powers of two, before those of any length */

/* Whether kernels/symbols.cl does it. */
static bool any_length(const struct fused_kernel *self)
{
    return self->decomposition.count > 0;
}

static size_t average_of(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT ? problem->fft.average : 1;
}

/* Of a problem; `*variant` becomes that of the kind. */
static const struct fused_kind *kind_of(const struct penstock_problem *problem, unsigned *variant)
{
    static const struct fused_kind *const kinds[] = {[PENSTOCK_PROBLEM_FFT] = &penstock__fused_spectrum,
                                                     [PENSTOCK_PROBLEM_OFDM] = &penstock__fused_symbols,
                                                     [PENSTOCK_PROBLEM_FILTER] = &penstock__fused_filter,
                                                     [PENSTOCK_PROBLEM_LDPC] = &penstock__fused_ldpc,
                                                     [PENSTOCK_PROBLEM_RESAMPLE] = &penstock__fused_resample,
                                                     [PENSTOCK_PROBLEM_CODED] = &penstock__fused_deinterleave};
    const size_t n = problem->ofdm.n;
    if (problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.summed)
        return &penstock__fused_overlap;
    if (problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.average == 1)
        return &penstock__fused_plain;
    if (problem->kind == PENSTOCK_PROBLEM_CODED && problem->coded.tally)
        return &penstock__fused_tally;
    if (problem->kind == PENSTOCK_PROBLEM_OFDM && !problem->ofdm.mixed && n >= FUSED_LEAST && n <= FUSED_MOST &&
        !(n & (n - 1))) {
        if (*variant < OF_POWERS)
            return &penstock__fused_ofdm;
        *variant -= OF_POWERS;
    }
    return kinds[problem->kind];
}

static bool whole_block(const struct penstock_filter_problem *filter)
{
    return filter->partitions && filter->decimation && filter->block && filter->interpolation &&
           (filter->interpolation == 1 || filter->partitions == 1) &&
           filter->block * filter->interpolation % filter->decimation == 0;
}

static int check_transform(const struct penstock_problem *problem, const char *device)
{
    const bool ofdm = problem->kind == PENSTOCK_PROBLEM_OFDM;
    const penstock_format format = ofdm ? problem->ofdm.format : problem->filter.format;
    const size_t n = ofdm ? problem->ofdm.n : problem->filter.n;
    if (format == PENSTOCK_PLANAR || (format == PENSTOCK_F32 && ofdm))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s takes no %s samples in one kernel for all", device,
                               penstock_format_name(format));
    if (ofdm ? n < 2 || n > FUSED_MOST : n < FUSED_LEAST || n > FUSED_MOST || (n & (n - 1)))
        return penstock__error(
            PENSTOCK_ERR_UNSUPPORTED, "%s has one kernel for all with %s from %d to %d points, not %zu", device,
            ofdm ? "transforms" : "transforms of powers of two", ofdm ? 2 : FUSED_LEAST, FUSED_MOST, n);
    if (!ofdm && !whole_block(&problem->filter))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: a block of %zu samples makes no whole values", device,
                               problem->filter.block);
    return PENSTOCK_OK;
}

int penstock__fused_check(const struct penstock_problem *problem, const char *device)
{
    const struct fused_kind *kind = kind_of(problem, &(unsigned){0});
    return (kind->check ? kind->check : check_transform)(problem, device);
}

bool penstock__fused_first(const struct penstock_problem *problem, const struct gpu_limits *limits)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    struct gpu_tuning tuning;
    if (problem->kind != PENSTOCK_PROBLEM_FFT || limits->cpu || penstock__fft_is_plane(fft) || fft->transposed ||
        penstock__fft_has_options(fft))
        return false;
    penstock__gpu_tuning_parameters(&tuning, (unsigned)fft->n, penstock__gpu_wanted(limits, 0));
    if (tuning.fused == TUNING_NONE)
        return false;
    return penstock__fused_spectrum_fits(fft) || penstock__fused_plain_fits(fft, limits);
}

int penstock__fused_kernel_config(struct fused_kernel *self, const struct penstock_problem *problem,
                                  const struct gpu_limits *limits, unsigned variant, bool warps)
{
    memset(self, 0, sizeof *self);
    self->kind = kind_of(problem, &variant);
    self->warps = warps;
    const int status = self->kind->configure(self, problem, limits, variant);
    if (self->config.n) {
        self->per_group = self->config.per_group;
        self->group[0] = self->config.lanes * self->config.per_group;
        self->group[1] = 1;
    }
    return status;
}

int penstock__fused_source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                           const struct penstock_problem *problem)
{
    return self->kind->source(text, context, self, problem);
}

int penstock__fused_kernel_table(float **values, size_t *count, const struct fused_kernel *self,
                                 const struct penstock_problem *problem)
{
    return self->kind->table ? self->kind->table(values, count, self, problem)
                             : penstock__fused_table(values, count, &self->config, 0);
}

const char *penstock__fused_name(const struct fused_kernel *self, unsigned kernel)
{
    return self->kind->names[kernel];
}

unsigned penstock__fused_pick(const struct fused_kernel *self, const struct penstock_job *job)
{
    if (self->kind != &penstock__fused_ofdm)
        return 0;
    return job->gather ? FUSED_OFDM_LISTED : job->narrow ? FUSED_OFDM_NARROW : FUSED_OFDM_EVEN;
}

void penstock__fused_describe(struct penstock_plan_state *plan, const struct fused_kernel *self)
{
    const struct penstock_problem *problem = plan->problem;
    const struct gpu_decomposition *decomposition = &self->decomposition;
    const struct gpu_launch_config *whole = &decomposition->pass[0].config;
    const unsigned *radix = any_length(self) ? whole->radix : self->config.radix;
    const unsigned passes = any_length(self) ? whole->chain : self->config.passes;
    const size_t average = average_of(problem), length = any_length(self) ? decomposition->length : self->config.n;
    penstock__gpu_describe(plan, "%s, ", problem->kind == PENSTOCK_PROBLEM_OFDM ? "ofdm" : self->kind->names[0]);
    penstock__gpu_describe_method(plan, decomposition);
    for (unsigned s = 0; s < passes; s++)
        penstock__gpu_describe(plan, "%s%u", s ? "x" : "radix ", radix[s]);
    penstock__gpu_describe(plan, "%s%u a group", passes ? ", " : "", self->per_group);
    plan->kernels = plan->passes = 1;
    if (passes)
        plan->best_batch = (BEST_SAMPLES / length + average - 1) / average * average;
    else if (problem->kind == PENSTOCK_PROBLEM_LDPC)
        plan->best_batch = BEST_SAMPLES / penstock__ldpc_bits(&problem->ldpc) + 1;
    else
        plan->best_batch = BEST_SAMPLES;
}

/* How many samples, or values or pieces of output, a kernel counts from the first one by k_size at most. */
static uint64_t counted(const struct fused_kernel *self, const struct penstock_problem *problem,
                        const struct penstock_job *job, size_t rows)
{
    uint64_t values = 0;
    if (problem->kind == PENSTOCK_PROBLEM_LDPC || problem->kind == PENSTOCK_PROBLEM_CODED ||
        self->kind == &penstock__fused_plain)
        return 0;
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        return (uint64_t)rows * problem->fft.n;
    if (self->kind == &penstock__fused_ofdm)
        values = (uint64_t)rows * (penstock__ofdm_row(&problem->ofdm) / self->piece);
    return values > job->samples ? values : job->samples;
}

size_t penstock__fused_at_once(const struct penstock_plan_state *plan, const struct fused_kernel *self, size_t groups)
{
    const size_t units = plan->device->compute_units ? plan->device->compute_units : 1;
    size_t most = units * UNIT_GROUPS;
    if (!self->scratch_bytes)
        return groups;
    if (most > MOST_SCRATCH / self->scratch_bytes)
        most = MOST_SCRATCH / self->scratch_bytes;
    return most > groups ? groups : most ? most : 1;
}

int penstock__fused_grid(size_t *rows, size_t *groups, const struct penstock_plan_state *plan,
                         const struct fused_kernel *self, const struct penstock_job *job)
{
    size_t group = (size_t)self->group[0] * self->group[1];
    *rows = job->frames / average_of(plan->problem);
    *groups = (*rows + self->per_group - 1) / self->per_group;
    if (job->frames > (size_t)INT32_MAX / group * self->per_group - self->per_group ||
        counted(self, plan->problem, job, *rows) > UINT32_MAX)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu frames are too many for one batch", plan->device->name,
                               job->frames);
    return PENSTOCK_OK;
}
