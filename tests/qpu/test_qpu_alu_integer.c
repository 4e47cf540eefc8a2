/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Integer and byte operations of the emulated QPU against 64-bit arithmetic, one digit or byte at a time. */
#include "emu/alu.h"
#include "isa.h"
#include "test.h"

struct want {
    uint32_t value;
    bool carry;
};

static int64_t as_signed(uint32_t x)
{
    return x >= 0x80000000u ? (int64_t)x - 0x100000000 : (int64_t)x;
}

static uint32_t bit(uint32_t x, int index)
{
    return index >= 0 && index < 32 ? x >> index & 1 : 0;
}

/* Bit by bit; what leaves last is the carry. */
static struct want shifted(unsigned op, uint32_t x, uint32_t by)
{
    struct want want = {0, false};
    int n = (int)(by & 31);
    for (int i = 0; i < 32; i++) {
        uint32_t from;
        if (op == QPU_SHL)
            from = bit(x, i - n);
        else if (op == QPU_ROR)
            from = bit(x, (i + n) % 32);
        else
            from = i + n < 32 || op == QPU_SHR ? bit(x, i + n) : bit(x, 31);
        want.value |= from << i;
    }
    if (n && op != QPU_ROR)
        want.carry = op == QPU_SHL ? bit(x, 32 - n) : bit(x, n - 1);
    return want;
}

static uint32_t bytes(unsigned kind, uint32_t a, uint32_t b)
{
    uint32_t out = 0;
    for (int i = 0; i < 32; i += 8) {
        int x = (int)(a >> i & 255), y = (int)(b >> i & 255), z = 0;
        switch (kind) {
        case QPU_V8MULD:
            z = (x * y + 127) / 255;
            break;
        case QPU_V8MIN:
            z = x < y ? x : y;
            break;
        case QPU_V8MAX:
            z = x < y ? y : x;
            break;
        case QPU_MUL_V8ADDS:
            z = x + y > 255 ? 255 : x + y;
            break;
        default:
            z = x - y < 0 ? 0 : x - y;
        }
        out |= (uint32_t)z << i;
    }
    return out;
}

static struct want model_add(unsigned op, uint32_t a, uint32_t b)
{
    struct want want = {0, false};
    switch (op) {
    case QPU_ADD:
        return (struct want){(uint32_t)(((uint64_t)a + b) % 0x100000000), (uint64_t)a + b > 0xffffffff};
    case QPU_SUB:
        return (struct want){(uint32_t)(((uint64_t)a + 0x100000000 - b) % 0x100000000), (int64_t)a - (int64_t)b < 0};
    case QPU_SHR:
    case QPU_ASR:
    case QPU_ROR:
    case QPU_SHL:
        return shifted(op, a, b);
    case QPU_MIN:
        return (struct want){as_signed(a) <= as_signed(b) ? a : b, as_signed(a) > as_signed(b)};
    case QPU_MAX:
        return (struct want){as_signed(a) <= as_signed(b) ? b : a, as_signed(a) > as_signed(b)};
    case QPU_CLZ:
        while (want.value < 32 && !bit(a, 31 - (int)want.value))
            want.value++;
        return want;
    case QPU_ADD_V8ADDS:
        return (struct want){bytes(QPU_MUL_V8ADDS, a, b), false};
    case QPU_ADD_V8SUBS:
        return (struct want){bytes(QPU_MUL_V8SUBS, a, b), false};
    default:
        for (int i = 0; i < 32; i++) {
            uint32_t x = bit(a, i), y = bit(b, i);
            uint32_t z = op == QPU_AND ? x * y : op == QPU_OR ? x + y - x * y : op == QPU_XOR ? x != y : 1 - x;
            want.value |= z << i;
        }
        return want;
    }
}

static struct want model_mul(unsigned op, uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)(a % 0x1000000) * (b % 0x1000000);
    if (op == QPU_MUL24)
        return (struct want){(uint32_t)(product % 0x100000000), product >= 0x100000000};
    return (struct want){bytes(op, a, b), false};
}

static uint32_t draw(uint64_t *state)
{
    static const uint32_t corners[] = {0,          1,          2,          31,         32,        33,
                                       127,        128,        255,        256,        0xffff,    0x7fffffff,
                                       0x80000000, 0x80000001, 0xffffffff, 0x00ffffff, 0x1000000, 0x80ff7f01};
    uint64_t r = test_random(state);
    if ((r >> 60) < 4)
        return corners[r % (sizeof corners / sizeof *corners)];
    return (uint32_t)r >> ((r >> 60) < 8 ? r >> 32 & 31 : 0);
}

static void sweep(unsigned op, bool mul, uint64_t pairs)
{
    const char *name = mul ? qpu_mul_op_name(op) : qpu_add_op_name(op);
    uint64_t state = 99 + op + 100 * (uint64_t)mul;
    for (uint64_t first = 0; first < pairs; first += QPU_LANES) {
        struct qpu_lanes a, b, out;
        uint16_t carry;
        for (int i = 0; i < QPU_LANES; i++) {
            a.v[i] = draw(&state);
            b.v[i] = draw(&state);
        }
        if (mul)
            qpu_emu__mul_alu(op, &a, &b, &out);
        else
            qpu_emu__add_alu(op, &a, &b, &out);
        carry = mul ? qpu_emu__mul_carry(op, &a, &b) : qpu_emu__add_carry(op, &a, &b, &out);
        for (int i = 0; i < QPU_LANES; i++) {
            struct want want = mul ? model_mul(op, a.v[i], b.v[i]) : model_add(op, a.v[i], b.v[i]);
            CHECK(out.v[i] == want.value && (carry >> i & 1) == want.carry, "%s %08x %08x: %08x carry %d, want %08x %d",
                  name, a.v[i], b.v[i], out.v[i], carry >> i & 1, want.value, want.carry);
        }
    }
}

int main(void)
{
    uint64_t pairs = getenv("PENSTOCK_TEST_FULL") ? 10000000 : 1000000;
    for (unsigned op = QPU_ADD; op < 32; op++)
        if (qpu_add_op_name(op))
            sweep(op, false, pairs);
    for (unsigned op = QPU_MUL24; op <= QPU_MUL_V8SUBS; op++)
        sweep(op, true, pairs);
    return test_finish();
}
