/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The LDPC kernel: how many blocks a work-group has, and the base graph as code. */
#include "backends/ldpc_rule.h"
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#include <string.h>

#define MOST_EDGES    400  /* of a base graph: each is a piece of code and a register */
#define MOST_MESSAGES 1024 /* of a work-item, where it has several checks of each base row */
#define MOST_PAIRS    8    /* of blocks in a work-group, so that a word has bits for all */
#define USUAL_GROUP   96   /* work-items, up to which small liftings are put together */
#define WARP          32
#define LEAST_ITEMS   64    /* to which a lifting is halved where a driver allows the kernel no more */
#define REGISTERS     65536 /* of a multiprocessor */
#define OTHERS        28    /* registers that a work-item needs besides messages and two for each edge of a row */
#define MOST_RESIDENT 16
#define FEW           64 /* registers, of which the rest of a kernel needs nearly all */

static unsigned edges_of(const struct penstock_ldpc_problem *ldpc)
{
    return ldpc->first[ldpc->rows];
}

static int check(const struct penstock_problem *problem, const char *device)
{
    const struct penstock_ldpc_problem *ldpc = &problem->ldpc;
    if (ldpc->soft == PENSTOCK_SOFT_F32 && ldpc->scale == 0)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s takes floats with a scale that is given, not each block's",
                               device);
    if (edges_of(ldpc) > MOST_EDGES || ldpc->rows < 2)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s decodes codes of 2 base rows or more with up to %d blocks, not %u with %u", device,
                               MOST_EDGES, ldpc->rows, edges_of(ldpc));
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- configuration --------------- */

/* Registers that hold the messages of a work-item, those of the base rows before `held`. */
static unsigned messages_of(const struct fused_kernel *self, const struct penstock_ldpc_problem *ldpc)
{
    return (ldpc->first[self->held] + self->paired) / (1 + self->paired) * self->checks;
}

/* Messages have a register each, or, where these are too few, half a one. What then does not fit lies in memory, half a
 * word each: local memory, or else the slot's. */
static void place_messages(struct fused_kernel *self, const struct penstock_ldpc_problem *ldpc,
                           const struct gpu_limits *limits)
{
    const unsigned most = limits->registers > FEW ? limits->registers / 5 : 0;
    size_t bytes;
    self->held = ldpc->rows;
    if (!limits->registers || messages_of(self, ldpc) <= most)
        return;
    self->paired = true;
    while (self->held && messages_of(self, ldpc) > most)
        self->held--;
    for (unsigned row = self->held; row < ldpc->rows; row++)
        self->stored += (ldpc->first[row + 1] - ldpc->first[row] + 1U) / 2;
    bytes = (size_t)self->stored * self->checks * self->group[0] * sizeof(uint32_t);
    if (self->local_bytes + bytes <= limits->local_bytes)
        self->local_bytes += bytes;
    else
        self->scratch_bytes = bytes;
}

/* Unsupported also where a word does not fit in the device's local memory or a base row's checks in a work-group. */
static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    const struct penstock_ldpc_problem *ldpc = &problem->ldpc;
    const size_t word = penstock__ldpc_word(ldpc) * sizeof(uint32_t), flags = 2 * sizeof(uint32_t);
    unsigned pairs = limits->cpu ? 1 : USUAL_GROUP / ldpc->lifting;
    pairs = pairs > MOST_PAIRS ? MOST_PAIRS : pairs;
    while (pairs > 1 && pairs * word + flags > limits->local_bytes)
        pairs--;
    pairs = pairs ? pairs : 1;
    while (pairs > 1 && pairs * ldpc->lifting > limits->max_group)
        pairs--;
    self->checks = (ldpc->lifting + limits->max_group - 1) / limits->max_group << variant;
    self->items = (ldpc->lifting + self->checks - 1) / self->checks;
    self->ptx = limits->ptx_halves;
    if (variant && self->items < LEAST_ITEMS)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "LDPC codes are not decoded by %u work-items", self->items);
    self->group[0] = pairs * self->items;
    if (!limits->cpu && (self->group[0] + WARP - 1) / WARP * WARP <= limits->max_group)
        self->group[0] = (self->group[0] + WARP - 1) / WARP * WARP;
    if (edges_of(ldpc) * self->checks > MOST_MESSAGES)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%u blocks of a lifting of %u need %u values of each of %u work-items, not up to %d",
                               edges_of(ldpc), ldpc->lifting, edges_of(ldpc) * self->checks, self->items,
                               MOST_MESSAGES);
    self->local_bytes = pairs * word + flags;
    if (self->local_bytes > limits->local_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "words of %zu bits need %zu bytes of local memory, the device has %zu",
                               penstock__ldpc_word(ldpc), self->local_bytes, limits->local_bytes);
    self->per_group = 2 * pairs;
    self->group[1] = 1;
    place_messages(self, ldpc, limits);
    return PENSTOCK_OK;
}

