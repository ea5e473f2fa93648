"""The vector of numbers that a simulation carries from row to row, by name; and the structure on which a compiled loop
depends."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from flexapod.simulation.integrators.collocation import METHODS

if TYPE_CHECKING:
    from flexapod.arrays import SX, Scalar
    from flexapod.equations.minimal.planning import MinimalPlan
    from flexapod.robot.link_plan import LinkPlan
    from flexapod.robot.robot import Robot
    from flexapod.simulation.controllers import Controller

WIDTHS = {"platform": 24, "wrench": 6, "acceleration": 6}
"""Numbers per signal; the others have a multiple of the number of actuators."""

MOTION = 12
"""Increments of the platform's motion in a step: position, Cayley's vector, velocity, angular velocity."""

CHEBYSHEV = 8
"""Nodes per row of signals that are interpolated in an adaptive run (polynomials of degree 7)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """Structure of a compiled simulation.

    Args:
        robot: its structure and closing plan.
        controller: None for given forces only.
        method: ``rk4``, ``dopri`` or one of `collocation.METHODS`.
        rows: output intervals (dopri) or steps (the others) per call of the kernel.
        inputs: signals beside those of the controller: ``force``, ``wrench``, ``acceleration`` (wanted, of the loop of Fig. 3),
            ``driven`` (coordinates, rates and accelerations of actuators that follow a motion).
        friction: of the joints; ``"load"`` where friction depends on their loads.
        failing: actuators may fail.
        watch: stop at ends of strokes and where the actuators lose control.
        looped: legs with friction by loads in loops, for compilers of C; in kernels of many samples they follow one another.
        fast: plan of the minimal equations or of those in link axes; None: virtual power, which takes any numbers.
    """

    robot: Robot
    controller: Controller | None
    method: str
    rows: int
    inputs: tuple[str, ...] = ()
    friction: bool | str = False
    failing: bool = False
    watch: tuple[str, ...] = ()
    looped: bool = False
    fast: MinimalPlan | LinkPlan | None = field(default=None)

    @cached_property
    def key(self) -> str:
        """Everything that the compiled loop depends on."""
        control = self.controller.structure if self.controller else ""
        parts = (self.method, self.rows, self.inputs, self.friction, self.failing, self.watch, repr(self.fast), self.strokes)
        return f"simulation{(control, *parts, self.looped)!r}|{self.robot.structure}"

    @cached_property
    def actuators(self) -> int:
        """Number of actuators."""
        return len(self.robot.actuators)

    @cached_property
    def elastic(self) -> int:
        """Number of elastic coordinates of a flexible platform."""
        body = self.robot.flexible_platform
        return 0 if body is None else len(body.names)

    @cached_property
    def increments(self) -> int:
        """Numbers that a step integrates: the motion of the platform, then `extra`."""
        return MOTION + sum(self.extra.values())

    @property
    def accelerations(self) -> int:
        """Accelerations that a row returns: of the platform, then elastic ones."""
        return 6 + self.elastic

    @property
    def feels(self) -> bool:
        """Whether the controller reads the acceleration of the deformation."""
        return self.controller is not None and self.controller.feels

    @property
    def row_width(self) -> int:
        """Numbers of a row: carried ones, forces, accelerations."""
        return self.size + self.actuators + self.accelerations

    @cached_property
    def strokes(self) -> tuple[bool, ...]:
        """Actuators whose stroke is watched; bump stops are there to be hit."""
        links = [link for leg in self.robot.legs for link in leg.links if link.actuated]
        return tuple(
            "stroke" in self.watch and k.limits is not None and k.limits.stroke is not None and not k.stop for k in links
        )

    @cached_property
    def signals(self) -> dict[str, slice]:
        """Signals of a row by name."""
        names = [*self.inputs, *(self.controller.signals if self.controller else ())]
        found, at = {}, 0
        for name in names:
            per = {"actuators": 2, "driven": 3, "inertia": self.actuators, "coupling": self.elastic}
            width = WIDTHS.get(name, self.actuators * per.get(name, 1))
            found[name] = slice(at, at + width)
            at += width
        return found

    @cached_property
    def width(self) -> int:
        """Numbers per signal node."""
        return max((s.stop for s in self.signals.values()), default=0)

    @cached_property
    def nodes(self) -> NDArray[np.float64]:
        """Nodes of a row at which signals are sampled, 0 to 1."""
        if self.method == "rk4":
            return np.array([0.0, 0.5, 1.0])
        if self.method in METHODS:
            return np.array([0.0, *METHODS[self.method].c, 1.0])
        return (1.0 - np.cos(np.pi * np.arange(CHEBYSHEV) / (CHEBYSHEV - 1))) / 2.0

    @cached_property
    def extra(self) -> dict[str, int]:
        """Quantities integrated beside the motion of the platform, with the number of values of each."""
        n = self.actuators
        found = {"e": self.elastic, "ed": self.elastic} if self.elastic else {}
        found |= {"travel": n, "work": n, "external": 1, "dissipated": 1}
        if self.controller is not None and self.controller.integral and self.controller.rate is None:
            found["integral"] = n
        return found

    @cached_property
    def memory(self) -> dict[str, int]:
        """Memory of a sampled controller."""
        c, n = self.controller, self.actuators
        if c is None or c.rate is None:
            return {}
        found = {"held": n * (1 + c.queue)}
        if c.integral:
            found["sum"] = n
        if c.quantised:
            found["last"] = n
        return found

    @cached_property
    def loads(self) -> int:
        """Joint loads with friction and accelerations that a step remembers, so that the next search for them starts nearby."""
        from flexapod.equations.newton_euler.constraint_plan import plain
        from flexapod.equations.newton_euler.friction_points import load_count

        return load_count(self.robot) + 6 if self.friction == "load" and self.method == "rk4" and plain(self.robot) else 0

    @cached_property
    def places(self) -> dict[str, slice]:
        """Places of all carried numbers in one vector."""
        from flexapod.simulation.system.plant import is_general

        joints = len(self.robot.coordinates) if is_general(self.robot) else 0
        sizes = {"p": 3, "quat": 4, "v": 3, "w": 3, "joints": joints, **self.extra, **self.memory, "code": 1}
        if self.loads:
            sizes |= {"loads": self.loads, "trend": self.loads}
        return self.placed(sizes | self.adaptive)

    @property
    def adaptive(self) -> dict[str, int]:
        """Carried numbers of an adaptive method: its step, steps taken and rejected."""
        return {"step": 1, "taken": 1, "rejected": 1} if self.method == "dopri" else {}

    @property
    def moving(self) -> tuple[str, ...]:
        """Carried numbers that a step changes."""
        return ("p", "quat", "v", "w", "joints", *self.extra)

    def placed(self, sizes: dict[str, int]) -> dict[str, slice]:
        """Numbers one after the other in a vector, and the determinant where it is watched."""
        if "singular" in self.watch:
            sizes["determinant"] = 1
        found, at = {}, 0
        for name, size in sizes.items():
            found[name] = slice(at, at + size)
            at += size
        return found

    @cached_property
    def size(self) -> int:
        """Length of the carried vector."""
        return max(int(s.stop) for s in self.places.values())

    @property
    def columns(self) -> int:
        """Numbers per row given to the kernel: length, tick, signals at the nodes."""
        return 2 + self.width * len(self.nodes)

    def split(self, state: SX) -> dict[str, SX]:
        """Parts of a carried vector."""
        return {name: state[place] for name, place in self.places.items()}

    def joined(self, parts: dict[str, SX]) -> SX:
        """The carried vector of its parts."""
        return ca.vertcat(*[ca.SX(parts[name]) for name in self.places])

    def at_node(self, column: SX) -> dict[str, SX]:
        """Signals by name from one node's numbers."""
        return {name: column[place] for name, place in self.signals.items()}


