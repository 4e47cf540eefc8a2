/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Float operations of the emulated QPU against exact arithmetic: numbers as integers of 320 bits in units of 2^-149,
 * cut to 24 digits by looking at their binary digits. Nothing here uses floating point.
 */
#include "emu/alu.h"
#include "isa.h"
#include "test.h"

enum { LIMBS = 20, CORNERS = 34 };

/* Magnitude in limbs of 16 bits, least first. */
struct big {
    uint32_t limb[LIMBS];
    bool negative;
};

static const uint32_t INFINITE = 0x7f800000u, SIGN = 0x80000000u;

static bool is_255(uint32_t x)
{
    return (x >> 23 & 255) == 255;
}

static struct big big_of(uint32_t x)
{
    struct big b = {.negative = x >> 31};
    unsigned exponent = x >> 23 & 255, shift;
    if (!exponent)
        return (struct big){.negative = false};
    shift = exponent - 1;
    for (unsigned bit = 0; bit < 24; bit++)
        if (((x & 0x7fffff) | 0x800000) >> bit & 1)
            b.limb[(shift + bit) / 16] |= UINT32_C(1) << (shift + bit) % 16;
    return b;
}

static int compare(const struct big *a, const struct big *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static struct big big_sum(const struct big *a, const struct big *b)
{
    const struct big *large = compare(a, b) >= 0 ? a : b, *small = large == a ? b : a;
    struct big out = {.negative = large->negative};
    int32_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        int32_t digit = (int32_t)large->limb[i] + carry;
        digit += a->negative == b->negative ? (int32_t)small->limb[i] : -(int32_t)small->limb[i];
        carry = digit < 0 ? -1 : digit >> 16;
        out.limb[i] = (uint32_t)(digit - carry * 65536);
    }
    return out;
}

/* The float next to zero from `b` whose least digit weighs 2^(scale - 149). */
static uint32_t cut(const struct big *b, int scale)
{
    int top = LIMBS * 16 - 1, exponent;
    uint32_t mantissa = 0;
    while (top >= 0 && !(b->limb[top / 16] >> top % 16 & 1))
        top--;
    if (top < 0)
        return 0;
    for (int i = 0; i < 24; i++)
        mantissa = mantissa << 1 | (top - i >= 0 ? b->limb[(top - i) / 16] >> (top - i) % 16 & 1 : 0);
    exponent = top + scale - 22;
    if (exponent <= 0)
        return 0;
    if (exponent >= 255)
        return INFINITE | (b->negative ? SIGN : 0);
    return (b->negative ? SIGN : 0) | (uint32_t)exponent << 23 | (mantissa & 0x7fffff);
}

static uint32_t model_add(uint32_t a, uint32_t b)
{
    struct big x = big_of(a), y = big_of(b), z;
    if (is_255(b))
        return INFINITE | (b & SIGN);
    if (is_255(a))
        return INFINITE | (a & SIGN);
    z = big_sum(&x, &y);
    return cut(&z, 0);
}

static uint32_t model_mul(uint32_t a, uint32_t b)
{
    unsigned ea = a >> 23 & 255, eb = b >> 23 & 255;
    uint64_t product = (uint64_t)((a & 0x7fffff) | 0x800000) * ((b & 0x7fffff) | 0x800000);
    struct big z = {.negative = (a ^ b) >> 31};
    if (!ea || !eb)
        return 0;
    if (ea == 255 || eb == 255)
        return INFINITE | ((a ^ b) & SIGN);
    for (int i = 0; i < 4; i++)
        z.limb[i] = (uint32_t)(product >> 16 * i & 0xffff);
    return cut(&z, (int)(ea + eb) - 2 - 149); /* each factor's unit weighs 2^(e - 150) */
}

static uint32_t model_itof(uint32_t a)
{
    uint32_t magnitude = a & SIGN ? 0 - a : a;
    struct big z = {.limb = {magnitude & 0xffff, magnitude >> 16}, .negative = a >> 31};
    return cut(&z, 149);
}

static uint32_t model_ftoi(uint32_t a)
{
    struct big z = big_of(a);
    uint64_t whole = 0;
    for (int bit = LIMBS * 16 - 1; bit >= 149; bit--) {
        whole = whole << 1 | (z.limb[bit / 16] >> bit % 16 & 1);
        if (whole >> 31)
            return 0;
    }
    return a >> 31 ? 0 - (uint32_t)whole : (uint32_t)whole;
}

static uint32_t model_extreme(uint32_t a, uint32_t b, bool absolute, bool larger, bool *greater)
{
    int64_t x, y;
    if (absolute) {
        a &= ~SIGN;
        b &= ~SIGN;
    }
    x = a & SIGN ? -(int64_t)(a & ~SIGN) : (int64_t)a;
    y = b & SIGN ? -(int64_t)(b & ~SIGN) : (int64_t)b;
    *greater = x > y;
    return larger ? (*greater ? a : b) : (*greater ? b : a);
}

static const uint32_t corners[CORNERS] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00800001, 0x00ffffff,
    0x01000000, 0x33800000, 0x34000000, 0x3effffff, 0x3f000000, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001,
    0x4b000000, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0x7e800000, 0x7f000000, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x7fffffff, 0xffffffff,
};

