r"""`linearize`: small motions of a robot as a state-space system with names.

.. math:: x = (y, \dot y),\qquad \dot x = A x + B u,\qquad z = C x + D u,\qquad
          M\ddot y + D_d\dot y + K y = Z^T(B_a\,\Gamma + P^T w)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.linear_solve import MASSLESS, inverted
from flexapod.analysis.model.small_motions import actuator_stiffness, linear_matrices, warn_equilibrium
from flexapod.analysis.model.vibration import inertial_sizes, null_space
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.loads import is_loaded
from flexapod.analysis.requests.results import check_option, raise_failed
from flexapod.analysis.requests.state_rules import has_velocity
from flexapod.analysis.requests.validity import warn_beyond
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.model.moving_linear import MovingModel
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

WRENCH = ["fx", "fy", "fz", "mx", "my", "mz"]


@dataclass(frozen=True, kw_only=True, eq=False)
class StateSpace:
    """A linear system x' = A x + B u, z = C x + D u.

    Args:
        A, B, C, D: (n, n), (n, m), (k, n), (k, m).
        states, inputs, outputs: their names.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def frequency_response(self, frequency: ArrayLike) -> NDArray[np.complex128]:
        """C (2 pi i f - A)^-1 B + D, (frequencies, outputs, inputs), at frequencies [Hz]."""
        s = 2j * np.pi * np.atleast_1d(np.asarray(frequency, dtype=float))
        resolvent = np.linalg.solve(s[:, None, None] * np.eye(len(self.A)) - self.A, self.B.astype(complex)[None])
        return np.asarray(self.C @ resolvent + self.D)

    def to_control(self) -> Any:
        """The same as a `control.StateSpace`, with its names; needs the package python-control (``flexapod[control]``).

        Checked by: tests/analysis/test_linearize.py.
        """
        try:
            control = import_module("control")
        except ImportError as error:
            text = "StateSpace.to_control needs python-control; install it with `pip install 'flexapod[control]'`"
            raise InputError(text) from error
        names = {"inputs": list(self.inputs), "outputs": list(self.outputs), "states": list(self.states)}
        return control.ss(self.A, self.B, self.C, self.D, **names)


@checked
def linearize(
    robot: Robot,
    state: StateOrMotion,
    *,
    inputs: Sequence[str] = ("force",),
    outputs: Sequence[str] = ("actuators", "platform"),
    actuators: str | ArrayLike = "free",
    prestress: bool = True,
    wrench: ArrayLike | None = None,
) -> StateSpace:
    """The robot near an equilibrium, or near a motion, as a linear system.

    Args:
        state: one state or sample of a motion. At rest, the equilibrium there; where it moves, the deviations from its motion,
            in the independent coordinates (`robot.independent`) and with the viscous friction of the file.
        inputs: ``"force"``: actuator forces [N or N m]; ``"wrench"``: load on the platform frame, world axes.
        outputs: ``"actuators"``: their displacement; ``"platform"``: displacement and rotation of the platform frame, world
            axes; ``"actuator_rates"``, ``"platform_rates"``: their rates.
        actuators: ``"free"``, ``"locked"`` (then forces are not inputs), or stiffness (actuators,).
        prestress, wrench: as for `natural_frequencies`, but a moment keeps its world axes, as in `simulate`. Friction is not
            part of the model at rest.
    Returns:
        `StateSpace`, coordinates and their rates as states; about the equilibrium, so that all are zero there. States are
        named after the independent coordinates (of a six-DOF platform ``vx`` to ``wz``: displacement along and rotation about
        x, y, z), rates with ``_rate``; inputs ``force A``, outputs ``actuator A``, ``platform x``, ``platform rotation x``.

    Source: Briot 2014, section 5 (linear model). Checked by: tests/analysis/test_linearize.py.
    """
    refuse(robot, "linearize", velocity=has_velocity(state), actuators=actuators, prestress=prestress, wrench=wrench)
    reasons = np.full(len(state), "", dtype=object)
    if len(reasons) != 1:
        raise InputError(f"linearize: expected one state, got {len(reasons)}")
    stiffness = actuator_stiffness(robot, actuators)
    if has_velocity(state):
        from flexapod.analysis.model.moving_linear import moving_model

        deviations = moving_model(robot, state, wrench, reasons)
        raise_failed("linearize", robot, reasons.astype(str), state, "raise")
        return _about_motion(robot, deviations, inputs, outputs, stiffness)
    model = linear_matrices(robot, state, prestress, (wrench, None, "world"), reasons)
    raise_failed("linearize", robot, reasons.astype(str), state, "raise")
    if "elastic" in model.variables and robot.elastic_names:
        warn_equilibrium(robot, model, state, stiffness, is_loaded(wrench))
        warn_beyond(robot, model.variables["elastic"][1], state)
    M, D, K, B, P = (matrix[0] for matrix in (model.M, model.D, model.K, model.B, model.P))
    if stiffness is not None:
        K = K + B @ (stiffness[:, None] * B.T)
    locked = isinstance(actuators, str) and actuators == "locked"
    Z = null_space(B.T[None], inertial_sizes(M[None]))[0] if locked else np.eye(len(M))
    names = [f"y{k + 1}" for k in range(Z.shape[1])] if locked else model.names
    M_y = Z.T @ M @ Z
    n = len(M_y)
    columns, labels = _inputs(robot, inputs, B, P, locked)
    M_inv = inverted(M_y[None])[0]
    if not np.all(np.isfinite(M_inv)):
        raise InputError(f"linearize: {MASSLESS} ({robot.name})")
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = -M_inv @ (Z.T @ K @ Z), -M_inv @ (Z.T @ D @ Z)
    rows, shown = _outputs(robot, outputs, B.T @ Z, P @ Z)
    right = np.concatenate([np.zeros((n, columns.shape[1])), M_inv @ (Z.T @ columns)])
    return StateSpace(
        A=A, B=right, C=rows, D=np.zeros((len(rows), columns.shape[1])),
        states=(*names, *(f"{name}_rate" for name in names)), inputs=tuple(labels), outputs=tuple(shown),
    )  # fmt: skip


