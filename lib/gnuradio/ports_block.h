/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* A block with a stream of the library for each port. A port whose input has ended keeps no other from going on. */
#ifndef INCLUDED_PENSTOCK_PORTS_BLOCK_H
#define INCLUDED_PENSTOCK_PORTS_BLOCK_H

#include "stream_block.h"

namespace gr
{
namespace penstock
{

//! Interface is the public class of the block.
template <typename Interface> class ports_block : public batch_block<Interface>
{
    using base = batch_block<Interface>;

    struct port_state {
        size_t waiting = 0; // items taken and not handed out
        bool finished = false;
    };
    std::vector<port_state> d_ports;

  protected:
    using base::base;
    using typename base::call, typename base::outcome;

    void restart() override
    {
        this->set_relative_rate(1, 1); // what ask_for_buffers() said was for the buffers alone
        this->d_streams.erase(this->d_streams.begin() + this->detail()->ninputs(), this->d_streams.end());
        d_ports.assign(this->d_streams.size(), {});
        base::restart();
    }

    //! The one port of a block in a chain: in its middle items count as given when they come, with those that had not
    //! been when it was linked.
    void hand_on(const port_state &port, size_t available, size_t &taken, void *out, size_t capacity, size_t &given)
    {
        const bool last = this->role_in_chain() == base::role::LAST;
        taken = last ? available : std::min(available, capacity);
        given = last ? this->pull_chain(out, std::min(port.waiting + taken, capacity))
                     : std::min(port.waiting + taken, capacity);
    }

    bool can_join() override
    {
        return this->role_in_chain() != base::role::MIDDLE || !d_ports[0].waiting;
    }

    double due_s(size_t index) const
    {
        return !this->is_linked()                          ? penstock_stream_due_s(this->d_streams[index].get())
               : this->role_in_chain() == base::role::LAST ? this->chain_due_s()
                                                           : base::LONGEST_SLEEP_S;
    }

    //! Whether anything came or went.
    bool run(unsigned index, const call &now)
    {
        auto &port = d_ports[index];
        const auto available = static_cast<size_t>(now.available[index]);
        size_t taken, given;
        if (this->is_linked())
            hand_on(port, available, taken, now.out[index], now.capacity, given);
        else
            check(penstock_stream_run(this->d_streams[index].get(), now.in[index], port.finished ? 0 : available,
                                      &taken, now.out[index], now.capacity, &given));
        if (!port.finished && taken == available && input_ended(*this, available, index)) {
            if (!this->is_linked())
                check(penstock_stream_finish(this->d_streams[index].get()));
            else if (this->role_in_chain() == base::role::LAST)
                this->finish_chain();
            port.finished = true;
        }
        // GNU Radio would pass tags on after general_work(): too late for who takes at once what produce() hands out.
        const uint64_t next = this->nitems_written(index) + port.waiting;
        this->pass_tags(this->nitems_read(index), taken, index, [next](uint64_t i) { return next + i; });
        port.waiting += taken - given;
        this->consume(static_cast<int>(index), static_cast<int>(taken));
        this->produce(static_cast<int>(index), static_cast<int>(given));
        return taken || given;
    }

    outcome work(const call &now) override
    {
        bool busy = false;
        double due_s = base::LONGEST_SLEEP_S;
        for (unsigned i = 0; i < now.out.size(); i++) {
            busy |= run(i, now);
            due_s = std::min(due_s, this->due_s(i));
        }
        return {gr::block::WORK_CALLED_PRODUCE, busy ? 0 : due_s};
    }

  public:
    void forecast(int, gr_vector_int &required) override
    {
        bool waiting = this->is_asked(), all_ended = true;
        for (unsigned i = 0; i < required.size(); i++) {
            const bool ended = input_ended(*this, 0, i);
            required[i] = ended ? 0 : 1;
            waiting |= d_ports[i].waiting > 0;
            all_ended &= ended;
        }
        if (waiting || all_ended) // work without input, or the end
            std::fill(required.begin(), required.end(), waiting ? 0 : 1);
    }
};

} // namespace penstock
} // namespace gr

#endif
