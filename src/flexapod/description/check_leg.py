"""Checks of one merged leg: names, the tree that its joints span, and where it ends."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from flexapod.description.check_body import check_body, check_points
from flexapod.description.check_flexible import check_leg_flexible
from flexapod.description.check_joint import (
    check_friction,
    check_joint,
    check_limits,
    check_units,
    given_fields,
)
from flexapod.description.joint_types import DOF
from flexapod.description.merge import RESERVED
from flexapod.description.problem_report import Below, Reporter
from flexapod.description.problems import Path, nearest
from flexapod.description.rotations import check_rotation
from flexapod.description.schema import Joint, Leg

SIGMA = ("revolute", "prismatic", "fixed")
"""Types of joint by Khalil's sigma."""
MOST_PARTS = 200


@dataclass
class LegEnds:
    """Names by which a leg is connected to the rest of the robot: its bodies, the joints that close loops (name, target), those
    that begin on bodies of other legs (name, body), and the names of its joint coordinates."""

    bodies: list[str] = field(default_factory=list)
    closing: list[tuple[str, str]] = field(default_factory=list)
    roots: list[tuple[str, str]] = field(default_factory=list)
    coordinates: list[str] = field(default_factory=list)
    actuated: int = 0


def closes(joint: Joint, placed: Container[str]) -> bool:
    """Whether a joint closes a loop: it leads to the platform, to `leg.body`, or to a body that is placed already."""
    return joint.to == "platform" or "." in joint.to or joint.to in placed


def closing_names(leg: Leg) -> list[str]:
    """Names of the joints that close loops."""
    placed, result = {"base", *(row.body for row in leg.table)}, list[str]()
    for name, joint in leg.joints.items():
        if closes(joint, placed):
            result.append(name)
        placed |= {joint.to} | ({joint.cross} if joint.cross else set())
    return result


def check_leg(
    leg: Leg, data: dict[str, Any], report: Reporter, *, allow_unphysical: bool = False, planar: bool = False
) -> LegEnds:
    """Report the errors of a leg by itself.

    Args:
        leg: the validated leg.
        data: the same as written, for its units.
        report: where problems go, paths relative to the leg.
        allow_unphysical, planar: as for `check_body`.
    """
    if len(leg.table) + len(leg.joints) + len(leg.bodies) > MOST_PARTS:
        report.error((), f"has more than {MOST_PARTS} joints and bodies", "Split the robot into more legs.")
        return LegEnds()
    for name in ("frame", "platform_frame"):
        check_rotation(getattr(leg, name).rotation, Below(report, (name, "rotation")))
    _check_names(leg, report)
    ends = _check_tree(leg, report)
    for i, row in enumerate(leg.table):
        here = Below(report, ("table", i))
        kind = SIGMA[row.sigma]
        if row.mu and kind == "fixed":
            here.error(("mu",), "a fixed joint cannot be actuated", "Write mu: 0 or sigma: 0 or 1.")
        if kind == "fixed":
            for name in sorted(given_fields(row) & {"start", "IA", "limits", "friction"}):
                here.error((name,), "does not belong to a fixed joint", "Remove it.")
        check_limits(row.limits, Below(here, ("limits",)))
        check_friction(row.friction, kind, here)
        check_units(data["table"][i], kind, here)
        if row.flexible is not None:
            check_leg_flexible(row.flexible, Below(here, ("flexible",)))
            if "inertial" in row.model_fields_set:
                here.warn(("inertial",), "is not used: mass and inertia follow from `flexible`", "Remove inertial.")
        check_points(row.points, here)
    cut = closing_names(leg)
    for name, joint in leg.joints.items():
        check_joint(joint, name in cut, Below(report, ("joints", name)))
        check_units(data["joints"][name], joint.type, Below(report, ("joints", name)))
    for name, body in leg.bodies.items():
        below = Below(report, ("bodies", name))
        check_body(body, below, check_leg_flexible, allow_unphysical=allow_unphysical, planar=planar)
    ends.actuated = sum(row.mu for row in leg.table) + sum(joint.actuated for joint in leg.joints.values())
    return ends


def _check_names(leg: Leg, report: Reporter) -> None:
    """Every name of a leg is used once; a table row `1` defines the body `1` and the joint `q1`."""
    places: list[tuple[str, Path]] = []
    for i, row in enumerate(leg.table):
        places += [(row.body, ("table", i, "body")), (f"q{row.body}", ("table", i, "body"))]
    places += [(name, ("bodies", name)) for name in leg.bodies] + [(name, ("joints", name)) for name in leg.joints]
    seen: set[str] = set()
    for name, path in places:
        if name in ("base", "platform"):
            report.error(path, f"{name} is already the name of the {name}", "Choose another name.")
        elif name in RESERVED:
            report.error(path, f"{name} is a key of every leg", "Choose another name.")
        elif name in seen and (name[:1] != "q" or name[1:] not in seen):
            what = f"the name {name} is used twice in this leg"
            report.error(
                path,
                what,
                "Joints, bodies and table rows need different names; row 1 has body 1 and joint q1.",
            )
        seen.add(name)


def _check_tree(leg: Leg, report: Reporter) -> LegEnds:
    """Each body is placed by one joint, from a body placed before."""
    ends = LegEnds(bodies=[row.body for row in leg.table] + list(leg.bodies))
    ends.coordinates = [f"q{row.body}" for row in leg.table if row.sigma != 2]
    for name, joint in leg.joints.items():
        count = DOF[joint.type]
        ends.coordinates += [name] if count == 1 else [f"{name}.{k + 1}" for k in range(count)]
    placed = ["base"]
    for i, row in enumerate(leg.table):
        if row.after is not None and row.after not in placed:
            report.error(
                ("table", i, "after"),
                f"no row before this one has the body {row.after}",
                nearest(row.after, placed),
            )
        placed.append(row.body)
    for name, joint in leg.joints.items():
        path: Path = ("joints", name)
        if "." in joint.from_:
            ends.roots.append((name, joint.from_))
        elif joint.from_ not in placed:
            late = joint.from_ in ends.bodies
            what = f"{joint.from_} is not placed yet" if late else f"no body is called {joint.from_}"
            hint = "Put the joint that carries it before this one." if late else nearest(joint.from_, placed)
            report.error((*path, "from"), what, hint)
        if joint.cross is not None:
            _place(joint.cross, (*path, "cross"), leg, placed, report)
        if closes(joint, placed) and joint.to == joint.from_:
            report.error((*path, "to"), f"joins {joint.to} to itself", "Name two different bodies.")
        elif closes(joint, placed):
            ends.closing.append((name, joint.to))
        else:
            _place(joint.to, (*path, "to"), leg, placed, report)
    for name in leg.bodies:
        if name not in placed:
            report.error(
                ("bodies", name),
                "no joint carries this body",
                f"Add a joint with `to: {name}`, or remove it.",
            )
    return ends


def _place(name: str, path: Path, leg: Leg, placed: list[str], report: Reporter) -> None:
    if name in placed:
        report.error(path, f"{name} is carried by another joint already", "A cross is a body of its own.")
    elif name not in leg.bodies:
        hint = nearest(name, [b for b in leg.bodies if b not in placed] + ["platform"])
        report.error(path, f"no body is called {name}", f"{hint} Or add it under bodies: `{name}: {{}}`.")
    placed.append(name)
