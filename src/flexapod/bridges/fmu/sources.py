"""C sources of an FMU: kernels, tables of one robot (model.h, model.c), and the texts that all FMUs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from flexapod.bridges.fmu.model_kernels import Plant
from flexapod.bridges.fmu.second_order import second_order_header, second_order_source, step_header, step_setup, step_statuses
from flexapod.kernels.c.source import BANNER, Export, header_text, literal, source_text
from flexapod.kernels.c.text import number
from flexapod.kernels.kernel import Batch
from flexapod.kernels.tape.tangent import SUFFIX, tangent
from flexapod.kernels.tape.tape import Tape

NONE = Batch(outputs={}, status=np.zeros(0, dtype=np.int32))
"""No golden numbers: an FMU has no self-test."""
HERE = Path(__file__).parent
STATUS_OFFSET = 10_000
"""Statuses of steps are numbered from here, those of rates from 1."""


CARRIED = frozenset({"memory", "closed"})
"""Values that a call hands to the next one: where they are not finite, the rates have none."""


def shared_files(plant: Plant, version: str) -> dict[str, str]:
    """Texts that do not depend on the robot."""
    names = ["core.h", "core.c", "fmi.h", f"fmi{version[0]}.c"]
    names += ["second_order.c"] if plant.second_order is not None else []
    names += ["rk4.c"] if plant.explicit else []
    return {name: (HERE / name).read_text(encoding="utf-8") for name in names}


def model_files(plant: Plant) -> dict[str, str]:
    """Texts of one robot but for model.h: kernels and model.c."""
    kernels = {"rates_kernel": plant.rates, "tangent_kernel": tangent(plant.rates)}
    if plant.second_order is not None:
        if plant.second_order.implicit:
            kernels["matrices_kernel"] = plant.second_order.implicit.matrices
    elif plant.stepping is not None and plant.stepping.tape is not None:
        kernels["step_kernel"] = plant.stepping.tape
    files: dict[str, str] = {}
    for name, tape in kernels.items():
        export = Export(tape=tape, name=name, parameters=_values(plant, tape), inputs={}, golden=NONE, unchecked=CARRIED)
        files |= {f"{name}.h": header_text(export), f"{name}.c": source_text(export)}
    return files | {"model.c": _source(plant, kernels)}


def _values(plant: Plant, tape: Tape) -> list[float]:
    known = {**plant.fixed, **{p.name: p.start for p in plant.parameters}}
    return [known.get(p.name, 0.0) for p in tape.signature.parameters]


def model_header(plant: Plant, token: str) -> str:
    """Text of model.h: token of the FMU, sizes, declarations."""
    s = plant.stepping
    columns = s.lead + s.nodes * len(plant.inputs) if s else 0
    sizes = {
        "STATES": len(plant.states), "INPUTS": len(plant.inputs), "OUTPUTS": len(plant.outputs), "MARGINS": len(plant.margins),
        "PARAMETERS": len(plant.parameters), "MEMORY": len(plant.memory),
        "MEMORY_PLACE": s.memory_place if s else 0, "CARRIED": len(s.carried) if s else 0,
        "COLUMNS": columns, "LEAD": s.lead if s else 0, "NODES": s.nodes if s else 0, "CODE": s.code if s else 0,
        "RATES_CONSTANTS": plant.rates.constants, "STEP_CONSTANTS": _step_constants(plant),
        "STEP_STATUS": STATUS_OFFSET,
    }  # fmt: skip
    defines = "\n".join(f"#define MODEL_{name} {size}" for name, size in sizes.items())
    tables = ("states", "inputs", "parameters", "memory", "carried")
    own = ""
    if _in_c(plant):
        own = step_header()
    if plant.second_order is not None:
        own += f"{second_order_header(plant, plant.second_order)}\n{_terms(plant)};\n{_terms_tangent(plant)};\n"
    return f"""/* {BANNER}: {plant.about}. Sizes, start values and kernels of the model. */
#ifndef MODEL_H
#define MODEL_H

#define MODEL_TOKEN {literal(token)}
#define MODEL_STEP {number(plant.step)}
{defines}

{chr(10).join(f"extern const double model_{name}[];" for name in tables)}
extern const int model_state_places[];
extern const char *const model_margin_texts[];

void model_rates_setup(const double *parameters, double *constants);
void model_step_setup(const double *parameters, double *constants);
int model_rates(const double *state, const double *memory, const double *input, const double *constants, double *derivative,
                double *output, double *closed, double *settled, double *margin);