/* Work-groups that a multiprocessor has registers for. */
static unsigned resident_of(const struct fused_kernel *self, const struct penstock_ldpc_problem *ldpc)
{
    unsigned degree = 0, each, groups;
    for (unsigned row = 0; row < ldpc->rows; row++) {
        unsigned here = (unsigned)ldpc->first[row + 1] - ldpc->first[row];
        degree = here > degree ? here : degree;
    }
    each = (messages_of(self, ldpc) + 2 * degree + OTHERS + 7) / 8 * 8;
    groups = REGISTERS / (each * self->group[0]);
    return groups > MOST_RESIDENT ? MOST_RESIDENT : groups ? groups : 1;
}

/* ---------------------------------------------------------------- minima ---------------------- */

/*
 * For each of a row's values the least of all others: names x are those of values, and those of the results. Values are
 * taken by threes, each three has its least, these have the least of their others likewise, and with that two more
 * finish a value.
 */
struct minima {
    struct gpu_text *text;
    unsigned next; /* number of the next variable */
};

/* The least of up to three names, of which 0 ends the list; as a new variable. */
static unsigned add_least(struct minima *minima, const unsigned *names, unsigned count)
{
    if (count == 1)
        return names[0];
    if (count == 2)
        penstock__text_add(minima->text, " const k_u32 s%u = least(s%u, s%u);", minima->next, names[0], names[1]);
    else
        penstock__text_add(minima->text, " const k_u32 s%u = LEAST3(s%u, s%u, s%u);", minima->next, names[0], names[1],
                           names[2]);
    return minima->next++;
}

/* results[i]: the least of all but values[i], and of `outer`, which is another variable. */
static void add_minima(struct minima *minima, unsigned *results, const unsigned *values, unsigned count, unsigned outer)
{
    unsigned groups = (count + 2) / 3, least[PENSTOCK_MAX_LDPC_DEGREE], others[PENSTOCK_MAX_LDPC_DEGREE];
    if (groups > 1) {
        for (unsigned g = 0; g < groups; g++)
            least[g] = add_least(minima, values + 3 * g, count - 3 * g < 3 ? count - 3 * g : 3);
        add_minima(minima, others, least, groups, outer);
    } else {
        others[0] = outer;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned names[3] = {others[i / 3]}, used = 1;
        for (unsigned j = i / 3 * 3; j < i / 3 * 3 + 3 && j < count; j++)
            if (j != i)
                names[used++] = values[j];
        results[i] = add_least(minima, names, used);
    }
}

/* ---------------------------------------------------------------- source ---------------------- */

/* What a base row's edges have in common, as text is made of them. */
struct row {
    struct gpu_text *text;
    const struct penstock_ldpc_problem *ldpc;
    bool held, paired;    /* messages are in registers; and two edges' in one */
    unsigned first, word; /* the first edge; and, where they are not in registers, the first word in memory */
};

/* An edge's message as it is read, or as a new one is kept. */
static void add_message(const struct row *row, bool read, unsigned edge)
{
    const unsigned place = row->held ? edge : edge - row->first;
    const char *half = place % 2 ? "UPPER" : "LOWER";
    if (!row->held)
        penstock__text_add(row->text, "%s_%s(%u)", read ? "FETCHED" : "RENEW", half, row->word + place / 2);
    else if (row->paired)
        penstock__text_add(row->text, "%s_%s(%u)", read ? "HELD" : "KEEP", half, place / 2);
    else
        penstock__text_add(row->text, "%s(%u)", read ? "HELD" : "KEEP", place);
}

