/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/*
 * Neighbouring blocks on one device whose streams are linked while the flowgraph runs. The first one takes the samples,
 * the last one gives the results; between them GNU Radio's buffers carry items that nobody writes or reads, so that
 * counts and tags are as ever. The blocks find each other when they start, and part when all have stopped: topologies
 * change only in between. Blocks that come to the device later are linked then: the first one gives no more until those
 * behind it have taken all that lies between (hand_over_join.cc).
 */
#ifndef INCLUDED_PENSTOCK_HAND_OVER_H
#define INCLUDED_PENSTOCK_HAND_OVER_H

#include "core.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
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
    std::string d_device;               // that its stream was on when the chain was told
    bool d_changed = false;             // what it can take
    std::atomic<bool> d_heeds{false};   // it has the chain's lock in each call, as long as the chain is changing
    uint64_t d_written = 0, d_read = 0; // GNU Radio's counts when all had met
    uint64_t d_ahead = 0;               // items_ahead() when it was linked

    uint64_t items_ahead();

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

    //! What looks at the stream outside of work holds this, and looks at none that is linked.
    std::unique_lock<std::mutex> look_lock() const
    {
        return is_linked() ? std::unique_lock<std::mutex>() : chain_lock();
    }

    //! Whether it is to be called without items, too: the chain waits for that.
    bool is_asked() const;

    //! In work, with the lock: how many items of so many may be given now. 0: none, as those given so far are to be
    //! taken first, for more blocks to be linked.
    size_t room_in_chain(size_t capacity, const std::unique_lock<std::mutex> &lock);

    //! Behind that: the chain is told where the block works.
    void tell_device(std::unique_lock<std::mutex> &lock);

    //! With the lock. Of the first one, which found no room: the last one is to make some, and wakes it then.
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

    //! Whether its items can come from another stream with the settings that it has; tell_again(), in its own calls,
    //! where that changes.
    virtual bool can_take() const
    {
        return true;
    }

    void tell_again()
    {
        d_changed = true;
    }

    //! Whether its results could go to another stream, or to none, from the next one on.
    virtual bool can_join()
    {
        return true;
    }

    //! Of the first one: the next items are to come at once, without those that make a batch.
    virtual void hurry()
    {
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

    enum class state { MEETING, MET, APART };

    std::vector<hand_over_end *> d_ends;
    size_t d_met = 0, d_stopped = 0, d_most = 0;  // so many of them; d_most: can be linked
    std::atomic<size_t> d_linked{1}, d_wanted{1}; // and are; and are to be. 1: none
    uint64_t d_unit = 1;                          // items of the first one that are whole ones of all of these
    bool d_waits = false;                         // the first one does, for room
    std::mutex d_mutex;                           // of the streams
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

    static bool is_empty_between(hand_over_end *from, hand_over_end *to);
    static uint64_t unit_between(hand_over_end *first, hand_over_end *last);
    static bool can_pass(hand_over_end *from, hand_over_end *to);
    static void wake(hand_over_end *end);
    void link();
    void cut();

    bool is_open() const
    {
        return d_state == state::MET && d_linked < d_most;
    }

    bool is_changing() const
    {
        return d_state == state::MET && d_linked != d_wanted;
    }

    //! So many take part in a change.
    size_t concerned() const
    {
        return std::max(d_linked.load(), d_wanted.load());
    }

    void want();
    bool all_heed() const;
    bool is_drained() const;
    void join();
    bool is_settled();
    void leave();

  public:
    explicit hand_over(std::vector<hand_over_end *> ends) : d_ends(std::move(ends))
    {
    }
};

} // namespace penstock
} // namespace gr

#endif
