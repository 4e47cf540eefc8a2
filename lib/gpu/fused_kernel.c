/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What kernels that do more than a transform have in common. */
#include "gpu/fused_coded.h"
#include "gpu/fused_filter.h"
#include "gpu/fused_ldpc.h"
#include "gpu/fused_ofdm.h"
#include "gpu/fused_plain.h"
#include "gpu/fused_resample.h"
#include "gpu/fused_spectrum.h"
#include "gpu/fused_symbols.h"
#include "gpu/launch.h"
#include "gpu/tuning_parameters.h"

#include <string.h>

#define BEST_SAMPLES ((size_t)1 << 20)  /* of a batch from which on the cost of a launch does not count */
#define MOST_SCRATCH ((size_t)64 << 20) /* bytes of a slot */
#define UNIT_GROUPS  16                 /* that a compute unit runs at once, at most */

static bool is_ofdm(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_OFDM;
}

/* Of kind FFT: a transform without an average. */
static bool is_plain(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.average == 1;
}

/* Whether kernels/symbols.cl does it. */
static bool any_length(const struct fused_kernel *self)
{
    return self->decomposition.count > 0;
}

static bool is_ldpc(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_LDPC;
}

static bool is_resample(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_RESAMPLE;
}

static bool is_coded(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_CODED;
}

static size_t average_of(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT ? problem->fft.average : 1;
}

static bool whole_block(const struct penstock_filter_problem *filter)
{
    return filter->partitions && filter->decimation && filter->block && filter->block % filter->decimation == 0;
}

