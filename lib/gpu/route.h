/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which kernels a GPU's plan is made of, and what of its problem a GPU can do. */
#ifndef PENSTOCK_GPU_ROUTE_H
#define PENSTOCK_GPU_ROUTE_H

#include "gpu/plane.h"

/* What a backend does with a plan of one kind. */
struct gpu_route {
    int (*init)(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant);
    void (*free)(struct penstock_plan_state *plan);
    int (*enqueue)(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);
};

struct gpu_routes {
    struct gpu_route viterbi; /* blocks of convolutional codes */
    struct gpu_route fused;   /* a kernel that does more than a transform */
    struct gpu_route passes;  /* a transform's own kernels */
};

/* What a backend's plans begin with. Its slots begin with a struct gpu_plane_memory. */
struct gpu_plan {
    const struct gpu_route *route; /* of `routes`, or that of planes */
    struct gpu_plane plane;        /* of such a plan, which has nothing else */
};

/* PENSTOCK_OK, or PENSTOCK_ERR_UNSUPPORTED with text. */
int penstock__gpu_route_check(const struct penstock_problem *problem, const struct penstock_device *device,
                              const struct gpu_limits *limits);

/* Makes variant `variant` with the launch configuration that is asked for. The other two go the way that it took. */
int penstock__gpu_plan_init(struct penstock_plan_state *plan, const struct gpu_routes *routes,
                            const struct gpu_limits *limits, unsigned variant);
void penstock__gpu_plan_free(struct penstock_plan_state *plan);
int penstock__gpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);

#endif
