"""Checks of a body: the point of its inertia, whether such an inertia is possible, and its flexible part."""

from __future__ import annotations

from collections.abc import Callable

from flexapod.description.check_flexible import check_flexible, wrong_file_name
from flexapod.description.problem_report import Below, Reporter
from flexapod.description.problems import Path, nearest
from flexapod.description.rotations import apply, check_rotation, rotation_matrix
from flexapod.description.schema import Body, Payload, Platform, Tensor
from flexapod.description.schema_flexible import Flexible

ROUNDING = 1e-3
"""Papers print three or four digits: smaller violations come from rounding."""
FAR = 0.25
"""Distance of a payload from the nearest node of its beam, of an element, above which it is reported."""
MOST_POINTS = 1000
MESHES = (".stl", ".obj", ".glb")
"""Endings of files that a body's shape is read from."""
_DIAGONAL = {"xx", "yy", "zz"}


def check_body(
    body: Body,
    report: Reporter,
    flexible: Callable[[Flexible, Reporter], None] = check_flexible,
    *,
    allow_unphysical: bool = False,
    planar: bool = False,
) -> None:
    """Report the errors of a body.

    Args:
        flexible: checks what makes it flexible.
        allow_unphysical: inertias that no body can have are warned about, not refused.
        planar: the robot moves in a plane: moments about axes in the plane are not in its model and need not fit.
    """
    frames_right = all([check_rotation(r, Below(report, ("frames", n))) for n, r in body.frames.items()])
    check_points(body.points, report)
    if "body" in body.frames:
        report.error(("frames", "body"), "body is the name of the body's own axes", "Choose another name.")
    if body.base_parameters is not None:
        for name in ("mass", "com", "inertia"):
            if name in body.model_fields_set:
                report.error((name,), "cannot be given together with base_parameters", f"Remove {name} or base_parameters.")
    if body.mesh is not None:
        check_rotation(body.mesh.rotation, Below(report, ("mesh", "rotation")))
        if what := wrong_file_name(body.mesh.file, MESHES):
            report.error(("mesh", "file"), what, "Write the plain name of an STL, OBJ or GLB file beside the robot file.")
    check_payloads(body, report, allow_unphysical=allow_unphysical, planar=planar)
    if body.flexible is not None:
        flexible(body.flexible, Below(report, ("flexible",)))
        for name in sorted({"mass", "com", "inertia", "base_parameters"} & body.model_fields_set):
            report.warn((name,), "is not used: mass and inertia follow from `flexible`", f"Remove {name}.")
    inertia, right = body.inertia, frames_right and not _diagonal_twice(body.inertia, Below(report, ("inertia",)))
    points = ["com", "origin", *body.points]
    if inertia.about not in points:
        report.error(("inertia", "about"), f"the body has no point {inertia.about}", nearest(inertia.about, points))
        right = False
    axes = ["body", *body.frames]
    if inertia.axes not in axes:
        report.error(("inertia", "axes"), f"the body has no frame {inertia.axes}", nearest(inertia.axes, axes))
        right = False
    if right and "inertia" in body.model_fields_set:
        _check_possible(body, report.warn if allow_unphysical else report.error, planar)


def check_payloads(body: Body, report: Reporter, *, allow_unphysical: bool, planar: bool) -> None:
    """Report payloads of a flexible body, and inertias that no payload can have.

    Checked by: tests/description/test_messages.py.
    """
    if body.payloads and body.flexible is not None and isinstance(body, Platform):
        what = "a platform described by its modes cannot carry a payload, which would change the modes"
        report.error(("payloads",), what, "Make it a body of a leg, platform: {body: leg.body}, which carries payloads.")
    for name, payload in body.payloads.items():
        here = Below(report, ("payloads", name))
        _check_held(body.flexible, payload, here)
        right = check_rotation(payload.rotation, Below(here, ("rotation",)))
        if not _diagonal_twice(payload.inertia, Below(here, ("inertia",))) and right and "inertia" in payload.model_fields_set:
            own = Body(mass=payload.mass, inertia=payload.inertia.model_dump(exclude_unset=True))  # type: ignore[arg-type]
            _check_possible(own, here.warn if allow_unphysical else here.error, planar)


