/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study auto: is "auto" ever the wrong choice? Each measurement is a process of its own, and is made five
 * times, as a plan that is chosen by timing differs from process to process. Those that are compared take turns, and
 * begin a turn on the same processor, so that other work on the machine falls on all of them.
 */
#include "auto_case.h"
#include "shared/command.h"
#include "shared/interrupt.h"
#include "shared/median.h"
#include "shared/progress.h"
#include "study.h"
#include "study_folder.h"
#include "study_process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLED_S       2.0 /* from the start on: auto has decided by then */
#define SETTLED_NAMED_S 0.3
#define TURN_S          0.05
#define ROUND           4 /* turns that count as one: in both orders, with each half of the processors busy */
#define ROUNDS          2 /* of a process */
#define TURNS           (ROUND * ROUNDS)
#define DRAWS           5   /* processes, one after the other */
#define LIMIT_S         90  /* of a process */
#define NEAR            0.5 /* of the fastest device's rate on the idle machine: others are not compared */
#define GOOD            0.95
#define BAD             0.8
#define MOST_DEVICES    (STUDY_PROCESSES - 1)

struct job {
    const struct auto_case *kind;
    const char *device;
    double settled_s;
};

/* What a process tells: when its first step is done, when it has settled, and after each turn. */
struct answer {
    bool good;
    double value;    /* seconds from the context to the end of the first step; Msamples/s of a turn */
    char device[32]; /* that works now */
};

/* ---------------------------------------------------------------- a process that measures ----- */

/* Whole steps until `end_s`, and how many. */
static int run_until(struct auto_work *work, const struct auto_case *kind, double end_s, size_t *steps)
{
    int status = PENSTOCK_OK;
    for (*steps = 0; !status && (!*steps || seconds_now() < end_s); ++*steps)
        status = kind->step(work);
    return status;
}

static bool tell(int line, const struct auto_work *work, int status, double value)
{
    struct answer answer = {.good = !status, .value = value};
    if (!status)
        snprintf(answer.device, sizeof answer.device, "%s", auto_work_device(work));
    return study_tell(line, &answer, sizeof answer) && !status;
}

static bool take_turn(int line, struct auto_work *work, const struct auto_case *kind)
{
    size_t steps;
    const double before_s = seconds_now();
    const int status = run_until(work, kind, before_s + TURN_S, &steps);
    return tell(line, work, status, 1e-6 * (double)(steps * work->samples) / (seconds_now() - before_s));
}

/* What it makes is left to the end of the process: how long that takes is nobody's concern here. */
static void measure(const void *argument, int line)
{
    const struct job *job = argument;
    struct auto_work work = {.device = job->device};
    const double start_s = seconds_now();
    size_t steps;
    int status = penstock_context_new(&work.context, &PENSTOCK_CONTEXT_DESC(.auto_cpu_while_compiling = true));
    if (!status)
        status = job->kind->open(&work, job->kind->size, job->kind->count);
    if (!status)
        status = job->kind->step(&work);
    if (!tell(line, &work, status, seconds_now() - start_s))
        return;
    status = run_until(&work, job->kind, start_s + job->settled_s, &steps);
    if (!tell(line, &work, status, 0))
        return;
    while (study_asked(line) && take_turn(line, &work, job->kind))
        ;
}

struct names {
    size_t count;
    char name[MOST_DEVICES][32];
};

/* Devices that auto may choose. */
static void list_devices(const void *unused, int line)
{
    struct names names = {.count = 0};
    penstock_context *context;
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    (void)unused;
    if (penstock_context_new(&context, NULL))
        return;
    for (size_t i = 0; names.count < MOST_DEVICES && !penstock_device_get(context, i, &info); i++)
        if (info.automatic)
            snprintf(names.name[names.count++], 32, "%s", info.name);
    study_tell(line, &names, sizeof names);
}

/* ---------------------------------------------------------------- those that are compared ----- */

struct contender {
    struct study_process process;
    bool bad;
    size_t draws; /* so far */
    double first_s[DRAWS], rates_msps[DRAWS * TURNS];
    char device[32]; /* that works */
};

