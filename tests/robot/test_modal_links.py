"""Plates and files of modes as links of legs and as base frame: against beams, a serial stiffness, energy; what is refused."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parents[1] / "flexible"))
from test_fe_matrices import chain

BAR = fp.flexible.Section.rectangle(width=0.02, height=0.025)
TOOL = fp.State(position=[0.5, 0.0, 0.0])

ELEMENTS = 2e-3
"""Frequencies of four cubic elements against sixteen with four modes more than the tip: the sixth is 7e-4 away."""

MODES = 0.02
"""Modes three to six of the clamped arm begin at 400 Hz and take up part of a push of 64 Hz."""

MODAL = 2e-3
"""Four modes beside the tip of a chain of 16 elements: its fourth frequency is 1e-3 away, Euler's load 1e-4."""

SPUN = 5e-3
"""The same, spun at its first frequency: the second frequency out of the plane is 3e-3 away."""

HELD = 0.015
"""A strip of a plate that is held at a point instead of along its end."""

SIDEWAYS = 0.04
"""The same, pushed across in its plane, with six modes beside the tip (found 3.3 %)."""

LUMPED = 0.05
"""Second moments of a file by the masses of its nodes: 4.8 % with 16 elements, 1.3 % with 32, 0.4 % with 64."""

SERIES = 1e-3
"""Base plate and legs weigh 0.8e-3 of the platform, not all of it moves with it; half of that in frequency."""
FORMULA = 1e-9
"""Relative: a cantilever by its reduced chain; found 8e-15."""
ANOTHER_MESH = 1e-3
"""Relative: more modes are computed on a finer mesh; found 1e-4."""
KEPT = 1e-9
"""Of the work of the motor: RK4 in steps of 20 us."""
MESH_MODES = 1e-6
"""Relative: eigenvectors of the mesh, good to 1e-9, on both sides."""
FRAMES = 1e-3
"""Relative: the pose is that of the mean frame, and of the root."""

ARM = """
flexapod: 1
name: arm
source: written for this test
gravity: [0, 0, 0]
characteristic_length: 0.5
home: {{position: [0.5, 0, 0]}}
platform: {{body: A.tool}}
legs:
  each:
    A:
      joints:
        motor: {{type: revolute, from: base, to: arm, axis: [0, 0, 1], actuated: true}}
        wrist: {{type: fixed, from: arm, at: [{reach}, 0, 0], to: tool}}
      bodies:
        arm: {{flexible: {arm}}}
        tool: {{mass: 0.5, com: [0.05, 0, 0], inertia: {{diagonal: [1e-3, 2e-3, 3e-3]}}}}
"""
BEAM = (
    "{type: beam, length: 0.5, elements: 4, stiffening: false, material: steel,"
    " section: {shape: rectangle, width: 0.02, height: 0.025}}"
)


def arm_of_modes(folder: Path, modes: int = 4, method: str = "craig-bampton") -> Path:
    """A robot file whose arm is a file of modes, of a chain of sixteen beam elements."""
    ends = {"root": 0, "tip": 16}
    body = fp.flexible.from_matrices(*chain(16, BAR), dofs_per_node=6, modes=modes, method=method, interfaces=ends)
    fp.flexible.save_modes(body, folder / "arm.npz")
    return written(folder, ARM.format(arm="{type: modes, file: arm.npz}", reach=0.5))


def written(folder: Path, text: str) -> Path:
    (folder / "robot.yaml").write_text(text)
    return folder / "robot.yaml"


def frequencies(robot: fp.Robot) -> np.ndarray:
    return fp.natural_frequencies(robot, TOOL, prestress=False).frequency.values[:6]


def test_an_arm_of_modes_vibrates_as_one_of_beams(tmp_path: Path) -> None:
    modal, beams = fp.load(arm_of_modes(tmp_path)), fp.load(written(tmp_path, ARM.format(arm=BEAM, reach=0.5)))
    assert modal.elastic_names[:6] == tuple(f"arm.{c}" for c in ("u", "v", "w", "thx", "thy", "thz"))
    assert modal.elastic_names[6:] == tuple(f"arm.mode{k}" for k in (1, 2, 3, 4))
    assert "flexible, 10 coordinates" in str(modal.bodies)
    assert np.allclose(frequencies(modal), frequencies(beams), rtol=ELEMENTS, atol=0)


