/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing through the helper program: one that lives, crashes, says nothing or is not there; and what is remembered. */
#include "core/memory.h"
#include "core/probe.h"
#include "helper_script.h"

#include <penstock/penstock.h>
#include <signal.h>
#include <time.h>

static const char *key = "driver 1";
static int warnings;

/* The clock of the library, put in its place by the linker (--wrap): 30 s go by each time that it is asked. */
static bool hasty;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    static time_t passed_s;
    int status = __real_clock_gettime(clock, time);
    passed_s += hasty ? 30 : 0;
    time->tv_sec += passed_s;
    return status;
}

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

static void driver_key(char *text, size_t capacity)
{
    snprintf(text, capacity, "%s", key);
}

/* The helper knows it as the cpu backend; nothing else of it is used here. */
static struct penstock_backend backend = {.name = "cpu", .driver_key = driver_key};

/* Probes in a new context; `cache_dir` "" remembers nothing. */
static bool survives(const char *cache_dir, char reason[256])
{
    penstock_context *context;
    bool answer;
    warnings = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_warnings, .cache_dir = cache_dir)));
    answer = penstock__probe_survives(context, &backend, reason);
    CHECK(answer == !*reason, "the answer is %d and the reason '%s'", answer, reason);
    penstock_context_free(context);
    return answer;
}

static void verdicts(void)
{
    static const struct {
        const char *line, *reason; /* NULL: survives */
    } cases[] = {
        {"echo done", NULL},
        {"kill -SEGV $$", "the driver crashed while it was probed (signal 11)"},
        {"kill -ABRT $$", "the driver crashed while it was probed (signal 6)"},
        {"kill -KILL $$", "the driver crashed while it was probed (signal 9)"},
        {"exit 3", "the driver ended the process that probed it (exit code 3)"},
        {"exit 0", "the driver ended the process that probed it (exit code 0)"},
        {"echo dome", "the driver ended the process that probed it (exit code 0)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char reason[256];
        set_helper(cases[i].line);
        CHECK_EQ(survives("", reason), !cases[i].reason);
        CHECK(!strcmp(reason, cases[i].reason ? cases[i].reason : ""), "'%s': '%s'", cases[i].line, reason);
        CHECK_EQ(runs(), 1);
        CHECK_EQ(warnings, 0);
    }
}

static void helper_is_missing(void)
{
    char reason[256];
    setenv("PENSTOCK_PROBE", "/none/penstock-probe", 1);
    CHECK(survives("", reason), "a missing helper makes a device absent");
    CHECK_EQ(warnings, 1);
    set_helper("exit 127");
    CHECK(survives("", reason), "a helper that cannot start makes a device absent");
    CHECK_EQ(warnings, 1);
}

/* What is remembered, and for how long. */
static void memory(void)
{
    char reason[256];
    runs();
    set_helper("kill -SEGV $$");
    for (int i = 0; i < 3; i++)
        CHECK(!survives(test_folder, reason) && strstr(reason, "signal 11"), "'%s'", reason);
    CHECK_EQ(runs(), 1);
    key = "driver 2";
    set_helper("echo done");
    for (int i = 0; i < 3; i++)
        CHECK(survives(test_folder, reason), "'%s'", reason);
    CHECK_EQ(runs(), 1);
    key = "driver 3"; /* killed from outside: may go better next time */
    set_helper("kill -KILL $$");
    CHECK(!survives(test_folder, reason), "killed and survived");
    CHECK(!survives(test_folder, reason), "killed and survived");
    CHECK_EQ(runs(), 2);
    backend.driver_key = NULL;
    set_helper("echo done");
    CHECK(survives(test_folder, reason) && survives(test_folder, reason), "'%s'", reason);
    CHECK_EQ(runs(), 2);
    backend.driver_key = driver_key;
}

/* An application that does not care for its children takes the exit status away. */
static void children_are_ignored(void)
{
    char reason[256];
    signal(SIGCHLD, SIG_IGN);
    set_helper("echo done");
    CHECK(survives("", reason), "'%s'", reason);
    set_helper("kill -SEGV $$");
    CHECK(!survives("", reason), "a crash is overlooked");
    signal(SIGCHLD, SIG_DFL);
}

/* The real helper is found beside this program, and the cpu backend lives. */
static void real_helper(void)
{
    char reason[256];
    unsetenv("PENSTOCK_PROBE");
    CHECK(survives("", reason), "'%s'", reason);
    CHECK_EQ(warnings, 0);
}

/* One that hangs is waited for once in a process, and then not again until it is another one. */
static void silent_driver(void)
{
    char reason[256];
    key = "driver that hangs";
    set_helper("exec sleep 1000");
    runs();
    hasty = !getenv("PENSTOCK_TEST_FULL");
    for (int i = 0; i < 3; i++)
        CHECK(!survives(i ? test_folder : "", reason) &&
                  !strcmp(reason, "the driver did not answer within 20 s while it was probed"),
              "'%s'", reason);
    hasty = false;
    CHECK(runs() <= 1, "it is waited for again"); /* 0: killed before it could count */
    key = "driver that is mended";
    set_helper("echo done");
    CHECK(survives("", reason), "'%s'", reason);
    CHECK_EQ(runs(), 1);
    key = "driver that hangs";
    CHECK(!survives("", reason), "the time-out is forgotten");
    CHECK_EQ(runs(), 0);
}

int main(void)
{
    CHECK(test_make_folder(), "no temporary folder");
    helper_script_init("PENSTOCK_PROBE");
    verdicts();
    helper_is_missing();
    memory();
    children_are_ignored();
    real_helper();
    silent_driver();
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
