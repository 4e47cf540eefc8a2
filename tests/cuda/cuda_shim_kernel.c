/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Compiler, kernels and names of errors of the CUDA driver for tests: the "machine code" is the source behind a mark,
 * and a launch does the transform that the source's constants describe in double precision, if it has no stages, after
 * having compared the launch with them.
 */
#include "cuda_shim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVRTC_INVALID_INPUT = 3, NVRTC_CANCELLED = 16 };

static const char mark[] = "machine code of the driver for tests\n";

CUresult cuGetErrorName(CUresult code, const char **name)
{
    *name = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == 100 ? "CUDA_ERROR_NO_DEVICE"
            : code == 200 ? "CUDA_ERROR_INVALID_IMAGE"
            : code == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                          : NULL;
    return *name ? 0 : 1;
}

/* ---------------------------------------------------------------- NVRTC ----------------------- */

struct _nvrtcProgram {
    char *source;
    char option[64];
    int (*callback)(void *payload, void *reserved); /* or NULL */
    void *payload;
};

const char *nvrtcGetErrorString(nvrtcResult code)
{
    return code == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OUT_OF_MEMORY";
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return shim_fails();
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    *count = 3;
    return shim_fails();
}

nvrtcResult nvrtcGetSupportedArchs(int *architectures)
{
    memcpy(architectures, (const int[]){75, 80, 90}, 3 * sizeof(int));
    return shim_fails();
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int header_count,
                               const char *const *headers, const char *const *header_names)
{
    shim_rule(name && !header_count && !headers && !header_names, "headers where there are none");
    if (shim_fails() || !(*program = calloc(1, sizeof **program)))
        return 1;
    (*program)->source = strdup(source);
    shim_count(1);
    return 0;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    free((*program)->source);
    free(*program);
    *program = NULL;
    shim_count(-1);
    return 0;
}

/* One of before 12.8 has none: PENSTOCK_SHIM_TAKES="... deaf=1". */
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram program, int (*callback)(void *payload, void *reserved), void *payload)
{
    if (shim_ms("deaf") > 0)
        return NVRTC_INVALID_INPUT;
    program->callback = callback;
    program->payload = payload;
    return 0;
}

/* As NVRTC 13.0 does: some passes are short, and one takes half of the time. */
static nvrtcResult take_time(nvrtcProgram program)
{
    static const double passes[] = {0.1, 0.1, 0.1, 0.1, 0.5, 0.1};
    const double ms = shim_ms("compile");
    bool cancelled = false;
    for (size_t i = 0; ms > 0 && i < sizeof passes / sizeof *passes && !cancelled; i++) {
        shim_sleep(ms * passes[i]);
        cancelled = program->callback && program->callback(program->payload, NULL);
    }
    return cancelled ? NVRTC_CANCELLED : 0;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char *const *options)
{
    shim_rule(option_count == 1, "other than one option");
    snprintf(program->option, sizeof program->option, "%s", options[0]);
    if (take_time(program))
        return NVRTC_CANCELLED;
    return shim_fails() ? 6 : 0;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    (void)program;
    *bytes = sizeof "first\nfft.cu(1): error: made up\n";
    return 0;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *text)
{
    (void)program;
    strcpy(text, "first\nfft.cu(1): error: made up\n");
    return 0;
}

static nvrtcResult image_size(nvrtcProgram program, size_t *bytes, const char *kind)
{
    shim_rule(strstr(program->option, kind), "machine code where PTX was compiled, or the other way round");
    *bytes = sizeof mark + strlen(program->source);
    return shim_fails();
}

static nvrtcResult image(nvrtcProgram program, char *content)
{
    strcat(strcpy(content, mark), program->source);
    return shim_fails();
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    return image_size(program, bytes, "=sm_90");
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *content)
{
    return image(program, content);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
    return image_size(program, bytes, "=compute_90");
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *content)
{
    return image(program, content);
}

/* ---------------------------------------------------------------- modules --------------------- */

struct CUfunc_st {
    struct shim_kernel kernel;
};

struct CUmod_st {
    struct CUfunc_st function;
};

static double constant(const char *source, const char *name)
{
    char line[64];
    const char *at;
    snprintf(line, sizeof line, "#define %s ", name);
    at = strstr(source, line);
    shim_rule(at, "a constant is missing in the source");
    return at ? strtod(at + strlen(line) + (at[strlen(line)] == '('), NULL) : 0;
}

/* Whether a kernel has as many transforms a group as the environment says there. */
static bool is_named(const struct shim_kernel *kernel, const char *variable)
{
    const char *group = getenv(variable);
    return group && (unsigned)atoi(group) == kernel->per_group;
}

static struct shim_kernel read_kernel(const char *source)
{
    if (strstr(source, "#line 1 \"copy.cl\""))
        return (struct shim_kernel){.copies = true};
    static const char *const stages[] = {"FORMAT", "REAL",   "GATHERED", "SKIP",
                                         "WINDOW", "OUTPUT", "CENTERED", "METHOD"};
    struct shim_kernel kernel = {.n = (unsigned)constant(source, "N"),
                                 .per_group = (unsigned)constant(source, "PER_GROUP"),
                                 .group_x = (unsigned)constant(source, "GROUP_X"),
                                 .group_y = (unsigned)constant(source, "GROUP_Y"),
                                 .local_floats = (unsigned)constant(source, "LOCAL_FLOATS"),
                                 .reverse = constant(source, "REVERSE_IN") != 0,
                                 .blocks = constant(source, "COLUMNS") > 1 ? (unsigned)constant(source, "BLOCKS") : 0,
                                 .scale = constant(source, "SCALE"),
                                 .plain = true};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        kernel.plain = kernel.plain && constant(source, stages[i]) == 0;
    kernel.plain =
        kernel.plain && !kernel.blocks && constant(source, "AVERAGE") == 1 && constant(source, "SPACING") == kernel.n;
    kernel.shared_limit = 48 << 10;
    kernel.milliseconds = is_named(&kernel, "PENSTOCK_SHIM_FAST_GROUP") ? 0.5 : 1;
    kernel.scale *= is_named(&kernel, "PENSTOCK_SHIM_WRONG_GROUP") ? 2 : 1;
    return kernel;
}