LENGTH = 0.5
STILL = fp.ActuatorMotion(time=[0.0], position=[[0.0]], velocity=[[0.0]], acceleration=[[0.0]])

LIGHT = ("mass: 0.5, com: [0.05, 0, 0], inertia: {diagonal: [1e-3, 2e-3, 3e-3]}", "mass: 1e-6, inertia: {diagonal: [0, 0, 0]}")
"""A tool as given, and one that nothing feels."""


def geometric(n: int, force: Callable[[float], float]) -> np.ndarray:
    """Geometric stiffness of a chain of n Hermite elements, six degrees of freedom per node, under an axial force by x [N]."""
    step, K = LENGTH / n, np.zeros((6 * (n + 1),) * 2)
    places, weights = np.polynomial.legendre.leggauss(5)
    for k in range(n):
        for s, weight in zip((places + 1) / 2, weights / 2, strict=True):
            slope = np.array([6 * (s * s - s) / step, 1 - 4 * s + 3 * s * s, 6 * (s - s * s) / step, 3 * s * s - 2 * s])
            for bend, rotation, sign in ((1, 5, 1.0), (2, 4, -1.0)):
                at = [6 * k + bend, 6 * k + rotation, 6 * k + 6 + bend, 6 * k + 6 + rotation]
                own = slope * [1.0, sign, 1.0, sign]
                K[np.ix_(at, at)] += force((k + s) * step) * weight * step * np.outer(own, own)
    return K


def stiffened_arm(folder: Path, tool: str = LIGHT[0], n: int = 16) -> fp.Robot:
    """The arm of modes with geometric stiffness per unit load: a free body, its loads balanced by inertia."""
    body = fp.flexible.from_matrices(
        *chain(n, BAR), dofs_per_node=6, modes=4, method="craig-bampton", interfaces={"root": 0, "tip": n}
    )
    nodes = body.nodes
    assert nodes is not None
    V = np.concatenate([nodes.Phi_d, nodes.Phi_r], axis=1).reshape(6 * (n + 1), -1)
    none = np.zeros_like(body.K_ee)

    def reduced(force: Callable[[float], float]) -> np.ndarray:
        return V.T @ geometric(n, force) @ V

    per_force = {"root": [reduced(lambda x: x / LENGTH - 1.0), none, none], "tip": [reduced(lambda x: x / LENGTH), none, none]}
    spin = np.zeros((*none.shape, 3, 3))
    spin[:, :, 0, 0] = reduced(lambda x: body.mass / LENGTH * x * (LENGTH - x) / 2.0)
    fp.flexible.save_modes(body.with_stiffening(per_force, spin), folder / "arm.npz")
    return fp.load(written(folder, ARM.format(arm="{type: modes, file: arm.npz}", reach=LENGTH).replace(LIGHT[0], tool)))


def test_an_arm_of_modes_is_drawn_in_as_a_reduced_beam_is(tmp_path: Path) -> None:
    """Seen from its root and in the displacements of its tip: minus B, and its moments over the mass, of the package's beams."""
    link = stiffened_arm(tmp_path).beams["A"][0].quadratic
    words = BEAM.replace("elements: 4, stiffening: false", "elements: 16, modes: 4")
    known = fp.load(written(tmp_path, ARM.format(arm=words, reach=LENGTH))).beams["A"][0].foreshortening
    assert link is not None
    assert known is not None
    assert link.columns == (0,)
    tip = np.ix_([1, 2, 4, 5], [1, 2, 4, 5])
    pairs = ((-link.tips[0], known.B, 1e-6), (link.first[0], known.first, 1e-6), (link.second[0, 0], known.second, LUMPED))
    for found, matrix, error in pairs:
        assert np.abs(found[tip] - matrix[tip]).max() < error * np.abs(matrix[tip]).max()
    assert not link.first[1:].any()
    assert not link.second[1:].any()


def clamped(K: np.ndarray, M: np.ndarray, count: int) -> np.ndarray:
    """Lowest frequencies [Hz] of a chain held at its first node."""
    return np.sqrt(eigh(K[6:, 6:], M[6:, 6:], eigvals_only=True)[:count]) / (2.0 * np.pi)


