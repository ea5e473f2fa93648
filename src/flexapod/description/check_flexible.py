"""Checks of a flexible body: what each type and section needs, and that its file stays in the robot's folder."""

from __future__ import annotations

import math
import os
from pathlib import Path as FilePath
from pathlib import PurePosixPath

from flexapod.description.problem_report import Below, Reporter
from flexapod.description.problems import nearest
from flexapod.description.schema_flexible import Flexible, Section

_CONSTANTS = {"young", "poisson", "density"}
_DAMPING = {"damping", "rayleigh", "loss_factor"}
_MATERIAL = {*_CONSTANTS, *_DAMPING, "material", "theory"}
_ALLOWED = {
    "beam": {"length", "bend", "elements", "section", "tip_section", "stiffening", "modes", *_MATERIAL},
    "plate": {"outline", "thickness", "modes", "reduction", "stiffening", *_MATERIAL},
    "modes": {"file", "modes", "stiffening", *_DAMPING},
}
_REQUIRED = {
    "beam": ("length", "section", "young", "density"),
    "plate": ("outline", "thickness", "young", "poisson", "density"),
    "modes": ("file",),
}
_THEORIES = {"beam": ["euler-bernoulli", "timoshenko", "exact"], "plate": ["kirchhoff", "mindlin"]}
_SECTIONS = {
    "rectangle": (("width", "height"), ()),
    "tube": (("outer",), ("inner",)),
    "box": (("width", "height", "wall"), ()),
    "i": (("width", "height", "flange", "web"), ()),
    "t": (("width", "height", "flange", "web"), ()),
    "l": (("width", "height", "wall"), ()),
    "general": (("area", "iy", "iz"), ("torsion", "shear_y", "shear_z", "fibre_y", "fibre_z")),
}


STRAIGHT = math.radians(30.0)
"""Largest angle of an arc that one straight element represents: its chord is then 1.1 % shorter."""


def check_flexible(flexible: Flexible, report: Reporter) -> None:
    """Report what is missing, what does not belong to the type, and sizes that cannot be."""
    given = {name for name in flexible.model_fields_set if getattr(flexible, name) is not None}
    kind = flexible.type
    named = "material" in given
    for name in sorted(given & _CONSTANTS) if named else ():
        report.error((name,), "cannot be given together with material", f"Remove {name} or material.")
    for name in _REQUIRED[kind]:
        if name not in given and not (named and name in _CONSTANTS):
            report.error((name,), f"is missing: a flexible body of type {kind} needs it", f"Add `{name}`.")
    if kind == "beam" and flexible.modes is not None:
        _check_reduced(flexible, report)
    for name in sorted(given - _ALLOWED[kind] - {"type"}):
        report.error((name,), f"does not belong to type {kind}", nearest(name, sorted(_ALLOWED[kind])))
    theories = _THEORIES.get(kind, [])
    if flexible.theory is not None and theories and flexible.theory not in theories:
        report.error(("theory",), f"{flexible.theory} is not a theory of a {kind}", nearest(flexible.theory, theories))
    if flexible.theory == "exact" and flexible.stiffening is False:
        report.error(("stiffening",), "cannot be false with theory exact, which is never linear", "Remove one of the two.")
    if flexible.bend is not None and abs(flexible.bend) > STRAIGHT * flexible.elements * (1.0 + 1e-12):
        each, few = math.degrees(abs(flexible.bend)) / flexible.elements, math.ceil(abs(flexible.bend) / STRAIGHT - 1e-12)
        what = f"turns each of {flexible.elements} straight elements by {each:.3g} deg, more than 30 deg"
        report.error(("bend",), what, f"Write `elements: {few}` or more.")
    if flexible.poisson is not None and flexible.poisson >= 0.5:
        report.error(("poisson",), f"must be below 0.5, is {flexible.poisson:g}", "Metals have about 0.3.")
    if len(given & _DAMPING) > 1:
        first, *others = sorted(given & _DAMPING)
        for name in others:
            report.error((name,), f"cannot be given together with {first}", f"Damping has one law: remove {name} or {first}.")
    if flexible.rayleigh is not None and flexible.rayleigh.mass > 0.0 and flexible.elements > 1 and flexible.modes is None:
        what = f"would act on each of {flexible.elements} elements by itself, and less on a finer beam"
        next_ = "Add `modes: 2` or more (the beam in one frame), or use stiffness or loss_factor alone."
        report.error(("rayleigh", "mass"), what, next_)
    if flexible.type == "beam" and flexible.damping and flexible.elements > 1 and flexible.modes is None:
        _say_per_element(flexible, report)
    if flexible.tip_section is not None:
        _check_section(flexible.tip_section, Below(report, ("tip_section",)))
        _check_taper(flexible, report)
    if flexible.section is not None:
        _check_section(flexible.section, Below(report, ("section",)))
    if flexible.outline is not None:
        _check_outline(flexible.outline, report)
    if flexible.file is not None and (what := wrong_file_name(flexible.file)):
        report.error(("file",), what, "Write the plain name of a .npz file beside the robot file.")


