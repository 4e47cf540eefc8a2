/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study auto: is "auto" ever the wrong choice? Each measurement is a child of a process that has opened no
 * device, so that none finds what another one left but files of the cache folder.
 */
#include "auto_case.h"
#include "command.h"
#include "interrupt.h"
#include "progress.h"
#include "study.h"
#include "study_folder.h"
#include "targets.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTLED_S       2.0 /* from the start on: auto has decided by then */
#define SETTLED_NAMED_S 0.3
#define TIMED_S         0.5
#define LIMIT_S         90 /* of a child */
#define GOOD            0.95
#define BAD             0.8
#define MOST_DEVICES    16
#define MOST_BUSY       512

/* What a child tells. */
struct outcome {
    bool done;
    double rate_msps; /* NAN: not asked for */
    double first_s;   /* from the context to the end of the first step */
    char device[32];  /* that worked in the end */
};

struct job {
    const struct auto_case *kind;
    const char *device;
    double settled_s;
    bool first_alone;
};

/* ---------------------------------------------------------------- a child --------------------- */

/* Whole steps until `end_s`, and how many. */
static int run_until(struct auto_work *work, const struct auto_case *kind, double end_s, size_t *steps)
{
    int status = PENSTOCK_OK;
    for (*steps = 0; !status && (!*steps || seconds_now() < end_s); ++*steps)
        status = kind->step(work);
    return status;
}

static int measure_in(struct outcome *outcome, struct auto_work *work, const struct job *job, double start_s)
{
    size_t steps;
    int status = job->kind->open(work, job->kind->size, job->kind->count);
    if (status || (status = job->kind->step(work)))
        return status;
    outcome->first_s = seconds_now() - start_s;
    if (job->first_alone || (status = run_until(work, job->kind, start_s + job->settled_s, &steps)))
        return status;
    double before_s = seconds_now();
    status = run_until(work, job->kind, before_s + TIMED_S, &steps);
    outcome->rate_msps = 1e-6 * (double)(steps * work->samples) / (seconds_now() - before_s);
    return status;
}

static void measure(struct outcome *outcome, const struct job *job)
{
    struct auto_work work = {.device = job->device};
    double start_s = seconds_now();
    *outcome = (struct outcome){.rate_msps = (double)NAN};
    if (!penstock_context_new(&work.context, &PENSTOCK_CONTEXT_DESC(.auto_cpu_while_compiling = true)) &&
        !measure_in(outcome, &work, job, start_s)) {
        snprintf(outcome->device, sizeof outcome->device, "%s", auto_work_device(&work));
        outcome->done = true;
    }
    /* what it freed, and how long that takes, is nobody's concern here */
}

/* ---------------------------------------------------------------- processes ------------------- */

static _Atomic pid_t at_work; /* the child; 0: none */

/* Calls work(argument) in a child, and gives the `bytes` that it leaves at `result`. */
static bool in_child(void (*work)(void *result, const void *argument), const void *argument, void *result, size_t bytes)
{
    int ends[2], state;
    size_t got = 0;
    ssize_t more;
    fflush(NULL);
    if (pipe(ends))
        return false;
    pid_t child = fork();
    if (!child) {
        setpgid(0, 0); /* what it starts ends with it */
        close(ends[0]);
        alarm(LIMIT_S);
        work(result, argument);
        _exit(write(ends[1], result, bytes) != (ssize_t)bytes);
    }
    if (child > 0)
        setpgid(child, child); /* whoever comes first */
    atomic_store(&at_work, child);
    close(ends[1]);
    while (child > 0 && got < bytes && (more = read(ends[0], (char *)result + got, bytes - got)) > 0)
        got += (size_t)more;
    close(ends[0]);
    atomic_store(&at_work, 0); /* before its number may be another's */
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    return got == bytes;
}

static void measure_job(void *result, const void *argument)
{
    measure(result, argument);
}

static struct outcome run_job(const struct auto_case *kind, const char *device, double settled_s, bool first_alone)
{
    struct job job = {kind, device, settled_s, first_alone};
    struct outcome outcome = {.done = false};
    if (!in_child(measure_job, &job, &outcome, sizeof outcome))
        outcome.done = false;
    return outcome;
}

struct names {
    size_t count;
    char name[MOST_DEVICES][32];
};

/* Devices that auto may choose. */
static void list_devices(void *result, const void *unused)
{
    struct names *names = result;
    penstock_context *context;
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    (void)unused;
    *names = (struct names){.count = 0};
    if (penstock_context_new(&context, NULL))
        return;
    for (size_t i = 0; names->count < MOST_DEVICES && !penstock_device_get(context, i, &info); i++)
        if (info.automatic)
            snprintf(names->name[names->count++], 32, "%s", info.name);
}

struct busy {
    size_t count;
    pid_t process[MOST_BUSY];
};

/* On every second processor. */
static void start_busy(struct busy *busy)
{
    size_t count = usable_cpus() / 2;
    busy->count = 0;
    for (size_t i = 0; i < count && i < MOST_BUSY; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(10 * LIMIT_S);
            for (volatile bool busy_still = true; busy_still;)
                ;
        }
        if (child > 0)
            busy->process[busy->count++] = child;
    }
}

static void stop_busy(struct busy *busy)
{
    for (size_t i = 0; i < busy->count; i++) {
        kill(busy->process[i], SIGKILL);
        waitpid(busy->process[i], NULL, 0);
    }
    busy->count = 0;
}

/* ---------------------------------------------------------------- a case ---------------------- */

