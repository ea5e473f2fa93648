"""C++17 header of a tape: a struct with `std::array` at its boundary, no allocation, no exceptions, nothing else to link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flexapod.kernels.c.source import BANNER, ascii_text, literal
from flexapod.kernels.c.text import GraphText, Names, c_name, main_text, number
from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT, RESERVED
from flexapod.kernels.tape.tape import Tape

if TYPE_CHECKING:
    from flexapod.arrays import Array

_FUNCTIONS = ("isfinite", "fabs", "fmin", "fmax", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
              "tanh", "asinh", "acosh", "atanh", "exp", "log", "expm1", "log1p", "pow", "fmod", "hypot", "floor", "ceil",
              "copysign")  # fmt: skip


def cpp_text(tape: Tape, name: str, parameters: Sequence[float] | Array, about: Sequence[str] = ()) -> str:
    """The text of a header.

    Args:
        name: of the struct.
        parameters: (P,) values that a new object has.

    Checked by: tests/generator/test_matlab_and_cpp.py.
    """
    s = tape.signature
    values = ", ".join(number(float(v)) for v in parameters) if s.parameters else ""
    lines = [f"// {BANNER}: {s.name}.", *(f"// {ascii_text(line)}".rstrip() for line in about)]
    lines += [f"// {ascii_text(line)}".rstrip() for line in str(s).split("\n")[1:]]
    lines += ["#pragma once", "", "#include <array>", "#include <cmath>", "#include <cstddef>", "", "namespace flexapod {", ""]
    lines += [f"struct {name} {{", f"    static constexpr std::size_t parameter_count = {len(s.parameters)};"]
    lines += [f"    using parameters_type = std::array<double, {max(len(s.parameters), 1)}>;"]
    lines += ["    static parameters_type own_parameters() {", f"        return parameters_type{{{{{values}}}}};", "    }", ""]
    lines += [f"    explicit {name}(const parameters_type &parameters = own_parameters()) {{ set(parameters); }}", ""]
    return "\n".join([*lines, *_setup(tape), "", *_main(tape, name), "", *_statuses(tape), "", *_end(tape)]) + "\n"


def _using() -> list[str]:
    return [f"        using std::{name};" for name in _FUNCTIONS]


def _setup(tape: Tape) -> list[str]:
    n = Names()
    n.depth = 2
    results = GraphText(n, tape.setup, lambda i: f"parameters[{i}]", 0, "parameters").emit()
    lines = ["    // Once per parameter set.", "    void set(const parameters_type &parameters) {", *_using(), *n.lines]
    lines += [f"        constants[{k}] = {value};" for k, value in enumerate(results)]
    return [*lines, "        (void)parameters;", "    }"]


def _main(tape: Tape, name: str) -> list[str]:
    s, n = tape.signature, Names()
    n.depth = 2
    given = [(c_name(name, i.name), i.size) for i in s.inputs]
    outputs = [(c_name(name, o.name), o.size) for o in s.outputs]
    places = [f"{own}[{k}]" for own, size in given for k in range(size)]
    targets = [f"{own}[{k}]" for own, size in outputs for k in range(size)]
    *results, code = main_text(n, tape.main, places, targets)
    declared = [f"const std::array<double, {size}> &{own}" for own, size in given]
    declared += [f"std::array<double, {size}> &{own}" for own, size in outputs]
    lines = ["    // One sample; matrices row by row. Where the status is not 0, all outputs are NAN."]
    lines += ["    int operator()(", "        " + ",\n        ".join(declared) + ") const {", *_using(), *n.lines]
    lines.append(f"        int status = (int){code};")
    for own, _ in given:
        lines.append(f"        for (double x : {own}) if (!isfinite(x)) status = {NONFINITE_INPUT};")
    lines += [f"        {target} = {value};" for target, value in zip(targets, results, strict=True) if target != value]
    for own, _ in outputs:
        lines.append(f"        for (double x : {own}) if (status == 0 && !isfinite(x)) status = {NONFINITE_RESULT};")
    lines += ["        if (status != 0) {", *(f"            {own}.fill(NAN);" for own, _ in outputs), "        }"]
    return [*lines, "        return status;", "    }"]


def _statuses(tape: Tape) -> list[str]:
    known = {**RESERVED, **tape.signature.statuses}
    lines = ["    static const char *status_text(int status) {", "        switch (status) {"]
    lines += [f"        case {code}: return {literal(status.text)};" for code, status in sorted(known.items())]
    return [*lines, '        default: return "unknown status";', "        }", "    }"]


def _end(tape: Tape) -> list[str]:
    return [f"    std::array<double, {max(tape.constants, 1)}> constants{{}};", "};", "", "}  // namespace flexapod"]
