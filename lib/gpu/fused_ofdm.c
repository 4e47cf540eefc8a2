/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The OFDM kernel: what is generated of it, and its launch. */
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#define MOST_RUNS 24 /* of bins that stand together in the output, until a table is shorter than their comparisons */

/* ---------------------------------------------------------------- configuration --------------- */

/* Measured. */
static struct fused_requirements requirements_of(size_t n)
{
    struct fused_requirements requirements = {.dense = n == 2048 ? 7 : n == 64 ? 10 : n == 512 ? 5 : n == 4096 ? 3 : 1};
    if (n == 512)
        requirements.per_group = 4;
    return requirements;
}

static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    const struct penstock_ofdm_problem *ofdm = &problem->ofdm;
    size_t row = ofdm->carrier_count * ofdm->bits;
    struct fused_config *config = &self->config;
    struct fused_requirements requirements = requirements_of(ofdm->n);
    requirements.extra = row + 16;
    int status = penstock__fused_config(config, ofdm->n, limits, variant, &requirements);
    if (status)
        return status;
    unsigned group = config->lanes * config->per_group;
    for (self->piece = 16; row % self->piece;)
        self->piece /= 2;
    self->copy_lanes =
        self->warps && config->lanes <= 32 && group % 32 == 0 && 32 / config->lanes * row % 16 == 0 ? 32 : group;
    self->local_bytes = (config->per_group * (8 * (size_t)config->region + row) + 15) / 16 * 16;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- source ---------------------- */

/* Bins next to each other that stay so in the output. */
struct run {
    uint32_t first, end, place;
};

static uint32_t *places_of(const struct penstock_ofdm_problem *ofdm)
{
    uint32_t *places = penstock__alloc(ofdm->n * sizeof *places);
    for (size_t k = 0; places && k < ofdm->n; k++)
        places[k] = FUSED_NO_CARRIER;
    for (size_t c = 0; places && c < ofdm->carrier_count; c++)
        places[ofdm->bins[c]] = (uint32_t)c;
    return places;
}

/* MOST_RUNS + 1 where there are more. */
static unsigned find_runs(struct run runs[MOST_RUNS], const uint32_t *places, size_t n)
{
    unsigned count = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (places[k] == FUSED_NO_CARRIER)
            continue;
        if (k && places[k - 1] != FUSED_NO_CARRIER && places[k] == places[k - 1] + 1) {
            runs[count - 1].end = k + 1;
            continue;
        }
        if (count == MOST_RUNS)
            return MOST_RUNS + 1;
        runs[count++] = (struct run){k, k + 1, places[k]};
    }
    return count;
}

/* The part of a slot's bins that a run has; false where it has none. */
static bool cut(struct run *part, const struct run *run, uint32_t from, uint32_t lanes)
{
    uint32_t first = run->first > from ? run->first : from, end = run->end < from + lanes ? run->end : from + lanes;
    *part = (struct run){first, end, run->place + first - run->first};
    return first < end;
}

static void add_condition(struct gpu_text *text, const struct run *part, uint32_t from, uint32_t lanes)
{
    bool low = part->first > from, high = part->end < from + lanes;
    if (low)
        penstock__text_add(text, "lane >= %u", part->first - from);
    penstock__text_add(text, "%s", low && high ? " && " : !low && !high ? "1" : "");
    if (high)
        penstock__text_add(text, "lane < %u", part->end - from);
}

/* What a carrier's place in the output is beyond the lane's number. */
static int beyond_lane(const struct run *part, uint32_t from)
{
    return (int)part->place - (int)(part->first - from);
}

static void add_place(struct gpu_text *text, const struct run *part, uint32_t from, uint32_t lanes)
{
    penstock__text_add(text, " if (");
    add_condition(text, part, from, lanes);
    penstock__text_add(text, ") place_ = %d;", beyond_lane(part, from));
}

/* The parts of all runs that a slot has; the last of them in *part. */
static unsigned count_parts(struct run *part, const struct run *runs, unsigned count, uint32_t from, uint32_t lanes)
{
    unsigned parts = 0;
    struct run found;
    for (unsigned r = 0; r < count; r++)
        if (cut(&found, &runs[r], from, lanes)) {
            *part = found;
            parts++;
        }
    return parts;
}

