/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* qpu-emu: runs programs for the VideoCore IV's QPUs on the emulator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "options.h"

enum { EXIT_ENDED, EXIT_FILE, EXIT_OPTION, EXIT_TRAP, EXIT_STUCK };

struct machine {
    struct qpu_emulator *emulator;
    uint8_t *memory[MOST_IMAGES]; /* one for each image option */
    uint32_t bytes[MOST_IMAGES];
    FILE *trace;
};

static int fail(int code, const char *text)
{
    fprintf(stderr, "qpu-emu: %s\n", text);
    return code;
}

static void print_step(void *context, const struct qpu_step *step)
{
    struct machine *machine = context;
    fprintf(machine->trace, "%10" PRIu64 " %2u %08" PRIx32 " %08" PRIx32 "_%08" PRIx32 "\n", step->clock, step->qpu,
            step->pc, (uint32_t)(step->word >> 32), (uint32_t)step->word);
}

static void fill_with_rubbish(uint8_t *memory, uint32_t bytes, uint64_t state)
{
    for (uint32_t i = 0; i < bytes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        memory[i] = (uint8_t)(state >> 56);
    }
}

static int load_image(struct machine *machine, const struct options *options, unsigned index)
{
    const struct image_option *image = &options->images[index];
    char error[IMAGE_ERROR], path[4096];
    size_t size = image->bytes;
    if (image->path) {
        if (image->path_length >= sizeof path)
            return fail(EXIT_FILE, "a file's name is too long");
        memcpy(path, image->path, image->path_length);
        path[image->path_length] = '\0';
        if (!image_read(path, &machine->memory[index], &size, error))
            return fail(EXIT_FILE, error);
    } else if (!(machine->memory[index] = calloc(1, size))) {
        return fail(EXIT_FILE, "not enough memory");
    } else if (options->emulator.poison) {
        fill_with_rubbish(machine->memory[index], image->bytes, options->emulator.seed + index);
    }
    machine->bytes[index] = (uint32_t)size;
    if (qpu_emulator_map(machine->emulator, image->address, machine->memory[index], (uint32_t)size)) {
        snprintf(error, sizeof error, "memory at 0x%08" PRIx32 " overlaps other memory or leaves the address space",
                 image->address);
        return fail(EXIT_OPTION, error);
    }
    return EXIT_ENDED;
}

/* The bytes to dump, or NULL where they are not in one region. */
static const uint8_t *dumped(const struct machine *machine, const struct options *options,
                             const struct dump_option *dump)
{
    for (unsigned i = 0; i < options->image_count; i++) {
        uint32_t offset = (dump->address - options->images[i].address) & 0x3fffffff;
        if (offset < machine->bytes[i] && machine->bytes[i] - offset >= dump->bytes)
            return machine->memory[i] + offset;
    }
    return NULL;
}

static int check_dumps(const struct machine *machine, const struct options *options)
{
    char error[IMAGE_ERROR];
    for (unsigned i = 0; i < options->dump_count; i++) {
        const struct dump_option *dump = &options->dumps[i];
        if (dumped(machine, options, dump))
            continue;
        snprintf(error, sizeof error, "--dump: 0x%08" PRIx32 ":%" PRIu32 " is not in one region of memory",
                 dump->address, dump->bytes);
        return fail(EXIT_OPTION, error);
    }
    return EXIT_ENDED;
}

static int write_dumps(const struct machine *machine, const struct options *options)
{
    char error[IMAGE_ERROR];
    for (unsigned i = 0; i < options->dump_count; i++) {
        const struct dump_option *dump = &options->dumps[i];
        if (!image_write(dump->path, dumped(machine, options, dump), dump->bytes, error))
            return fail(EXIT_FILE, error);
    }
    return EXIT_ENDED;
}

