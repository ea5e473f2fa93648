"""C sources of an FMU: kernels, tables of one robot (model.h, model.c), and the texts that all FMUs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from flexapod.bridges.fmu.plant import Plant
from flexapod.kernels.c_source import BANNER, Export, header_text, literal, source_text
from flexapod.kernels.c_text import number
from flexapod.kernels.kernel import Batch
from flexapod.kernels.tangent import SUFFIX, tangent
from flexapod.kernels.tape import Tape

NONE = Batch(outputs={}, status=np.zeros(0, dtype=np.int32))
"""No golden numbers: an FMU has no self-test."""
HERE = Path(__file__).parent
STATUS_OFFSET = 10_000
"""Statuses of steps are numbered from here, those of rates from 1."""


def shared_files(version: str) -> dict[str, str]:
    """Texts that do not depend on the robot."""
    names = ("core.h", "core.c", "fmi.h", f"fmi{version[0]}.c")
    return {name: (HERE / name).read_text(encoding="utf-8") for name in names}


def model_files(plant: Plant, token: str) -> dict[str, str]:
    """Texts of one robot: kernels, model.h and model.c."""
    kernels = {"rates_kernel": plant.rates, "tangent_kernel": tangent(plant.rates)}
    if plant.stepping is not None:
        kernels["step_kernel"] = plant.stepping.tape
    files: dict[str, str] = {}
    for name, tape in kernels.items():
        export = Export(tape=tape, name=name, parameters=_values(plant, tape), inputs={}, golden=NONE)
        files |= {f"{name}.h": header_text(export), f"{name}.c": source_text(export)}
    return files | {"model.h": _header(plant, token), "model.c": _source(plant, kernels)}


def _values(plant: Plant, tape: Tape) -> list[float]:
    known = {**plant.fixed, **{p.name: p.start for p in plant.parameters}}
    return [known.get(p.name, 0.0) for p in tape.signature.parameters]


def _header(plant: Plant, token: str) -> str:
    s = plant.stepping
    columns = s.lead + s.nodes * len(plant.inputs) if s else 0
    sizes = {
        "STATES": len(plant.states), "INPUTS": len(plant.inputs), "OUTPUTS": len(plant.outputs), "MARGINS": len(plant.margins),
        "PARAMETERS": len(plant.parameters), "MEMORY": len(plant.memory), "CARRIED": len(s.carried) if s else 0,
        "COLUMNS": columns, "LEAD": s.lead if s else 0, "NODES": s.nodes if s else 0, "CODE": s.code if s else 0,
        "RATES_CONSTANTS": plant.rates.constants, "STEP_CONSTANTS": s.tape.constants if s else 0,
        "STEP_STATUS": STATUS_OFFSET,
    }  # fmt: skip
    defines = "\n".join(f"#define MODEL_{name} {size}" for name, size in sizes.items())
    tables = ("states", "inputs", "parameters", "memory", "carried")
    return f"""/* {BANNER}: {plant.about}. Sizes, start values and kernels of the model. */
#ifndef MODEL_H
#define MODEL_H

#define MODEL_TOKEN {literal(token)}
#define MODEL_STEP {number(plant.step)}
{defines}

{chr(10).join(f"extern const double model_{name}[];" for name in tables)}
extern const int model_state_places[];
extern const int model_memory_places[];
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
    places = {"state": s.state_places if s else [], "memory": s.memory_places if s else []}
    parts += [_integers(f"model_{name}_places", values) for name, values in places.items()]
    texts = ", ".join(literal(text) for text in plant.leaving) or '""'
    parts.append(f"const char *const model_margin_texts[] = {{{texts}}};\n")
    parts += [_setup("rates", plant, plant.rates), _setup("step", plant, s.tape if s else None)]
    parts += [_rates(plant), _tangent(kernels["tangent_kernel"]), _step(s.tape if s else None), _statuses(s is not None)]
    return "\n".join(parts)


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


PLACES = {"derivative": "derivative", "result": "output", "closed": "closed", "settled": "settled", "margin": "margin"}


def _rates(plant: Plant) -> str:
    given = {"state": "state", "memory": "memory", "signals": "input"} if plant.states else {}
    arguments, used = _called(plant.rates, given, PLACES if plant.states else {})
    names = ["state", "memory", "input", "derivative", "output", "closed", "settled", "margin"]
    return "\n".join([
        "int model_rates(const double *state, const double *memory, const double *input, const double *constants,",
        "                double *derivative, double *output, double *closed, double *settled, double *margin)",
        "{", *_unused(names, used),
        f"    return rates_kernel({', '.join(arguments)});", "}\n",
    ])  # fmt: skip


def _tangent(tape: Tape) -> str:
    """The tangent needs places for the values themselves, which nobody reads, and no direction of the memory."""
    s = tape.signature
    has_states = any(i.name == "state" for i in s.inputs) and any(o.name == "derivative" for o in s.outputs)
    given, gives, local = {}, {}, []
    if has_states:
        given = {"state": "state", "memory": "memory", "signals": "input", f"state{SUFFIX}": "state_dot",
                 f"signals{SUFFIX}": "input_dot", f"memory{SUFFIX}": "memory_dot"}  # fmt: skip
        gives = {f"{name}{SUFFIX}": f"{to}_dot" for name, to in PLACES.items()}
        for i in s.inputs:
            if i.name == f"memory{SUFFIX}":
                local.append(f"    const double memory_dot[{i.size}] = {{0.0}};")
    for o in s.outputs:
        if not o.name.endswith(SUFFIX):
            gives[o.name] = f"value_{o.name}"
            local.append(f"    double value_{o.name}[{o.size}];")
        elif has_states and o.name in (f"closed{SUFFIX}", f"settled{SUFFIX}"):
            local.append(f"    double {gives[o.name]}[{o.size}];")
    arguments, used = _called(tape, given, gives)
    names = ["state", "memory", "input", "state_dot", "input_dot", "derivative_dot", "output_dot", "margin_dot"]
    return "\n".join([
        "int model_tangent(const double *state, const double *memory, const double *input, const double *constants,",
        "                  const double *state_dot, const double *input_dot, double *derivative_dot, double *output_dot,",
        "                  double *margin_dot)", "{", *local, *_unused(names, used),
        f"    return tangent_kernel({', '.join(arguments)});", "}\n",
    ])  # fmt: skip


def _step(tape: Tape | None) -> str:
    head = "int model_step(const double *carried, const double *table, const double *constants, double *final)\n{\n"
    if tape is None:
        return head + "\n".join(f"    (void){n};" for n in ("carried", "table", "constants", "final")) + "\n    return 0;\n}\n"
    size = next(o.size for o in tape.signature.outputs if o.name == "rows")
    return head + f"    double rows[{size}];\n    return step_kernel(carried, table, constants, rows, final);\n}}\n"


def _statuses(has_steps: bool) -> str:
    step = "    if (status > MODEL_STEP_STATUS) return step_kernel_status_text(status - MODEL_STEP_STATUS);\n"
    step = step if has_steps else ""
    return f"""const char *model_status_text(int status)
{{
    if (status == -100)
        return "a derivative that does not exist: unknowns are derivatives, outputs and states, knowns are states and inputs";
{step}    return rates_kernel_status_text(status);
}}
"""