CUresult cuModuleLoadData(CUmodule *module, const void *data)
{
    shim_needs_context();
    if (strncmp(data, mark, sizeof mark - 1))
        return SHIM_INVALID_IMAGE;
    shim_takes("load");
    if (shim_fails() || !(*module = calloc(1, sizeof **module)))
        return SHIM_OUT_OF_MEMORY;
    (*module)->function.kernel = read_kernel((const char *)data + sizeof mark - 1);
    (*module)->function.kernel.gpu = shim_current();
    shim_count(1);
    return 0;
}

CUresult cuModuleUnload(CUmodule module)
{
    shim_takes("free");
    free(module);
    shim_count(-1);
    return 0;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    shim_needs_context();
    shim_rule(!strcmp(name, module->function.kernel.copies ? "copy" : "fft"), "a kernel that is not there");
    *function = &module->function;
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    shim_needs_context();
    shim_rule(attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value <= 227 << 10,
              "an attribute of the kernel that cannot be set");
    function->kernel.shared_limit = value;
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function)
{
    shim_needs_context();
    shim_rule(function && attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
              "an attribute of the kernel that the test does not know");
    *value = 1024;
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

/* ---------------------------------------------------------------- launch ---------------------- */

/* `out` may be `in`, which a kernel has read when it writes. */
static void transform_row(const struct shim_kernel *kernel, const double *roots, float *in, const float *from,
                          float *out)
{
    unsigned n = kernel->n;
    memcpy(in, from, 2 * n * sizeof *in);
    for (unsigned k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (unsigned j = 0; j < n; j++) {
            const double *root = roots + 2 * (size_t)((unsigned long long)j * k % n);
            re += in[2 * j] * root[0] - in[2 * j + 1] * root[1];
            im += in[2 * j] * root[1] + in[2 * j + 1] * root[0];
        }
        out[2 * k] = (float)(re * kernel->scale);
        out[2 * k + 1] = (float)(im * kernel->scale);
    }
}

void shim_transform(const struct shim_launch *launch)
{
    const struct shim_kernel *kernel = &launch->kernel;
    size_t n = kernel->n;
    double *roots = kernel->plain ? malloc(2 * n * sizeof *roots) : NULL;
    float *row_in = roots ? malloc(2 * n * sizeof *row_in) : NULL;
    if (!row_in) {
        free(roots);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double angle = (kernel->reverse ? 2 : -2) * acos(-1) * (double)i / (double)n;
        roots[2 * i] = cos(angle);
        roots[2 * i + 1] = sin(angle);
    }
    for (size_t row = 0; row < (size_t)launch->rows; row++)
        transform_row(kernel, roots, row_in, launch->in + 2 * n * row, launch->out + 2 * n * row);
    free(row_in);
    free(roots);
}

static CUresult launch_copy(CUstream stream, unsigned grid_x, unsigned block_x, void **arguments)
{
    const float *from = (const float *)(size_t) * (CUdeviceptr *)arguments[0];
    float *to = (float *)(size_t) * (CUdeviceptr *)arguments[1];
    const unsigned *numbers[] = {arguments[2], arguments[3], arguments[4]};
    shim_rule(block_x == 256 && grid_x == (*numbers[2] + 255) / 256, "a grid that does not match what is copied");
    return cuMemcpyDtoDAsync_v2((CUdeviceptr)(size_t)(to + (size_t)4 * *numbers[1]),
                                (CUdeviceptr)(size_t)(from + (size_t)4 * *numbers[0]), (size_t)16 * *numbers[2],
                                stream);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments,
                        void **extra)
{
    const struct shim_kernel *kernel = &function->kernel;
    if (kernel->copies)
        return launch_copy(stream, grid_x, block_x, arguments);
    if (!kernel->n) /* a decoder's: it is in the stream, and not computed */
        return shim_enqueue_launch(stream, &(struct shim_launch){.kernel = *kernel});
    CUdeviceptr in = *(CUdeviceptr *)arguments[0], out = *(CUdeviceptr *)arguments[3];
    int rows = *(int *)arguments[4];
    shim_rule(grid_y == 1 && grid_z == 1 && block_z == 1 && !extra, "a launch in other dimensions than the kernel's");
    shim_rule(block_x == kernel->group_x && block_y == kernel->group_y, "a block that is not the kernel's");
    shim_rule(rows > 0 && grid_x == (kernel->blocks ? (unsigned)rows * kernel->blocks
                                                    : ((unsigned)rows + kernel->per_group - 1) / kernel->per_group),
              "a grid that does not match the rows");
    shim_rule(shared_bytes == kernel->local_floats * sizeof(float), "shared memory of another size than the kernel's");
    shim_rule(shared_bytes <= (unsigned)kernel->shared_limit, "more shared memory than was asked for");
    return shim_enqueue_launch(
        stream, &(struct shim_launch){
                    .kernel = *kernel, .in = (const float *)(size_t)in, .out = (float *)(size_t)out, .rows = rows});
}

SHIM_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                                      void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra)
{
    shim_rule(config->numAttrs == 1 && config->attrs->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                  config->attrs->value.programmaticStreamSerializationAllowed == 1,
              "attributes of a launch that the test does not know");
    return cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                          config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, arguments,
                          extra);
}
