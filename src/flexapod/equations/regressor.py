r"""Inverse dynamics as a matrix times parameters: the regressor of a rigid robot.

.. math:: \Gamma = Y(p, V, \dot V)\,\theta,\qquad
          Y = (J_a N)^{-T} N^T\,\frac{\partial h}{\partial\theta}

Letters: theta_b = (m, m c, I) of body b about its frame origin in the axes of the robot file, then rotor inertias, springs and
dampers of passive joints; h the equation of `virtual_power.platform_equation`. Friction: `friction_regressor`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.closing import close_leg
from flexapod.equations.leg_kinematics import home_guess
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs
from flexapod.equations.universal_leg import actuator_direction
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.closed_form_leg import force_at_joint
from flexapod.equations.virtual_power.general_leg import tree_forces
from flexapod.equations.virtual_power.inertia_wrench import inertia_wrench
from flexapod.equations.virtual_power.inverse_dynamics import SINGULAR
from flexapod.equations.virtual_power.platform_equation import motion_basis
from flexapod.kernels.tape.program import Program
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial.gram_schmidt import GramSchmidt
from flexapod.spatial.linear import solve_gram_schmidt, solve_symmetric

TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
INERTIAL = ("mass", *(f"first_moment.{k}" for k in "xyz"), *(f"inertia.{k}" for k in TENSOR))
"""The ten standard parameters of a body; tensor about the origin of its frame."""
IN_LEG = {"UPS": ("in_C.0", "in_L.0", "in_L.1"), "PUS": ("carrier", "in_C.0", "in_L.0"), "RUS": ("carrier", "in_C.0", "in_L.0")}
"""Names of the bodies of closed-form legs in `flexapod.robot.named_values`, per link."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A parameter of the regressor.

    Args:
        name: of the parameter, as the robot file names its place.
        value: its name in `flexapod.robot.named_values`, in the axes of the kernel.
        body: prefix of its body's values; empty for what has no axes.
    """

    name: str
    value: str
    body: str = ""


def is_closed_form(robot: Robot, index: int) -> bool:
    """Whether the leg's closed form applies: it has one and no springs."""
    return robot.closed_forms[index] is not None and not any(link.spring for link in robot.legs[index].links)


def leg_columns(robot: Robot, index: int) -> list[Column]:
    """Parameters of a leg: bodies from the base outwards, inertias of drives and of other joints that have one, springs and
    dampers."""
    leg, result = robot.legs[index], []
    base = f"legs.{leg.name}"
    for k, link in enumerate(leg.links):
        if link.body is not None:
            own = IN_LEG[leg.architecture][k] if is_closed_form(robot, index) else f"{link.coordinate}.body"
            short = link.body.name.split(".")[-1]
            result += [Column(name=f"{base}.{short}.{p}", value=f"{base}.{own}.{p}", body=f"{base}.{own}") for p in INERTIAL]
    for link in leg.links:
        if link.actuated or link.inertia:
            result.append(Column(name=f"{base}.{link.joint}.inertia", value=f"{base}.{link.coordinate}.rotor"))
        if link.spring:
            result += [
                Column(name=f"{base}.{link.coordinate}.{p}", value=f"{base}.{link.coordinate}.{p}")
                for p in ("stiffness", "damping")
            ]
    return result


def inertial_columns(robot: Robot) -> list[Column]:
    """All parameters of `inertia_regressor` in order: platform, then leg by leg."""
    own = [Column(name=f"platform.{p}", value=f"platform.{p}", body="platform") for p in INERTIAL]
    return own + [column for i in range(len(robot.legs)) for column in leg_columns(robot, i)]


def inertia_regressor(robot: Robot, columns: tuple[int, ...] | None = None) -> Program:
    """The program: `regressor` (actuators, parameters), and `drive` (actuators, mobility) J_a N.

    Args:
        columns: positions in `inertial_columns` that are wanted; None for all.

    Redundant robots: the regressor of the smallest forces. Springs are linear in q - rest with the file's rest position.

    Checked by: tests/identification/test_regressor.py.
    """
    b = Program("inertia_regressor")
    platform = platform_motion_inputs(b)
    closed = all(is_closed_form(robot, i) for i in range(len(robot.legs)))
    guess = guess_input(b, robot, needed=not closed)
    Y, A = regressor_at(b, robot, platform, guess, columns)
    b.output("regressor", Y, shape=Y.shape, dims=("actuator", "parameter"))
    b.output("drive", A, shape=A.shape, dims=("actuator", "independent"))
    return b


def regressor_at(
    b: Program, robot: Robot, platform: FrameMotion, guess: SX | None, columns: tuple[int, ...] | None
) -> tuple[SX, SX]:
    """Y (actuators, parameters) and J_a N (actuators, mobility) for a motion of the platform."""
    parts = _Parts(b, robot, platform, guess, columns)
    kept = list(robot.plan.constraints)
    G_all: SX = ca.vertcat(*parts.constraints)
    G = G_all[kept, :] if kept else ca.SX.zeros(0, 6)
    N = motion_basis(robot, G)
    A = ca.densify(ca.mtimes(ca.vertcat(*parts.rows), N))
    from_platform = ca.mtimes(_from_wrench(b, A), N.T)
    return ca.mtimes(from_platform, ca.horzcat(*parts.blocks)), A


