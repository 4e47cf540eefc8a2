/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Profiles of GPUs: which one a driver's texts mean, waves by registers, and launch configurations that follow. */
#include "gpu/decomposition.h"
#include "gpu/fused_kinds.h"
#include "gpu/profile.h"
#include "gpu_banks.h"
#include "test.h"

#include <string.h>

static void check_names(void)
{
    static const struct {
        const char *identity, *name;
    } known[] = {
        {"NVIDIA H200|560.35|OpenCL 3.0 CUDA|NVIDIA CUDA|OpenCL 3.0 CUDA 12.6", "NVIDIA"},
        {"gfx906:sramecc+:xnack-|3581.0|OpenCL 2.0|AMD Accelerated Parallel Processing|", "AMD GCN"},
        {"gfx90a:sramecc+:xnack-|3581.0|OpenCL 2.0|AMD Accelerated Parallel Processing|", "AMD CDNA"},
        {"AMD Radeon RX 6600 (radeonsi, navi23, LLVM 17.0.6)|24.1|OpenCL 3.0|rusticl|", "AMD RDNA"},
        {"Intel(R) UHD Graphics 620|22.43|OpenCL 3.0 NEO|Intel(R) OpenCL HD Graphics|", "Intel Gen9 to Xe"},
        {"Intel(R) Arc(TM) A770 Graphics|23.1|OpenCL 3.0 NEO|Intel(R) OpenCL HD Graphics|", "Intel Xe-HPG"},
        {"FD618|24.1|OpenCL 3.0|rusticl|", "Adreno 6xx"},
        {"Mali-G610 (Panfrost)|24.1|OpenCL 3.0|rusticl|", "Mali Valhall"},
        {"V3D 4.2|24.1|OpenCL 3.0|rusticl|", "VideoCore VI, VII"},
        {"V3D 7.1|25.0|OpenCL 3.0|rusticl|", "VideoCore VI, VII"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct gpu_profile *profile = penstock__gpu_profile(known[i].identity);
        CHECK(profile && !strcmp(profile->name, known[i].name), "%s: %s", known[i].identity,
              profile ? profile->name : "none");
    }
    CHECK(!penstock__gpu_profile("a GPU that nobody knows"), "one that is not known");
}

/* As LLVM's AMDGPU back end has it, and NVIDIA's table of occupancy. */
static void check_waves(void)
{
    const struct gpu_profile *gcn = penstock__gpu_profile("gfx900"), *rdna = penstock__gpu_profile("gfx1030"),
                             *nvidia = penstock__gpu_profile("NVIDIA");
    CHECK(penstock__gpu_profile_waves(gcn, 24) == 10 && penstock__gpu_profile_waves(gcn, 64) == 4 &&
              penstock__gpu_profile_waves(gcn, 65) == 3 && penstock__gpu_profile_waves(gcn, 256) == 1,
          "GCN");
    CHECK(penstock__gpu_profile_waves(gcn, 257) == 0, "more than there are");
    CHECK(penstock__gpu_profile_waves(rdna, 64) == 16 && penstock__gpu_profile_waves(rdna, 128) == 8, "RDNA");
    CHECK(penstock__gpu_profile_waves(nvidia, 64) == 8 && penstock__gpu_profile_waves(nvidia, 32) == 16, "NVIDIA");
}

static void check_text(void)
{
    char text[128];
    struct gpu_limits limits = {.local_bytes = 64 << 10, .max_group = 1024};
    const struct gpu_profile *rdna = penstock__gpu_profile("gfx1030");
    penstock__gpu_profile_limit(&limits, rdna, 0);
    penstock__gpu_profile_text(text, sizeof text, rdna, &limits, false, true);
    CHECK(!strcmp(text, "AMD RDNA: waves of 32, 64 KiB and 1024 work-items a group, memory of its own, images"), "%s",
          text);
    limits = (struct gpu_limits){.local_bytes = 16 << 10, .max_group = 256, .half_arithmetic = true};
    penstock__gpu_profile_text(text, sizeof text, NULL, &limits, true, false);
    CHECK(!strcmp(text, "a GPU of no known kind: waves of 32, 16 KiB and 256 work-items a group, the host's memory, "
                        "half precision"),
          "%s", text);
}

static void check_configurations(const char *identity, unsigned max_group)
{
    struct gpu_limits limits = {.local_bytes = 64 << 10, .max_group = max_group};
    penstock__gpu_profile_limit(&limits, penstock__gpu_profile(identity), 0);
    for (size_t n = 64; n <= 8192; n *= 2) {
        const struct penstock_fft_problem fft = {.n = n, .format = PENSTOCK_CF32, .scale = 1, .average = 1};
        struct gpu_decomposition decomposition;
        CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits, 0));
        for (unsigned i = 0; i < decomposition.count; i++) {
            const struct gpu_launch_config *config = &decomposition.pass[i].config;
            CHECK(penstock__gpu_group_size(config) % limits.wave == 0, "%s, %zu points: %u work-items in waves of %u",
                  identity, n, penstock__gpu_group_size(config), limits.wave);
            CHECK(!limits.most_slots || config->slots <= limits.most_slots, "%s, %zu points: %u in a work-item",
                  identity, n, config->slots);
        }
    }
}

