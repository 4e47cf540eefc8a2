/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SigMF recordings: found by either name, data of another name, whatever may be wrong in the metadata. */
#include "core/base/memory.h"
#include "files.h"

#define SAMPLES 10007

static uint8_t bytes[SAMPLES * 8];

static void fill_bytes(void)
{
    uint64_t seed = 1;
    test_random_bytes(bytes, sizeof bytes, &seed);
}

static const char good_metadata[] =
    "{\"global\": {\"core:datatype\": \"ci16_le\", \"core:sample_rate\": 20000000, \"core:version\": \"1.0.0\"},"
    " \"captures\": [{\"core:sample_start\": 0, \"core:frequency\": 5.2e9}], \"annotations\": []}";

static void sigmf_by_either_name(void)
{
    static uint8_t out[SAMPLES * 4];
    const char *names[] = {"good.sigmf-meta", "good.sigmf-data"};
    test_write_text("good.sigmf-meta", good_metadata);
    test_write_file("good.sigmf-data", bytes, SAMPLES * 4);
    for (size_t i = 0; i < 2; i++) {
        penstock_source_info info = PENSTOCK_SOURCE_INFO;
        penstock_source *source;
        CHECK_OK(penstock_source_open(&source, NULL, test_path(names[i]), &PENSTOCK_SOURCE_DESC()));
        CHECK_OK(penstock_source_get_info(source, &info));
        CHECK(info.format == PENSTOCK_CS16 && info.rate_hz == 20e6 && info.frequency_hz == 5.2e9, "info");
        CHECK_EQ(info.total_samples, SAMPLES);
        CHECK_EQ(test_read_source(source, out, 4, SAMPLES, 4096, i), SAMPLES);
        CHECK(!memcmp(out, bytes, sizeof out), "samples");
        penstock_source_free(source);
    }
}