int penstock__fused_check(const struct penstock_problem *problem, const char *device)
{
    if (is_ldpc(problem))
        return penstock__fused_ldpc_check(&problem->ldpc, device);
    if (is_resample(problem))
        return penstock__fused_resample_check(&problem->resample, device);
    if (is_coded(problem))
        return penstock__fused_coded_check(&problem->coded, device);
    penstock_format format = is_ofdm(problem) ? problem->ofdm.format : problem->filter.format;
    size_t n = is_ofdm(problem) ? problem->ofdm.n : problem->filter.n;
    if (format == PENSTOCK_PLANAR || (format == PENSTOCK_F32 && is_ofdm(problem)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s takes no %s samples in one kernel for all", device,
                               penstock_format_name(format));
    if (is_ofdm(problem) ? n < 2 || n > FUSED_MOST : n < FUSED_LEAST || n > FUSED_MOST || (n & (n - 1)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s has one kernel for all with %s from %d to %d points, not %zu", device,
                               is_ofdm(problem) ? "transforms" : "transforms of powers of two",
                               is_ofdm(problem) ? 2 : FUSED_LEAST, FUSED_MOST, n);
    if (!is_ofdm(problem) && !whole_block(&problem->filter))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: a block of %zu samples makes no whole values", device,
                               problem->filter.block);
    return PENSTOCK_OK;
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

static int shaped(struct fused_kernel *self, int status)
{
    self->per_group = self->config.per_group;
    self->group[0] = self->config.lanes * self->config.per_group;
    self->group[1] = 1;
    return status;
}

int penstock__fused_kernel_config(struct fused_kernel *self, const struct penstock_problem *problem,
                                  const struct gpu_limits *limits, unsigned variant, bool warps)
{
    bool dense = is_ofdm(problem) && penstock__fused_ofdm_fits(&problem->ofdm);
    int status;
    memset(self, 0, sizeof *self);
    if (is_ldpc(problem))
        return penstock__fused_ldpc_config(self, &problem->ldpc, limits, variant);
    if (is_resample(problem))
        return penstock__fused_resample_config(self, &problem->resample, limits, variant);
    if (is_coded(problem))
        return penstock__fused_coded_config(self, &problem->coded, limits, variant);
    if (is_plain(problem))
        return shaped(self, penstock__fused_plain_config(self, &problem->fft, limits));
    if (is_ofdm(problem) && (!dense || variant >= FUSED_OFDM_VARIANTS))
        return penstock__fused_symbols_config(self, &problem->ofdm, limits,
                                              dense ? variant - FUSED_OFDM_VARIANTS : variant);
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        status = penstock__fused_spectrum_config(self, &problem->fft, limits);
    else
        status = dense ? penstock__fused_ofdm_config(self, &problem->ofdm, limits, variant, warps)
                       : penstock__fused_filter_config(self, &problem->filter, limits, variant);
    return shaped(self, status);
}

int penstock__fused_source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                           const struct penstock_problem *problem)
{
    if (is_ldpc(problem))
        return penstock__fused_ldpc_source(text, context, self, problem);
    if (is_resample(problem))
        return penstock__fused_resample_source(text, context, self, &problem->resample);
    if (is_coded(problem))
        return penstock__fused_coded_source(text, context, self, &problem->coded);
    if (any_length(self))
        return penstock__fused_symbols_source(text, context, self, &problem->ofdm);
    if (is_plain(problem))
        return penstock__fused_plain_source(text, context, self, &problem->fft);
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        return penstock__fused_spectrum_source(text, context, self, &problem->fft);
    return is_ofdm(problem) ? penstock__fused_ofdm_source(text, context, self, &problem->ofdm)
                            : penstock__fused_filter_source(text, context, self, &problem->filter);
}

int penstock__fused_kernel_table(float **values, size_t *count, const struct fused_kernel *self,
                                 const struct penstock_problem *problem)
{
    if (is_ldpc(problem) || is_resample(problem)) { /* none, but a buffer is not empty */
        *count = 1;
        return (*values = penstock__calloc(*count, sizeof **values)) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    }
    if (is_coded(problem))
        return penstock__fused_coded_table(values, count, &problem->coded);
    if (any_length(self))
        return penstock__fused_symbols_table(values, count, self, &problem->ofdm);
    if (is_ofdm(problem))
        return penstock__fused_ofdm_table(values, count, self, &problem->ofdm);
    if (is_plain(problem))
        return penstock__fused_plain_table(values, count, self, &problem->fft);
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        return penstock__fused_spectrum_table(values, count, self, &problem->fft);
    *count = penstock__fused_table_floats(&self->config);
    if (!(*values = penstock__calloc(*count, sizeof **values)))
        return PENSTOCK_ERR_MEMORY;
    penstock__fused_table(*values, &self->config);
    return PENSTOCK_OK;
}

const char *penstock__fused_name(const struct fused_kernel *self, const struct penstock_problem *problem,
                                 unsigned kernel)
{
    if (is_ofdm(problem) && !any_length(self))
        return penstock__fused_ofdm_names[kernel];
    if (kernel)
        return NULL;
    return is_ofdm(problem)                        ? "symbols"
           : is_ldpc(problem)                      ? "ldpc"
           : is_resample(problem)                  ? "resample"
           : is_coded(problem)                     ? problem->coded.tally ? "tally" : "deinterleave"
           : is_plain(problem)                     ? "plain"
           : problem->kind == PENSTOCK_PROBLEM_FFT ? "spectrum"
                                                   : "filter";
}

unsigned penstock__fused_pick(const struct fused_kernel *self, const struct penstock_problem *problem,
                              const struct penstock_job *job)
{
    if (!is_ofdm(problem) || any_length(self))
        return 0;
    return job->gather ? FUSED_OFDM_LISTED : job->narrow ? FUSED_OFDM_NARROW : FUSED_OFDM_EVEN;
}

static size_t length_of(const struct fused_kernel *self)
{
    return any_length(self) ? self->decomposition.length : self->config.n;
}

void penstock__fused_describe(struct penstock_plan_state *plan, const struct fused_kernel *self)
{
    static const char *const kinds[] = {"spectrum", "ofdm", "filter"};
    const struct gpu_decomposition *decomposition = &self->decomposition;
    const struct gpu_launch_config *whole = &decomposition->pass[0].config;
    size_t average = average_of(plan->problem);
    if (is_ldpc(plan->problem)) {
        penstock__gpu_describe(plan, "ldpc, %u a group", self->per_group);
        plan->kernels = plan->passes = 1;
        plan->best_batch = BEST_SAMPLES / penstock__ldpc_bits(&plan->problem->ldpc) + 1;
        return;
    }
    if (is_resample(plan->problem) || is_coded(plan->problem)) {
        penstock__gpu_describe(plan, "%s, %u a group", penstock__fused_name(self, plan->problem, 0), self->per_group);
        plan->kernels = plan->passes = 1;
        plan->best_batch = BEST_SAMPLES;
        return;
    }
    penstock__gpu_describe(plan, "%s, ", is_plain(plan->problem) ? "plain" : kinds[plan->problem->kind]);
    penstock__gpu_describe_method(plan, decomposition);
    penstock__gpu_describe(plan, "radix");
    for (unsigned s = 0; s < (any_length(self) ? whole->chain : self->config.passes); s++)
        penstock__gpu_describe(plan, "%s%u", s ? "x" : " ", any_length(self) ? whole->radix[s] : self->config.radix[s]);
    penstock__gpu_describe(plan, ", %u a group", self->per_group);
    plan->kernels = plan->passes = 1;
    plan->best_batch = (BEST_SAMPLES / length_of(self) + average - 1) / average * average;
}

/* How many samples, or values or pieces of output, a kernel counts from the first one by k_size at most. */
static uint64_t counted(const struct fused_kernel *self, const struct penstock_problem *problem,
                        const struct penstock_job *job, size_t rows)
{
    uint64_t values = 0;
    if (is_ldpc(problem) || is_coded(problem))
        return 0;
    if (is_resample(problem))
        return job->samples;
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        return is_plain(problem) ? 0 : (uint64_t)rows * problem->fft.n;
    if (is_ofdm(problem) && !any_length(self))
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