struct tally {
    size_t rows, good, bad, failed;
    double least;
    bool csv;
};

struct condition {
    const char *name;
    bool cold, busy;
};

static const struct condition conditions[] = {
    {"cold", true, false}, {"warm", false, false}, {"cold, busy", true, true}, {"warm, busy", false, true}};

static void print_row(struct tally *tally, const struct auto_case *kind, const struct condition *condition,
                      const struct outcome *chosen, const struct outcome *best, double cpu_first_s)
{
    double ratio = chosen->rate_msps / best->rate_msps;
    tally->rows++;
    if (!chosen->done || !best->done) {
        tally->failed++;
        printf(tally->csv ? "%s,%s,failed\n" : "%-34s %-10s FAILED\n", kind->name, condition->name);
        return;
    }
    tally->good += ratio >= GOOD;
    tally->bad += ratio < BAD;
    tally->least = fmin(tally->least, ratio);
    printf(tally->csv ? "%s,%s,%s,%.6g,%s,%.6g,%.4f,%.4g,%.4g\n"
                      : "%-34s %-10s %-9s %9.2f  %-9s %9.2f %7.3f %9.1f %9.1f\n",
           kind->name, condition->name, chosen->device, chosen->rate_msps, best->device, best->rate_msps, ratio,
           1e3 * chosen->first_s, 1e3 * cpu_first_s);
    fflush(stdout);
}

/* In an empty folder, or in the one that the runs by name have filled. The best device is
 * timed before and behind, and the mean counts. */
static int run_condition(struct tally *tally, const struct auto_case *kind, const struct condition *condition,
                         const char *best)
{
    const char *kept = getenv("PENSTOCK_CACHE_DIR");
    char before[300];
    struct study_folder folder = {.path = ""};
    struct busy busy = {.count = 0};
    struct outcome chosen, cpu, named, again;
    int code;
    snprintf(before, sizeof before, "%s", kept ? kept : "");
    if (condition->busy)
        start_busy(&busy);
    named = run_job(kind, best, SETTLED_NAMED_S, false);
    if (condition->cold && (code = study_folder_open(&folder))) {
        stop_busy(&busy);
        return code;
    }
    chosen = run_job(kind, "auto", SETTLED_S, false);
    if (!condition->cold) /* the second of its kind */
        chosen = run_job(kind, "auto", SETTLED_S, false);
    study_folder_close(&folder);
    if (condition->cold && (code = study_folder_open(&folder))) {
        stop_busy(&busy);
        return code;
    }
    cpu = run_job(kind, "cpu", 0, true);
    study_folder_close(&folder);
    study_folder_use(before);
    again = run_job(kind, best, SETTLED_NAMED_S, false);
    stop_busy(&busy);
    named.done = named.done && again.done;
    named.rate_msps = (named.rate_msps + again.rate_msps) / 2;
    print_row(tally, kind, condition, &chosen, &named, cpu.first_s);
    return EXIT_DONE;
}

/* The fastest by name, on the idle machine. */
static const char *find_best(const struct auto_case *kind, const struct names *names)
{
    const char *best = "cpu";
    double rate = 0;
    for (size_t i = 0; i < names->count; i++) {
        struct outcome outcome = run_job(kind, names->name[i], SETTLED_NAMED_S, false);
        if (outcome.done && outcome.rate_msps > rate) {
            rate = outcome.rate_msps;
            best = names->name[i];
        }
    }
    return best;
}

static int run_cases(struct tally *tally, const struct study *study, const struct names *names)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < auto_case_count && !code && !interrupted(); i++) {
        const struct auto_case *kind = &auto_cases[i];
        if (study->only && !strstr(kind->name, study->only))
            continue;
        const char *best = find_best(kind, names);
        for (size_t j = 0; j < sizeof conditions / sizeof *conditions && !code && !interrupted(); j++)
            code = run_condition(tally, kind, &conditions[j], best);
    }
    return code;
}

/* After an interrupt: the rows so far are printed, and the child measures for nobody. */
static int conclude(void *folder)
{
    pid_t child = atomic_load(&at_work);
    if (child > 0)
        kill(-child, SIGKILL);
    study_folder_close(folder);
    return interrupt_tell(EXIT_DONE);
}

int study_auto(const struct study *study)
{
    struct tally tally = {.least = (double)INFINITY, .csv = study->csv};
    struct study_folder folder = {.path = ""};
    struct names names = {.count = 0};
    int code = study_folder_open(&folder);
    if (code)
        return code;
    interrupt_conclude_by(conclude, &folder, EXIT_DONE);
    if (!in_child(list_devices, NULL, &names, sizeof names))
        code = fail(EXIT_DATA, "the devices cannot be listed");
    puts(tally.csv ? "case,condition,device,rate_msps,best,best_msps,ratio,first_ms,cpu_first_ms"
                   : "case                               condition  auto      Msample/s  best      Msample/s   ratio  "
                     "first ms on the CPU");
    if (!code)
        code = run_cases(&tally, study, &names);
    interrupt_conclude_by(NULL, NULL, code);
    study_folder_close(&folder);
    if (interrupted())
        return interrupt_tell(code);
    if (!code && !tally.rows)
        return fail(EXIT_USAGE, "no case of this study has '%s' in its name", study->only);
    if (!tally.csv)
        printf("%zu of %zu at %.2f or more, %zu below %.1f, %zu failed; the least is %.3f\n", tally.good, tally.rows,
               GOOD, tally.bad, BAD, tally.failed, tally.least);
    return code || !tally.failed ? code : EXIT_DATA;
}