@pytest.mark.parametrize("load", [-2e4, 2e4])
def test_axial_load_softens_and_stiffens_an_arm_of_modes(tmp_path: Path, load: float) -> None:
    """Against a chain of 16 elements with its geometric stiffness; Euler's load of the cantilever is 34.5 kN."""
    M, K, _ = chain(16, BAR)
    c, inertia = np.array([0.05, 0.0, 0.0]), np.diag([1e-3, 2e-3, 3e-3])
    arm = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    M[-6:-3, -6:-3] += 0.5 * np.eye(3)
    M[-3:, -6:-3] += 0.5 * arm
    M[-6:-3, -3:] += 0.5 * arm.T
    M[-3:, -3:] += inertia + 0.5 * arm @ arm.T
    found = fp.natural_frequencies(stiffened_arm(tmp_path), STILL, wrench=[load, 0, 0, 0, 0, 0]).frequency.values[0, :4]
    assert found == pytest.approx(clamped(K + load * geometric(16, lambda x: 1.0), M, 4), rel=MODAL)


def test_an_arm_of_modes_buckles_at_eulers_load(tmp_path: Path) -> None:
    EI = fp.flexible.material("steel").young * BAR.iz
    found = fp.buckling(stiffened_arm(tmp_path), STILL, [-1e4, 0, 0, 0, 0, 0])
    assert float(found.critical_load[0, 0]) == pytest.approx(-(np.pi**2) * EI / (4.0 * LENGTH**2), rel=MODAL)


def test_spin_stiffens_an_arm_of_modes(tmp_path: Path) -> None:
    """Out of the plane of rotation at the spin of its first frequency: K + Omega^2 K_G of rho A (L^2 - x^2) / 2."""
    robot = stiffened_arm(tmp_path, LIGHT[1])
    M, K, _ = chain(16, BAR)
    spin = 2.0 * np.pi * clamped(K, M, 1)[0]
    mass = fp.flexible.material("steel").density * BAR.area
    pull = geometric(16, lambda x: spin**2 * mass * (LENGTH**2 - x**2) / 2.0)
    flap = [k for k in range(6, 6 * 17) if k % 6 in (2, 4)]
    exact = np.sqrt(eigh((K + pull)[np.ix_(flap, flap)], M[np.ix_(flap, flap)], eigvals_only=True)[:2]) / (2.0 * np.pi)
    motion = fp.ActuatorMotion(time=[0.0], position=[[0.0]], velocity=[[spin]], acceleration=[[0.0]])
    found = fp.moving_frequencies(robot, motion).frequency.values[0]
    assert [np.abs(found / f - 1.0).min() for f in exact] == pytest.approx([0.0, 0.0], abs=SPUN)


def test_an_arm_without_geometric_stiffness_says_so(tmp_path: Path) -> None:
    """P / k l with k = 3 EI / l^3 of the cantilever: 2 % are reached at 0.06 EI / l^2."""
    robot = fp.load(arm_of_modes(tmp_path))
    limit = 0.06 * fp.flexible.material("steel").young * BAR.iz / LENGTH**2
    small = fp.static_deflection(robot, STILL, wrench=[-0.99 * limit, 0, 0, 0, 0, 0])
    assert small.axial_ratio.values == pytest.approx(0.0198, rel=FORMULA)
    with pytest.warns(fp.ValidityWarning, match=r"arm.modal is pulled or pressed .* no geometric stiffness.*attach_geometric"):
        fp.static_deflection(robot, STILL, wrench=[-1.01 * limit, 0, 0, 0, 0, 0])


STRIP = (
    "{{type: plate, outline: [[0, -0.01], [0.5, -0.01], [0.5, 0.01], [0, 0.01]], thickness: 0.004, young: 2.1e11, poisson: 0,"
    " density: 7850, theory: kirchhoff, stiffening: {stiff}}}"
)


def strip(folder: Path, stiff: str = "true", axis: str = "[0, 0, 1]") -> fp.Robot:
    """A strip of a plate as an arm."""
    text = ARM.format(arm=STRIP.format(stiff=stiff), reach=LENGTH).replace("axis: [0, 0, 1]", f"axis: {axis}")
    return fp.load(written(folder, text))


