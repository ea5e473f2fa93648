"""Summary of a robot as text and tables: bodies, joints, loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


NOISE = 1e-12
"""Coordinates below this, of the robot's characteristic length, are what is left of sums that cancel and shown as zero."""


@dataclass(frozen=True)
class Table:
    """A small table: prints as aligned text, iterates over its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        widths = [max(len(self.columns[i]), *(len(r[i]) for r in self.rows), 0) for i in range(len(self.columns))]
        lines = [self.columns, tuple("-" * w for w in widths), *self.rows]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[str, ...]:
        return self.rows[index]


def number(value: float) -> str:
    """A number as people write it: up to six digits."""
    return f"{value:.6g}"


def vector(values: Iterable[float]) -> str:
    """A vector as people write it."""
    return "(" + ", ".join(number(float(v)) for v in values) + ")"


def bodies(robot: Robot) -> Table:
    """Table of bodies."""
    rows = []
    beams, kinds = dict[str, float](), dict[str, str]()
    for leg, found in robot.beams.items():
        for beam in found:
            name = f"{leg}.{beam.name.rpartition('.')[0]}"
            beams[name] = beams.get(name, 0.0) + float(beam.body.mass)
            kinds[name] = "beam" if beam.rooted is None else f"flexible, {len(beam.body.names)} coordinates"
    for name, body in robot.bodies_by_name.items():
        if name in beams:
            rows.append((name, number(beams[name]), kinds[name], ""))
            continue
        if name == "platform" and robot.description.file.platform.body is not None:
            rows.append((name, "", f"is {robot.description.file.platform.body}", ""))
            continue
        com = body.body_axes.T @ body.first_moment / body.mass if body.mass else np.zeros(3)
        com = np.where(np.abs(com) > NOISE * robot.characteristic_length, com, 0.0)
        tensor = body.body_axes.T @ body.inertia @ body.body_axes
        rows.append((name, number(body.mass), vector(com), vector(np.diag(tensor))))
    return Table(("body", "mass [kg]", "centre of mass [m]", "Ixx Iyy Izz about origin [kg m^2]"), tuple(rows))


def joints(robot: Robot) -> Table:
    """Table of joints, base to platform."""
    rows = []
    for leg in robot.legs:
        for link in leg.links:
            kind = {"R": "revolute", "P": "prismatic", "fixed": "fixed"}[link.kind]
            drive = "actuated" if link.actuated else "elastic" if link.elastic else ""
            stroke = link.limits.stroke if link.limits and link.limits.stroke else None
            rows.append((f"{leg.name}.{link.coordinate}", kind, drive, vector(stroke) if stroke else ""))
        rows += [(f"{leg.name}.{closing.joint}", closing.type, "closes the loop", "") for closing in leg.closings]
    return Table(("joint", "type", "role", "stroke"), tuple(rows))


def loops(robot: Robot) -> Table:
    """Table of legs and the loops that they close."""
    rows = []
    for leg in robot.legs:
        chain = " - ".join(link.coordinate for link in leg.links)
        rows.append((leg.name, leg.architecture, chain, ", ".join(f"{c.joint} ({c.type})" for c in leg.closings)))
    return Table(("leg", "kind", "chain", "closed by"), tuple(rows))


def forces(robot: Robot) -> Table:
    """Table of force elements: between which bodies, and their numbers."""
    elements = robot.description.file.forces.items()
    rows = [(k, f"{f.from_} - {f.to}", *(number(v) for v in (f.stiffness, f.length, f.damping, f.preload))) for k, f in elements]
    return Table(("force", "between", "stiffness [N/m]", "length [m]", "damping [N s/m]", "preload [N]"), tuple(rows))


def couplings(robot: Robot) -> Table:
    """Table of couplings: what stays zero, counted from home."""
    relations = robot.description.file.couplings.items()
    sums = [(k, " + ".join(f"{number(factor)} {joint}" for joint, factor in terms.items())) for k, terms in relations]
    rows = [(k, text.replace("+ -", "- ")) for k, text in sums]
    return Table(("coupling", "sum that stays as at home"), tuple(rows))


def text(robot: Robot) -> str:
    """Name, source, mobility and the tables."""
    more = [table(robot) for table in (couplings, forces)]
    place = f"gravity {vector(robot.gravity)} m/s^2, home at {vector(robot.home.position)} m"
    head = f"{robot.name}{f': {robot.title}' if robot.title else ''}\n{robot.source}\n{robot.mobility}\n{place}"
    return "\n\n".join([head, str(robot.loops), str(robot.bodies), *(str(table) for table in more if table.rows)])
