r"""A payload on the platform: a point mass M at c, in platform axes, added to the platform's inertial data about its origin.

.. math:: m' = m + M,\quad (m c)' = m c + M c,\quad J' = J + M (c^T c\,1 - c c^T)
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import flexapod as fp


def payload_of(text: str) -> tuple[float, np.ndarray]:
    """`12`, `12 kg` or `12,0,0,0.1`: mass [kg] and place [m] in platform axes, the platform's origin if left out."""
    parts = [part.strip() for part in text.split(",")]
    try:
        mass = fp.si_value(parts[0]) if any(c.isalpha() for c in parts[0].replace("e", "")) else float(parts[0])
        place = np.array([float(part) for part in parts[1:]]) if len(parts) > 1 else np.zeros(3)
    except (ValueError, fp.FlexapodError):
        mass, place = np.nan, np.zeros(3)
    if not (np.isfinite(mass) and mass >= 0 and place.shape == (3,) and np.all(np.isfinite(place))):
        raise fp.InputError(f"--payload {text}: expected a mass in kg, or mass,x,y,z in platform axes, e.g. 12 or 12,0,0,0.1")
    return float(mass), place


def with_payload(robot: fp.Robot, mass: float, place: Any) -> fp.Robot:
    """The robot with a point mass on its platform.

    Args:
        mass: [kg].
        place: (3,) [m] in platform axes.
    Raises:
        InputError: the platform is flexible, or a body of a leg.

    Checked by: tests/views/test_report_parts.py.
    """
    document = copy.deepcopy(robot.description.document)
    own = document.get("platform", {})
    if robot.flexible_platform is not None or own.get("body") or own.get("flexible"):
        raise fp.InputError(f"--payload: {robot.name} has no rigid platform of its own; give the load as --wrench instead")
    c, platform = np.asarray(place, dtype=np.float64), robot.platform
    J = platform.inertia + mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    h = platform.first_moment + mass * c
    for key in ("mass", "com", "inertia", "base_parameters"):
        own.pop(key, None)
    own["base_parameters"] = {
        **{f"{a}{b}": float(J["XYZ".index(a), "XYZ".index(b)]) for a, b in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")},
        **{f"M{a}": float(h["XYZ".index(a)]) for a in "XYZ"},
        "M": float(platform.mass + mass),
    }
    document["platform"] = own
    return _built(fp.description_from_document(document, path=robot.description.path, name=robot.name))


def _built(description: Any) -> fp.Robot:
    """A robot from a description: through a file, as every robot comes."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="flexapod-") as folder:
        path = Path(folder) / "robot.yaml"
        fp.write_robot_file(description, path)
        return fp.load(path)
