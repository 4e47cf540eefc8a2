/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_usage[] =
    "Usage: qpu-emu --code FILE@ADDR --qpus N --pc ADDR --uniforms ADDR[,ADDR...] [OPTION...]\n"
    "Runs VideoCore IV QPU programs. A FILE ending in .hex holds words as text, any other raw bytes.\n"
    "\n"
    "  --code FILE@ADDR              put a file at an address\n"
    "  --mem FILE@ADDR               the same, for data\n"
    "  --mem ADDR:BYTES              empty memory\n"
    "  --qpus N                      1 to 12 QPUs, all starting at the same address\n"
    "  --pc ADDR                     where they start\n"
    "  --uniforms ADDR[,ADDR...]     address of the uniforms of each QPU\n"
    "  --dump ADDR:BYTES:FILE        write memory to a file after the run\n"
    "  --strict | --lenient          stop at the first hazard (default), or count hazards and go on\n"
    "  --seed S                      of everything random\n"
    "  --interleave round|random     all QPUs in step (default), or pausing at random\n"
    "  --vdw soon|late               DMA when started (default), or as late as it is waited for\n"
    "  --vpm now|hold                VPM writes land at once (default), or at read-back and stores\n"
    "  --poison                      registers, VPM and empty memory start with rubbish\n"
    "  --cache off|real|never-evict  real is the default\n"
    "  --trace FILE                  a line for each instruction: clock, QPU, address, word\n"
    "  --stats                       instructions, clocks and counters\n"
    "  --max-cycles N                clocks until giving up (default 4294967296)\n"
    "  --help\n"
    "\n"
    "Exit code: 0 all QPUs ended, 1 a file failed, 2 a wrong option, 3 a hazard, 4 a deadlock or too many clocks.\n";

static bool wrong(char error[OPTION_ERROR], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, OPTION_ERROR, format, arguments);
    va_end(arguments);
    return false;
}

