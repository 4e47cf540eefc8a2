/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Kernels of transforms, kernels/fft.cl and kernels/transpose.cl, run on the host from their whole text as the plans of
 * the library launch them: of several passes, of rows and columns, real, reverse, of every sample format, in numbers of
 * 16 bits. Each sample is loaded and each value stored as often as gpu_trace_wanted.c says, scratch memory likewise;
 * nothing is read that was not written, nothing beside touched, no work-item overtakes another, and local memory's
 * banks meet as often as gpu_banks.c says. PENSTOCK_TEST_FULL=1: every length to 8192, and all kinds at some of
 * them; else a sample by hash. Arguments K N: part K of N of that.
 */
#include "core/base/context.h"
#include "folder.h"
#include "gpu_trace.h"
#include "gpu_trace_backend.h"
#include "gpu_trace_kinds.h"

static const struct gpu_limits devices[] = {
    {.local_bytes = 227 << 10, .max_group = 1024, .units = 132, .bounded = true, .half_arithmetic = true}, /* an H200 */
    {.local_bytes = 48 << 10, .max_group = 1024, .half_arithmetic = true, .texel = 1}, /* through OpenCL */
    {.local_bytes = 64 << 10, .max_group = 256, .half_arithmetic = true, .texel = 2},  /* AMD, Intel */
    {.local_bytes = 32 << 10, .max_group = 256, .texel = 2}, /* the least that OpenCL promises, nearly */
    {.local_bytes = 6 << 10,
     .max_group = 64,
     .half_arithmetic = true,
     .texel = 1}, /* so little that many passes are needed */
    {.local_bytes = 64 << 10, .max_group = 256, .wave = 32, .most_slots = 16, .item_bytes = 128}, /* AMD RDNA */
    {.local_bytes = 1 << 20, .max_group = 4096, .cpu = true}                                      /* PoCL */
};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static penstock_context *context;
static bool full;
static unsigned part, parts = 1;
static unsigned long ran, kernels, refused, without_cxx, several, real, planes, halves, images, histogram[33];

/* ---------------------------------------------------------------- checks ---------------------- */

static size_t frames_of(const struct penstock_fft_problem *fft, uint64_t hash)
{
    size_t frames = fft->n >= 1024 ? 1 + hash % 3 : 2 + hash % (1024 / fft->n + 2);
    return fft->average > 1 ? (fft->n >= 1024 ? 1 : 1 + hash % 3) * fft->average : frames;
}

static void check_findings(const struct trace_findings *findings, const char *label)
{
    CHECK(!findings->loads && !findings->stores && !findings->between,
          "%s: bytes not as often as they must be: %zu loaded, %zu stored, %zu of scratch memory", label,
          findings->loads, findings->stores, findings->between);
    CHECK(!findings->overruns && !findings->misaligned && !findings->unwritten,
          "%s: %zu overruns, %zu misaligned, %zu bytes read unwritten", label, findings->overruns, findings->misaligned,
          findings->unwritten);
    CHECK(!findings->races && !findings->splits, "%s: %zu races, %zu barriers not met by all", label, findings->races,
          findings->splits);
    CHECK(!findings->conflicts, "%s: %u kernels with other bank conflicts than the plan declares: %u-way, declared %u",
          label, findings->conflicts, findings->measured, findings->ways);
}

static void count_case(const struct penstock_fft_problem *fft, const struct trace_findings *findings)
{
    ran++;
    kernels += findings->kernels;
    several += findings->passes > 1;
    real += fft->domain == PENSTOCK_REAL;
    planes += fft->rows > 1 || fft->columns > 1;
    halves += fft->half || fft->format == PENSTOCK_CF16;
    images += fft->options.images;
    histogram[findings->ways < 32 ? findings->ways : 32]++;
}

static void check(size_t n, const struct trace_kind *kind, unsigned device, uint64_t hash)
{
    struct penstock_problem problem = trace_problem(n, kind, hash);
    struct trace_findings findings;
    struct trace_run run = {.context = context,
                            .folder = test_folder,
                            .limits = devices[device],
                            .variant = hash % 8 ? 0 : (unsigned)(hash >> 16) % 3,
                            .frames = frames_of(&problem.fft, hash >> 24)};
    char label[200], config[40];
    snprintf(config, sizeof config, "n=%zu,chunk=%u", n, 1 + (unsigned)log2((double)n));
    if (hash % 11 == 0) /* several frames do not go through scratch memory at once */
        run.limits.config = config;
    snprintf(label, sizeof label, "%s, n %zu, %zu rows, %zu columns, device %u, variant %u, %zu frames, hash %llx",
             kind->name, n, problem.fft.rows, problem.fft.columns, device, run.variant, run.frames,
             (unsigned long long)hash);
    int status = trace_fft(&findings, &problem, &run);
    if (status == PENSTOCK_ERR_UNSUPPORTED) {
        refused++;
        without_cxx += strstr(penstock_error_text(), "compiler") != NULL;
        return;
    }
    CHECK(!status, "%s: %s", label, penstock_error_text());
    if (status)
        return;
    check_findings(&findings, label);
    count_case(&problem.fft, &findings);
    if (full && ran % 100 == 0) {
        printf("%lu cases, %lu kernels, %d failed, last: %s\n", ran, kernels, test_failures, label);
        fflush(stdout);
    }
}

static uint64_t hash_of(size_t n, size_t kind, size_t device)
{
    const size_t what[3] = {n, kind, device};
    return penstock__hash(what, sizeof what);
}

/* A length with one kind on one device, by hash. */
static void check_drawn(size_t n)
{
    uint64_t hash = hash_of(n, TRACE_KINDS, DEVICES);
    if (hash % parts == part)
        check(n, &trace_kinds[(hash >> 8) % TRACE_KINDS], (unsigned)(hash >> 40) % DEVICES, hash >> 16);
}

