/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The transform length: fits the taps and grows no faster than they do, obeys the latency that is asked for,
 * is the same in any context, and asks nothing of the cache folder. */
#include "core/base/memory.h"
#include "core/device/devices.h"
#include "folder.h"
#include "ops/filter/filter_engine.h"

#include <dirent.h>
#include <penstock/penstock.h>

static struct filter_shape shape_for(const struct penstock_device *cpu, size_t taps, size_t up, size_t down, bool real,
                                     size_t channels)
{
    struct filter_shape shape = {.format = real ? PENSTOCK_F32 : PENSTOCK_CF32,
                                 .real = real,
                                 .taps = taps,
                                 .interpolation = up,
                                 .decimation = down};
    penstock__filter_length(&shape, cpu, channels);
    return shape;
}

static void fits(const struct penstock_device *cpu)
{
    static const size_t rates[] = {1, 2, 3, 7, 10, 50, 1000}, counts[] = {1, 2, 16};
    for (size_t i = 0; i < sizeof rates / sizeof *rates * 2 * 3; i++) {
        size_t down = rates[i / 6], channels = counts[i % 3];
        bool real = i / 3 % 2;
        for (size_t taps = 1; taps <= 1 << 20; taps += taps / 3 + 1) {
            struct filter_shape shape = shape_for(cpu, taps, 1, down, real, channels);
            CHECK(shape.n >= taps + down && shape.block && shape.n <= 64 * (taps + down) + 8192 &&
                      (shape.n & (shape.n - 1)) == 0,
                  "%zu taps, one of %zu: %zu points, block %zu", taps, down, shape.n, shape.block);
        }
    }
    CHECK(shape_for(cpu, 129, 4, 1, false, 1).block, "no block with interpolation");
}

static void is_prompt(const struct penstock_device *cpu)
{
    struct filter_shape shape = {.format = PENSTOCK_CF32, .taps = 1025, .interpolation = 1, .decimation = 1};
    penstock__filter_length(&shape, cpu, 1);
    size_t usual = shape.n;
    shape.max_latency = 2048;
    penstock__filter_length(&shape, cpu, 1);
    CHECK(shape.n < usual && shape.block <= 4096, "%zu points, a block of %zu for a latency of 2048", shape.n,
          shape.block);
}

static size_t length_of(penstock_context *context, size_t count)
{
    static const float taps[3000] = {1};
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    penstock_stream *filter = NULL;
    CHECK_OK(
        penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = count), "cpu"));
    if (filter)
        CHECK_OK(penstock_filter_get_info(filter, &info));
    penstock_stream_free(filter);
    return info.n;
}

static size_t kept_answers(void)
{
    DIR *directory = opendir(test_folder);
    struct dirent *entry;
    size_t count = 0;
    while (directory && (entry = readdir(directory)))
        count += !strncmp(entry->d_name, "filter-", 7);
    if (directory)
        closedir(directory);
    return count;
}

static void needs_no_memory(void)
{
    size_t first[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        penstock_context *context = NULL;
        CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder, .threads = 2)));
        size_t small = length_of(context, 129), large = length_of(context, 3000);
        CHECK(i ? small == first[0] && large == first[1] : small < large, "%zu and %zu points, before %zu and %zu",
              small, large, first[0], first[1]);
        first[0] = small;
        first[1] = large;
        penstock_context_free(context);
    }
    CHECK_EQ(kept_answers(), 0);
}

int main(void)
{
    penstock_context *context = NULL;
    struct penstock_device *cpu = NULL;
    CHECK(test_make_folder(), "no temporary folder");
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 1)));
    CHECK_OK(penstock__device_find(context, "cpu", &cpu));
    if (cpu) {
        fits(cpu);
        is_prompt(cpu);
    }
    penstock_context_free(context);
    needs_no_memory();
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
