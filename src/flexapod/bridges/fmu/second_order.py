"""Steps in C: sizes and tables that second_order.c and rk4.c read, kernels of their steps, and statuses."""

from __future__ import annotations

from flexapod.bridges.fmu.model_kernels import Implicit, IndependentSystem, Plant
from flexapod.kernels.c.source import literal
from flexapod.kernels.c.text import number
from flexapod.kernels.tape.signature import NONFINITE_RESULT
from flexapod.simulation.integrators.implicit import CLOSED, LOST, PASSES, ROUNDING

LOST_STATUS, LEFT_STATUS = 1_000, 2_000
"""Statuses of a step beside those of the terms: not converged, and the first margin below zero."""


def second_order_header(plant: Plant, system: IndependentSystem) -> str:
    """Declarations for model.h."""
    implicit = system.implicit
    sizes = {
        "ALL": system.columns, "FREE": len(system.independent), "BOUND": len(system.bound), "DRIVEN": len(system.driven),
        "RESULTS": len(plant.outputs) - len(system.driven), "STAGES": implicit.method.stages if implicit else 0,
        "NONFINITE": f"({NONFINITE_RESULT})",
    }  # fmt: skip
    lines = [f"#define MODEL_{name} {size}" for name, size in sizes.items()]
    lines += [f"extern const int model_{name}[];" for name in ("free", "bound", "driven")]
    return "\n".join(lines + (_implicit_header(implicit) if implicit else []))


def _implicit_header(implicit: Implicit) -> list[str]:
    limits = {"RELATIVE": CLOSED[0], "ABSOLUTE": CLOSED[1], "ROUNDING": ROUNDING}
    lines = [f"#define MODEL_EIGEN {len(implicit.method.real) + len(implicit.method.pairs)}", f"#define MODEL_PASSES {PASSES}"]
    lines += [f"#define MODEL_{name} {number(limit)}" for name, limit in limits.items()]
    lines += [f"extern const double model_{name}[];" for name in ("A", "b", "c")]
    lines += ["extern const double model_eigen[MODEL_EIGEN][3 + 4 * MODEL_STAGES];"]
    return [*lines, "void model_matrices_setup(const double *parameters, double *constants);", f"{MATRICES};"]


MATRICES = (
    "int model_matrices(const double *state, const double *memory, const double *constants, double *stiffness, double *damping)"
)


def second_order_source(system: IndependentSystem) -> str:
    """Tables and functions for model.c, beside the terms and their tangent."""
    columns = {"free": system.independent, "bound": system.bound, "driven": system.driven}
    parts = [f"const int model_{name}[] = {{{', '.join(map(str, values)) or '0'}}};" for name, values in columns.items()]
    parts += _implicit_source(system.implicit) if system.implicit else []
    return "\n".join([*parts, ""])


def step_header() -> str:
    """Declarations for model.h of steps that are taken in C."""
    return f"#define MODEL_LOST {LOST_STATUS}\n#define MODEL_LEFT {LEFT_STATUS}\n"


def step_setup(system: IndependentSystem | None) -> str:
    """Constants of steps that are taken in C: those of the rates, then of the matrices."""
    lines = ["void model_step_setup(const double *parameters, double *constants)", "{"]
    lines += ["    model_rates_setup(parameters, constants);"]
    if system is not None and system.implicit:
        lines += ["    model_matrices_setup(parameters, constants + MODEL_RATES_CONSTANTS);"]
    return "\n".join([*lines, "}\n"])


def _implicit_source(implicit: Implicit) -> list[str]:
    m = implicit.method
    tables = {"A": m.A.ravel(), "b": m.b, "c": m.c}
    parts = [f"const double model_{name}[] = {{{_row(values)}}};" for name, values in tables.items()]
    eigen = [(value, 1.0, row, column) for value, row, column in m.real] + [(v, 2.0, r, c) for v, r, c in m.pairs]
    rows = [
        _row([value.real, value.imag, weight, *row.real, *row.imag, *column.real, *column.imag])
        for value, weight, row, column in eigen
    ]
    parts += ["const double model_eigen[MODEL_EIGEN][3 + 4 * MODEL_STAGES] = {", *(f"    {{{row}}}," for row in rows), "};"]
    names = [i.name for i in implicit.matrices.signature.inputs]
    unused = "".join(f"    (void){name};\n" for name in ("state", "memory") if name not in names)
    call = ", ".join([*names, "constants", "stiffness", "damping"])
    return [*parts, "", MATRICES, "{", f"{unused}    return matrices_kernel({call});", "}"]


def _row(values: object) -> str:
    return ", ".join(number(float(v)) for v in values)  # type: ignore[attr-defined]


def step_statuses() -> str:
    """Lines of `model_status_text`."""
    return f"""    if (status > MODEL_STEP_STATUS) {{
        status -= MODEL_STEP_STATUS;
        if (status == MODEL_LOST) return {literal(LOST)};
        if (status >= MODEL_LEFT) return model_margin_texts[status - MODEL_LEFT];
    }}
"""
