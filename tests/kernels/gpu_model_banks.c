/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Local memory: where points lie, and which banks neighbouring work-items touch together. */
#include "gpu_model_run.h"

unsigned gpu_model_place(struct run *run, unsigned p, const unsigned gaps[2])
{
    const struct gpu_launch_config *config = &run->pass->config;
    unsigned moved = p / gaps[0] * gaps[1], at = config->swizzled ? p ^ moved % GPU_SWIZZLE : p + moved;
    if (at < config->plane)
        return at;
    run->model->overruns++;
    return 0;
}

/* Words of local memory that 32 neighbouring work-items touch at once. */
static void count_conflicts(struct run *run, const unsigned *places, unsigned count)
{
    unsigned used[32] = {0};
    for (unsigned i = 0; i < count; i++) {
        unsigned banks = run->pass->config.joined ? 16 : 32; /* that hold a point, or half of one */
        used[places[i] % banks]++;
        if (used[places[i] % banks] > run->model->conflicts)
            run->model->conflicts = used[places[i] % banks];
    }
}

/* A work-item of a group: its place in a transform, and which of the group's transforms that is. */
struct item {
    unsigned number, lane, member;
};

static struct item item_of(const struct run *run, unsigned number)
{
    unsigned x = run->group_x;
    bool members_first = run->pass->config.columns || run->pass->config.lanes == 1;
    return (struct item){number, members_first ? number / x : number % x, members_first ? number % x : number / x};
}

/* Where a call has a work-item's point; false where it is not for it. */
typedef bool place_of(struct run *run, const struct operation *op, const struct item *item, unsigned *at);

static bool takes_part(const struct operation *op, const struct item *item)
{
    return item->lane >= op->from && item->lane < op->to;
}

static unsigned stepped(struct run *run, unsigned p, const unsigned gaps[2], unsigned member)
{
    return gpu_model_place(run, p, gaps) * run->step + member * run->member_step;
}

static bool place_given(struct run *run, const struct operation *op, const struct item *item, unsigned *at)
{
    bool good = takes_part(op, item);
    if (good)
        *at = stepped(run, item->lane + op->number[1], op->number + 2, item->member);
    return good;
}

static bool place_taken(struct run *run, const struct operation *op, const struct item *item, unsigned *at)
{
    unsigned j = item->lane + op->number[1], span = op->number[2];
    bool good = takes_part(op, item);
    if (good)
        *at = stepped(run, j / span * op->number[3] + j % span + op->number[4], op->number + 5, item->member);
    return good;
}

static bool place_of_mate(struct run *run, const struct operation *op, const struct item *item, unsigned *at)
{
    bool good = takes_part(op, item);
    if (good)
        *at = stepped(run, gpu_model_mate(run, item->lane + op->number[1]), op->number + 2, item->member);
    return good;
}

static bool place_turned(struct run *run, const struct operation *op, const struct item *item, unsigned *at)
{
    bool good = takes_part(op, item);
    *at = item->member * (run->pass->config.n | 1) + item->lane + op->number[1];
    if (good && *at >= run->pass->config.region / 2 * run->pass->config.per_group)
        run->model->overruns++;
    return good;
}

static bool place_leaving(struct run *run, const struct operation *op, const struct item *item, unsigned *at)
{
    unsigned n = run->pass->config.n,
             point = op->number[0] * penstock__gpu_group_size(&run->pass->config) + item->number;
    *at = point / n * (n | 1) + point % n;
    return point < n * run->pass->config.per_group;
}

/* The places that a call touches in neighbouring work-items. */
void gpu_model_follow_banks(struct run *run, const struct operation *op, enum gpu_model_access access)
{
    static place_of *const places_of[] = {[GPU_MODEL_GIVE] = place_given,
                                          [GPU_MODEL_TAKE] = place_taken,
                                          [GPU_MODEL_MATE] = place_of_mate,
                                          [GPU_MODEL_TURN] = place_turned,
                                          [GPU_MODEL_LEAVE] = place_leaving};
    const struct gpu_launch_config *config = &run->pass->config;
    unsigned together =
        config->joined && access != GPU_MODEL_MATE ? 16 : 32; /* 128 bytes at once, parts of mates apart */
    for (unsigned first = 0; first < penstock__gpu_group_size(config) && !config->cpu; first += together) {
        unsigned places[32], count = 0;
        for (unsigned i = first; i < penstock__gpu_group_size(config) && i < first + together; i++) {
            struct item item = item_of(run, i);
            count += places_of[access](run, op, &item, &places[count]);
        }
        count_conflicts(run, places, count);
    }
}
