r"""Bounds of a robot's limits over boxes of positions for legs without a closed form, by contraction.

A box is a region of `flexapod.analysis.space.contraction` with one move per axis. Its balls hold one branch of the legs, whose
coordinates lie between two planes,

.. math:: q(p) \in q(m) + q_p\cdot(p - m) \pm \rho

with a distance that falls with the square of the box. The branch is the one that kinematics follows from home, with home's signs
of the determinants of the legs. A box is inside where this branch keeps all limits and is on home's side of the type 2
singularities, outside where it breaks a limit or is on the other side, or where a leg cannot reach. The dependent components of
the pose of a robot of limited mobility follow from the others.

Checked by: tests/analysis/test_tube_bounds.py.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.space.box_decision import Decision
from flexapod.analysis.space.contraction import Contraction
from flexapod.analysis.space.cut_boxes import CutBoxes, Planes
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.path_tube import margins
from flexapod.analysis.space.pose_bounds import SINGULAR
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


UNSURE = "the legs may be singular or may not reach"


class TubeBounds(CutBoxes):
    """Decides boxes of positions; the interface is that of `flexapod.analysis.space.pose_bounds.PoseBounds`."""

    axes = ("x", "y", "z")
    chart = "position"

    def __init__(self, robot: Robot, rotation: ArrayLike | None, *, strokes: bool, angles: bool, singularities: bool) -> None:
        self.robot, self.singularities = robot, singularities
        self.rotation = np.asarray(robot.home.rotation if rotation is None else rotation, dtype=float)
        self.balls, self.limits = Contraction(robot), limits_of(robot)
        every = [f"actuator {name} is beyond its stroke" for name in robot.actuators]
        every += [f"joint {name} is beyond its stroke" for name in self.limits.joint_names]
        kept = [strokes] * len(every)
        if np.any(np.isfinite(self.limits.angle)):
            every += [f"joint {name} is beyond its angle limit" for name in self.limits.swivel_names]
            kept += [angles] * len(self.limits.swivel_names)
        self.counted = np.array(kept, dtype=bool)
        self.texts = (*every, SINGULAR, UNSURE)

    @cached_property
    def dependent_axes(self) -> tuple[int, ...]:
        """Axes that cannot be chosen: what follows, or what leaves the plane."""
        return tuple(k for k in range(3) if k not in self.robot.plan.platform_independent)

    @cached_property
    def home(self) -> Array:
        """Signs of the determinants at home."""
        home = self.robot.home
        return np.asarray(self.balls.over(home.position[None], home.rotation[None], np.zeros((1, 1, 6))).signs[0])

    @cached_property
    def reach(self) -> tuple[Array, Array, Array]:
        """Base points of the legs (legs, 3), bounds (legs,) on their reach, and their arms (legs, 3) on the platform."""
        links = [[leg.links[i] for i in leg.moving] for leg in self.robot.legs]
        far = np.zeros(len(links))
        for k, leg in enumerate(self.robot.legs):
            far[k] = sum(float(np.linalg.norm(link.placement.position)) for link in leg.links if link.parent >= 0)
            far[k] += float(np.linalg.norm(leg.closing.on_link.position))
            for link in links[k]:
                stroke = link.limits.stroke if link.limits is not None else None
                if link.kind == "P":
                    far[k] += np.inf if stroke is None else max(abs(stroke[0] + link.zero), abs(stroke[1] + link.zero))
        base = np.array([leg.links[0].placement.position for leg in self.robot.legs])
        return base, far, np.array([leg.closing.on_platform.position for leg in self.robot.legs])

    def region(self) -> dict[str, Any]:
        """A box that no position can leave; numbers for axes that cannot be chosen."""
        base, far, arms = self.reach
        rotates = any(k > 2 for k in self.balls.blocks[0].dependent)
        far = far + np.linalg.norm(arms, axis=1) * rotates
        offset = np.zeros_like(arms) if rotates else arms @ self.rotation.T
        low, high = (base - offset - far[:, None]).max(axis=0), (base - offset + far[:, None]).min(axis=0)
        found: dict[str, Any] = {}
        for k, name in enumerate(self.axes):
            if k in self.dependent_axes:
                found[name] = float(self.robot.home.position[k])
            elif not np.isfinite(low[k]) or not np.isfinite(high[k]):
                raise InputError(f"{self.robot.name}: a slider without a stroke has no end; give the region of the paving")
            elif low[k] >= high[k]:
                raise InputError(f"{self.robot.name}: no position is within the reach of all legs at this orientation")
            else:
                found[name] = (float(low[k]), float(high[k]))
        return found

    def prepared(self, low: Array, high: Array) -> None:
        """No data: nothing is kept for the first box."""

    def decide(self, low: Array, high: Array, groups: NDArray[np.bool_]) -> Decision:
        """Decide boxes; open limits are evaluated again in parts of a box."""
        middle, radius = (low + high) / 2, (high - low) / 2
        moves = np.zeros((len(low), 3, 6))
        moves[:, range(3), range(3)] = np.nextafter(radius / self.balls.length, np.inf)
        R = np.broadcast_to(self.rotation, (len(low), 3, 3)).copy()
        self._last = found = self.balls.over(middle, R, moves)
        least, most = margins(self.limits, found, self.balls)
        least, most = (np.where(self.counted, side, 1.0) for side in (least, most))
        signs = found.signs == self.home
        side = signs[:, -1] if self.singularities else np.ones(len(low), dtype=bool)
        legs = np.all(signs[:, :-1], axis=1)
        opened = ~(least >= 0.0)
        proven = found.proven & legs
        out = proven & (np.any(most < 0.0, axis=1) | ~side)
        out |= self._beyond(middle, radius)
        inside = proven & ~out & ~np.any(opened, axis=1)
        self._open, self.whole = opened, ~proven
        both = np.column_stack([opened, ~side, ~proven])
        return Decision(inside=inside, outside=out, groups=groups, open=both)

    def _beyond(self, middle: Array, radius: Array) -> NDArray[np.bool_]:
        """A leg cannot reach its joint anywhere in a box."""
        base, far, arms = self.reach
        rotates = any(k > 2 for k in self.balls.blocks[0].dependent)
        if any(k < 3 for k in self.balls.blocks[0].dependent):
            return np.zeros(len(middle), dtype=bool)
        far = far + np.linalg.norm(arms, axis=1) * rotates
        end = middle[:, None] + (np.zeros_like(arms) if rotates else arms @ self.rotation.T)
        gap = np.linalg.norm(end - base, axis=2) - np.linalg.norm(radius, axis=1)[:, None]
        return np.asarray(np.any(gap > far * (1 + 1e-9) + 1e-9 * self.balls.length, axis=1))

    def planes(self, low: Array, high: Array, own: NDArray[np.int64]) -> Planes:
        """Limits of some boxes of the last decision as `cut_fractions` takes them: two rows per stroke, planes apart by the
        rest."""
        last, limits, radius = self._last, self.limits, (high - low) / 2
        columns = np.array([*limits.robot.driven, *limits.joints], dtype=np.int64)
        lows, highs = (np.concatenate(pair) for pair in ((limits.low, limits.joint_low), (limits.high, limits.joint_high)))
        q, slope, rest = last.q[own][:, columns], last.slope[own][:, columns], last.rest[own][:, columns]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(radius[:, None] > 0, slope / np.where(radius > 0, radius, 1.0)[:, None], 0.0)
        n, k = len(own), len(columns)
        value = np.minimum(np.stack([q - lows, highs - q], axis=2).reshape(n, 2 * k), np.finfo(float).max)  # without a limit
        gradient = np.stack([slope, -slope], axis=2).reshape(n, 2 * k, 3)
        spread, opened = np.repeat(rest, 2, axis=1), np.repeat(self._open[own][:, :k], 2, axis=1)
        extra = self._open.shape[1] - k
        if extra:  # deflections have no planes: such a limit may be broken anywhere in the box
            nothing = np.zeros((n, extra))
            value, spread = np.hstack([value, nothing]), np.hstack([spread, np.full((n, extra), np.inf)])
            gradient = np.concatenate([gradient, np.zeros((n, extra, 3))], axis=1)
            opened = np.hstack([opened, self._open[own][:, k:]])
        unsure = self.whole[own][:, None]
        opened = opened | unsure
        spread = np.where(unsure, np.inf, spread)
        return Planes(
            g_low=value - spread, g_high=value + spread, at_low=gradient, at_high=gradient, box_low=gradient, box_high=gradient,
            opened=opened, radius=radius,
        )  # fmt: skip