static void print_stats(const struct qpu_emulator *emulator, unsigned qpus)
{
    uint64_t total = 0, busiest = 0;
    for (unsigned i = 0; i < qpus; i++) {
        struct qpu_activity activity = qpu_emulator_activity(emulator, i);
        printf("QPU %u: %" PRIu64 " instructions, %" PRIu64 " clocks stalled\n", i, activity.instructions,
               activity.stall_clocks);
        total += activity.instructions;
        busiest = activity.instructions > busiest ? activity.instructions : busiest;
    }
    printf("instructions: %" PRIu64 " in all, %" PRIu64 " on the busiest QPU\n", total, busiest);
    printf("clocks: %" PRIu64 "\n", qpu_emulator_clocks(emulator));
    for (unsigned i = 0; i < QPU_EMULATOR_COUNTERS; i++)
        if (qpu_counter_name(i))
            printf("counter %u, %s: %" PRIu64 "\n", i, qpu_counter_name(i), qpu_emulator_counter(emulator, i));
    for (unsigned i = 1; i < QPU_HAZARD_COUNT; i++)
        if (qpu_emulator_hazards(emulator, (enum qpu_hazard)i))
            printf("hazard, %s: %" PRIu64 "\n", qpu_hazard_text((enum qpu_hazard)i),
                   qpu_emulator_hazards(emulator, (enum qpu_hazard)i));
}

static int report(const struct qpu_emulator *emulator, enum qpu_outcome outcome)
{
    struct qpu_trap trap = qpu_emulator_trap(emulator);
    const char *what = outcome == QPU_RUN_DEADLOCKED ? "deadlock" : outcome == QPU_RUN_LIMIT ? "too many clocks" : "";
    if (trap.hazard != QPU_HAZARD_NONE)
        fprintf(stderr,
                "qpu-emu: QPU %u at 0x%08" PRIx32 " (%08" PRIx32 "_%08" PRIx32 ", clock %" PRIu64 "): %s (0x%" PRIx32
                ")\n",
                trap.qpu, trap.pc, (uint32_t)(trap.word >> 32), (uint32_t)trap.word, trap.clock,
                qpu_hazard_text(trap.hazard), trap.detail);
    if (outcome == QPU_RUN_ENDED)
        return EXIT_ENDED;
    if (outcome == QPU_RUN_TRAPPED)
        return EXIT_TRAP;
    fprintf(stderr, "qpu-emu: %s at clock %" PRIu64 "; QPU %u is at 0x%08" PRIx32 "\n", what,
            qpu_emulator_clocks(emulator), trap.qpu, trap.pc);
    return EXIT_STUCK;
}

static int run(struct machine *machine, struct options *options)
{
    int code = EXIT_ENDED, written;
    if (options->trace) {
        if (!(machine->trace = fopen(options->trace, "w")))
            return fail(EXIT_FILE, "the trace file cannot be written");
        options->emulator.trace = print_step;
        options->emulator.trace_context = machine;
    }
    if (qpu_emulator_new(&machine->emulator, &options->emulator))
        return fail(EXIT_FILE, "not enough memory");
    for (unsigned i = 0; i < options->image_count && code == EXIT_ENDED; i++)
        code = load_image(machine, options, i);
    if (code == EXIT_ENDED)
        code = check_dumps(machine, options);
    if (code != EXIT_ENDED)
        return code;
    for (unsigned i = 0; i < options->emulator.qpus; i++)
        qpu_emulator_launch(machine->emulator, i, options->pc, options->uniforms[i]);
    code = report(machine->emulator, qpu_emulator_run(machine->emulator));
    if (options->stats)
        print_stats(machine->emulator, options->emulator.qpus);
    written = write_dumps(machine, options);
    code = code == EXIT_ENDED ? written : code;
    if (machine->trace && ferror(machine->trace) && code == EXIT_ENDED)
        code = fail(EXIT_FILE, "the trace file cannot be written");
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct machine machine = {NULL};
    char error[OPTION_ERROR];
    int code;
    if (!options_parse(&options, argc, argv, error))
        return fail(EXIT_OPTION, error);
    if (options.help) {
        fputs(options_usage, stdout);
        return 0;
    }
    code = run(&machine, &options);
    if (machine.trace)
        fclose(machine.trace);
    qpu_emulator_free(machine.emulator);
    for (unsigned i = 0; i < MOST_IMAGES; i++)
        free(machine.memory[i]);
    return code;
}
