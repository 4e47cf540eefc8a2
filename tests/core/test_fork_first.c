/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * fork() while another thread calls the library for the first time: what libraries below ours make ready once, under
 * locks of their own, is then half made. Each round is a process that has made nothing yet, and forks a little later.
 */
#include "child.h"
#include "test.h"

#include <penstock/penstock.h>

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 60, STEP_NS = 50000, DEADLINE_S = 30, POINTS = 240, FRAMES = 4 };

static bool transform(void)
{
    penstock_cf32 in[FRAMES * POINTS] = {{0, 0}}, out[FRAMES * POINTS] = {{0, 0}}; /* none of the parent's values */
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    for (size_t f = 0; f < FRAMES; f++)
        in[f * POINTS].re = 1;
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = ""));
    if (!status)
        status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = POINTS), "cpu");
    if (!status)
        status = penstock_plan_run(plan, in, out, FRAMES);
    bool right = !status;
    for (size_t i = 0; i < FRAMES * POINTS && right; i++) /* of an impulse: all ones */
        right = out[i].re > 0.999F && out[i].re < 1.001F && out[i].im > -0.001F && out[i].im < 0.001F;
    penstock_plan_free(plan);
    penstock_context_free(context);
    return right;
}

static void *first(void *unused)
{
    static bool right;
    (void)unused;
    right = transform();
    return &right;
}

/* Exit codes of a round. */
enum { RIGHT, NO_THREAD, NO_FORK, HANGS, WRONG, PARENT_WRONG, END_COUNT };
static const char *const texts[END_COUNT] = {
    [NO_THREAD] = "no thread",
    [NO_FORK] = "no fork",
    [HANGS] = "the child hangs",
    [WRONG] = "the child is wrong",
    [PARENT_WRONG] = "the parent is wrong",
};

static int end_of(pid_t child)
{
    int status;
    if (!child_ends(child, &status, DEADLINE_S))
        return HANGS;
    return WIFEXITED(status) && !WEXITSTATUS(status) ? RIGHT : WRONG;
}

static int fork_after(long ns)
{
    pthread_t other;
    void *right;
    if (pthread_create(&other, NULL, first, NULL))
        return NO_THREAD;
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
    pid_t child = fork();
    if (!child)
        _exit(transform() ? 0 : 1);
    int found = child < 0 ? NO_FORK : end_of(child);
    pthread_join(other, &right);
    return found ? found : *(const bool *)right ? RIGHT : PARENT_WRONG;
}

int main(void)
{
    int status;
    for (int round = 0; round < ROUNDS && !test_failures; round++) {
        fflush(NULL);
        pid_t process = fork();
        if (!process)
            _exit(fork_after((long)round * STEP_NS + 1));
        CHECK(process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status), "round %d", round);
        CHECK(!WEXITSTATUS(status), "round %d: %s", round, texts[WEXITSTATUS(status) % END_COUNT]);
    }
    return test_finish();
}
