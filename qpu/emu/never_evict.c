/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Lines of 16 words in pages of 1 MiB that exist when first read. A line is copied whole when one of its words is. */
#include "never_evict.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { PAGE_SHIFT = 20, PAGES = 1 << (30 - PAGE_SHIFT), PAGE_WORDS = 1 << (PAGE_SHIFT - 2), LINE_WORDS = 16 };

struct page {
    uint32_t word[PAGE_WORDS];
    bool cached[PAGE_WORDS / LINE_WORDS];
    bool stored[PAGE_WORDS]; /* since its line was copied */
};

struct never_evict {
    struct page *page[PAGES];
};

struct never_evict *qpu_emu__never_evict_new(void)
{
    return calloc(1, sizeof(struct never_evict));
}

void qpu_emu__never_evict_clear(struct never_evict *kept)
{
    for (int i = 0; i < PAGES; i++) {
        free(kept->page[i]);
        kept->page[i] = NULL;
    }
}

void qpu_emu__never_evict_free(struct never_evict *kept)
{
    if (kept)
        qpu_emu__never_evict_clear(kept);
    free(kept);
}

static void copy_line(struct page *page, struct qpu_emulator *e, uint32_t address)
{
    uint32_t start = address & ~(uint32_t)(4 * LINE_WORDS - 1), first = start >> 2 & (PAGE_WORDS - 1);
    page->cached[first / LINE_WORDS] = true;
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        const uint8_t *memory = qpu_emu__memory(e, start + 4 * i, 4);
        page->word[first + i] = memory ? qpu_emu__load32(memory) : 0;
        page->stored[first + i] = false;
    }
}

bool qpu_emu__never_evict_read(struct never_evict *kept, struct qpu_emulator *e, uint32_t address, uint32_t now,
                               uint32_t *seen, bool *stale)
{
    struct page **page = &kept->page[address >> PAGE_SHIFT];
    uint32_t word = address >> 2 & (PAGE_WORDS - 1);
    *seen = now;
    *stale = false;
    if (!*page && !(*page = calloc(1, sizeof **page)))
        return false;
    if (!(*page)->cached[word / LINE_WORDS])
        copy_line(*page, e, address);
    *seen = (*page)->word[word];
    *stale = (*page)->stored[word] || *seen != now;
    return true;
}

void qpu_emu__never_evict_store(struct never_evict *kept, uint32_t address, uint32_t bytes)
{
    for (uint32_t at = address & ~UINT32_C(3); at < address + bytes; at += 4) {
        struct page *page = kept->page[at >> PAGE_SHIFT & (PAGES - 1)];
        if (page)
            page->stored[at >> 2 & (PAGE_WORDS - 1)] = true;
    }
}
