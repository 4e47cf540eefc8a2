/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* All devices of all platforms as one list, in the loader's order. */
#include "backends/opencl/opencl.h"
#include "gpu/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16
#define MAX_DEVICES   64 /* of one platform */

/* Of cl_nv_device_attribute_query and cl_khr_pci_bus_info, which older headers lack. A slot of NVIDIA's is a device and
 * three bits of function; the other one gives domain, bus, device and function. */
#define CAPABILITY_NV    0x4000 /* the major number of CUDA's compute capability, */
#define PTX_HALVES       8      /* from which on PTX has all that kernels/ldpc.cl asks of pairs of halves */
#define PCI_BUS_ID_NV    0x4008
#define PCI_SLOT_ID_NV   0x4009
#define PCI_DOMAIN_ID_NV 0x400A
#define PCI_BUS_INFO_KHR 0x410F
#define WAVE_OF_OPENCL_3 0x1067 /* CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE */
#define WAVE_OF_AMD      0x4043 /* CL_DEVICE_WAVEFRONT_WIDTH_AMD */

#define OPTIONS "-cl-std=CL1.2 -cl-mad-enable"

struct found {
    cl_platform_id platform;
    cl_device_id id;
};

static void device_text(const struct opencl_api *cl, cl_device_id id, cl_device_info what, char *text, size_t capacity)
{
    size_t length = 0;
    *text = 0;
    if (cl->GetDeviceInfo(id, what, capacity, text, &length))
        *text = 0;
    text[capacity - 1] = 0;
}

static void platform_text(const struct opencl_api *cl, cl_platform_id id, cl_platform_info what, char *text,
                          size_t capacity)
{
    *text = 0;
    if (cl->GetPlatformInfo(id, what, capacity, text, NULL))
        *text = 0;
    text[capacity - 1] = 0;
}

/* A number of any integer type of OpenCL; 0 where the driver does not know. */
static uint64_t device_number(const struct opencl_api *cl, cl_device_id id, cl_device_info what)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    size_t bytes = 0;
    if (cl->GetDeviceInfo(id, what, sizeof wide, &wide, &bytes))
        return 0;
    if (bytes == sizeof wide)
        return wide;
    memcpy(&narrow, &wide, sizeof narrow);
    return narrow;
}

/* One that compiles OpenCL C 1.2, or later versions' 1.2 mode, and reads numbers as we do. */
static bool usable(const struct opencl_api *cl, cl_device_id id)
{
    char version[128];
    unsigned major = 0, minor = 0;
    device_text(cl, id, CL_DEVICE_VERSION, version, sizeof version);
    return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 && (major > 1 || minor >= 2) &&
           device_number(cl, id, CL_DEVICE_AVAILABLE) && device_number(cl, id, CL_DEVICE_COMPILER_AVAILABLE) &&
           device_number(cl, id, CL_DEVICE_ENDIAN_LITTLE);
}

/* Some loaders put zeros between the drivers' names in OCL_ICD_FILENAMES, in the environment itself: processes that are
 * started later, ours among them, would know the first driver alone. */
static cl_int get_platforms(const struct opencl_api *cl, cl_platform_id *platforms, cl_uint *count)
{
    char *names = getenv("OCL_ICD_FILENAMES"), *whole = names ? penstock__strdup(names) : NULL;
    cl_int code = cl->GetPlatformIDs(MAX_PLATFORMS, platforms, count);
    if (whole)
        memcpy(names, whole, strlen(whole));
    penstock__free(whole);
    return code;
}

