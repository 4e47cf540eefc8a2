/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The QPUs' host side on the emulated board: what it says of each refusal, programs, caches, time-outs and leaks. */

#include "as/assembler.h"
#include "host/device.h"
#include "host/emulated.h"
#include "host/model.h"
#include "test.h"

#include <errno.h>

/* Uniforms: where to store, a number, where to load from. Stores number + element + the loaded word. */
static const char PROGRAM[] = "mov ra0, unif\n"
                              "mov ra1, unif\n"
                              "mov t0s, unif\n"
                              "ldtmu0\n"
                              "mov r1, elem_num\n"
                              "add r0, ra1, r1\n"
                              "add r0, r0, r4\n"
                              "mov ra2, unif\n" /* this job's row of the VPM */
                              "ldi r2, 0x1a00\n"
                              "add vw_setup, ra2, r2\n"
                              "mov vpm, r0\n"
                              "ldi r1, 0x80904000\n"
                              "mov r3, ra2\n"
                              "shl r3, r3, 7\n"
                              "add r1, r1, r3\n"
                              "mov -, mutex_acq\n"
                              "ldi vw_setup, 0xc0000000\n"
                              "mov vw_setup, r1\n"
                              "mov vw_addr, ra0\n"
                              "mov -, vw_wait\n"
                              "mov mutex_rel, 0\n"
                              "nop; thrend\nnop\nnop\n";

enum { CODE = 0, UNIFORMS = 1024, SOURCE = 2048, RESULTS = 3072, BYTES = 8192 };

struct board {
    struct qpu_emulated_report report;
    struct qpu_device *device;
    struct qpu_memory memory;
};

static void board_close(struct board *board)
{
    qpu_memory_free(board->device, &board->memory);
    qpu_device_close(board->device);
    CHECK_EQ(board->report.allocations, 0);
    CHECK_EQ(board->report.locks, 0);
    CHECK_EQ(board->report.maps, 0);
    CHECK(!board->report.enabled, "the QPUs were left on");
}

static bool board_open(struct board *board, const char *program, struct qpu_emulated_options options)
{
    char reason[QPU_REASON];
    struct qpu_program code;
    options.report = &board->report;
    board->device = NULL;
    CHECK_EQ(qpu_device_open(&board->device, qpu_platform_emulated(&options), reason), QPU_HOST_OK);
    if (!board->device)
        return false;
    CHECK_EQ(qpu_memory_alloc(board->device, &board->memory, BYTES), QPU_HOST_OK);
    CHECK_EQ(qpu_assemble(&code, "test", program, strlen(program), NULL), 0);
    CHECK(code.size && code.size <= UNIFORMS - CODE, "%zu bytes of code", code.size);
    memcpy((char *)board->memory.host + CODE, code.bytes, code.size);
    qpu_program_free(&code);
    return true;
}

static uint32_t *words(const struct board *board, size_t offset)
{
    return (uint32_t *)(void *)((char *)board->memory.host + offset);
}

/* Runs PROGRAM on `qpus` QPUs; job i stores 1000 i + element + the word at SOURCE + 4 i. */
static int run_jobs(struct board *board, unsigned qpus, unsigned timeout_ms)
{
    uint32_t uniforms[QPU_MOST_QPUS];
    for (unsigned i = 0; i < qpus; i++) {
        uint32_t *job = words(board, UNIFORMS) + 4 * i;
        uniforms[i] = board->memory.bus + UNIFORMS + 16 * i;
        job[0] = board->memory.bus + RESULTS + 64 * i;
        job[1] = 1000 * i;
        job[2] = board->memory.bus + SOURCE + 4 * i;
        job[3] = i;
    }
    memset(words(board, RESULTS), 0xff, (size_t)64 * qpus);
    return qpu_device_run(board->device, board->memory.bus + CODE, uniforms, qpus, timeout_ms);
}

static void check_results(const struct board *board, unsigned qpus)
{
    for (unsigned i = 0; i < qpus; i++)
        for (unsigned j = 0; j < 16; j++)
            CHECK_EQ(words(board, RESULTS)[16 * i + j], 1000 * i + j + words(board, SOURCE)[i]);
}

static void check_programs(enum qpu_launch launch)
{
    struct board board;
    struct qpu_emulated_options options = {.emulator.cache = QPU_CACHE_NEVER_EVICT};
    if (!board_open(&board, PROGRAM, options))
        return;
    CHECK_EQ(qpu_device_qpus(board.device), 12);
    CHECK_EQ(qpu_device_clock_hz(board.device), 300000000);
    CHECK(strstr(qpu_device_model(board.device), "Raspberry Pi 3"), "%s", qpu_device_model(board.device));
    qpu_device_set_launch(board.device, launch);
    for (unsigned qpus = 1; qpus <= 12; qpus++) {
        for (unsigned i = 0; i < qpus; i++) /* changed between runs: the caches have to be cleared */
            words(&board, SOURCE)[i] = 7777 * i + qpus;
        CHECK(run_jobs(&board, qpus, 1000) == QPU_HOST_OK, "%s (%s)", qpu_device_error(board.device),
              qpu_hazard_text(board.report.trap.hazard));
        check_results(&board, qpus);
    }
    CHECK_EQ(board.report.launches, 12 * 13 / 2);
    board_close(&board);
}