/* All kinds on all devices at one length. */
static void check_all(size_t n)
{
    for (size_t k = 0; k < TRACE_KINDS; k++)
        for (unsigned d = 0; d < DEVICES; d++) {
            uint64_t hash = hash_of(n, k, d);
            if ((hash >> 8) % parts == part)
                check(n, &trace_kinds[k], d, hash >> 16);
        }
}

/* ---------------------------------------------------------------- faults ---------------------- */

#define OF(member) #member, offsetof(struct trace_findings, member)
#define BARRIER    "#define K_BARRIER()                    "

/* A fault in the text of a plan's kernels, and the finding that it must lead to. */
static const struct {
    size_t n;
    trace_kind_of *make;
    struct trace_fault fault;
    const char *name;
    size_t at; /* in struct trace_findings */
} faults[] = {
    {96, trace_columns, {"* COLUMNS + column)\n", "* COLUMNS)\n"}, OF(loads)},
    {96, trace_columns, {"target[at].im = im_;", "target[at].im = im_; target[at].im = 0;"}, OF(stores)},
    {96, trace_global, {"#define INNER ", "#define INNER 1 + 0 * "}, OF(between)},
    {96, trace_plane, {"#define SKIP ", "#define SKIP 2000 + "}, OF(overruns)},
    {96,
     trace_half_storage,
     {"K_HALF(&source[at].im)", "K_HALF((k_u16 *)((k_u8 *)&source[at].re + 1))"},
     OF(misaligned)},
    {120,
     trace_reversed,
     {"#define GIVE_ALL(before) GIVE_##before(GIVE)\n", "#define GIVE_ALL(before)\n"},
     OF(unwritten)},
    {120, trace_reversed, {BARRIER "__syncthreads()", "#define K_BARRIER()"}, OF(races)},
    {120,
     trace_reversed,
     {BARRIER "__syncthreads()", "#define K_BARRIER() if (threadIdx.x) __syncthreads()"},
     OF(splits)},
    {1024, trace_reversed, {"#define MEMBER_STEP ", "#define MEMBER_STEP 0 * "}, OF(races)},
    {1024, trace_reversed, {"#define STEP 1\n", "#define STEP 2\n"}, OF(conflicts)},
};

static void check_faults(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct trace_findings findings;
        struct trace_fault fault = faults[i].fault;
        struct penstock_problem problem = trace_problem(faults[i].n, &(struct trace_kind){"", faults[i].make}, 1);
        struct trace_run run = {
            .context = context, .folder = test_folder, .limits = devices[1], .frames = 2, .fault = &fault};
        size_t number = 0;
        CHECK_OK(trace_fft(&findings, &problem, &run));
        if (faults[i].at == offsetof(struct trace_findings, conflicts))
            number = findings.conflicts;
        else
            memcpy(&number, (const char *)&findings + faults[i].at, sizeof number);
        CHECK(fault.found && number, "%s: with %s instead of %s nothing was found (it was there %u times)",
              faults[i].name, fault.to, fault.from, fault.found);
    }
}

/* ---------------------------------------------------------------- all ------------------------- */

/* Each kind at one of a few lengths on one device, by hash, and some lengths with what they draw. */
static void check_sample(void)
{
    static const size_t lengths[] = {60, 127, 128, 240, 257, 1024};
    check(106, &trace_kinds[TRACE_KINDS - 1], 2, 10);             /* to an image, of more points than it has room for */
    check(752, &trace_kinds[TRACE_KINDS - 1], 2, 0x1318761b77d0); /* by way of scratch memory, with a column again */
    for (size_t k = 0; k < TRACE_KINDS; k++) {
        uint64_t hash = hash_of(0, k, 1);
        for (unsigned d = 0; d < DEVICES; d++) { /* the first one from there on that does it */
            unsigned long before = ran;
            check(lengths[hash % (sizeof lengths / sizeof lengths[0])], &trace_kinds[k],
                  (unsigned)((hash >> 8) + d) % DEVICES, hash >> 16);
            if (ran > before)
                break;
        }
    }
    for (size_t n = 1; n <= TRACE_MOST; n++)
        if (hash_of(n, 0, 0) % 1024 == 0)
            check_drawn(n);
}

static void check_everything(void)
{
    static const size_t lengths[] = {1,   2,   3,   16,  31,  60,   81,   127,  128,
                                     240, 257, 360, 512, 625, 1024, 1536, 2187, 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        check_all(lengths[i]);
    for (size_t n = 1; n <= TRACE_MOST; n++)
        check_drawn(n);
}

int main(int count, char **arguments)
{
    full = getenv("PENSTOCK_TEST_FULL") != NULL;
    if (count == 3) {
        part = (unsigned)strtoul(arguments[1], NULL, 10) - 1;
        parts = (unsigned)strtoul(arguments[2], NULL, 10);
    }
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK(test_make_folder(), "cannot make a folder");
    if (!full || part == 0)
        check_faults();
    (full ? check_everything : check_sample)();
    test_remove_folder();
    penstock_context_free(context);
    printf("%lu cases, %lu kernels; %lu of several passes, %lu real, %lu of rows or columns, %lu in numbers of 16 "
           "bits, "
           "%lu in images; %lu refused, %lu of these for want of a compiler for C++\n",
           ran, kernels, several, real, planes, halves, images, refused, without_cxx);
    for (unsigned ways = 1; ways <= 32; ways++)
        if (histogram[ways])
            printf("%lu with %u-way bank conflicts at most\n", histogram[ways], ways);
    CHECK(ran >= 24 && several && real && planes && halves && images, "only %lu cases", ran);
    return test_finish();
}