def _from_wrench(b: Program, A: SX) -> SX:
    """(actuators, mobility) inverse of A^T, with the smallest forces where there are more actuators."""
    actuators, mobility = A.shape
    b.fail_if(
        GramSchmidt(ca.horzsplit(A if actuators > mobility else A.T)).smallest_pivot < SINGULAR,
        "the pose is singular (type 2): the platform can move with all actuators locked",
    )
    eye = ca.SX.eye(mobility)
    if actuators > mobility:
        gram = ca.mtimes(A.T, A)
        return ca.mtimes(A, ca.horzcat(*[solve_symmetric(gram, ca.densify(eye[:, k])) for k in range(mobility)]))
    return ca.horzcat(*[solve_gram_schmidt(A.T, ca.densify(eye[:, k])) for k in range(mobility)])


class _Parts:
    """Blocks (6, parameters) of the platform and of every leg, actuator rows and constraint rows."""

    def __init__(
        self, b: Program, robot: Robot, platform: FrameMotion, guess: SX | None, columns: tuple[int, ...] | None
    ) -> None:
        self.b, self.robot, self.platform, self.values = b, robot, platform, Values(b)
        self.gravity = self.values.vector("gravity", "W")
        self.rows: list[SX] = []
        self.constraints: list[SX] = []
        own = [Column(name=f"platform.{p}", value=f"platform.{p}", body="platform") for p in INERTIAL]
        wrench = inertia_wrench(self.values, "platform", platform, self.gravity).column
        wanted = None if columns is None else set(columns)
        self.blocks = [self._block(wrench, own, 0, wanted)]
        at, start = len(own), 0
        for i, leg in enumerate(robot.legs):
            share = self._closed(i, leg) if is_closed_form(robot, i) else self._general(i, leg, guess, start)
            start += len(leg.moving)
            named = leg_columns(robot, i)
            self.blocks.append(self._block(share, named, at, wanted))
            at += len(named)

    def _block(self, share: SX, columns: Sequence[Column], at: int, wanted: set[int] | None) -> SX:
        """d share / d theta for the wanted columns, theta in the axes of the file."""
        known = self.values._known
        by_value = {c.value: ca.jacobian(share, known[c.value]) for c in columns if c.value in known}
        none = ca.SX.zeros(share.shape[0], 1)
        result = []
        for k, column in enumerate(columns):
            if wanted is not None and at + k not in wanted:
                continue
            total = none
            for name, factor in self._in_kernel_axes(column).items():
                total = total + by_value.get(name, none) * factor
            result.append(ca.densify(total))
        return ca.horzcat(*result) if result else ca.SX.zeros(share.shape[0], 0)

    def _in_kernel_axes(self, column: Column) -> Mapping[str, SX | float]:
        """Image in the kernel's axes of one unit of a parameter in the file's axes: v' = R v, I' = R I R^T."""
        kind = column.value.removeprefix(f"{column.body}.")
        if not column.body or kind == "mass":
            return {column.value: 1}
        R = self.values.rotation(f"{column.body}.axes", "K", "B").expr
        if kind.startswith("first_moment"):
            j = "xyz".index(kind[-1])
            return {f"{column.body}.first_moment.{'xyz'[i]}": R[i, j] for i in range(3)}
        p, q = "xyz".index(kind[-2]), "xyz".index(kind[-1])
        unit = ca.SX.zeros(3, 3)
        unit[p, q] = unit[q, p] = 1
        rotated = ca.mtimes([R, unit, R.T])
        return {f"{column.body}.inertia.{e}": rotated["xyz".index(e[0]), "xyz".index(e[1])] for e in TENSOR}

    def _closed(self, index: int, leg: Leg) -> SX:
        own, form = self.values.of(f"legs.{leg.name}"), self.robot.closed_forms[index]
        assert form is not None
        force, motion = force_at_joint(self.b, own, leg, form.sign, self.platform, self.gravity)
        arm = ca.skew((motion.tip.p - self.platform.p).expr)
        d = actuator_direction(own, leg, motion)
        self.rows.append(ca.horzcat(d.expr.T, ca.mtimes(arm, d.expr).T))
        return ca.vertcat(force.expr, ca.mtimes(arm, force.expr))

    def _general(self, index: int, leg: Leg, guess: SX | None, at: int) -> SX:
        own = self.values.of(f"legs.{leg.name}")
        start = [guess[at + k] for k in range(len(leg.moving))] if guess is not None else home_guess(own, leg)
        closed = close_leg(self.b, own, leg, self.robot.plan.legs[index], self.platform, start)
        h = tree_forces(own, leg, closed.links, closed.qdd, self.gravity)
        for k, i in enumerate(leg.moving):
            link = leg.links[i]
            if link.spring and not link.actuated:
                at_joint = own.of(link.coordinate)
                spring = at_joint.scalar("stiffness") * (closed.q[k] - at_joint.scalar("rest"))
                h[k] = h[k] + spring + at_joint.scalar("damping") * closed.qd[k]
        driven = [k for k, i in enumerate(leg.moving) if leg.links[i].actuated]
        self.rows.append(closed.jacobian[driven, :])
        self.constraints.append(closed.constraint)
        return ca.mtimes(closed.jacobian.T, h)