int model_tangent(const double *state, const double *memory, const double *input, const double *constants,
                  const double *state_dot, const double *input_dot, double *derivative_dot, double *output_dot,
                  double *margin_dot);
int model_step(const double *carried, const double *table, const double *constants, double *final);
const char *model_status_text(int status);
{own}
#endif
"""


def _source(plant: Plant, kernels: dict[str, Tape]) -> str:
    s = plant.stepping
    head = f"/* {BANNER}: {plant.about}. Start values, and the kernels behind the boundary of core.c. */\n"
    includes = ['#include "model.h"', "", "#include <math.h>", "", *(f'#include "{name}.h"' for name in kernels)]
    tables = {
        "states": [v.start for v in plant.states], "inputs": [v.start for v in plant.inputs],
        "parameters": [v.start for v in plant.parameters], "memory": plant.memory, "carried": s.carried if s else [],
    }  # fmt: skip
    parts = [head, "\n".join(includes), *(_doubles(f"model_{name}", values) for name, values in tables.items())]
    parts.append(_integers("model_state_places", s.state_places if s else []))
    texts = ", ".join(literal(text) for text in plant.leaving) or '""'
    parts.append(f"const char *const model_margin_texts[] = {{{texts}}};\n")
    parts += [_setup("rates", plant, plant.rates), _rates(plant), _tangent(plant, kernels["tangent_kernel"])]
    if plant.second_order is not None:
        implicit = plant.second_order.implicit
        parts += [_setup("matrices", plant, implicit.matrices)] if implicit else []
        parts += [second_order_source(plant.second_order)]
    if _in_c(plant):
        parts += [step_setup(plant.second_order)]
    else:
        parts += [_setup("step", plant, s.tape if s else None), _step(s.tape if s else None)]
    return "\n".join([*parts, _statuses(plant)])


def _in_c(plant: Plant) -> bool:
    """Steps are those of second_order.c or rk4.c, with the kernel of the rates."""
    return plant.second_order is not None or plant.explicit


def _step_constants(plant: Plant) -> int:
    if _in_c(plant):
        implicit = plant.second_order.implicit if plant.second_order is not None else None
        return plant.rates.constants + (implicit.matrices.constants if implicit else 0)
    return plant.stepping.tape.constants if plant.stepping is not None and plant.stepping.tape is not None else 0


def _doubles(name: str, values: Sequence[float]) -> str:
    rows = [", ".join(number(float(v)) for v in values[k : k + 6]) for k in range(0, len(values), 6)] or ["0.0"]
    return f"const double {name}[] = {{\n    " + ",\n    ".join(rows) + "};\n"


def _integers(name: str, values: Sequence[int]) -> str:
    return f"const int {name}[] = {{" + (", ".join(map(str, values)) or "0") + "};\n"


def _setup(kind: str, plant: Plant, tape: Tape | None) -> str:
    """Numbers of the FMU in the order of one kernel; those that cannot be tuned are as they were at the export."""
    lines = [f"void model_{kind}_setup(const double *parameters, double *constants)", "{"]
    if tape is None or not tape.signature.parameters:
        return "\n".join([*lines, "    (void)parameters;", "    (void)constants;", "}\n"])
    at = {v.name: k for k, v in enumerate(plant.parameters)}
    order = [at.get(p.name, -1) for p in tape.signature.parameters]
    count = len(order)
    return "\n".join([
        _integers(f"{kind}_order", order).replace("const int", "static const int").rstrip("\n") + "\n", *lines,
        f"    double own[{count}];",
        f"    for (int k = 0; k < {count}; ++k)",
        f"        own[k] = {kind}_order[k] < 0 ? {kind}_kernel_parameters[k] : parameters[{kind}_order[k]];",
        f"    {kind}_kernel_setup(own, constants);", "}\n",
    ])  # fmt: skip


def _called(tape: Tape, given: dict[str, str], gives: dict[str, str]) -> tuple[list[str], list[str]]:
    """Arguments of a kernel's call, and names that are used; what has no place of its own lies in `input` and `output`."""
    inputs, outputs = [], []
    at = {"": 0, SUFFIX: 0}
    for i in tape.signature.inputs:
        end = SUFFIX if i.name.endswith(SUFFIX) else ""
        if i.name in given:
            inputs.append(given[i.name])
        else:
            inputs.append(f"input{end} + {at[end]}")
            at[end] += i.size
    at = {"": 0, SUFFIX: 0}
    for o in tape.signature.outputs:
        end = SUFFIX if o.name.endswith(SUFFIX) else ""
        if o.name in gives:
            outputs.append(gives[o.name])
        else:
            outputs.append(f"output{end} + {at[end]}")
            at[end] += o.size
    return [*inputs, "constants", *outputs], inputs + outputs


