r"""Contributions to the actuator forces of any robot: gravity, inertia, load, elastic forces, and each source of friction.

At the accelerations that were found, every body's inertia and weight, every load and every joint's friction is a force F_k along
all coordinates z; held deformations pass it on to the actuators,

.. math:: \Gamma_k = (N^T F_k)_{\text{actuators}},\qquad \sum_k\Gamma_k = \Gamma

Friction ``"frozen"`` has the loads of the whole solution; ``"alone"`` is the force with one source of friction less the force
without any (Kim 2002 Figs. 9-11), which does not add up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import evaluate
from flexapod.analysis.model.general_dynamics import GeneralSolution, solve_inverse
from flexapod.analysis.model.kernels import kernel
from flexapod.arrays import Array
from flexapod.equations.newton_euler.force_parts import CONTRIBUTION_NAMES
from flexapod.equations.newton_euler.friction_points import SOURCES
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import LegRequest
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot

NAMES = (*CONTRIBUTION_NAMES, "elastic")
INERTIAL = re.compile(r"\.(mass|rotor|first_moment\.\w+|inertia\.\w+|flex\.[MSGH]\..+)$")
"""Parameters that are masses or their moments."""


def inertial_parameters(robot: Robot, quantity: str) -> dict[str, list[int]]:
    """Positions of the inertial parameters of a kernel: of the platform, of drives (bodies on actuated joints of the base,
    rotors) and of the other bodies of the legs."""
    found: dict[str, list[int]] = {"platform": [], "drives": [], "legs": []}
    moved = {
        f"legs.{leg.name}.{link.coordinate}.body."
        for leg in robot.legs
        for link in leg.links
        if link.actuated and link.parent < 0
    }
    for k, p in enumerate(kernel(robot, quantity).signature.parameters):
        if not INERTIAL.search(p.name):
            continue
        drive = p.name.endswith(".rotor") or any(p.name.startswith(name) for name in moved)
        found["platform" if p.name.startswith("platform.") else "drives" if drive else "legs"].append(k)
    return found


def contributions(robot: Robot, request: LegRequest, found: GeneralSolution, kind: str, reasons: Reasons) -> Array:
    """Contributions (n, parts, actuators) to the actuator forces, in the order of `NAMES`.

    Source: Kim 2002 Eqs. (32), (34). Checked by: tests/analysis/test_general_dynamics.py.
    """
    bound, groups = kernel(robot, "elastic_terms", friction=False), inertial_parameters(robot, "elastic_terms")
    weight = [k for k, p in enumerate(bound.signature.parameters) if p.name.startswith("gravity.")]
    given = {**request.state.inputs(), "wrench": np.zeros((len(found.wrench), 6))}

    def demanded(*without: str, weightless: bool = True) -> Array:
        values = bound.parameters.copy()
        values[[k for name in without for k in groups[name]]] = 0.0
        if weightless:
            values[weight] = 0.0
        batch = bound.batch({i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs}, values).outputs
        return np.asarray(np.einsum("nij,nj->ni", batch["mass"], found.coordinates) + batch["forces"])

    whole, every = demanded(weightless=False), tuple(groups)
    moving = demanded()
    parts = {
        "gravity": whole - moving,
        "platform_inertia": moving - demanded("platform"),
        "leg_inertia": moving - demanded("legs"),
        "drive_inertia": moving - demanded("drives"),
        "wrench": np.einsum("nij,nj->ni", found.terms.mass, found.coordinates) + found.terms.forces - whole,
        "elastic": demanded(*every),
    }
    result = np.zeros((len(reasons), len(NAMES), len(robot.actuators)))
    for name, force in parts.items():
        result[:, NAMES.index(name)] = _at_actuators(robot, found, force)
    if found.load is not None:
        result[:, 5 : 5 + len(SOURCES)] = _friction(robot, request, found, kind, reasons)
    return result


def _at_actuators(robot: Robot, found: GeneralSolution, force: Array) -> Array:
    own, places = chosen_drives(robot)
    result = np.zeros((len(force), len(robot.actuators)))
    result[:, own] = np.einsum("nzu,nz->nu", found.terms.N[:, :, places], force)
    return result


def _friction(robot: Robot, request: LegRequest, found: GeneralSolution, kind: str, reasons: Reasons) -> Array:
    """Contributions (n, sources, actuators) of friction to the actuator forces."""
    rows = []
    smooth = solve_inverse(robot, request, False, reasons).force if kind == "alone" else None
    for source in SOURCES:
        if smooth is not None:
            rows.append(solve_inverse(robot, request, True, reasons, (source,)).force - smooth)
            continue
        assert found.load is not None
        given = {**request.state.inputs(), "load": found.load}
        force = evaluate(robot, "elastic_friction", given, reasons, sources=(source,))["friction"]
        rows.append(_at_actuators(robot, found, -force))
    return np.stack(rows, axis=1)


STRUCTURAL = ("plan", "elastic_plan", "follows_platform", "floats", "elastic_legs", "structure", "mobility")
"""Properties of a robot that do not depend on its numbers."""


def with_values(robot: Robot, changed: Mapping[str, float]) -> Robot:
    """The robot with other resolved numbers: same structure, same kernels."""
    result = replace(robot)
    object.__setattr__(result, "zeros", robot.zeros)
    object.__setattr__(result, "origin", robot.origin)
    result.__dict__.update({name: found for name, found in robot.__dict__.items() if name in STRUCTURAL})
    result.__dict__["values"] = MappingProxyType({**robot.values, **changed})
    return result


def without_leg_mass(robot: Robot) -> Robot:
    """The robot with massless legs (Kim & Ryu, section 4.2): no inertia and weight in its legs."""
    return with_values(robot, {name: 0.0 for name in robot.values if name.startswith("legs.") and INERTIAL.search(name)})
