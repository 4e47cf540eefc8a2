/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Codes: decoders of blocks as plans, Viterbi decoding of a stream, encoders. */
#include "bind.h"
#include "plan.h"
#include "stream.h"

namespace penstock_python
{

static const char *const softs[] = {"s8", "f32", "hard", nullptr};
static const char *const results[] = {"lsb", "msb", "unpacked", nullptr};
static const char *const ends[] = {"zero", "open", "tail-biting", nullptr};

static int index_of(const char *const *names, const std::string &name, const char *argument)
{
    std::string all;
    for (int i = 0; names[i]; i++) {
        if (name == names[i])
            return i;
        all += std::string(i ? ", \"" : "\"") + names[i] + "\"";
    }
    fail(PENSTOCK_ERR_ARGUMENT, std::string(argument) + ": '" + name + "' is none of " + all);
}

static item soft_item(penstock_soft soft, std::vector<size_t> shape)
{
    static const dtype types[] = {INT8, FLOAT32, UINT8};
    return item{types[soft], std::move(shape), false};
}

static item bits_item(penstock_bits result, size_t bits)
{
    return item{UINT8, {result == PENSTOCK_BITS_UNPACKED ? bits : (bits + 7) / 8}, false};
}

/* ---------------------------------------------------------------- Viterbi --------------------- */

struct viterbi_settings {
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC();
    std::string puncture;
};

/* By a code's name, or from generators. */
static void describe_viterbi(viterbi_settings &made, nb::handle code, size_t bits, const std::string &puncture,
                             const std::optional<std::string> &end, const std::string &soft, const std::string &result,
                             float scale)
{
    made.desc.bits = bits;
    made.desc.soft = static_cast<penstock_soft>(index_of(softs, soft, "soft"));
    made.desc.result = static_cast<penstock_bits>(index_of(results, result, "result"));
    made.desc.scale = scale;
    if (nb::isinstance<nb::str>(code)) {
        check(penstock_viterbi_code(&made.desc, nb::cast<std::string>(code).c_str()));
    } else {
        const std::vector<size_t> generators = sizes_of(code, "code");
        if (generators.size() > PENSTOCK_MAX_GENERATORS)
            fail(PENSTOCK_ERR_ARGUMENT, "code: at most " + std::to_string(PENSTOCK_MAX_GENERATORS) + " generators");
        for (size_t i = 0; i < generators.size(); i++)
            made.desc.generators[i] = static_cast<unsigned>(generators[i]);
    }
    made.puncture = puncture;
    if (!puncture.empty())
        made.desc.puncture = made.puncture.c_str();
    if (end)
        made.desc.end = static_cast<penstock_trellis_end>(index_of(ends, *end, "end"));
}

struct viterbi_plan : plan {
    viterbi_settings settings;
};

static void make_viterbi_plan(viterbi_plan *made, nb::handle code, size_t bits, const std::string &puncture,
                              const std::optional<std::string> &end, const std::string &soft, const std::string &result,
                              float scale, size_t batch, unsigned slots, const std::string &device,
                              const context_ptr &given)
{
    new (made) viterbi_plan;
    size_t sent;
    penstock_viterbi_desc &desc = made->settings.desc;
    describe_viterbi(made->settings, code, bits, puncture, end, soft, result, scale);
    desc.batch = batch;
    desc.slots = slots;
    check(penstock_viterbi_sent(&sent, &desc));
    made->self.open(context_or_default(given), "plan", [&](penstock_plan **own, penstock_context *context) {
        return penstock_viterbi_plan(own, context, &desc, device.c_str());
    });
    made->in = soft_item(desc.soft, {sent});
    made->out = bits_item(desc.result, bits);
}

/* Coded bits of x, one a byte. */
template <typename F> static nb::object encoded(nb::handle x, const item &bits, size_t sent, F &&encode)
{
    const array_view from = array_view::in(x, bits, "x");
    array_view to;
    nb::object made = new_array(from.leading, item{UINT8, {sent}, false}, to);
    nb::gil_scoped_release release;
    check(encode(static_cast<uint8_t *>(to.data), static_cast<const uint8_t *>(from.data), from.count));
    return made;
}

static nb::object viterbi_encode(const viterbi_plan &self, nb::handle x)
{
    return encoded(x, self.out, self.in.shape[0], [&](uint8_t *coded, const uint8_t *bits, size_t blocks) {
        return penstock_viterbi_encode(&self.settings.desc, coded, bits, blocks);
    });
}

struct viterbi_stream : stream {
    viterbi_settings settings;
};

static void make_viterbi_stream(viterbi_stream *made, nb::handle code, size_t bits, const std::string &puncture,
                                const std::string &soft, const std::string &result, float scale, size_t batch,
                                const std::string &device, const context_ptr &given)
{
    new (made) viterbi_stream;
    penstock_viterbi_desc &desc = made->settings.desc;
    describe_viterbi(made->settings, code, bits, puncture, "open", soft, result, scale);
    desc.batch = batch;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_viterbi_stream_open(own, context, &desc, device.c_str());
    });
    made->in = soft_item(desc.soft, {});
    made->out = item{UINT8, {}, false};
}

