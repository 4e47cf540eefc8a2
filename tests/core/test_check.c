/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The self-check: a variant that computes wrongly gives way to the next; a device that has no right one is refused. */
#include "core/base/memory.h"
#include "core/check/check.h"
#include "core/device/devices.h"
#include "folder.h"
#include "test.h"

#include <penstock/penstock.h>

#include <dirent.h>

extern const struct penstock_backend penstock__cpu_backend;

enum { N = 128 };

/* What the wrapped backend's wrong variants do to an output that was right. */
enum damage { SCALED, ONE_VALUE, NOT_A_NUMBER, LAST_FRAME_MISSING, BEYOND_THE_END, FAILING, DAMAGES };

static const char *const damage_names[] = {"scaled", "one value off", "NaN", "last frame", "beyond the end", "failing"};
static enum damage damage;
static unsigned wrong_variants, variants;
static size_t checked; /* frames */
static struct penstock_backend wrapped;
static int warnings;
static char warning[512];

static void take_line(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level != PENSTOCK_LOG_WARNING)
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    int status;
    if (variant >= variants)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "no more variants");
    status = penstock__cpu_backend.plan_init(plan, 0);
    plan->variant[0] = (char)('0' + variant);
    plan->variant[1] = 0;
    return status;
}

static int enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    size_t frame_values = plan->problem->out_bytes / sizeof(float), values = job->frames * frame_values;
    float *out = job->out->host;
    checked += job->frames;
    bool wrong = (unsigned)(plan->variant[0] - '0') < wrong_variants;
    int status;
    if (wrong && damage == FAILING)
        return penstock__error(PENSTOCK_ERR_DEVICE, "the kernel did not start");
    if ((status = penstock__cpu_backend.enqueue(slot, plan, job)) || !wrong)
        return status;
    for (size_t i = 0; damage == SCALED && i < values; i++)
        out[i] *= 1.000001f;
    if (damage == ONE_VALUE)
        out[values / 2] += 1e-4f * (float)frame_values;
    if (damage == NOT_A_NUMBER)
        out[values - 1] = NAN;
    if (damage == LAST_FRAME_MISSING && job->frames > 1)
        memset(out + values - frame_values, 0, frame_values * sizeof *out);
    if (damage == BEYOND_THE_END)
        out[values] = 0;
    return PENSTOCK_OK;
}

static penstock_context *new_context(const char *folder)
{
    penstock_context *context;
    CHECK_OK(
        penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .log = take_line, .cache_dir = folder)));
    CHECK_OK(penstock__devices_probe(context, "cpu"));
    penstock__device_row(context, "cpu", 0)->backend = &wrapped;
    warnings = 0;
    return context;
}

static void ladder(void)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    for (damage = 0; damage < DAMAGES; damage++)
        for (wrong_variants = 0; wrong_variants < 3; wrong_variants++) {
            penstock_context *context = new_context(NULL);
            penstock_plan *plan;
            variants = 3;
            CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), "cpu"));
            if (plan) {
                CHECK_OK(penstock_plan_get_info(plan, &info));
                CHECK(info.variant[0] == (char)('0' + wrong_variants), "%s: variant %s instead of %u",
                      damage_names[damage], info.variant, wrong_variants);
            }
            CHECK_EQ(warnings, wrong_variants > 0);
            CHECK(!wrong_variants || strstr(warning, damage == FAILING ? "did not start" : "self-check"),
                  "the log says '%s'", warning);
            penstock_plan_free(plan);
            penstock_context_free(context);
        }
}

/* Small values are compared as well as others. */
static void small_values(void)
{
    static const float scales[] = {1e-15F, 1e-25F};
    for (damage = 0; damage < BEYOND_THE_END; damage++)
        for (int i = 0; i < 4; i++) {
            penstock_context *context = new_context(NULL);
            penstock_fft_desc desc =
                PENSTOCK_FFT_DESC(.n = N, .store = {.scale = scales[i % 2],
                                                    .output = i < 2 ? PENSTOCK_OUTPUT_COMPLEX : PENSTOCK_OUTPUT_POWER});
            penstock_plan *plan;
            variants = wrong_variants = 1;
            CHECK(penstock_fft_plan(&plan, context, &desc, "cpu") == PENSTOCK_ERR_CHECK, "%s passes with scale %g",
                  damage_names[damage], (double)scales[i % 2]);
            penstock_plan_free(plan);
            penstock_context_free(context);
        }
}

static void all_wrong(void)
{
    for (damage = 0; damage < DAMAGES; damage++) {
        penstock_context *context = new_context(NULL);
        penstock_plan *plan;
        variants = wrong_variants = 2;
        CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), "cpu"),
                 damage == FAILING ? PENSTOCK_ERR_DEVICE : PENSTOCK_ERR_CHECK);
        CHECK(strstr(penstock_error_text(), damage == FAILING ? "did not start" : "self-check"), "the text is '%s'",
              penstock_error_text());
        CHECK(!plan && !warnings, "%d warnings", warnings);
        penstock_context_free(context);
    }
}

/* ---------------------------------------------------------------- kept values ----------------- */

enum { LONG = 8209 }; /* a prime: values of smooth lengths are computed in less time than they are read */

static int plan_long(void)
{
    penstock_context *context = new_context(test_folder);
    penstock_plan *plan;
    int status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = LONG), "cpu");
    penstock_plan_free(plan);
    penstock_context_free(context);
    return status;
}

