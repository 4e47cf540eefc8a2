/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The configuration and the constants of kernels/transpose.cl. */
#include "gpu/transpose.h"
#include "gpu/prologue.h"
#include "gpu/source.h"

#define TILE 16 /* as in the kernel */

int penstock__gpu_transpose_decomposition(struct gpu_decomposition *decomposition,
                                          const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    unsigned n = (unsigned)fft->n, width = (unsigned)fft->columns, height = n / width;
    struct gpu_launch_config *config = &decomposition->pass[0].config;
    *decomposition =
        (struct gpu_decomposition){.method = GPU_TRANSPOSE, .length = n, .total = n, .side = width, .count = 1};
    decomposition->tiles = ((width + TILE - 1) / TILE) * ((height + TILE - 1) / TILE);
    decomposition->pass[0] = (struct gpu_pass){.inner = n, .first = true, .last = true};
    *config = (struct gpu_launch_config){
        .n = 1, .slots = 1, .lanes = TILE, .lows = TILE, .per_group = TILE, .cpu = limits->cpu};
    config->region = 2 * (TILE + 1);
    if (penstock__gpu_group_size(config) <= limits->max_group &&
        penstock__gpu_local_bytes(config) <= limits->local_bytes)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "a tile of %d x %d values does not fit a work-group", TILE, TILE);
}

int penstock__gpu_transpose_source(struct gpu_text *text, const penstock_context *context,
                                   const struct gpu_decomposition *decomposition, const struct gpu_table *table,
                                   const struct penstock_fft_problem *fft)
{
    static const char *const names[] = {"portability.h", "load.h", "store.h", "transpose.cl", NULL};
    penstock__gpu_prologue_memory(text, decomposition, &decomposition->pass[0], table, fft);
    penstock__text_add(text, "#define CPU %d\n#define COLUMNS 1\n#define N %u\n#define WIDTH %u\n#define HEIGHT %u\n",
                       decomposition->pass[0].config.cpu, decomposition->length, decomposition->side,
                       decomposition->length / decomposition->side);
    return penstock__gpu_source_files(text, context, names);
}
