/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study radix, --study 2d: the forms in which a GPU can compute one transform, side by side over the lengths:
 * time and energy of a transform, and operations a second by the usual count, 5 n log2 n.
 */
#include "bench/bench_plan.h"
#include "bench/power.h"
#include "cases/signals.h"
#include "picture/axes.h"
#include "picture/picture_file.h"
#include "shared/interrupt.h"
#include "shared/median.h"
#include "shared/progress.h"
#include "study.h"
#include "study_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FORMS = 9, MOST_SIZES = 24, ROUNDS = 7 };

struct form {
    const char *name; /* of the table, and the plot's legend */
    penstock_fft_options options;
    bool half; /* samples and values are of 16 bits */
};

struct forms {
    const char *title, *axis;
    bool squares; /* of sides 2^first .. 2^last, or lines of as many points */
    int first, last;
    size_t count;
    struct form form[MOST_FORMS];
};

static const struct forms radix_forms = {
    "radix of the stages",
    "points",
    false,
    3,
    20,
    8,
    {{"radix 2", {.radix = 2}, false},
     {"radix 4", {.radix = 4}, false},
     {"radix 8", {.radix = 8}, false},
     {"radix 16", {.radix = 16}, false},
     {"own choice", {.radix = 0}, false},
     {"own, images", {.images = true}, false},
     {"own, 16 bits", {.radix = 0}, true},
     {"own, fp16", {.arithmetic = PENSTOCK_ARITHMETIC_HALF}, true}},
};

static const struct forms plane_forms = {
    "2-D transforms",
    "points of a side",
    true,
    4,
    11,
    9,
    {{"global, transposed", {2, PENSTOCK_SCRATCH_GLOBAL, PENSTOCK_COLUMNS_TRANSPOSED, .items = 0}, false},
     {"global, strided", {2, PENSTOCK_SCRATCH_GLOBAL, PENSTOCK_COLUMNS_STRIDED, .items = 0}, false},
     {"local, transposed", {0, PENSTOCK_SCRATCH_LOCAL, PENSTOCK_COLUMNS_TRANSPOSED, .items = 0}, false},
     {"local, strided", {0, PENSTOCK_SCRATCH_LOCAL, PENSTOCK_COLUMNS_STRIDED, .items = 0}, false},
     {"local, 4 a group", {0, PENSTOCK_SCRATCH_LOCAL, PENSTOCK_COLUMNS_STRIDED, .group = 4}, false},
     {"own choice", {.radix = 0}, false},
     {"local, images", {.scratch = PENSTOCK_SCRATCH_LOCAL, .images = true}, false},
     {"local, 16 bits", {.scratch = PENSTOCK_SCRATCH_LOCAL}, true},
     {"local, fp16", {.scratch = PENSTOCK_SCRATCH_LOCAL, .arithmetic = PENSTOCK_ARITHMETIC_HALF}, true}},
};

struct forms_study {
    const struct study *wanted;
    const struct forms *forms;
    penstock_context *context;
    struct study_device device;
    struct power_meter meter;
    void *halves;                                                           /* samples of 16 bits */
    size_t begun;                                                           /* measurements */
    size_t frames, budget;                                                  /* bytes of samples */
    double seconds[MOST_FORMS][MOST_SIZES], joules[MOST_FORMS][MOST_SIZES]; /* of a transform; NAN: not done */
    char refused[MOST_FORMS][200];                                          /* why a form was not done last */
};

static size_t side_of(const struct forms_study *s, int size)
{
    return (size_t)1 << (s->forms->first + size);
}

static int sizes_of(const struct forms_study *s)
{
    return s->forms->last - s->forms->first + 1;
}

/* ---------------------------------------------------------------- measuring ------------------- */

/* A plan with its samples on the device or, where that is the host, beside it. */
struct subject {
    struct bench_plan work;
    penstock_bench *on_device;
};

static int run_batches(const struct forms_study *s, const struct subject *subject, unsigned repeats, double *seconds)
{
    if (subject->on_device)
        return penstock_bench_run(subject->on_device, repeats, seconds);
    double start = seconds_now();
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < repeats && !status; i++)
        status = penstock_plan_run(subject->work.plan, s->device.in, s->device.out, s->frames);
    *seconds = (seconds_now() - start) / repeats;
    return status;
}

/* The median of some rounds; energy over a quarter of a second or so, since counters tick slowly. */
static int measure(struct forms_study *s, const struct subject *subject, int form, int size)
{
    double rounds[ROUNDS], once, before, enough, joules = NAN;
    unsigned repeats;
    int status = run_batches(s, subject, 1, &once);
    if (status || (status = run_batches(s, subject, 1, &once)))
        return status;
    repeats = (unsigned)fmin(1000, 2e-3 / fmax(once, 1e-7)) + 1;
    for (int i = 0; i < ROUNDS && !status; i++)
        status = run_batches(s, subject, repeats, &rounds[i]);
    if (status)
        return status;
    const double middle = median(rounds, ROUNDS);
    if (s->meter.joules) {
        enough = fmin(20000, 0.25 / fmax(middle, 1e-7)) + 1;
        before = power_joules(&s->meter);
        status = run_batches(s, subject, (unsigned)enough, &once);
        before = power_joules(&s->meter) - before;
        if (before > 0)
            joules = before / ((double)(unsigned)enough * (double)s->frames);
    }
    interrupt_hold();
    s->seconds[form][size] = middle / (double)s->frames;
    s->joules[form][size] = joules;
    interrupt_release();
    return status;
}

