"""Four-bar and slider-crank with a flexible coupler: as robot files of two legs, and as Exudyn has them.

The platform is the rocker or the slider. The first leg is crank and coupler and ends in a pin on the platform, the second is the
joint between base and platform. Four-bar: crank 0.1, coupler 0.4, rocker 0.3, ground 0.4 m, a soft coupler, weight. Slider-crank:
crank 0.15, steel rod 0.3 m, 6 mm thick, slider 0.033 kg, crank at 150 rad/s (J. B. Jonker, Computer Methods in Applied Mechanics
76, 1989), spun up in 20 ms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from exudyn_plane import Plane, Rod, along

import flexapod as fp
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.beams import BeamChain
from flexapod.flexible.shape_integrals import shape_integrals
from flexapod.motions.motion import sampled

FILE = """
flexapod: 1
name: {name}
source: tests of flexible beams
gravity: [0, {gravity}, 0]
plane: xy
characteristic_length: 0.4
home: {{position: [{x}, {y}, 0], rotation: {{axis: [0, 0, 1], angle: {angle}}}}}
platform: {{mass: {mass}, com: [{centre}, 0, 0], inertia: {{about: origin, diagonal: [0, {inertia}, {inertia}]}}}}
legs:
  each:
    driving:
      table:
        - {{body: crank, mu: 1, sigma: 0, start: {start}, inertial: {{M: 0.2, MX: {crank_moment}, ZZ: {crank_inertia}}}}}
        - body: coupler
          sigma: 0
          d: {crank}
          start: {fold}
          flexible: {flexible}
      joints:
        end: {{type: revolute, from: coupler, to: platform, at: [{coupler}, 0, 0], axis: [0, 0, 1]}}
    ground:
      joints:
        guide: {guide}
"""
BEAM = "{{type: beam, length: {coupler}, elements: {elements}, young: {young}, density: {density}, section: {section}}}"
CRANK = 0.2
"""Mass of a crank [kg], a thin rod."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is compared at the times of a run: named signals, and the balance of ours, of the largest energy exchanged."""

    signals: dict[str, np.ndarray]
    balance: float = 0.0


def _load(**words: object) -> fp.Robot:
    folder, body = Path(mkdtemp()), words.get("body")
    if body is not None:
        fp.flexible.save_modes(body, folder / "coupler.npz")
    flexible = BEAM.format(**words) if body is None else "{type: modes, file: coupler.npz}"
    path = folder / f"{words['name']}.yaml"
    path.write_text(FILE.format(flexible=flexible, **words))
    return fp.load(path)


def _crank_words(length: float) -> dict[str, float]:
    return {"crank": length, "crank_moment": CRANK * length / 2, "crank_inertia": CRANK * length**2 / 3}


def _crank(plane: Plane, length: float, angle: float) -> tuple[int, int]:
    """The crank of `plane` on its pivot, and the marker of its pin."""
    body, centre = plane.rigid([CRANK, CRANK * length / 2, CRANK * length**2 / 3], np.zeros(2), angle)
    plane.join(plane.at(plane.ground, 0.0), plane.at(body, -centre), clamped=False)
    return body, plane.at(body, length - centre)


# -- four-bar --------------------------------------------------------------------------------------------------------------
A, L, B, GROUND, ROCKER = 0.1, 0.4, 0.3, 0.4, 0.3
START = np.pi / 2
WIDTH, HEIGHT, YOUNG, DENSITY = 0.004, 0.02, 1e9, 2700.0
FALL = np.linspace(0.0, 0.3, 31)


def _four_bar_angles() -> tuple[float, float, np.ndarray]:
    """Angles of coupler and rocker, and their pin, at the start."""
    pin, pivot = A * along(START), np.array([GROUND, 0.0])
    d = pivot - pin
    distance = float(np.hypot(*d))
    coupler = float(np.arctan2(d[1], d[0]) + np.arccos((L**2 + distance**2 - B**2) / (2 * L * distance)))
    end = pin + L * along(coupler)
    return coupler, float(np.arctan2(*(end - pivot)[::-1])), end


