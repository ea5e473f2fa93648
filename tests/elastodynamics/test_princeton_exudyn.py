"""Princeton beam experiment in Exudyn: a thin strip under a tip load at an angle to its strong plane, bent and twisted at once.

Aluminium strip of 508 mm, 12.377 mm by 3.2024 mm, E 71.7 GPa, nu 0.31, dead load of 13.345 N (E. H. Dowell, J. Traybar, AMS
Report 1194, Princeton, 1975; O. A. Bauchau et al., Multibody System Dynamics 37, 2016). Exudyn's `ObjectBeamGeometricallyExact`
has two nodes, its strain is constant along an element: it converges with the square of the element's length, as flexapod's
`theory: exact` does where torsion and bending meet, from a smaller error (0.05 to 0.06 % of the length with four elements,
Exudyn's 0.2 to 0.5 %).
"""

from __future__ import annotations

import exudyn
import numpy as np
import pytest
from beam_alone import beam_alone, hub
from element_chain import chain, element

import flexapod as fp
from flexapod.flexible import Section

LENGTH, WIDE, THIN, YOUNG, POISSON, LOAD = 0.508, 12.377e-3, 3.2024e-3, 71.7e9, 0.31, 13.345
STRIP = Section.rectangle(width=WIDE, height=THIN)
"""The wide side along y: a load along y bends it in its strong plane, along z in its weak one."""
ANGLES = np.radians([15.0, 45.0, 90.0])

LIMIT = 3e-4
"""Of the length: eight of our elements against the limit of Exudyn's (found 1.3e-4, 1.5e-4, 9e-7 at the three angles)."""
OURS = (2.0, 2.0, 4.0)
"""Our rates: bending and torsion in one element are coupled to the second power of its length, bending alone is better."""
SAME = 1e-9
"""Of the length: the verb and the chain of element energies, both solved to rounding."""
RATE = 0.2
"""Of a rate, by four and eight elements; found 0.04."""


def exudyn_tip(elements: int, angle: float) -> np.ndarray:
    """Displacement of the tip (3,) [m] by Exudyn's static solver."""
    from exudyn.itemInterface import (
        LoadForceVector,
        MarkerBodyRigid,
        MarkerNodeRigid,
        NodeRigidBodyEP,
        ObjectBeamGeometricallyExact,
        ObjectGround,
        ObjectJointGeneric,
    )

    system = exudyn.SystemContainer().AddSystem()
    G, A = YOUNG / (2 + 2 * POISSON), STRIP.area
    data = exudyn.BeamSection()
    data.stiffnessMatrix = np.diag(
        [YOUNG * A, STRIP.shear_y * G * A, STRIP.shear_z * G * A, G * STRIP.torsion, YOUNG * STRIP.iy, YOUNG * STRIP.iz]
    )
    data.massPerLength, data.inertia = 0.1, 1e-6 * np.eye(3)
    nodes = [
        system.AddNode(NodeRigidBodyEP(referenceCoordinates=[LENGTH * k / elements, 0, 0, 1, 0, 0, 0]))
        for k in range(elements + 1)
    ]
    for k in range(elements):
        system.AddObject(ObjectBeamGeometricallyExact(nodeNumbers=nodes[k : k + 2], length=LENGTH / elements, sectionData=data))
    ground = system.AddMarker(MarkerBodyRigid(bodyNumber=system.AddObject(ObjectGround())))
    root, tip = (system.AddMarker(MarkerNodeRigid(nodeNumber=nodes[k])) for k in (0, -1))
    system.AddObject(ObjectJointGeneric(markerNumbers=[ground, root]))
    system.AddLoad(LoadForceVector(markerNumber=tip, loadVector=[0, LOAD * np.cos(angle), LOAD * np.sin(angle)]))
    settings = exudyn.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps, settings.staticSolver.verboseMode = 5, 0
    settings.staticSolver.newton.relativeTolerance = settings.staticSolver.newton.absoluteTolerance = 1e-9
    settings.solution.file.write = False
    system.Assemble()
    system.SolveStatic(settings)
    moved: np.ndarray = system.GetNodeOutput(nodes[-1], exudyn.OutputVariableType.Displacement)
    return moved


def limit(angle: float) -> np.ndarray:
    """Richardson's limit of 32 and 64 elements, whose error falls with the square."""
    coarse, fine = exudyn_tip(32, angle), exudyn_tip(64, angle)
    return fine + (fine - coarse) / 3


def our_tip(elements: int, angle: float, law: str = "exact") -> np.ndarray:
    """Displacement of the tip by the package's element energies."""
    one = element(LENGTH / elements, STRIP, YOUNG, law, planar=False, poisson=POISSON)
    _, tip = chain(one, elements).static(np.array([0, LOAD * np.cos(angle), LOAD * np.sin(angle)]), loads=3)
    return tip - [LENGTH, 0, 0]


@pytest.mark.parametrize("case", [pytest.param(0, marks=pytest.mark.full), 1, pytest.param(2, marks=pytest.mark.full)])
def test_tip_and_rates(case: int) -> None:
    angle = ANGLES[case]
    true = limit(angle)
    theirs, ours = ({n: np.abs(tip(n, angle) - true).max() / LENGTH for n in (4, 8)} for tip in (exudyn_tip, our_tip))
    assert ours[8] < LIMIT
    assert all(ours[n] < theirs[n] for n in (4, 8)), "at equal elements ours are nearer to the limit of Exudyn's"
    assert np.log2(theirs[4] / theirs[8]) == pytest.approx(2.0, abs=RATE)
    assert np.log2(ours[4] / ours[8]) == pytest.approx(OURS[case], abs=RATE)


@pytest.mark.full
def test_the_verb_finds_the_same() -> None:
    """`static_deflection` of a robot file with the hub held."""
    robot = beam_alone(
        elements=4, words="theory: exact, poisson: 0.31, ", length=LENGTH, young=YOUNG, planar=False,
        section=f"{{shape: rectangle, width: {WIDE}, height: {THIN}}}",
    )  # fmt: skip
    wrench = [[0, LOAD * np.cos(a), LOAD * np.sin(a), 0, 0, 0] for a in ANGLES]
    found = fp.static_deflection(robot, hub(np.zeros(len(ANGLES))), wrench=wrench, sequence=True)
    expected = np.array([our_tip(4, a) for a in ANGLES]) + np.array([LENGTH, 0, 0])
    assert np.abs(found.position.values - expected).max() < SAME * LENGTH