/* Words in memory are read before, or written behind the rest. */
static void add_words(const struct row *row, const char *what, unsigned degree)
{
    for (unsigned i = 0; !row->held && i < (degree + 1) / 2; i++)
        penstock__text_add(row->text, " %s(%u)", what, row->word + i);
}

/* Where in the word an edge's value is, as the arguments of a macro. */
static void add_place(const struct row *row, unsigned edge)
{
    const struct penstock_ldpc_edge *place = &row->ldpc->edges[edge];
    penstock__text_add(row->text, "%u, %u, ", place->column * row->ldpc->lifting, place->shift);
}

/* A row that has all its values in registers, and of each the least of all others. */
static void add_usual(const struct row *row, unsigned degree)
{
    const unsigned first = row->first, cap = edges_of(row->ldpc);
    unsigned values[PENSTOCK_MAX_LDPC_DEGREE] = {0}, results[PENSTOCK_MAX_LDPC_DEGREE];
    struct minima minima = {row->text, cap + 1};
    for (unsigned e = first; e < first + degree; e++) {
        penstock__text_add(row->text, " TAKE(%u, ", e);
        add_place(row, e);
        add_message(row, true, e);
        penstock__text_add(row->text, ")");
        values[e - first] = e;
    }
    for (unsigned e = first; e < first + degree; e++)
        penstock__text_add(row->text, " SIZE(%u)", e);
    penstock__text_add(row->text, " const k_u32 s%u = MOST_LEAST, factors = FACTORS(t%u", cap, first);
    for (unsigned e = first + 1; e < first + degree; e++)
        penstock__text_add(row->text, " ^ t%u", e);
    penstock__text_add(row->text, ");");
    add_minima(&minima, results, values, degree, cap);
    for (unsigned e = first; e < first + degree; e++) {
        penstock__text_add(row->text, " GIVE(%u, ", e);
        add_place(row, e);
        penstock__text_add(row->text, "s%u, ", results[e - first]);
        add_message(row, false, e);
        penstock__text_add(row->text, ")");
    }
}

/* One that reads its values twice, and keeps nothing of them meanwhile but the two least ones. */
static void add_paired(const struct row *row, unsigned degree)
{
    add_words(row, "FETCH", degree);
    penstock__text_add(row->text, " LOWEST");
    for (unsigned e = row->first; e < row->first + degree; e++) {
        penstock__text_add(row->text, " LOOK(");
        add_place(row, e);
        add_message(row, true, e);
        penstock__text_add(row->text, ")");
    }
    penstock__text_add(row->text, " AGAIN");
    for (unsigned e = row->first; e < row->first + degree; e++) {
        penstock__text_add(row->text, " ANSWER(");
        add_place(row, e);
        add_message(row, true, e);
        penstock__text_add(row->text, ", ");
        add_message(row, false, e);
        penstock__text_add(row->text, ")");
    }
    add_words(row, "PUT", degree);
}

static void add_row(struct gpu_text *text, const struct fused_kernel *self, const struct penstock_ldpc_problem *ldpc,
                    unsigned number, unsigned word)
{
    const unsigned first = ldpc->first[number], degree = ldpc->first[number + 1] - first;
    const struct row row = {text, ldpc, number < self->held, self->paired, first, word};
    penstock__text_add(text, "#define ROW%u", number);
    if (row.paired)
        add_paired(&row, degree);
    else
        add_usual(&row, degree);
    penstock__text_add(text, "\n#define PARITY%u PARITY_ROW(%u,", number, degree);
    for (unsigned e = first; e < first + degree; e++)
        penstock__text_add(text, " PARITY(%u, %u)", ldpc->edges[e].column * ldpc->lifting, ldpc->edges[e].shift);
    penstock__text_add(text, ")\n");
}

