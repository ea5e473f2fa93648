"""The package's elastodynamic programs, evaluated by CasADi as they were derived: no compilation of 100 000 operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import scipy.linalg
from beam_robots import model, robot
from multipliers import ClosedState, lowest_frequencies

import flexapod as fp
from flexapod.equations.elastodynamics.dynamics import elastic_forward_dynamics, elastic_inverse_dynamics, elastic_mass_matrix
from flexapod.kernels.tape.program import Program

MAKE: dict[str, Callable[..., Program]] = {
    "inverse": elastic_inverse_dynamics,
    "forward": elastic_forward_dynamics,
    "mass": elastic_mass_matrix,
}


@cache
def function(name: str, which: str) -> tuple[Program, ca.Function, list[str]]:
    """A program; `inverse.world` is the inverse model solved in that way instead of the usual one."""
    make, _, way = which.partition(".")
    program = MAKE[make](robot(name), **({"axes": way} if way else {}))
    found = ca.Function(which.replace(".", "_"), [program.input_symbols, program.parameter_symbols], [program.results])
    return program, found, [p.name for p in program.signature.parameters]


def evaluate(name: str, which: str, inputs: dict[str, Any], of: fp.Robot | None = None) -> dict[str, np.ndarray]:
    """Outputs of a program; `of`: a variant of the robot with other values."""
    program, f, names = function(name, which)
    values = (of or robot(name)).values
    column = np.concatenate([np.ravel(inputs[i.name]) for i in program.signature.inputs])
    found = np.array(f(column, [values[n] for n in names]))[:, 0]
    result, at = {}, 0
    for output in program.signature.outputs:
        size = int(np.prod(output.shape))
        result[output.name] = found[at : at + size].reshape(output.shape)
        at += size
    assert found[-1] == 0, "the program's status"
    return result


def inputs_of(name: str, s: ClosedState) -> dict[str, np.ndarray]:
    """A closed state of the tests as inputs of the package's programs."""
    r, elastic = robot(name), model(name).maximal.elastic
    q, qd = [], []
    for leg in r.legs:
        for i in leg.moving:
            coordinate = f"{leg.name}.{leg.links[i].coordinate}"
            k = elastic.get((leg.name, i))
            q.append(s.joints[coordinate] if k is None else s.e[k])
            qd.append(s.rates[coordinate] if k is None else s.ed[k])
    modes = len(s.e) - len(elastic)
    return {
        "joint_position": np.array(q), "joint_velocity": np.array(qd), "position": s.p[0], "rotation": s.R[0],
        "velocity": s.v[:3], "angular_velocity": s.R[0] @ s.v[3:6], "modes": s.e[:modes], "modes_velocity": s.ed[:modes],
    }  # fmt: skip


def elastic_part(name: str, z: np.ndarray) -> np.ndarray:
    """Elastic entries of a column over all coordinates: modes, then beams and springs of the legs."""
    r = robot(name)
    columns = list(r.elastic_plan.columns)
    legs = [f"{leg.name}.{leg.links[i].coordinate}" for leg in r.legs for i in leg.moving if leg.links[i].elastic]
    modes = [n for n in columns if n.startswith("platform.")]
    return z[[columns.index(n) for n in modes + legs]]


@cache
def dualemps_frequencies(elements: int) -> np.ndarray:
    """The six lowest frequencies [Hz] of DualEMPS at q11 = q21 = 0 with locked sliders: the package's mass matrix and beams."""
    name = "dualemps" if elements == 1 else f"dualemps-{elements}"
    r, count = robot(name), 9 * elements
    assert set(r.independent) == {*r.actuators, *r.elastic_names}
    s = model(name).closed_state(np.zeros(2), np.zeros(count), np.zeros(2), np.zeros(count), np.ones(count))
    at = [r.independent.index(n) for n in r.elastic_names]
    M = evaluate(name, "mass", inputs_of(name, s))["mass_matrix"][np.ix_(at, at)]
    K = scipy.linalg.block_diag(*[beam.body.K_ee for leg in r.legs for beam in r.beams[leg.name]])
    return lowest_frequencies(M, K, 6)