/* A data file of another name, with bytes in front and behind that are no samples. */
static void sigmf_of_a_foreign_file(void)
{
    static uint8_t out[SAMPLES * 2];
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    penstock_source *source;
    test_write_text("foreign.sigmf-meta",
                    "{\"global\": {\"core:datatype\": \"cu8\", \"core:dataset\": \"foreign.bin\","
                    " \"core:trailing_bytes\": 7}, \"captures\": [{\"core:header_bytes\": 128}]}");
    test_write_file("foreign.bin", bytes, 128 + 1000 * 2 + 7);
    CHECK_OK(
        penstock_source_open(&source, NULL, test_path("foreign.sigmf-meta"), &PENSTOCK_SOURCE_DESC(.rate_hz = 1.92e6)));
    CHECK_EQ(test_read_source(source, out, 2, SAMPLES, 300, 5), 1000);
    CHECK(!memcmp(out, bytes + 128, 2000), "samples");
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK_EQ(counters.trailing_bytes, 0);
    penstock_source_free(source);
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void bad_metadata(void)
{
#define GLOBAL(text) "{\"global\": {" text "}}"
    static const struct {
        const char *text;
        int status;
        const char *words;
    } cases[] = {
        {"", PENSTOCK_ERR_FILE, "is empty"},
        {"{", PENSTOCK_ERR_FORMAT, "not JSON"},
        {"[]", PENSTOCK_ERR_FORMAT, "not one JSON object"},
        {"{}", PENSTOCK_ERR_FORMAT, "no object 'global'"},
        {GLOBAL(""), PENSTOCK_ERR_FORMAT, "core:datatype"},
        {GLOBAL("\"core:datatype\": 5"), PENSTOCK_ERR_FORMAT, "core:datatype"},
        {GLOBAL("\"core:datatype\": \"ri16_le\""), PENSTOCK_ERR_UNSUPPORTED, "ri16_le is not read"},
        {GLOBAL("\"core:datatype\": \"cf32_be\""), PENSTOCK_ERR_UNSUPPORTED, "cf32_be is not read"},
        {GLOBAL("\"core:datatype\": \"cu8\""), PENSTOCK_ERR_ARGUMENT, "sample rate"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:sample_rate\": \"1\""), PENSTOCK_ERR_FORMAT, "core:sample_rate"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:sample_rate\": -1"), PENSTOCK_ERR_FORMAT, "core:sample_rate"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:sample_rate\": 1e300"), PENSTOCK_ERR_FORMAT, "core:sample_rate"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:num_channels\": 2"), PENSTOCK_ERR_UNSUPPORTED, "2 channels"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:dataset\": \"../x\""), PENSTOCK_ERR_FORMAT, "core:dataset"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:dataset\": \"\""), PENSTOCK_ERR_FORMAT, "core:dataset"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:metadata_only\": true"), PENSTOCK_ERR_FORMAT, "no samples"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:trailing_bytes\": -1"), PENSTOCK_ERR_FORMAT, "core:trailing"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:sample_rate\": 1, \"core:trailing_bytes\": 9000000"),
         PENSTOCK_ERR_FORMAT, "no samples"},
        {GLOBAL("\"core:datatype\": \"cu8\", \"core:sample_rate\": 1, \"core:dataset\": \"none\""), PENSTOCK_ERR_FILE,
         "No such file"},
        {"{\"global\": {\"core:datatype\": \"cu8\"}, \"captures\": 3}", PENSTOCK_ERR_FORMAT, "captures"},
        {"{\"global\": {\"core:datatype\": \"cu8\"}, \"captures\": [3]}", PENSTOCK_ERR_FORMAT, "captures"},
        {"{\"global\": {\"core:datatype\": \"cu8\"}, \"captures\": [{}, {\"core:header_bytes\": 4}]}",
         PENSTOCK_ERR_UNSUPPORTED, "core:header_bytes"},
    };
    test_write_file("bad.sigmf-data", bytes, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_write_text("bad.sigmf-meta", cases[i].text);
        test_source_refused(test_path("bad.sigmf-meta"), PENSTOCK_SOURCE_DESC(), cases[i].status, cases[i].words);
    }
    test_source_refused(test_path("none.sigmf-meta"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_FILE, "No such file");
    test_source_refused(test_path("good.sigmf-meta"), PENSTOCK_SOURCE_DESC(.rate_hz = 1e6), PENSTOCK_ERR_ARGUMENT,
                        "20000000");
    test_source_refused(test_path("good.sigmf-meta"), PENSTOCK_SOURCE_DESC(.raw = true), PENSTOCK_ERR_ARGUMENT, "cs16");
    test_write_file("hollow.sigmf-data", "", 0);
    test_write_text("hollow.sigmf-meta", good_metadata);
    test_source_refused(test_path("hollow.sigmf-meta"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_FILE, "is empty");
}

/* ---------------------------------------------------------------- memory ---------------------- */

static void every_allocation_fails_once(void)
{
    const penstock_source_desc desc = PENSTOCK_SOURCE_DESC(.resample_hz = 10e6, .antenna = "RX");
    static penstock_cf32 out[SAMPLES];
    long live = penstock__memory_live();
    int status = PENSTOCK_ERR_MEMORY;
    long k = 0;
    for (; status && k < 100; k++) {
        penstock_source *source;
        penstock__memory_fail_at(k);
        status = penstock_source_open(&source, NULL, test_path("good.sigmf-meta"), &desc);
        penstock__memory_fail_at(-1);
        if (status)
            CHECK_EQ(status, PENSTOCK_ERR_MEMORY);
        else
            CHECK_EQ(test_read_source(source, out, sizeof *out, SAMPLES, 1000, 1), (SAMPLES + 1) / 2);
        penstock_source_free(source);
        CHECK_EQ(penstock__memory_live(), live);
    }
    CHECK(k > 4, "only %ld allocations", k);
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    fill_bytes();
    sigmf_by_either_name();
    sigmf_of_a_foreign_file();
    bad_metadata();
    every_allocation_fails_once();
    test_remove_folder();
    return test_finish();
}
