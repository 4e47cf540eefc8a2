# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Writes hostile calls of every public function as C, from the headers. Usage: hostile_calls.py INCLUDE OUTPUT

Each call has one hostile argument (NULL, 0, -1, the largest, 2^61, NaN, a struct of a wrong size or with a hostile
field, misaligned or overlapping memory) and good values for the others, so that it is reached. A function, or a type of
an argument, that is not known here is an error: none is forgotten."""

import pathlib
import re
import sys

INCLUDE, OUTPUT = sys.argv[1:]
TEXT = "\n".join(path.read_text() for path in sorted(pathlib.Path(INCLUDE, "penstock").glob("*.h")))
CODE = re.sub(r"/\*.*?\*/|//[^\n]*", " ", TEXT, flags=re.S)

WORDS = {"size_t": ["0", "SIZE_MAX", "SIZE_MAX / 8 + 1", "SIZE_MAX / 2", "SIZE_MAX / 8 + 2"],
         "uint64_t": ["0", "UINT64_MAX", "(uint64_t)1 << 61"],
         "int64_t": ["-1", "INT64_MIN"],
         "uint32_t": ["0", "UINT32_MAX"],
         "unsigned": ["0", "UINT_MAX", "1u << 30"],
         "int": ["-1", "INT_MAX", "INT_MIN"],
         "double": ["(double)NAN", "(double)INFINITY", "-1.0", "0.0", "1e300"],
         "float": ["NAN", "INFINITY", "-1.0f", "0.0f", "1e38f"],
         "bool": ["true"]}
BYTES_OR_FLOATS = {"void", "float", "penstock_cf32", "uint8_t"}
SIZES = ["0", "3", "12", "SIZE_MAX", "SIZE_MAX / 8 + 1"]
TEXTS = ["NULL", '""', '"no such thing"', "hostile_long_text"]
ENUM = ["({})-1", "({})1000", "({})INT_MAX"]
ENUMS = set(re.findall(r"typedef enum \w+\s*\{[^}]*\}\s*(\w+);", CODE))
MEMORY = {"void", "float", "penstock_cf32", "uint8_t", "uint16_t", "double", "size_t"}

# Which object a function wants, where its type is not enough.
STREAMS = {"penstock_filter_": "filter", "penstock_resampler_": "resampler", "penstock_spectrum_": "spectrum",
           "penstock_fft_stream_": "fft_stream",
           "penstock_channelizer_": "channelizer", "penstock_synthesizer_": "synthesizer",
           "penstock_ofdm_stream_": "ofdm_stream", "penstock_wifi_receiver_": "wifi_receiver"}
SETTINGS = {"penstock_viterbi_stream_open": ["the_desc.end = PENSTOCK_TRELLIS_OPEN;", "the_desc.bits = 0;"]}
SINGLE = {"count", "taken", "given", "room", "wanted", "index", "ticket", "position", "from", "bytes"}
PLACES = {"b": 2, "edges": 3, "select": 4}
KINDS = ["filter", "resampler", "spectrum", "fft_stream", "channelizer", "synthesizer", "ofdm_stream",
         "wifi_receiver"]
OBJECTS = ["buffer", "channel", "ofdm", "ofdm_estimator", "source", "sink", "files", "file", "queue",
           "bench"]

# Good values of numbers and texts: by function and argument, else by argument, else by type.
GOOD = {("penstock_context_tell_choices", "tell"): "NULL", ("penstock_log_as", "log_user"): "NULL",
        ("penstock_stream_link_channel", "channel"): "0",
        ("penstock_resampler_open", "device"): '"cpu"', ("penstock_resampler_set_ratio", "ratio"): "1.5",
        ("penstock_resampler_set_taps", "taps"): "NULL",
        ("penstock_channelizer_taps_length", "hop"): "8", ("penstock_channelizer_taps", "count"): "64",
        ("penstock_channelizer_dual", "dual_count"): "64", ("penstock_channelizer_dual", "tap_count"): "64",
        ("penstock_channelizer_set_taps", "tap_count"): "64", ("penstock_viterbi_code", "name"): '"wifi"',
        ("penstock_viterbi_plan", "device"): '"cpu"', ("penstock_ldpc_plan", "device"): '"cpu"',
        ("penstock_ldpc_code", "name"): '"wifi:648:1/2"',
        ("penstock_window_fill", "name"): '"hann"', ("penstock_spectrum_set_window", "window"): '"hann"',
        ("penstock_device_find", "name"): "hostile_device", ("penstock_wifi_profile_parse", "name"): '"wifi"',
        ("penstock_format_parse", "text"): '"cs16"', ("penstock_source_open", "text"): "hostile_input",
        ("penstock_taps_equiripple", "count"): "31", ("penstock_taps_root_raised_cosine", "count"): "31",
        ("penstock_taps_design", "count"): "31", ("penstock_stream_commit", "count"): "0",
        ("penstock_stream_release", "count"): "0", ("penstock_plan_wait", "ticket"): "0",
        ("penstock_buffer_slice", "at"): "0", ("penstock_buffer_wrap", "native"): "(uintptr_t)hostile_memory(1)",
        ("penstock_device_get", "index"): "0", ("penstock_source_get_capture", "index"): "0",
        ("penstock_source_get_position", "sample"): "0", ("penstock_filter_set_taps", "real_taps"): "NULL",
        ("penstock_filter_set_channel_taps", "real_taps"): "NULL",
        ("penstock_taps_measured", "count"): "512", ("penstock_taps_design", "low"): "0.1",
        ("penstock_taps_measured", "low"): "0.1",
        ("penstock_synthesizer_set_select", "select"): "NULL", ("penstock_synthesizer_set_select", "select_count"): "0",
        ("penstock_filter_set_channel_taps", "channel"): "0", ("penstock_filter_set_shift", "channel"): "0",
        ("penstock_wifi_modulate", "length"): "20",
        ("penstock_wifi_frame_samples", "length"): "20", ("penstock_channelizer_set_select", "select_count"): "1"}
BY_NAME = {"device": "hostile_device", "path": "hostile_output", "low": "0.0", "high": "0.2", "transition": "0.1",
           "attenuation_db": "60.0", "rate_hz": "5e5", "samples_per_symbol": "4.0", "rolloff": "0.35", "channels": "8",
           "hop": "8", "delay": "56", "n": "64", "symbols": "2", "cfo": "1e-4", "at": "0", "stop_weight": "1.0",
           "start": "0.0", "step": "0.001", "profile": "PENSTOCK_WIFI", "max_latency_s": "0.1", "status": "-1",
           "tap_count": "31", "band": "PENSTOCK_LOW_PASS", "format": "PENSTOCK_CS16"}
BY_TYPE = {"size_t": "16", "uint64_t": "16", "uint32_t": "1", "unsigned": "1", "int": "0", "double": "0.1",
           "bool": "false"}

# What no function could tell from a good call: how much lies at the address of a function that returns no error.
UNTELLABLE = {("penstock_log_as", "log_user"), ("penstock_wifi_fcs", "count"), ("penstock_half_from_float", "count"),
              ("penstock_half_to_float", "count"),
              ("penstock_half_from_float", "halves"), ("penstock_half_from_float", "floats"),
              ("penstock_half_to_float", "halves"), ("penstock_half_to_float", "floats"),
              ("penstock_wifi_fcs", "bytes"),
              ("penstock_file_write", "count", "SIZE_MAX / 8 + 2"),
              ("penstock_file_write", "count", "SIZE_MAX / 8 + 1"), ("penstock_file_write", "count", "SIZE_MAX / 2")}

def functions():
    for match in re.finditer(r"PENSTOCK_API\s+([^;{}]+?)\s*\(([^;{}]*)\)\s*;", CODE):
        head, arguments = (re.sub(r"\s+", " ", part).strip() for part in match.groups())
        returned, name = re.fullmatch(r"(.*?)(\w+)", head).groups()
        yield returned.strip(), name, [] if arguments == "void" else [argument(text) for text in arguments.split(",")]

def argument(text):
    kind, name = re.fullmatch(r"\s*(.*?)(\w+)\s*", text).groups()
    return kind.replace("struct ", "").strip(), name

def structs():
    """Names of fields and their types, of each struct with a size."""
    for match in re.finditer(r"typedef struct (\w+)\s*\{(.*?)\}\s*\w+;", CODE, flags=re.S):
        fields = []
        for line in match.group(2).split(";"):
            line = re.sub(r"\s+", " ", line).strip().replace("struct ", "")
            if not line or "[" in line:
                continue
            first, *others = line.split(",")
            kind, name = re.fullmatch(r"(.*?)(\w+)", first.strip()).groups()
            fields += [(kind.strip(), field.strip(" *")) for field in [name, *others]]
        yield match.group(1), fields

STRUCTS = dict(structs())
FILLED = {"penstock_ofdm_batch", "penstock_ofdm_result", "penstock_ofdm_frame", "penstock_viterbi_batch"}

def words_for(kind):
    if kind in ENUMS:
        return [text.format(kind) for text in ENUM]
    return WORDS.get(kind)

def base_of(kind):
    return kind.replace("const ", "").replace("*", "").replace("const", "").strip()

def stream_kinds(function):
    for prefix, kind in STREAMS.items():
        if function.startswith(prefix):
            return [kind]
    return KINDS

def good(function, kind, name, stream):
    """Statements, and the expression."""
    base, stars = base_of(kind), kind.count("*")
    known = GOOD.get((function, name))
    if stars == 0:
        expression = known or BY_NAME.get(name) or BY_TYPE.get(kind) or (f"({kind})0" if kind in ENUMS else None)
        if expression:
            return [], expression
    elif base == "char" and stars == 1:
        return [], known or BY_NAME.get(name, '"x"')
    elif base == "penstock_context" and stars == 1:
        return [], "hostile_context"
    elif base == "penstock_stream" and stars == 1:
        return [], f'hostile_stream("{stream}")'
    elif base == "penstock_plan" and stars == 1:
        return [], f'hostile_plan("{"viterbi" if "viterbi" in function else "fft"}")'
    elif base.removeprefix("penstock_") in OBJECTS and stars == 1:
        return [], f"hostile_{base.removeprefix('penstock_')}()"
    elif base in STRUCTS and stars == 1 and base != "penstock_cf32":
        filled = base.endswith("_desc") or base in FILLED
        return [f"{base} the_{name} = {{{'0' if filled else f'.size = sizeof the_{name}'}}};",
                *([f"hostile_fill_{base}(&the_{name});"] if filled else []),
                *SETTINGS.get(function, [])], f"&the_{name}"
    elif known == "NULL":
        return [], "NULL"
    elif stars == 2 and (kind.startswith("void *const") or kind.startswith("const void *const") or "const *" in kind):
        return [], f"({kind})hostile_arrays_{'in' if kind.startswith('const') else 'out'}"
    elif stars == 2:
        const = "const " if kind.startswith("const ") else ""
        return [f"{const}{base} *made_{name} = HOSTILE_MARK;"], f"&made_{name}"
    elif stars == 1 and (base in MEMORY or base in BY_TYPE or base in ENUMS):
        place = 1 if kind.startswith("const") else 0
        if name in SINGLE and not place:
            return [f"{base} the_{name} = {known or 0};"], f"&the_{name}"
        return [], f"(void *)hostile_memory({PLACES.get(name, place)})"
    sys.exit(f"{function}: no good value is known for '{kind} {name}'")

def hostile(function, kind, name):
    """Expressions in place of the good one, or (None, what is done to the good struct)."""
    base, stars = base_of(kind), kind.count("*")
    if stars == 0:
        values = words_for(kind)
        if values is None:
            sys.exit(f"{function}: no hostile value is known for '{kind} {name}'")
        return [(value, None) for value in values]
    if base == "char":
        return [(value, None) for value in TEXTS]
    values = [("NULL", None)]
    if base == "penstock_stream" and stars == 1 and stream_kinds(function) != KINDS:
        values.append(('hostile_stream("{}")'.format(next(k for k in KINDS if k not in stream_kinds(function))), None))
    if base in STRUCTS and stars == 1 and base != "penstock_cf32":
        for field_kind, field in STRUCTS[base]:
            if field == "size":
                values += [(None, f"the_{name}.size = {size};") for size in SIZES]
            elif not kind.startswith("const"):
                continue
            elif field_kind.endswith("*"):
                values.append((None, f"the_{name}.{field} = NULL;"))
            elif base_of(field_kind) == "penstock_log_fn" or field_kind in STRUCTS:
                continue
            elif words_for(field_kind):
                values += [(None, f"the_{name}.{field} = {value};") for value in words_for(field_kind)]
            else:
                sys.exit(f"{base}: no hostile value is known for '{field_kind} {field}'")
    elif stars == 1 and base in BYTES_OR_FLOATS and function != "penstock_host_memory_free":
        values.append((f"(void *)(hostile_memory({1 if kind.startswith('const') else 0}) + 4)", None))
    return values

FREES = {"penstock_buffer": "penstock_buffer_free", "penstock_queue": "penstock_queue_free",
         "penstock_context": "penstock_context_free", "penstock_plan": "penstock_plan_free",
         "penstock_stream": "penstock_stream_free", "penstock_channel": "penstock_channel_free",
         "penstock_ofdm": "penstock_ofdm_free", "penstock_ofdm_estimator": "penstock_ofdm_estimator_free",
         "penstock_source": "penstock_source_free", "penstock_sink": "penstock_sink_free",
         "penstock_files": "penstock_files_free", "penstock_bench": "penstock_bench_free", "penstock_file": None}

def refused(function, stream):
    """Whether a good call is an error by what the object is: without a clock, a decaying mean or a link, a stream of
    another kind, a device without memory or queues to be wrapped, or an output that is the input."""
    by_channel = {"penstock_stream_push_channels": ["synthesizer"],
                  "penstock_stream_pull_channels": ["filter", "channelizer"],
                  "penstock_stream_run_channels": ["filter", "channelizer"],
                  "penstock_stream_enqueue": ["spectrum"],
                  "penstock_stream_link": ["filter", "resampler", "spectrum", "fft_stream"],
                  "penstock_stream_link_channel": ["filter", "channelizer"]}
    if function in ("penstock_buffer_wrap", "penstock_device_share", "penstock_filter_enqueue",
                    "penstock_ofdm_enqueue", "penstock_queue_wrap", "penstock_spectrum_set_decay",
                    "penstock_stream_relink", "penstock_stream_unlink"):
        return True
    if function in ("penstock_stream_pull", "penstock_stream_run", "penstock_stream_peek"):
        return stream in ("ofdm_stream", "wifi_receiver")
    return function.startswith("penstock_bench_") or stream not in by_channel.get(function, [stream])

def write_call(number, returned, function, arguments, at, value, change, stream):
    what = f"{function}: " + (change.rstrip(";") if change else value if at < 0 else f"{arguments[at][1]} = {value}")
    if stream:
        what += f" ({stream})"
    quoted = what.replace('"', "'")
    lines = [f"static void call_{number}(void)", "{", f'    hostile_begin("{quoted}");']
    values, after = [], []
    for i, (kind, name) in enumerate(arguments):
        statements, expression = good(function, kind, name, stream)
        if i == at and change is None:
            statements, expression = [], f"({value})" if value != "NULL" else "NULL"
        elif i == at:
            statements = statements + [change]
        lines += ["    " + statement for statement in statements]
        values.append(expression)
        made = [statement for statement in statements if "HOSTILE_MARK" in statement]
        if made and base_of(kind) in FREES:
            after.append(f"    if (hostile_is_made(status, made_{name}))")
            free = FREES[base_of(kind)]
            after.append(f"        {free}(made_{name});" if free else "        hostile_made_file();")
        elif made and name == "memory":
            after.append(f"    if (hostile_is_made(status, made_{name}))")
            after.append(f"        penstock_host_memory_free(hostile_context, made_{name});")
    call = f"{function}({', '.join(values)})"
    if returned == "int":
        lines += [f"    int status = {call};", *after]
        lines += ["    hostile_good(status);"] if at < 0 and not refused(function, stream) else []
        lines += ["    hostile_end(status);"]
    else:
        lines += [f"    {'' if returned == 'void' else '(void)'}{call};", "    hostile_end(0);"]
    return lines + ["}", ""]

def main():
    out, number = ["/* Made by tests/hostile_calls.py. */", '#include "hostile.h"', ""], 0
    names = []
    for returned, function, arguments in functions():
        names.append(function)
        streams = stream_kinds(function) if any(base_of(k) == "penstock_stream" and k.count("*") == 1
                                                for k, _ in arguments) else [None]
        calls = [(i, value, change) for i, (kind, name) in enumerate(arguments)
                 for value, change in hostile(function, kind, name)
                 if (function, name) not in UNTELLABLE and (function, name, value) not in UNTELLABLE]
        ins = [n for k, n in arguments if k in ("const void *", "const penstock_cf32 *") and n in ("in", "a")]
        for i, (kind, name) in enumerate(arguments):
            if ins and name == "out" and kind.count("*") == 1:
                calls += [(i, "(void *)hostile_memory(1)", None), (i, "(void *)(hostile_memory(1) + 64)", None)]
        if returned == "int":
            calls.append((-1, "good", None))
        for stream in streams:
            for at, value, change in calls:
                out += write_call(number, returned, function, arguments, at, value, change, stream)
                number += 1
        if not calls:
            if arguments and not all((function, name) in UNTELLABLE for _, name in arguments):
                sys.exit(f"{function}: no hostile call is known")
    out.append("static void (*const calls[])(void) = {")
    out += [f"    call_{i}," for i in range(number)]
    out += ["};", "", "int main(int argc, char **argv)", "{",
            f"    return hostile_main(argc, argv, calls, {number}, {len(names)});", "}"]
    pathlib.Path(OUTPUT).write_text("\n".join(out) + "\n")

main()
