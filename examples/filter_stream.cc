/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The library in C++: a transform of a batch and a filter that runs on a stream. C++17 or later.
 *
 *     c++ -std=c++17 filter_stream.cc $(pkg-config --cflags --libs penstock) -o filter_stream && ./filter_stream cpu
 */
#include <penstock/penstock.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

namespace
{

/* Objects are freed in the reverse order of their declaration: what was made from a context before the context. */
struct free_object {
    void operator()(penstock_context *context) const
    {
        penstock_context_free(context);
    }
    void operator()(penstock_plan *plan) const
    {
        penstock_plan_free(plan);
    }
    void operator()(penstock_stream *filter) const
    {
        penstock_stream_free(filter);
    }
};
template <typename T> using owned = std::unique_ptr<T, free_object>;

void check(int status)
{
    if (status)
        throw std::runtime_error(penstock_error_text());
}

using samples = std::vector<std::complex<float>>;

const penstock_cf32 *data(const samples &values)
{
    return reinterpret_cast<const penstock_cf32 *>(values.data()); /* the same layout */
}

owned<penstock_context> new_context()
{
    penstock_context *context = nullptr;
    check(penstock_context_new(&context, nullptr));
    return owned<penstock_context>(context);
}

/* A low-pass filter, and the shift that moves what is at `frequency` to zero. */
owned<penstock_stream> new_filter(penstock_context *context, const char *device, double frequency)
{
    std::vector<float> taps(penstock_taps_length(0.05, 60));
    penstock_stream *filter = nullptr;
    penstock_filter_desc desc = PENSTOCK_FILTER_DESC();
    check(penstock_taps_design(taps.data(), taps.size(), PENSTOCK_LOW_PASS, 0.05, 0, 60));
    desc.real_taps = taps.data();
    desc.tap_count = taps.size();
    desc.decimation = 4;
    desc.shift = -frequency;
    /* In C++20 also: penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.real_taps = ...), device) */
    check(penstock_filter_open(&filter, context, &desc, device));
    return owned<penstock_stream>(filter);
}

/* All values that the filter makes of `in`: pushed as far as it takes them, pulled, and pushed again. */
samples filtered(penstock_stream *filter, const samples &in)
{
    samples out, some(4096);
    size_t done = 0, count = 0;
    do {
        size_t taken = 0;
        if (done < in.size()) {
            check(penstock_stream_push(filter, data(in) + done, in.size() - done, &taken));
            if ((done += taken) == in.size())
                check(penstock_stream_finish(filter));
        }
        check(penstock_stream_pull(filter, some.data(), some.size(), false, &count));
        out.insert(out.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    } while (done < in.size() || count);
    return out;
}

/* The bin of one transform of `values` with the most power. */
size_t strongest_bin(penstock_context *context, const char *device, const samples &values)
{
    penstock_plan *made = nullptr;
    penstock_fft_desc desc = PENSTOCK_FFT_DESC();
    std::vector<float> power(values.size());
    desc.n = values.size();
    desc.store.output = PENSTOCK_OUTPUT_POWER;
    check(penstock_fft_plan(&made, context, &desc, device));
    owned<penstock_plan> plan(made);
    check(penstock_plan_run(plan.get(), values.data(), power.data(), 1));
    size_t best = 0;
    for (size_t k = 0; k < power.size(); k++)
        best = power[k] > power[best] ? k : best;
    return best;
}

int run(const char *device)
{
    const size_t length = 1024, decimation = 4;
    const double tone = 0.2 + 16.0 / (decimation * length); /* cycles per sample */
    auto context = new_context();
    auto filter = new_filter(context.get(), device, 0.2);
    samples in(decimation * length * 2);
    for (size_t i = 0; i < in.size(); i++) {
        double turns = tone * static_cast<double>(i);
        in[i] = std::polar(1.0f, static_cast<float>(2 * 3.14159265358979 * (turns - std::floor(turns))));
    }
    samples out = filtered(filter.get(), in);
    samples last(out.end() - static_cast<std::ptrdiff_t>(length), out.end()); /* the filter has settled */
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    check(penstock_filter_get_info(filter.get(), &info));
    const size_t bin = strongest_bin(context.get(), device, last);
    std::printf("%s: %zu samples made %zu values; the tone is in bin %zu\n", info.device, in.size(), out.size(), bin);
    return out.size() == in.size() / decimation && bin == 16 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc > 1 ? argv[1] : "auto");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