/* Once for all lengths that follow each other with the same reason. */
static void tell_refusal(struct forms_study *s, int form, size_t n)
{
    if (!strncmp(s->refused[form], penstock_error_text(), sizeof s->refused[form] - 1))
        return;
    snprintf(s->refused[form], sizeof s->refused[form], "%s", penstock_error_text());
    warn("%s, from %zu points on: %s", s->forms->form[form].name, n, s->refused[form]);
}

static int measure_form(struct forms_study *s, int form, int size)
{
    size_t side = side_of(s, size), n = s->forms->squares ? side * side : side;
    struct subject subject = {.work.average = 1};
    bool half = s->forms->form[form].half;
    penstock_fft_desc desc = PENSTOCK_FFT_DESC(.n = n, .options = s->forms->form[form].options);
    int status;
    s->frames = s->budget / (n * sizeof(penstock_cf32));
    s->frames = s->frames ? s->frames : 1;
    desc.rows = s->forms->squares ? side : 0;
    desc.batch = s->frames;
    desc.load.format = half ? PENSTOCK_CF16 : PENSTOCK_CF32;
    desc.store.half = half;
    progress_done((double)s->begun++, "%s, %zu points", s->forms->form[form].name, n);
    subject.work.frames = s->frames;
    status = penstock_fft_plan(&subject.work.plan, s->context, &desc, s->device.name);
    if (!status && s->device.on_device)
        status = bench_plan_new(&subject.on_device, s->context, &subject.work, half ? s->halves : s->device.block,
                                STUDY_BLOCK_BYTES);
    if (!status)
        status = measure(s, &subject, form, size);
    penstock_bench_free(subject.on_device);
    penstock_plan_free(subject.work.plan);
    if (status != PENSTOCK_ERR_UNSUPPORTED)
        return status ? fail_status(status) : EXIT_DONE;
    tell_refusal(s, form, n); /* a gap in the table */
    return EXIT_DONE;
}

/* ---------------------------------------------------------------- table ----------------------- */

static double gigaflops(const struct forms_study *s, int form, int size)
{
    double n = (double)side_of(s, size);
    n *= s->forms->squares ? n : 1;
    return 5e-9 * n * log2(n) / s->seconds[form][size];
}

static void print_row(const struct forms_study *s, int form, int size, bool csv)
{
    double joules = s->joules[form][size];
    if (!isfinite(s->seconds[form][size]))
        return;
    printf(csv ? "%zu,\"%s\",%s,%.6g,%.6g," : "%10zu  %-20s %-10s %12.4g %10.4g  ", side_of(s, size),
           s->forms->form[form].name, s->device.name, 1e6 * s->seconds[form][size], gigaflops(s, form, size));
    if (isfinite(joules))
        printf(csv ? "%.6g\n" : "%12.4g\n", 1e6 * joules);
    else
        puts(csv ? "" : "not reported");
}

static void print_table(const struct forms_study *s, bool csv)
{
    const char *size_name = s->forms->squares ? "side" : "points";
    printf(csv ? "%s,form,device,microseconds,gflops,microjoules\n"
               : "%10s  form                 device      us each     GFLOP/s  uJ each\n",
           size_name);
    for (int size = 0; size < sizes_of(s); size++)
        for (size_t form = 0; form < s->forms->count; form++)
            print_row(s, (int)form, size, csv);
    if (!csv)
        printf("%s; energy: %s\n", s->device.product, s->meter.source);
}

/* ---------------------------------------------------------------- picture --------------------- */

/* Returns the legend's next row: a form that was not done has none. */
static int draw_curve(const struct axes *axes, const struct forms_study *s, int form, int row)
{
    double x[MOST_SIZES], y[MOST_SIZES];
    size_t count = 0;
    for (int size = 0; size < sizes_of(s); size++)
        if (isfinite(s->seconds[form][size])) {
            x[count] = (double)side_of(s, size);
            y[count++] = gigaflops(s, form, size);
        }
    if (!count)
        return row;
    axes_curve(axes, x, y, count, true, curve_colour((size_t)form));
    axes_legend(axes, row, curve_colour((size_t)form), s->forms->form[form].name);
    return row + 1;
}

/* Sizes that have a point, first and last; false if there is none. */
static bool find_sizes(const struct forms_study *s, int *first, int *last)
{
    *first = *last = -1;
    for (int size = 0; size < sizes_of(s); size++)
        for (size_t form = 0; form < s->forms->count; form++)
            if (isfinite(s->seconds[form][size])) {
                *first = *first < 0 ? size : *first;
                *last = size;
            }
    return *first >= 0;
}

