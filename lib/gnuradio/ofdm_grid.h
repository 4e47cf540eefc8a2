/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_OFDM_GRID_H
#define INCLUDED_PENSTOCK_OFDM_GRID_H

#include <gnuradio/gr_complex.h>
#include <penstock/penstock.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/* The grid of the C library from that of the stock blocks. */
struct ofdm_grid {
    std::vector<int32_t> carriers, pilots;
    std::vector<penstock_cf32> pilot_values, training;
    size_t pilot_rows = 0, training_symbols = 0;

    static std::vector<int32_t> one_list(const char *name, const std::vector<std::vector<int>> &lists, int fft_len)
    {
        if (lists.size() > 1)
            throw std::runtime_error(std::string("ofdm_demod: ") + name + " has " + std::to_string(lists.size()) +
                                     " lists, not one");
        std::vector<int32_t> all;
        for (const auto &list : lists)
            for (int carrier : list)
                all.push_back(carrier > (fft_len - 1) / 2 && carrier < fft_len ? carrier - fft_len : carrier);
        return all;
    }

    void add_pilots(const std::vector<std::vector<gr_complex>> &symbols)
    {
        for (const auto &row : symbols) {
            if (row.size() != pilots.size())
                throw std::runtime_error("ofdm_demod: pilot_symbols has a list of " + std::to_string(row.size()) +
                                         ", there are " + std::to_string(pilots.size()) + " pilot_carriers");
            for (const auto &value : row)
                pilot_values.push_back({value.real(), value.imag()});
        }
        pilot_rows = pilots.empty() ? 0 : symbols.size();
    }

    void add_sync_word(const std::vector<gr_complex> &word, size_t fft_len)
    {
        if (word.empty())
            return;
        if (word.size() != fft_len)
            throw std::runtime_error("ofdm_demod: a sync word has " + std::to_string(word.size()) + " values, not " +
                                     std::to_string(fft_len));
        training.resize(fft_len);
        for (size_t i = 0; i < fft_len; i++)
            training[(i + fft_len - fft_len / 2) % fft_len] = {word[i].real(), word[i].imag()};
        training_symbols++;
    }
};

} // namespace penstock
} // namespace gr

#endif
