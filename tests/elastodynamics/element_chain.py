"""Statics of a chain of beam elements by the package's element energy alone, for tests: kinematics, equilibrium and search here.

Element i stands on the tip of element i - 1, turned by a constant angle; the first on a clamp. No robot, no compiled kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from flexapod.equations.elastodynamics.beam_energy import elastic_energy
from flexapod.flexible import Section, beam
from flexapod.flexible.beam_element import BeamElement as Element
from flexapod.flexible.beams import beam_material
from flexapod.flexible.twisting import tip_twisting
from flexapod.robot.beams import ElasticElement, Law

ROUNDING = 1e-8
"""Steps, of the largest coordinate, that may be rounding: stretching is a million times stiffer than bending."""

STEPS, SETTLED = 60, 1e-12
"""Newton steps per load, and the last step, of the largest coordinate."""


class Numbers:
    """Values of one element, by the names that kernels read."""

    def __init__(self, element: ElasticElement) -> None:
        self.element = element

    def scalar(self, name: str) -> float:
        body, short = self.element.body, self.element.foreshortening
        if name == "length":
            return float(body.interfaces["tip"].r0[0])
        assert short is not None
        if name.startswith("flex.Qt."):
            assert self.element.twisting is not None
            c, i, k = (int(part) for part in name.split(".")[2:])
            return float(self.element.twisting[c - 1, i, k])
        _, kind, i, k = name.split(".")
        matrix = {"K": body.K_ee, "B": short.B, "B0": short.first, "B1": short.second}[kind]
        return float(matrix[int(i), int(k)])


def element(length: float, section: Section, young: float, law: Law, *, planar: bool, poisson: float = 0.0) -> ElasticElement:
    """An element of the package by itself."""
    theory = "timoshenko" if law == "exact" else "euler-bernoulli"
    made_of = beam_material(None, young, 1.0, poisson)
    body = beam(length=length, section=section, material=made_of, planar=planar, theory=theory)
    whole = Element(length=length, section=section, material=made_of, planar=planar, shear=law == "exact")
    return ElasticElement(
        name="e", root=0, axes=np.eye(3), links=tuple(range(len(body.names))), body=body, law=law,
        foreshortening=whole.foreshortening().of_tip(), twisting=tip_twisting(whole) if law == "stiffened" else None,
    )  # fmt: skip


@dataclass
class Chain:
    """Energy, position (3,) and rotation (3, 3) of the tip by all coordinates."""

    e: ca.SX
    energy: ca.SX
    position: ca.SX
    rotation: ca.SX

    def static(self, force: np.ndarray, moment: float = 0.0, loads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and tip position under a dead force and, in the plane, a moment about z; loads in equal parts."""
        part = ca.SX.sym("part")
        n = self.e.numel()
        angle = ca.sum1(self.e[list(range(2, n, 3))]) if moment else 0
        potential = self.energy - part * (ca.dot(ca.DM(force), self.position) + moment * angle)
        H, g = ca.hessian(potential, self.e)
        f = ca.Function("f", [self.e, part], [g, H, self.position])
        e = np.zeros(n)
        for k in range(1, loads + 1):
            before = np.inf
            for _ in range(STEPS):
                g_, H_, _ = (np.array(x) for x in f(e, k / loads))
                step = -np.linalg.solve(H_, g_[:, 0])
                step *= min(1.0, 0.5 / np.abs(step).max())
                e = e + step
                size = np.abs(step).max() / np.abs(e).max()
                if size < SETTLED or (size < ROUNDING and size > before / 2):  # stiff stretching: rounding falls no more
                    break
                before = size
            else:
                raise AssertionError(f"no equilibrium at {k} of {loads} loads")
        return e, np.array(f(e, 1.0)[2])[:, 0]


def chain(one: ElasticElement, count: int, rotations: tuple[float, ...] = ()) -> Chain:
    """`count` equal elements; before element i the frame turns about z by turns[i]."""
    N, length = one.shape.modes, float(one.body.interfaces["tip"].r0[0])
    e = ca.SX.sym("e", N * count)
    p, R, V = ca.SX.zeros(3), ca.SX.eye(3), ca.SX(0)
    for k in range(count):
        own = e[N * k : N * (k + 1)]
        if rotations:
            R = ca.mtimes(R, _about(2, ca.SX(rotations[k])))
        V = V + elastic_energy(Numbers(one), one, own)
        d = ca.vertcat(length + own[0], own[1], own[2] if N == 6 else 0)
        p = p + ca.mtimes(R, d)
        for axis, angle in ((2, own[2]),) if N == 3 else ((0, own[3]), (1, own[4]), (2, own[5])):
            R = ca.mtimes(R, _about(axis, angle))
    return Chain(e=e, energy=V, position=p, rotation=R)


def _about(axis: int, angle: ca.SX) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = ca.SX.eye(3)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R
