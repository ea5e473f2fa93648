"""Checks of the whole robot: how the legs are connected, home, sampling, and the plane of a planar robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path as FilePath

from flexapod.description.check_body import check_body
from flexapod.description.check_flexible import path_beside, wrong_file_name
from flexapod.description.check_leg import LegEnds
from flexapod.description.problem_report import Below, LegReport, Report
from flexapod.description.problems import Path, nearest
from flexapod.description.rotations import check_rotation
from flexapod.description.schema import Leg, RobotFile
from flexapod.description.schema_flexible import Flexible

NORMALS = {"xy": 2, "xz": 1, "yz": 0}
"""Index of the world axis normal to each plane."""


def check_top(file: RobotFile, report: Report) -> None:
    """Report errors outside the legs."""
    check_rotation(file.home.rotation, Below(report, ("home", "rotation")))
    below, planar = Below(report, ("platform",)), file.plane is not None
    check_body(file.platform, below, allow_unphysical=file.allow_unphysical, planar=planar)
    if file.platform.body is not None:
        for name in sorted(
            file.platform.model_fields_set & {"mass", "com", "inertia", "base_parameters", "payloads", "flexible"}
        ):
            what = "the platform is a leg's own link, whose mass is given there"
            report.error(("platform", name), what, f"Remove it, or move it to the body {file.platform.body}.")
    if file.sampling is not None:
        for name in ("position", "rotation"):
            for i, half in enumerate(getattr(file.sampling, name)):
                here: Path = ("sampling", name, i)
                if half < 0:
                    report.error(here, f"must not be negative, is {half:g}", "Write half the width of the box.")
                elif name == "rotation" and half > math.pi:
                    report.error(here, f"must not exceed half a revolution, is {half:g} rad", "Write at most 180 deg.")
                elif half and file.plane and (i == NORMALS[file.plane]) == (name == "position"):
                    report.error(here, f"leads out of the plane {file.plane}", "Write 0 here.")


def check_together(file: RobotFile, ends: Mapping[str, LegEnds], reports: Mapping[str, LegReport], report: Report) -> None:
    """Report references between legs that lead nowhere, and legs that do not reach the platform."""
    links: dict[str, set[str]] = {leg: set() for leg in (*ends, "platform")}

    def link(leg: str, other: str) -> None:
        links[leg].add(other)
        links[other].add(leg)

    link_name = file.platform.body
    names = [f"{leg}.{body}" for leg, end in ends.items() for body in end.bodies]
    owner = ""
    if link_name is not None:
        if link_name in names:
            owner = link_name.split(".")[0]
        else:
            report.error(("platform", "body"), f"no leg has the body {link_name}", nearest(link_name, names))
    for leg, end in ends.items():
        for joint, target in end.closing:
            here = Below(reports[leg], ("joints", joint))
            if "." in target and target not in names:
                here.error(("to",), f"no leg has the body {target}", nearest(target, [*names, "platform"]))
            elif "." in target:
                link(leg, target.split(".")[0])
            else:
                link(leg, (owner or "platform") if target == "platform" else leg)
        for joint, body in end.roots:
            here, other = Below(reports[leg], ("joints", joint)), body.split(".")[0]
            if body not in names or other == leg:
                hint = "Write the body's own name." if other == leg else nearest(body, names)
                here.error(("from",), f"{body} is this leg's own body" if body in names else f"no leg has the body {body}", hint)
            else:
                link(leg, other)
    for name, force in file.forces.items():
        for key, body in (("from", force.from_), ("to", force.to)):
            if body not in ("base", "platform", *names):
                hint = nearest(body, ["base", "platform", *names])
                report.error(("forces", name, key), f"no body is called {body}", hint)
        if not force.model_fields_set & {"stiffness", "damping", "preload"}:
            report.error(("forces", name), "has neither stiffness nor damping nor preload and does nothing", "Add one of them.")
        if force.from_ == force.to:
            report.error(("forces", name, "to"), f"acts between two points of {force.to}", "Name two different bodies.")
    coordinates = [f"{leg}.{coordinate}" for leg, end in ends.items() for coordinate in end.coordinates]
    for name, factors in file.couplings.items():
        for joint, factor in factors.items():
            if joint not in coordinates:
                what, hint = _no_coordinate(joint, coordinates)
                report.error(("couplings", name, joint), what, hint)
            elif factor == 0.0:
                report.error(("couplings", name, joint), "a factor of zero couples nothing", "Remove it.")
        if len(factors) < 2:
            report.error(("couplings", name), "couples fewer than two joints", "Write e.g. {A.crank: 1, B.crank: -2}.")
    if owner:
        link(owner, "platform")
    report.gather_legs(len(ends))
    if report.problems:
        return
    reached, waiting = {"platform"}, ["platform"]
    while waiting:
        for other in links[waiting.pop()] - reached:
            reached.add(other)
            waiting.append(other)
    for leg in ends:
        if leg not in reached:
            gears = [name for name, factors in file.couplings.items() if any(j.startswith(f"{leg}.") for j in factors)]
            hint = "Add a joint with `to: platform`."
            if gears:  # a shaft, a motor, a rack
                hint = f"What only a coupling ({gears[0]}) holds belongs to the leg that it is coupled to: move its joints there."
            reports[leg].error((), "the leg does not reach the platform", hint)
    if not any(end.actuated for end in ends.values()):
        report.error(
            ("legs",),
            "no joint is actuated",
            "Write `actuated: true` (or mu: 1 in a table) where the motors are.",
        )


def _no_coordinate(joint: str, coordinates: list[str]) -> tuple[str, str]:
    """Error in a joint of a coupling, and what to write."""
    own = [c for c in coordinates if c.rpartition(".")[0] == joint]
    if own:
        return f"{joint} has {len(own)} coordinates", f"Name one of {', '.join(own)}."
    if joint.rpartition(".")[0] in coordinates:
        return f"{joint.rpartition('.')[0]} has one coordinate", f"Write {joint.rpartition('.')[0]}."
    return f"no joint coordinate is called {joint}", nearest(joint, coordinates)


def check_files(
    file: RobotFile,
    legs: Mapping[str, Leg],
    reports: Mapping[str, LegReport],
    report: Report,
    path: FilePath | None,
) -> None:
    """Report files of modes that lie outside the folder of the robot file. They are not opened."""
    if path is None:
        return

    def check(flexible: Flexible | None, where: Below) -> None:
        name = None if flexible is None else flexible.file
        if name is not None and not wrong_file_name(name) and path_beside(path, name) is None:
            where.error(("flexible", "file"), "leads out of the folder of the robot file", "Put the file beside it.")

    check(file.platform.flexible, Below(report, ("platform",)))
    for name, leg in legs.items():
        for i, row in enumerate(leg.table):
            check(row.flexible, Below(reports[name], ("table", i)))
        for body_name, body in leg.bodies.items():
            check(body.flexible, Below(reports[name], ("bodies", body_name)))
