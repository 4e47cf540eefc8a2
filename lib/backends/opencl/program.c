/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Programs: those that plans had last; from the cache folder if the driver still takes the binary; else compiled, and
 * then kept there. Another plan for the same kernels, as another window or other taps ask for, has them at once: PoCL
 * reads a binary in a millisecond.
 */
#include "backends/opencl/opencl.h"
#include "gpu/kernel.h"

#include <stdio.h>
#include <string.h>

/*
 * PoCL compiles a kernel once more for its binary, which takes as long again, and keeps kernels itself: what compiles
 * one leaves this in the place of the binary, that the kernel has run. Whoever asks for it again makes it of its
 * source, in 0.03 s, and then leaves the binary, which is read in a millisecond.
 */
static const char note[] = "compiled from its source";

static const struct opencl_device *opened(const struct penstock_device *device)
{
    return device->priv;
}

static void first_message(const struct penstock_device *device, cl_program program, char line[200])
{
    const struct opencl_device *self = opened(device);
    size_t bytes = 0;
    char *log;
    snprintf(line, 200, "%s", "no build log");
    if (self->api->GetProgramBuildInfo(program, self->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) || bytes < 2 ||
        !(log = penstock__alloc(bytes + 1)))
        return;
    if (!self->api->GetProgramBuildInfo(program, self->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL)) {
        log[bytes] = 0;
        penstock__gpu_first_message(line, log);
    }
    penstock__free(log);
}

static bool has_images(const char *source)
{
    return strstr(source, "#define IMAGE_IN 1\n") || strstr(source, "#define IMAGE_OUT 1\n");
}

/* Asked where a kernel with images did not compile: PoCL 7.1 lists images and has no functions for them before
 * OpenCL C 3.0. */
static bool compiles_images(const struct opencl_device *self)
{
    static const char *const source = "__kernel void f(__read_only image1d_buffer_t in, __write_only image1d_buffer_t "
                                      "out) { write_imagef(out, 0, read_imagef(in, 0)); }";
    cl_int code;
    cl_program program = self->api->CreateProgramWithSource(self->context, 1, (const char *[]){source}, NULL, &code);
    if (code)
        return true;
    code = self->api->BuildProgram(program, 1, &self->id, self->options, NULL, NULL);
    self->api->ReleaseProgram(program);
    return code != CL_BUILD_PROGRAM_FAILURE;
}

static int compile(cl_program *program, struct penstock_device *device, const char *source)
{
    const struct opencl_device *self = opened(device);
    const struct opencl_api *cl = self->api;
    char message[200];
    cl_int code;
    *program = cl->CreateProgramWithSource(self->context, 1, &source, NULL, &code);
    if (code)
        return penstock__opencl_error(device, "clCreateProgramWithSource", code);
    if (!(code = cl->BuildProgram(*program, 1, &self->id, self->options, NULL, NULL)))
        return PENSTOCK_OK;
    first_message(device, *program, message);
    cl->ReleaseProgram(*program);
    *program = NULL;
    if (has_images(source) && !compiles_images(self))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s: the driver lists images, but its OpenCL C 1.2 does not compile them: %s",
                               device->name, message);
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: clBuildProgram: %s%s%s", device->name,
                           penstock__opencl_code_name(code), *message ? ": " : "", message);
}

int penstock__opencl_group_limit(size_t *limit, const struct penstock_device *device, cl_kernel kernel)
{
    const struct opencl_device *self = opened(device);
    cl_int code =
        self->api->GetKernelWorkGroupInfo(kernel, self->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof *limit, limit, NULL);
    if (!code && self->one_wave && *limit < self->limits.max_group)
        *limit = self->limits.max_group;
    return code ? penstock__opencl_error(device, "clGetKernelWorkGroupInfo", code) : PENSTOCK_OK;
}

int penstock__opencl_check_group(const struct penstock_device *device, cl_kernel kernel, unsigned group)
{
    size_t limit = 0;
    if (opened(device)->nvidia)
        return PENSTOCK_OK;
    const int status = penstock__opencl_group_limit(&limit, device, kernel);
    if (status || limit >= group)
        return status;
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: the kernel runs with %zu work-items, it needs %u", device->name,
                           limit, group);
}

cl_int penstock__opencl_arguments(const struct opencl_api *cl, cl_kernel kernel,
                                  const struct opencl_argument *arguments, cl_uint count)
{
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < count && !code; i++)
        code = cl->SetKernelArg(kernel, i, arguments[i].bytes, arguments[i].value);
    return code;
}