static void visit_all(const struct opencl_api *cl, bool (*visit)(void *argument, const struct found *found),
                      void *argument, char reason[256])
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint platform_count = 0;
    cl_int code = get_platforms(cl, platforms, &platform_count);
    snprintf(reason, 256, "%s", "the OpenCL loader is there but no driver: no platform (install pocl-opencl-icd)");
    if (code || !platform_count)
        return;
    snprintf(reason, 256, "%s", "the OpenCL drivers that are installed have no usable device");
    for (cl_uint p = 0; p < platform_count && p < MAX_PLATFORMS; p++) {
        cl_device_id ids[MAX_DEVICES];
        cl_uint count = 0;
        if (cl->GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count))
            continue;
        for (cl_uint d = 0; d < count && d < MAX_DEVICES; d++)
            if (usable(cl, ids[d]) && !visit(argument, &(struct found){platforms[p], ids[d]}))
                return;
    }
}

/* Calls visit(argument, found) for every usable device until it returns false; `reason` says why there is none. One
 * thread at a time: PoCL 3.1 sets its devices up in the first call, without a lock, and crashes where two come. */
static void enumerate(const struct opencl_api *cl, bool (*visit)(void *argument, const struct found *found),
                      void *argument, char reason[256])
{
    static struct penstock_guard listing = PENSTOCK_GUARD;
    if (!penstock__guard(&listing)) {
        snprintf(reason, 256, "%s", "this process was forked while another thread was asking the OpenCL drivers");
        return;
    }
    visit_all(cl, visit, argument, reason);
    penstock__unguard(&listing);
}

static bool has_extension(const struct opencl_api *cl, cl_device_id id, const char *wanted)
{
    char text[8192], *rest = text, *name;
    device_text(cl, id, CL_DEVICE_EXTENSIONS, text, sizeof text);
    while ((name = strsep(&rest, " ")))
        if (!strcmp(name, wanted))
            return true;
    return false;
}

/* Where the device is on the PCI bus, by one of the two extensions that tell; "" where neither does. */
static void read_address(char *text, size_t capacity, const struct opencl_api *cl, cl_device_id id)
{
    cl_uint info[4];
    *text = 0;
    if (has_extension(cl, id, "cl_khr_pci_bus_info") &&
        !cl->GetDeviceInfo(id, PCI_BUS_INFO_KHR, sizeof info, info, NULL))
        snprintf(text, capacity, "%04x:%02x:%02x", info[0], info[1], info[2]);
    else if (has_extension(cl, id, "cl_nv_device_attribute_query"))
        snprintf(text, capacity, "%04x:%02x:%02x", (unsigned)device_number(cl, id, PCI_DOMAIN_ID_NV),
                 (unsigned)device_number(cl, id, PCI_BUS_ID_NV), (unsigned)device_number(cl, id, PCI_SLOT_ID_NV) >> 3);
}