def _check_held(flexible: Flexible | None, payload: Payload, report: Reporter) -> None:
    """Warn where the nearest node of a straight beam is far from its payload, which a rigid arm joins to it."""
    if flexible is None or flexible.type != "beam" or not flexible.length or flexible.bend:
        return
    step = flexible.length / (1 if flexible.modes is not None else flexible.elements)
    x = min(max(payload.com[0], 0.0), flexible.length)
    node = step * round(x / step)
    if abs(x - node) > FAR * step:
        what = f"is held at the node x = {node:g} m of the beam, {abs(x - node):.3g} m away: the beam bends as if it were there"
        report.warn(("com",), what, f"Give the beam more `elements`, so that a node lies near x = {x:g} m.")


def _diagonal_twice(inertia: Tensor, report: Reporter) -> bool:
    """Report a diagonal that is written in both ways."""
    both = _DIAGONAL & inertia.model_fields_set if inertia.diagonal is not None else set()
    if both:
        report.error((min(both),), "cannot be given together with diagonal", "Write diagonal, or xx, yy and zz.")
    return bool(both)


def check_points(points: dict[str, list[float]], report: Reporter) -> None:
    """Report points with a name that every body has, and too many of them."""
    for name in ("com", "origin"):
        if name in points:
            report.error(("points", name), f"{name} is a point that every body has", "Choose another name.")
    if len(points) > MOST_POINTS:
        report.error(("points",), f"has {len(points)} points, more than {MOST_POINTS}", "Name only those that are used.")


def central_inertia(body: Body) -> list[list[float]]:
    r"""Inertia tensor about the centre of mass in body axes, from mass, com and inertia of a checked body.

    .. math:: I_C = R I_Q R^T - m (|d|^2 1 - d d^T), \quad d = p_{QC}
    """
    inertia, m, com = body.inertia, body.mass, body.com
    xx, yy, zz = inertia.diagonal or (inertia.xx, inertia.yy, inertia.zz)
    tensor = ((xx, inertia.xy, inertia.xz), (inertia.xy, yy, inertia.yz), (inertia.xz, inertia.yz, zz))
    R = rotation_matrix(body.frames.get(inertia.axes))
    columns = [apply(R, row) for row in tensor]  # rows of I R^T; the tensor is symmetric
    rotated = [apply(R, column) for column in zip(*columns, strict=True)]
    point = {"com": com, "origin": [0.0, 0.0, 0.0]}.get(inertia.about) or body.points[inertia.about]
    d = [c - p for c, p in zip(com, point, strict=True)]
    dd = sum(v * v for v in d)
    return [[rotated[i][j] - m * (dd * (i == j) - d[i] * d[j]) for j in range(3)] for i in range(3)]


def _check_possible(body: Body, report_body: Callable[[Path, str, str], None], planar: bool) -> None:
    import numpy as np

    tensor = np.array(central_inertia(body))
    given = body.inertia.diagonal or (body.inertia.xx, body.inertia.yy, body.inertia.zz)
    tolerance = ROUNDING * max(map(abs, (*given, body.inertia.xy, body.inertia.xz, body.inertia.yz)))
    smallest, middle, largest = np.linalg.eigvalsh(tensor)
    if body.mass == 0.0 and tolerance > 0.0 and body.flexible is None:
        what = "no body has this inertia: its mass is zero"
        report_body(
            ("inertia",), what, "Give its `mass`, or leave the inertia out; `allow_unphysical: true` at the top accepts it."
        )
        return
    hint = "Check `about`, `com` and the signs; `allow_unphysical: true` at the top of the file accepts it."
    if smallest < -tolerance:
        what = f"no body has this inertia: about the centre of mass a principal moment is {smallest:.4g} kg m^2"
        report_body(("inertia",), what, hint)
    elif smallest + middle < largest - tolerance and not planar:
        what = (
            "no body has this inertia: about the centre of mass the principal moment "
            f"{largest:.4g} exceeds the sum of the others {smallest + middle:.4g} kg m^2"
        )
        report_body(("inertia",), what, hint)
