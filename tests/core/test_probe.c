/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing through the helper program: one that lives, crashes, says nothing or is not there; and what is remembered. */
#include "core/base/memory.h"
#include "helper_script.h"
#include "probe/probe.h"

#include <penstock/penstock.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static const char *key = "driver 1";
static int warnings;

/* The clock of the library, put in its place by the linker (--wrap): so many seconds go by each time it is asked. */
static long leap_s;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    static atomic_long passed_s;
    int status = __real_clock_gettime(clock, time);
    time->tv_sec += atomic_fetch_add(&passed_s, leap_s) + leap_s;
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

static struct penstock__probe_result result; /* the last one */

/* Probes in a new context; with `cache_dir` "" nothing is remembered but in the process. */
static bool survives(const char *cache_dir, char reason[256])
{
    penstock_context *context;
    warnings = 0;
    memset(&result, 0x55, sizeof result);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_warnings, .cache_dir = cache_dir)));
    penstock__probe_devices(&result, context, &backend, false);
    snprintf(reason, 256, "%s", result.whole.reason);
    penstock_context_free(context);
    return !*reason;
}

/* A driver that this process has not met. */
static void meet_another(void)
{
    static char name[32];
    static int count;
    snprintf(name, sizeof name, "unknown driver %d", ++count);
    key = name;
}

