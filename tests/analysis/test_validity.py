"""Measures of validity on results of flexible robots: their values by hand, and a warning exactly above the stated bounds."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.closed_legs import ClosedLegs
from flexapod.analysis.requests.results import dataset
from flexapod.analysis.requests.validity import BOUNDS, deflection_ratios, parts, spin_ratios, strains

DATA = Path(__file__).parents[1] / "data"
ROUNDING = 1e-12
"""Relative: measures by hand, a few products."""
ONE_ELEMENT = 5e-3
"""Of the first frequency of one element against the textbook's; found 4.7e-3."""
DIFFERENCES = 1e-7
"""Relative: central differences of rotations over 1e-6 s; found 2e-10."""

BEAM = """
flexapod: 1
name: one-beam
title: a beam on a motor
source: textbook
gravity: [0, 0, 0]
plane: xy
characteristic_length: 0.5
home: {position: [0.5, 0, 0]}
platform: {mass: 0.4, inertia: {diagonal: [1e-4, 1e-4, 1e-4]}}
legs:
  each:
    A:
      joints:
        motor: {type: revolute, from: base, to: link, axis: [0, 0, 1], actuated: true}
        clamp: {type: fixed, from: link, to: platform, at: [0.5, 0, 0]}
      bodies:
        link:
          flexible:
            {type: beam, stiffening: false, length: 0.5, section: {shape: rectangle, width: 0.01, height: 0.02},
             young: 70e9, density: 2700}
"""


@pytest.fixture(scope="module")
def beam(tmp_path_factory: pytest.TempPathFactory) -> fp.Robot:
    file = tmp_path_factory.mktemp("validity") / "one-beam.yaml"
    file.write_text(BEAM)
    return fp.load(file)


def caught(robot: fp.Robot, elastic: np.ndarray, at: object, **more: object) -> tuple[object, list[str]]:
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        found = dataset(robot, {"elastic": (("elastic_coordinate",), elastic, "m"), **more}, at)  # type: ignore[dict-item]
    return found, [str(w.message) for w in got if issubclass(w.category, fp.ValidityWarning)]


@pytest.mark.parametrize("load", [1.0, 5.0])
def test_end_load(beam: fp.Robot, load: float) -> None:
    """P L^2 / EI = 5 puts the linear tip at P L^3 / 3 EI = 1.667 L: the measure says so, and the result warns."""
    EI, L = 70e9 * 0.02 * 0.01**3 / 12, 0.5
    force = load * EI / L**2
    wrench = np.array([0.0, force, 0.0, 0.0, 0.0, 0.0])
    state = fp.ActuatorMotion(time=[0.0], position=[[0.0]], velocity=[[0.0]], acceleration=[[0.0]])
    with pytest.warns(fp.ValidityWarning, match=r"one-beam: link\.beam1 is deflected by .* of its length \(bound 0\.1"):
        found = fp.static_deflection(beam, state, wrench=wrench)
    assert found.deflection_ratio.dims == ("time", "flexible_part")
    assert float(found.deflection_ratio.sel(flexible_part="link.beam1")[0]) == pytest.approx(
        abs(float(found.elastic.sel(elastic_coordinate="link.v")[0])) / L, rel=ROUNDING
    )
    if load == 5.0:
        assert float(found.deflection_ratio.max()) > 1.0


def test_bounds_are_where_the_warning_begins(beam: fp.Robot) -> None:
    at = fp.ActuatorMotion(time=[0.0, 1.0], position=np.zeros((2, 1)), velocity=np.zeros((2, 1)), acceleration=np.zeros((2, 1)))
    edge = BOUNDS["deflection_ratio"]["linear"] * 0.5
    for size, expected in ((0.99, 0), (1.01, 1)):
        found, words = caught(beam, np.array([[0.0, 0.0, 0.0], [0.0, size * edge, 0.0]]), at)
        assert len(words) == expected
        assert float(found.deflection_ratio.max()) == pytest.approx(size * BOUNDS["deflection_ratio"]["linear"])  # type: ignore[attr-defined]
    assert "first at t = 1 s" in words[0]
    _, words = caught(beam, np.array([[np.nan] * 3, [0.0, 0.0, 0.0]]), at)
    assert not words, "samples that failed have a reason already"


