/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The vertex pipe memory and its DMA against a model that keeps it as an array of 4096 bytes and works out each
 * element's bytes from the fields of the set-up word.
 */
#include "qpu_machine.h"

struct model {
    uint8_t vpm[64 * 64]; /* row y, word x, byte b: y * 64 + x * 4 + b */
};

static unsigned field(uint32_t word, unsigned first, unsigned count)
{
    return word >> first & ((1u << count) - 1);
}

/* First byte of element i of the vector that a generic access with this address begins at. */
static unsigned element_byte(uint32_t setup, unsigned address, unsigned i)
{
    unsigned size = field(setup, 8, 2), y, x, byte;
    bool horizontal = field(setup, 11, 1), laned = field(setup, 10, 1);
    unsigned sub = size == 2 ? 0 : size == 1 ? address & 1 : address & 3;
    unsigned rest = size == 2 ? address & 63 : size == 1 ? address >> 1 & 63 : address >> 2 & 63;
    unsigned width = size == 2 ? 4 : size == 1 ? 2 : 1;
    unsigned along = laned || size == 2 ? 4 * i + sub * width : sub * 16 * width + i * width; /* bytes from the start */
    byte = along % 4;
    if (horizontal) {
        y = rest;
        x = along / 4;
    } else {
        y = (rest >> 4) * 16 + along / 4;
        x = rest & 15;
    }
    return y * 64 + x * 4 + byte;
}

static unsigned width_of(uint32_t setup)
{
    return 1u << field(setup, 8, 2);
}

static unsigned next_address(uint32_t setup, unsigned address)
{
    unsigned stride = field(setup, 12, 6), wrap = 64 * 4 / width_of(setup);
    return (address + (stride ? stride : 64)) % wrap;
}

static void model_write(struct model *m, uint32_t setup, unsigned address, const uint32_t *lanes)
{
    for (unsigned i = 0; i < 16; i++)
        for (unsigned b = 0; b < width_of(setup); b++)
            m->vpm[element_byte(setup, address, i) + b] = (uint8_t)(lanes[i] >> 8 * b);
}

static void model_read(const struct model *m, uint32_t setup, unsigned address, uint32_t *lanes)
{
    for (unsigned i = 0; i < 16; i++) {
        lanes[i] = 0;
        for (unsigned b = 0; b < width_of(setup); b++)
            lanes[i] |= (uint32_t)m->vpm[element_byte(setup, address, i) + b] << 8 * b;
    }
}

static void compare(const struct machine *m, const struct model *model, const char *what, uint32_t setup)
{
    unsigned wrong = 0;
    for (unsigned y = 0; y < 64; y++)
        for (unsigned x = 0; x < 16; x++) {
            const uint8_t *at = &model->vpm[y * 64 + x * 4];
            uint32_t want = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
            wrong += qpu_emulator_vpm(m->emulator, y, x) != want;
        }
    CHECK(wrong == 0, "%s with set-up %08x: %u words differ (%s)", what, setup, wrong, machine_trap(m));
}

/* A set-up of any size, orientation, packing, address and stride. */
static uint32_t draw_setup(uint64_t *random)
{
    uint64_t r = test_random(random);
    return (uint32_t)(r & 0x3fcff) | (uint32_t)(r >> 32) % 3 << 8;
}

static uint32_t vector(uint32_t i, uint32_t n)
{
    return (0x13579bdfu ^ i << 13 ^ i << 3) + n * 0x2468ace1u;
}

/* Four vectors through one set-up, the VPM compared, then the third vector of another set-up read back. */
static void generic_access(uint64_t *random)
{
    uint32_t write = draw_setup(random), read = draw_setup(random), lanes[16];
    unsigned address = write & 255;
    struct model model = {{0}};
    struct machine *m = machine_of("mov vw_setup, unif\nldi r2, 0x13579bdf\nldi r1, 0x2468ace1\nmov r0, elem_num\n"
                                   "shl r3, r0, 13\nxor r2, r2, r3\nshl r3, r0, 3\nxor r2, r2, r3\n"
                                   ".rep n, 4\nmov vpm, r2\nadd r2, r2, r1\n.endr\n" END,
                                   (const uint32_t[4]){write, 0, 0, 0});
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    for (uint32_t n = 0; n < 4; n++) {
        for (uint32_t i = 0; i < 16; i++)
            lanes[i] = vector(i, n);
        model_write(&model, write, address, lanes);
        address = next_address(write, address);
    }
    compare(m, &model, "generic write", write);
    model_read(&model, read, next_address(read, next_address(read, read & 255)), lanes);
    machine_program(m, "mov vr_setup, unif\nnop\nnop\nnop\nmov -, vpm\nmov -, vpm\nmov r0, vpm\n" SHOW("r0") END);
    machine_put(m, UNIFORMS, read | 3u << 20);
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    for (unsigned i = 0; i < 16; i++)
        CHECK(qpu_emulator_vpm(m->emulator, 0, i) == lanes[i], "read %08x, element %u: %08x, want %08x", read, i,
              qpu_emulator_vpm(m->emulator, 0, i), lanes[i]);
    machine_close(m);
}

/* Fills the VPM row by row: 64 loads, unrolled. */
static void load_rows(struct machine *m, struct model *model)
{
    char source[16384];
    int used = snprintf(source, sizeof source, "mov r0, unif\nldi r2, 64\n");
    for (unsigned y = 0; y < 64; y++)
        used += snprintf(source + used, sizeof source - (size_t)used,
                         "ldi vr_setup, %u\nmov vr_addr, r0\nmov -, vr_wait\nadd r0, r0, r2\n", 0x83010000u | y << 4);
    snprintf(source + used, sizeof source - (size_t)used, END);
    for (unsigned i = 0; i < 4096; i++)
        model->vpm[i] = (uint8_t)(i * 37 + (i >> 8) * 11);
    memcpy(m->memory + (DATA - MEMORY), model->vpm, 4096);
    machine_put(m, UNIFORMS, DATA);
    machine_program(m, source);
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    compare(m, model, "64 loads of a row", 0x83010000);
}

