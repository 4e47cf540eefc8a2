/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The OFDM kernel for any length: a transform's constants as of kernels/fft.cl, and what is done before and after. */
#include "gpu/fused_kinds.h"
#include "gpu/prologue.h"
#include "gpu/source.h"

#include <string.h>

#define FEW_PILOTS 4  /* each work-item adds up so many itself */
#define MOST_PARTS 16 /* work-items that share the adding-up of more */

static struct penstock_fft_problem transform_of(const struct penstock_ofdm_problem *ofdm)
{
    return (struct penstock_fft_problem){
        .n = ofdm->n, .format = ofdm->format, .spacing = ofdm->n, .scale = 1, .average = 1, .gathered = true};
}

/* ---------------------------------------------------------------- configuration --------------- */

static unsigned parts_of(const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm)
{
    unsigned lanes = self->decomposition.pass[0].config.lanes;
    return !ofdm->own || ofdm->pilot_count <= FEW_PILOTS ? 1 : lanes < MOST_PARTS ? lanes : MOST_PARTS;
}

/* Pairs of local memory of one transform: its values, the pilots, and two sums of each part; an even number. */
static size_t kept_of(const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm)
{
    return penstock__round_up(ofdm->n + ofdm->pilot_count + (ofdm->own ? 2 * (size_t)parts_of(self, ofdm) : 0), 2);
}

/* Variants are those of transforms. Unsupported where the device has too little local memory. */
static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    const struct penstock_ofdm_problem *ofdm = &problem->ofdm;
    const struct penstock_fft_problem fft = transform_of(ofdm);
    struct gpu_launch_config *config = &self->decomposition.pass[0].config;
    int status = penstock__gpu_decomposition(&self->decomposition, &fft, limits, variant);
    if (status)
        return status;
    if (self->decomposition.count > 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "a transform of %zu points takes %u kernels with %zu bytes of local memory", ofdm->n,
                               self->decomposition.count, limits->local_bytes);
    size_t kept = kept_of(self, ofdm) * sizeof(penstock_cf32);
    while (config->per_group > 1 && config->per_group * kept > limits->local_bytes)
        config->per_group--;
    size_t exchange = penstock__gpu_local_bytes(config);
    self->local_bytes =
        penstock__round_up(config->per_group * kept > exchange ? config->per_group * kept : exchange, 16);
    if (self->local_bytes > limits->local_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "symbols of %zu points need %zu bytes of local memory, the device has %zu", ofdm->n,
                               self->local_bytes, limits->local_bytes);
    self->per_group = config->per_group;
    self->group[0] = penstock__gpu_group_x(config);
    self->group[1] = penstock__gpu_group_size(config) / self->group[0];
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- table ----------------------- */

/* Where in the table bins and values are, behind those of the transform. */
struct places {
    size_t bins, pilot_bins, values, count;
};

static struct places places_of(const struct penstock_ofdm_problem *ofdm, const struct gpu_table *table)
{
    struct places places = {.bins = table->count};
    places.pilot_bins = places.bins + ofdm->carrier_count;
    places.values = places.pilot_bins + ofdm->pilot_count;
    places.count = places.values + 2 * ofdm->pilot_rows * ofdm->pilot_count;
    return places;
}

static void fill(float *values, const struct penstock_ofdm_problem *ofdm, const struct places *places)
{
    for (size_t c = 0; c < ofdm->carrier_count; c++)
        values[places->bins + c] = (float)ofdm->bins[c];
    for (size_t p = 0; p < ofdm->pilot_count; p++)
        values[places->pilot_bins + p] = (float)ofdm->pilot_bins[p];
    if (ofdm->pilot_count)
        memcpy(values + places->values, ofdm->pilot_values,
               ofdm->pilot_rows * ofdm->pilot_count * sizeof *ofdm->pilot_values);
}

