/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Threads that wait at a barrier for work: what a peer without threads of its own is run by. */
#include "bench_run.h"

#include <pthread.h>
#include <stdlib.h>

struct member {
    struct team *team;
    unsigned index;
    pthread_t thread;
};

struct team {
    unsigned count;
    bool ending;
    void (*work)(void *argument, unsigned member, unsigned count);
    void *argument;
    pthread_barrier_t begin, end;
    struct member members[];
};

static void *serve(void *argument)
{
    struct member *member = argument;
    struct team *team = member->team;
    for (;;) {
        pthread_barrier_wait(&team->begin);
        if (team->ending)
            return NULL;
        team->work(team->argument, member->index, team->count);
        pthread_barrier_wait(&team->end);
    }
}

struct team *team_new(unsigned count)
{
    struct team *team = count ? calloc(1, sizeof *team + count * sizeof team->members[0]) : NULL;
    if (!team)
        return NULL;
    team->count = count;
    pthread_barrier_init(&team->begin, NULL, count);
    pthread_barrier_init(&team->end, NULL, count);
    for (unsigned i = 1; i < count; i++) {
        team->members[i] = (struct member){.team = team, .index = i};
        if (pthread_create(&team->members[i].thread, NULL, serve, &team->members[i])) {
            /* Those that wait can never be released: leave them and the memory to the process's end. */
            return NULL;
        }
    }
    return team;
}

void team_run(struct team *team, void (*work)(void *argument, unsigned member, unsigned count), void *argument)
{
    team->work = work;
    team->argument = argument;
    if (team->count > 1)
        pthread_barrier_wait(&team->begin);
    work(argument, 0, team->count);
    if (team->count > 1)
        pthread_barrier_wait(&team->end);
}

void team_free(struct team *team)
{
    if (!team)
        return;
    team->ending = true;
    if (team->count > 1)
        pthread_barrier_wait(&team->begin);
    for (unsigned i = 1; i < team->count; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_barrier_destroy(&team->begin);
    pthread_barrier_destroy(&team->end);
    free(team);
}