/* ---- refusals */

static void check_refusal(struct qpu_emulated_options options, const char *words_of_it)
{
    struct qpu_emulated_report report;
    struct qpu_device *device;
    char reason[QPU_REASON] = "";
    options.report = &report;
    options.gpu_memory_bytes = options.gpu_memory_bytes ? options.gpu_memory_bytes : 1 << 16;
    CHECK_EQ(qpu_device_open(&device, qpu_platform_emulated(&options), reason), QPU_HOST_ABSENT);
    CHECK(!device && strstr(reason, words_of_it) && !strchr(reason, '\n'), "\"%s\" without \"%s\"", reason,
          words_of_it);
    CHECK(!report.allocations && !report.locks && !report.maps && !report.enabled, "something is left after: %s",
          reason);
}

static void check_refusals(void)
{
    check_refusal((struct qpu_emulated_options){.compatible = ""}, "not a Raspberry Pi");
    check_refusal((struct qpu_emulated_options){.compatible = "acme,board"}, "not a Raspberry Pi");
    check_refusal((struct qpu_emulated_options){.compatible = "brcm,bcm2711", .model = "Raspberry Pi 4 Model B"},
                  "Raspberry Pi 4 Model B has another GPU");
    check_refusal((struct qpu_emulated_options){.revision = 0xc03111}, "board revision c03111");
    check_refusal((struct qpu_emulated_options){.mailbox_errno = ENOENT}, "/dev/vcio is absent");
    check_refusal((struct qpu_emulated_options){.mailbox_errno = EACCES}, "run as root");
    check_refusal((struct qpu_emulated_options){.mailbox_errno = EIO}, "does not answer");
    check_refusal((struct qpu_emulated_options){.kms = true}, "vc4-kms-v3d");
    check_refusal((struct qpu_emulated_options){.memory_errno = EACCES}, "iomem=relaxed");
    check_refusal((struct qpu_emulated_options){.memory_errno = ENOENT}, "/dev/mem");
    check_refusal((struct qpu_emulated_options){.silent = true}, "0xdeadbeef");
    check_refusal((struct qpu_emulated_options){.vpm_units = 8}, "8 of 16");
    check_refusal((struct qpu_emulated_options){.reserved_qpus = 12}, "reserved");
    check_refusal((struct qpu_emulated_options){.gpu_memory_bytes = 2048}, "gpu_mem");
}

static void check_no_pi(void)
{
    char reason[QPU_REASON], model[64] = "";
    struct qpu_device *device = NULL;
    FILE *file = fopen("/proc/device-tree/model", "r");
    if (file) {
        CHECK(fgets(model, sizeof model, file) != NULL, "an empty model");
        fclose(file);
    }
    if (strstr(model, "Raspberry"))
        return; /* on a board the firmware decides, not this test */
    CHECK_EQ(qpu_device_open(&device, qpu_platform_pi(), reason), QPU_HOST_ABSENT);
    CHECK(!device && strstr(reason, "not a Raspberry Pi"), "%s", reason);
}

static void check_reserved(void)
{
    struct board board;
    if (!board_open(&board, PROGRAM, (struct qpu_emulated_options){.reserved_qpus = 9}))
        return;
    CHECK_EQ(qpu_device_qpus(board.device), 3);
    CHECK_EQ(run_jobs(&board, 4, 10), QPU_HOST_ARGUMENT);
    CHECK_EQ(run_jobs(&board, 3, 10), QPU_HOST_OK);
    check_results(&board, 3);
    board_close(&board);
}

/* ---- programs that do not end */

static void check_lost(const char *program, enum qpu_launch launch, struct qpu_emulated_options options)
{
    struct board board;
    struct qpu_memory more;
    if (!board_open(&board, program, options))
        return;
    qpu_device_set_launch(board.device, launch);
    CHECK_EQ(run_jobs(&board, 2, 250), QPU_HOST_LOST);
    CHECK(strstr(qpu_device_error(board.device), "did not end within 250 ms"), "%s", qpu_device_error(board.device));
    CHECK_EQ(run_jobs(&board, 2, 250), QPU_HOST_LOST);
    CHECK(strstr(qpu_device_error(board.device), "restart"), "%s", qpu_device_error(board.device));
    CHECK_EQ(qpu_memory_alloc(board.device, &more, 100), QPU_HOST_OK);
    qpu_memory_free(board.device, &more);
    board_close(&board);
}

