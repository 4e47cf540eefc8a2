/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan at "auto" beside an OpenCL driver that hangs: where CUDA has led to a GPU, that one and the CPU are timed,
 * and nobody waits for the hanging one. */
#include "backends/backend.h"
#include "folder.h"

#include <penstock/choice.h>
#include <penstock/penstock.h>

#include <stdatomic.h>

enum { N = 256, VECTORS = 64 };

#define GUARD_S 15 /* less than what the library gives a driver that hangs, 20 s */

static _Atomic int cuda_candidate, cpu_candidate, opencl_candidate;

static void tell(void *user, const penstock_choice *choice)
{
    (void)user;
    cuda_candidate += choice->candidate && !strcmp(choice->device, "cuda:0");
    cpu_candidate += choice->candidate && !strcmp(choice->device, "cpu");
    opencl_candidate += choice->candidate && !strncmp(choice->device, "opencl", 6);
}

int main(void)
{
    static penstock_cf32 in[VECTORS * N], out[VECTORS * N];
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    if (!test_make_folder())
        return test_skip("no folder can be made");
    CHECK_OK(penstock_context_new(&context,
                                  &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder, .auto_cpu_while_compiling = true)));
    CHECK_OK(penstock_context_tell_choices(context, tell, NULL));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .batch = VECTORS), "auto"));
    for (double start_s = penstock__now_s();
         !(cuda_candidate && cpu_candidate) && penstock__now_s() - start_s < GUARD_S;)
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
    penstock_plan_free(plan);
    penstock_context_free(context);
    CHECK(cuda_candidate == 1 && cpu_candidate == 1 && !opencl_candidate,
          "%d, %d and %d candidates of each kind within %d s", cuda_candidate, cpu_candidate, opencl_candidate,
          GUARD_S);
    test_remove_folder();
    return test_finish();
}