/* Starts one for its next draw, and waits until it has settled. */
static void start(struct contender *contender, const struct auto_case *kind, const char *device, double settled_s)
{
    const struct job job = {kind, device, settled_s};
    struct answer first, settled;
    contender->bad = contender->bad || !study_process_start(&contender->process, measure, &job, LIMIT_S) ||
                     !study_process_hear(&contender->process, &first, sizeof first) || !first.good;
    if (contender->bad)
        return;
    contender->first_s[contender->draws] = first.value;
    contender->bad = !study_process_hear(&contender->process, &settled, sizeof settled) || !settled.good;
}

static void take_turn_of(struct contender *one, size_t turn, int cpu)
{
    struct answer answer;
    if (one->bad)
        return;
    study_process_ask(&one->process, cpu);
    one->bad = !study_process_hear(&one->process, &answer, sizeof answer) || !answer.good;
    if (one->bad)
        return;
    one->rates_msps[TURNS * one->draws + turn] = answer.value;
    memcpy(one->device, answer.device, sizeof one->device);
}

static void take_turns(struct contender contenders[], size_t count, struct study_busy *busy)
{
    for (size_t turn = 0; turn < TURNS; turn++) {
        if (turn % 2 == 0)
            study_busy_move(busy);
        const int cpu = study_busy_spares(busy, turn);
        for (size_t i = 0; i < count; i++)
            take_turn_of(&contenders[turn % 2 ? count - 1 - i : i], turn, cpu);
    }
}

static void end(struct contender contenders[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        study_process_end(&contenders[i].process);
        contenders[i].draws++;
    }
}

static double rate_of_round(const struct contender *contender, size_t round)
{
    double sum = 0;
    for (size_t i = 0; i < ROUND; i++)
        sum += contender->rates_msps[ROUND * round + i];
    return sum / ROUND;
}

/* 0 for one that failed. */
static double rate(const struct contender *contender)
{
    double rates[DRAWS * ROUNDS];
    for (size_t i = 0; i < contender->draws * ROUNDS; i++)
        rates[i] = rate_of_round(contender, i);
    return contender->bad ? 0 : median(rates, contender->draws * ROUNDS);
}

/* Round by round: what disturbs for longer than that disturbs both. */
static double ratio_of(const struct contender *one, const struct contender *other)
{
    double ratios[DRAWS * ROUNDS];
    for (size_t i = 0; i < one->draws * ROUNDS; i++)
        ratios[i] = rate_of_round(one, i) / rate_of_round(other, i);
    return median(ratios, one->draws * ROUNDS);
}

static const struct contender *fastest(const struct contender contenders[], size_t count)
{
    const struct contender *best = &contenders[0];
    for (size_t i = 1; i < count; i++)
        if (rate(&contenders[i]) > rate(best))
            best = &contenders[i];
    return best;
}

/* Of all devices those that come near the fastest on the idle machine. */
static void find_near(struct names *near, const struct auto_case *kind, const struct names *all)
{
    struct contender contenders[MOST_DEVICES] = {{.draws = 0}};
    for (size_t i = 0; i < all->count; i++)
        start(&contenders[i], kind, all->name[i], SETTLED_NAMED_S);
    take_turns(contenders, all->count, &(struct study_busy){.count = 0});
    end(contenders, all->count);
    const double least = NEAR * rate(fastest(contenders, all->count));
    near->count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!contenders[i].bad && rate(&contenders[i]) >= least)
            memcpy(near->name[near->count++], all->name[i], sizeof all->name[i]);
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
    {"cold", true, false}, {"warm", false, false}, {"cold busy", true, true}, {"warm busy", false, true}};

static void print_row(struct tally *tally, const struct auto_case *kind, const struct condition *condition,
                      struct contender *chosen, const struct contender *best, struct contender *cpu)
{
    tally->rows++;
    if (chosen->bad || best->bad) {
        tally->failed++;
        printf(tally->csv ? "%s,%s,failed\n" : "%-34s %-10s FAILED\n", kind->name, condition->name);
        return;
    }
    const double ratio = ratio_of(chosen, best);
    tally->good += ratio >= GOOD;
    tally->bad += ratio < BAD;
    tally->least = fmin(tally->least, ratio);
    printf(tally->csv ? "%s,%s,%s,%.6g,%s,%.6g,%.4f,%.4g,%.4g\n"
                      : "%-34s %-10s %-9s %9.2f  %-9s %9.2f %7.3f %9.1f %9.1f\n",
           kind->name, condition->name, chosen->device, rate(chosen), best->device, rate(best), ratio,
           1e3 * median(chosen->first_s, DRAWS), 1e3 * median(cpu->first_s, DRAWS));
    fflush(stdout);
}

