/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The vertex pipe memory as QPUs see it: vectors of 16 words, halves or bytes along rows or columns. */
#include "state.h"

struct place {
    unsigned y, x, shift;
};

static unsigned address_mask(const struct vpm_access *access)
{
    return access->size == 2 ? 63 : access->size == 1 ? 127 : 255;
}

/* Where element `i` of the vector that `access` points at lies. */
static struct place place_of(const struct vpm_access *access, unsigned i)
{
    unsigned parts_shift = 2u - access->size, parts = 1u << parts_shift, bits = 8u << access->size;
    unsigned part = access->address & (parts - 1), word, shift;
    if (access->laned || parts == 1) {
        word = i;
        shift = part * bits;
    } else {
        word = part * (QPU_LANES / parts) + i / parts;
        shift = i % parts * bits;
    }
    if (access->horizontal)
        return (struct place){access->address >> parts_shift & 63, word, shift};
    return (struct place){(access->address >> (parts_shift + 4) & 3) * 16 + word, access->address >> parts_shift & 15,
                          shift};
}

static uint32_t element_mask(const struct vpm_access *access)
{
    return access->size == 2 ? UINT32_MAX : access->size == 1 ? 0xffff : 0xff;
}

static void advance(struct vpm_access *access)
{
    access->address = (uint8_t)((access->address + access->stride) & address_mask(access));
}

static struct vpm_access access_of(struct qpu_emulator *e, struct qpu *q, uint32_t setup)
{
    unsigned stride = setup >> 12 & 63, count = setup >> 20 & 15, size = setup >> 8 & 3;
    if (size == 3 || setup >> 30)
        qpu_emu__hazard(e, q, QPU_HAZARD_VPM_SETUP, setup);
    return (struct vpm_access){.valid = true,
                               .horizontal = setup >> 11 & 1,
                               .laned = setup >> 10 & 1,
                               .size = (uint8_t)(size == 3 ? 2 : size),
                               .address = (uint8_t)setup,
                               .stride = (uint8_t)(stride ? stride : 64),
                               .left = count ? count : 16};
}

static void read_vector(const struct qpu_emulator *e, const struct vpm_access *access, struct qpu_lanes *out)
{
    for (unsigned i = 0; i < QPU_LANES; i++) {
        struct place place = place_of(access, i);
        out->v[i] = e->vpm[place.y][place.x] >> place.shift & element_mask(access);
    }
}

static void write_vector(struct qpu_emulator *e, const struct vpm_access *access, const struct qpu_lanes *in)
{
    for (unsigned i = 0; i < QPU_LANES; i++) {
        struct place place = place_of(access, i);
        uint32_t mask = element_mask(access) << place.shift, *word = &e->vpm[place.y][place.x];
        *word = (*word & ~mask) | (in->v[i] << place.shift & mask);
    }
}

/* The hardware reads ahead at a time of its own: with random interleave either now or when popped. */
static void begin_read(struct qpu_emulator *e, struct qpu *q)
{
    struct vpm_access ahead = q->vpm_read;
    q->prefetch = e->options.random_interleave && qpu_emu__random(e) & 1;
    q->prefetch_next = 0;
    for (unsigned i = 0; q->prefetch && i < ahead.left; i++) {
        read_vector(e, &ahead, &q->prefetched[i]);
        advance(&ahead);
    }
}

void qpu_emu__vpm_setup_read(struct qpu_emulator *e, struct qpu *q, uint32_t setup)
{
    struct vpm_access access = access_of(e, q, setup);
    q->read_setup_at = q->count;
    qpu_emu__vpm_land(e, q);
    if (!q->vpm_read.left) {
        q->vpm_read = access;
        begin_read(e, q);
    } else if (q->vpm_read.left == 1 && !q->vpm_next_read.left) {
        q->vpm_next_read = access;
    } else {
        qpu_emu__hazard(e, q, QPU_HAZARD_VPM_SECOND_SETUP, q->vpm_read.left);
    }
}

void qpu_emu__vpm_setup_write(struct qpu_emulator *e, struct qpu *q, uint32_t setup)
{
    q->vpm_write = access_of(e, q, setup);
}

void qpu_emu__vpm_pop(struct qpu_emulator *e, struct qpu *q, struct qpu_lanes *out)
{
    qpu_emu__vpm_land(e, q);
    if (q->prefetch)
        *out = q->prefetched[q->prefetch_next++ % 16];
    else
        read_vector(e, &q->vpm_read, out);
    advance(&q->vpm_read);
    if (--q->vpm_read.left == 0 && q->vpm_next_read.left) {
        q->vpm_read = q->vpm_next_read;
        q->vpm_next_read.left = 0;
        begin_read(e, q);
    }
}

void qpu_emu__vpm_push(struct qpu_emulator *e, struct qpu *q, const struct qpu_lanes *lanes)
{
    if (!q->vpm_write.valid) {
        qpu_emu__hazard(e, q, QPU_HAZARD_VPM_WRITE_WITHOUT_SETUP, 0);
        return;
    }
    if (q->held) {
        if (q->held_count == HELD_WRITES)
            qpu_emu__vpm_land(e, q);
        q->held[q->held_count++] = (struct held_write){q->vpm_write, *lanes};
    } else {
        write_vector(e, &q->vpm_write, lanes);
    }
    advance(&q->vpm_write);
}

void qpu_emu__vpm_land(struct qpu_emulator *e, struct qpu *q)
{
    for (unsigned i = 0; i < q->held_count; i++)
        write_vector(e, &q->held[i].access, &q->held[i].lanes);
    q->held_count = 0;
}

uint32_t qpu_emulator_vpm(const struct qpu_emulator *e, unsigned y, unsigned x)
{
    return e && y < VPM_ROWS && x < QPU_LANES ? e->vpm[y][x] : 0;
}