/* NULL where there is no binary in the cache or the driver refuses it. Or it is made of the source, and `noted`. */
static cl_program from_cache(struct penstock_device *device, const char *name, const char *source, bool *noted)
{
    const struct opencl_device *self = opened(device);
    const struct opencl_api *cl = self->api;
    cl_program program = NULL;
    cl_int code = CL_SUCCESS, state = CL_SUCCESS;
    size_t bytes;
    unsigned char *binary = penstock__cache_read(device->context, name, &bytes);
    *noted = false;
    if (!binary)
        return NULL;
    if (bytes == sizeof note && !memcmp(binary, note, bytes)) {
        penstock__free(binary);
        *noted = !compile(&program, device, source);
        return program;
    }
    program = cl->CreateProgramWithBinary(self->context, 1, &self->id, &bytes, (const unsigned char *[]){binary},
                                          &state, &code);
    penstock__free(binary);
    if (!code && !state && !cl->BuildProgram(program, 1, &self->id, self->options, NULL, NULL))
        return program;
    if (program)
        cl->ReleaseProgram(program);
    penstock__log(device->context, PENSTOCK_LOG_INFO, "%s: the driver refuses the cached kernel %s; compiling it",
                  device->name, name);
    return NULL;
}

/* None from a process that tries a plan, before it has run: what is in the cache folder is not tried any more. */
static void to_cache(struct penstock_device *device, const char *name, cl_program program)
{
    const struct opencl_api *cl = opened(device)->api;
    size_t bytes = 0;
    unsigned char *binary;
    if (device->tell || !penstock__cache_dir(device->context))
        return;
    if (cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) || !bytes ||
        !(binary = penstock__alloc(bytes)))
        return;
    if (!cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL))
        penstock__cache_write(device->context, name, binary, bytes);
    penstock__free(binary);
}

/* ---------------------------------------------------------------- kept ------------------------ */

/* NULL, or retained for the caller. The one that was asked for last is forgotten last. */
static cl_program from_kept(struct penstock_device *device, const char *name)
{
    struct opencl_device *self = device->priv;
    cl_program program = NULL;
    pthread_mutex_lock(&self->kept_lock);
    for (unsigned i = 0; i < self->kept_count && !program; i++)
        if (!strcmp(self->kept[i].name, name) && !self->api->RetainProgram(self->kept[i].program)) {
            const struct opencl_kept found = self->kept[i];
            program = found.program;
            memmove(self->kept + i, self->kept + i + 1, (self->kept_count - i - 1) * sizeof found);
            self->kept[self->kept_count - 1] = found;
        }
    pthread_mutex_unlock(&self->kept_lock);
    return program;
}

static void forget(struct penstock_device *device, const struct opencl_kept *kept)
{
    if (kept->unsaved)
        to_cache(device, kept->name, kept->program);
    opened(device)->api->ReleaseProgram(kept->program);
}

static void keep(struct penstock_device *device, const char *name, cl_program program, bool unsaved)
{
    struct opencl_device *self = device->priv;
    struct opencl_kept made = {.program = program, .unsaved = unsaved}, oldest = {.program = NULL};
    if (self->api->RetainProgram(program)) {
        if (unsaved)
            to_cache(device, name, program);
        return;
    }
    snprintf(made.name, sizeof made.name, "%s", name);
    pthread_mutex_lock(&self->kept_lock);
    if (self->kept_count == OPENCL_KEPT) {
        oldest = self->kept[0];
        memmove(self->kept, self->kept + 1, --self->kept_count * sizeof *self->kept);
    }
    self->kept[self->kept_count++] = made;
    pthread_mutex_unlock(&self->kept_lock);
    if (oldest.program)
        forget(device, &oldest);
}

void penstock__opencl_programs_free(struct penstock_device *device)
{
    struct opencl_device *self = device->priv;
    for (unsigned i = 0; i < self->kept_count; i++)
        forget(device, &self->kept[i]);
    self->kept_count = 0;
}

/* A binary may take a CPU's driver as long as the plan itself does, and is of no use to it: there that waits until the
 * device is closed or many programs have been asked for since. */
static int compile_anew(cl_program *program, struct penstock_device *device, const char *name, const char *source)
{
    const struct opencl_device *self = opened(device);
    enum { NOTE, NOW, LATER } binary = NOW;
    int status = penstock__probe_plan(device, name);
    if (status || (status = compile(program, device, source)))
        return status;
    if (self->keeps_kernels)
        binary = NOTE;
    else if (self->limits.cpu || device->tell)
        binary = LATER;
    if (binary == NOTE && !device->tell)
        penstock__cache_write(device->context, name, note, sizeof note);
    if (binary == NOW)
        to_cache(device, name, *program);
    keep(device, name, *program, binary == LATER);
    return PENSTOCK_OK;
}

int penstock__opencl_program(cl_program *program, struct penstock_device *device, const char *source)
{
    char name[64];
    bool noted;
    penstock__gpu_cache_name(name, "opencl", source, opened(device)->options, opened(device)->identity);
    if ((*program = from_kept(device, name)))
        return PENSTOCK_OK;
    if (!(*program = from_cache(device, name, source, &noted)))
        return compile_anew(program, device, name, source);
    keep(device, name, *program, noted);
    return PENSTOCK_OK;
}
