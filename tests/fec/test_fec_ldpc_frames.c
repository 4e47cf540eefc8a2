/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frame errors of LDPC decoders: those of the decoder in double precision, and NR's at the signal-to-noise ratios of a
 * public list. PENSTOCK_TEST_FULL=1 takes more frames, and all rows of that list.
 */
#include "ldpc_blocks.h"
#include "test.h"

#include <penstock/penstock.h>

#include <math.h>

static penstock_context *context;
static bool full;

/*
 * Frames wrong by whole numbers and in double precision: at most 3 % more, and two standard deviations of the
 * difference, which frames make that only one of the two has wrong.
 */
static void compare_frames(const struct blocks *blocks, const char *name)
{
    size_t ours = 0, theirs = 0, different = 0;
    for (size_t b = 0; b < blocks->count; b++) {
        bool our = blocks_is_wrong(blocks, b, blocks->out), their = blocks_is_wrong(blocks, b, blocks->other);
        ours += our;
        theirs += their;
        different += our != their;
    }
    CHECK((double)ours <= 1.03 * (double)theirs + 2 * sqrt((double)different) + 1,
          "%s: %zu frames of %zu are wrong, %zu in double precision, %zu by one of the two", name, ours, blocks->count,
          theirs, different);
    CHECK(theirs > blocks->count / 100 && theirs < blocks->count,
          "%s: %zu of %zu frames are wrong: nothing is compared", name, theirs, blocks->count);
    printf("%s: %zu of %zu frames wrong, %zu in double precision, %zu by one of the two: ratio %.3f\n", name, ours,
           blocks->count, theirs, different, (double)ours / (double)theirs);
}

static void test_frame_errors(void)
{
    static const struct {
        const char *name;
        double sigma;
    } points[] = {{"wifi:1944:1/2", 0.84}, {"wifi:648:1/2", 0.83}, {"wifi:648:2/3", 0.67},   {"wifi:648:3/4", 0.6},
                  {"wifi:648:5/6", 0.53},  {"nr:bg1:64:4", 0.455}, {"nr:bg1:64:5", 0.495},   {"nr:bg1:64:9", 0.61},
                  {"nr:bg1:64:14", 0.69},  {"nr:bg1:64", 1.09},    {"nr:bg2:64:4", 0.53},    {"nr:bg2:64:6", 0.62},
                  {"nr:bg2:40:12", 0.82},  {"nr:bg2:64:24", 1.1},  {"ccsds:1024:1/2", 0.82}, {"ccsds:1024:2/3", 0.67},
                  {"ccsds:1024:4/5", 0.56}};
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct blocks blocks;
        penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.soft = PENSTOCK_SOFT_F32, .stop_early = true);
        CHECK_OK(penstock_ldpc_code(&desc, points[i].name));
        blocks_new(&blocks, desc, full ? 6000 : 60, points[i].sigma, &seed);
        blocks_decode(&blocks, blocks.out, context, "cpu");
        blocks_decode(&blocks, blocks.other, context, "reference");
        compare_frames(&blocks, points[i].name);
        blocks_free(&blocks);
    }
}

/*
 * Signal-to-noise ratios (of QPSK symbols, dB) at which no more than a tenth of the blocks may be wrong after ten
 * iterations, of all rows from 4 on, lifting 384: NVIDIA's aerial-cuda-accelerated-ran,
 * cuPHY/util/ldpc/test/ldpc_decode_BG1_Z384_BLER0.1.txt and ldpc_decode_BG2_Z384_BLER0.1.txt.
 */
static const double snr_db[2][43] = {
    {6.87,  6.15,  5.64,  5.17,   4.79,    4.48,   4.20,   3.92,   3.66,   3.45,   3.22,   3.02,   2.83,  2.64,  2.50,
     2.31,  2.15,  1.98,  1.81,   1.67,    1.53,   1.40,   1.27,   1.14,   0.999,  0.889,  0.772,  0.650, 0.547, 0.428,
     0.333, 0.220, 0.127, 0.0342, -0.0659, -0.170, -0.253, -0.344, -0.424, -0.515, -0.605, -0.693, -0.766},
    {5.55,  4.62,  3.95,    3.45,   2.97,   2.55,   2.18,   1.86,   1.56,  1.27,  1.01,  0.752, 0.528,
     0.293, 0.118, -0.0927, -0.273, -0.449, -0.634, -0.830, -0.986, -1.14, -1.31, -1.45, -1.61, -1.76,
     -1.88, -1.98, -2.12,   -2.26,  -2.36,  -2.48,  -2.58,  -2.68,  -2.79, -2.90, -2.99, -3.08, -3.18}};

static void test_list(void)
{
    enum { LEAST_ROWS = 4, BLOCKS = 800, FEW_BLOCKS = 60 };
    const size_t count = full ? BLOCKS : FEW_BLOCKS;
    uint64_t seed = 6;
    for (unsigned graph = 0; graph < 2; graph++)
        for (unsigned row = 0; row < (graph ? 39 : 43); row += full ? 1 : 7) {
            penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.soft = PENSTOCK_SOFT_F32);
            struct blocks blocks;
            char name[32];
            size_t wrong;
            snprintf(name, sizeof name, "nr:bg%u:384:%u", graph + 1, row + LEAST_ROWS);
            CHECK_OK(penstock_ldpc_code(&desc, name));
            blocks_new(&blocks, desc, count, pow(10, -snr_db[graph][row] / 20), &seed);
            blocks_decode(&blocks, blocks.out, context, "cpu");
            wrong = blocks_wrong(&blocks);
            CHECK((double)wrong <= 0.1 * (double)count + 2 * sqrt(0.09 * (double)count),
                  "%s at %g dB: %zu of %zu blocks are wrong", name, snr_db[graph][row], wrong, count);
            printf("%s at %g dB: %zu of %zu blocks wrong\n", name, snr_db[graph][row], wrong, count);
            blocks_free(&blocks);
        }
}

int main(void)
{
    size_t index;
    full = getenv("PENSTOCK_TEST_FULL") != NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    if (!penstock_device_find(context, "reference", &index))
        test_frame_errors();
    test_list();
    penstock_context_free(context);
    return test_finish();
}