@pytest.mark.parametrize(
    ("words", "law", "advice"),
    [
        ("stiffening: false", "linear", "Use `stiffening: true` or more elements"),
        ("stiffening: true", "stiffened", "Use `theory: exact` or more elements"),
        ("theory: exact, poisson: 0.3", "exact", "Use more elements"),
    ],
)
def test_every_law_has_its_bound_and_says_what_to_choose(tmp_path: Path, words: str, law: str, advice: str) -> None:
    file = tmp_path / "beam.yaml"
    file.write_text(BEAM.replace("stiffening: false", words))
    robot = fp.load(file)
    at = fp.ActuatorMotion(time=[0.0], position=np.zeros((1, 1)), velocity=np.zeros((1, 1)), acceleration=np.zeros((1, 1)))
    edge, spin = BOUNDS["deflection_ratio"][law] * 0.5, {"spin_ratio": (("flexible_part",), np.array([[0.5]]), "1")}
    below, above = (
        [text for text in caught(robot, np.array([[0.0, part * edge, 0.0]]), at)[1] if "is deflected" in text]
        for part in (0.99, 1.01)
    )
    assert not below
    (found,) = above
    assert advice in found
    spinning = caught(robot, np.zeros((1, 3)), at, **spin)[1]
    assert bool(spinning) == (law == "linear"), "stiffened elements have what a spin adds"


def test_strain_of_a_bent_and_stretched_beam(beam: fp.Robot) -> None:
    """Constant curvature: kappa h / 2 at both ends, and u / l beside it; above one per cent it warns with element and place."""
    kappa, stretch = 0.9, 5e-4  # 0.5 m long, 10 mm thick
    at = fp.ActuatorMotion(time=[2.5], position=np.zeros((1, 1)), velocity=np.zeros((1, 1)), acceleration=np.zeros((1, 1)))
    bent = np.array([[stretch, kappa * 0.5**2 / 2, kappa * 0.5]])
    assert strains(beam, bent) == pytest.approx(np.array([[kappa * 0.005 + stretch / 0.5]]), rel=ROUNDING)
    assert not [text for text in caught(beam, bent, at)[1] if "strained" in text]
    (found,) = [text for text in caught(beam, 3 * bent, at)[1] if "strained" in text]
    assert "is strained by 0.0165 of its length (bound 0.01, first at t = 2.5 s); elasticity is linear" in found


def state_of(robot: fp.Robot, q: np.ndarray, qd: np.ndarray) -> ClosedLegs:
    n = len(q)
    none, eye = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
    modes = np.zeros((n, len(robot.elastic_names) - len(robot.elastic_indices)))
    return ClosedLegs(
        joint_position=q, joint_velocity=qd, position=none, rotation=eye, velocity=none, angular_velocity=none, modes=modes,
        modes_velocity=modes,
    )  # fmt: skip


def test_spin_of_a_motor(beam: fp.Robot) -> None:
    """The frame of the beam turns with the motor; the first frequency of one element is within 0.5 % of the textbook's."""
    q, qd = np.zeros((1, 4)), np.array([[50.0, 0.0, 0.0, 9.0]])
    exact = 1.8751040687**2 * np.sqrt(70e9 * 0.01**2 / 12 / 2700.0) / 0.5**2
    found = spin_ratios(beam, state_of(beam, q, qd))
    assert found == pytest.approx(np.array([[50.0 / exact]]), rel=ONE_ELEMENT)


