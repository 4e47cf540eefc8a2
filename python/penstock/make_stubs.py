#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Writes penstock_python.pyi, what type checkers and editors read,
from the signatures that the module's own texts have.

Usage: make_stubs.py OUTPUT, with gnuradio.penstock on PYTHONPATH. What blocks inherit of GNU Radio's is there too, so
that a checker knows which names a block has not."""

import inspect
import re
import sys

try:
    import gnuradio.penstock.penstock_python as module
    from gnuradio.gr import gr_python as gr
except ImportError as error:  # modules of another compiler than GNU Radio's do not know its classes
    print(f"make_stubs.py: the stubs tell no names: {error}")
    with open(sys.argv[1], "w") as file:
        file.write("from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n")
    sys.exit()

HEAD = """# Made by make_stubs.py from the module's own signatures.
import enum
from typing import Any, Collection, Dict, List, Optional, overload
"""
PLAIN = {"int", "float", "complex", "str", "bool", "None", "bytes", "object"}
NUMBERS = {"typing.SupportsInt": "int", "typing.SupportsIndex": "int", "typing.SupportsFloat": "float",
           "typing.SupportsComplex": "complex"}  # as pybind11 3 says it


def known(text, given):
    """A type of a signature as a checker's: what comes in may be any collection, numpy's too;
    what is unknown is Any."""
    text = text.strip()
    choices = split(text, "|")
    if len(choices) > 1:
        return " | ".join(dict.fromkeys(known(choice, given) for choice in choices))
    found = re.fullmatch(r"(?:typing\.|collections\.abc\.)?(List|Dict|Optional|list|dict|Sequence)\[(.*)\]", text)
    if found:
        outer = {"list": "List", "dict": "Dict", "Sequence": "List"}.get(found[1], found[1])
        parts = [known(part, given) for part in split(found[2])]
        return f"{'Collection' if given and outer == 'List' else outer}[{', '.join(parts)}]"
    if text in NUMBERS:
        return NUMBERS[text]
    if text in PLAIN:
        return "Any" if text == "object" and not given else text
    name = text.rsplit(".", 1)[-1]
    return name if text.startswith(module.__name__ + ".") and hasattr(module, name) else "Any"


def split(text, mark=","):
    """At the marks that lie in no bracket and no text."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[({<":
            depth += 1
        elif letter in "])}>":
            depth -= 1
        if letter == mark and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parameter(text):
    head, _, default = text.partition(" = ")
    name, _, kind = head.partition(":")
    if not re.fullmatch(r"\*{0,2}\w+", name.strip()):
        return "*args: Any"
    if not kind or name == "self":
        return name
    simple = re.fullmatch(r"-?[\d.e+-]+|'[^']*'|True|False|None|\[\]", default)
    return f"{name}: {known(kind, True)}" + (f" = {default if simple else '...'}" if default else "")


def signatures(name, value):
    """Parameters and result of each overload."""
    text = value.__doc__ or ""
    for line in text.splitlines():
        found = re.fullmatch(r"(?:\d+\. )?" + re.escape(name) + r"\((.*)\) -> (.*)", line.strip())
        if found:
            yield [parameter(part) for part in split(found[1])], known(found[2], False)
            if "Overloaded function." not in text:
                return


def function(name, value, indent, method):
    all_ = list(signatures(name, value)) or [((["self"] if method else []) + ["*args: Any", "**kwargs: Any"], "Any")]
    for parameters, result in all_:
        if len(all_) > 1:
            yield f"{indent}@overload"
        yield f"{indent}def {name}({', '.join(parameters)}) -> {result}: ..."


def methods(cls, hidden=()):
    for name, value in sorted(vars(cls).items()):
        if (name == "__init__" or not name.startswith("_")) and name not in hidden and callable(value):
            yield from function(name, value, "    ", True)


def stub():
    yield HEAD
    names = {}
    for base in (gr.basic_block, gr.block):  # the latter's own come last
        names.update(
            {name: value for name, value in vars(base).items() if not name.startswith("_") and callable(value)})
    yield "class _block:"
    for name, value in sorted(names.items()):
        yield from function(name, value, "    ", True)
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or inspect.ismodule(value):
            continue
        yield ""
        if not inspect.isclass(value):
            yield from function(name, value, "", False)
        elif hasattr(value, "__members__"):
            yield f"class {name}(enum.Enum):"
            yield from (f"    {member} = {number}" for number, member in enumerate(value.__members__))
        else:
            yield f"class {name}{'(_block)' if issubclass(value, gr.basic_block) else ''}:"
            yield from list(methods(value)) or ["    ..."]


def main():
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(stub()).replace("\n\n\n", "\n\n") + "\n")


main()