@pytest.mark.compiled
def test_a_stiffened_plate_is_a_link_as_a_beam_is(tmp_path: Path) -> None:
    """Held at a point of its end it gives way a little there: frequencies 1 %, Euler's load of the strip 1 % below a beam's."""
    section = "section: {shape: rectangle, width: 0.02, height: 0.004}"
    beam = f"{{type: beam, length: 0.5, elements: 4, young: 2.1e11, poisson: 0, density: 7850, {section}}}"
    plate, beams = strip(tmp_path), fp.load(written(tmp_path, ARM.format(arm=beam, reach=LENGTH)))
    assert plate.elastic_names[:6] == tuple(f"arm.{c}" for c in ("u", "v", "w", "thx", "thy", "thz"))
    euler = np.pi**2 * 2.1e11 * 0.02 * 0.004**3 / 12.0 / (4.0 * LENGTH**2)
    for load in (-0.5 * euler, 0.0, 0.5 * euler):
        found, known = (
            fp.natural_frequencies(r, STILL, wrench=[load, 0, 0, 0, 0, 0]).frequency.values[0] for r in (plate, beams)
        )
        assert found[:3] == pytest.approx(known[:3], rel=HELD)
    assert float(fp.buckling(plate, STILL, [-10.0, 0, 0, 0, 0, 0]).critical_load[0, 0]) == pytest.approx(-euler, rel=HELD)
    fast = fp.ActuatorMotion(time=[0.0], position=[[0.0]], velocity=[[50.0]], acceleration=[[0.0]])
    found, known = (fp.moving_frequencies(robot, fast).frequency.values[0, :2] for robot in (plate, beams))
    assert found == pytest.approx(known, rel=HELD)


def test_a_link_of_many_modes_has_an_equilibrium(tmp_path: Path) -> None:
    """Beyond twelve coordinates equations of motion loop over modes; statics and frequencies know them as well."""
    few, many = (fp.natural_frequencies(strip(tmp_path, f"false, modes: {n}"), STILL).frequency.values[0, :2] for n in (4, 11))
    assert many == pytest.approx(few, rel=ANOTHER_MESH)


@pytest.mark.compiled
def test_a_plate_buckles_sideways_in_its_plane(tmp_path: Path) -> None:
    """A force at the tip of a narrow cantilever: 4.013 sqrt(EI GJ) / L^2 (Prandtl); of the compressed one Euler's load."""
    wide = STRIP.replace("0.01", "0.025").replace("0.004", "0.002").format(stiff="true, modes: 6")
    robot = fp.load(written(tmp_path, ARM.format(arm=wide, reach=LENGTH)))
    EI, GJ = 2.1e11 * 0.05 * 0.002**3 / 12.0, 1.05e11 * 0.05 * 0.002**3 / 3.0
    found = [float(fp.buckling(robot, STILL, [0, side, 0, 0, 0, 0]).critical_load[0, 1]) for side in (50.0, -50.0)]
    assert found == pytest.approx([4.013 * np.sqrt(EI * GJ) / LENGTH**2, -4.013 * np.sqrt(EI * GJ) / LENGTH**2], rel=SIDEWAYS)


@pytest.mark.full
@pytest.mark.parametrize("which", ["plate", "modes"])
def test_a_stiffened_link_keeps_its_energy(tmp_path: Path, which: str) -> None:
    """Turned about an oblique axis, so that it bends and twists in all directions; against the work of the motor."""
    robot = strip(tmp_path, "true, modes: 1", "[1, 2, 2]") if which == "plate" else stiffened_arm(tmp_path)
    size = 5.0 if which == "plate" else 60.0

    def torque(time: np.ndarray) -> np.ndarray:
        return size * np.sin(300.0 * np.asarray(time)).reshape(-1, 1)

    found = fp.simulate(robot, TOOL, drive="force", force=torque, duration=0.02, step=2e-5)
    assert np.abs(found.elastic.values).max() > 1e-4
    assert float(np.abs(found.energy_residual).max()) < KEPT * size * float(np.ptp(found.actuator_position.values))


def push(time: np.ndarray) -> np.ndarray:
    return 5.0 * np.sin(400.0 * np.asarray(time)).reshape(-1, 1)


@pytest.mark.full
def test_an_arm_of_modes_keeps_its_energy(tmp_path: Path) -> None:
    """What the motor gives is some millijoule; two and six modes beside the tip move it alike."""
    few = fp.simulate(fp.load(arm_of_modes(tmp_path, modes=2)), TOOL, drive="force", force=push, duration=0.02, step=2e-5)
    many = fp.simulate(fp.load(arm_of_modes(tmp_path, modes=6)), TOOL, drive="force", force=push, duration=0.02, step=2e-5)
    angle = many.actuator_position.values
    assert float(np.abs(few.energy_residual).max()) < KEPT * 5.0 * np.ptp(angle)
    assert np.abs(few.actuator_position.values - angle).max() < MODES * np.ptp(angle)