/* Of several parts a work-item is in one at most; CARRIERS is beyond all. */
static void add_slot(struct gpu_text *text, const struct run *runs, unsigned count, unsigned variable, uint32_t from,
                     uint32_t lanes)
{
    struct run part = {0}; /* GCC with -march=native does not see that one part has been written */
    unsigned parts = count_parts(&part, runs, count, from, lanes);
    if (parts == 1) {
        penstock__text_add(text, " if (");
        add_condition(text, &part, from, lanes);
        penstock__text_add(text, ") CARRIER(v%u, %u, %d)", variable, from, beyond_lane(&part, from));
        return;
    }
    if (parts)
        penstock__text_add(text, " { k_index place_ = CARRIERS;");
    for (unsigned r = 0; r < count; r++)
        if (cut(&part, &runs[r], from, lanes))
            add_place(text, &part, from, lanes);
    if (parts)
        penstock__text_add(text, " if (place_ < CARRIERS) CARRIER(v%u, %u, place_) }", variable, from);
}

/* Two slots of which a work-item has a carrier in one at most: they are done together. */
static void add_two(struct gpu_text *text, const struct run part[2], const unsigned variable[2], const uint32_t from[2],
                    uint32_t lanes)
{
    penstock__text_add(text, " { const int other_ = ");
    add_condition(text, &part[1], from[1], lanes);
    penstock__text_add(text,
                       "; const k_index from_ = other_ ? %u : %u; k_index place_ = CARRIERS;"
                       " const float2 both_ = K_FLOAT2(other_ ? v%u.x : v%u.x, other_ ? v%u.y : v%u.y);",
                       from[1], from[0], variable[1], variable[0], variable[1], variable[0]);
    for (unsigned i = 0; i < 2; i++)
        add_place(text, &part[i], from[i], lanes);
    penstock__text_add(text, " if (place_ < CARRIERS) CARRIER(both_, from_, place_) }");
}

static bool disjoint(const struct run *a, uint32_t a_from, const struct run *b, uint32_t b_from)
{
    return a->end - a_from <= b->first - b_from || b->end - b_from <= a->first - a_from;
}

static unsigned mate_of(unsigned i, const bool *done, const struct fused_config *config, const struct run *runs,
                        unsigned count)
{
    uint32_t lanes = config->lanes, from = i * lanes;
    struct run part[2] = {{0}};
    if (count_parts(&part[0], runs, count, from, lanes) != 1 || part[0].end - part[0].first == lanes)
        return config->slots;
    for (unsigned mate = i + 1; mate < config->slots; mate++)
        if (!done[mate] && count_parts(&part[1], runs, count, mate * lanes, lanes) == 1 &&
            disjoint(&part[0], from, &part[1], mate * lanes))
            return mate;
    return config->slots;
}

/* Of more than MOST_RUNS runs: each slot by itself. */
static unsigned find_units(struct fused_ofdm_unit units[GPU_MAX_SLOTS], const struct fused_config *config,
                           const struct run *runs, unsigned count)
{
    bool done[GPU_MAX_SLOTS] = {false};
    unsigned found = 0;
    for (unsigned i = 0; i < config->slots; i++) {
        unsigned mate = done[i] || count > MOST_RUNS ? config->slots : mate_of(i, done, config, runs, count);
        if (done[i])
            continue;
        units[found++] = (struct fused_ofdm_unit){mate < config->slots ? 2 : 1, {i, mate}};
        if (mate < config->slots)
            done[mate] = true;
    }
    return found;
}

unsigned penstock__fused_ofdm_units(struct fused_ofdm_unit units[GPU_MAX_SLOTS], const struct fused_config *config,
                                    const uint32_t *places)
{
    struct run runs[MOST_RUNS];
    return find_units(units, config, runs, find_runs(runs, places, config->n));
}

static void add_slots(struct gpu_text *text, const struct fused_config *config, const struct run *runs, unsigned count,
                      const unsigned order[GPU_MAX_SLOTS])
{
    struct fused_ofdm_unit units[GPU_MAX_SLOTS];
    unsigned unit_count = find_units(units, config, runs, count);
    for (const struct fused_ofdm_unit *unit = units; unit < units + unit_count; unit++) {
        uint32_t lanes = config->lanes, from[2] = {unit->slot[0] * lanes, unit->slot[1] * lanes};
        struct run part[2] = {{0}};
        if (unit->count == 1) {
            add_slot(text, runs, count, order[unit->slot[0]], from[0], lanes);
            continue;
        }
        for (unsigned i = 0; i < 2; i++)
            count_parts(&part[i], runs, count, from[i], lanes);
        add_two(text, part, (const unsigned[]){order[unit->slot[0]], order[unit->slot[1]]}, from, lanes);
    }
}