/* Overwrites the files of expected values by zeros, or counts those that are zeros; their number in `*count`. */
static unsigned expected_files(bool overwrite, unsigned *count)
{
    penstock_context *context = new_context(test_folder);
    DIR *listing = opendir(test_folder);
    struct dirent *entry;
    unsigned zeros = 0;
    *count = 0;
    while (listing && (entry = readdir(listing))) {
        size_t bytes, used = 0;
        if (strncmp(entry->d_name, "expected-", 9))
            continue;
        char *content = penstock__cache_read(context, entry->d_name, &bytes);
        CHECK(content && bytes % (2 * LONG * sizeof(double)) == 0, "%s holds %zu bytes", entry->d_name, bytes);
        while (content && used < bytes && !content[used])
            used++;
        zeros += content && used == bytes;
        if (content && overwrite)
            CHECK(penstock__cache_write(context, entry->d_name, memset(content, 0, bytes), bytes), "cannot write");
        penstock__free(content);
        ++*count;
    }
    if (listing)
        closedir(listing);
    penstock_context_free(context);
    return zeros;
}

/* Expected values of long transforms stay in the cache folder: what is wrong is found by them too, and where they are
 * wrong themselves they are computed anew. */
static void kept_values(void)
{
    unsigned count;
    CHECK(test_make_folder(), "cannot make a folder");
    variants = 2;
    wrong_variants = 0;
    CHECK_OK(plan_long());
    CHECK_EQ(expected_files(false, &count), 0);
    CHECK_EQ(count, 2); /* of an impulse and of noise */
    CHECK_OK(plan_long());
    wrong_variants = 2;
    for (damage = 0; damage < FAILING; damage++)
        if (damage != LAST_FRAME_MISSING) /* there is one alone */
            CHECK_EQ(plan_long(), PENSTOCK_ERR_CHECK);
    wrong_variants = 0;
    expected_files(true, &count);
    CHECK_EQ(expected_files(false, &count), 2);
    CHECK_OK(plan_long());
    CHECK_EQ(expected_files(false, &count), 0);
    test_remove_folder();
}

/* What takes the place of a plan that passed, and differs by its window's values alone, is checked by one frame, all
 * else in full; and what went wrong since is found by that too. */
static void other_windows(void)
{
    static const struct {
        size_t n, spacing, frames;
        bool windowed, replaces;
    } plans[] = {{N, 0, 74, true, true},  {N, 0, 1, true, true},      {N, 0, 74, true, false}, {N, 0, 1, true, true},
                 {N, 0, 74, false, true}, {N, N / 2, 74, true, true}, {64, 0, 74, true, true}};
    static float window[N];
    penstock_context *context = new_context(NULL);
    penstock_plan *plan;
    variants = 1;
    wrong_variants = 0;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        for (size_t j = 0; j < N; j++)
            window[j] = 1 + 0.01f * (float)(i * j % 30);
        checked = 0;
        penstock__check_replaces(plans[i].replaces);
        CHECK_OK(
            penstock_fft_plan(&plan, context,
                              &PENSTOCK_FFT_DESC(.n = plans[i].n, .load = {.window = plans[i].windowed ? window : NULL,
                                                                           .spacing = plans[i].spacing}),
                              "cpu"));
        penstock__check_replaces(false);
        CHECK(checked == plans[i].frames, "plan %zu: checked by %zu frames, expected %zu", i, checked, plans[i].frames);
        penstock_plan_free(plan);
    }
    penstock__check_replaces(true);
    wrong_variants = 1;
    for (damage = 0; damage < DAMAGES; damage++)
        CHECK(damage == LAST_FRAME_MISSING ||
                  penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .load = {.window = window}), "cpu") < 0,
              "%s passes with another window", damage_names[damage]);
    penstock__check_replaces(false);
    wrong_variants = 0;
    penstock_context_free(context);
}

/* Each kind of problem passes the check on a device that is right: the bound is not too tight for anything. */
static void right_problems(void)
{
    static const size_t lengths[] = {1, 2, 3, 8, 37, 64, 1000, 4096, 70000};
    float *window = malloc(70000 * sizeof *window);
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int format = PENSTOCK_CF32; format <= PENSTOCK_CF16; format += format == PENSTOCK_PLANAR ? 2 : 1)
            for (int output = PENSTOCK_OUTPUT_COMPLEX; output <= PENSTOCK_OUTPUT_DECIBEL; output++) {
                penstock_fft_desc desc =
                    PENSTOCK_FFT_DESC(.n = lengths[i], .direction = (penstock_direction)(i % 2),
                                      .load = {.format = (penstock_format)format,
                                               .shift = output ? 0.123 : 0,
                                               .window = output == PENSTOCK_OUTPUT_COMPLEX ? window : NULL,
                                               .spacing = format == PENSTOCK_CS16 ? lengths[i] / 3 + 1 : 0},
                                      .store = {.output = (penstock_output)output,
                                                .scale = 0.37f,
                                                .centered = format % 2 == 1,
                                                .half = format == PENSTOCK_CF16,
                                                .average = output ? 3 : 1});
                penstock_plan *plan;
                CHECK_OK(penstock_window_fill(window, lengths[i], "hann"));
                CHECK(!penstock_fft_plan(&plan, context, &desc, "cpu"), "n %zu, format %d, output %d: %s", lengths[i],
                      format, output, penstock_error_text());
                penstock_plan_free(plan);
            }
    penstock_context_free(context);
    free(window);
}

int main(void)
{
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    wrapped = penstock__cpu_backend;
    wrapped.plan_init = plan_init;
    wrapped.enqueue = enqueue;
    ladder();
    all_wrong();
    small_values();
    kept_values();
    other_windows();
    right_problems();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
