/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Vectors on their way into a plan and out of it. */
#include "ops/fft/fft_layout.h"
#include "core/plan/plan.h"

#include <string.h>

/* Values that one thread transforms before others are asked to help. Short vectors come a few at a time, from a caller
 * whose own threads keep the processors busy: there a hand-over costs as much as it brings. */
#define ALONE_VALUES ((size_t)1 << 14)
#define SHORT_VECTOR ((size_t)1 << 12)
#define MANY_VALUES  ((size_t)1 << 18)

/* Values of vectors that are rearranged on their way: worth another thread's attention. */
#define CHUNK_VALUES ((size_t)1 << 15)
#define LEAST_VALUES ((size_t)1 << 13) /* where that makes threads' shares alike */

void penstock__fft_layout_init(struct penstock__fft_layout *layout, penstock_context *context,
                               const penstock_fft_stream_desc *desc)
{
    *layout = (struct penstock__fft_layout){.context = context,
                                            .n = desc->n,
                                            .in_bytes = desc->real ? sizeof(float) : sizeof(penstock_cf32),
                                            .real = desc->real,
                                            .reverse = desc->direction == PENSTOCK_REVERSE};
    if (desc->centered && layout->reverse)
        layout->rotation = desc->n / 2;
    else if (desc->centered)
        layout->middle = desc->n / 2;
}

void penstock__fft_layout_free(struct penstock__fft_layout *layout)
{
    penstock__free(layout->rotated);
    penstock__free(layout->halves);
}

void penstock__fft_layout_rotate(const struct penstock__fft_layout *layout, void *to, const void *from,
                                 size_t value_bytes)
{
    size_t first = layout->rotation * value_bytes, rest = layout->n * value_bytes - first;
    memcpy(to, (const char *)from + first, rest);
    memcpy((char *)to + rest, from, first);
}

/* Vectors that threads share. */
struct vectors {
    const struct penstock__fft_layout *layout;
    char *to;
    const char *from;
    size_t count, item; /* in all, and those that a thread takes at a time */
};

static void share(const struct penstock__fft_layout *layout, void *to, const void *from, size_t count,
                  void (*work)(void *argument, size_t i, unsigned worker))
{
    const size_t most = CHUNK_VALUES / layout->n + 1,
                 item = penstock__fair_share(layout->context, count, LEAST_VALUES / layout->n + 1, most);
    struct vectors vectors = {layout, to, from, count, item};
    penstock__parallel(layout->context, (count + item - 1) / item, work, &vectors);
}

static void rotate_item(void *argument, size_t item, unsigned worker)
{
    const struct vectors *v = argument;
    size_t bytes = v->layout->n * v->layout->in_bytes, first = item * v->item, end = first + v->item;
    (void)worker;
    for (size_t i = first; i < end && i < v->count; i++)
        penstock__fft_layout_rotate(v->layout, v->to + i * bytes, v->from + i * bytes, v->layout->in_bytes);
}

void penstock__fft_layout_in(const struct penstock__fft_layout *layout, void *to, const void *from, size_t count)
{
    if (layout->rotation)
        share(layout, to, from, count, rotate_item);
    else
        penstock__copy(layout->context, to, from, count * layout->n * layout->in_bytes);
}

/* All n bins from the first half of a real vector's spectrum. In reverse they are those of the negative frequencies. */
static void mirror(const struct penstock__fft_layout *layout, penstock_cf32 *to, const penstock_cf32 *half)
{
    const size_t n = layout->n, middle = layout->middle;
    const float sign = layout->reverse ? -1.0f : 1.0f;
    penstock_cf32 *low = to + middle, *high = to + (middle ? middle : n); /* bins k and n - k: low[k], high[-k] */
    for (size_t k = 1; k < (n + 1) / 2; k++) {
        low[k] = (penstock_cf32){half[k].re, sign * half[k].im};
        high[-(ptrdiff_t)k] = (penstock_cf32){half[k].re, -sign * half[k].im};
    }
    if (n % 2 == 0)
        to[(n / 2 + middle) % n] = (penstock_cf32){half[n / 2].re, sign * half[n / 2].im};
    low[0] = (penstock_cf32){half[0].re, sign * half[0].im};
}

static void mirror_item(void *argument, size_t item, unsigned worker)
{
    const struct vectors *v = argument;
    size_t n = v->layout->n, first = item * v->item, end = first + v->item;
    (void)worker;
    for (size_t i = first; i < end && i < v->count; i++)
        mirror(v->layout, (penstock_cf32 *)(void *)v->to + i * n,
               (const penstock_cf32 *)(const void *)v->from + i * (n / 2 + 1));
}

void penstock__fft_layout_out(const struct penstock__fft_layout *layout, penstock_cf32 *to, const void *from,
                              size_t count)
{
    if (layout->real)
        share(layout, to, from, count, mirror_item);
    else
        penstock__copy(layout->context, to, from, count * layout->n * sizeof *to);
}

/* ---------------------------------------------------------------- straight -------------------- */

static int make_room(void **memory, bool wanted, size_t bytes)
{
    if (wanted && !*memory)
        *memory = penstock__alloc(bytes);
    return wanted && !*memory ? PENSTOCK_ERR_MEMORY : PENSTOCK_OK;
}

int penstock__fft_layout_run(struct penstock__fft_layout *layout, penstock_plan *plan, const void *in, size_t count,
                             penstock_cf32 *out)
{
    const size_t n = layout->n, bytes = n * layout->in_bytes;
    const bool changed = layout->rotation || layout->real, alone = n <= SHORT_VECTOR && count * n < MANY_VALUES;
    size_t most = alone ? ALONE_VALUES / n : changed ? MANY_VALUES / n : count, some;
    int status;
    most = most ? most : 1;
    if ((status = make_room(&layout->rotated, layout->rotation, (MANY_VALUES / n + 1) * bytes)) ||
        (status = make_room(&layout->halves, layout->real, (MANY_VALUES / n + 1) * (n / 2 + 1) * sizeof *out)))
        return status;
    for (size_t done = 0; done < count; done += some) {
        const void *from = (const char *)in + done * bytes;
        penstock_cf32 *to = out + done * n;
        some = count - done < most ? count - done : most;
        if (layout->rotation)
            penstock__fft_layout_in(layout, layout->rotated, from, some);
        if ((status = penstock_plan_run(plan, layout->rotation ? layout->rotated : from,
                                        layout->real ? layout->halves : to, some)))
            return status;
        if (layout->real)
            penstock__fft_layout_out(layout, to, layout->halves, some);
    }
    return PENSTOCK_OK;
}