/* Starts one that finds an empty cache folder, or the one that is in use. It is taken away with `folder`. */
static int start_in(struct study_folder *folder, bool cold, struct contender *contender, const struct auto_case *kind,
                    const char *device, double settled_s)
{
    const char *kept = getenv("PENSTOCK_CACHE_DIR");
    char before[300];
    int code = EXIT_DONE;
    snprintf(before, sizeof before, "%s", kept ? kept : "");
    if (cold && (code = study_folder_open(folder)))
        return code;
    start(contender, kind, device, settled_s);
    study_folder_use(before);
    return code;
}

/* The first result of the CPU. */
static int time_cpu(struct contender *cpu, bool cold, const struct auto_case *kind)
{
    struct study_folder folder = {.path = ""};
    const int code = start_in(&folder, cold, cpu, kind, "cpu", 0);
    end(cpu, 1);
    study_folder_close(&folder);
    return code;
}

/* "auto" and then the devices by name are started, and all of them take turns. */
static int compare_all(struct contender contenders[], const struct auto_case *kind, bool cold, const struct names *near,
                       struct study_busy *busy)
{
    struct study_folder folder = {.path = ""};
    const int code = start_in(&folder, cold, contenders, kind, "auto", SETTLED_S);
    if (!code) {
        for (size_t i = 0; i < near->count; i++)
            start(&contenders[1 + i], kind, near->name[i], SETTLED_NAMED_S);
        take_turns(contenders, 1 + near->count, busy);
    }
    end(contenders, 1 + near->count);
    study_folder_close(&folder);
    return code;
}

static int run_condition(struct tally *tally, const struct auto_case *kind, const struct condition *condition,
                         const struct names *near)
{
    struct study_busy busy = {.count = 0};
    struct contender before = {.draws = 0}, cpu = before, contenders[1 + MOST_DEVICES] = {{.draws = 0}};
    int code = EXIT_DONE;
    if (condition->busy)
        study_busy_start(&busy, DRAWS * 10 * LIMIT_S);
    if (!condition->cold) { /* what is kept is that of another run */
        start(&before, kind, "auto", SETTLED_S);
        end(&before, 1);
    }
    for (size_t i = 0; i < DRAWS && !code && !interrupted(); i++)
        if (!(code = time_cpu(&cpu, condition->cold, kind)))
            code = compare_all(contenders, kind, condition->cold, near, &busy);
    study_busy_end(&busy);
    if (!code && !interrupted())
        print_row(tally, kind, condition, contenders, fastest(contenders + 1, near->count), &cpu);
    return code;
}

static int run_cases(struct tally *tally, const struct study *study, const struct names *names)
{
    int code = EXIT_DONE;
    struct names near;
    for (size_t i = 0; i < auto_case_count && !code && !interrupted(); i++) {
        const struct auto_case *kind = &auto_cases[i];
        if (study->only && !strstr(kind->name, study->only))
            continue;
        find_near(&near, kind, names);
        for (size_t j = 0; j < sizeof conditions / sizeof *conditions && !code && !interrupted(); j++)
            code = run_condition(tally, kind, &conditions[j], &near);
    }
    return code;
}

/* After an interrupt: the rows so far are printed, and the processes measure for nobody. */
static int conclude(void *folder)
{
    study_process_end_all();
    study_folder_close(folder);
    return interrupt_tell(EXIT_DONE);
}

int study_auto(const struct study *study)
{
    struct tally tally = {.least = (double)INFINITY, .csv = study->csv};
    struct study_folder folder = {.path = ""};
    struct names names = {.count = 0};
    struct study_process lister;
    int code = study_folder_open(&folder);
    if (code)
        return code;
    interrupt_conclude_by(conclude, &folder, EXIT_DONE);
    if (!study_process_start(&lister, list_devices, NULL, LIMIT_S) ||
        !study_process_hear(&lister, &names, sizeof names) || !names.count)
        code = fail(EXIT_DATA, "the devices cannot be listed");
    study_process_end(&lister);
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
