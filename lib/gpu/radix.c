/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Small DFTs. Powers of two are written in kernels/dft.h. Here are printed: odd primes, by sums and differences of
 * points that mirror each other; products of two coprime numbers without factors between them (I. Good, J. R. Stat.
 * Soc. B 20, 1958); and 9 = 3 x 3. Products leave their values in another order, which costs nothing: slots are names.
 */
#include "gpu/radix.h"

#include <string.h>

struct radix {
    unsigned char radix, a, b; /* a b, or 0: not a product */
    unsigned short cost;
};

static const struct radix radices[] = {{2, 0, 0, 4},    {3, 0, 0, 16},   {4, 0, 0, 16},   {5, 0, 0, 40},
                                       {6, 2, 3, 44},   {7, 0, 0, 84},   {8, 0, 0, 64},   {9, 3, 3, 120},
                                       {10, 2, 5, 100}, {11, 0, 0, 220}, {12, 4, 3, 112}, {13, 0, 0, 312},
                                       {14, 2, 7, 196}, {15, 3, 5, 200}, {16, 0, 0, 168}};

static const struct radix *find(unsigned radix)
{
    return radix >= 2 && radix <= GPU_MAX_RADIX ? &radices[radix - 2] : NULL;
}

bool penstock__gpu_smooth(size_t n)
{
    static const unsigned char primes[] = {2, 3, 5, 7, 11, 13};
    for (size_t i = 0; i < sizeof primes; i++)
        while (n && n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

bool penstock__gpu_is_radix(unsigned radix)
{
    return find(radix) != NULL;
}

unsigned penstock__gpu_radix_cost(unsigned radix)
{
    return radix > 1 ? find(radix)->cost : 0;
}

unsigned penstock__gpu_radix_order(unsigned radix, unsigned k)
{
    const struct radix *r = find(radix);
    if (!r || !r->a)
        return k;
    return r->a == r->b ? k % 3 * 3 + k / 3 : (r->b * (k % r->a) + r->a * (k % r->b)) % radix;
}

/* ---------------------------------------------------------------- factors --------------------- */

struct search {
    void (*visit)(void *argument, const unsigned *radices, unsigned count);
    void *argument;
    unsigned most;
    unsigned chosen[GPU_MAX_STAGES];
};

bool penstock__gpu_is_prime(unsigned n)
{
    for (unsigned d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

static void descend(struct search *search, unsigned n, unsigned largest, unsigned count)
{
    if (n == 1) {
        search->visit(search->argument, search->chosen, count);
        return;
    }
    for (unsigned radix = largest; radix >= 2 && count < GPU_MAX_STAGES; radix--)
        if (n % radix == 0 && (radix <= search->most || penstock__gpu_is_prime(radix))) {
            search->chosen[count] = radix;
            descend(search, n / radix, radix, count + 1);
        }
}

void penstock__gpu_factor(unsigned n, unsigned most,
                          void (*visit)(void *argument, const unsigned *radices, unsigned count), void *argument)
{
    struct search search = {.visit = visit, .argument = argument, .most = most};
    descend(&search, n, GPU_MAX_RADIX, 0);
}

/* ---------------------------------------------------------------- macros ---------------------- */

static char name_of(unsigned point)
{
    return (char)('a' + point);
}

/* cos and sin of a k'th part of a turn, as literals. */
static void add_root(struct gpu_text *text, const char *before, unsigned k, unsigned n, bool sine)
{
    double re, im;
    penstock__unit_root(&re, &im, k % n, n);
    penstock__text_add(text, "%s", before);
    penstock__text_add_float(text, (float)(sine ? im : re));
}

static void define_sums(struct gpu_text *text, unsigned prime)
{
    for (unsigned j = 1; j <= prime / 2; j++) {
        char x = name_of(j), y = name_of(prime - j);
        penstock__text_add(text, " const k_real sum_re%u_ = re##%c + re##%c, sum_im%u_ = im##%c + im##%c;", j, x, y, j,
                           x, y);
        penstock__text_add(text, " const k_real gap_re%u_ = re##%c - re##%c, gap_im%u_ = im##%c - im##%c;", j, x, y, j,
                           x, y);
    }
}

/* One part of value k: the sum of cosines times sums, and that of sines times differences of the other part. */
static void define_value(struct gpu_text *text, unsigned prime, unsigned k, const char *part, const char *other)
{
    penstock__text_add(text, " const k_real even_%s%u_ = %s##a", part, k, part);
    for (unsigned j = 1; j <= prime / 2; j++) {
        add_root(text, " + K_REAL(", j * k, prime, false);
        penstock__text_add(text, ") * sum_%s%u_", part, j);
    }
    penstock__text_add(text, "; const k_real odd_%s%u_ =", part, k);
    for (unsigned j = 1; j <= prime / 2; j++) {
        add_root(text, j > 1 ? " + K_REAL(" : " K_REAL(", j * k, prime, true);
        penstock__text_add(text, ") * gap_%s%u_", other, j);
    }
    penstock__text_add(text, ";");
}

static void define_prime(struct gpu_text *text, unsigned prime)
{
    define_sums(text, prime);
    for (unsigned k = 1; k <= prime / 2; k++) {
        define_value(text, prime, k, "re", "im");
        define_value(text, prime, k, "im", "re");
    }
    for (unsigned j = 1; j <= prime / 2; j++)
        penstock__text_add(text, " re##a += sum_re%u_; im##a += sum_im%u_;", j, j);
    for (unsigned k = 1; k <= prime / 2; k++) {
        char x = name_of(k), y = name_of(prime - k);
        penstock__text_add(text, " re##%c = even_re%u_ + odd_re%u_; im##%c = even_im%u_ - odd_im%u_;", x, k, k, x, k,
                           k);
        penstock__text_add(text, " re##%c = even_re%u_ - odd_re%u_; im##%c = even_im%u_ + odd_im%u_;", y, k, k, y, k,
                           k);
    }
}

/* The same in PTX: a float as its bits. */
static void add_root_bits(struct gpu_text *text, const char *before, unsigned k, unsigned n, bool sine)
{
    double re, im;
    uint32_t bits;
    penstock__unit_root(&re, &im, k % n, n);
    memcpy(&bits, &(float){(float)(sine ? im : re)}, sizeof bits);
    penstock__text_add(text, "%s0f%08X", before, (unsigned)bits);
}

static void define_prime_ptx(struct gpu_text *text, unsigned prime)
{
    penstock__text_add(text, "asm volatile(\"{.reg .f32 ere, eim, ore, oim;\"");
    for (unsigned j = 1; j <= prime / 2; j++)
        penstock__text_add(text, " P_DECLARE(%u)", j);
    for (unsigned j = 1; j <= prime / 2; j++)
        penstock__text_add(text, " P_SUM(%u, %c, %c)", j, name_of(j), name_of(prime - j));
    for (unsigned k = 1; k <= prime / 2; k++) {
        for (unsigned j = 1; j <= prime / 2; j++) {
            penstock__text_add(text, j > 1 ? " P_MORE(%u" : " P_FIRST(a", j);
            add_root_bits(text, ", ", j * k, prime, false);
            add_root_bits(text, ", ", j * k, prime, true);
            penstock__text_add(text, ")");
        }
        penstock__text_add(text, " P_LAST(%c, %c)", name_of(k), name_of(prime - k));
    }
    for (unsigned j = 1; j <= prime / 2; j++)
        penstock__text_add(text, " P_TOTAL(a, %u)", j);
    penstock__text_add(text, " \"}\");");
}

static void call(struct gpu_text *text, unsigned radix, unsigned first, unsigned step, unsigned points)
{
    penstock__text_add(text, " DFT%u(", radix);
    for (unsigned i = 0; i < radix; i++)
        penstock__text_add(text, i ? ", %c" : "%c", name_of((first + i * step) % points));
    penstock__text_add(text, ")");
}

static void define_product(struct gpu_text *text, const struct radix *r)
{
    for (unsigned i = 0; i < r->b; i++)
        call(text, r->a, r->a == r->b ? i : r->a * i, r->b, r->radix);
    for (unsigned i = 1; i < 3 && r->a == r->b; i++)
        for (unsigned k = 1; k < 3; k++) {
            penstock__text_add(text, " ROTATE(%c, ", name_of(3 * k + i));
            add_root(text, "", i * k, 9, false);
            add_root(text, ", ", i * k, 9, true);
            penstock__text_add(text, ")");
        }
    for (unsigned i = 0; i < r->a; i++)
        call(text, r->b, r->b * i, r->a == r->b ? 1 : r->a, r->radix);
}

static void open_macro(struct gpu_text *text, unsigned radix)
{
    penstock__text_add(text, "#define DFT%u(", radix);
    for (unsigned i = 0; i < radix; i++)
        penstock__text_add(text, i ? ", %c" : "%c", name_of(i));
    penstock__text_add(text, ") {");
}

void penstock__gpu_radix_define(struct gpu_text *text, unsigned radix, bool ptx)
{
    const struct radix *r = find(radix);
    if (!r || (radix & (radix - 1)) == 0)
        return;
    penstock__text_add(text, "#ifndef DFT%u\n", radix);
    if (ptx && !r->a) {
        penstock__text_add(text, "#ifdef __CUDA_ARCH__\n");
        open_macro(text, radix);
        define_prime_ptx(text, radix);
        penstock__text_add(text, " }\n#else\n");
    }
    open_macro(text, radix);
    if (r->a)
        define_product(text, r);
    else
        define_prime(text, radix);
    penstock__text_add(text, ptx && !r->a ? " }\n#endif\n#endif\n" : " }\n#endif\n");
    if (r->a) {
        penstock__gpu_radix_define(text, r->a, ptx);
        penstock__gpu_radix_define(text, r->b, ptx);
    }
}