static void add_graph(struct gpu_text *text, const struct fused_kernel *self, const struct penstock_ldpc_problem *ldpc)
{
    unsigned word = 0;
    for (unsigned row = 0; row < ldpc->rows; row++) {
        add_row(text, self, ldpc, row, word);
        word += row < self->held ? 0 : (ldpc->first[row + 1] - ldpc->first[row] + 1U) / 2;
    }
    penstock__text_add(text, "#define DECLARE_MESSAGES");
    for (unsigned e = 0; e < ldpc->first[self->held]; e += 1 + self->paired)
        penstock__text_add(text, self->paired ? " MESSAGES(%u)" : " MESSAGE(%u)", e / (1 + self->paired));
    penstock__text_add(text, "\n#define LAYERS");
    for (unsigned row = 0; row < ldpc->rows; row++)
        penstock__text_add(text, " %s { ROW%u }%s K_BARRIER();", row < self->held ? "CHECKS_OF_ROW" : "ROLLED_CHECKS",
                           row, row + 1 == ldpc->rows ? " CLEAR" : "");
    penstock__text_add(text, "\n#define PARITY_FIRST PARITY0\n#define PARITY_OTHERS");
    for (unsigned row = 1; row < ldpc->rows; row++)
        penstock__text_add(text, " PARITY%u", row);
    penstock__text_add(text, "\n");
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    static const char *const files[] = {"portability.h", "ldpc_values.h", "ldpc.cl", NULL};
    const struct penstock_ldpc_problem *ldpc = &problem->ldpc;
    const struct penstock_ldpc_rule rule = penstock__ldpc_rule(ldpc);
    const size_t bytes = penstock__ldpc_bits_bytes(ldpc);
    struct penstock_ldpc_part parts[2];
    penstock__ldpc_parts(parts, ldpc);
    penstock__text_add(text,
                       "#define CPU 0\n#define LEVEL %d\n#define LEAST %d\n#define FACTOR %u\n#define ROUNDING %u\n"
                       "#define LIFTING %u\n#define ITEMS %u\n#define CHECKS %u\n#define WORD %zu\n"
                       "#define PAIRS %u\n#define GROUP %u\n#define RESIDENT %u\n#define BITS %zu\n"
                       "#define IN_BYTES %zu\n#define OUT_BYTES %zu\n#define REPORT_AT %zu\n#define ITERATIONS %u\n"
                       "#define EARLY %d\n#define REPORT %d\n#define HARD %d\n#define FLOATS %d\n"
                       "#define PAIRED %d\n#define STORED %u\n#define SCRATCH %d\n",
                       PENSTOCK_LDPC_LEVEL, rule.most, rule.factor, rule.rounding, ldpc->lifting, self->items,
                       self->checks, penstock__ldpc_word(ldpc), self->per_group / 2, self->group[0],
                       resident_of(self, ldpc), penstock__ldpc_bits(ldpc), problem->in_bytes, problem->out_bytes,
                       (bytes + 3) / 4 * 4, ldpc->iterations, ldpc->stop_early, ldpc->report,
                       ldpc->soft == PENSTOCK_SOFT_HARD, ldpc->soft == PENSTOCK_SOFT_F32, self->paired, self->stored,
                       self->scratch_bytes > 0);
    penstock__text_add(text, "#define SCALE ");
    penstock__text_add_float(text, ldpc->scale);
    penstock__text_add(
        text,
        "\n#define SOFT_RESULT %d\n#define UNPACKED %d\n#define MSB_FIRST %d\n#define FIRST_AT %zu\n"
        "#define FIRST_END %zu\n#define SECOND_AT %zu\n#define SECOND_END %zu\n#define SECOND_FROM %zu\n",
        ldpc->soft_result, ldpc->result == PENSTOCK_BITS_UNPACKED, ldpc->result == PENSTOCK_BITS_MSB_FIRST, parts[0].at,
        parts[0].end, parts[1].at, parts[1].end, parts[1].first);
    if (self->ptx)
        penstock__text_add(text, "#define PTX_HALVES\n");
    add_graph(text, self, ldpc);
    return penstock__gpu_source_files(text, context, files);
}

const struct fused_kind penstock__fused_ldpc = {
    .names = {"ldpc"}, .check = check, .configure = configure, .source = source};