def _say_per_element(flexible: Flexible, report: Reporter) -> None:
    """Damping of the elements' own modes, far above those of the beam: the beam has about 1/n^2 of it."""
    n, ratio = flexible.elements, flexible.damping or 0.0
    what = (
        f"applies to the modes of each of {n} elements, of far higher frequency: the first mode of the whole beam has about "
        f"{ratio / n**2:.2g}, and less with more elements"
    )
    report.warn(("damping",), what, f"Write `loss_factor: {2.0 * ratio:g}` for {ratio:g} in it, or add `modes: 2` or more.")


def _check_reduced(flexible: Flexible, report: Reporter) -> None:
    """A beam reduced to its tip and modes is straight, and has more elements than one."""
    if flexible.bend:
        report.error(("modes",), "cannot be given together with bend: a reduced beam is straight", "Remove one of the two.")
    if flexible.elements == 1:
        what = "reduces a beam of several elements; this one has a single element, whose coordinates are those of its tip"
        report.error(("modes",), what, "Add `elements: 8`, or remove modes.")


def check_leg_flexible(flexible: Flexible, report: Reporter) -> None:
    """Check the `flexible` block of a body of a leg: as of the platform, and what legs alone need."""
    check_flexible(flexible, report)
    if flexible.type == "plate" and flexible.reduction is not None and flexible.reduction.boundary != "free":
        what = f"{flexible.reduction.boundary} would hold the outline of a link, which moves, and what is attached there"
        report.error(("reduction", "boundary"), what, "Write boundary: free or remove it.")


def _check_taper(flexible: Flexible, report: Reporter) -> None:
    """Both ends of a tapered beam are sections of one shape with the same sizes given."""
    root, tip = flexible.section, flexible.tip_section
    if root is None or tip is None:
        return
    if root.shape != tip.shape:
        what = f"must have the shape of section, {root.shape}, is {tip.shape}"
        report.error(("tip_section", "shape"), what, "Give both ends by the numbers of shape general to join different shapes.")
    elif root.model_fields_set != tip.model_fields_set:
        given = ", ".join(sorted(root.model_fields_set))
        report.error(("tip_section",), "must give the same sizes as section", f"section has {given}.")


def _check_section(section: Section, report: Reporter) -> None:
    required, optional = _SECTIONS[section.shape]
    given = {name for name in section.model_fields_set if getattr(section, name) is not None} - {"shape"}
    for name in required:
        if name not in given:
            report.error((name,), f"is missing: a section of shape {section.shape} needs it", f"Add `{name}`.")
    for name in sorted(given - {*required, *optional}):
        report.error((name,), f"does not belong to shape {section.shape}", nearest(name, [*required, *optional]))
    pairs = [
        ("inner", section.inner, "outer", section.outer, 1.0),
        ("web", section.web, "width", section.width, 1.0),
        ("wall", section.wall, "width", section.width, 2.0 if section.shape == "box" else 1.0),
        ("wall", section.wall, "height", section.height, 2.0 if section.shape == "box" else 1.0),
    ]
    for name, small, other, large, times in [
        *pairs,
        ("flange", section.flange, "height", section.height, 1.0 if section.shape == "t" else 2.0),
    ]:
        if small is not None and large is not None and times * small >= large:
            limit = other if times == 1.0 else f"half of {other}"
            report.error((name,), f"must be less than {limit}, is {small:g} m", f"{other} is {large:g} m.")


def _check_outline(outline: list[list[float]], report: Reporter) -> None:
    if not 3 <= len(outline) <= 1000:
        report.error(
            ("outline",),
            f"must have 3 to 1000 corners, has {len(outline)}",
            "Write [[0, 0], [1, 0], [1, 1]].",
        )
        return
    shifted = [*outline[1:], outline[0]]
    area = 0.5 * sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(outline, shifted, strict=True))
    size = max(max(abs(v) for v in corner) for corner in outline)
    if abs(area) <= 1e-12 * size * size:
        report.error(("outline",), "encloses no area", "Write the corners in order around the plate.")


def wrong_file_name(name: str, kinds: tuple[str, ...] = (".npz",)) -> str:
    """Error in the name of a file beside the robot file, of one of these endings; empty if there is none."""
    parts = PurePosixPath(name).parts
    if not name.strip() or len(name) > 200 or not name.isprintable():
        return "is not a file name"
    if name.startswith(("/", "~")) or "\\" in name or ":" in name:
        return "must be relative to the folder of the robot file"
    if ".." in parts or "." in name.split("/"):
        return "must stay in the folder of the robot file"
    return "" if name.lower().endswith(kinds) else f"must be a {' or '.join(kinds)} file"


def path_beside(robot_file: FilePath, name: str, kinds: tuple[str, ...] = (".npz",)) -> FilePath | None:
    """The path of a file beside the robot file; None if it would lie outside its folder, symbolic links followed."""
    if wrong_file_name(name, kinds):
        return None
    folder = os.path.realpath(robot_file.parent)
    path = os.path.realpath(os.path.join(folder, name))
    return FilePath(path) if os.path.commonpath([folder, path]) == folder else None