static int table(float **values, size_t *count, const struct fused_kernel *self, const struct penstock_problem *problem)
{
    const struct penstock_ofdm_problem *ofdm = &problem->ofdm;
    const struct penstock_fft_problem fft = transform_of(ofdm);
    struct gpu_table whole;
    int status = penstock__gpu_table(&whole, &self->decomposition, 0, &fft);
    if (status)
        return status;
    struct places places = places_of(ofdm, &whole);
    *count = places.count;
    if ((*values = penstock__calloc(*count, sizeof **values))) {
        memcpy(*values, whole.values, whole.count * sizeof **values);
        fill(*values, ofdm, &places);
    }
    penstock__gpu_table_free(&whole);
    return *values ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* ---------------------------------------------------------------- source ---------------------- */

/* A word for points lane + offset, lane < limit. */
static void add_call(struct gpu_text *text, const struct gpu_launch_config *config, unsigned limit, const char *word,
                     unsigned slot, unsigned offset)
{
    if (limit < config->lanes)
        penstock__text_add(text, " if (lane < %u)", limit);
    penstock__text_add(text, " %s(%u, %u)", word, slot, offset);
}

static void add_turns(struct gpu_text *text, const struct gpu_decomposition *decomposition)
{
    const struct gpu_launch_config *config = &decomposition->pass[0].config;
    size_t count = decomposition->method == GPU_BLUESTEIN ? decomposition->length : decomposition->total;
    penstock__text_add(text, "#define TURN_POINTS");
    if (decomposition->method == GPU_RADER)
        penstock__text_add(text, " if (lane == 0) LOAD_TURN(_extra, 0)");
    for (unsigned b = 0; b < config->share[0]; b++)
        for (unsigned k = 0; k < config->radix[0]; k++)
            if (penstock__gpu_offset(config, 0, b, k) < count)
                add_call(text, config, penstock__gpu_limit(config, 0, b), "TURN_SAMPLE",
                         penstock__gpu_slot_in(config, 0, b, k), penstock__gpu_offset(config, 0, b, k));
    penstock__text_add(text, "\n");
}

static void add_keeps(struct gpu_text *text, const struct gpu_decomposition *decomposition)
{
    const struct gpu_launch_config *config = &decomposition->pass[0].config;
    unsigned s = config->stages - 1;
    penstock__text_add(text, "#define KEEP_POINTS");
    for (unsigned b = 0; b < config->share[s]; b++)
        for (unsigned k = 0; k < config->radix[s]; k++)
            if (penstock__gpu_offset(config, s, b, k) < decomposition->length)
                add_call(text, config, penstock__gpu_limit(config, s, b), "KEEP_POINT",
                         penstock__gpu_slot_out(config, s, b, k), penstock__gpu_offset(config, s, b, k));
    penstock__text_add(text, "\n");
}

static void add_sizes(struct gpu_text *text, const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm,
                      const struct gpu_table *table)
{
    struct places places = places_of(ofdm, table);
    penstock__text_add(text,
                       "#define CARRIERS %zu\n#define PITCH %u\n#define COMPLETE %d\n#define OWN %d\n"
                       "#define PILOTS %zu\n#define PARTS %u\n#define POINTS_AT %zu\n"
                       "#define PILOTS_AT %zu\n#define PHASE_AT %zu\n#define GAINS %zu\n#define KEPT %zu\n"
                       "#define LOCAL_PIECES %zu\n#define BINS_AT %zu\n#define PILOT_BINS_AT %zu\n"
                       "#define VALUES_AT %zu\n",
                       ofdm->carrier_count, ofdm->bits, ofdm->complete, ofdm->own, ofdm->pilot_count,
                       parts_of(self, ofdm), penstock__ofdm_points_at(ofdm), penstock__ofdm_pilots_at(ofdm),
                       penstock__ofdm_phase_at(ofdm), penstock__ofdm_coefficients(ofdm), kept_of(self, ofdm),
                       self->local_bytes / 16, places.bins, places.pilot_bins, places.values);
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_ofdm_problem *ofdm = &problem->ofdm;
    const char *const swizzle = self->decomposition.pass[0].config.swizzled ? "swizzle.h" : "";
    const char *const files[] = {"portability.h", "load.h", "store.h",    "numbers.h",  "dft.h", "stages.h",
                                 swizzle,         "real.h", "convolve.h", "symbols.cl", NULL};
    const struct penstock_fft_problem fft = transform_of(ofdm);
    struct gpu_table whole;
    int status = penstock__gpu_table(&whole, &self->decomposition, 0, &fft);
    if (status)
        return status;
    penstock__gpu_prologue(text, &self->decomposition, 0, &whole, &fft, false);
    add_sizes(text, self, ofdm, &whole);
    add_turns(text, &self->decomposition);
    add_keeps(text, &self->decomposition);
    penstock__gpu_table_free(&whole);
    return penstock__gpu_source_files(text, context, files);
}

const struct fused_kind penstock__fused_symbols = {
    .names = {"symbols"}, .configure = configure, .source = source, .table = table};