static void results(void)
{
    static const struct {
        const char *line, *reason; /* NULL: survives */
    } cases[] = {
        {"echo done", NULL},
        {"kill -SEGV $$", "the driver crashed while it was probed (signal 11)"},
        {"kill -ABRT $$", "the driver crashed while it was probed (signal 6)"},
        {"kill -KILL $$", "the process that probed the driver was killed (signal 9) while it was probed"},
        {"exit 3", "the driver ended the process that probed it (exit code 3), while it was probed"},
        {"exit 0", "the driver ended the process that probed it (exit code 0), while it was probed"},
        {"echo dome", "the driver ended the process that probed it (exit code 0), while it was probed"},
        {"echo step sang; exit 127", "the driver ended the process that probed it (exit code 127), while it sang"},
        {"echo 'bad all of it'; echo done", "all of it"},
        {"printf 'bad a\\033[2Jb\\n'; echo done", "a?[2Jb"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char reason[256];
        meet_another();
        set_helper(cases[i].line);
        CHECK_EQ(survives("", reason), !cases[i].reason);
        CHECK(!strcmp(reason, cases[i].reason ? cases[i].reason : ""), "'%s': '%s'", cases[i].line, reason);
        CHECK_EQ(runs(), 1);
        CHECK_EQ(warnings, 0);
    }
}

/* One that writes for ever. */
static void endless_helper(void)
{
    char reason[256];
    meet_another();
    set_helper("echo device; exec yes");
    CHECK(!survives("", reason) && strstr(reason, "was killed (signal "), "'%s'", reason);
}

static void helper_is_missing(void)
{
    char reason[256];
    meet_another();
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
    meet_another();
    set_helper("echo done");
    CHECK(survives("", reason), "'%s'", reason);
    meet_another();
    set_helper("kill -SEGV $$");
    CHECK(!survives("", reason), "a crash is overlooked");
    signal(SIGCHLD, SIG_DFL);
}

/* The real helper is found beside this program, and the cpu backend lives. */
static void real_helper(void)
{
    char reason[256];
    meet_another();
    unsetenv("PENSTOCK_PROBE");
    CHECK(survives("", reason), "'%s'", reason);
    CHECK_EQ(warnings, 0);
    CHECK(result.count == 1 && !*result.devices[0].finding.reason, "%u devices, '%s'", result.count,
          result.devices[0].finding.reason);
}

/* ---------------------------------------------------------------- devices --------------------- */

/* One that brings the helper down, one with an error, one that is fine. */
static void devices(void)
{
    static const char line[] =
        "if [ $2 = 0 ]; then echo 'device A, 1'; echo step compiled; kill -SEGV $$; fi\n"
        "echo 'device B, 1'; echo step ran; echo bad luck; echo 'device C, 2'; echo good; echo done";
    char reason[256];
    meet_another();
    set_helper(line);
    runs();
    for (int i = 0; i < 2; i++) {
        CHECK(survives("", reason), "'%s'", reason);
        CHECK_EQ(result.count, 3);
        CHECK(!strcmp(result.devices[0].identity, "A, 1") && !strcmp(result.devices[2].identity, "C, 2"), "'%s' '%s'",
              result.devices[0].identity, result.devices[2].identity);
        CHECK(!strcmp(result.devices[0].finding.reason, "the driver crashed while it compiled (signal 11)"), "'%s'",
              result.devices[0].finding.reason);
        CHECK(!strcmp(result.devices[1].finding.reason, "luck"), "'%s'", result.devices[1].finding.reason);
        CHECK(!*result.devices[2].finding.reason, "'%s'", result.devices[2].finding.reason);
    }
    CHECK_EQ(runs(), 2);
    meet_another(); /* more than there can be, each of which brings it down */
    set_helper("echo device $2; kill -SEGV $$");
    CHECK(survives("", reason), "'%s'", reason);
    CHECK_EQ(result.count, PENSTOCK__MAX_DEVICES);
    CHECK_EQ(runs(), PENSTOCK__MAX_DEVICES);
}

/* ---------------------------------------------------------------- files ----------------------- */

#define KEY "penstock %s cpu, first kernels\n%s\n"

/* Puts a file where the result about the driver is kept. */
static void put_file(const char *format, const char *named, long long then, const char *rest)
{
    char whole[600], content[8000], name[64];
    penstock_context *context;
    int used;
    snprintf(whole, sizeof whole, KEY, penstock_version(), key);
    used = snprintf(content, sizeof content, KEY, penstock_version(), named);
    used += snprintf(content + used, sizeof content - (size_t)used, format, then, rest);
    snprintf(name, sizeof name, "probe-cpu-%016llx", (unsigned long long)penstock__hash(whole, strlen(whole)));
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    CHECK(penstock__cache_write(context, name, content, (size_t)used), "cannot write");
    penstock_context_free(context);
}

/* What other processes have left there, or somebody else. */
static void files(void)
{
    static const char good[] = "device A, 1\ngood\ndone\n", crashed[] = "device A, 1\nbad crash\ndone\n";
    static const char hung[] = "device A, 1\nlate 20 s\ndone\n";
    static char many[4096], wide[2000];
    const long long now = time(NULL), hour = 3600;
    const struct {
        const char *format, *rest;
        long long then;
        bool taken;
    } cases[] = {
        {"%lld\n%s", good, now, true},
        {"%lld\n%s", good, now - 1000 * hour, true},
        {"%lld\n%s", good, now + 1000 * hour, true},
        {"%lld\n%s", good, -1, true},
        {"%lld\n%s", crashed, now - 60, true},
        {"%lld\n%s", crashed, now - hour - 60, false},
        {"%lld\n%s", crashed, now + 1000, false},
        {"%lld\n%s", crashed, -1, false},
        {"%lld\n%s", hung, now - 1000 * hour, true},
        {"%lld\n%s", "late all\ndone\n", now - 1000 * hour, true},
        {"%lld\n%s", "device A, 1\nlate \ndone\n", now, false},
        {"%lld\n%s", "late all\ndevice A, 1\ngood\ndone\n", now, false},
        {"%lld\n%s", "bad all\ndone\n", now, true},
        {"%lld\n%s", "bad all\ndevice A, 1\ngood\ndone\n", now, false},
        {"%lld\n%s", "done\n", now, true},
        {"%lld\n%s", "", now, false},
        {"%lld\n%s", "device A, 1\ngood\n", now, false},
        {"%lld\n%s", "device A, 1\ndone\n", now, false},
        {"%lld\n%s", "device A, 1\ngood\ndone", now, false},
        {"%lld\n%s", "device A, 1\ngood\ndone\nmore\n", now, false},
        {"%lld\n%s", "device A, 1\nbad \ndone\n", now, false},
        {"%lld\n%s", "device A, 1\nbad a\nbad b\ndone\n", now, false},
        {"%lld\n%s", "good\ndone\n", now, false},
        {"%lld\n%s", "device A, 1\ngood\n\ndone\n", now, false},
        {"%lld\n%s", many, now, false},
        {"%lld\n%s", wide, now, false},
        {"%lld%s", good, now, false},
        {"%llx\n%s", good, 0xabcdef, false},
        {"99999999999999999999%lld\n%s", good, now, false},
        {"", good, 0, false},
    };
    char reason[256];
    for (size_t i = 0; i <= PENSTOCK__MAX_DEVICES; i++)
        strcat(many, "device A\ngood\n");
    strcat(many, "done\n");
    snprintf(wide, sizeof wide, "device %01900d\ngood\ndone\n", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int other = 0; other < 2; other++) { /* of another driver that has the same file name */
            meet_another();
            set_helper("echo 'device B, 2'; echo good; echo done");
            put_file(cases[i].format, other ? "another driver" : key, cases[i].then, cases[i].rest);
            survives(test_folder, reason);
            CHECK(runs() == !(cases[i].taken && !other), "file %zu: it is %staken", i, cases[i].taken ? "not " : "");
            CHECK(cases[i].taken || !strcmp(result.devices[0].identity, "B, 2"), "file %zu: '%s'", i,
                  result.devices[0].identity);
        }
}

/* Any bytes at all, as the helper's lines and as a file's. */
static void any_text(void)
{
    static const char *const words[] = {"device ", "step ", "good", "bad ", "late ", "done",
                                        "\n",      "\n",    "\n",   "x",    "\033",  "device"};
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        char text[1200] = "";
        unsigned chunks = (random >> 33) % 40;
        for (unsigned k = 0; k < chunks; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            strcat(text, words[(random >> 33) % (sizeof words / sizeof *words)]);
        }
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (penstock__result_read(&result, text)) {
            char again[8000];
            struct penstock__probe_result back;
            CHECK(result.count <= PENSTOCK__MAX_DEVICES, "%u devices", result.count);
            CHECK(penstock__result_write(again, sizeof again, &result) && penstock__result_read(&back, again),
                  "'%s' becomes '%s'", text, again);
            CHECK(!memcmp(&back, &result, sizeof back), "'%s' is not '%s'", again, text);
        }
    }
}

