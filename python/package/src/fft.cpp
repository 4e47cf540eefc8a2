/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The batched FFT, windows, and taps. */
#include "bind.h"
#include "plan.h"

namespace penstock_python
{

penstock_output output_of(const std::string &name)
{
    static const char *const names[] = {"complex", "power", "decibel"};
    for (int i = 0; i < 3; i++)
        if (name == names[i])
            return static_cast<penstock_output>(i);
    fail(PENSTOCK_ERR_ARGUMENT, "output: '" + name + "' is none of \"complex\", \"power\", \"decibel\"");
}

std::vector<float> window_of(nb::handle given, size_t n)
{
    if (!nb::isinstance<nb::str>(given))
        return floats_of(given, "window");
    std::vector<float> window(n);
    check(penstock_window_fill(window.data(), n, nb::cast<std::string>(given).c_str()));
    return window;
}

const float *factors_or_null(const std::vector<float> &factors, size_t n)
{
    if (!factors.empty() && factors.size() != n)
        fail(PENSTOCK_ERR_ARGUMENT, "window: " + std::to_string(factors.size()) + " factors, not " + std::to_string(n));
    return factors.empty() ? nullptr : factors.data();
}

struct fft_plan : plan {
};

/* Axes of a frame's values, of which there are `n`: rows and columns have two. */
static std::vector<size_t> frame_shape(const penstock_fft_desc &desc, size_t n)
{
    if (desc.rows > 1)
        return {desc.rows, desc.n / desc.rows};
    if (desc.columns > 1)
        return {desc.n / desc.columns, desc.columns};
    return {n};
}

static void describe_frames(fft_plan &self, const penstock_fft_desc &desc)
{
    const bool real = desc.domain == PENSTOCK_REAL, forward = desc.direction == PENSTOCK_FORWARD;
    const bool values_real = desc.store.output != PENSTOCK_OUTPUT_COMPLEX || (real && !forward);
    std::vector<size_t> shape = frame_shape(desc, real && forward ? desc.n / 2 + 1 : desc.n);
    if (desc.store.half && !values_real)
        shape.push_back(2);
    self.out = item{desc.store.half ? FLOAT16 : values_real ? FLOAT32 : COMPLEX64, shape, false};
    if (desc.load.spacing || desc.load.skip)
        self.in = item_of(desc.load.format);
    else
        self.in = item_of(desc.load.format, frame_shape(desc, real && !forward ? desc.n / 2 + 1 : desc.n));
    if (desc.load.spacing || desc.load.skip) {
        self.reach = desc.load.skip + (real && !forward ? desc.n / 2 + 1 : desc.n);
        self.spacing = desc.load.spacing ? desc.load.spacing : self.reach;
    }
    self.average = desc.store.average ? desc.store.average : 1;
}

static void make_fft_plan(fft_plan *made, size_t n, bool reverse, bool real, const std::optional<std::string> &format,
                          nb::handle window, size_t spacing, size_t skip, double shift, const std::string &output,
                          bool centered, bool half, float scale, unsigned average, size_t rows, size_t columns,
                          size_t batch, unsigned slots, bool tune, const std::string &device, const context_ptr &given)
{
    new (made) fft_plan;
    penstock_fft_desc desc = PENSTOCK_FFT_DESC();
    const std::vector<float> factors = window_of(window, n);
    desc.n = n;
    desc.direction = reverse ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
    desc.domain = real ? PENSTOCK_REAL : PENSTOCK_COMPLEX;
    desc.load.format = format ? format_of(format->c_str()) : real && !reverse ? PENSTOCK_F32 : PENSTOCK_CF32;
    desc.load.window = factors_or_null(factors, n);
    desc.load.spacing = spacing;
    desc.load.skip = skip;
    desc.load.shift = shift;
    desc.store.output = output_of(output);
    desc.store.centered = centered;
    desc.store.half = half;
    desc.store.scale = scale;
    desc.store.average = average;
    desc.rows = rows;
    desc.columns = columns;
    desc.batch = batch;
    desc.slots = slots;
    desc.tune = tune;
    made->self.open(context_or_default(given), "plan", [&](penstock_plan **plan, penstock_context *context) {
        return penstock_fft_plan(plan, context, &desc, device.c_str());
    });
    describe_frames(*made, desc);
}

void bind_fft(nb::module_ &module)
{
    nb::class_<fft_plan, plan>(
        module, "FftPlan",
        "Batched discrete Fourier transforms: X[k] = sum x[j] exp(-2 pi i j k / n), or with reverse the other sign, "
        "not "
        "divided by n.\n\nA call takes an array of shape (..., n) and gives (..., n), complex64 both. real: float32 of "
        "shape (..., n) to complex64 of (..., n // 2 + 1), and back with reverse. format \"cs16\", \"cs8\", \"cu8\" or "
        "\"cf16\": integers or float16 of shape (..., n, 2); \"planar\": float32 of shape (2, ..., n). output "
        "\"power\" "
        "or \"decibel\": float32. half: float16 results, complex ones with a last axis of 2. rows: (..., rows, n // "
        "rows); columns: (..., n // columns, columns). average: the mean power of so many frames along the last axis "
        "but one. spacing or skip: x is one array of samples, in which frames begin so many samples apart and leave "
        "out "
        "`skip` at their start.\n\nError: at most 1.0e-7 sqrt(log2 n), relative to the whole.")
        .def("__init__", make_fft_plan, "n"_a, nb::kw_only(), "reverse"_a = false, "real"_a = false,
             "format"_a = nb::none(), "window"_a = nb::none(), "spacing"_a = 0, "skip"_a = 0, "shift"_a = 0.0,
             "output"_a = "complex", "centered"_a = false, "half"_a = false, "scale"_a = 1.0f, "average"_a = 1,
             "rows"_a = 0, "columns"_a = 0, "batch"_a = 0, "slots"_a = 0, "tune"_a = false, "device"_a = "auto",
             "context"_a = nb::none(),
             nb::sig("def __init__(self, n: int, *, reverse: bool = False, real: bool = False, format: str | None = "
                     "None, window: str | numpy.typing.ArrayLike | None = None, spacing: int = 0, skip: int = 0, "
                     "shift: float = 0.0, output: str = 'complex', centered: bool = False, half: bool = False, scale: "
                     "float = 1.0, average: int = 1, rows: int = 0, columns: int = 0, batch: int = 0, slots: int = 0, "
                     "tune: bool = False, device: str = 'auto', context: Context | None = None) -> None"),
             "n: transform length, 1 .. 2**23. window: n factors, or a name as for window(). shift: in turns per "
             "sample, -0.5 .. 0.5. scale: factor on the values. batch: frames that a call usually brings.");
    module.def(
        "window",
        [](const std::string &name, size_t n) {
            array_view view;
            nb::object made = new_array(n, item{FLOAT32, {}, false}, view);
            check(penstock_window_fill(static_cast<float *>(view.data), n, name.c_str()));
            return made;
        },
        "name"_a, "n"_a, nb::sig("def window(name: str, n: int) -> numpy.typing.NDArray[numpy.float32]"),
        "n factors of a window, float32 of shape (n,), in the periodic form: \"rectangular\", \"hann\", \"hamming\", "
        "\"blackman\", \"blackman-harris\", \"nuttall\", \"flat-top\", \"bartlett\", \"kaiser:BETA\", "
        "\"gaussian:SIGMA\".");
}

} // namespace penstock_python