def _unused(names: Sequence[str], used: Sequence[str]) -> list[str]:
    words = {word.split(" ")[0] for word in used}
    return [f"    (void){name};" for name in names if name not in words]


SHARED = {"result": "output", "closed": "closed", "settled": "settled", "margin": "margin"}
RATES = {"derivative": "derivative", **SHARED}
TERMS = {"mass": "mass", "forces": "force", "slope": "slope", "drift": "drift", **SHARED}
"""Outputs of the kernel of a plant, of first and of second order, and their names in C."""
READ = ["state", "memory", "input"]


def _places(plant: Plant) -> dict[str, str]:
    return RATES if plant.second_order is None else TERMS


def _terms(plant: Plant) -> str:
    """Head of the function of the rates, or of the terms."""
    name = "model_rates" if plant.second_order is None else "model_terms"
    given = [f"const double *{n}" for n in (*READ, "constants")]
    return f"int {name}({', '.join([*given, *(f'double *{n}' for n in _places(plant).values())])})"


def _terms_tangent(plant: Plant) -> str:
    name = "model_tangent" if plant.second_order is None else "model_terms_tangent"
    given = [f"const double *{n}" for n in (*READ, "constants", "state_dot", "input_dot")]
    return f"int {name}({', '.join([*given, *(f'double *{n}' for n in _changing(plant))])})"


def _changing(plant: Plant) -> list[str]:
    return [f"{n}_dot" for n in _places(plant).values() if n not in ("closed", "settled")]


def _rates(plant: Plant) -> str:
    given = {"state": "state", "memory": "memory", "signals": "input"} if plant.states else {}
    arguments, used = _called(plant.rates, given, _places(plant) if plant.states else {})
    unused = _unused([*READ, *_places(plant).values()], used)
    return "\n".join([_terms(plant), "{", *unused, f"    return rates_kernel({', '.join(arguments)});", "}\n"])


def _tangent(plant: Plant, tape: Tape) -> str:
    """The tangent needs places for the values themselves, which nobody reads, and no direction of the memory."""
    s = tape.signature
    given, gives, local = {}, {}, []
    if plant.states:
        given = {"state": "state", "memory": "memory", "signals": "input", f"state{SUFFIX}": "state_dot",
                 f"signals{SUFFIX}": "input_dot", f"memory{SUFFIX}": "memory_dot"}  # fmt: skip
        gives = {f"{name}{SUFFIX}": f"{to}_dot" for name, to in _places(plant).items()}
        for i in s.inputs:
            if i.name == f"memory{SUFFIX}":
                local.append(f"    const double memory_dot[{i.size}] = {{0.0}};")
    for o in s.outputs:
        if not o.name.endswith(SUFFIX):
            gives[o.name] = f"value_{o.name}"
            local.append(f"    double value_{o.name}[{o.size}];")
        elif plant.states and o.name in (f"closed{SUFFIX}", f"settled{SUFFIX}"):
            local.append(f"    double {gives[o.name]}[{o.size}];")
    arguments, used = _called(tape, given, gives)
    unused = _unused([*READ, "state_dot", "input_dot", *_changing(plant)], used)
    return "\n".join([_terms_tangent(plant), "{", *local, *unused, f"    return tangent_kernel({', '.join(arguments)});", "}\n"])


def _step(tape: Tape | None) -> str:
    head = "int model_step(const double *carried, const double *table, const double *constants, double *final)\n{\n"
    if tape is None:
        return head + "\n".join(f"    (void){n};" for n in ("carried", "table", "constants", "final")) + "\n    return 0;\n}\n"
    size = next(o.size for o in tape.signature.outputs if o.name == "rows")
    return head + f"    double rows[{size}];\n    return step_kernel(carried, table, constants, rows, final);\n}}\n"


def _statuses(plant: Plant) -> str:
    step = ""
    if _in_c(plant):
        step = step_statuses()
    elif plant.stepping is not None:
        step = "    if (status > MODEL_STEP_STATUS) return step_kernel_status_text(status - MODEL_STEP_STATUS);\n"
    return f"""const char *model_status_text(int status)
{{
    if (status == -100)
        return "a derivative that does not exist: unknowns are derivatives, outputs and states, knowns are states and inputs";
{step}    return rates_kernel_status_text(status);
}}
"""