static void bind_viterbi(nb::module_ &module)
{
    nb::class_<viterbi_plan, plan>(
        module, "ViterbiPlan",
        "Decodes blocks of a convolutional code: a call takes soft bits of shape (..., sent), "
        "positive where 0 is likelier, and gives bits, uint8 of shape (..., bytes).")
        .def("__init__", make_viterbi_plan, "code"_a, "bits"_a, nb::kw_only(), "puncture"_a = "", "end"_a = nb::none(),
             "soft"_a = "s8", "result"_a = "lsb", "scale"_a = 0.0f, "batch"_a = 0, "slots"_a = 0, "device"_a = "auto",
             "context"_a = nb::none(),
             "code: \"wifi:1/2\", \"dvb:3/4\", \"dab:1/4\", \"lte:1/3\", \"ccsds:7/8\", ... or generators, as [0o133, "
             "0o171]. bits: of a block. puncture: '1' for coded bits that are sent. end: \"zero\", \"open\" or "
             "\"tail-biting\". soft: \"s8\" int8, \"f32\" float32, \"hard\" uint8 of 0 and 1. result: \"lsb\" or "
             "\"msb\" first, eight a byte, or \"unpacked\", one a byte.")
        .def("encode", viterbi_encode, "x"_a,
             nb::sig("def encode(self, x: penstock.typing.Array) -> numpy.typing.NDArray[numpy.uint8]"),
             "Bits as a call gives them, (..., bytes), to coded bits that are sent, one a byte, (..., sent).");
    nb::class_<viterbi_stream, stream>(
        module, "ViterbiStream",
        "Decodes a convolutional code without blocks, as DVB-S has it: items in are soft "
        "bits, items out bytes, or bits where the result is \"unpacked\".")
        .def("__init__", make_viterbi_stream, "code"_a, nb::kw_only(), "bits"_a = 0, "puncture"_a = "", "soft"_a = "s8",
             "result"_a = "lsb", "scale"_a = 0.0f, "batch"_a = 0, "device"_a = "auto", "context"_a = nb::none(),
             "bits: of the windows in which it is decoded, 0: 2048; the rest as for ViterbiPlan.");
}

/* ---------------------------------------------------------------- LDPC ------------------------ */

struct ldpc_plan : plan {
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
    std::vector<int16_t> base;
    size_t bits = 0;
};

