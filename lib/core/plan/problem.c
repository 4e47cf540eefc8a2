/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sizes in host memory that follow from a problem. */
#include "core/plan/problem.h"

static penstock_format format_of(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_OFDM       ? problem->ofdm.format
           : problem->kind == PENSTOCK_PROBLEM_FILTER   ? problem->filter.format
           : problem->kind == PENSTOCK_PROBLEM_RESAMPLE ? problem->resample.format
                                                        : problem->fft.format;
}

/* Of blocks that are decoded: bytes of a sample; else 0. */
static size_t soft_bytes(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_VITERBI ? penstock__viterbi_soft_bytes(&problem->viterbi)
           : problem->kind == PENSTOCK_PROBLEM_LDPC  ? penstock__ldpc_soft_bytes(&problem->ldpc)
                                                     : 0;
}

static int check_blocks(const struct penstock_problem *problem, size_t sent, size_t out_bytes)
{
    if (!sent || !problem->batch || problem->in_bytes != sent * soft_bytes(problem) || problem->out_bytes != out_bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a block's bytes are not those of its description");
    return PENSTOCK_OK;
}

int penstock__problem_check(const struct penstock_problem *problem)
{
    const struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    if (problem->kind == PENSTOCK_PROBLEM_LDPC)
        return check_blocks(problem, penstock__ldpc_sent(&problem->ldpc), penstock__ldpc_out_bytes(&problem->ldpc));
    if (problem->kind == PENSTOCK_PROBLEM_VITERBI)
        return check_blocks(problem, penstock__viterbi_sent(viterbi, penstock__viterbi_steps(viterbi, viterbi->bits)),
                            penstock__viterbi_out_bytes(viterbi, viterbi->bits));
    const struct penstock_fft_problem *fft = &problem->fft;
    size_t sample = penstock_format_bytes(fft->format), in_bytes;
    if (problem->kind != PENSTOCK_PROBLEM_FFT || !fft->n || !fft->average || !sample || !problem->batch)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a problem needs n, average, batch and a format");
    in_bytes = (fft->gathered ? 1 : fft->spacing) * sample;
    if (problem->in_bytes != in_bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "in_bytes is %zu, but should be %zu", problem->in_bytes,
                               in_bytes);
    if (problem->out_bytes != penstock__fft_out_count(fft) * penstock__fft_out_item(fft))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "out_bytes is %zu, but should be %zu", problem->out_bytes,
                               penstock__fft_out_count(fft) * penstock__fft_out_item(fft));
    if ((fft->fold || fft->hop) && !penstock__fft_folds(fft) && !penstock__fft_overlaps(fft))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "a folded problem is of complex samples, weighted, forward; an overlapped one reverse");
    if (fft->average > 1 && fft->output == PENSTOCK_OUTPUT_COMPLEX)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "complex output cannot be averaged");
    return PENSTOCK_OK;
}

unsigned penstock__problem_average(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT ? problem->fft.average : 1;
}

bool penstock__problem_gathered(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.gathered;
}

bool penstock__problem_frame_by_frame(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.format != PENSTOCK_PLANAR &&
           problem->fft.average == 1 && !problem->fft.fold && problem->in_bytes == problem->out_bytes;
}

size_t penstock__problem_samples(const struct penstock_problem *problem, size_t frames)
{
    const size_t soft = soft_bytes(problem);
    return soft ? frames * (problem->in_bytes / soft) : penstock__fft_samples(&problem->fft, frames);
}

size_t penstock__problem_in_bytes(const struct penstock_problem *problem, size_t samples)
{
    const size_t soft = soft_bytes(problem);
    return samples * (soft ? soft : penstock_format_bytes(format_of(problem)));
}

size_t penstock__problem_out_bytes(const struct penstock_problem *problem, size_t frames)
{
    return frames / penstock__problem_average(problem) * problem->out_bytes;
}

/* The largest number of frames whose bytes can be counted. */
static size_t most_frames(const struct penstock_problem *problem)
{
    bool fft = problem->kind == PENSTOCK_PROBLEM_FFT;
    size_t once = fft ? penstock__problem_in_bytes(problem, problem->fft.skip + penstock__fft_frame(&problem->fft)) : 0;
    return (PTRDIFF_MAX - once) / (problem->in_bytes + problem->out_bytes + sizeof(struct penstock_gather));
}

int penstock__problem_check_frames(const struct penstock_problem *problem, size_t frames)
{
    if (frames > most_frames(problem))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%zu frames are more than memory can hold", frames);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- devices --------------------- */

int penstock__problem_rank(const struct penstock_device *device, const struct penstock_problem *problem)
{
    bool planes = problem->kind == PENSTOCK_PROBLEM_FFT && penstock__fft_is_plane(&problem->fft);
    if (planes && !(device->backend->flags & PENSTOCK_BACKEND_PLANES))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not transform rows and columns", device->name);
    if (problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.fold && !device->backend->folds)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not fold samples, nor overlap transforms",
                               device->name);
    if (problem->kind == PENSTOCK_PROBLEM_VITERBI && !(device->backend->flags & PENSTOCK_BACKEND_FEC))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not decode convolutional codes", device->name);
    if (problem->kind == PENSTOCK_PROBLEM_LDPC && !(device->backend->flags & PENSTOCK_BACKEND_LDPC))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not decode LDPC codes", device->name);
    if (problem->kind == PENSTOCK_PROBLEM_RESAMPLE && !(device->backend->flags & PENSTOCK_BACKEND_RESAMPLE))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not resample", device->name);
    if (problem->kind == PENSTOCK_PROBLEM_CODED && !(device->backend->flags & PENSTOCK_BACKEND_CODED))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not bring coded symbols to a decoder", device->name);
    return device->backend->supports(device, problem);
}

int penstock__problem_supported(const struct penstock_device *device, const struct penstock_problem *problem)
{
    bool options = problem->kind == PENSTOCK_PROBLEM_FFT && penstock__fft_has_options(&problem->fft);
    if (options && !(device->backend->flags & PENSTOCK_BACKEND_OPTIONS))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s takes no penstock_fft_options; GPUs do", device->name);
    return penstock__problem_rank(device, problem);
}
