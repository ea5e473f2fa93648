r"""Inverse dynamics as a matrix times parameters by the link-axes model: few operations, for long data.

Joint forces h of a leg and the platform's wrench w are linear in the inertial parameters, and actuator forces in them:

.. math:: \Gamma = \sum_i X_i\,h_i + X_P\,w,\qquad Y_i = X_i\,\frac{\partial h_i}{\partial\theta_i},\qquad
          Y_P = X_P\,\frac{\partial w}{\partial\theta_P}

X has a column per joint: the actuators' part of its force. An actuated joint feels its own force alone, and a link loads only
the joints that carry it, so that most products are absent. Virtual power gives the same matrix (`equations.regressor`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import LinkValues, mul, solve_blocks, sparse
from flexapod.equations.model.inertias import body_inertia
from flexapod.equations.model.inverse_dynamics import SINGULAR_POSE, link_legs, nearly_singular, platform_wrench
from flexapod.equations.model.leg import LinkLeg
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs
from flexapod.equations.regressor import INERTIAL, TENSOR, inertial_columns, leg_columns
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric


class ThetaValues(LinkValues):
    """Values in which inertial parameters are symbols of their own, in the axes of the robot file.

    Args:
        theta: value of the kernel -> expression in the parameters.
    """

    theta: Mapping[str, SX]

    def below(self, prefix: str, constants: dict[str, int]) -> ThetaValues:
        """Values below a prefix, with the constants there."""
        found = ThetaValues(self.program, f"{self.prefix}{prefix}.", self._known, constants, self._zeros)
        found.theta = self.theta
        return found

    def scalar(self, name: str) -> SX:
        """A parameter, or a number of the robot."""
        path = self.prefix + name
        return self.theta[path] if path in self.theta else super().scalar(name)


def link_regressor(
    robot: Robot, columns: tuple[int, ...] | None = None, rotated: tuple[str, ...] = (), zeros: Collection[str] = ()
) -> Program:
    """The program: `regressor` (actuators, parameters), for numbers with the given structural zeros.

    Args:
        columns: positions in `inertial_columns` that are wanted; None for all.
        rotated: bodies whose own axes are not those of their link (prefixes of `flexapod.robot.named_values`).

    Redundant robots: the regressor of the smallest forces.

    Checked by: tests/identification/test_regressor.py.
    """
    b = Program("link_regressor")
    platform = platform_motion_inputs(b)
    guess, plain = guess_input(b, robot), LinkValues(b, zeros=zeros)
    names = [c.name for c in inertial_columns(robot)]
    symbols = ca.SX.sym("theta", len(names))
    values = ThetaValues(b, known=plain._known, zeros=zeros)
    values.theta = _parameters(robot, plain, dict(zip(names, ca.vertsplit(symbols), strict=True)), rotated)
    legs = link_legs(b, values, robot, platform, guess)
    X_P, X = _influence(b, robot, legs)
    wanted = list(range(len(names))) if columns is None else list(columns)
    parts, at = [], 0
    for k, count in enumerate([len(INERTIAL), *(len(leg_columns(robot, i)) for i in range(len(legs)))]):
        own = [c for c in wanted if at <= c < at + count]
        at += count
        if own:
            load = _platform_load(values, platform) if k == 0 else ca.vertcat(*legs[k - 1].h)
            parts.append(ca.densify(mul(X_P if k == 0 else X[k - 1], ca.jacobian(load, symbols[own]))))
    b.output("regressor", ca.horzcat(*parts), shape=(len(robot.actuators), len(wanted)), dims=("actuator", "parameter"))
    values.check()
    return b


def _platform_load(values: LinkValues, platform: FrameMotion) -> SX:
    return ca.densify(platform_wrench(body_inertia(values, "platform"), platform, values.vec("gravity")))


def _parameters(robot: Robot, values: LinkValues, theta: Mapping[str, SX], rotated: Collection[str]) -> dict[str, SX]:
    """Value of the kernel -> expression in the file's parameters: v' = R v, I' = R I R^T."""
    bodies = {"platform": "platform"}
    result: dict[str, SX] = {}
    for leg in robot.legs:
        for link in leg.links:
            base = f"legs.{leg.name}"
            if link.body is not None:
                bodies[f"{base}.{link.coordinate}.body"] = f"{base}.{link.body.name.split('.')[-1]}"
            if link.actuated or link.inertia:
                result[f"{base}.{link.coordinate}.rotor"] = theta[f"{base}.{link.joint}.inertia"]
    for value, name in bodies.items():
        R = values.rot(f"{value}.axes") if value in rotated else ca.SX.eye(3)
        own = {p: theta[f"{name}.{p}"] for p in INERTIAL}
        s = ca.densify(mul(R, ca.vertcat(*[own[f"first_moment.{k}"] for k in "xyz"])))
        I = ca.vertcat(*[ca.horzcat(*[own[f"inertia.{min(i, j)}{max(i, j)}"] for j in "xyz"]) for i in "xyz"])
        I = ca.densify(mul(mul(R, I), R.T))
        result[f"{value}.mass"] = own["mass"]
        result |= {f"{value}.first_moment.{k}": s[i] for i, k in enumerate("xyz")}
        result |= {f"{value}.inertia.{e}": I["xyz".index(e[0]), "xyz".index(e[1])] for e in TENSOR}
    return result