static void describe_ldpc(ldpc_plan &made, nb::handle code, unsigned lifting)
{
    if (nb::isinstance<nb::str>(code)) {
        check(penstock_ldpc_code(&made.desc, nb::cast<std::string>(code).c_str()));
        return;
    }
    nb::object matrix = nb::module_::import_("numpy").attr("ascontiguousarray")(code, "int16");
    array_view view = array_view::in(matrix, item{INT16, {}, false}, "code");
    if (view.leading.count != 2)
        fail(PENSTOCK_ERR_ARGUMENT, "code: a name, or a base matrix of two axes");
    const auto *shifts = static_cast<const int16_t *>(view.data);
    made.base.assign(shifts, shifts + view.count);
    made.desc.graph = PENSTOCK_LDPC_BASE;
    made.desc.base = made.base.data();
    made.desc.rows = static_cast<unsigned>(view.leading.sizes[0]);
    made.desc.columns = static_cast<unsigned>(view.leading.sizes[1]);
    made.desc.lifting = lifting;
}

static void make_ldpc_plan(ldpc_plan *made, nb::handle code, unsigned lifting, unsigned iterations, bool stop_early,
                           const std::string &soft, const std::string &result, float scale, bool soft_result,
                           size_t filler, size_t punctured_end, size_t batch, unsigned slots, const std::string &device,
                           const context_ptr &given)
{
    new (made) ldpc_plan;
    size_t sent;
    penstock_ldpc_desc &desc = made->desc;
    describe_ldpc(*made, code, lifting);
    desc.iterations = iterations;
    desc.stop_early = stop_early;
    desc.soft = static_cast<penstock_soft>(index_of(softs, soft, "soft"));
    desc.result = static_cast<penstock_bits>(index_of(results, result, "result"));
    desc.scale = scale;
    desc.soft_result = soft_result;
    desc.filler = filler;
    desc.punctured_end = punctured_end;
    desc.batch = batch;
    desc.slots = slots;
    check(penstock_ldpc_sizes(&made->bits, &sent, &desc));
    made->self.open(context_or_default(given), "plan", [&](penstock_plan **own, penstock_context *context) {
        return penstock_ldpc_plan(own, context, &desc, device.c_str());
    });
    made->in = soft_item(desc.soft, {sent});
    made->out = soft_result ? item{INT8, {made->bits}, false} : bits_item(desc.result, made->bits);
}

static nb::object ldpc_encode(const ldpc_plan &self, nb::handle x)
{
    return encoded(x, bits_item(self.desc.result, self.bits), self.in.shape[0],
                   [&](uint8_t *coded, const uint8_t *bits, size_t blocks) {
                       return penstock_ldpc_encode(&self.desc, coded, bits, blocks);
                   });
}

static void bind_ldpc(nb::module_ &module)
{
    nb::class_<ldpc_plan, plan>(
        module, "LdpcPlan",
        "Decodes blocks of a quasi-cyclic low-density parity-check code: a call takes soft bits "
        "of shape (..., sent) and gives the data bits, uint8 of shape (..., bytes), or with "
        "soft_result int8 of shape (..., bits).")
        .def("__init__", make_ldpc_plan, "code"_a, nb::kw_only(), "lifting"_a = 0, "iterations"_a = 0,
             "stop_early"_a = false, "soft"_a = "s8", "result"_a = "lsb", "scale"_a = 0.0f, "soft_result"_a = false,
             "filler"_a = 0, "punctured_end"_a = 0, "batch"_a = 0, "slots"_a = 0, "device"_a = "auto",
             "context"_a = nb::none(),
             "code: \"wifi:1944:1/2\", \"nr:bg1:384\", \"nr:bg2:52:12\", \"ccsds:1024:1/2\", ... or a base matrix of "
             "shifts, -1 for a zero block, with its lifting. iterations: 0: 10. stop_early: when all checks hold. soft "
             "and result as for ViterbiPlan.")
        .def("encode", ldpc_encode, "x"_a,
             nb::sig("def encode(self, x: penstock.typing.Array) -> numpy.typing.NDArray[numpy.uint8]"),
             "Data bits, (..., bytes), to bits that are sent, one a byte, (..., sent).");
}

void bind_codes(nb::module_ &module)
{
    bind_viterbi(module);
    bind_ldpc(module);
}

} // namespace penstock_python
