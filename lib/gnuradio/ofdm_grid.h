/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_OFDM_GRID_H
#define INCLUDED_PENSTOCK_OFDM_GRID_H

#include "core.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/* The grid of the C library from that of the stock blocks. */
class ofdm_grid
{
    using lists = std::vector<std::vector<int>>;
    using word = std::vector<gr_complex>;

    const int d_fft_len;
    const std::vector<int32_t> d_carriers, d_pilots;
    std::vector<penstock_cf32> d_pilot_values, d_training;
    size_t d_pilot_rows = 0, d_training_symbols = 0;

    std::vector<int32_t> one_list(const char *name, const lists &all) const
    {
        if (all.size() > 1)
            throw std::runtime_error(std::string("ofdm_demod: ") + name + " has " + std::to_string(all.size()) +
                                     " lists, not one");
        std::vector<int32_t> one;
        for (const auto &list : all)
            for (int carrier : list)
                one.push_back(carrier > (d_fft_len - 1) / 2 && carrier < d_fft_len ? carrier - d_fft_len : carrier);
        return one;
    }

    void add_pilots(const std::vector<word> &symbols)
    {
        for (const auto &row : symbols) {
            if (row.size() != d_pilots.size())
                throw std::runtime_error("ofdm_demod: pilot_symbols has a list of " + std::to_string(row.size()) +
                                         ", there are " + std::to_string(d_pilots.size()) + " pilot_carriers");
            for (const auto &value : row)
                d_pilot_values.push_back({value.real(), value.imag()});
        }
        d_pilot_rows = d_pilots.empty() ? 0 : symbols.size();
    }

    void add_sync_word(const word &values)
    {
        const auto n = static_cast<size_t>(d_fft_len);
        if (values.empty())
            return;
        if (values.size() != n)
            throw std::runtime_error("ofdm_demod: a sync word has " + std::to_string(values.size()) + " values, not " +
                                     std::to_string(n));
        d_training.resize(n);
        for (size_t i = 0; i < n; i++)
            d_training[(i + n - n / 2) % n] = {values[i].real(), values[i].imag()};
        d_training_symbols++;
    }

  public:
    ofdm_grid(int fft_len, const lists &carriers, const lists &pilots, const std::vector<word> &pilot_symbols,
              const word &sync_word1, const word &sync_word2)
        : d_fft_len(fft_len), d_carriers(one_list("occupied_carriers", carriers)),
          d_pilots(one_list("pilot_carriers", pilots))
    {
        add_pilots(pilot_symbols);
        add_sync_word(sync_word1);
        add_sync_word(sync_word2);
    }

    //! Good as long as the grid lives.
    penstock_ofdm_stream_desc describe() const
    {
        auto desc = description<penstock_ofdm_stream_desc>();
        desc.n = static_cast<size_t>(d_fft_len);
        desc.carriers = d_carriers.data();
        desc.carrier_count = d_carriers.size();
        desc.pilots = d_pilots.data();
        desc.pilot_count = d_pilots.size();
        desc.pilot_values = d_pilot_values.data();
        desc.pilot_rows = d_pilot_rows;
        desc.training = d_training.empty() ? nullptr : d_training.data();
        desc.training_symbols = d_training_symbols;
        return desc;
    }
};

} // namespace penstock
} // namespace gr

#endif
