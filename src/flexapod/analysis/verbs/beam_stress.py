r"""`beam_stress`: forces in beams and the stress at their outer fibres, from elastic coordinates.

Letters: e tip coordinates of an element (see `beam_energy`), of exact elements those without the rotation of the chord.

.. math:: P = k\left(u + \tfrac12 e^TBe\right),\quad M_z(l) = (Ke)_\theta,\quad M_z(0) = (Ke)_\theta + l\,(Ke)_v,\quad
          \sigma = \frac{P}{A} \pm \frac{M_z\,c_y}{I_z} \pm \frac{M_y\,c_z}{I_y}

Fibres are the corners of the section at each end (of a tapered beam the sections differ), of a tube its circle. The file does
not say how an L section lies about its principal axes: the largest of its mirror images counts.

(moment at the root by equilibrium): exact where loads act at nodes, off by q l^2 / 12 under a load q along the element. A reduced
beam has the coordinates q = V e of all its nodes, and in each of its elements the moments that these make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.beam_pieces import beam_description, beam_pieces
from flexapod.analysis.requests.arguments import checked
from flexapod.arrays import Array
from flexapod.calls import unchecked
from flexapod.errors import InputError
from flexapod.flexible.section import outer_points

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.description.schema_flexible import Flexible
    from flexapod.flexible.section import Section
    from flexapod.robot.beams import ElasticElement
    from flexapod.robot.robot import Robot

ENDS = ("root", "tip")


@checked(result=unchecked)
def beam_stress(robot: Robot, result: xr.Dataset) -> xr.Dataset:
    """Axial force, bending moments and stress of every beam element at its two ends.

    Args:
        result: a result with `elastic` (of `static_deflection`, `simulate`, `inverse_dynamics`, ...), or an array (n, N) of
            elastic coordinates in the order of ``robot.elastic_names``.
    Returns:
        Dataset over (.., element, end): `axial_force` [N], `moment_z`, `moment_y`, `torque` [N m], `axial_stress`,
        `bending_stress` (largest of the outer fibres, both planes together), `stress` (of both at the worst fibre, absolute)
        [Pa]; attributes `peak` [Pa],
        `peak_element`, `peak_end` and, where the result has time, `peak_time` [s].

    Raises:
        InputError: no beams, or a section given by numbers without its outer fibres.

    Checked by: tests/analysis/test_beam_stress.py.
    """
    import xarray as xr

    elements = [(i, beam) for i, leg in enumerate(robot.legs) for beam in robot.beams.get(leg.name, ()) if not beam.rooted]
    if not elements:
        raise InputError(f"beam stress: {robot.name} has no beams; `plate_stress` has the stresses of plates")
    elastic, over = elastic_coordinates(robot, result)
    found = {}
    for i, beam in elements:
        for name, forces in _beam(robot, i, beam, elastic).items():
            found[f"{robot.legs[i].name}.{name}"] = forces
    names = list(found)
    dims = (*over.dims[:-1], "element", "end")
    units = {"axial_force": "N", "moment_z": "N m", "moment_y": "N m", "torque": "N m"}
    variables = {}
    for name in found[names[0]]:
        values = np.stack([part[name] for part in found.values()], axis=1)
        shape = (*over.shape[:-1], *values.shape[1:])
        variables[name] = (dims, values.reshape(shape), {"units": units.get(name, "Pa")})
    coords = {k: v for k, v in over.coords.items() if k != "elastic_coordinate"}
    data = xr.Dataset(variables, {**coords, "element": names, "end": list(ENDS)})
    return data.assign_attrs(robot=robot.name, **_peak(data, over))


def elastic_coordinates(robot: Robot, result: xr.Dataset) -> tuple[Array, Any]:
    """Elastic coordinates (n, N), and the same with their dimensions."""
    import xarray as xr

    if isinstance(result, xr.Dataset):
        if "elastic" not in result:
            raise InputError("result: has no `elastic`; take a result of a flexible robot")
        over = result.elastic
    else:
        try:
            array = np.asarray(result, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"result: expected a result or an array of numbers, got {type(result).__name__}") from error
        dims = ("sample", "elastic_coordinate")[2 - array.ndim :] if array.ndim in (1, 2) else ()
        if not dims:
            raise InputError(f"result: expected a result or an array (n, {len(robot.elastic_names)}), got shape {array.shape}")
        over = xr.DataArray(array, dims=dims)
    if over.shape[-1] != len(robot.elastic_names):
        raise InputError(f"result: has {over.shape[-1]} elastic coordinates, {robot.name} has {len(robot.elastic_names)}")
    return np.asarray(over.values, dtype=float).reshape(-1, over.shape[-1]), over


def _beam(robot: Robot, number: int, beam: ElasticElement, elastic: Array) -> dict[str, dict[str, Array]]:
    """Forces and stresses (n, 2) of one element, or of the elements of a reduced beam, by name."""
    leg = robot.legs[number]
    at = sum(len(other.moving) for other in robot.legs[:number])
    modes = len(robot.elastic_names) - len(robot.elastic_indices)
    columns = [modes + robot.elastic_indices.index(at + leg.moving.index(k)) for k in beam.links]
    length, names = float(beam.body.interfaces["tip"].r0[0]), list(beam.body.names)
    q = _hat(beam, length, elastic[:, columns])
    stretch = q[:, 0]
    if beam.foreshortening is not None:
        B = np.array(beam.foreshortening.B)
        if beam.law == "exact":
            B = B - np.diag([1.0 / length if n in ("v", "w") else 0.0 for n in names])
        stretch = stretch + 0.5 * np.einsum("ni,ij,nj->n", q, B, q)
    body, spec = beam.name.rpartition(".beam")[0], beam_description(robot, number, beam)
    found = {}
    for piece in beam_pieces(robot, number, beam):
        name = f"{body}.beam{piece.number}"
        P = np.stack([piece.axial[0] * stretch] * 2, axis=1)
        Mz, My, T = (q @ rows.T for rows in (piece.moment_z, piece.moment_y, piece.torque))
        ends = [_outer(leg.name, name, spec, (piece.number - 1 + end) / spec.elements) for end in range(2)]
        axial = P / np.array([cut.area for cut, _ in ends])
        bending, both = np.zeros_like(P), np.zeros_like(P)
        for k, (cut, fibres) in enumerate(ends):
            fibre = fibres(Mz[:, k] / cut.iz, My[:, k] / cut.iy)
            bending[:, k] = np.abs(fibre).max(axis=1)
            both[:, k] = np.abs(axial[:, [k]] + fibre).max(axis=1)
        found[name] = {
            "axial_force": P, "moment_z": Mz, "moment_y": My, "torque": T, "axial_stress": axial, "bending_stress": bending,
            "stress": both,
        }  # fmt: skip
    return found


def _hat(beam: ElasticElement, length: float, e: Array) -> Array:
    """Coordinates that the element's stiffness acts on: e, without what twists it besides, or without the chord's rotation."""
    if beam.twisting is not None:
        found = np.array(e)
        found[:, 1:6] -= 0.5 * np.einsum("cik,ni,nk->nc", beam.twisting, e, e, optimize=True)
        return found
    if beam.law != "exact":
        return e
    import casadi as ca

    from flexapod.equations.elastodynamics.beam_energy import chord_coordinates
    from flexapod.robot.beams import tip_names

    at, tip = ca.SX.sym("e", e.shape[1]), len(tip_names(beam.body.names))
    hat = ca.Function("hat", [at], [ca.vertcat(chord_coordinates(length, at[:tip]), at[tip:])])
    return np.array(hat.map(len(e))(e.T)).T


Fibres = Callable[[Array, Array], Array]
"""Bending stress (n, fibres) of Mz / Iz and My / Iy (n,)."""


def _outer(leg: str, element: str, spec: Flexible, place: float) -> tuple[Section, Fibres]:
    r"""The section at a place of a beam, and the stress of its outer fibres at (y, z) from the centroid,

    .. math:: \sigma = -\frac{M_z}{I_z} y + \frac{M_y}{I_y} z
    """
    from flexapod.robot.beams import FIBRES, cross_section

    sizes, shape = spec.sizes_at(place), spec.section.shape if spec.section is not None else ""
    if shape == "general" and not all(name in sizes for name in FIBRES):
        raise InputError(
            f"beam stress: leg {leg}, {element} has a section of shape {shape}, whose outer fibres are not known; "
            "write fibre_y and fibre_z into it, or use axial_force and moments with your own section modulus"
        )
    if shape == "tube":
        radius = sizes["outer"] / 2.0
        return cross_section(spec, place), lambda z, y: radius * np.hypot(z, y)[:, None] * np.array([1.0, -1.0])
    points = outer_points(shape, sizes)
    return cross_section(spec, place), lambda z, y: y[:, None] * points[:, 1] - z[:, None] * points[:, 0]


def _peak(data: xr.Dataset, over: xr.DataArray) -> dict[str, Any]:
    values = data.stress.values
    if not np.isfinite(values).any():
        return {}
    at = np.unravel_index(int(np.nanargmax(values)), values.shape)
    found = {"peak": float(values[at]), "peak_element": str(data.element.values[at[-2]]), "peak_end": ENDS[at[-1]]}
    if "time" in over.coords and len(at) == 3:
        found["peak_time"] = float(over.time.values[at[0]])
    return found
