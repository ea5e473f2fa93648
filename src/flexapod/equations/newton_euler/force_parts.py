"""Parts of the actuator forces: gravity, inertia, external wrench, and each source of friction.

`frozen`: friction with the reactions of the whole solution; the parts add up to the force. `alone`: each source of
friction by itself, force with it less force without any (Kim Figs. 9-11); these do not add up, because reactions differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.friction_coupling import FrictionSolution, against_friction, friction_loads, solve_friction
from flexapod.equations.newton_euler.friction_points import SOURCES, FrictionPoint
from flexapod.equations.newton_euler.leg import LegForces
from flexapod.equations.newton_euler.mechanism import Loads, Mechanism

if TYPE_CHECKING:
    from flexapod.equations.newton_euler.inverse_dynamics import Setting

Contributions = Literal["frozen", "alone"]

CONTRIBUTION_NAMES = (
    "gravity", "platform_inertia", "leg_inertia", "drive_inertia", "wrench",
    *[f"friction_{source}" for source in SOURCES],
)  # fmt: skip
"""Rows of the output `force_contribution`. Drives are the bodies on actuated joints of the base (sliders, cranks) and rotors."""


def force_contributions(
    setting: Setting, parts: Mapping[str, Loads], base: Loads, solution: FrictionSolution, contributions: Contributions
) -> SX:
    """Table (parts, actuators) in the order of `CONTRIBUTION_NAMES`.

    Args:
        parts: loads without friction by name.
        base: all of them together.
        solution: the whole one, with friction.

    Source: Kim 2002 Eqs. (32), (34). Checked by: tests/equations/test_friction.py.
    """
    mechanism, points, redundant = setting.mechanism, setting.points, setting.open.redundant > 0
    rows = [_column(mechanism.forces(parts[name])) for name in CONTRIBUTION_NAMES[:5]]
    without = _column(mechanism.forces(base))
    for source in SOURCES:
        chosen = [i for i, point in enumerate(points) if point.source == source]
        if not chosen:
            rows.append(ca.SX.zeros(without.numel()))
        elif contributions == "frozen":
            rows.append(_frozen(mechanism, [points[i] for i in chosen], solution, chosen, redundant))
        else:
            alone = solve_friction(setting.b, mechanism, base, [points[i] for i in chosen], redundant)
            rows.append(_column(alone.forces) - without)
    return ca.horzcat(*rows).T


def _frozen(
    mechanism: Mechanism, points: Sequence[FrictionPoint], solution: FrictionSolution, chosen: Sequence[int], redundant: bool
) -> SX:
    """Force that balances given friction."""
    friction = [solution.friction[i] for i in chosen]
    inner = [k for k, p in enumerate(points) if redundant or not p.driven]
    forces = mechanism.forces(friction_loads(mechanism, [points[k] for k in inner], [friction[k] for k in inner]))
    for k, point in enumerate(points):
        if k not in inner:
            forces[point.leg] = against_friction(point, forces[point.leg], friction[k])
    return _column(forces)


def _column(forces: Sequence[LegForces]) -> SX:
    return ca.vertcat(*[x for leg in forces for x in leg.actuators])
