r"""Violated limits along a motion: samples, spans of time, the worst one, and the reasons at each.

The severity of a sample is the largest excess over a limit, of the limit itself (of the range, for strokes); negative where every
limit is kept, infinite where the pose cannot be reached:

.. math:: s_i = \max_k (-m_{ik} / l_k)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.plots.time_figures import actuator_limits, largest
from flexapod.views.studio.numbers import BrokenLimit

if TYPE_CHECKING:
    import xarray as xr


SLACK = 1e-9
"""Excess that does not count, of the limit: rounding."""
MARGIN_TEXTS = {
    "stroke_margin": ("actuator", "is beyond its stroke", "m"), "joint_margin": ("limited_joint", "is beyond its stroke", "m"),
    "angle_margin": ("swivel", "is beyond its angle limit", "rad"), "speed_margin": ("actuator", "is too fast", "m/s"),
    "force_margin": ("actuator", "needs too much force", "N"), "power_margin": ("actuator", "needs too much power", "W"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitsAlong:
    """Limits along a motion of n samples.

    Args:
        severity: (n,), see above.
        excess: kind of margin -> (names, (n, names) margins, the same over their limits); reasons are made from these.
        reason: (n,) why a pose cannot be reached, else empty.
    """

    severity: Array
    excess: dict[str, tuple[tuple[str, ...], Array, Array]]
    reason: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def bad(self) -> NDArray[np.bool_]:
        """(n,) samples at which a limit is not kept."""
        return np.asarray(self.severity > SLACK)

    @property
    def worst(self) -> int:
        """The sample with the largest severity: where a limit is exceeded most, or nearest."""
        return largest(self.severity)

    def spans(self) -> list[tuple[int, int]]:
        """First and last sample of every stretch of samples that break a limit."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.bad.astype(int), [0]])))
        return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]

    def problems(self, i: int) -> tuple[BrokenLimit, ...]:
        """Violated limits at a sample, with the owner of each limit; the worst first."""
        found: list[tuple[float, BrokenLimit]] = []
        for kind, (names, margins, parts) in self.excess.items():
            for k in np.flatnonzero(np.nan_to_num(margins[i], nan=np.inf) < -SLACK):
                text = f"{self._reported(kind, names[k])} by {self._size(kind, int(k), -float(margins[i, k]))}"
                found.append((float(parts[i, k]), BrokenLimit(owner=names[k], text=text)))
        if not found and self.bad[i]:
            owner = self.reason[i].removeprefix("leg ").split(" ")[0].rstrip(":")
            return (BrokenLimit(owner=owner, text=self.reason[i]),)
        return tuple(problem for _, problem in sorted(found, key=lambda pair: -pair[0]))

    @staticmethod
    def _reported(kind: str, name: str) -> str:
        what, phrase, _ = MARGIN_TEXTS[kind]
        return f"{what if what == 'actuator' else 'joint'} {name} {phrase}"

    def _size(self, kind: str, k: int, size: float) -> str:
        """An excess with its unit: degrees for angles, torques for actuators that rotate."""
        what, _, unit = MARGIN_TEXTS[kind]
        rotations = kind == "angle_margin" or (what == "actuator" and self.units[k] == "rad")
        if rotations and unit != "W":
            unit = {"m": "deg", "m/s": "deg/s", "N": "N m", "rad": "deg"}[unit]
            size = float(np.degrees(size)) if unit.startswith("deg") else size
        return f"{number(size, 3)} {unit}"


def limits_along(robot: fp.Robot, margins: xr.Dataset) -> LimitsAlong:
    """Limits along a batch, from the margins of `check_motion` or of `check_pose`.

    Checked by: tests/studio/test_studio_model.py.
    """
    count = margins.sizes["time"] if "time" in margins.sizes else len(np.atleast_1d(margins.valid.values))
    excess: dict[str, tuple[tuple[str, ...], Array, Array]] = {}
    severity = np.full(count, -1.0)
    for kind in (kind for kind in MARGIN_TEXTS if kind in margins):
        values = margins[kind].values
        known = np.isfinite(values)
        parts = np.where(known, -np.where(known, values, 0.0) / _scale(robot, kind, margins), -1.0)
        excess[kind] = (_names(margins, MARGIN_TEXTS[kind][0]), values, parts)
        severity = np.maximum(severity, parts.max(axis=1)) if parts.shape[1] else severity
    reason = tuple(str(text) for text in np.atleast_1d(margins.reason.values))
    severity[(severity <= SLACK) & ~np.atleast_1d(margins.valid.values)] = np.inf
    return LimitsAlong(severity=severity, excess=excess, reason=reason, units=tuple(robot.actuator_units))


def _names(margins: xr.Dataset, dim: str) -> tuple[str, ...]:
    return tuple(str(name) for name in margins[dim].values)


def _scale(robot: fp.Robot, kind: str, margins: xr.Dataset) -> Any:
    """The size of a limit, for its excess in parts of it."""
    if kind == "angle_margin":
        limit = margins.deflection.values + margins.angle_margin.values
        return np.where(np.isfinite(limit) & (limit > 0), limit, 1.0)
    if kind == "joint_margin":
        return robot.size
    low, high = (np.array(side) for side in actuator_limits(robot, kind.removesuffix("_margin")))
    scale = high - low if kind == "stroke_margin" else high
    return np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
