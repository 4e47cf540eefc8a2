/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Wrong descriptions of transforms: each field is refused with a text that names it, and nothing is made. */
#include "core/base/description.h"
#include "test.h"

#include <penstock/penstock.h>

static penstock_context *context;

/* `word` must be in the text. */
static void refused(penstock_fft_desc desc, const char *word)
{
    penstock_plan *plan = (penstock_plan *)&desc;
    int status = penstock_fft_plan(&plan, context, &desc, "cpu");
    CHECK(status == PENSTOCK_ERR_ARGUMENT, "%s: status %d", word, status);
    CHECK(!plan, "%s: a plan was made", word);
    CHECK(strstr(penstock_error_text(), word), "no '%s' in '%s'", word, penstock_error_text());
    CHECK(!strchr(penstock_error_text(), '\n'), "more than a line: %s", penstock_error_text());
}

static void accepted(penstock_fft_desc desc)
{
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &desc, "cpu"));
    CHECK(plan, "no plan");
    penstock_plan_free(plan);
}

static void check_fields(void)
{
    static float window[8] = {1, 1, 1, 1, 1, 1, 1, 1}, bad_window[8] = {1, 1, 1, NAN};
    refused(PENSTOCK_FFT_DESC(0), "length 0");
    refused(PENSTOCK_FFT_DESC(.n = ((size_t)1 << 23) + 1), "length 8388609");
    refused(PENSTOCK_FFT_DESC(.n = 8, .direction = (penstock_direction)2), "direction");
    refused(PENSTOCK_FFT_DESC(.n = 8, .domain = (penstock_domain)7), "domain");
    refused(PENSTOCK_FFT_DESC(.n = 8, .slots = 17), "17 slots");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.format = (penstock_format)7), "format 7");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.format = PENSTOCK_F32), "f32");
    refused(
        PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .direction = PENSTOCK_REVERSE, .load.format = PENSTOCK_F32),
        "f32");
    refused(PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .load.format = PENSTOCK_CS16), "cs16");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.spacing = SIZE_MAX), "spacing");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.skip = SIZE_MAX - 4), "skip");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.shift = 0.51), "shift 0.51");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.shift = NAN), "shift");
    refused(PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .load.shift = 0.1), "shift");
    refused(PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .direction = PENSTOCK_REVERSE, .load.window = window),
            "window");
    refused(PENSTOCK_FFT_DESC(.n = 8, .load.window = bad_window), "window factor 3");
    refused(PENSTOCK_FFT_DESC(.n = 8, .store.output = (penstock_output)3), "output 3");
    refused(PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .direction = PENSTOCK_REVERSE,
                              .store.output = PENSTOCK_OUTPUT_POWER),
            "output");
    refused(PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .store.centered = true), "centred");
    refused(PENSTOCK_FFT_DESC(.n = 8, .store.scale = INFINITY), "scale");
    refused(PENSTOCK_FFT_DESC(.n = 8, .store.average = 2), "average 2");
    refused(PENSTOCK_FFT_DESC(.n = 8, .store.output = PENSTOCK_OUTPUT_POWER, .store.average = 1u << 21), "average");
    accepted(PENSTOCK_FFT_DESC(.n = 8, .load.shift = -0.5, .load.window = window, .slots = 16));
    accepted(PENSTOCK_FFT_DESC(.n = 8, .domain = PENSTOCK_REAL, .load.window = window));
    accepted(PENSTOCK_FFT_DESC(.n = 8, .store.output = PENSTOCK_OUTPUT_DECIBEL, .store.average = 7, .batch = 3));
}

static void check_pointers(void)
{
    penstock_plan *plan;
    penstock_fft_desc desc = PENSTOCK_FFT_DESC(.n = 8);
    CHECK_EQ(penstock_fft_plan(NULL, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_plan(&plan, NULL, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), "context"), "%s", penstock_error_text());
    CHECK_EQ(penstock_fft_plan(&plan, context, NULL, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), "penstock_fft_desc"), "%s", penstock_error_text());
    CHECK_EQ(penstock_fft_plan(&plan, context, &desc, "no such device"), PENSTOCK_ERR_NO_DEVICE);
    CHECK(strstr(penstock_error_text(), "no such device"), "%s", penstock_error_text());
}

/* Callers that were built against another header. */
static void check_sizes(void)
{
    enum { EARLIER = 2 * sizeof(size_t) }; /* a version without `second` */
    struct {
        penstock_fft_desc desc;
        uint64_t newer;
    } later = {.desc = PENSTOCK_FFT_DESC(.n = 8)};
    struct {
        size_t size, first, second;
    } ours = {.size = sizeof ours, .first = 1, .second = 2}, theirs = {.size = EARLIER, .first = 7, .second = 8};
    penstock_plan *plan;
    later.desc.size = 0;
    refused(later.desc, "size 0");
    later.desc.size = 1000000;
    refused(later.desc, "size 1000000");
    later.desc.size = sizeof later;
    CHECK_OK(penstock_fft_plan(&plan, context, &later.desc, "cpu"));
    penstock_plan_free(plan);
    later.newer = 1;
    CHECK_EQ(penstock_fft_plan(&plan, context, &later.desc, "cpu"), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(strstr(penstock_error_text(), "does not know"), "%s", penstock_error_text());

    CHECK_OK(penstock__description_read(&ours, sizeof ours, &theirs, "theirs"));
    CHECK_EQ(ours.size, sizeof ours);
    CHECK_EQ(ours.first, 7);
    CHECK_EQ(ours.second, 0);
    ours.first = 3;
    CHECK_OK(penstock__description_write(&theirs, &ours, sizeof ours, "theirs"));
    CHECK_EQ(theirs.size, EARLIER);
    CHECK_EQ(theirs.first, 3);
    CHECK_EQ(theirs.second, 8);
    theirs.size = sizeof theirs;
    CHECK_OK(penstock__description_write(&theirs, &ours, EARLIER, "theirs"));
    CHECK_EQ(theirs.second, 0);
    theirs.size = sizeof theirs - sizeof theirs.second / 2;
    CHECK_EQ(penstock__description_read(&ours, sizeof ours, &theirs, "theirs"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock__description_write(&theirs, &ours, sizeof ours, "theirs"), PENSTOCK_ERR_ARGUMENT);
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    check_fields();
    check_pointers();
    check_sizes();
    penstock_context_free(context);
    return test_finish();
}