@pytest.mark.parametrize(
    ("arm", "reach", "words"),
    [
        ("{type: modes, file: arm.npz}", 0.4, r"leg A, body arm: it has no interface at \[0.4, 0.0, 0.0\] m, where a joint is"),
        ("{type: modes, file: arm.npz, modes: 3}", 0.5, "its 3 modes move only 3 of the"),
        ("{type: modes, file: arm.npz, stiffening: true}", 0.5, "leg A, body arm: stiffening needs the geometric stiffness"),
        ("{type: plate, outline: [[0.1, 0], [1, 0], [1, 1]], thickness: 0.01, material: steel}", 0.5,
         r"leg A, body arm: The point \(0, 0\) m is not on the plate"),
    ],
    ids=["elsewhere", "few modes", "not stiffened", "root outside"],
)  # fmt: skip
def test_what_cannot_be_a_link_is_said(tmp_path: Path, arm: str, reach: float, words: str) -> None:
    arm_of_modes(tmp_path)
    with pytest.raises(fp.FlexapodError, match=words):
        fp.load(written(tmp_path, ARM.format(arm=arm, reach=reach)))


def base_frame(folder: Path, ring: str, drive: str) -> fp.Robot:
    """Three struts between a base plate, held in its middle, and a heavy platform."""
    joints, bodies = ["mount: {type: fixed, from: base, to: ring}"], [f"ring: {ring}"]
    for name, angle in (("a", 0), ("b", 120), ("c", 240)):
        c, s = (round(float(f(np.radians(angle))), 12) for f in (np.cos, np.sin))
        foot, end = f"[{0.4 * c}, {0.4 * s}, 0.05]", f"[{0.4 * c}, {0.4 * s}, 0]"
        joints += [
            f"hip-{name}: {{type: revolute, from: ring, at: {foot}, axis: [{-s}, {c}, 0], to: tube-{name}}}",
            f"drive-{name}: {{type: prismatic, from: tube-{name}, to: rod-{name}, axis: [0, 0, 1], actuated: true{drive}}}",
            f"ball-{name}: {{type: spherical, from: rod-{name}, at: [0, 0, 0.55], to: platform, on: {end}}}",
        ]
        bodies += [f"{part}-{name}: {{mass: 0.01, inertia: {{diagonal: [1e-5, 1e-5, 1e-5]}}}}" for part in ("tube", "rod")]
    head = (
        "flexapod: 1\nname: frame\nsource: written for this test\ngravity: [0, 0, -9.81]\ncharacteristic_length: 0.5\n"
        "home: {position: [0, 0, 0.6]}\nplatform: {mass: 200, inertia: {diagonal: [4, 4, 8]}}\nlegs:\n  each:\n    A:\n"
    )
    lines = ["      joints:", *(f"        {j}" for j in joints), "      bodies:", *(f"        {b}" for b in bodies)]
    return fp.load(written(folder, head + "\n".join(lines) + "\n"))


@pytest.mark.full
def test_a_flexible_base_is_in_series_with_the_drives(tmp_path: Path) -> None:
    r"""The platform on its three struts: 1/k = c of the base plate + 1/(3 k of a drive), :math:`f = \sqrt{k/m}/2\pi`."""
    corners = [[round(float(0.5 * np.cos(a)), 9), round(float(0.5 * np.sin(a)), 9)] for a in np.radians(np.arange(0, 360, 60))]
    plate = (
        f"{{flexible: {{type: plate, outline: {corners}, thickness: 0.02, young: 2.1e11, poisson: 0.3, density: 7.8, modes: 1}}}}"
    )
    rigid, home = "{mass: 1, inertia: {diagonal: [1, 1, 2]}}", fp.State(position=[0.0, 0.0, 0.6])
    soft, stiff = ", stiffness: 2e6, inertia: 1", ""
    for ring, drive in ((plate, stiff), (plate, soft), (rigid, soft)):
        robot = base_frame(tmp_path, ring, drive)
        compliance = 0.0 if drive == stiff else 1.0 / 6e6
        if ring == plate:
            body = robot.beams["A"][0].body
            at = [body.names.index(name) for name in ("w", "2.w", "3.w")]
            load = np.zeros(len(body.names))
            load[at] = 1.0 / 3.0
            compliance += float(np.linalg.solve(body.K_ee, load)[at].mean())
        expected = np.sqrt(1.0 / compliance / 200.0) / (2.0 * np.pi)
        found = fp.natural_frequencies(robot, home, prestress=False).frequency.values
        assert np.abs(found / expected - 1.0).min() < SERIES, (ring, drive)
        assert fp.inverse_dynamics(robot, home).force.values == pytest.approx(np.full(3, 200.02 * 9.81 / 3.0), rel=SERIES)


