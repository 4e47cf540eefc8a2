/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of large results, kept for the next ones. */
#include "results.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace penstock_python
{

namespace nb = nanobind;

constexpr size_t LINE = 64, HUGE_PAGE = size_t{2} << 20;
constexpr size_t MOST_KEPT = size_t{256} << 20; /* bytes, which docs/python.md tells */

struct block {
    void *data;
    size_t bytes;
};

/* Those that nobody uses, the last one that was left behind the others: it is in the processor's caches the most. */
struct store {
    std::mutex lock;
    std::vector<block> blocks;
    size_t bytes = 0;
};

/* Results may outlive all else that is static. */
static store &kept()
{
    static store *const made = new store;
    return *made;
}

/* One that is large enough, and not much larger. */
static bool take_kept(size_t bytes, block &taken)
{
    store &all = kept();
    const std::lock_guard<std::mutex> guard(all.lock);
    for (size_t i = all.blocks.size(); i-- > 0;) {
        taken = all.blocks[i];
        if (taken.bytes < bytes || taken.bytes / 2 > bytes)
            continue;
        all.blocks.erase(all.blocks.begin() + static_cast<std::ptrdiff_t>(i));
        all.bytes -= taken.bytes;
        return true;
    }
    return false;
}

static block new_block(size_t bytes)
{
    const size_t unit = bytes < 2 * HUGE_PAGE ? LINE : HUGE_PAGE;
    const size_t whole = (bytes + unit - 1) / unit * unit;
    void *data = std::aligned_alloc(unit, whole);
    if (!data)
        throw std::bad_alloc();
    if (unit == HUGE_PAGE)
        madvise(data, whole, MADV_HUGEPAGE); /* a wish: where there are none it stays as it is */
    return {data, whole};
}

/* Keeps it, and lets those go that were left first, as far as there are too many. */
static void leave(block left)
{
    store &all = kept();
    const std::lock_guard<std::mutex> guard(all.lock);
    try {
        all.blocks.push_back(left);
    } catch (const std::bad_alloc &) {
        std::free(left.data);
        return;
    }
    all.bytes += left.bytes;
    size_t gone = 0;
    for (; all.bytes > MOST_KEPT; gone++) {
        std::free(all.blocks[gone].data);
        all.bytes -= all.blocks[gone].bytes;
    }
    all.blocks.erase(all.blocks.begin(), all.blocks.begin() + static_cast<std::ptrdiff_t>(gone));
}

nb::capsule result_memory(size_t bytes, void *&data)
{
    std::unique_ptr<block> own(new block{nullptr, 0});
    if (!take_kept(bytes, *own))
        *own = new_block(bytes);
    data = own->data;
    return nb::capsule(own.release(), [](void *gone) noexcept {
        const std::unique_ptr<block> left(static_cast<block *>(gone));
        leave(*left);
    });
}

} // namespace penstock_python