static int add_carriers(struct gpu_text *text, const struct fused_kernel *self,
                        const struct penstock_ofdm_problem *ofdm, const unsigned order[GPU_MAX_SLOTS])
{
    const struct fused_config *config = &self->config;
    struct run runs[MOST_RUNS];
    uint32_t *places = places_of(ofdm);
    unsigned count;
    if (!places)
        return PENSTOCK_ERR_MEMORY;
    count = find_runs(runs, places, ofdm->n);
    penstock__free(places);
    penstock__text_add(text, "#define CARRY");
    if (count <= MOST_RUNS)
        add_slots(text, config, runs, count, order);
    for (unsigned i = 0; i < config->slots && count > MOST_RUNS; i++) {
        uint32_t from = i * config->lanes;
        penstock__text_add(text,
                           " { const k_index place_ = (k_index)((K_GLOBAL const float *)table)[MAP_AT + %u + lane];"
                           " if (place_ >= 0) CARRIER(v%u, %u, place_ - lane) }",
                           from, order[i], from);
    }
    penstock__text_add(text, "\n");
    return PENSTOCK_OK;
}

static void add_constants(struct gpu_text *text, const struct fused_kernel *self,
                          const struct penstock_ofdm_problem *ofdm)
{
    const struct fused_config *config = &self->config;
    const char *const types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "uint2", [16] = "uint4"};
    const char *const cuda[] = {
        [1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned int", [8] = "uint2", [16] = "uint4"};
    penstock__text_add(text,
                       "#define FORMAT %d\n#define WINDOW 0\n#define GATHERED 0\n#define REVERSE 0\n#define REAL 0\n"
                       "#define BITS %u\n#define HALF %u\n#define CARRIERS %zu\n#define COPY_LANES %u\n"
                       "#define COPY_ROWS %u\n#define PIECE %u\n#define LOCAL_PIECES %zu\n#define MAP_AT %zu\n"
                       "#if defined(__OPENCL_VERSION__)\n#define k_piece %s\n#else\n#define k_piece %s\n#endif\n",
                       (int)ofdm->format, ofdm->bits, (ofdm->bits + 1) / 2, ofdm->carrier_count, self->copy_lanes,
                       self->copy_lanes / config->lanes, self->piece, self->local_bytes / 16,
                       penstock__fused_table_floats(config), types[self->piece], cuda[self->piece]);
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_ofdm_problem *ofdm = &problem->ofdm;
    static const char *const words[] = {"portability.h", "load.h", "fused.h", NULL}, *const kernel[] = {"ofdm.cl",
                                                                                                        NULL};
    unsigned order[GPU_MAX_SLOTS];
    int status;
    penstock__fused_constants(text, &self->config);
    add_constants(text, self, ofdm);
    penstock__fused_transform(text, &self->config, "TRANSFORM", false, false, NULL, order);
    if ((status = add_carriers(text, self, ofdm, order)) || (status = penstock__gpu_source_files(text, context, words)))
        return status;
    for (unsigned k = 0; k < FUSED_KERNELS && !status; k++) {
        penstock__text_add(text,
                           "#undef LISTED\n#undef NARROW\n#undef NAME\n#undef DEMAP\n#define LISTED %d\n"
                           "#define NARROW %d\n#define NAME %s\n#define DEMAP demap_%u\n",
                           k == FUSED_OFDM_LISTED, k == FUSED_OFDM_NARROW, self->kind->names[k], k);
        status = penstock__gpu_source_files(text, context, kernel);
    }
    return status;
}

static int table(float **values, size_t *count, const struct fused_kernel *self, const struct penstock_problem *problem)
{
    const size_t n = problem->ofdm.n;
    uint32_t *places = places_of(&problem->ofdm);
    int status = places ? penstock__fused_table(values, count, &self->config, n) : PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n && !status; k++)
        (*values)[*count - n + k] = places[k] == FUSED_NO_CARRIER ? -1 : (float)places[k];
    penstock__free(places);
    return status;
}

const struct fused_kind penstock__fused_ofdm = {
    .names = {"ofdm_listed", "ofdm_even", "ofdm_narrow"}, .configure = configure, .source = source, .table = table};
