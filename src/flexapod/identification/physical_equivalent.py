r"""`physical_equivalent`: physically possible bodies with exactly the dynamics of a robot given by base parameters.

Forces determine the combinations :math:`\beta = K\theta` only. Tables of base parameters set the others to zero, which leaves
bodies that cannot exist (negative moments about the centre of mass). Sought is

.. math:: \min_\theta |D^{-1}(\theta-\theta_0)|^2,\qquad K\theta = K\theta_0,\qquad
          \begin{bmatrix}\tfrac12\operatorname{tr}(I)\,1 - I & m c\\ (m c)^T & m\end{bmatrix}\succeq\varepsilon

Letters: theta inertial parameters of all bodies and drives, theta_0 those of the file, D their sizes.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.identification.base_parameters import base_parameters
from flexapod.identification.identified_robot import identified_robot
from flexapod.identification.linear_model import linear_model
from flexapod.identification.physical_consistency import is_physical, parameter_sizes, pseudo_inertia

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

MARGIN = 1e-5
"""Smallest eigenvalue of a pseudo-inertia in units of the body: beyond the tolerance of the solver and the last correction."""


class NotPhysicalError(FlexapodError):
    """Raised if no physically possible bodies have the dynamics of a robot."""


@checked
def physical_equivalent(robot: Robot) -> Robot:
    """A robot with physically possible bodies and the same forces for every motion; itself where its bodies are possible.

    Args:
        robot: rigid.
    Returns:
        A `Robot` with the same forces for every motion.

    Raises:
        NotPhysicalError: no such bodies exist; the message names a body that prevents it.

    Source: Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial parameter identification (2018).
    Checked by: tests/identification/test_physical_equivalent.py.
    """
    refuse(robot, "physical_equivalent")
    model = linear_model(robot, friction=False, legs="each")
    names, theta = list(model.names), np.asarray(model.values)
    bodies = {n.removesuffix(".mass"): np.arange(names.index(n), names.index(n) + 10) for n in names if n.endswith(".mass")}
    if all(is_physical(theta[places]) for places in bodies.values()):
        return robot
    heavy = {name: places for name, places in bodies.items() if np.any(theta[places])}
    drives = [k for k in range(len(names)) if not any(k in places for places in bodies.values())]
    found = _solved(robot, base_parameters(robot, friction=False).combination, theta, heavy, drives)
    left = [name for name, places in heavy.items() if not is_physical(found[places])]
    if left:
        raise NotPhysicalError(_why(robot, left[0], theta[heavy[left[0]]]))
    return identified_robot(robot, names, found, "bodies made physical, with the same base parameters")


def _why(robot: Robot, body: str, theta: Array) -> str:
    least = float(np.linalg.eigvalsh(np.array(pseudo_inertia(theta)))[0])
    return (
        f"physical_equivalent: no physically possible bodies have the dynamics of {robot.name}; {body} prevents it (smallest "
        f"eigenvalue of its pseudo-inertia in the file {least:.3g}). Look at its mass, first moments and tensor"
    )


def _solved(robot: Robot, K: Array, theta: Array, bodies: dict[str, NDArray[np.int64]], drives: list[int]) -> Array:
    """theta of the inequality, its base parameters then corrected to rounding."""
    try:
        cp: Any = importlib.import_module("cvxpy")
    except ImportError:
        raise InputError("physical_equivalent needs the package cvxpy: pip install 'flexapod[identification]'") from None
    size = parameter_sizes(theta, bodies)
    free = size > 0.0
    x = cp.Variable(len(theta))
    rows = K * size
    scale = np.linalg.norm(rows, axis=1)
    kept = scale > 0.0
    rows, start = rows[kept] / scale[kept, None], np.divide(theta, size, out=np.zeros_like(theta), where=free)
    constraints = [rows @ x == rows @ start]
    if not free.all():
        constraints.append(x[np.flatnonzero(~free)] == 0)
    for places in bodies.values():
        own = size[places]
        length = float(np.sqrt(own[4:].max() / own[0]))
        D = np.diag([1 / length] * 3 + [1.0]) / np.sqrt(own[0])
        entries = pseudo_inertia([x[int(k)] * float(s) for k, s in zip(places, own, strict=True)])
        P = cp.bmat([[cp.reshape(cp.Expression.cast_to_const(e), (1, 1), order="C") for e in row] for row in entries])
        constraints.append(D @ P @ D >> MARGIN * np.eye(4))
    if drives:
        constraints.append(x[drives] >= 0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - start)), constraints)
    try:
        problem.solve(solver=cp.CLARABEL)
    except cp.SolverError as error:
        raise NotPhysicalError(f"physical_equivalent: the solver failed on {robot.name} ({error})") from None
    if x.value is None:
        worst = min(bodies, key=lambda name: float(np.linalg.eigvalsh(np.array(pseudo_inertia(theta[bodies[name]])))[0]))
        raise NotPhysicalError(_why(robot, worst, theta[bodies[worst]]))
    value = np.asarray(x.value)
    value[free] += np.linalg.lstsq(rows[:, free], rows @ (start - value), rcond=None)[0]
    found: Array = value * size
    return found