static void read_limits(struct opencl_device *self)
{
    const struct opencl_api *cl = self->api;
    cl_device_type type = device_number(cl, self->id, CL_DEVICE_TYPE);
    size_t group = (size_t)device_number(cl, self->id, CL_DEVICE_MAX_WORK_GROUP_SIZE), sizes[8] = {0};
    if (!cl->GetDeviceInfo(self->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL))
        group = sizes[0] < group ? sizes[0] : group;
    self->nvidia = has_extension(cl, self->id, "cl_nv_device_attribute_query");
    self->is_gpu = type & CL_DEVICE_TYPE_GPU;
    self->shares_memory = self->is_gpu && device_number(cl, self->id, CL_DEVICE_HOST_UNIFIED_MEMORY);
    self->limits =
        (struct gpu_limits){.local_bytes = (size_t)device_number(cl, self->id, CL_DEVICE_LOCAL_MEM_SIZE),
                            .max_group = (unsigned)group,
                            .cpu = type & CL_DEVICE_TYPE_CPU,
                            .half_arithmetic = has_extension(cl, self->id, "cl_khr_fp16"),
                            .ptx_halves = self->nvidia && device_number(cl, self->id, CAPABILITY_NV) >= PTX_HALVES,
                            .single_only = !has_extension(cl, self->id, "cl_khr_fp64")};
    self->max_texels = device_number(cl, self->id, CL_DEVICE_IMAGE_SUPPORT)
                           ? (size_t)device_number(cl, self->id, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE)
                           : 0;
    self->max_buffer_bytes = device_number(cl, self->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
}

/*
 * Multiply-add may be fused; nothing that breaks NaN, infinity or compensated sums. And what two compilers get wrong:
 * - Intel's for CPUs (2026.2) gives eight of 16 work-items the values of the other eight where it keeps a part of a
 *   float4 of `restrict` memory over a barrier. Its platform for GPUs has a longer name.
 * - PoCL's for CPUs from 7.0 on reads local memory behind a barrier in the place of before it, where kernels are those
 *   of a GPU. Without optimisation it does not.
 */
static const char *compiler_options(const char *platform, const char *version, const char *driver, bool cpu_kernels)
{
    if (!strcmp(platform, "Intel(R) OpenCL"))
        return OPTIONS " -Drestrict=";
    if (!strcmp(platform, "Portable Computing Language") && strstr(version, "HSTR: cpu") && atoi(driver) >= 7 &&
        !cpu_kernels)
        return OPTIONS " -cl-opt-disable";
    return OPTIONS;
}

/* PoCL does, if nobody forbids it. */
static bool keeps_kernels(const struct opencl_device *self, const char *platform)
{
    const char *kept = getenv("POCL_KERNEL_CACHE");
    return self->limits.cpu && !strcmp(platform, "Portable Computing Language") && !(kept && !strcmp(kept, "0"));
}

static void read_identity(struct opencl_device *self)
{
    const struct opencl_api *cl = self->api;
    char name[128], driver[128], version[160], platform[96], platform_version[160];
    device_text(cl, self->id, CL_DEVICE_NAME, name, sizeof name);
    device_text(cl, self->id, CL_DRIVER_VERSION, driver, sizeof driver);
    device_text(cl, self->id, CL_DEVICE_VERSION, version, sizeof version);
    platform_text(cl, self->platform, CL_PLATFORM_NAME, platform, sizeof platform);
    platform_text(cl, self->platform, CL_PLATFORM_VERSION, platform_version, sizeof platform_version);
    self->one_wave = !strcmp(platform, "rusticl") && !strncmp(driver, "22.", 3);
    self->keeps_kernels = keeps_kernels(self, platform);
    self->options = compiler_options(platform, version, driver, self->limits.cpu);
    snprintf(self->identity, sizeof self->identity, "%s|%s|%s|%s|%s", name, driver, version, platform,
             platform_version);
}

static void read_profile(struct opencl_device *self)
{
    uint64_t wave = device_number(self->api, self->id, WAVE_OF_OPENCL_3);
    wave = wave ? wave : device_number(self->api, self->id, WAVE_OF_AMD);
    penstock__gpu_profile_limit(&self->limits, penstock__gpu_profile(self->identity),
                                wave <= self->limits.max_group ? (unsigned)wave : 0);
}

static void tell_profile(struct penstock_device *row, const struct opencl_api *cl, const struct found *found)
{
    if (!(device_number(cl, found->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU))
        return;
    struct opencl_device self = {.api = cl, .platform = found->platform, .id = found->id};
    read_limits(&self);
    read_identity(&self);
    read_profile(&self);
    penstock__gpu_profile_text(row->profile, sizeof row->profile, penstock__gpu_profile(self.identity), &self.limits,
                               self.shares_memory, self.max_texels > 0);
}

struct rows {
    const struct opencl_api *cl;
    struct penstock_device *rows;
    size_t capacity, count;
};

static bool fill_row(void *argument, const struct found *found)
{
    struct rows *table = argument;
    struct penstock_device *row = &table->rows[table->count];
    char platform[64], version[64];
    if (table->count == table->capacity)
        return false;
    platform_text(table->cl, found->platform, CL_PLATFORM_NAME, platform, sizeof platform);
    device_text(table->cl, found->id, CL_DRIVER_VERSION, version, sizeof version);
    device_text(table->cl, found->id, CL_DEVICE_NAME, row->product, sizeof row->product);
    snprintf(row->driver, sizeof row->driver, "%s %s", platform, version);
    row->compute_units = (unsigned)device_number(table->cl, found->id, CL_DEVICE_MAX_COMPUTE_UNITS);
    row->memory_bytes = device_number(table->cl, found->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    tell_profile(row, table->cl, found);
    row->on_cpu = device_number(table->cl, found->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    read_address(row->address, sizeof row->address, table->cl, found->id);
    table->count++;
    return true;
}

int penstock__opencl_probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                           char reason[256])
{
    struct rows table = {.cl = penstock__opencl_api(reason), .rows = rows, .capacity = capacity};
    (void)context;
    *count = 0;
    if (table.cl)
        enumerate(table.cl, fill_row, &table, reason);
    *count = table.count;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- opening --------------------- */

struct search {
    unsigned left;
    struct found found;
    bool done;
};

static bool pick(void *argument, const struct found *found)
{
    struct search *search = argument;
    search->found = *found;
    search->done = search->left-- == 0;
    return !search->done;
}

static int make_context(const struct penstock_device *device)
{
    struct opencl_device *self = device->priv;
    cl_int code;
    self->context = self->api->CreateContext(
        (const cl_context_properties[]){CL_CONTEXT_PLATFORM, (cl_context_properties)self->platform, 0}, 1, &self->id,
        NULL, NULL, &code);
    return code ? penstock__opencl_error(device, "clCreateContext", code) : PENSTOCK_OK;
}

/* The application's, if it has the device. */
static int share_context(const struct penstock_device *device)
{
    struct opencl_device *self = device->priv;
    cl_context context = (cl_context)(uintptr_t)device->shared;
    cl_device_id ids[MAX_DEVICES];
    size_t bytes = 0;
    bool there = false;
    cl_int code = self->api->GetContextInfo(context, CL_CONTEXT_DEVICES, sizeof ids, ids, &bytes);
    if (code)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: that is no cl_context of at most %d devices: %s",
                               device->name, MAX_DEVICES, penstock__opencl_code_name(code));
    for (size_t i = 0; i < bytes / sizeof *ids; i++)
        there = there || ids[i] == self->id;
    if (!there)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: the cl_context is of other devices", device->name);
    if ((code = self->api->RetainContext(context)))
        return penstock__opencl_error(device, "clRetainContext", code);
    self->context = context;
    return PENSTOCK_OK;
}

int penstock__opencl_open(struct penstock_device *device)
{
    struct opencl_device *self = device->priv;
    struct search search = {.left = device->index};
    char reason[256] = "";
    int status;
    if (!(self->api = penstock__opencl_api(reason)))
        return penstock__error(PENSTOCK_ERR_NO_DEVICE, "%s: %s", device->name, reason);
    enumerate(self->api, pick, &search, reason);
    if (!search.done)
        return penstock__error(PENSTOCK_ERR_NO_DEVICE, "%s: the device is no longer there", device->name);
    self->platform = search.found.platform;
    self->id = search.found.id;
    read_limits(self);
    read_identity(self);
    read_profile(self);
    device->host_memory = self->limits.cpu || self->shares_memory;
    device->alignment = (size_t)device_number(self->api, self->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    if ((status = device->shared ? share_context(device) : make_context(device)))
        return status;
    self->limits.texel = penstock__opencl_texel(self);
    pthread_mutex_init(&self->kept_lock, NULL);
    return PENSTOCK_OK;
}

void penstock__opencl_close(struct penstock_device *device)
{
    struct opencl_device *self = device->priv;
    penstock__opencl_programs_free(device);
    pthread_mutex_destroy(&self->kept_lock);
    self->api->ReleaseContext(self->context);
}