/* A whole number, decimal or 0x..., at *text; *text moves behind it. */
static bool number(const char **text, uint64_t most, uint64_t *value)
{
    char *end;
    int base = (*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X') ? 16 : 10;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *value = strtoull(*text, &end, base);
    if (errno || end == *text || *value > most)
        return false;
    *text = end;
    return true;
}

static bool word(const char **text, uint32_t *value)
{
    uint64_t wide;
    if (!number(text, UINT32_MAX, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}

static bool parse_image(struct options *o, const char *name, const char *text, bool file_only, char *error)
{
    struct image_option *image = &o->images[o->image_count];
    const char *at = strrchr(text, '@'), *rest = text;
    if (o->image_count == MOST_IMAGES)
        return wrong(error, "%s: at most %d regions of memory", name, MOST_IMAGES);
    if (at) {
        rest = at + 1;
        if (at == text || !word(&rest, &image->address) || *rest || image->address & 3)
            return wrong(error, "%s %s: expected FILE@ADDR, ADDR a multiple of 4", name, text);
        image->path = text;
        image->path_length = (size_t)(at - text);
    } else if (file_only || !word(&rest, &image->address) || *rest++ != ':' || !word(&rest, &image->bytes) || *rest ||
               !image->bytes || (image->address | image->bytes) & 3) {
        return wrong(error, "%s %s: expected FILE@ADDR%s", name, text,
                     file_only ? "" : " or ADDR:BYTES, numbers multiples of 4");
    }
    o->image_count++;
    return true;
}

static bool parse_dump(struct options *o, const char *name, const char *text, char *error)
{
    struct dump_option *dump = &o->dumps[o->dump_count];
    const char *rest = text;
    if (o->dump_count == MOST_DUMPS)
        return wrong(error, "%s: at most %d of them", name, MOST_DUMPS);
    if (!word(&rest, &dump->address) || *rest++ != ':' || !word(&rest, &dump->bytes) || *rest++ != ':' || !*rest ||
        !dump->bytes)
        return wrong(error, "%s %s: expected ADDR:BYTES:FILE", name, text);
    dump->path = rest;
    o->dump_count++;
    return true;
}

static bool parse_uniforms(struct options *o, const char *name, const char *text, char *error)
{
    const char *rest = text;
    for (o->uniform_count = 0; o->uniform_count < QPU_EMULATOR_QPUS; rest++) {
        if (!word(&rest, &o->uniforms[o->uniform_count]) || (*rest && *rest != ','))
            break;
        o->uniform_count++;
        if (!*rest)
            return true;
    }
    return wrong(error, "%s %s: expected up to %d addresses separated by commas", name, text, QPU_EMULATOR_QPUS);
}

/* The index of `text` in a list that ends with NULL, or -1. */
static int choice(const char *text, const char *const *choices)
{
    for (int i = 0; choices[i]; i++)
        if (strcmp(text, choices[i]) == 0)
            return i;
    return -1;
}

static bool parse_mode(struct options *o, const char *name, const char *text, char *error)
{
    static const char *const interleaves[] = {"round", "random", NULL}, *const stores[] = {"soon", "late", NULL};
    static const char *const writes[] = {"now", "hold", NULL};
    static const char *const caches[] = {
        [QPU_CACHE_REAL] = "real", [QPU_CACHE_OFF] = "off", [QPU_CACHE_NEVER_EVICT] = "never-evict", NULL};
    int index;
    if (strcmp(name, "--interleave") == 0) {
        index = choice(text, interleaves);
        o->emulator.random_interleave = index == 1;
    } else if (strcmp(name, "--vdw") == 0) {
        index = choice(text, stores);
        o->emulator.late_dma = index == 1;
    } else if (strcmp(name, "--vpm") == 0) {
        index = choice(text, writes);
        o->emulator.hold_vpm = index == 1;
    } else {
        index = choice(text, caches);
        o->emulator.cache = (enum qpu_cache_mode)(index < 0 ? 0 : index);
    }
    return index >= 0 || wrong(error, "%s %s: no such mode; see --help", name, text);
}

static bool parse_number(struct options *o, const char *name, const char *text, char *error)
{
    const char *rest = text;
    uint64_t value;
    bool good = number(&rest, UINT64_MAX, &value) && !*rest;
    if (strcmp(name, "--qpus") == 0) {
        if (!good || value < 1 || value > QPU_EMULATOR_QPUS)
            return wrong(error, "%s %s: expected 1 to %d", name, text, QPU_EMULATOR_QPUS);
        o->emulator.qpus = (unsigned)value;
    } else if (strcmp(name, "--pc") == 0) {
        if (!good || value > UINT32_MAX || value & 7)
            return wrong(error, "%s %s: expected an address, a multiple of 8", name, text);
        o->pc = (uint32_t)value;
        o->has_pc = true;
    } else if (strcmp(name, "--seed") == 0) {
        if (!good)
            return wrong(error, "%s %s: expected a number", name, text);
        o->emulator.seed = value;
    } else {
        if (!good || !value)
            return wrong(error, "%s %s: expected a number of clocks", name, text);
        o->emulator.max_clocks = value;
    }
    return true;
}

static bool parse_flag(struct options *o, const char *name)
{
    static const char *const flags[] = {"--strict", "--lenient", "--poison", "--stats", "--help", NULL};
    int index = choice(name, flags);
    if (index == 0 || index == 1)
        o->emulator.lenient = index == 1;
    o->emulator.poison |= index == 2;
    o->stats |= index == 3;
    o->help |= index == 4;
    return index >= 0;
}

static bool parse_value(struct options *o, const char *name, const char *text, char *error)
{
    static const char *const modes[] = {"--interleave", "--vdw", "--vpm", "--cache", NULL};
    static const char *const numbers[] = {"--qpus", "--pc", "--seed", "--max-cycles", NULL};
    if (strcmp(name, "--code") == 0) {
        o->has_code = true;
        return parse_image(o, name, text, true, error);
    }
    if (strcmp(name, "--mem") == 0)
        return parse_image(o, name, text, false, error);
    if (strcmp(name, "--dump") == 0)
        return parse_dump(o, name, text, error);
    if (strcmp(name, "--uniforms") == 0)
        return parse_uniforms(o, name, text, error);
    if (strcmp(name, "--trace") == 0) {
        o->trace = text;
        return true;
    }
    if (choice(name, modes) >= 0)
        return parse_mode(o, name, text, error);
    return parse_number(o, name, text, error) && choice(name, numbers) >= 0;
}

static bool takes_value(const char *name)
{
    static const char *const names[] = {"--code", "--mem",   "--dump", "--uniforms", "--trace", "--interleave", "--vdw",
                                        "--vpm",  "--cache", "--qpus", "--pc",       "--seed",  "--max-cycles", NULL};
    return choice(name, names) >= 0;
}

static bool check(const struct options *o, char *error)
{
    if (!o->has_code || !o->has_pc || !o->emulator.qpus || !o->uniform_count)
        return wrong(error, "--code, --qpus, --pc and --uniforms are needed; see --help");
    if (o->uniform_count != o->emulator.qpus)
        return wrong(error, "--uniforms gives %u addresses for %u QPUs", o->uniform_count, o->emulator.qpus);
    return true;
}

bool options_parse(struct options *o, int argc, char **argv, char error[OPTION_ERROR])
{
    memset(o, 0, sizeof *o);
    for (int i = 1; i < argc; i++) {
        if (parse_flag(o, argv[i]))
            continue;
        if (!takes_value(argv[i]))
            return wrong(error, "%s: no such option; see --help", argv[i]);
        if (i + 1 == argc)
            return wrong(error, "%s: expected a value", argv[i]);
        if (!parse_value(o, argv[i], argv[i + 1], error))
            return false;
        i++;
    }
    return o->help || check(o, error);
}