static void check_hangs(void)
{
    static const char ENDLESS[] = ":again\nbrr -, :again\nnop\nnop\nnop\n";
    static const char HAZARD[] = "mov ra0, 1\nmov r0, ra0\nnop; thrend\nnop\nnop\n"; /* the emulator's to find */
    struct qpu_program code;
    for (enum qpu_launch launch = QPU_LAUNCH_REGISTERS; launch <= QPU_LAUNCH_MAILBOX; launch++) {
        check_lost(PROGRAM, launch, (struct qpu_emulated_options){.hang = true});
        check_lost(ENDLESS, launch, (struct qpu_emulated_options){.emulator.max_clocks = 100000});
    }
    CHECK(qpu_assemble(&code, "test", HAZARD, strlen(HAZARD), NULL) != 0, "the assembler let a hazard pass");
    qpu_program_free(&code);
}

/* ---- memory */

static void check_memory(void)
{
    struct board board;
    struct qpu_memory blocks[40];
    unsigned count = 0;
    if (!board_open(&board, PROGRAM, (struct qpu_emulated_options){.gpu_memory_bytes = 1 << 20}))
        return;
    while (count < 40 && qpu_memory_alloc(board.device, &blocks[count], 100000) == QPU_HOST_OK)
        count++;
    CHECK_EQ(count, 10); /* of 102400 bytes, in a MiB with 12288 taken */
    CHECK(strstr(qpu_device_error(board.device), "raise gpu_mem"), "%s", qpu_device_error(board.device));
    for (unsigned i = 0; i < count; i++) {
        CHECK_EQ(blocks[i].bus % 4096, 0);
        for (unsigned j = 0; j < i; j++)
            CHECK(blocks[i].bus >= blocks[j].bus + 102400 || blocks[j].bus >= blocks[i].bus + 102400, "%u over %u", i,
                  j);
        qpu_memory_free(board.device, &blocks[i]);
        qpu_memory_free(board.device, &blocks[i]); /* a second time: nothing happens */
    }
    CHECK_EQ(qpu_memory_alloc(board.device, &blocks[0], 0), QPU_HOST_ARGUMENT);
    CHECK_EQ(qpu_memory_alloc(board.device, &blocks[0], (size_t)1 << 31), QPU_HOST_ARGUMENT);
    for (unsigned i = 0; i < 10000; i++) {
        struct qpu_memory one = {0}, other = {0};
        CHECK(!qpu_memory_alloc(board.device, &one, 4096 + i) && !qpu_memory_alloc(board.device, &other, 1 + i),
              "turn %u: %s", i, qpu_device_error(board.device));
        qpu_memory_free(board.device, i % 2 ? &one : &other);
        qpu_memory_free(board.device, i % 2 ? &other : &one);
    }
    board_close(&board);
}

/* Call k of opening, allocating and running fails, for every k: an error, and nothing left. */
static void check_sweep(void)
{
    unsigned calls = 0, failed = 0;
    for (unsigned k = 1; k <= calls + 1; k++) {
        struct qpu_emulated_report report;
        struct qpu_emulated_options options = {.gpu_memory_bytes = 1 << 16, .fail_call = k, .report = &report};
        struct qpu_device *device;
        struct qpu_memory memory = {0};
        char reason[QPU_REASON] = "";
        bool bad = qpu_device_open(&device, qpu_platform_emulated(&options), reason) != QPU_HOST_OK;
        if (bad) {
            CHECK(*reason, "no reason given at call %u", k);
        } else {
            bad = qpu_memory_alloc(device, &memory, 5000) != QPU_HOST_OK;
            CHECK(!bad || *qpu_device_error(device), "no text at call %u", k);
            qpu_memory_free(device, &memory);
            qpu_device_close(device);
        }
        calls = report.calls > calls ? report.calls : calls;
        failed += bad;
        CHECK(!report.allocations && !report.locks && !report.maps && !report.enabled, "left over at call %u", k);
    }
    CHECK_EQ(calls, 10);
    CHECK_EQ(failed, 9); /* without the clock's rate all goes on */
}

static void check_revisions(void)
{
    static const struct {
        uint32_t revision;
        enum qpu_processor processor;
    } BOARDS[] = {{0x0002, QPU_BCM2835},   {0x0015, QPU_BCM2835},     {0x900092, QPU_BCM2835},
                  {0x9000c1, QPU_BCM2835}, {0xa01041, QPU_BCM2836},   {0xa22042, QPU_BCM2837},
                  {0xa02082, QPU_BCM2837}, {0xa020d3, QPU_BCM2837},   {0x902120, QPU_BCM2837},
                  {0xa02100, QPU_BCM2837}, {0xc03111, QPU_OTHER_GPU}, {0xc04170, QPU_OTHER_GPU},
                  {0x1000002, QPU_BCM2835}};
    for (size_t i = 0; i < sizeof BOARDS / sizeof *BOARDS; i++)
        CHECK_EQ(qpu_processor_of_revision(BOARDS[i].revision), BOARDS[i].processor);
}

int main(void)
{
    check_programs(QPU_LAUNCH_REGISTERS);
    check_programs(QPU_LAUNCH_MAILBOX);
    check_refusals();
    check_no_pi();
    check_reserved();
    check_hangs();
    check_memory();
    check_sweep();
    check_revisions();
    return test_finish();
}
