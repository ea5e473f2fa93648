r"""Suspicious properties of an imported body: values that no structure has, mostly because of wrong units.

.. math:: \rho = m/V,\qquad m/L^3,\qquad f_1 L

L is the largest distance along an axis between nodes, V the volume of the elements of a mesh, f_1 the first elastic frequency.
A free rod has f_1 L = c/2 with c the speed of sound, 12 km/s in beryllium; every other body has less.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.fe_check import ImportedBody
from flexapod.calls import users_level
from flexapod.errors import FlexapodWarning

BOUNDS = {
    "density of the elements": (10.0, 3e4, "kg/m^3"),  # foams to osmium, with some mass besides the material
    "size": (1e-4, 200.0, "m"),  # microsystems to space stations
    "mass over the cube of the size": (1e-6, 3e4, "kg/m^3"),  # thin wires to a block of osmium
    "first frequency times size": (1e-3, 1e4, "m/s"),  # wires to sound in beryllium
}
"""Quantity -> smallest, largest and unit of what structures have."""


MOTIONS = tuple(f"{kind} {axis}" for kind in ("translation along", "rotation about") for axis in "xyz")
"""Rigid motions of the nodes, about the frame origin."""


STIFF = 1e6
"""[Hz] Shapes above have hardly any inertia: rotations of shells about their normals, which only an interface holds."""


class TiedToGroundWarning(FlexapodWarning):
    """The stiffness of an imported body holds some of its rigid motions: it is no free body."""


class UnitsWarning(FlexapodWarning):
    """An imported body has numbers that no structure has: its units are hardly those that were given."""


def tied_to_ground(found: ImportedBody, ground: Array, free: int) -> ImportedBody:
    """The body with a note, which is also a warning, where its stiffness holds rigid motions.

    Args:
        ground: (6,) stiffness against the rigid motions [N/m, N m/rad]; free: rigid motions without energy.

    Checked by: tests/bridges/test_fe.py.
    """
    held = [
        f"{name} {value:.4g} {'N/m' if k < 3 else 'N m/rad'}"
        for k, (name, value) in enumerate(zip(MOTIONS, ground, strict=True))
        if value > 0.0
    ]
    if not held:
        return found
    text = (
        f"the stiffness ties the body to ground: it holds {6 - free} of the 6 rigid motions ({', '.join(held)}), and the modes "
        "are those of the tied body. A free body needs the stiffness without supports and springs to ground, in all digits"
    )
    warnings.warn(TiedToGroundWarning(f"import_fe: {text}"), stacklevel=3)
    return replace(found, notes=(*found.notes, text))


def stiff_shapes(found: ImportedBody) -> ImportedBody:
    """The body with a note where shapes of the reduction lie above `STIFF`.

    Checked by: tests/bridges/test_nastran_mesh.py.
    """
    above = found.frequency[found.frequency > STIFF]
    if not len(above):
        return found
    text = (
        f"{len(above)} of {len(found.frequency)} shapes lie above {STIFF:g} Hz, the first at {above.min():.4g} Hz: rotations "
        "of the interfaces with hardly any inertia, as of shells about their normals. Explicit steps cannot follow them; "
        "implicit ones do, and method normal has none"
    )
    return replace(found, notes=(*found.notes, text))


def with_remarks(found: ImportedBody, r0: Array, density: float | None, units: Mapping[str, str]) -> ImportedBody:
    """The body with a note of every number beyond `BOUNDS`, which is also a warning.

    Args:
        r0: (n, 3) nodes [m]; density: of the elements of a mesh [kg/m^3], None where there are none.
        units: as they were given.

    Checked by: tests/bridges/test_nastran_mesh.py.
    """
    mass, size = found.body.mass, float(np.ptp(r0, axis=0).max())
    first = float(found.full_frequency[0]) if len(found.full_frequency) else 0.0
    values = dict(zip(BOUNDS, (density, size, mass / size**3 if size else None, first * size or None), strict=True))
    odd = [
        f"{name} {value:.3g} {unit} (structures have {low:g} to {high:g})"
        for name, (low, high, unit) in BOUNDS.items()
        if (value := values[name]) is not None and not low <= value <= high
    ]
    if not odd:
        return found
    given_units = ", ".join(f"{name} in {unit}" for name, unit in units.items())
    facts = f"mass {mass:.4g} kg, size {size:.4g} m, first frequency {first:.4g} Hz"
    text = f"the units hardly fit: {'; '.join(odd)}. With {given_units}: {facts}. A model in N and mm has mm, t, s"
    warnings.warn(UnitsWarning(f"import_fe: {text}"), stacklevel=users_level())
    return replace(found, notes=(*found.notes, text))
