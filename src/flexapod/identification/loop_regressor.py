r"""The regressor where loops run through several legs or the platform's own link, from the general model, parameter by parameter.

The generalized forces of the independent coordinates are linear in the inertial parameters theta:

.. math:: g(\theta) = M(\theta)\,\ddot u + c(\theta),\qquad A^T\Gamma = g(\theta) - g(0),\qquad
          Y_k = A^{-T}\big(g(e_k) - g(0)\big)

A (actuators, u) rates of the actuators per independent rate; u'' from the motion of the platform. e_k is the robot with one unit
of parameter k (in the axes of the robot file) and no other mass, rotor, spring or damper: no differences are taken, the columns
are exact. Redundant actuators: forces of least norm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import LegRequest, platform_jacobian
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.contributions import with_values
from flexapod.analysis.model.leg_model import leg_terms
from flexapod.analysis.model.linear_solve import pseudo_inverse
from flexapod.analysis.model.prescribed import prescribed, prescribed_components
from flexapod.analysis.requests.request import Request
from flexapod.arrays import Array
from flexapod.equations.regressor import IN_LEG, TENSOR, Column, inertial_columns, is_closed_form
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def loop_request(robot: Robot, inputs: Mapping[str, Array], reasons: Reasons) -> LegRequest:
    """All coordinates of a motion of the platform, closed; reasons of samples that cannot be closed are added to `reasons`."""
    motion = Motion(time=np.arange(float(len(reasons))), **{name: inputs[name] for name in NAMES})
    return closed_request(robot, Request(at=motion, friction=False), reasons)


def loop_regressor(robot: Robot, inputs: Mapping[str, Array], columns: Sequence[Column], reasons: Reasons) -> Array:
    """Y (n, actuators, parameters) of the inertial columns at a motion of the platform.

    Checked by: tests/identification/test_regressor.py.
    """
    none = {name: 0.0 for column in inertial_columns(robot) for name in in_kernel_axes(robot, column)}
    return _by_units(robot, inputs, [in_kernel_axes(robot, column) for column in columns], none, False, reasons)


def loop_friction_regressor(robot: Robot, inputs: Mapping[str, Array], names: Sequence[str], reasons: Reasons) -> Array:
    """Y (n, actuators, coefficients) of friction that does not depend on the loads of the joints.

    Checked by: tests/identification/test_regressor.py.
    """
    return _by_units(robot, inputs, [{name: 1.0} for name in names], {name: 0.0 for name in names}, True, reasons)


def known_forces(robot: Robot, inputs: Mapping[str, Array], reasons: Reasons) -> Array:
    """Actuator forces (n, actuators) of what has no column: force elements, preloads, bump stops, dampers of drives.

    Checked by: tests/identification/test_regressor.py.
    """
    none = {name: 0.0 for column in inertial_columns(robot) for name in in_kernel_axes(robot, column)}
    forces, inverse = _forces_by_values(robot, inputs, none, False, reasons)
    return np.asarray(np.einsum("nau,nu->na", inverse, forces({})))


def _by_units(
    robot: Robot, inputs: Mapping[str, Array], units: Sequence[Mapping[str, float]], none: Mapping[str, float], friction: bool,
    reasons: Reasons,
) -> Array:  # fmt: skip
    """Columns: actuator forces of one unit each, less those of none."""
    forces, inverse = _forces_by_values(robot, inputs, none, friction, reasons)
    left = forces({})
    return np.stack([np.einsum("nau,nu->na", inverse, forces(unit) - left) for unit in units], axis=2)


def _forces_by_values(
    robot: Robot, inputs: Mapping[str, Array], none: Mapping[str, float], friction: bool, reasons: Reasons
) -> tuple[Callable[[Mapping[str, float]], Array], Array]:
    """Generalized forces (n, u) of a motion as a function of values beside those of `none`, and A^-T (n, actuators, u)."""
    request = loop_request(robot, inputs, reasons)
    terms = leg_terms(robot, request.state, request.wrench, False, reasons)
    assert request.acceleration is not None
    J, drift = platform_jacobian(robot, request.state, reasons)
    S = prescribed(robot, J, prescribed_components(robot))
    second = np.einsum("nuj,nji,ni->nu", pseudo_inverse(S @ J), S, request.acceleration - drift)

    def forces(values: Mapping[str, float]) -> Array:
        found = leg_terms(with_values(robot, {**none, **values}), request.state, request.wrench, friction, reasons)
        return np.asarray(np.einsum("nij,nj->ni", found.M, second) + found.c)

    return forces, pseudo_inverse(np.swapaxes(terms.A, 1, 2))


def general_bodies(robot: Robot) -> dict[str, str]:
    """Body of a leg in closed form -> the same body in the general model, which has its numbers under its link."""
    return {
        f"legs.{leg.name}.{own}": f"legs.{leg.name}.{link.coordinate}.body"
        for i, leg in enumerate(robot.legs) if is_closed_form(robot, i)
        for own, link in zip(IN_LEG[leg.architecture], leg.links, strict=True)
    }  # fmt: skip


def in_kernel_axes(robot: Robot, column: Column) -> dict[str, float]:
    """One unit of a parameter in the file's axes, in those of the general kernel."""
    if not column.body:
        return {column.value: 1.0}
    return in_body_axes(robot, general_bodies(robot).get(column.body, column.body), column.value.removeprefix(f"{column.body}."))


def in_body_axes(robot: Robot, body: str, kind: str) -> dict[str, float]:
    """One unit of one of a body's ten parameters, in the axes in which its values are given: v' = R v, I' = R I R^T."""
    if kind == "mass":
        return {f"{body}.mass": 1.0}
    R = np.array([[robot.values[f"{body}.axes.{i}{j}"] for j in "xyz"] for i in "xyz"])
    if kind.startswith("first_moment"):
        return {f"{body}.first_moment.{k}": float(R[i, "xyz".index(kind[-1])]) for i, k in enumerate("xyz")}
    p, q = "xyz".index(kind[-2]), "xyz".index(kind[-1])
    unit = np.zeros((3, 3))
    unit[p, q] = unit[q, p] = 1.0
    rotated = R @ unit @ R.T
    return {f"{body}.inertia.{e}": float(rotated["xyz".index(e[0]), "xyz".index(e[1])]) for e in TENSOR}
