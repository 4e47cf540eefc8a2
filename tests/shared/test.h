/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What every test uses: checks that say what differs and go on, a count of what was executed, and a
 * generator of pseudo-random numbers that gives the same on every machine.
 *
 *     int main(void)
 *     {
 *         CHECK_EQ(2 + 2, 4);
 *         CHECK(condition, "why, with %d values", 3);
 *         return test_finish();
 *     }
 */
#ifndef PENSTOCK_TEST_H
#define PENSTOCK_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Built with the address or the thread sanitizer, under which a program runs several times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* From one failure of a sweep to the next: ThreadSanitizer looks at threads, and is slow. */
#ifdef __SANITIZE_THREAD__
#define SWEEP_STEP 4
#else
#define SWEEP_STEP 1
#endif

/* Weak: one count for all files of a test. */
__attribute__((weak)) int test_checks, test_failures;
__attribute__((weak)) unsigned test_cases, test_cases_drawn; /* of sweeps that are sampled */

#define CHECK(condition, ...)                                                   \
    do {                                                                        \
        test_checks++;                                                          \
        if (!(condition)) {                                                     \
            if (test_failures++ < 20) {                                         \
                fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
                fprintf(stderr, __VA_ARGS__);                                   \
                fputc('\n', stderr);                                            \
            }                                                                   \
        }                                                                       \
    } while (0)

#define CHECK_EQ(got, want)                                                   \
    do {                                                                      \
        long long got_ = (long long)(got), want_ = (long long)(want);         \
        CHECK(got_ == want_, "%s is %lld, expected %lld", #got, got_, want_); \
    } while (0)

#define CHECK_OK(call)                                                          \
    do {                                                                        \
        int status_ = (call);                                                   \
        CHECK(status_ == 0, "returned %d: %s", status_, penstock_error_text()); \
    } while (0)

/* SplitMix64: S. Vigna, public domain algorithm; any seed is good. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [-1, 1). */
static inline double test_uniform(uint64_t *state)
{
    return (double)(test_random(state) >> 11) * 0x1p-52 - 1.0;
}

static inline void test_random_bytes(void *to, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)to)[i] = (unsigned char)test_random(state);
}

/* The name of the part that a sampled sweep takes: tests/run.sh gives each commit another. */
static inline const char *test_part(void)
{
    const char *part = getenv("PENSTOCK_TEST_PART");
    return part ? part : "0";
}

/*
 * Whether case `number` of a sweep is run: of each `every` in a row one, drawn by hash, another in each part. With
 * PENSTOCK_TEST_FULL=1 each is. test_finish() tells how many of how many.
 */
static inline bool test_drawn(uint64_t number, unsigned every)
{
    uint64_t state = strtoull(test_part(), NULL, 10) ^ number / every << 32;
    bool drawn = every < 2 || getenv("PENSTOCK_TEST_FULL") || number % every == test_random(&state) % every;
    test_cases++;
    test_cases_drawn += drawn;
    return drawn;
}

/* The last line of a test: how many checks were executed. None executed is a failure. */
static inline int test_finish(void)
{
    if (test_cases_drawn < test_cases)
        printf("of %u cases that are sampled %u were run, part %s; PENSTOCK_TEST_FULL=1 runs all\n", test_cases,
               test_cases_drawn, test_part());
    printf("%d checks, %d failed\n", test_checks, test_failures);
    return test_failures || !test_checks ? 1 : 0;
}

/* For a test that cannot run here at all. */
static inline int test_skip(const char *reason)
{
    printf("SKIPPED: %s\n", reason);
    return 77;
}

/* Folder of the recordings, or NULL with the reason when it is absent. */
static inline const char *test_recordings(void)
{
    const char *folder = getenv("PENSTOCK_RECORDINGS");
    static char path[4096];
    FILE *probe;
    if (!folder)
        folder = "../shared/recordings";
    snprintf(path, sizeof path, "%s/wifi/truth.tsv", folder);
    if (!(probe = fopen(path, "rb"))) {
        static char reason[4200];
        snprintf(reason, sizeof reason, "no recordings: %s is absent (set PENSTOCK_RECORDINGS)", path);
        test_skip(reason);
        return NULL;
    }
    fclose(probe);
    return folder;
}

#endif
