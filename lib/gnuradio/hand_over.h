/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/*
 * Neighbouring blocks on one device whose streams are linked while the flowgraph runs. The first one takes the samples,
 * the last one gives the results; between them GNU Radio's buffers carry items that nobody writes or reads, so that
 * counts and tags are as ever. The blocks find each other when they start, and part when all have stopped: topologies
 * change only in between.
 */
#ifndef INCLUDED_PENSTOCK_HAND_OVER_H
#define INCLUDED_PENSTOCK_HAND_OVER_H

#include "core.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace gr
{
namespace penstock
{

class hand_over;

//! What such a block is to its neighbours.
class hand_over_end
{
    friend class hand_over;

    std::shared_ptr<hand_over> d_chain; // since it started
    size_t d_place = 0;

  protected:
    enum class role { ALONE, MEETING, FIRST, MIDDLE, LAST };

    role role_in_chain() const;

    bool is_linked() const
    {
        return role_in_chain() > role::MEETING;
    }

    //! In start(), before and behind a restart, and in stop().
    void part();
    void meet();
    void stop_in_chain();

    //! What uses the streams of a chain holds: one thread at a time does.
    std::unique_lock<std::mutex> chain_lock() const;

    //! With that. Of the first one, which found no room: the last one is to make some, and wakes it then.
    void wait_for_room();

    //! Of the last one: results that are there, and seconds until more are due.
    size_t pull_chain(void *out, size_t capacity);
    double chain_due_s() const;
    void finish_chain();

    virtual ~hand_over_end() = default;
    virtual gr::block &own_block() = 0;
    virtual penstock_stream *own_stream() = 0;

    //! Whether its items can come from another stream, or its results go to one.
    virtual bool can_link() const
    {
        return false;
    }

    //! A chain begins with it.
    virtual bool begins_chain() const
    {
        return false;
    }

    virtual void set_linked(bool)
    {
    }

    //! Of the first one: no more items come; those so far are to go on at once; seconds until that is due, as nothing
    //! has gone on for so long.
    virtual void finish_items()
    {
    }
    virtual void flush_items()
    {
    }
    virtual double items_due_s()
    {
        return 1;
    }
};

class hand_over
{
    friend class hand_over_end;

    enum class state { MEETING, LINKED, APART };

    std::vector<hand_over_end *> d_ends;
    size_t d_met = 0, d_stopped = 0, d_linked = 0; // so many of them
    bool d_waits = false;                          // the first one does, for room
    std::mutex d_mutex;                            // of the streams
    std::atomic<state> d_state{state::MEETING};

    hand_over_end *first() const
    {
        return d_ends.front();
    }

    hand_over_end *last() const
    {
        return d_ends[d_linked - 1];
    }

    //! The blocks that might be linked, from the first one on, `end` among them.
    static std::vector<hand_over_end *> find(hand_over_end *end);
    static hand_over_end *next(hand_over_end *end);
    static hand_over_end *before(hand_over_end *end);

    static bool can_pass(hand_over_end *from, hand_over_end *to);
    static void wake(hand_over_end *end);
    void link();
    void cut();

  public:
    explicit hand_over(std::vector<hand_over_end *> ends) : d_ends(std::move(ends))
    {
    }
};

} // namespace penstock
} // namespace gr

#endif