/* The byte of the VPM where element k of row r of a transfer begins; -1 outside. */
static int dma_byte(unsigned width, unsigned part, bool horizontal, unsigned y, unsigned x, unsigned k)
{
    unsigned row = horizontal ? y + (x + k) / 16 : y + k, column = horizontal ? (x + k) % 16 : x;
    return row < 64 && column < 16 ? (int)(row * 64 + column * 4 + part * width) : -1;
}

static bool mode_parts(unsigned mode, unsigned *width, unsigned *part)
{
    *width = mode >= 4 ? 1 : mode >= 2 ? 2 : 4;
    *part = mode >= 4 ? mode - 4 : mode >= 2 ? mode - 2 : 0;
    return mode != 1;
}

static void store(uint64_t *random, struct machine *m, const struct model *model)
{
    uint64_t r = test_random(random);
    unsigned rows = r & 15, depth = (r >> 4 & 1 ? r >> 5 & 15 : r >> 5 & 63), width, part, units = rows ? rows : 128;
    unsigned elements = depth ? depth : 128, y = r >> 20 & 63, x = r >> 26 & 15, stride = r >> 30 & 31;
    bool horizontal = r >> 35 & 1, consecutive = r >> 36 & 1, inside = true;
    uint32_t setup =
        0x80000000u | rows << 23 | depth << 16 | (uint32_t)horizontal << 14 | y << 7 | x << 3 | (r >> 40 & 7);
    uint8_t want[MEMORY_BYTES] = {0};
    unsigned at = 0;
    char source[512];
    if (!mode_parts(r >> 40 & 7, &width, &part) || !rows)
        return;
    stride *= width;
    for (unsigned i = 0; i < units; i++, at += stride)
        for (unsigned k = 0; k < elements; k++, at += width) {
            int byte = consecutive  ? dma_byte(width, part, horizontal, y, x, i * elements + k)
                       : horizontal ? dma_byte(width, part, true, y + i, x, k)
                                    : dma_byte(width, part, false, y, x + i, k);
            inside &= byte >= 0;
            if (byte >= 0)
                memcpy(want + at, model->vpm + byte, width);
        }
    memset(m->memory + (DATA - MEMORY), 0, at);
    snprintf(source, sizeof source,
             "mov r0, unif\nldi vw_setup, %u\nldi vw_setup, %u\nmov vw_addr, r0\nmov -, vw_wait\n" END, setup,
             0xc0000000u | (uint32_t)consecutive << 16 | stride);
    machine_program(m, source);
    if (!inside) {
        CHECK_EQ(machine_run(m, 1), QPU_RUN_TRAPPED);
        CHECK_EQ(qpu_emulator_trap(m->emulator).hazard, QPU_HAZARD_DMA_LEAVES_VPM);
        return;
    }
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "store %08x: %s", setup, machine_trap(m));
    CHECK(memcmp(m->memory + (DATA - MEMORY), want, at) == 0, "store %08x, stride %u, block mode %d", setup, stride,
          consecutive);
}

static void load(uint64_t *random, struct machine *m, struct model *model)
{
    uint64_t r = test_random(random);
    unsigned mode = r & 7, pitch_code = r >> 3 & 7, elements = r >> 8 & 15, rows = r >> 12 & 15, step = r >> 16 & 15;
    bool vertical = r >> 20 & 1, inside = true;
    unsigned y = r >> 21 & 63, x = r >> 27 & 15, extra = 4 * (r >> 31 & 63), width, part;
    unsigned pitch = pitch_code ? 8u << pitch_code : extra;
    uint32_t setup = 0x80000000u | mode << 28 | pitch_code << 24 | elements << 20 | rows << 16 | step << 12 |
                     (uint32_t)vertical << 11 | y << 4 | x;
    struct model after = *model;
    char source[512];
    if (!mode_parts(mode, &width, &part))
        return;
    for (unsigned i = 0; i < 0x7000; i++)
        m->memory[DATA - MEMORY + i] = (uint8_t)(test_random(random) >> 32);
    for (unsigned i = 0; i < (rows ? rows : 16); i++)
        for (unsigned k = 0; k < (elements ? elements : 16); k++) {
            unsigned place = y * (4 / width) + part + i * (step ? step : 16);
            int byte = dma_byte(width, place % (4 / width), !vertical, place / (4 / width), x, k);
            inside &= byte >= 0;
            if (byte >= 0)
                memcpy(after.vpm + byte, m->memory + (DATA - MEMORY) + i * pitch + k * width, width);
        }
    snprintf(source, sizeof source,
             "mov r0, unif\nldi vr_setup, %u\nldi vr_setup, %u\nmov vr_addr, r0\nmov -, vr_wait\n" END, setup,
             0x90000000u | extra);
    if (!inside)
        return;
    machine_program(m, source);
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "load %08x: %s", setup, machine_trap(m));
    *model = after;
    compare(m, model, "load", setup);
}

int main(void)
{
    uint64_t random = 5;
    unsigned rounds = getenv("PENSTOCK_TEST_FULL") ? 20000 : 1000;
    struct model model;
    struct machine *m = machine_of(END, NULL);
    for (unsigned i = 0; i < rounds; i++)
        generic_access(&random);
    load_rows(m, &model);
    for (unsigned i = 0; i < rounds; i++)
        store(&random, m, &model);
    for (unsigned i = 0; i < rounds; i++)
        load(&random, m, &model);
    machine_close(m);
    return test_finish();
}