static void draw(struct canvas *canvas, const void *study)
{
    const struct forms_study *s = study;
    char title[200];
    double most = 0;
    int first, last, row = 0;
    find_sizes(s, &first, &last);
    for (size_t form = 0; form < s->forms->count; form++)
        for (int size = 0; size < sizes_of(s); size++)
            if (isfinite(s->seconds[form][size]))
                most = fmax(most, gigaflops(s, (int)form, size));
    struct axes axes = {.canvas = canvas,
                        .left = 90,
                        .top = 50,
                        .width = 740,
                        .height = 460,
                        .x = {.low = (double)side_of(s, first) / 1.5,
                              .high = 1.5 * (double)side_of(s, last),
                              .base = 2,
                              .label = s->forms->axis},
                        .y = {.low = 0, .high = 1.1 * most, .label = "GFLOP/s (5 n log2 n)"},
                        .grid = true};
    snprintf(title, sizeof title, "penstock %s: %s, on %s (%.60s)", penstock_version(), s->forms->title, s->device.name,
             s->device.product);
    axes_draw(&axes, title);
    for (size_t form = 0; form < s->forms->count; form++)
        row = draw_curve(&axes, s, (int)form, row);
}

/* ---------------------------------------------------------------- study ----------------------- */

/* OpenCL counts devices of all makers, NVML those of one: a GPU's counter is that of its number among them. */
static void open_meter(struct forms_study *s)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    unsigned before = 0;
    char name[32];
    for (size_t i = 0; i < s->device.row; i++)
        before += !penstock_device_get(s->context, i, &info) && !info.reason && !strncmp(info.name, "opencl", 6) &&
                  strstr(info.product, "NVIDIA");
    snprintf(name, sizeof name, "opencl:%u", before);
    power_open(&s->meter, strncmp(s->device.name, "opencl", 6) ? s->device.name : name, s->device.product);
}

static int find_device(struct forms_study *s, const char *wanted)
{
    enum { ON_DEVICE = 1 << 28, ON_HOST = 1 << 23, LARGEST_PLANE = 1 << 25 };
    uint64_t seed = 2;
    int code = study_device_find(&s->device, s->context, wanted, LARGEST_PLANE);
    if (code)
        return code;
    open_meter(s);
    s->budget = s->device.on_device ? ON_DEVICE : ON_HOST;
    if (!(s->halves = malloc(STUDY_BLOCK_BYTES)))
        return fail(EXIT_DATA, "out of memory");
    signal_random(s->halves, PENSTOCK_CF16, STUDY_BLOCK_BYTES / sizeof(penstock_cf16), &seed);
    return EXIT_DONE;
}

static int fail_nothing(const struct forms_study *s, const struct study *wanted)
{
    if (wanted->most && wanted->most < side_of(s, 0))
        return fail(EXIT_USAGE, "--most %zu is impossible: the study begins at %zu %s", wanted->most, side_of(s, 0),
                    s->forms->axis);
    return fail(EXIT_DATA, "%s does none of these forms", s->device.name);
}

/* What there is, after an interrupt too. */
static int conclude(void *subject)
{
    const struct forms_study *s = subject;
    const struct study *wanted = s->wanted;
    int first, last;
    if (!find_sizes(s, &first, &last))
        return interrupted() ? interrupt_tell(EXIT_DONE) : fail_nothing(s, wanted);
    print_table(s, wanted->csv);
    return interrupt_tell(wanted->png ? picture_write(wanted->png, 1080, 580, draw, s) : EXIT_DONE);
}

static int study(struct forms_study *s, const struct study *wanted)
{
    int code = find_device(s, wanted->device), last = sizes_of(s);
    size_t sizes = 0;
    for (int form = 0; form < MOST_FORMS; form++)
        for (int size = 0; size < MOST_SIZES; size++)
            s->seconds[form][size] = s->joules[form][size] = NAN;
    for (int size = 0; size < last; size++)
        sizes += !wanted->most || side_of(s, size) <= wanted->most;
    progress_begin("measurements", (double)(sizes * s->forms->count));
    if (!code)
        interrupt_conclude_by(conclude, s, EXIT_DONE);
    for (int size = 0; size < last && !code; size++)
        for (size_t form = 0; form < s->forms->count && !code && !interrupted(); form++)
            if (!wanted->most || side_of(s, size) <= wanted->most)
                code = measure_form(s, (int)form, size);
    progress_clear();
    if (!code)
        return interrupt_conclude(conclude, s);
    interrupt_conclude_by(NULL, NULL, code);
    return code;
}

static int study_forms(const struct forms *forms, const struct study *wanted)
{
    struct forms_study *s = calloc(1, sizeof *s);
    int code = s ? open_context(&s->context, 0) : fail(EXIT_DATA, "out of memory");
    if (!code) {
        s->forms = forms;
        s->wanted = wanted;
        code = study(s, wanted);
    }
    if (s) {
        penstock_context_free(s->context);
        study_device_free(&s->device);
        free(s->halves);
    }
    free(s);
    return code;
}

int study_radix(const struct study *wanted)
{
    return study_forms(&radix_forms, wanted);
}

int study_planes(const struct study *wanted)
{
    return study_forms(&plane_forms, wanted);
}
