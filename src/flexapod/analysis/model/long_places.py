"""Positions of the numbers of looping kernels (see `long_chains`) among the coordinates z of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.properties import COMPILED
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import cut_joints
from flexapod.robot.element_runs import ElementRun, element_runs
from flexapod.robot.leg_positions import ROWS, ancestors

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def has_looped_elements(robot: Robot) -> bool:
    """The robot has many coordinates and runs of elements that a kernel can loop over."""
    if robot.varied is not None:
        return False
    if "long chains" not in robot.kept:
        robot.kept["long chains"] = len(robot.elastic_plan.columns) > COMPILED and bool(element_runs(robot))
    return bool(robot.kept["long chains"])


@dataclass(frozen=True, eq=False)
class Places:
    """Positions of the numbers of the kernels among the coordinates z; kept with the robot."""

    robot: Robot

    @cached_property
    def runs(self) -> list[list[tuple[ElementRun, NDArray[np.intp]]]]:
        """Per leg, its runs and their columns of z (elements, N)."""
        found, plan = element_runs(self.robot), self.robot.elastic_plan
        result = []
        for i, leg in enumerate(self.robot.legs):
            own = [run for run in found if run.leg is leg]
            result.append([(run, plan.first[i] + run.first + np.arange(run.size * len(run.elements)).reshape(-1, run.size))
                           for run in own])  # fmt: skip
        return result

    @cached_property
    def single(self) -> list[list[int]]:
        """Per leg, links that move and are in no run."""
        return [
            [k for k in leg.moving if not any(k in run.links for run, _ in self.runs[i])] for i, leg in enumerate(self.robot.legs)
        ]

    def column(self, leg: int, link: int) -> int:
        """Column of z of a link."""
        return int(self.robot.elastic_plan.first[leg] + self.robot.legs[leg].moving.index(link))

    @cached_property
    def columns(self) -> list[list[int]]:
        """Per leg, columns of z of its links that move alone."""
        return [[self.column(i, k) for k in own] for i, own in enumerate(self.single)]

    @cached_property
    def rotates(self) -> NDArray[np.bool_]:
        """Mask (z,) of the coordinates that rotate."""
        kinds = [leg.links[i].kind for leg in self.robot.legs for i in leg.moving]
        head = len(self.robot.elastic_plan.columns) - len(kinds)
        return np.array([3 <= k < 6 for k in range(head)] + [kind == "R" for kind in kinds])

    def moving(self, leg: int, link: int) -> Array:
        """Mask (z,) of the coordinates that move a link."""
        mask, own = np.zeros(len(self.robot.elastic_plan.columns)), self.robot.legs[leg]
        for k in ancestors(own, link):
            if own.links[k].kind != "fixed":
                mask[self.column(leg, k)] = 1.0
        return mask

    def platform(self) -> Array:
        """Mask (z,) of the coordinates that move the platform."""
        plan = self.robot.elastic_plan
        if plan.carrier is not None:
            return self.moving(plan.carrier, self.robot.legs[plan.carrier].closing.link)
        return (np.arange(len(plan.columns)) < 6).astype(float)

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """Masks (m, z) of the coordinates that move the end and the far half of every row."""
        from flexapod.equations.elastodynamics.statics import used_rows

        owners: list[list[Any]] = []
        for i in range(len(self.robot.legs)):
            owners.append([closing for closing in cut_joints(self.robot, i) for _ in ROWS[closing.type]])
        size = len(self.robot.elastic_plan.columns)
        end, far = [np.zeros((0, size))], [np.zeros((0, size))]
        for i, k in used_rows(self.robot.elastic_plan):
            closing = owners[i][k]
            end.append(self.moving(i, closing.link)[None])
            far.append((self.platform() if closing.to is None else self.moving(*closing.to))[None])
        return np.concatenate(end), np.concatenate(far)

    @cached_property
    def before(self) -> Array:
        """(z, z): 1 where the first coordinate moves the link of the second, itself included; legs only."""
        size = len(self.robot.elastic_plan.columns)
        result = np.zeros((size, size))
        for i, leg in enumerate(self.robot.legs):
            for k in leg.moving:
                result[:, self.column(i, k)] = self.moving(i, k)
        return result


def places(robot: Robot) -> Places:
    """The places of a robot, made once."""
    if "places" not in robot.kept:
        robot.kept["places"] = Places(robot)
    found: Places = robot.kept["places"]
    return found
