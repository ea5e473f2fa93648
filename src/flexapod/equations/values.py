"""Numbers of the robot as symbols of a kernel: read by name, declared on first use."""

from __future__ import annotations

from collections.abc import Container, Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.control_flow import ParameterRows
from flexapod.kernels.tape.roles import Declares
from flexapod.spatial import Rot, Vec

UNITS = {
    "mass": "kg", "first_moment": "kg m", "inertia": "kg m^2", "gravity": "m/s^2", "rotor": "kg or kg m^2",
    "stiffness": "N/m or N m/rad", "stop": "N/m or N m/rad", "damping": "N s/m or N m s/rad", "preload": "N or N m",
    "zero": "m or rad", "home": "m or rad", "rest": "m or rad", "low": "m or rad", "high": "m or rad",
}  # fmt: skip
"""Name of a number -> its unit; where the joint decides, that of a prismatic joint or force element comes first."""
DIMENSIONLESS = frozenset({"axis1", "drive", "y0", "n0", "R", "axes", "mode", "link_mode", "root", "fold", "flex", "Phi"})
"""Numbers without a unit, or (`flex`, `Phi`: shapes) each with its own."""


class Values:
    """Reads the robot's values inside a program.

    Args:
        program: the program that declares them.
        prefix: put before every name, e.g. ``legs.A.``.
    """

    def __init__(self, program: Declares, prefix: str = "", known: dict[str, SX] | None = None) -> None:
        self.program = program
        self.prefix = prefix
        self._known: dict[str, SX] = {} if known is None else known

    def of(self, prefix: str) -> Values:
        """The same program's values below a prefix."""
        return Values(self.program, f"{self.prefix}{prefix}.", self._known)

    def scalar(self, name: str) -> SX:
        """One number."""
        return self.at(self.prefix + name)

    def scalar_or_zero(self, name: str, known: Container[str]) -> SX | float:
        """One number, or 0 where it is not among the known ones."""
        return self.scalar(name) if self.prefix + name in known else 0

    def at(self, path: str) -> SX:
        """One number by its whole path."""
        if path not in self._known:
            self._known[path] = self.program.parameter(path, unit=_unit(path))
        return self._known[path]

    def rows(self, names: Sequence[str], count: int) -> ParameterRows:
        """Numbers of one kind as rows of `count`, which loops read; thousands of them in one step."""
        paths = [self.prefix + name for name in names]
        return self.program.parameter_rows(paths, count, unit=_unit(paths[0]) if paths else "")

    def vector(self, name: str, frame: str) -> Vec:
        """Three numbers `name.x`, `name.y`, `name.z` as a vector in the given axes."""
        return Vec(ca.vertcat(*[self.scalar(f"{name}.{k}") for k in "xyz"]), frame)

    def rotation(self, name: str, to: str, from_: str) -> Rot:
        """Nine numbers `name.xx` ... as a rotation."""
        rows = [ca.horzcat(*[self.scalar(f"{name}.{i}{j}") for j in "xyz"]) for i in "xyz"]
        return Rot(ca.vertcat(*rows), to, from_)


def _unit(path: str) -> str:
    parts = path.split(".")
    for part in reversed(parts):
        if part in UNITS:
            return UNITS[part]
        if part in DIMENSIONLESS:
            return ""
    return "m"
