/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the parts of the assembler share.
 *
 * The source becomes lines of tokens once. Two passes then execute these lines: the first finds the labels, the
 * second emits. A block (.rep, .macro, .if, .func) is a range of lines, executed again as often as needed. Every
 * instruction takes eight bytes, so nothing that the first pass does not know yet can move a label.
 *
 * Functions return false after they have recorded an error; the statement ends there and the next one goes on.
 */
#ifndef PENSTOCK_QPU_AS_INTERNAL_H
#define PENSTOCK_QPU_AS_INTERNAL_H

#include "assembler.h"

#include <stdarg.h>

/* memory.c: everything lives until the end, in blocks. */
struct qpu__arena {
    struct qpu__block *blocks;
    bool exhausted;
};
void *qpu__alloc(struct qpu__arena *arena, size_t size); /* zeroed; NULL sets exhausted */
char *qpu__copy(struct qpu__arena *arena, const char *text, size_t length);
void *qpu__grow(struct qpu__arena *arena, void *items, size_t count, size_t *capacity, size_t item_size);
void qpu__arena_free(struct qpu__arena *arena);

/* lexer.c */
enum qpu__token_kind {
    QPU__END, /* of the line */
    QPU__NAME,
    QPU__SUFFIX, /* a dot and what follows: text is without the dot */
    QPU__INTEGER,
    QPU__REAL,
    QPU__LOCAL, /* 1f, 1b: text with the letter */
    QPU__STRING,
    QPU__PUNCTUATION,
    QPU__WRONG /* text is the message */
};

struct qpu__token {
    enum qpu__token_kind kind;
    int line, column;
    const char *text;
    int length;
    int64_t integer;
    double real;
    const struct qpu__source *source;
};

struct qpu__source {
    const char *file;
    int number; /* order of appearance */
    struct qpu__token **lines;
    size_t line_count;
    struct qpu__source *next;
};

struct qpu__source *qpu__lex(struct qpu__arena *arena, const char *file, const char *text, size_t size);
bool qpu__is(const struct qpu__token *token, const char *text); /* punctuation, name or suffix */

/* values */
enum qpu__value_kind { QPU__INT, QPU__FLOAT, QPU__LABEL, QPU__ELEMENTS, QPU__SMALL, QPU__REGISTER, QPU__SEMAPHORE };
enum { QPU__FILE_A = 1, QPU__FILE_B = 2, QPU__FILES = 3, QPU__READ = 4, QPU__WRITE = 8, QPU__ACCUMULATOR = 16 };
enum { QPU__ROTATE_R5 = 16 };

struct qpu__register {
    uint8_t address;  /* accumulators: 0 .. 5 */
    uint8_t flags;    /* QPU__FILE_A ... */
    uint8_t rotation; /* as small immediate 48 + n would: element i goes to i + n; QPU__ROTATE_R5 */
    bool rotated;
    const struct qpu__token *suffixes[3]; /* .16a, .ifz: their meaning depends on the place */
    uint8_t suffix_count;
};

struct qpu__value {
    enum qpu__value_kind kind;
    bool unknown;    /* depends on a label further on: no condition may */
    bool relative;   /* label written as r:label */
    int64_t integer; /* also the label's address, the elements' two bit planes, the small immediate's code */
    double real;
    bool is_signed; /* elements */
    struct qpu__register reg;
};

/* registers.c */
bool qpu__find_register(struct qpu__register *reg, const char *name, int length);
const char *qpu__register_name(unsigned address, unsigned file, unsigned direction); /* NULL: only as ra39 and such */

/* symbols.c */
struct qpu__symbol {
    struct qpu__symbol *next;
    const char *name;
    int length;
    struct qpu__value value;
    bool final;
    struct qpu__function *function; /* NULL: a constant */
};

struct qpu__function {
    const struct qpu__token **parameters;
    size_t parameter_count;
    const struct qpu__token *expression; /* .set f(a) ...; NULL: body */
    struct qpu__source *source;          /* .func and .macro: lines first .. last - 1 */
    size_t first, last;
};

struct qpu__scope {
    struct qpu__scope *parent; /* the caller's */
    struct qpu__symbol *symbols;
    const char *what; /* "macro x": for messages */
    const struct qpu__token *use;
};

struct qpu__label {
    const char *name;
    int length;
    int64_t address;
    const struct qpu__token *place;
    bool met; /* in this pass */
};

struct qpu__origin {
    const struct qpu__token *place;
    struct qpu__scope *scope_use; /* where a macro was used, or NULL */
    bool data;
};