/* Every pair of corners, then random pairs: of any bits, of near exponents, with few digits. */
static void draw(uint64_t index, uint64_t *state, uint32_t *a, uint32_t *b)
{
    uint64_t r = test_random(state), s = test_random(state);
    if (index < CORNERS * CORNERS) {
        *a = corners[index / CORNERS];
        *b = corners[index % CORNERS];
        return;
    }
    *a = (uint32_t)r;
    *b = (uint32_t)(r >> 32);
    switch (index & 3) {
    case 0:
        break;
    case 1: /* exponents up to 31 apart */
        *b = (*b & 0x807fffff) | (((*a >> 23 & 255) + (uint32_t)(s & 63) - 32) & 255) << 23;
        break;
    case 2: /* nearly opposite */
        *b = *a ^ SIGN ^ (uint32_t)(UINT64_C(1) << (s & 31)) ^ (uint32_t)(s >> 62);
        break;
    default:
        *a &= UINT32_MAX << (s & 23);
        *b &= UINT32_MAX << (s >> 8 & 23);
        if (s & 0x10000)
            *a = corners[(s >> 20) % CORNERS];
    }
}

struct want {
    uint32_t value;
    bool carry;
};

static struct want model(unsigned op, uint32_t a, uint32_t b)
{
    struct want want = {0, false};
    switch (op) {
    case QPU_FADD:
    case QPU_FSUB:
        want.value = model_add(a, op == QPU_FSUB ? b ^ SIGN : b);
        want.carry = want.value != 0 && !(want.value & SIGN);
        break;
    case QPU_FTOI:
        want.value = is_255(a) ? 0 : model_ftoi(a);
        break;
    case QPU_ITOF:
        want.value = model_itof(a);
        want.carry = a != 0 && !(a & SIGN);
        break;
    default:
        want.value = model_extreme(a, b, op >= QPU_FMINABS, op == QPU_FMAX || op == QPU_FMAXABS, &want.carry);
    }
    return want;
}

static void sweep(unsigned op, bool mul, uint64_t pairs)
{
    const char *name = mul ? qpu_mul_op_name(op) : qpu_add_op_name(op);
    uint64_t state = 7 + op + 100 * (uint64_t)mul;
    for (uint64_t first = 0; first < pairs; first += QPU_LANES) {
        struct qpu_lanes a, b, out;
        uint16_t carry;
        for (unsigned i = 0; i < QPU_LANES; i++)
            draw(first + i, &state, &a.v[i], &b.v[i]);
        if (mul)
            qpu_emu__mul_alu(op, &a, &b, &out);
        else
            qpu_emu__add_alu(op, &a, &b, &out);
        carry = mul ? qpu_emu__mul_carry(op, &a, &b) : qpu_emu__add_carry(op, &a, &b, &out);
        for (unsigned i = 0; i < QPU_LANES; i++) {
            struct want want = mul ? (struct want){model_mul(a.v[i], b.v[i]), false} : model(op, a.v[i], b.v[i]);
            CHECK(out.v[i] == want.value && (carry >> i & 1) == want.carry, "%s %08x %08x: %08x carry %d, want %08x %d",
                  name, a.v[i], b.v[i], out.v[i], carry >> i & 1, want.value, want.carry);
        }
    }
}

static void fact(unsigned op, uint32_t a, uint32_t b, uint32_t want)
{
    struct qpu_lanes x, y, out;
    for (int i = 0; i < QPU_LANES; i++) {
        x.v[i] = a;
        y.v[i] = b;
    }
    qpu_emu__add_alu(op, &x, &y, &out);
    CHECK(out.v[7] == want, "%s %08x %08x: %08x, want %08x", qpu_add_op_name(op), a, b, out.v[7], want);
}

int main(void)
{
    uint64_t pairs = getenv("PENSTOCK_TEST_FULL") ? 10000000 : 1000000;
    fact(QPU_FSUB, 0x70000000, 0x3f800000, 0x6fffffff); /* 2^97 - 1 */
    fact(QPU_FADD, 0x3f800000, 0x90000000, 0x3f7fffff); /* 1 - 2^-95 */
    fact(QPU_FADD, 0x7f800000, 0xff800000, 0xff800000); /* the second sign wins */
    fact(QPU_FSUB, 0xff800000, 0xff800000, 0x7f800000); /* inverted by subtraction */
    fact(QPU_FADD, 0x7fc12345, 0x3f800000, 0x7f800000); /* never NaN */
    fact(QPU_ITOF, 0x7fffffff, 0, 0x4effffff);
    fact(QPU_FTOI, 0x4f000000, 0, 0);
    fact(QPU_FTOI, 0xbfffffff, 0, 0xffffffff); /* -1.99.. */
    fact(QPU_FADD, 0x00000001, 0x80000000, 0);
    for (unsigned op = QPU_FADD; op <= QPU_ITOF; op++)
        sweep(op, false, pairs);
    sweep(QPU_FMUL, true, pairs);
    return test_finish();
}
