"""Planar mechanisms in Exudyn, another multibody program: rigid bodies, straight beams of cable elements, clamps, pins, slides.

`ObjectANCFCable2D` is an absolute nodal coordinate element: cubic in both directions, nodes with position and slope, strain and
curvature exact for large deflection, without shear and without inertia of the sections' rotation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import exudyn
import numpy as np
from scipy.interpolate import CubicSpline


@dataclass(frozen=True, kw_only=True)
class Rod:
    """A straight beam: length [m], mass per length [kg/m], bending [N m^2] and axial stiffness [N]."""

    length: float
    line_mass: float
    bending: float
    axial: float


@dataclass
class Plane:
    """A planar mechanism; every beam has so many elements. Weight acts along y."""

    elements: int
    gravity: float = 0.0
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
        body = int(self.system.AddObject(ObjectRigidBody2D(mass=m, inertia=zz - m * centre**2, nodeNumber=node)))
        self._weigh(body)
        return body, centre

    def beam(self, place: np.ndarray, angle: float, rod: Rod) -> list[tuple[int, float]]:
        """A chain of elements; returns its nodes from root to tip as (element, distance along it)."""
        from exudyn.itemInterface import NodePoint2DSlope1, ObjectANCFCable2D

        n, u = self.elements, along(angle)
        nodes = [
            self.system.AddNode(NodePoint2DSlope1(referenceCoordinates=[*(place + u * rod.length * k / n), *u]))
            for k in range(n + 1)
        ]
        chain = [
            int(
                self.system.AddObject(
                    ObjectANCFCable2D(
                        length=rod.length / n, massPerLength=rod.line_mass, bendingStiffness=rod.bending,
                        axialStiffness=rod.axial, nodeNumbers=[nodes[k], nodes[k + 1]],
                    )
                )
            )
            for k in range(n)
        ]  # fmt: skip
        for element in chain:
            self._weigh(element)
        return [*((element, 0.0) for element in chain), (chain[-1], rod.length / n)]

    def _weigh(self, body: int) -> None:
        from exudyn.itemInterface import LoadMassProportional, MarkerBodyMass

        if self.gravity:
            mass = self.system.AddMarker(MarkerBodyMass(bodyNumber=body))
            self.system.AddLoad(LoadMassProportional(markerNumber=mass, loadVector=[0.0, self.gravity, 0.0]))

    def at(self, body: int, x: float, y: float = 0.0) -> int:
        """A marker on a body, in its own axes from its centre, or along a beam element."""
        from exudyn.itemInterface import MarkerBodyRigid

        return int(self.system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[x, y, 0])))

    def join(self, first: int, second: int, clamped: bool, slides: bool = False) -> None:
        """A pin, a clamp, or (a clamp that) slides along x."""
        from exudyn.itemInterface import ObjectJointGeneric

        free = [int(not slides), 1, 0, 0, 0, int(clamped)]
        self.system.AddObject(ObjectJointGeneric(markerNumbers=[first, second], constrainedAxes=free))

    def prescribe(self, body: int, angle: Callable[[float], float], rate: Callable[[float], float]) -> None:
        """The angle of a rigid body follows a law of time, counted from its reference; the solver closes its rate."""
        from exudyn.itemInterface import CoordinateConstraint, MarkerNodeCoordinate, NodePointGround

        node = self.system.GetObject(body)["nodeNumber"]
        still = self.system.AddMarker(MarkerNodeCoordinate(nodeNumber=self.system.AddNode(NodePointGround()), coordinate=0))
        rotating = self.system.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        self.system.AddObject(
            CoordinateConstraint(
                markerNumbers=[still, rotating], offset=0.0, offsetUserFunction=lambda _, t, __, ___: angle(t),
                offsetUserFunction_t=lambda _, t, __, ___: rate(t),
            )
        )  # fmt: skip

    def watch(self, body: int, x: float, angle: bool = False) -> int:
        """A sensor of a point's position, or of a body's angle."""
        from exudyn.itemInterface import SensorBody

        kind = exudyn.OutputVariableType.Rotation if angle else exudyn.OutputVariableType.Position
        sensor = SensorBody(bodyNumber=body, localPosition=[x, 0, 0], storeInternal=True, outputVariableType=kind)
        return int(self.system.AddSensor(sensor))

    def run(self, duration: float, step: float) -> None:
        """Integrate by the generalized alpha method with closed positions (index 3) and a spectral radius of 0.9."""
        settings = exudyn.SimulationSettings()
        t = settings.timeIntegration
        t.endTime, t.numberOfSteps = duration, round(duration / step)
        t.generalizedAlpha.spectralRadius = 0.9
        t.newton.relativeTolerance, t.newton.absoluteTolerance = 1e-8, 1e-10
        t.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = step / 2  # every step, whatever the rounding of times
        self.system.Assemble()
        self.system.SolveDynamic(settings)

    def seen(self, sensor: int, times: np.ndarray) -> np.ndarray:
        """A sensor at times; the solver halves steps as it likes, so that its samples are joined by cubics."""
        data = self.system.GetSensorStoredData(sensor)
        at, first = np.unique(data[:, 0], return_index=True)
        found: np.ndarray = CubicSpline(at, data[first, 1:])(times)
        return found


def along(angle: float) -> np.ndarray:
    """Unit vector at an angle from x."""
    return np.array([np.cos(angle), np.sin(angle)])
