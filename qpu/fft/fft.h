/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batched complex transforms on the QPUs of a VideoCore IV. This library knows no hardware: it fills a block of memory
 * that the QPUs see (program, tables, lists of jobs, room for data) and says what to launch; who owns the memory and
 * the QPUs does the rest.
 *
 *     struct qpu_fft_description description = {.points = 1024, .batch = 12, .qpus = 12};
 *     struct qpu_fft_plan *plan;
 *     if (qpu_fft_plan_new(&plan, &description) == QPU_FFT_OK) {
 *         memory = allocate(qpu_fft_plan_bytes(plan), 4096);         seen by the QPUs at `address`
 *         qpu_fft_plan_place(plan, memory, address);
 *         copy batch * points complex numbers to memory + qpu_fft_plan_input(plan)
 *         for (unsigned i = 0; i < qpu_fft_plan_launches(plan); i++) {
 *             qpu_fft_plan_launch(plan, i, address, &launch);
 *             clear the caches; start launch.qpus QPUs at launch.pc with launch.uniforms[]; wait for all
 *         }
 *         results are at memory + qpu_fft_plan_output(plan)
 *     }
 *     qpu_fft_plan_free(plan);
 *
 * A plan is read-only once made, but for qpu_fft_plan_set_product(), and may be shared by threads; each block of memory
 * is used by one run at a time.
 * Complex numbers are pairs of floats. Forward transforms have exp(-j ...), neither direction divides by the length.
 */
#ifndef PENSTOCK_QPU_FFT_H
#define PENSTOCK_QPU_FFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QPU_FFT_QPUS = 12 };

enum qpu_fft_status {
    QPU_FFT_OK,
    QPU_FFT_INVALID = -1, /* the description is out of range */
    QPU_FFT_NO_MEMORY = -2
};

/* Input samples; results are always pairs of floats. */
enum qpu_fft_format {
    QPU_FFT_CF32, /* pairs of floats */
    QPU_FFT_CS16, /* pairs of int16; value / 32768. Forward only */
    QPU_FFT_CU8,  /* pairs of uint8; (value - 127.5) / 128. Forward only */
    QPU_FFT_CS8   /* pairs of int8; value / 128. Forward only */
};

/*
 * Zero is the default of all but points, batch and qpus. Transform t takes its samples from sample t * spacing + skip
 * of the input on. In two dimensions it takes `rows` rows of `points` samples and gives as many frequencies, in the
 * same order. The window and the product are copied.
 */
struct qpu_fft_description {
    uint32_t points; /* a power of two, 64 to 4194304; in two dimensions 16 to 1024 */
    uint32_t rows;   /* 0 or 1: one dimension; else a power of two, 16 to 1024 */
    bool reverse;
    bool transpose; /* no transform: plain complex numbers, rows become columns; both lengths 16 and up, 2^20 in all */
    uint32_t batch; /* transforms of a run, at least 1 */
    unsigned qpus;  /* to use, 1 to 12 */
    enum qpu_fft_format format;
    uint32_t spacing;     /* from a transform's samples to the next one's; 0: as many as it takes, and skip */
    uint32_t skip;        /* as of a guard interval */
    float scale;          /* of all results; 0: 1 */
    bool elsewhere;       /* the block has no room for input and output: qpu_fft_plan_set_data() says where they are */
    const float *window;  /* a factor for each sample, or NULL */
    const float *product; /* or a complex one, as of a filter's spectrum; CF32 without window */
};

/* One launch: QPUs 0 to qpus - 1 start at pc with their uniforms. */
struct qpu_fft_launch {
    unsigned qpus;
    uint32_t pc, uniforms[QPU_FFT_QPUS];
};

struct qpu_fft_plan;

int qpu_fft_plan_new(struct qpu_fft_plan **plan, const struct qpu_fft_description *description);
void qpu_fft_plan_free(struct qpu_fft_plan *plan); /* accepts NULL */

/* Size of the memory block, and where in it the input of that many bytes and the results lie. */
size_t qpu_fft_plan_bytes(const struct qpu_fft_plan *plan);
size_t qpu_fft_plan_input(const struct qpu_fft_plan *plan);
size_t qpu_fft_plan_input_bytes(const struct qpu_fft_plan *plan);
size_t qpu_fft_plan_output(const struct qpu_fft_plan *plan);

/* Writes program, tables and jobs of a whole batch. `memory` is 4-aligned; the QPUs see it at `address`, 4096-aligned.
 */
void qpu_fft_plan_place(const struct qpu_fft_plan *plan, void *memory, uint32_t address);

/* Another product, of a plan that was made with one: `memory` is the block where it has been placed, not in use. */
void qpu_fft_plan_set_product(struct qpu_fft_plan *plan, void *memory, const float *product);

/* Rewrites the jobs for the first `count` transforms only, 1 .. batch. */
void qpu_fft_plan_set_count(const struct qpu_fft_plan *plan, void *memory, uint32_t address, uint32_t count);

/*
 * The same with input and output at other addresses: multiples of 64, apart from each other. The output may be the next
 * plan's input. Caches are cleared before each launch, so what a launch wrote the next one reads.
 */
void qpu_fft_plan_set_data(const struct qpu_fft_plan *plan, void *memory, uint32_t address, uint32_t count,
                           uint32_t input, uint32_t output);

/* Launches of a run, in order; the caches are cleared before each. */
unsigned qpu_fft_plan_launches(const struct qpu_fft_plan *plan);
void qpu_fft_plan_launch(const struct qpu_fft_plan *plan, unsigned number, uint32_t address,
                         struct qpu_fft_launch *launch);

#endif