struct qpu__assembler {
    struct qpu__arena arena;
    const struct qpu_assemble_options *options;
    struct qpu__source *sources;
    int source_count;
    int pass;
    struct qpu__scope *global, *scope;
    struct qpu__symbol *macros;
    struct qpu__label *labels; /* named and numeric ones, in order of the first pass */
    size_t label_count, label_capacity;
    size_t label_next;         /* second pass: how many have been passed */
    size_t label_buckets[256]; /* 1 + index of the newest named label, by hash */
    size_t *label_links;       /* per label: 1 + index of the next in its bucket */
    uint8_t *bytes;
    size_t size, capacity;
    struct qpu__origin *origins; /* one for eight bytes */
    size_t origin_capacity;
    struct qpu_diagnostic *diagnostics;
    size_t diagnostic_count, diagnostic_capacity, error_count;
    int *diagnostic_sources;
    size_t diagnostic_source_capacity;
    int depth;                 /* of macros, functions, includes and parentheses */
    unsigned long steps;       /* statements executed, and calls by their weight */
    struct qpu__value *result; /* of the .func being executed */
    bool has_result;
    bool stopped; /* too many errors or steps, or no memory */
    bool single;  /* qpu_assemble_word(): no directives, no labels */
};

enum {
    QPU__LARGEST_PROGRAM = 1 << 20, /* bytes */
    QPU__MOST_STEPS = 1 << 20,
    QPU__DEEPEST = 48,
    QPU__MOST_ERRORS = 50
};

/* diagnostics.c */
bool qpu__error(struct qpu__assembler *as, const struct qpu__token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void qpu__report(struct qpu__assembler *as, const struct qpu__origin *at, enum qpu_rule rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void qpu__sort_diagnostics(struct qpu__assembler *as);
void qpu__forget_diagnostics(struct qpu__assembler *as);

/* symbols.c */
struct qpu__symbol *qpu__find_symbol(struct qpu__assembler *as, const char *name, int length);
struct qpu__symbol *qpu__set_symbol(struct qpu__assembler *as, struct qpu__scope *scope, const struct qpu__token *name,
                                    struct qpu__value value, bool final);
bool qpu__unset_symbol(struct qpu__assembler *as, struct qpu__scope *scope, const struct qpu__token *name);
bool qpu__define_label(struct qpu__assembler *as, const struct qpu__token *name);
bool qpu__label_value(struct qpu__assembler *as, const struct qpu__token *name, struct qpu__value *value);

/* expression.c: *at moves on past what was read. */
bool qpu__expression(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__value *value);
bool qpu__known_integer(struct qpu__assembler *as, const struct qpu__token **at, int64_t *integer, const char *what);
bool qpu__truth(struct qpu__assembler *as, const struct qpu__token **at, bool *truth, bool with_later_labels);
bool qpu__at_end(struct qpu__assembler *as, const struct qpu__token *at);
bool qpu__word_of(struct qpu__assembler *as, const struct qpu__token *at, const struct qpu__value *value,
                  uint32_t *word);
const char *qpu__kind_name(const struct qpu__value *value);

/* operators.c */
bool qpu__unary(struct qpu__assembler *as, const struct qpu__token *op, struct qpu__value *value);
bool qpu__binary(struct qpu__assembler *as, const struct qpu__token *op, struct qpu__value *left,
                 const struct qpu__value *right);

/* builtins.c: functions of numbers. NULL if there is none of that name. */
const struct qpu__builtin *qpu__find_builtin(const char *name, int length);
bool qpu__call_builtin(struct qpu__assembler *as, const struct qpu__builtin *builtin, const struct qpu__token *at,
                       const struct qpu__value *arguments, size_t count, struct qpu__value *value);

/* statements.c */
void qpu__run_lines(struct qpu__assembler *as, struct qpu__source *source, size_t first, size_t last);
bool qpu__call(struct qpu__assembler *as, const struct qpu__function *function, const char *what,
               const struct qpu__token *name, const struct qpu__value *arguments, size_t count,
               struct qpu__value *result);
bool qpu__emit(struct qpu__assembler *as, const struct qpu__token *at, const void *bytes, size_t count, bool data);

/* blocks.c: run or define the block that starts at lines[*line]; *line becomes its last line. */
bool qpu__is_block(const struct qpu__token *directive);
bool qpu__block(struct qpu__assembler *as, struct qpu__source *source, size_t *line, size_t last);

/* directives.c */
bool qpu__directive(struct qpu__assembler *as, const struct qpu__token *at);
bool qpu__define_function(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__function **function);

/* instruction.c: the tokens of one instruction up to the end of the line. */
bool qpu__instruction(struct qpu__assembler *as, const struct qpu__token *at, uint64_t *word);

/* hazards.c: over the emitted program. */
void qpu__check(struct qpu__assembler *as);

#endif
