r"""Validity of the models of flexible bodies: measures on every result, and a warning above stated bounds.

Modes, and beams without stiffening, are linear about their own frame. An element whose tip moves by v across its length l is too
long by about

.. math:: \tfrac35 \frac{v^2}{l}

and one that spins at Omega lacks a centrifugal stiffness of the order of Omega^2 / omega_1^2 of its own, with omega_1 its first
frequency, held at its root. Both shrink with the number of elements per beam, since every element has a frame of its own.
Stiffened elements have both terms; exact ones take out the rotation of their chord besides. All have linear elasticity: the
strain of beams at their outer fibres must be small.

A linear body in modes bends under an axial load P as without it: P / k l, see `axial_load`; a cantilever buckles at 0.82.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.beam_pieces import beam_pieces
from flexapod.analysis.requests.axial_load import axial_ratios, axial_row
from flexapod.arrays import Array
from flexapod.errors import DRAWN, FlexapodWarning
from flexapod.robot.beams import ElasticElement, tip_names

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import ClosedLegs
    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.description.schema_flexible import Flexible
    from flexapod.flexible.body import FlexibleBody
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot

BOUNDS = {
    "deflection_ratio": {"linear": 0.1, "stiffened": 0.2, "exact": 0.5, "stiffened plate": 0.1},
    "spin_ratio": {"linear": 0.1, "stiffened": np.inf, "exact": np.inf, "stiffened plate": np.inf},
    "strain": {"linear": 0.01, "stiffened": 0.01, "exact": 0.01, "stiffened plate": 0.01},
    "axial_ratio": {"linear": 0.02, "stiffened": np.inf, "exact": np.inf, "stiffened plate": np.inf},
}
"""Bounds by the law of a part; above them a result warns: errors of about one per cent. 3/5 v^2 / l^2 = 0.6 % of the length,
Omega^2 / omega^2 = 1 %, P / k l = 2 % (1.2 % of the first frequency), strain of 1 %; of stiffened and exact elements by the
elastica (tests/elastodynamics/test_large_deflection.py)."""

OF_THICKNESS = 0.5
"""Displacement of a plate without stiffening, of its thickness, from which the forces in its plane count: a warning."""

PHRASES = {
    "deflection_ratio": ("is deflected by", "of its length"),
    "spin_ratio": ("spins at", "of its first frequency"),
    "strain": ("is strained by", "of its length"),
    "axial_ratio": ("is pulled or pressed along its axis by", "of the stiffness across its tip times its length"),
}
WHY = {
    ("deflection_ratio", "linear"): "linear bodies become too long: errors grow with the square. Use {stiffer}",
    ("deflection_ratio", "stiffened"): "rotations within one element are large. Use `theory: exact` or more elements",
    ("deflection_ratio", "stiffened plate"): "its modes are linear in rotations: errors grow with the square. Stiffen the plate",
    ("deflection_ratio", "thin plate"): "from half its thickness on a plate stiffens by stretching. Use {stiffer}",
    ("deflection_ratio", "exact"): "rotations within one element are large. Use more elements",
    ("spin_ratio", "linear"): "centrifugal stiffening is missing: errors grow with the square. Use {stiffer}",
    (
        "axial_ratio",
        "linear",
    ): "its modes have no geometric stiffness, so that axial load does not change its bending. Use {stiffer}",
}
WHY |= {
    ("strain", law): "elasticity is linear, most metals have yielded. Make it thinner or bend it less" for law in BOUNDS["strain"]
}
STIFFER = {
    "beam": "`stiffening: true` or more elements",
    "plate": "`stiffening: true`",
    "modes": "a file with its geometric stiffness (attach_geometric), or beams of several elements in its place",
    "platform": "`stiffening: true`",
}


class ValidityWarning(FlexapodWarning):
    """A result outside the range in which the models of its flexible bodies are valid."""


@dataclass(frozen=True, kw_only=True)
class StrainedPart:
    """One beam element, or the flexible platform (leg and root None).

    Args:
        shapes: (points, 3, N) displacement at the points that count, by the robot's elastic coordinates.
        length: [m] that displacements are compared with.
        frequency: first angular frequency with the frame held [rad/s].
        law: of a beam element: linear, stiffened or exact; modes are linear.
        strains: (elements, 5, N) of a beam, by the robot's elastic coordinates: along it, at the outer fibres of the root and
            tip of each element by bending in its xy plane, and in its xz plane; None for a platform.
        thickness: [m] of a plate, where it is known; it bends linearly within half of it.
        shortening: (N, N) B: what bending by e shortens, 1/2 e^T B e, stretches it as u does; None for linear elements.
        reduced: a beam in modes (`modes`), whose elements lie in one frame.
        axial: (tips, N) of a linear body in modes: axial force over k l per elastic coordinate, see above; None for others.
    """

    name: str
    leg: int | None
    root: int
    shapes: Array
    length: float
    frequency: float
    law: str = "linear"
    strains: Array | None = None
    shortening: Array | None = None
    thickness: float | None = None
    axial: Array | None = None
    reduced: bool = False

    def bound(self, measure: str) -> float:
        """Value of a measure above which a result warns."""
        bound = BOUNDS[measure][self.law]
        return min(bound, self._thin) if measure == "deflection_ratio" else bound

    def why(self, measure: str) -> str:
        """Message for a measure above its bound: what is wrong, and what helps."""
        thin = measure == "deflection_ratio" and self._thin < BOUNDS[measure][self.law]
        text = WHY[measure, "thin plate" if thin else self.law].format(stiffer=STIFFER[self.kind])
        return text.replace("more elements", "leave out `modes`: the beam has one frame") if self.reduced else text

    @property
    def _thin(self) -> float:
        """Half the thickness of a linear plate, of its length; no bound where all its joints are at one place."""
        if self.thickness is None or self.law != "linear" or self.length == 0.0:
            return np.inf
        return OF_THICKNESS * self.thickness / self.length

    @property
    def kind(self) -> str:
        """Kind of the flexible body: platform, beam, plate, or another body in modes."""
        if self.leg is None:
            return "platform"
        return "beam" if self.strains is not None else "modes" if self.thickness is None else "plate"


@lru_cache(maxsize=32)
def parts(robot: Robot) -> tuple[StrainedPart, ...]:
    """Flexible parts of a robot."""
    N, modes = len(robot.elastic_names), len(robot.elastic_names) - len(robot.elastic_indices)
    found, at = [], 0
    body = robot.flexible_platform
    if body is not None and modes:
        places = np.array([leg.closing.on_platform.position for leg in robot.legs])
        shapes = np.zeros((len(places), 3, N))
        shapes[:, :, :modes] = [robot.joint_shapes[leg.name] for leg in robot.legs]
        size = float(np.linalg.norm(places[:, None] - places[None, :], axis=2).max())
        law = "stiffened plate" if body.stiffened else "linear"
        thickness = None if robot.given_body else _thickness(robot.description.file.platform.flexible)
        found.append(
            StrainedPart(
                name="platform", leg=None, root=-1, shapes=shapes, length=size, frequency=_first(body), law=law,
                thickness=thickness,
            )
        )  # fmt: skip
    for number, leg in enumerate(robot.legs):
        for beam in robot.beams.get(leg.name, ()):
            columns = [modes + robot.elastic_indices.index(at + leg.moving.index(link)) for link in beam.links]
            shapes, length = _displacements(beam, columns, N)
            strains = None if beam.rooted is not None else _strains(robot, number, beam, columns, N)
            carrier = leg.links[beam.root].body
            thickness = _thickness(None if carrier is None or beam.rooted is None else carrier.flexible)
            found.append(
                StrainedPart(
                    name=beam.name, leg=number, root=beam.root, shapes=shapes, length=length, frequency=_first(beam.body),
                    law=beam.law if beam.quadratic is None else "stiffened plate", strains=strains, thickness=thickness,
                    shortening=_shortening(beam, columns, N), axial=axial_row(beam, columns, N), reduced=beam.basis is not None,
                )
            )  # fmt: skip
        at += len(leg.moving)
    short = [part.name for part in found]
    long = [part.name if part.leg is None else f"{robot.legs[part.leg].name}.{part.name}" for part in found]
    names = [s if short.count(s) == 1 else name for s, name in zip(short, long, strict=True)]
    return tuple(replace(part, name=name) for part, name in zip(found, names, strict=True))


def _thickness(spec: Flexible | None) -> float | None:
    """Thickness [m] of the flexible body of the file, if it is a plate."""
    return spec.thickness if spec is not None and spec.type == "plate" else None


def _displacements(beam: ElasticElement, columns: list[int], N: int) -> tuple[Array, float]:
    """Displacements (points, 3, N) per elastic coordinate, of a beam across it; and its length, or the longest to a tip."""
    names = list(beam.body.names)
    if beam.rooted is not None:
        shapes = np.zeros((len(beam.rooted.places), 3, N))
        for k, components in enumerate(beam.rooted.components):
            for row, letter in enumerate("uvw"):
                if letter in components:
                    shapes[k, row, columns[names.index(letter if k == 0 else f"{k + 1}.{letter}")]] = 1.0
        return shapes, float(np.linalg.norm(beam.rooted.places, axis=1).max(initial=0.0)) or 1.0
    nodes = np.eye(len(columns)) if beam.basis is None else beam.basis  # coordinates of the tip, or of all nodes
    d = len(tip_names(beam.body.names))
    across = np.zeros((len(nodes) // d, 3, N))
    for row, letter in ((1, "v"), (2, "w")):
        if letter in names:
            across[:, row, columns] = nodes[names.index(letter) :: d]
    return across, float(beam.body.interfaces["tip"].r0[0])


def _strains(robot: Robot, number: int, beam: ElasticElement, columns: list[int], N: int) -> Array:
    """Strains (elements, 5, N) of a beam per elastic coordinate; outer fibres are those of a rectangle with the same I / A."""
    found = []
    for piece in beam_pieces(robot, number, beam):
        section, strain = piece.section, np.zeros((5, N))
        strain[0, columns[0]] = piece.axial[0] / (piece.young * section.area)
        for row, moments, I in ((1, piece.moment_z, section.iz), (3, piece.moment_y, section.iy)):
            strain[row : row + 2, columns] = 0.5 * np.sqrt(12.0 * I / section.area) / (piece.young * I) * moments
        found.append(strain)
    return np.array(found)


def _shortening(beam: ElasticElement, columns: list[int], N: int) -> Array | None:
    if beam.foreshortening is None:
        return None
    B = np.zeros((N, N))
    B[np.ix_(columns, columns)] = beam.foreshortening.B
    return B


def strains(robot: Robot, elastic: Array) -> Array:
    """Largest strain of every part (n, parts): stretching and bending at the outer fibres; NaN for a flexible platform.

    Checked by: tests/analysis/test_validity.py.
    """
    columns = []
    for part in parts(robot):
        if part.strains is None:
            columns.append(np.full(len(elastic), np.nan))
            continue
        found = part.strains @ elastic.T
        if part.shortening is not None:
            more = 0.5 * np.einsum("ni,ij,nj->n", elastic, part.shortening, elastic, optimize=True)
            found[:, 0] += part.strains[:, 0].sum(axis=1)[:, None] * more  # strain per stretching, its one entry
        along, z_root, z_tip, y_root, y_tip = np.moveaxis(np.abs(found), 1, 0)
        columns.append((along + np.maximum(z_root + y_root, z_tip + y_tip)).max(axis=0))
    return np.stack(columns, axis=1) if columns else np.zeros((len(elastic), 0))


def _first(body: FlexibleBody) -> float:
    frequency = np.asarray(body.angular_frequency)
    return float(frequency[0]) if len(frequency) else np.inf


def deflection_ratios(robot: Robot, elastic: Array) -> Array:
    """Displacement across an element by its length, of joints of a flexible platform by its size: (n, parts).

    Checked by: tests/analysis/test_validity.py.
    """
    moved = [np.linalg.norm(np.einsum("paN,nN->npa", part.shapes, elastic), axis=2) for part in parts(robot)]
    columns = [each.max(axis=1, initial=0.0) / part.length for each, part in zip(moved, parts(robot), strict=True)]
    return np.stack(columns, axis=1) if columns else np.zeros((len(elastic), 0))


def spin_ratios(robot: Robot, state: ClosedLegs) -> Array:
    """Angular velocity of a part's frame by its first frequency: (n, parts).

    Checked by: tests/analysis/test_validity.py.
    """
    columns, at = [], np.cumsum([0, *(len(leg.moving) for leg in robot.legs)])
    spins: dict[int, list[Array]] = {}
    for part in parts(robot):
        if part.leg is None:
            spin = state.angular_velocity
        else:
            own = slice(at[part.leg], at[part.leg + 1])
            if part.leg not in spins:
                spins[part.leg] = _spins(robot.legs[part.leg], state.joint_position[:, own], state.joint_velocity[:, own])
            spin = spins[part.leg][part.root]
        columns.append(np.linalg.norm(spin, axis=1) / part.frequency)
    return np.stack(columns, axis=1) if columns else np.zeros((len(state.joint_position), 0))


def _spins(leg: Leg, q: Array, qd: Array) -> list[Array]:
    """World angular velocity (n, 3) of every link frame."""
    R: list[Array] = []
    w: list[Array] = []
    for i, link in enumerate(leg.links):
        before = np.tile(np.eye(3), (len(q), 1, 1)) if link.parent < 0 else R[link.parent]
        spin = np.zeros((len(q), 3)) if link.parent < 0 else w[link.parent]
        axes = before @ link.placement.rotation
        if link.kind == "R":
            k = leg.moving.index(i)
            c, s = np.cos(q[:, k] + link.zero)[:, None], np.sin(q[:, k] + link.zero)[:, None]
            x, y, z = axes[:, :, 0], axes[:, :, 1], axes[:, :, 2]
            axes, spin = np.stack([c * x + s * y, c * y - s * x, z], axis=2), spin + z * qd[:, [k]]
        R.append(axes)
        w.append(spin)
    return w


def spin_variable(robot: Robot, state: ClosedLegs) -> dict[str, Any]:
    """`spin_ratio` of closed states, for a result; none for robots whose elasticity is in joints alone."""
    return {"spin_ratio": (("flexible_part",), spin_ratios(robot, state), "1")} if parts(robot) else {}


def with_validity(
    robot: Robot, variables: Mapping[str, Variable], at: object
) -> tuple[Mapping[str, Any], dict[str, list[str]], dict[str, str]]:
    """Variables of a result with its measures, the labels of their dimension, and the measures above `BOUNDS` as its attribute
    ``validity``; warns of these.

    Args:
        at: what the result is for; a platform's spin comes from its `angular_velocity`.
    """
    found = variables.get("elastic")
    if found is None or tuple(found[0]) != ("elastic_coordinate",) or np.ndim(found[1]) != 2 or not parts(robot):
        return variables, {}, {}
    elastic = np.asarray(found[1], dtype=np.float64)
    measures: dict[str, Variable] = {"deflection_ratio": (("flexible_part",), deflection_ratios(robot, elastic), "1")}
    if any(part.strains is not None for part in parts(robot)):
        measures["strain"] = (("flexible_part",), strains(robot, elastic), "1")
    pulled = [part.axial for part in parts(robot)]
    if any(row is not None for row in pulled):
        measures["axial_ratio"] = (("flexible_part",), axial_ratios(pulled, elastic), "1")
    rate = variables["angular_velocity"][1] if "angular_velocity" in variables else getattr(at, "angular_velocity", None)
    if "spin_ratio" in variables:
        measures["spin_ratio"] = variables["spin_ratio"]
    elif rate is not None and np.shape(rate) == (len(elastic), 3) and parts(robot)[0].leg is None and len(parts(robot)) == 1:
        spin = np.linalg.norm(np.asarray(rate), axis=1) / parts(robot)[0].frequency
        measures["spin_ratio"] = (("flexible_part",), spin[:, None], "1")
    messages = [_warn(robot, name, np.asarray(values), getattr(at, "time", None)) for name, (_, values, _) in measures.items()]
    above = "\n".join(text for text in messages if text)
    attrs = {"validity": above} if above else {}
    return {**variables, **measures}, {"flexible_part": [part.name for part in parts(robot)]}, attrs


def warn_beyond(robot: Robot, elastic: Array, at: object) -> None:
    """Warn of elastic coordinates (n, N) above the bounds, for results without the measures.

    Args:
        at: what the result is for; its times are named.

    Checked by: tests/analysis/test_validity.py.
    """
    if not parts(robot):
        return
    _warn(robot, "deflection_ratio", deflection_ratios(robot, elastic), getattr(at, "time", None), shown=False)
    if any(part.strains is not None for part in parts(robot)):
        _warn(robot, "strain", strains(robot, elastic), getattr(at, "time", None), shown=False)
    pulled = [part.axial for part in parts(robot)]
    if any(row is not None for row in pulled):
        _warn(robot, "axial_ratio", axial_ratios(pulled, elastic), getattr(at, "time", None), shown=False)


def warn_unstable(robot: Robot, stable: NDArray[np.bool_], reasons: Reasons, loaded: bool) -> None:
    """Warn of equilibria without a reason of their own that are not stable on held actuators.

    Args:
        stable: (n,); reasons: per sample.
        loaded: a load acts besides the weight.

    Checked by: tests/analysis/test_unstable_equilibria.py.
    """
    bad = ~stable & (reasons == "")
    if not bad.any():
        return
    where = f" of sample {int(bad.argmax())}" if len(reasons) > 1 else ""
    load, see = ("the load", "buckling") if loaded else ("its weight", "natural_frequencies")
    warnings.warn(
        f"{robot.name}: the equilibrium{where} is unstable, {load} is beyond a buckling load; see fp.{see}",
        ValidityWarning,
        stacklevel=4,
    )


def _warn(robot: Robot, name: str, values: Array, time: Array | None, shown: bool = True) -> str:
    """One warning per measure, for the worst sample and part, and its text; samples that failed are left out.

    Args:
        shown: the result has the measure.
    """
    if DRAWN.get():
        return ""
    known = np.where(np.isfinite(values), values, np.where(np.isinf(values), np.inf, 0.0))
    bounds = np.array([part.bound(name) for part in parts(robot)])
    if known.size == 0 or np.all(known <= bounds):
        return ""
    sizes = np.where(np.isfinite(bounds), known / np.where(np.isfinite(bounds), bounds, 1.0), 0.0)
    sample, part = np.unravel_index(int(sizes.argmax()), known.shape)
    first, worst = int((known > bounds).any(axis=1).argmax()), parts(robot)[part]
    where = f", first at t = {float(time[first]):g} s" if time is not None else ""
    where = f", first in sample {first}" if time is None and len(known) > 1 else where
    verb, of = PHRASES[name]
    see = f": see {name} of the result" if shown else ""
    text = (
        f"{robot.name}: {worst.name} {verb} {known[sample, part]:.3g} {of} (bound {bounds[part]:.3g}{where}); {worst.why(name)}, "
        f"or do not trust what is above the bound{see}"
    )
    warnings.warn(text, ValidityWarning, stacklevel=4)
    return text
