/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The module penstock._lib.core: the C library for Python. No signal processing is done here. */
#include "bind.h"

namespace penstock_python
{

static void translate(const std::exception_ptr &thrown, void *)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const failure &error) {
        nb::object kind = nb::module_::import_("penstock.errors").attr("of_status")(error.status);
        PyErr_SetObject(kind.ptr(), nb::str(error.text.c_str()).ptr());
    }
}

void bind_errors(nb::module_ &module)
{
    nb::register_exception_translator(translate);
    module.def(
        "status_text", [](int status) { return std::string(penstock_status_text(status)); }, "status"_a,
        "The general meaning of a status.");
    module.def(
        "version", [] { return std::string(penstock_version()); }, "Version of the C library, as \"0.1.0\".");
}

} // namespace penstock_python

NB_MODULE(core, module)
{
    using namespace penstock_python;
    nb::set_leak_warnings(false); /* the library prints nothing */
    bind_errors(module);
    bind_context(module);
    bind_device(module);
    bind_plan(module);
    bind_fft(module);
    bind_stream(module);
    bind_transforms(module);
    bind_filters(module);
    bind_banks(module);
    bind_files(module);
    bind_codes(module);
    bind_signals(module);
    bind_wifi(module);
    bind_ofdm(module);
}