def coupler_of_modes(modes: int, young: float, elements: int = 8) -> fp.flexible.FlexibleBody:
    """The coupler as a finite element program gives it: matrices of a spatial chain, reduced to its ends and some modes."""
    parts = BeamElement(
        length=L / elements, section=fp.flexible.Section.rectangle(width=WIDTH, height=HEIGHT), planar=False, shear=False,
        material=replace(fp.flexible.material("steel"), young=young, density=DENSITY),
    )  # fmt: skip
    chain, x = BeamChain([parts] * elements, True), np.linspace(0.0, L, elements + 1)
    return fp.flexible.from_matrices(
        shape_integrals(chain.nodes).M_ee, chain.K, np.stack([x, 0 * x, 0 * x], axis=1), dofs_per_node=6, modes=modes,
        method="craig-bampton", interfaces={"root": 0, "tip": elements},
    )  # fmt: skip


@cache
def four_bar(elements: int, young: float = YOUNG, modes: int = 0) -> fp.Robot:
    """The robot of crank, coupler and rocker; with modes the coupler is a file of them instead of beam elements."""
    coupler, rocker, end = _four_bar_angles()
    return _load(
        body=coupler_of_modes(modes, young) if modes else None,
        name="four-bar", gravity=-9.81, x=end[0], y=end[1], angle=rocker, mass=ROCKER, centre=-B / 2, inertia=ROCKER * B**2 / 3,
        start=START, fold=coupler - START, coupler=L, elements=elements, young=young, density=DENSITY, **_crank_words(A),
        section=f"{{shape: rectangle, width: {WIDTH}, height: {HEIGHT}}}",
        guide=f"{{type: revolute, from: base, to: platform, at: [{GROUND}, 0, 0], on: [{-B}, 0, 0], axis: [0, 0, 1]}}",
    )  # fmt: skip


def four_bar_falls(elements: int, young: float = YOUNG, modes: int = 0) -> Seen:
    """Released at rest and undeformed: rotation of crank and rocker under the weight."""
    robot = four_bar(elements, young, modes)
    begin = fp.State.from_actuators(robot, [START], elastic="zero")
    result = fp.simulate(robot, begin, duration=FALL[-1], step=1e-3, output_step=FALL[1], friction=False)
    R = result.rotation.values
    signals = {"crank": result.actuator_position.values[:, 0], "rocker": np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))}
    exchanged = np.abs(result.kinetic_energy.values).max()
    return Seen(
        signals={name: x - x[0] for name, x in signals.items()},
        balance=float(np.abs(result.energy_residual.values).max() / exchanged),
    )


def four_bar_in_exudyn(elements: int, step: float = 1e-4, young: float = YOUNG) -> Seen:
    """The same in Exudyn."""
    plane = Plane(elements, gravity=-9.81)
    angle, rocker, _ = _four_bar_angles()
    crank, pin = _crank(plane, A, START)
    rod = Rod(
        length=L, line_mass=DENSITY * WIDTH * HEIGHT, bending=young * HEIGHT * WIDTH**3 / 12, axial=young * WIDTH * HEIGHT
    )  # fmt: skip
    root, *_, tip = plane.beam(A * along(START), angle, rod)
    plane.join(pin, plane.at(*root), clamped=False)
    body, centre = plane.rigid([ROCKER, ROCKER * B / 2, ROCKER * B**2 / 3], np.array([GROUND, 0.0]), rocker)
    plane.join(plane.at(plane.ground, GROUND), plane.at(body, -centre), clamped=False)
    plane.join(plane.at(*tip), plane.at(body, B - centre), clamped=False)
    sensors = {"crank": plane.watch(crank, 0.0, angle=True), "rocker": plane.watch(body, 0.0, angle=True)}
    plane.run(FALL[-1], step)
    found = {name: plane.seen(sensor, FALL)[:, -1] for name, sensor in sensors.items()}
    return Seen(signals={name: x - x[0] for name, x in found.items()})


# -- slider-crank ----------------------------------------------------------------------------------------------------------
THROW, ROD, BAR, SLIDER, SPEED, SPIN_UP = 0.15, 0.3, 6e-3, 0.033, 150.0, 0.02
STEEL = (2e11, 7870.0)
ROTATION = np.linspace(0.0, 0.06, 61)


