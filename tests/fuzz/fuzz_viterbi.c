/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Descriptions of convolutional codes and what is decoded by them. Bytes: generators (two each), constraint, inverted,
 * end, soft, result, bits (two), the pattern's length, its characters, and soft bits, over and over again. A code that
 * is taken must decode a block as the plain decoder does, and encode it to as many bits as are said to be sent.
 */
#include "viterbi_plain.h"

#include <penstock/penstock.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 16, MOST_BITS = 200, MOST_CODED = 4 * (MOST_BITS + 8) };

static penstock_context *context;

static void require(bool good)
{
    if (!good)
        abort();
}

/* What was decoded from bytes for soft bits, one bit a byte. */
static void compare(const penstock_viterbi_desc *desc, const int8_t *sent, const uint8_t *bits)
{
    struct plain_code code = {.constraint = desc->constraint, .inverted = desc->inverted};
    const size_t steps = desc->bits + (desc->end == PENSTOCK_TRELLIS_ZERO ? desc->constraint - 1 : 0);
    const size_t period = strlen(desc->puncture);
    int8_t soft[MOST_CODED];
    uint8_t plain[MOST_BITS + 8];
    while (code.count < 4 && desc->generators[code.count]) {
        code.generators[code.count] = desc->generators[code.count];
        code.count++;
    }
    for (size_t i = 0; i < steps * code.count; i++)
        soft[i] = desc->puncture[i % period] == '1' ? *sent++ : 0;
    require(plain_decode(&code, plain, soft, steps, true, desc->end == PENSTOCK_TRELLIS_ZERO));
    require(!memcmp(plain, bits, desc->bits));
}

static void decode(const penstock_viterbi_desc *desc, const uint8_t *data, size_t size)
{
    static uint8_t soft[MOST_CODED * sizeof(float)], out[MOST_BITS], coded[MOST_CODED + 1];
    penstock_plan *plan;
    size_t sent;
    if (penstock_viterbi_sent(&sent, desc)) {
        require(penstock_viterbi_plan(&plan, context, desc, "cpu") == PENSTOCK_ERR_ARGUMENT && !plan);
        return;
    }
    require(sent > 0 && sent <= MOST_CODED);
    for (size_t i = 0; i < sizeof soft; i++)
        soft[i] = size ? data[i % size] : 0;
    require(!penstock_viterbi_plan(&plan, context, desc, "cpu") && !penstock_plan_run(plan, soft, out, 1));
    penstock_plan_free(plan);
    if (desc->result == PENSTOCK_BITS_UNPACKED && desc->soft == PENSTOCK_SOFT_S8 && desc->constraint &&
        desc->puncture && desc->generators[0] && desc->end != PENSTOCK_TRELLIS_TAIL_BITING)
        compare(desc, (const int8_t *)soft, out);
    memset(coded, 0xaa, sizeof coded);
    require(!penstock_viterbi_encode(desc, coded, out, 1) && coded[sent] == 0xaa && coded[sent - 1] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char pattern[PENSTOCK_MAX_PUNCTURE + 2] = "", name[8] = "";
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC();
    size_t length;
    if (!context && penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "")))
        return 0;
    if (size < HEAD)
        return 0;
    memcpy(name, data, sizeof name - 1);
    (void)penstock_viterbi_code(&desc, name);
    desc =
        PENSTOCK_VITERBI_DESC(.constraint = data[8], .inverted = data[9], .end = (penstock_trellis_end)(data[10] % 4),
                              .soft = (penstock_soft)(data[11] % 4), .result = (penstock_bits)(data[12] % 4),
                              .bits = (size_t)(data[13] | data[14] << 8) % (MOST_BITS + 1));
    for (unsigned g = 0; g < 4; g++)
        desc.generators[g] = data[2 * g] | (unsigned)data[2 * g + 1] << 8;
    length = data[15] < size - HEAD ? data[15] : size - HEAD;
    for (size_t i = 0; i < length; i++)
        pattern[i] = (char)(data[HEAD + i] < 2 ? '0' + data[HEAD + i] : data[HEAD + i]);
    desc.puncture = length ? pattern : NULL;
    decode(&desc, data + HEAD + length, size - HEAD - length);
    return 0;
}