PLATE = (
    "{type: plate, outline: [[-0.1, -0.45], [0.7, -0.45], [0.7, 0.45], [-0.1, 0.45]], thickness: 0.02, material: steel, modes: 2,"
    " reduction: {method: craig-bampton}}"
)
BALLS = {"A": (0.0, 0.0), "B": (0.6, 0.35), "C": (0.6, -0.35)}


def three_rps(folder: Path, *, carried: bool) -> fp.Robot:
    """A plate on three struts, as `platform.flexible` or as a body of the first leg, its origin at that leg's ball."""
    head = "flexapod: 1\nname: plate\nsource: written for this test\ngravity: [0, 0, -9.81]\ncharacteristic_length: 0.5\n"
    platform = "{body: A.plate}" if carried else f"{{flexible: {PLATE}}}"
    lines = [head + "home: {position: [0, 0, 0.6]}", f"platform: {platform}", "legs:", "  each:"]
    for name, (x, y) in BALLS.items():
        c, s = x - 0.4, y
        own = carried and name == "A"
        end = "to: plate" if own else f"to: platform, on: [{x}, {y}, 0]"
        lines += [
            f"    {name}:", "      joints:",
            f"        hip: {{type: revolute, from: base, at: [{x}, {y}, 0], axis: [{-s}, {c}, 0], to: tube}}",
            "        drive: {type: prismatic, from: tube, to: rod, axis: [0, 0, 1], actuated: true}",
            f"        ball: {{type: spherical, from: rod, at: [0, 0, 0.6], {end}}}", "      bodies:",
            *(f"        {part}: {{mass: 1, inertia: {{diagonal: [0.01, 0.01, 0.01]}}}}" for part in ("tube", "rod")),
            *([f"        plate: {{flexible: {PLATE}}}"] if own else []),
        ]  # fmt: skip
    return fp.load(written(folder, "\n".join(lines) + "\n"))


@pytest.mark.full
def test_a_plate_that_a_leg_carries_is_the_flexible_platform(tmp_path: Path) -> None:
    """One plate with the same interfaces and modes, in two sets of coordinates: joints of other legs are held where it bends."""
    one, other = three_rps(tmp_path, carried=False), three_rps(tmp_path, carried=True)
    home = fp.State(position=[0.0, 0.0, 0.6])
    found = [fp.natural_frequencies(robot, home, prestress=False).frequency.values[:5] for robot in (one, other)]
    assert np.allclose(found[0], found[1], rtol=MESH_MODES, atol=0)
    forces = [fp.inverse_dynamics(robot, home).force.values for robot in (one, other)]
    assert np.allclose(forces[0], forces[1], rtol=FRAMES, atol=0)


def test_force_elements_act_at_the_root_of_a_flexible_body(tmp_path: Path) -> None:
    text = ARM.format(arm=BEAM, reach=0.5)
    spring = "forces:\n  spring: {from: base, at: [0, 1, 0], to: A.arm, on: [0.5, 0, 0], stiffness: 10}\n"
    with pytest.raises(
        fp.FlexapodError, match=r"forces.spring: A\.arm is flexible, and a force element acts at its root alone; fix a rigid"
    ):
        fp.load(written(tmp_path, text + spring))


def test_words_of_a_reduction_keep_the_method_of_a_link(tmp_path: Path) -> None:
    """Without `method` a link is reduced by Craig and Bampton whatever else is written; a held outline is refused."""
    file, bodies = three_rps(tmp_path, carried=True).description.path, []
    assert file is not None
    text = file.read_text()
    for words in ("", "method: craig-bampton", "boundary: free"):
        file.write_text(text.replace("reduction: {method: craig-bampton}", f"reduction: {{{words}}}"))
        bodies.append(fp.load(file).beams["A"][0].body)
    for body in bodies[1:]:
        assert np.array_equal(body.K_ee, bodies[0].K_ee)
    file.write_text(text.replace("{method: craig-bampton}", "{boundary: clamped}"))
    with pytest.raises(fp.RobotFileError, match=r"reduction.boundary: clamped would hold the outline of a link"):
        fp.load(file)
