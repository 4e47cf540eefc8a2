/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The transforms of a GPU backend against double precision: lengths of every kind, both directions, every variant.
 * PENSTOCK_TEST_FULL=1 runs every length to 4096 and all combinations; else one of every kind, and 64 lengths by hash;
 * where a kernel takes a second to compile, half of the kinds, and 10 lengths, or as many as PENSTOCK_TEST_SAMPLE says.
 * PENSTOCK_TEST_LENGTHS="8 600" runs those lengths alone.
 */
#include "gpu_rig.h"

/* One of every kind that kernels differ in: radices and their products, idle work-items, Rader, Bluestein, two passes.
 */
static const size_t kinds[] = {1, 2, 3, 7, 8, 9, 11, 13, 17, 64, 127, 509, 600, 1024, 8192, 10007};

/* Of radios: Wi-Fi, LTE, NR, DAB, DVB. */
static const size_t radios[] = {16,   32,   48,   80,   96,   128,  139,  160,   192,   256,  320,  384,
                                512,  640,  768,  839,  960,  1152, 1200, 1280,  1536,  1920, 2048, 3072,
                                3240, 4096, 6144, 6816, 8192, 1705, 6817, 24576, 27841, 32768};

static const size_t long_lengths[] = {9973,   10000,   16807,   19683,   32767,   32769,   44100,   65535,
                                      65536,  65537,   99991,   131071,  131072,  200000,  262144,  360361,
                                      524288, 1000000, 1048573, 1048576, 2097152, 4194304, 4194301, 8388608};

static bool sampled(size_t n)
{
    return n == 8 || n == 600 || n == 127 || getenv("PENSTOCK_TEST_FULL");
}

static void check_length(struct rig *rig, size_t n)
{
    rig_check(rig, (struct penstock_fft_problem){.n = n}, 0, "forward");
    for (unsigned variant = 1; variant < 4 && sampled(n); variant++)
        if (rig_draws(rig, 3))
            rig_check(rig, (struct penstock_fft_problem){.n = n}, variant, "forward");
    if ((sampled(n) && rig_draws(rig, 3)) || getenv("PENSTOCK_TEST_LENGTHS"))
        rig_check(rig, (struct penstock_fft_problem){.n = n, .direction = PENSTOCK_REVERSE}, 0, "reverse");
}

static void check_lengths(struct rig *rig, const size_t *lengths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_length(rig, lengths[i]);
}

/* Whether the hash of `n`, another in each part of the tests, is among the `share` first of 1000. */
static bool drawn(size_t n, unsigned share)
{
    char text[80];
    int length = snprintf(text, sizeof text, "%zu of %.40s", n, test_part());
    return penstock__hash(text, (size_t)length) % 1000 < share;
}

static bool is_kind(size_t n)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i] == n)
            return true;
    return false;
}

/*
 * Lengths of `kinds`, then `count` others by hash: one in eight of the long ones of radios, and those to `most`
 * whose hash is smallest, mostly short ones, whose kernels compile soon.
 */
static void check_sample(struct rig *rig, unsigned count, size_t most)
{
    size_t shorter = most < 600 ? most : 600;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (rig_draws(rig, 2))
            check_length(rig, kinds[i]);
    unsigned before = rig_cases;
    for (size_t i = 0; i < sizeof radios / sizeof radios[0] && rig_cases - before < count; i++)
        if (radios[i] > shorter && radios[i] <= most && !is_kind(radios[i]) && drawn(radios[i], 125))
            rig_check(rig, (struct penstock_fft_problem){.n = radios[i]}, 0, "forward");
    for (unsigned share = 60; rig_cases - before < count && share <= 1020; share += 60)
        for (size_t n = 1; n <= shorter && rig_cases - before < count; n++)
            if (!is_kind(n) && drawn(n, share) && !drawn(n, share - 60))
                rig_check(rig, (struct penstock_fft_problem){.n = n}, 0, "forward");
    CHECK(rig_cases - before >= count, "only %u lengths by hash", rig_cases - before);
    printf("%u lengths by hash, part %s\n", rig_cases - before, test_part());
}

/* "8 600 1021": these alone. False where the environment names none. */
static bool check_named(struct rig *rig)
{
    const char *lengths = getenv("PENSTOCK_TEST_LENGTHS");
    char *end;
    for (size_t n; lengths && (n = strtoul(lengths, &end, 10)) > 0; lengths = end)
        check_length(rig, n);
    return lengths;
}

int main(int count, char **arguments)
{
    struct rig rig;
    const char *asked = getenv("PENSTOCK_TEST_SAMPLE");
    bool full = getenv("PENSTOCK_TEST_FULL") != NULL, named;
    int status = rig_open(&rig, rig_device(count, arguments), &PENSTOCK_CONTEXT_DESC(.cache_dir = ""));
    if (status)
        return status;
    unsigned sample = asked ? (unsigned)strtoul(asked, NULL, 10) : rig.device->host_memory ? 10 : 64;
    if (!(named = check_named(&rig)) && full) {
        check_lengths(&rig, kinds, sizeof kinds / sizeof kinds[0]);
        check_lengths(&rig, radios, sizeof radios / sizeof radios[0]);
        check_lengths(&rig, long_lengths, sizeof long_lengths / sizeof long_lengths[0]);
        for (size_t n = 1; n <= 4096; n++)
            rig_check(&rig, (struct penstock_fft_problem){.n = n}, 0, "forward");
    } else if (!named) {
        check_sample(&rig, sample, rig_max_n());
    }
    return rig_finish(&rig, named ? 1 : sample);
}
