"""The estimate, and all parameters of the robot that go with it; loads of joints with friction follow it, pass by pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.description.friction import LAWS
from flexapod.identification.base_parameters import BaseParameters
from flexapod.identification.estimators import SAMPLE, Estimate, Method, estimate, follow_derivative
from flexapod.identification.identified_robot import identified_robot
from flexapod.identification.linear_model import RegressorModel
from flexapod.identification.load_feedback import LoadFeedback
from flexapod.identification.physical_consistency import parameter_sizes, physical_estimate
from flexapod.identification.problem import EstimationProblem

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

PASSES = 6
"""Most passes in which loads of joints follow the estimate."""
SETTLED = 1e-3
"""Change of the estimate in its standard errors at which these passes end."""


def iterated(
    robot: Robot, base: BaseParameters, problem: EstimationProblem, method: Method, physical: bool, prior: float
) -> tuple[Estimate, Array]:
    """Estimate, and the robot's parameters that go with it; loads of joints follow the estimate."""
    now, before = robot, None
    coupled = any(LAWS[name.split(".")[-1]].by_load for name in base.model.friction)
    for _ in range(PASSES if coupled else 1):
        problem.set_loads(now)
        found = estimate(problem.blocks, method)
        theta = parameters_of(base, found, physical, prior)
        if before is not None and np.max(np.abs(found.beta - before) / np.maximum(found.sigma, 1e-300)) < SETTLED:
            break
        before = found.beta
        if coupled:
            now = loading_robot(robot, base, base.model.tie @ theta)
    if coupled:
        feedback = _feedback(robot, base, problem.model, found, theta)
        found = follow_derivative(found, problem.derivative_blocks(feedback, SAMPLE))
        theta = parameters_of(base, found, physical, prior)
    return found, theta


def _feedback(robot: Robot, base: BaseParameters, model: RegressorModel, found: Estimate, theta: Array) -> LoadFeedback:
    """Dependence of the joint loads on the base parameters, at the estimate; each is moved by its standard error."""
    now = loading_robot(robot, base, base.model.tie @ theta)
    change = base.model.tie @ _distribution(base)
    return LoadFeedback(replace(model, robot=now), base.model.raw_names, change, found.sigma[: base.rank])


def loading_robot(robot: Robot, base: BaseParameters, theta: Array) -> Robot:
    """The robot whose numbers the loads of the joints follow: friction and masses that are zero within their error may come out
    negative, and count as zero here."""
    names = base.model.raw_names
    inertial = np.array([".first_moment." in n or ".inertia." in n for n in names])
    return identified_robot(robot, names, np.where(inertial, theta, np.maximum(theta, 0.0)), "estimate")


def parameters_of(base: BaseParameters, found: Estimate, physical: bool, prior: float) -> Array:
    """All parameters: nearest to the file's among those with the estimated combinations; physically consistent on request."""
    K, count = base.combination, base.rank
    beta, start = found.beta[:count], base.model.values
    if physical:
        bodies, positive = _constraints(base)
        return physical_estimate(beta, _information(found, count), K, start, bodies, positive, weight=prior)
    return np.asarray(start + _distribution(base) @ (beta - K @ start))


def _distribution(base: BaseParameters) -> Array:
    """(parameters, base) the smallest change of all parameters, in their sizes, that changes the base parameters by one each."""
    K, size = base.combination, parameter_sizes(base.model.values, _constraints(base)[0])
    D = np.where(size > 0, size, 1e-6 * size.max()) ** 2
    return np.asarray(D[:, None] * np.linalg.solve((K * D) @ K.T, K).T)


def _information(found: Estimate, count: int) -> Array:
    """Information matrix of the base parameters while offsets and gains are unknown."""
    if len(found.beta) == count:
        return found.information
    C = found.covariance[:count, :count]
    scale = 1.0 / np.sqrt(np.diag(C))
    return np.asarray(np.linalg.inv(C * np.outer(scale, scale)) * np.outer(scale, scale))


def _constraints(base: BaseParameters) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
    """Positions of every body's ten parameters, and of those that are not negative."""
    names = list(base.model.names)
    bodies = {n[: -len(".mass")]: n for n in names if n.endswith(".mass")}
    places = {body: np.arange(names.index(n), names.index(n) + 10) for body, n in bodies.items()}
    inside = {int(k) for p in places.values() for k in p}
    return places, np.array([k for k in range(len(names)) if k not in inside], dtype=np.int64)