/* ---------------------------------------------------------------- threads --------------------- */

struct beside {
    pthread_t thread;
    bool right; /* the checks are counted by one thread */
};

static void *probe_beside(void *argument)
{
    struct beside *self = argument;
    struct penstock__probe_result mine;
    penstock_context *context;
    if (penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)))
        return NULL;
    penstock__probe_devices(&mine, context, &backend, false);
    self->right = mine.count == 1 && !strcmp(mine.devices[0].finding.reason, "luck");
    penstock_context_free(context);
    return NULL;
}

/* Contexts of several threads: one helper is enough. */
static void threads(void)
{
    struct beside others[8] = {{.right = false}};
    meet_another();
    set_helper("sleep 0.1; echo 'device A, 1'; echo bad luck; echo done");
    for (size_t i = 0; i < 8; i++)
        CHECK(!pthread_create(&others[i].thread, NULL, probe_beside, &others[i]), "no thread");
    for (size_t i = 0; i < 8; i++) {
        pthread_join(others[i].thread, NULL);
        CHECK(others[i].right, "thread %zu has no result, or another", i);
    }
    CHECK_EQ(runs(), 1);
}

/* One that hangs is waited for once in a process, and then not again until it is another one. */
static void silent_driver(void)
{
    char reason[256];
    key = "driver that hangs";
    set_helper("exec sleep 1000");
    runs();
    leap_s = getenv("PENSTOCK_TEST_FULL") ? 0 : 7;
    for (int i = 0; i < 3; i++)
        CHECK(!survives(i ? test_folder : "", reason) &&
                  !strcmp(reason, "the driver did not answer within 20 s while it was probed"),
              "'%s'", reason);
    leap_s = 0;
    CHECK(runs() <= 1, "it is waited for again"); /* 0: killed before it could count */
    key = "driver that is mended";
    set_helper("echo done");
    CHECK(survives("", reason), "'%s'", reason);
    CHECK_EQ(runs(), 1);
    key = "driver that hangs";
    CHECK(!survives("", reason), "the time-out is forgotten");
    CHECK_EQ(runs(), 0);
}

/* One that closes its output and lives on: a driver may do that in a thread of its own. */
static void mute_driver(void)
{
    char reason[256];
    meet_another();
    set_helper("exec >&-; exec sleep 1000");
    leap_s = getenv("PENSTOCK_TEST_FULL") ? 0 : 7;
    CHECK(!survives("", reason) && !strcmp(reason, "the driver did not answer within 20 s while it was probed"), "'%s'",
          reason);
    leap_s = 0;
    meet_another();
    set_helper("echo done; exec sleep 1000");
    CHECK(survives("", reason), "'%s'", reason);
}

/* A device that takes long, though it always goes on, is the one to blame, and none that was good before it. */
static void slow_devices(void)
{
    struct penstock_device rows[] = {
        {.product = "A", .driver = "1"}, {.product = "B", .driver = "1"}, {.product = "C", .driver = "1"}};
    char reason[256];
    meet_another();
    set_helper("echo 'device A, 1'; echo good; echo 'device B, 1'; while :; do echo step worked; sleep 0.01; done");
    runs();
    for (int i = 0; i < 2; i++) {
        leap_s = i ? 0 : 1;
        CHECK(survives(test_folder, reason), "'%s'", reason);
        leap_s = 0;
        CHECK_EQ(result.count, 2);
        CHECK(!*result.devices[0].finding.reason, "'%s'", result.devices[0].finding.reason);
        CHECK(!strcmp(result.devices[1].finding.reason,
                      "the driver's devices took too long in all, the last while it worked"),
              "'%s'", result.devices[1].finding.reason);
        penstock__result_apply(&result, rows, 3);
        CHECK(!*rows[0].reason && strstr(rows[2].reason, "was not tried"), "'%s' '%s'", rows[0].reason, rows[2].reason);
    }
    CHECK_EQ(runs(), 1);
}

int main(void)
{
    CHECK(test_make_folder(), "no temporary folder");
    helper_script_init("PENSTOCK_PROBE");
    results();
    endless_helper();
    helper_is_missing();
    memory();
    children_are_ignored();
    real_helper();
    devices();
    files();
    any_text();
    threads();
    silent_driver();
    mute_driver();
    slow_devices();
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