def test_spins_in_space_by_finite_differences() -> None:
    """World angular velocity of the links' frames from rotations a moment apart, at random coordinates and rates."""
    from flexapod.robot.leg_positions import link_poses

    robot = fp.load(DATA / "elastodynamics" / "tripteron-flexible.yaml")
    rng, n, step = np.random.default_rng(2), len(robot.coordinates), 1e-6
    q, qd = rng.uniform(-0.3, 0.3, (1, n)), rng.uniform(-2.0, 2.0, (1, n))
    found = spin_ratios(robot, state_of(robot, q, qd))[0]
    at = np.cumsum([0, *(len(leg.moving) for leg in robot.legs)])
    for value, part in zip(found, parts(robot), strict=True):
        assert part.leg is not None
        leg, own = robot.legs[part.leg], slice(at[part.leg], at[part.leg + 1])
        R0, R1 = (link_poses(leg, q[0, own] + s * step * qd[0, own])[part.root][0] for s in (-0.5, 0.5))
        W = (R1 - R0) / step @ (0.5 * (R0 + R1)).T
        spin = np.linalg.norm([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
        assert value * part.frequency == pytest.approx(spin, rel=DIFFERENCES)


def test_parts_have_names_of_their_own() -> None:
    robot = fp.load(DATA / "elastodynamics" / "tripteron-flexible.yaml")
    names = [part.name for part in parts(robot)]
    assert names[:2] == ["X.proximal.beam1", "X.distal.beam1"]
    assert len(set(names)) == len(names) == 6


def test_flexible_platform() -> None:
    """Displacement of the joints by the platform's size; spin of the platform by its first mode."""
    robot = fp.load("gough-stewart-flexible")
    e = np.zeros((1, len(robot.elastic_names)))
    e[0, 0] = 0.7
    still = np.zeros((1, 3))
    at = fp.State(position=still, rotation=np.eye(3)[None], velocity=still, angular_velocity=[[0.0, 0.0, 40.0]])
    corners = np.array([leg.closing.on_platform.position for leg in robot.legs])
    moved = max(np.linalg.norm(0.7 * robot.joint_shapes[leg.name][:, 0]) for leg in robot.legs)
    size = max(np.linalg.norm(a - b) for a in corners for b in corners)
    assert deflection_ratios(robot, e)[0, 0] == pytest.approx(moved / size, rel=ROUNDING)
    found, words = caught(robot, e, at)
    assert robot.flexible_platform is not None
    expected = 40.0 / robot.flexible_platform.angular_frequency[0]
    assert float(found.spin_ratio.max()) == pytest.approx(expected, rel=ROUNDING)  # type: ignore[attr-defined]
    assert any("platform spins at" in text for text in words)


def test_rigid_robots_have_no_measures() -> None:
    robot = fp.load("stewart-3-3")
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    assert "deflection_ratio" not in fp.inverse_kinematics(robot, state)
    assert parts(robot) == ()


def test_a_plate_warns_from_half_its_thickness_on() -> None:
    """15 mm thick: joints may move by 7.5 mm against the frame; modes from elsewhere by 0.1 of the size."""
    robot = fp.load("gough-stewart-flexible")
    (part,) = parts(robot)
    assert part.bound("deflection_ratio") * part.length == pytest.approx(7.5e-3, rel=ROUNDING)
    unit = deflection_ratios(robot, np.eye(10)[:1])[0, 0] * part.length
    at = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    for size, expected in ((0.99, False), (1.01, True)):
        e = size * 7.5e-3 / unit * np.eye(10)[0]
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            fp.deformation(robot, at, elastic=e)
        assert any("from half its thickness on a plate stiffens by stretching" in str(w.message) for w in got) == expected
    other = robot.with_flexible_body("platform", robot.flexible_platform)
    assert parts(other)[0].bound("deflection_ratio") == BOUNDS["deflection_ratio"]["linear"]


@pytest.mark.parametrize(
    "verb", ["inverse_kinematics", "point_motion", "energy", "mass_matrix", "deformation", "inverse_dynamics"]
)
def test_every_verb_that_takes_a_deformation_warns(verb: str) -> None:
    robot = fp.load("gough-stewart-flexible")
    at = fp.State(position=robot.home.position, rotation=robot.home.rotation, elastic=0.2 * np.eye(10)[0])
    place = ("platform",) if verb == "point_motion" else ()
    with pytest.warns(fp.ValidityWarning, match=r"platform is deflected by 0\.0628 of its length \(bound 0\.0075\)"):
        getattr(fp, verb)(robot, at, *place)


@pytest.mark.parametrize("verb", ["inverse_kinematics", "point_motion", "energy", "mass_matrix"])
def test_flexible_legs_warn_alike(beam: fp.Robot, verb: str) -> None:
    at = fp.State.from_actuators(beam, [0.0], elastic=[0.0, 0.2, 0.5])
    options = {"coordinates": "independent"} if verb == "mass_matrix" else {}
    with pytest.warns(fp.ValidityWarning, match=r"link\.beam1 is deflected by 0\.4 of its length"):
        getattr(fp, verb)(beam, at, *(("platform",) if verb == "point_motion" else ()), **options)


def test_a_plate_with_all_joints_at_one_place_has_no_bound_by_thickness() -> None:
    part = replace(parts(fp.load("gough-stewart-flexible"))[0], length=0.0)
    assert part.bound("deflection_ratio") == BOUNDS["deflection_ratio"]["linear"]