def _about_motion(
    robot: Robot, model: MovingModel, inputs: Sequence[str], outputs: Sequence[str], stiffness: Array | None
) -> StateSpace:
    """The linear system of deviations from a motion."""
    Q, P, n = model.actuators, model.platform, len(model.inverse_mass)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = model.by_position, model.by_rate
    if stiffness is not None:
        A[n:, :n] -= model.inverse_mass @ Q.T @ (stiffness[:, None] * Q)
    columns, labels = _inputs(robot, inputs, Q.T, P, False)
    rows, shown = _outputs(robot, outputs, Q, P, model.rotating)
    right = np.concatenate([np.zeros((n, columns.shape[1])), model.inverse_mass @ columns])
    names = robot.independent
    return StateSpace(
        A=A, B=right, C=rows, D=np.zeros((len(rows), columns.shape[1])),
        states=(*names, *(f"{name}_rate" for name in names)), inputs=tuple(labels), outputs=tuple(shown),
    )  # fmt: skip


def _inputs(robot: Robot, inputs: Sequence[str], B: Array, P: Array, locked: bool) -> tuple[Array, list[str]]:
    parts, labels = [], []
    for name in inputs:
        check_option("inputs", name, ("force", "wrench"))
        if name == "force" and locked:
            raise InputError("inputs: locked actuators take no forces; use inputs=('wrench',)")
        parts.append(B if name == "force" else P.T)
        labels += [f"force {a}" for a in robot.actuators] if name == "force" else WRENCH
    if not parts:
        raise InputError("inputs: give at least one of 'force', 'wrench'")
    return np.concatenate(parts, axis=1), labels


def _outputs(robot: Robot, outputs: Sequence[str], Q: Array, P: Array, rotating: Array | None = None) -> tuple[Array, list[str]]:
    """Rows of C and their names: Q actuators, P platform per coordinate; `rotating` the platform's twist by coordinates."""
    rows, labels = [], []
    for name in outputs:
        check_option("outputs", name, ("actuators", "platform", "actuator_rates", "platform_rates"))
        matrix = Q if name.startswith("actuator") else P
        none = np.zeros_like(matrix)
        first = rotating if rotating is not None and name == "platform_rates" else none
        rows.append(np.concatenate([first, matrix] if name.endswith("rates") else [matrix, none], axis=1))
        shown = [f"actuator {a}" for a in robot.actuators] if name.startswith("actuator") else TWIST_SHOWN
        labels += [f"{label} rate" for label in shown] if name.endswith("rates") else list(shown)
    if not rows:
        raise InputError("outputs: give at least one of 'actuators', 'platform', 'actuator_rates', 'platform_rates'")
    return np.concatenate(rows), labels


TWIST_SHOWN = [f"platform {axis}" for axis in ("x", "y", "z", "rotation x", "rotation y", "rotation z")]