/* Local memory of a group; that of a plain transform's own kernel, where there is one. */
static size_t local_bytes(const struct penstock_fft_problem *fft, const struct gpu_pass *pass,
                          const struct gpu_limits *limits, unsigned *group)
{
    struct fused_kernel kernel;
    *group = penstock__gpu_group_size(&pass->config);
    if (!penstock__fused_plain_fits(fft, limits))
        return penstock__gpu_local_bytes(&pass->config);
    CHECK_OK(penstock__fused_kernel_config(&kernel, &(struct penstock_problem){.fft = *fft}, limits, 0, false));
    CHECK(fused_bank_ways(&kernel.config) == 1, "%zu points: conflicts", fft->n);
    *group = kernel.config.lanes * kernel.config.per_group;
    return kernel.local_bytes;
}

/* Four units share local memory, which leaves room for as many waves as there should be. */
static void check_local(const char *identity, unsigned max_group)
{
    const struct gpu_profile *profile = penstock__gpu_profile(identity);
    struct gpu_limits limits = {.local_bytes = 64 << 10, .max_group = max_group};
    penstock__gpu_profile_limit(&limits, profile, 0);
    for (size_t n = 64; n <= 8192; n *= 2) {
        const struct penstock_fft_problem fft = {
            .n = n, .format = PENSTOCK_CF32, .scale = 1, .average = 1, .spacing = n};
        struct gpu_decomposition decomposition;
        CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits, 0));
        for (unsigned i = 0; i < decomposition.count; i++) {
            unsigned group;
            size_t bytes = local_bytes(&fft, &decomposition.pass[i], &limits, &group);
            size_t waves = 4 * (size_t)profile->local / bytes * ((group + limits.wave - 1) / limits.wave) / 4;
            CHECK(waves >= profile->wanted, "%s, %zu points, groups of %u: local memory leaves %zu waves", identity, n,
                  group, waves);
        }
    }
}

/* What options and simpler variants ask for does not spill either: what does not fit takes more kernels. */
static void check_asked(const char *identity, unsigned max_group)
{
    struct gpu_limits limits = {.local_bytes = 64 << 10, .max_group = max_group};
    const struct gpu_profile *profile = penstock__gpu_profile(identity);
    const unsigned most = profile->most < 16 + 4 * GPU_MAX_SLOTS ? 16 : GPU_MAX_SLOTS;
    penstock__gpu_profile_limit(&limits, profile, 0);
    for (unsigned way = 0; way < 6; way++)
        for (size_t n = 64; n <= 8192; n *= 2) {
            const struct penstock_fft_problem fft = {
                .n = n, .format = PENSTOCK_CF32, .scale = 1, .average = 1, .options.radix = way < 4 ? 2U << way : 0};
            struct gpu_decomposition decomposition;
            CHECK_OK(penstock__gpu_decomposition(&decomposition, &fft, &limits, way < 4 ? 0 : way - 3));
            for (unsigned i = 0; i < decomposition.count; i++)
                CHECK(decomposition.pass[i].config.slots <= most, "%s, %zu points, way %u: %u in a work-item", identity,
                      n, way, decomposition.pass[i].config.slots);
        }
}

/* What NVIDIA's drivers tell of their waves changes no kernel. */
static void check_same(void)
{
    const struct gpu_limits before = {.local_bytes = 48 << 10, .max_group = 1024};
    struct gpu_limits now = before;
    penstock__gpu_profile_limit(&now, penstock__gpu_profile("NVIDIA H100"), 32);
    CHECK(now.wave == 32 && !now.slots && !now.most_slots && !now.asked_slots && !now.item_bytes, "NVIDIA's limits");
    for (size_t n = 1; n <= 16384; n++) {
        const struct penstock_fft_problem fft = {.n = n, .format = PENSTOCK_CF32, .scale = 1, .average = 1};
        struct gpu_decomposition a, b;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        if (n > 512 && penstock__hash(&n, sizeof n) % 32)
            continue;
        CHECK_OK(penstock__gpu_decomposition(&a, &fft, &before, 0));
        CHECK_OK(penstock__gpu_decomposition(&b, &fft, &now, 0));
        CHECK(!memcmp(&a, &b, sizeof a), "%zu points", n);
    }
}

int main(void)
{
    static const char *const identities[] = {"NVIDIA",       "gfx900", "gfx90a", "gfx1030", "Intel",
                                             "Intel(R) Arc", "FD6",    "Mali",   "V3D"};
    check_names();
    check_waves();
    check_text();
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++)
        for (unsigned group = 256; group <= 1024; group *= 2) {
            check_configurations(identities[i], group);
            check_asked(identities[i], group);
        }
    for (unsigned group = 256; group <= 1024; group *= 2)
        check_local("gfx1030", group);
    check_same();
    return test_finish();
}
