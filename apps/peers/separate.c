/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernels around a peer's transform. Each work-item has 8 or 16 bytes at a time, in order; blocks cover the data.
 */
#include "separate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 256, SOURCE_BYTES = 8192 };

/* N, AVERAGE, SPACING, CARRIERS (both halves), HALF are constants; counts are of work-items. */
static const char source[] =
    "typedef long long size;\n"
    "#define INDEX ((size)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "static __device__ float2 product(float2 a, float2 b)\n"
    "{ return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }\n"
    "static __device__ float2 sample(int r) { return make_float2((float)(short)(r & 0xffff) * (1.f / 32768.f),\n"
    "                                                            (float)(r >> 16) * (1.f / 32768.f)); }\n"
    "extern \"C\" __global__ void convert(const int2 *in, const float2 *window, float4 *out, size count)\n"
    "{\n"
    "    const size i = INDEX;\n"
    "    if (i >= count) return;\n"
    "    const int2 r = __ldcs(in + i);\n"
    "    const float2 x = sample(r.x), y = sample(r.y);\n"
    "#if WINDOW\n"
    "    const float2 w = __ldg(window + i % (N / 2));\n"
    "    out[i] = make_float4(x.x * w.x, x.y * w.x, y.x * w.y, y.y * w.y);\n"
    "#else\n"
    "    out[i] = make_float4(x.x, x.y, y.x, y.y);\n"
    "#endif\n"
    "}\n"
    "extern \"C\" __global__ void mean_power(const float4 *in, float2 *out, size count)\n"
    "{\n"
    "    const size i = INDEX, row = i / (N / 2);\n"
    "    const int k = (int)(i % (N / 2));\n"
    "    float p = 0, q = 0;\n"
    "    if (i >= count) return;\n"
    "    #pragma unroll\n"
    "    for (int f = 0; f < AVERAGE; f++) {\n"
    "        const float4 v = __ldcs(in + (row * AVERAGE + f) * (N / 2) + k);\n"
    "        p += v.x * v.x + v.y * v.y;\n"
    "        q += v.z * v.z + v.w * v.w;\n"
    "    }\n"
    "    out[i] = make_float2(p * (1.f / AVERAGE), q * (1.f / AVERAGE));\n"
    "}\n"
    "extern \"C\" __global__ void multiply(float4 *x, const float4 *response, size count)\n"
    "{\n"
    "    const size i = INDEX;\n"
    "    if (i >= count) return;\n"
    "    const float4 v = x[i], h = __ldg(response + i % (N / 2));\n"
    "    const float2 a = product(make_float2(v.x, v.y), make_float2(h.x, h.y)),\n"
    "                 b = product(make_float2(v.z, v.w), make_float2(h.z, h.w));\n"
    "    x[i] = make_float4(a.x, a.y, b.x, b.y);\n"
    "}\n"
    "extern \"C\" __global__ void cut(const float4 *in, float4 *out, size count)\n"
    "{\n"
    "    const size i = INDEX, row = i / (SPACING / 2);\n"
    "    if (i < count) out[i] = __ldcs(in + row * (N / 2) + (N - SPACING) / 2 + i % (SPACING / 2));\n"
    "}\n"
    "static __device__ unsigned byte(float x)\n"
    "{ return __float_as_uint(fminf(fmaxf(x, -127.f), 127.f) + 12582912.f) & 255u; }\n"
    "static __device__ void axis(float y, float level, unsigned *b)\n" /* y in units where the points are +-1, 3, 5, 7
                                                                        */
    "{\n"
    "    const float a = fabsf(y), d = a - 4.f, c = fminf(fmaxf(d, -2.f), 2.f);\n"
    "    b[0] = byte(-copysignf(fmaf(2.f, a, fabsf(d - c) + fmaxf(d, 0.f)) - 2.f, y) * level);\n"
    "    b[1] = byte(fmaf(2.f, d, -c) * level);\n"
    "    b[2] = byte((fabsf(d) - 2.f) * level);\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "demap(const float2 *in, const float2 *gain, unsigned *out, float level, size count)\n"
    "{\n"
    "    __shared__ unsigned staged[1536];\n"
    "    float2 x[4], g[4];\n"
    "    #pragma unroll\n"
    "    for (int e = 0; e < 4; e++) {\n" /* all loads before the first use */
    "        const size i = (size)blockIdx.x * 512 + e / 2 * 256 + threadIdx.x, row = i / (CARRIERS / 2);\n"
    "        const int c = (int)(i % (CARRIERS / 2)) * 2 + e % 2;\n"
    "        const int k = c < CARRIERS / 2 ? N - CARRIERS / 2 + c : c - CARRIERS / 2 + 1;\n"
    "        if (i < count) x[e] = __ldcs(in + row * N + k), g[e] = __ldg(gain + k);\n"
    "    }\n"
    "    #pragma unroll\n"
    "    for (int p = 0; p < 2; p++) {\n"
    "        unsigned b[12];\n"
    "        #pragma unroll\n"
    "        for (int e = 0; e < 2; e++) {\n"
    "            const float2 y = product(x[2 * p + e], g[2 * p + e]);\n"
    "            axis(y.x, level, b + 6 * e);\n"
    "            axis(y.y, level, b + 6 * e + 3);\n"
    "        }\n"
    "        #pragma unroll\n"
    "        for (int w = 0; w < 3; w++)\n"
    "            staged[768 * p + 3 * threadIdx.x + w] =\n"
    "                b[4 * w] | b[4 * w + 1] << 8 | b[4 * w + 2] << 16 | b[4 * w + 3] << 24;\n"
    "    }\n"
    "    __syncthreads();\n"
    "    #pragma unroll\n"
    "    for (int w = threadIdx.x; w < 384; w += 256)\n"
    "        __stcs((uint4 *)out + (size)blockIdx.x * 384 + w, ((uint4 *)staged)[w]);\n"
    "}\n";