def crank_law(t: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle, rate and acceleration: from rest to `SPEED` by a polynomial, then at constant speed."""
    s = np.clip(np.asarray(t, dtype=float) / SPIN_UP, 0.0, 1.0)
    angle = SPEED * SPIN_UP * (2.5 * s**4 - 3 * s**5 + s**6) + SPEED * np.maximum(np.asarray(t) - SPIN_UP, 0.0)
    return angle, SPEED * (10 * s**3 - 15 * s**4 + 6 * s**5), SPEED / SPIN_UP * 30 * s**2 * (1 - s) ** 2


@cache
def slider_crank(elements: int) -> fp.Robot:
    """The robot of crank, rod and slider."""
    return _load(
        name="slider-crank", gravity=0, x=THROW + ROD, y=0, angle=0, mass=SLIDER, centre=0, inertia=1e-6, start=0, fold=0,
        coupler=ROD, elements=elements, young=STEEL[0], density=STEEL[1], section=f"{{shape: tube, outer: {BAR}}}",
        **_crank_words(THROW), guide="{type: prismatic, from: base, to: platform, axis: [1, 0, 0]}",
    )  # fmt: skip


def slider_crank_rotates(elements: int) -> Seen:
    """Middle of the rod from its chord, and the slider, over a revolution and a half."""

    def law(t: np.ndarray) -> fp.ActuatorMotion:
        q, v, a = (x[:, None] for x in crank_law(t))
        return fp.ActuatorMotion(time=t, position=q, velocity=v, acceleration=a)

    motion = sampled(law, ROTATION[-1], 2001)
    span = {"duration": ROTATION[-1], "step": 1e-4, "output_step": ROTATION[1]}
    result = fp.simulate(slider_crank(elements), motion, drive="actuators", **span)
    nodes = _nodes(result.elastic.values, elements)
    balance = np.abs(result.energy_residual.values).max() / np.abs(result.supplied_work.values).max()
    signals = {"middle": _from_chord(nodes[0], nodes[elements // 2], nodes[-1]), "slider": result.position.values[:, 0]}
    return Seen(signals=signals, balance=float(balance))


def slider_crank_in_exudyn(elements: int, step: float = 1e-5) -> Seen:
    """The same in Exudyn."""
    plane = Plane(elements)
    crank, pin = _crank(plane, THROW, 0.0)
    area, inertia = np.pi * BAR**2 / 4, np.pi * BAR**4 / 64
    rod = Rod(length=ROD, line_mass=STEEL[1] * area, bending=STEEL[0] * inertia, axial=STEEL[0] * area)
    nodes = plane.beam(np.array([THROW, 0.0]), 0.0, rod)
    plane.join(pin, plane.at(*nodes[0]), clamped=False)
    slider, _ = plane.rigid([SLIDER, 0.0, 1e-6], np.array([THROW + ROD, 0.0]), 0.0)
    plane.join(plane.at(plane.ground, THROW + ROD), plane.at(slider, 0.0), clamped=True, slides=True)
    plane.join(plane.at(*nodes[-1]), plane.at(slider, 0.0), clamped=False)
    plane.prescribe(crank, lambda t: float(crank_law(t)[0]), lambda t: float(crank_law(t)[1]))
    sensors = [plane.watch(*nodes[k]) for k in (0, elements // 2, -1)]
    plane.run(ROTATION[-1], step)
    root, middle, tip = (plane.seen(sensor, ROTATION)[:, :2] for sensor in sensors)
    return Seen(signals={"middle": _from_chord(root, middle, tip), "slider": tip[:, 0]})


def _nodes(elastic: np.ndarray, elements: int) -> list[np.ndarray]:
    """Nodes of the rod in the frame of its root, each (n, 2), from the coordinates of its elements."""
    place, angle, length = np.zeros((len(elastic), 2)), np.zeros(len(elastic)), ROD / elements
    nodes = [place]
    for k in range(elements):
        u, v, rotation = elastic[:, 3 * k : 3 * k + 3].T
        c, s = np.cos(angle), np.sin(angle)
        place = place + np.stack([c * (length + u) - s * v, s * (length + u) + c * v], axis=1)
        angle = angle + rotation
        nodes.append(place)
    return nodes


def _from_chord(root: np.ndarray, middle: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Distance of the middle node from the line between the ends [m]."""
    d, m = tip - root, middle - root
    found: np.ndarray = (d[:, 0] * m[:, 1] - d[:, 1] * m[:, 0]) / np.linalg.norm(d, axis=1)
    return found