def weighted_error(parts: dict[str, SX], y: SX, error: SX, rtol: SX, atol: SX) -> SX:
    """Weighted error of the motion; rotation against one radian."""
    total, elastic = ca.SX(0), sum(parts[name].numel() for name in ("e", "ed") if name in parts)
    p, v, w = ([parts[name][i] for i in range(3)] for name in ("p", "v", "w"))
    sizes: list[Scalar] = [*p, 1, 1, 1, *v, *w]
    for i, size in enumerate(sizes):
        after = size + y[i] if i not in (3, 4, 5) else 1
        scale = atol + rtol * ca.fmax(ca.fabs(size), ca.fabs(after))
        total = total + (error[i] / scale) ** 2
    return ca.sqrt((total + _elastic_norm(parts, y, error, rtol, atol)) / (MOTION + elastic))


def _elastic_norm(parts: dict[str, SX], y: SX, error: SX, rtol: SX, atol: SX) -> SX:
    """Squares of the weighted errors of elastic coordinates and rates, each against the largest of its kind."""
    total, at = ca.SX(0), MOTION
    for name in ("e", "ed"):
        size = parts[name].numel() if name in parts else 0
        if size:
            change = y[at : at + size]
            largest = ca.fmax(ca.mmax(ca.fabs(parts[name])), ca.mmax(ca.fabs(parts[name] + change)))
            total = total + ca.sumsqr(error[at : at + size] / (atol + rtol * largest))
        at += size
    return total