static int compile(struct separate *separate)
{
    const struct device_work *work = separate->work;
    char *text = malloc(SOURCE_BYTES + sizeof source);
    int code;
    if (!text)
        return fail(EXIT_DATA, "out of memory");
    snprintf(text, SOURCE_BYTES + sizeof source,
             "#define N %zu\n#define AVERAGE %zu\n#define SPACING %zu\n#define CARRIERS %zu\n#define WINDOW %d\n%s",
             work->n, work->average ? work->average : 1, work->spacing, work->carriers ? 2 * work->carriers : 2,
             work->window != NULL, source);
    code = cuda_machine_compile(separate->machine, text);
    free(text);
    return code;
}

/* What is left out at the front or behind is not in `table`: it has n values. */
static int fill_table(struct separate *separate)
{
    const struct device_work *work = separate->work;
    const void *values = work->window ? (const void *)work->window : (const void *)work->response;
    size_t bytes = work->n * (work->window ? sizeof(float) : sizeof(penstock_cf32));
    if (!values)
        return EXIT_DONE;
    if (!(separate->table = cuda_machine_alloc(separate->machine, bytes)))
        return EXIT_DATA;
    return cuda_machine_fill(separate->machine, separate->table, values, bytes, bytes);
}

int separate_new(struct separate *separate)
{
    const struct device_work *work = separate->work;
    size_t spectrum = work->frames * work->n * sizeof(penstock_cf32);
    bool integers = work->kind == DEVICE_WORK_SPECTRUM || work->kind == DEVICE_WORK_OFDM;
    int code;
    separate->in_count = work->in_bytes / (integers ? 4 : sizeof(penstock_cf32));
    separate->out_bytes = work->kind == DEVICE_WORK_SPECTRUM ? spectrum / 2 / work->average
                          : work->kind == DEVICE_WORK_OFDM   ? work->frames * 2 * work->carriers * 6
                          : work->kind == DEVICE_WORK_FILTER ? work->frames * work->spacing * sizeof(penstock_cf32)
                                                             : spectrum;
    size_t last = separate->out_bytes + (size_t)GROUP * 32; /* the last work-group may write more */
    size_t before = separate->in_count * sizeof(penstock_cf32) + 64;
    if ((code = compile(separate)) || (code = fill_table(separate)))
        return code;
    separate->in = cuda_machine_alloc(separate->machine, work->in_bytes + work->n * sizeof(penstock_cf32));
    separate->out = cuda_machine_alloc(separate->machine, last);
    separate->samples = !integers ? separate->in : cuda_machine_alloc(separate->machine, before);
    separate->spectrum =
        work->kind == DEVICE_WORK_FFT ? separate->out : cuda_machine_alloc(separate->machine, spectrum + 64);
    if (!separate->in || !separate->out || !separate->samples || !separate->spectrum)
        return EXIT_DATA;
    return cuda_machine_fill(separate->machine, separate->in, work->in, work->block_bytes, work->in_bytes);
}

static int launch(struct separate *separate, const char *kernel, long long count, void **arguments)
{
    return cuda_machine_launch(separate->machine, kernel, (size_t)(count + GROUP - 1) / GROUP, GROUP, arguments);
}

int separate_before(struct separate *separate)
{
    long long count = (long long)(separate->in_count / 2);
    void *arguments[] = {&separate->in, &separate->table, &separate->samples, &count};
    return separate->samples == separate->in ? EXIT_DONE : launch(separate, "convert", count, arguments);
}

int separate_between(struct separate *separate)
{
    long long count = (long long)(separate->work->frames * separate->work->n / 2);
    void *arguments[] = {&separate->spectrum, &separate->table, &count};
    return launch(separate, "multiply", count, arguments);
}

int separate_after(struct separate *separate)
{
    const struct device_work *work = separate->work;
    long long count;
    switch (work->kind) {
    case DEVICE_WORK_SPECTRUM:
        count = (long long)(work->frames / work->average * work->n / 2);
        return launch(separate, "mean_power", count, (void *[]){&separate->spectrum, &separate->out, &count});
    case DEVICE_WORK_FILTER:
        count = (long long)(work->frames * work->spacing / 2);
        return launch(separate, "cut", count, (void *[]){&separate->spectrum, &separate->out, &count});
    case DEVICE_WORK_OFDM: {
        float level = work->level;
        count = (long long)(work->frames * work->carriers);
        return launch(separate, "demap", (count + 1) / 2, /* two pairs a work-item */
                      (void *[]){&separate->spectrum, &separate->table, &separate->out, &level, &count});
    }
    default:
        return EXIT_DONE;
    }
}