def _influence(b: Program, robot: Robot, legs: list[LinkLeg]) -> tuple[SX, list[SX]]:
    """X_P (actuators, 6) and X of every leg (actuators, joints): forces of the actuators per unit of wrench and joint force."""
    plan = robot.link_plan
    balanced = [_balance(leg) for leg in legs]
    G = ca.horzcat(*[free for _, _, free, _ in balanced])
    columns, rows = list(plan.columns), list(plan.components)
    A = sparse(G[rows, columns])
    b.fail_if(nearly_singular(b, A), SINGULAR_POSE)
    per_mu = ca.diagcat(*[per for _, _, _, per in balanced])
    inverse = solve_blocks(A, ca.SX.eye(len(rows)))
    X_P = ca.SX(per_mu.shape[0], 6)
    X_P[:, rows] = mul(per_mu[:, columns], inverse)
    X, at = [], 0
    for leg, (wrench, direct, _, _) in zip(legs, balanced, strict=True):
        own = ca.SX(per_mu.shape[0], len(leg.leg.moving))
        own[at : at + len(leg.driven), :] = direct
        X.append(sparse(own + mul(X_P, wrench)))
        at += len(leg.driven)
    others = [k for k in range(G.shape[1]) if k not in columns]
    strain = [others[k] for k in plan.strain]
    if strain:  # redundant actuators: without forces that only strain the robot
        S = ca.densify(per_mu[:, strain] - mul(X_P, G[:, strain]))
        X_P, *X = (_unstrained(S, M) for M in (X_P, *X))
    return X_P, X


def _unstrained(S: SX, M: SX) -> SX:
    """Columns of M less their part along S: forces of least norm."""
    gram, right = ca.mtimes(S.T, S), ca.densify(mul(S.T, M))
    return M - mul(S, ca.horzcat(*[solve_symmetric(gram, column) for column in ca.horzsplit(right)]))


def _balance(leg: LinkLeg) -> tuple[SX, SX, SX, SX]:
    """Per joint force of a leg: wrench that the platform must give (6, joints) and forces of the leg's own actuators; then the
    same per free multiplier, G (6, k) and (own actuators, k), as in `inverse_dynamics.balance`."""
    B, passive, driven = leg.B, leg.passive, leg.driven
    m, n, solved = B.shape[0], len(leg.leg.moving), list(leg.choice.balance)
    free = [r for r in range(m) if r not in solved]
    first, per = ca.SX(m, n), ca.SX(m, len(free))
    for y, r in enumerate(free):
        per[r, y] = 1
    if passive:
        rows = sparse(B[:, passive].T)
        found = solve_blocks(rows[:, solved], ca.horzcat(ca.SX.eye(len(passive)), -rows[:, free]))
        first[solved, passive], per[solved, :] = found[:, : len(passive)], found[:, len(passive) :]
    direct = -mul(B[:, driven].T, first)
    for a, k in enumerate(driven):
        direct[a, k] += 1
    wrenches = [leg.platform_wrench(first[:, k]) if k in passive else ca.SX(6, 1) for k in range(n)]
    columns = [-leg.platform_wrench(per[:, y]) for y in range(len(free))]
    none = ca.SX(6, 0)  # a passive joint between base and platform is a leg without joints of its own
    return ca.horzcat(none, *wrenches), direct, ca.horzcat(none, *columns), -mul(B[:, driven].T, per)
