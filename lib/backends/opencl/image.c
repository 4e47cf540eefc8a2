/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Images that are made of buffers: the same memory, read and written by way of a device's texture units. */
#include "backends/opencl/opencl.h"

#define MOST_FORMATS 256

static bool listed(const struct opencl_device *device, cl_channel_order order, cl_mem_flags access)
{
    cl_image_format formats[MOST_FORMATS];
    cl_uint count = 0;
    if (device->api->GetSupportedImageFormats(device->context, access, CL_MEM_OBJECT_IMAGE1D_BUFFER, MOST_FORMATS,
                                              formats, &count))
        return false;
    for (cl_uint i = 0; i < count && i < MOST_FORMATS; i++)
        if (formats[i].image_channel_order == order && formats[i].image_channel_data_type == CL_FLOAT)
            return true;
    return false;
}

static cl_mem image_of(const struct opencl_device *device, cl_mem buffer, size_t texels, unsigned texel,
                       cl_mem_flags access, cl_int *code)
{
    const cl_image_format format = {texel == 1 ? CL_RG : CL_RGBA, CL_FLOAT};
    const cl_image_desc description = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = texels, .buffer = buffer};
    return device->api->CreateImage(device->context, access, &format, &description, NULL, code);
}

/* rusticl of Mesa 22 lists such images, and makes none of a buffer in the host's memory, which a batch has on a CPU and
 * where a GPU shares it. */
static bool refused(const struct opencl_device *device, unsigned texel)
{
    penstock_cf32 host[2] = {{0, 0}};
    const cl_mem_flags where = device->limits.cpu || device->shares_memory ? CL_MEM_USE_HOST_PTR : 0;
    cl_int code;
    cl_mem image, buffer = device->api->CreateBuffer(device->context, CL_MEM_READ_WRITE | where, texel * sizeof *host,
                                                     where ? host : NULL, &code);
    if (code)
        return false;
    image = image_of(device, buffer, 1, texel, CL_MEM_READ_ONLY, &code);
    if (!code)
        device->api->ReleaseMemObject(image);
    device->api->ReleaseMemObject(buffer);
    return code == CL_INVALID_OPERATION;
}

unsigned penstock__opencl_texel(const struct opencl_device *device)
{
    static const cl_channel_order orders[] = {CL_RG, CL_RGBA};
    for (unsigned i = 0; i < 2 && device->max_texels; i++)
        if (listed(device, orders[i], CL_MEM_READ_ONLY) && listed(device, orders[i], CL_MEM_WRITE_ONLY))
            return refused(device, i + 1) ? 0 : i + 1;
    return 0;
}

static int create(cl_mem *image, const struct penstock_buffer *buffer, unsigned texel, cl_mem_flags access)
{
    const struct opencl_device *device = buffer->device->priv;
    cl_mem memory = ((const struct opencl_buffer *)buffer->priv)->memory;
    const size_t texels = buffer->bytes / (texel * sizeof(penstock_cf32));
    cl_int code;
    if (texels > device->max_texels)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu texels are too many for one image, of %zu at most",
                               buffer->device->name, texels, device->max_texels);
    *image = image_of(device, memory, texels, texel, access, &code);
    if (!code && (code = device->api->RetainMemObject(memory)))
        device->api->ReleaseMemObject(*image);
    if (!code)
        return PENSTOCK_OK;
    *image = NULL;
    return penstock__opencl_error(buffer->device, "clCreateImage", code);
}

static void forget(const struct opencl_api *cl, struct opencl_image *kept)
{
    if (kept->image) {
        cl->ReleaseMemObject(kept->image);
        cl->ReleaseMemObject(kept->buffer);
    }
    *kept = (struct opencl_image){0};
}

int penstock__opencl_image(cl_mem *image, struct penstock_slot *slot, const struct penstock_buffer *buffer,
                           unsigned texel, cl_mem_flags access)
{
    struct opencl_slot *self = slot->priv;
    const struct opencl_api *cl = ((const struct opencl_device *)slot->device->priv)->api;
    cl_mem memory = ((const struct opencl_buffer *)buffer->priv)->memory;
    struct opencl_image *kept = self->images, *end = kept + OPENCL_IMAGES;
    while (kept < end && !(kept->buffer == memory && kept->access == access && kept->texel == texel))
        kept++;
    if (kept == end) {
        kept = &self->images[self->next_image++ % OPENCL_IMAGES];
        if (kept->image)
            cl->Finish(self->queue);
        forget(cl, kept);
        int status = create(&kept->image, buffer, texel, access);
        if (status)
            return status;
        *kept = (struct opencl_image){kept->image, memory, access, texel};
    }
    *image = kept->image;
    return PENSTOCK_OK;
}

void penstock__opencl_images_free(struct penstock_slot *slot)
{
    struct opencl_slot *self = slot->priv;
    for (unsigned i = 0; i < OPENCL_IMAGES; i++)
        forget(((const struct opencl_device *)slot->device->priv)->api, &self->images[i]);
}
