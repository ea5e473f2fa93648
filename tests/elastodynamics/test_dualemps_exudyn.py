"""DualEMPS in Exudyn, another multibody program: natural frequencies with the same number of elements.

Exudyn's `ObjectANCFCable2D` is an absolute nodal coordinate element: cubic in both directions, nodes with position and slope.
About a straight beam its bending is that of the cubic Euler-Bernoulli element; along the beam it is cubic where flexapod is
linear, which is felt only by modes in which a beam's mass moves along it. Rigid bodies and joints are Exudyn's own; what is
compared is its constrained linearised system.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import exudyn
import numpy as np
import pytest
from beam_robots import DATA
from package_models import dualemps_frequencies

REFERENCE = json.loads((DATA.parent / "flexible" / "dualemps-beams.json").read_text())
AGREEMENT = 1e-4
"""Found 1.2e-5 in the sixth mode of one element (axial shapes differ)."""

BENDING = 1e-7
"""All other modes; found 3e-9, the derivatives of Exudyn are numerical."""


@dataclass
class Plane:
    """A planar mechanism in Exudyn: rigid bodies by first moment along their own axis, straight beams, clamps and pins."""

    elements: int
    system: Any = field(init=False)

    def __post_init__(self) -> None:
        from exudyn.itemInterface import ObjectGround

        self.system = exudyn.SystemContainer().AddSystem()
        self.ground = self.system.AddObject(ObjectGround())

    def rigid(self, data: list[float], place: np.ndarray, angle: float) -> tuple[int, float]:
        """A body of mass, first moment along x and inertia about its frame origin; returns it and its centre's distance."""
        from exudyn.itemInterface import NodeRigidBody2D, ObjectRigidBody2D

        m, mx, zz = data
        centre = mx / m
        node = self.system.AddNode(NodeRigidBody2D(referenceCoordinates=[*(place + centre * along(angle)), angle]))
        return self.system.AddObject(ObjectRigidBody2D(mass=m, inertia=zz - m * centre**2, nodeNumber=node)), centre

    def beam(self, place: np.ndarray, angle: float, length: float) -> tuple[tuple[int, float], tuple[int, float]]:
        """A chain of elements; returns its root and tip as (body, distance)."""
        from exudyn.itemInterface import NodePoint2DSlope1, ObjectANCFCable2D

        data, n, u = REFERENCE["beams"], self.elements, along(angle)
        area = data["width_bending"] * data["height"]
        inertia = data["height"] * data["width_bending"] ** 3 / 12
        nodes = [
            self.system.AddNode(NodePoint2DSlope1(referenceCoordinates=[*(place + u * length * k / n), *u])) for k in range(n + 1)
        ]
        chain = [
            self.system.AddObject(
                ObjectANCFCable2D(
                    length=length / n, massPerLength=data["rho"] * area, bendingStiffness=data["E"] * inertia,
                    axialStiffness=data["E"] * area, nodeNumbers=[nodes[k], nodes[k + 1]],
                )
            )
            for k in range(n)
        ]  # fmt: skip
        return (chain[0], 0.0), (chain[-1], length / n)

    def at(self, body: int, x: float, y: float = 0.0) -> int:
        from exudyn.itemInterface import MarkerBodyRigid

        return int(self.system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[x, y, 0])))

    def join(self, first: int, second: int, clamped: bool) -> None:
        from exudyn.itemInterface import ObjectJointGeneric

        self.system.AddObject(ObjectJointGeneric(markerNumbers=[first, second], constrainedAxes=[1, 1, 0, 0, 0, int(clamped)]))


def along(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def frequencies(elements: int) -> np.ndarray:
    """The six lowest [Hz] with locked sliders at q11 = q21 = 0."""
    plane, g, bodies = Plane(elements), REFERENCE["geometry"], REFERENCE["rigid_bodies"]
    length, half = g["d13"] + g["d14_beam"] + g["d15"], 0.5 * g["slider_offset_d21"]
    up, ends = np.sqrt(length**2 - half**2), []
    for leg, angle, x in ((1, np.arctan2(up, half), 0.0), (2, np.arctan2(up, -half), 2 * half)):
        u, slider = along(angle), np.array([x, 0.0])
        first, c = plane.rigid(bodies[f"{leg}2"], slider, angle)
        plane.join(plane.at(plane.ground, x), plane.at(first, -c), clamped=False)
        root, tip = plane.beam(slider + g["d13"] * u, angle, g["d14_beam"])
        plane.join(plane.at(first, g["d13"] - c), plane.at(*root), clamped=True)
        elbow = slider + (g["d13"] + g["d14_beam"]) * u
        second, c = plane.rigid(bodies[f"{leg}4"], elbow, angle)
        plane.join(plane.at(*tip), plane.at(second, -c), clamped=True)
        ends.append(plane.at(second, g["d15"] - c))
        if leg == 1:
            out = g["d15"] + g["d16"]
            root, tip = plane.beam(elbow + out * u, angle, REFERENCE["beams"]["length"][2])
            plane.join(plane.at(second, out - c), plane.at(*root), clamped=True)
            last, c = plane.rigid(bodies["17"], elbow + (out + REFERENCE["beams"]["length"][2]) * u, angle)
            plane.join(plane.at(*tip), plane.at(last, -c), clamped=True)
    plane.join(*ends, clamped=False)
    plane.system.Assemble()
    found, _ = plane.system.ComputeODE2Eigenvalues(convert2Frequencies=True)
    return np.sort(found)[:6]


@pytest.mark.parametrize("elements", [1, 2, 4])
def test_frequencies(elements: int) -> None:
    found, expected = frequencies(elements), dualemps_frequencies(elements)
    assert np.allclose(found, expected, rtol=AGREEMENT)
    modes = slice(None) if elements > 1 else slice(5)
    assert np.allclose(found[modes], expected[modes], rtol=BENDING)


def test_the_comparison_can_fail() -> None:
    """Beams 0.1 % thicker are noticed."""
    width = REFERENCE["beams"]["width_bending"]
    REFERENCE["beams"]["width_bending"] = 1.001 * width
    try:
        found = frequencies(1)
    finally:
        REFERENCE["beams"]["width_bending"] = width
    assert np.abs(found / dualemps_frequencies(1) - 1).max() > 2 * AGREEMENT
