/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/*
 * The life of a block over streams of the library: lock, statistics, errors, latency, sleep. While results wait in the
 * library a block is to be called without new input too, and sleeps itself until the first one is due.
 */
#ifndef INCLUDED_PENSTOCK_STREAM_BLOCK_H
#define INCLUDED_PENSTOCK_STREAM_BLOCK_H

#include "buffers.h"
#include "checks.h"
#include "core.h"
#include "hand_over.h"
#include "input_wait.h"
#include "stats.h"
#include "tagging_block.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/penstock/device_block.h>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace gr
{
namespace penstock
{

//! Interface is the public class of the block.
template <typename Interface> class stream_block : public tagging_block<Interface>, public hand_over_end
{
    static constexpr size_t MOST_ASKED = 16; // changes that wait

    stats_port d_stats{*this};
    std::atomic<unsigned> d_waiting{0}; // setters
    std::mutex d_asked_mutex;
    std::deque<std::function<void()>> d_asked; // changes, in the order in which setters asked for them
    bool d_running = false;

    gr::block &own_block() final
    {
        return *this;
    }

    penstock_stream *own_stream() override
    {
        return stream();
    }

    static int wait_for_neighbours()
    {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        return 0;
    }

    void set_running(bool running)
    {
        const std::lock_guard<std::mutex> guard(d_asked_mutex);
        d_running = running;
    }

  protected:
    static constexpr double LONGEST_SLEEP_S = 0.01; // while it sleeps the block before may have to, too

    //! What the scheduler brings: input items at each port, and room for so many output items.
    struct call {
        size_t capacity;
        gr_vector_int &available;
        gr_vector_const_void_star &in;
        gr_vector_void_star &out;
    };

    //! What general_work() returns; a sleep where nothing could be done; whether the statistics are due at once.
    struct outcome {
        int items;
        double sleep_s = 0;
        bool last = false;
    };

    block_log d_log{this};
    const std::shared_ptr<penstock_context> d_context = shared_context();
    std::vector<handle<penstock_stream>> d_streams;
    mutable std::mutex d_wanted_mutex; // of what setters have asked for, and of what follows from it
    uint64_t d_reach = 0;              // items taken, at most: those of the call of work that is under way are
    bool d_ended = false;              // the stream knows that no more input comes

    //! One more, by the function that opens it.
    template <typename Desc>
    void add_stream(int (*open)(penstock_stream **, penstock_context *, const Desc *, const char *), const Desc &desc,
                    const std::string &device)
    {
        const works_for me(d_log);
        penstock_stream *made;
        check(open(&made, d_context.get(), &desc, device.c_str()));
        d_streams.emplace_back(made, penstock_stream_free);
    }

    penstock_stream *stream() const
    {
        return d_streams.front().get();
    }

    //! What a setter holds, under the block's lock, that changes what the scheduler knows or makes streams. The next
    //! call of work waits for it: a thread that takes the lock again at once would keep all others out.
    class setting
    {
        gr::thread::scoped_lock d_lock;
        std::unique_lock<std::mutex> d_chain;

      public:
        explicit setting(stream_block &block) : d_lock(block.d_setlock, boost::defer_lock)
        {
            block.d_waiting++;
            d_lock.lock();
            d_chain = block.chain_lock();
            block.d_waiting--;
        }
    };

    //! Under the block's lock: what setters have asked for.
    void make_changes()
    {
        const works_for me(d_log);
        for (;;) {
            std::function<void()> next;
            {
                const std::lock_guard<std::mutex> guard(d_asked_mutex);
                if (d_asked.empty())
                    return;
                next = std::move(d_asked.front());
                d_asked.pop_front();
            }
            next();
        }
    }

    //! The same for the scheduler, which stops a block in a destructor of its own. What cannot be made is as before.
    void make_changes_or_log()
    {
        try {
            make_changes();
        } catch (const std::runtime_error &error) {
            this->d_logger->error("{}", error.what());
        }
    }

    //! What a setter has found to be right, in the order in which it was asked for: before the next call of work. The
    //! one that is under way may take a whole batch of a device, and another plan takes part of a millisecond. To be
    //! followed by settle().
    void ask(std::function<void()> change)
    {
        const std::lock_guard<std::mutex> guard(d_asked_mutex);
        d_asked.push_back(std::move(change));
    }

    //! Without locks: makes what was asked for where no call of work is to come, or where much waits for one.
    void settle()
    {
        {
            const std::lock_guard<std::mutex> guard(d_asked_mutex);
            if (d_running && d_asked.size() < MOST_ASKED)
                return;
        }
        const setting lock(*this);
        make_changes();
    }

    //! What a setter of a window returns: whether it is one of `n` factors, or none. `change` takes it then.
    template <typename F> bool ask_for_window(const char *kind, const std::vector<float> &window, size_t n, F change)
    {
        if (!window.empty() && window.size() != n)
            return false;
        check_finite(kind, window);
        ask([change, window] { change(window); });
        settle();
        return true;
    }

    //! Of the first input, where changes have a place in it.
    virtual uint64_t items_taken() const
    {
        return 0;
    }

    //! In work: what is behind the items that it can take may change.
    void reach(int more)
    {
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        d_reach = items_taken() + static_cast<uint64_t>(more);
    }

    virtual std::map<std::string, double> numbers() const
    {
        std::vector<penstock_stream_stats> all;
        for (const auto &each : d_streams)
            all.push_back(stats_of_one(each.get()));
        return stats_of(all);
    }

    //! Back to the first item.
    virtual void restart()
    {
        for (const auto &each : d_streams)
            check(penstock_stream_reset(each.get()));
        this->d_later.clear();
        d_ended = false;
    }

    //! Without locks: waits for more input.
    virtual void gather(gr_vector_int &)
    {
    }
    virtual outcome work(const call &now) = 0;

    penstock_stream_info stream_info() const
    {
        auto info = description<penstock_stream_info>();
        check(penstock_stream_get_info(stream(), &info));
        return info;
    }

    //! In work: tells the stream the end where it has taken all items that there are, and no more will come.
    void finish_at_end(size_t taken, size_t available)
    {
        if (d_ended || taken < available || !input_ended(*this, available))
            return;
        check(penstock_stream_finish(stream()));
        d_ended = true;
    }

    //! Of a block with one input and one rate of output.
    outcome pass(size_t taken, size_t given, double due_s)
    {
        this->consume(0, static_cast<int>(taken));
        return {static_cast<int>(given), taken || given ? 0 : std::min(due_s, LONGEST_SLEEP_S)};
    }

  public:
    std::string device() const override
    {
        return penstock_stream_device(stream());
    }

    std::map<std::string, double> stats() final
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        const auto alone = chain_lock();
        return numbers();
    }

    bool start() final
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        part();
        make_changes_or_log();
        restart();
        d_stats.start();
        set_running(true);
        meet();
        return true;
    }

    bool stop() final
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        set_running(false);
        {
            const auto alone = chain_lock();
            make_changes_or_log();
        }
        stop_in_chain();
        return true;
    }

    int general_work(int noutput_items, gr_vector_int &ninput_items, gr_vector_const_void_star &input_items,
                     gr_vector_void_star &output_items) final
    {
        if (role_in_chain() == role::MEETING) // its neighbours start just now
            return wait_for_neighbours();
        gather(ninput_items);
        for (unsigned i = 0; d_waiting && i < 100; i++)
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        gr::thread::scoped_lock lock(this->d_setlock);
        auto alone = chain_lock();
        const works_for me(d_log);
        outcome result{0};
        size_t room;
        try {
            reach(ninput_items.empty() ? 0 : ninput_items[0]);
            make_changes_or_log();
            room = room_in_chain(static_cast<size_t>(noutput_items), alone);
            if (room)
                result = work({room, ninput_items, input_items, output_items});
            tell_device(alone);
            d_stats.publish([this] { return numbers(); }, result.last);
        } catch (const std::runtime_error &error) {
            this->d_logger->error("{}", error.what());
            return gr::block::WORK_DONE;
        }
        if (alone)
            alone.unlock();
        lock.unlock();
        if (!room)
            return wait_for_neighbours();
        if (result.sleep_s > 0)
            wait_for_input(*this, result.sleep_s);
        return result.items;
    }
};

//! A block that gathers items into batches.
template <typename Interface> class batch_block : public stream_block<Interface>
{
  protected:
    double d_max_latency_ms;

    explicit batch_block(double max_latency_ms) : d_max_latency_ms(max_latency_ms)
    {
    }

  public:
    void set_max_latency_ms(double max_latency_ms) override
    {
        const typename stream_block<Interface>::setting lock(*this);
        for (const auto &each : this->d_streams)
            check(penstock_stream_set_max_latency(each.get(), max_latency_ms / 1e3));
        d_max_latency_ms = max_latency_ms;
    }

    double max_latency_ms() const final
    {
        return d_max_latency_ms;
    }
};

//! A block that has the stock block's parameter of this name; the library's thread pool serves all blocks.
template <typename Block> class threads_kept : public Block
{
    int d_nthreads = 1;

  protected:
    using Block::Block;

  public:
    void set_nthreads(int nthreads) final
    {
        d_nthreads = nthreads;
    }

    int nthreads() const final
    {
        return d_nthreads;
    }
};

} // namespace penstock
} // namespace gr

#endif
