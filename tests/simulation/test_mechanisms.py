"""Linkages of the IFToMM collection of benchmark problems, against integrations of their one equation of motion: Bricard's
over-constrained linkage, and a chain of four-bars that goes through its singular position."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import flexapod as fp

MECHANISMS = Path(__file__).parents[1] / "data" / "mechanisms"
G = 9.81
BALANCE = 1e-9
"""Of the energy exchanged, over 10 s."""
SAME = 1e-8
"""[rad] between two integrations over 10 s; the step of 1 ms leaves 1e-9 with the sixth power of the step."""
NEAR_DEAD_POINT = 0.01
"""[s] Ten steps of 1 ms, within which an implicit step before a dead point may not converge."""
BRANCH = 1e-11
"""[rad] between joints that a parallelogram keeps parallel: rounding, divided by 0.02 at the nodes of a step across."""
LOOP = 1e-12
"""Of rods of length 1: the loop closes to rounding."""


def run(name: str | Path, step: float, output_step: float = 0.01, **start: object) -> object:
    robot = fp.load(name if isinstance(name, Path) else MECHANISMS / f"{name}.yaml")
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation, **start)
    options = {"drive": "force", "force": [0.0], "method": "implicit", "watch": ("stroke",)}
    return fp.simulate(robot, state, duration=10.0, step=step, output_step=output_step, **options)


def rotated(axis: int, angle: complex) -> np.ndarray:
    """Rotation about an axis by a number that may be complex."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3, dtype=complex)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def bricard(theta: complex) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Centres and axes of the five rods, from both ends, with sin(phi) = -sin(theta) / (1 + sin(theta))."""
    phi = np.arcsin(-np.sin(theta) / (1 + np.sin(theta)))
    x, y, z = np.eye(3)
    A = rotated(1, theta)
    B = A @ rotated(2, phi)
    C = B @ rotated(0, theta)
    D = rotated(0, -phi)
    E = D @ rotated(2, -theta)
    ends = [np.zeros(3), A @ x, A @ x - B @ y, A @ x - B @ y + C @ z]
    other = [z + np.zeros(3), z - D @ y, z - D @ y + E @ x]
    assert np.abs(ends[3] - other[2]).max() < LOOP
    chain = [*ends[:3], ends[3], other[1], other[0]]
    rods = [chain[k + 1] - chain[k] for k in range(5)]
    return [chain[k] + rods[k] / 2 for k in range(5)], rods


def inertia_and_height(theta: float) -> tuple[float, float]:
    """Kinetic energy per half rate squared, and height of all centres: thin rods, derivatives by complex steps."""
    small = 1e-30
    there, rods = bricard(theta + 1j * small)
    mass = 0.0
    for centre, rod in zip(there, rods, strict=True):
        v, d = centre.imag / small, rod.imag / small
        mass += float(v @ v + d @ d / 12)
    return mass, float(sum(centre.real[1] for centre in there))


@pytest.mark.full
def test_bricard() -> None:
    """Ten seconds, in which the simulation changes the coordinates and rows by which it closes the loop."""
    found = run("bricard", 1e-3)
    assert "stopped" not in found.attrs
    assert float(np.abs(found.energy_residual).max()) < BALANCE * float(found.kinetic_energy.max())

    def rates(_: float, y: np.ndarray) -> list[float]:
        h = 1e-5
        (low, a), (mass, _), (high, b) = (inertia_and_height(y[0] + k * h) for k in (-1, 0, 1))
        return [y[1], -((high - low) / (2 * h) * y[1] ** 2 / 2 + G * (b - a) / (2 * h)) / mass]

    until = 2.0
    other = solve_ivp(rates, (0.0, until), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, t_eval=found.time.values[:201])
    assert np.abs(found.joint_position.values[:201, 0] - other.y[0]).max() < SAME
    again = run("bricard", 5e-4)
    assert np.abs(found.joint_position.values - again.joint_position.values).max() < SAME


def chain_of_four_bars(count: int) -> str:
    """The robot file of the collection's chain: `four-bars.yaml` is that of two."""
    bar = "bar: {mass: 1, com: [0, 0.5, 0], inertia: {diagonal: [0.08333333333333333, 0.0, 0.08333333333333333]}}"
    top = "top: {mass: 1, com: [0.5, 0, 0], inertia: {diagonal: [0.0, 0.08333333333333333, 0.08333333333333333]}}"
    lines = [
        "flexapod: 1", f"name: four-bars-{count}", "source: the IFToMM collection", "plane: xy", "gravity: [0, -9.81, 0]",
        "characteristic_length: 1",
        "home: {position: [0, 1, 0]}", 'platform: {body: "0.top"}', "legs:", "  each:",
    ]  # fmt: skip
    for k in range(count + 1):
        driven, far = ", actuated: true" if k == 0 else "", "platform" if k == 1 else f"{k - 1}.top"
        lines += [f'    "{k}":', f"      frame: {{position: [{k}, 0, 0]}}", "      joints:"]
        lines += [f"        foot: {{type: revolute, from: base, to: bar, axis: [0, 0, 1]{driven}}}"]
        if k < count:
            lines += ["        pin: {type: revolute, from: bar, to: top, at: [0, 1, 0], axis: [0, 0, 1]}"]
        if k > 0:
            lines += [f"        meet: {{type: revolute, from: bar, to: {far}, at: [0, 1, 0], on: [1, 0, 0], axis: [0, 0, 1]}}"]
        lines += ["      bodies:", f"        {bar}"] + ([f"        {top}"] if k < count else [])
    return "\n".join(lines) + "\n"


def check_chain(found: object, count: int) -> None:
    """Ten seconds and ten passages: on its branch, energy, and the equation of the pendulum that the chain is."""
    assert "stopped" not in found.attrs
    theta = found.joint_position.sel(joint="0.foot").values
    for k in range(count):
        for joint, sign in ((f"{k + 1}.foot", 1), (f"{k}.pin", -1)):
            assert np.abs(found.joint_position.sel(joint=joint).values - sign * theta).max() < BRANCH
    assert theta[-1] > 10 * np.pi
    assert float(np.abs(found.energy_residual).max()) < BALANCE * float(found.kinetic_energy.max())
    bars, couplers = count + 1, count  # about their feet, in translation
    inertia, weight = bars / 3 + couplers, (bars / 2 + couplers) * G
    other = solve_ivp(
        lambda t, y: [y[1], weight * np.sin(y[0]) / inertia], (0, 10), [0.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13,
        t_eval=found.time.values,
    )  # fmt: skip
    assert np.abs(theta - other.y[0]).max() < SAME


def test_four_bars_stay_on_their_branch() -> None:
    """Two four-bars as a pendulum that goes round: at every half revolution all bars lie in one line, where each could fold."""
    check_chain(run("four-bars", 2.5e-3, velocity=[-1.0, 0.0, 0.0]), 2)


@pytest.mark.full
@pytest.mark.parametrize(("count", "step"), [(2, 1e-3), (2, 1e-2), (40, 5e-3)])
def test_chains_of_four_bars(count: int, step: float, tmp_path: Path) -> None:
    """Other steps, and forty four-bars: 81 coordinates, of which the loops leave one."""
    file = tmp_path / "chain.yaml"
    file.write_text(chain_of_four_bars(count), encoding="utf-8")
    check_chain(run(file, step, velocity=[-1.0, 0.0, 0.0]), count)


def test_a_step_too_long_to_cross_ends_with_the_reason() -> None:
    """With steps of a radian no way leads across: the simulation ends before the position, on its branch."""
    found = run("four-bars", 0.2, output_step=0.2, velocity=[-1.0, 0.0, 0.0])
    assert "every choice of independent coordinates fails and branches of the motion meet" in found.attrs["stopped"]
    assert "Shorten the step" in found.attrs["stopped"]
    theta = found.joint_position.sel(joint="0.foot").values
    assert np.abs(found.joint_position.sel(joint="2.foot").values - theta).max() < BRANCH
    past = (theta[-1] - np.pi / 2) % np.pi
    assert past > 0.7 * np.pi  # the bars come to lie in one line


@pytest.mark.parametrize(
    ("method", "step"), [("implicit", 1e-3), ("radau", 1e-3), ("dopri", 1e-3), ("rk4", 1e-3), ("rk4", 3e-3), ("rk4", 1e-4)]
)
def test_a_drive_at_its_dead_point_is_named(method: str, step: float) -> None:
    """A rocker that is driven where it turns back: the simulation ends there, and says that the actuators lose control.

    Explicit steps jump to another branch there, or turn back with the wrong energy: what came out so is left out.
    """
    robot = fp.load(MECHANISMS / "rocker-drive.yaml")
    start = fp.State(position=robot.home.position, velocity=[-0.4, 0.0, 0.0], angular_velocity=[0.0, 0.0, 0.0])
    found = fp.simulate(robot, start, drive="force", force=[0.0], duration=1.0, step=step, method=method)
    assert found.attrs["stopped"] == "the actuators lose control of the platform: their Jacobian is singular"
    across = fp.simulate(robot, start, drive="force", force=[0.0], duration=1.0, step=1e-3, watch=("stroke",))
    rate = across.actuator_velocity.values[:, 0]
    rotating = across.time.values[np.flatnonzero(rate[1:] * rate[:-1] < 0.0)[0]]
    assert abs(found.attrs["stopped_at"] - rotating) <= NEAR_DEAD_POINT


def test_a_state_at_a_dead_point_is_named() -> None:
    """Crank and coupler in one line: every verb that takes a pose, and the start of a simulation."""
    robot = fp.load(MECHANISMS / "rocker-drive.yaml")
    coupler = np.hypot(0.5, 0.1)
    far = coupler + 0.2
    x = far**2 - 0.3**2 + 0.5**2  # where circles about the feet meet: their distance is 0.5
    u = np.array([x, np.sqrt(far**2 - x**2)]) / far
    relative = np.arctan2(u[1], u[0]) - np.arctan2(0.1, 0.5)
    rotation = [[np.cos(relative), -np.sin(relative), 0.0], [np.sin(relative), np.cos(relative), 0.0], [0.0, 0.0, 1.0]]
    at = fp.State(position=[*(0.2 * u), 0.0], rotation=rotation)
    with pytest.raises(fp.FlexapodError, match="a dead point of the actuators: the platform moves while they are at rest"):
        fp.inverse_dynamics(robot, at)
    with pytest.raises(fp.FlexapodError, match=r"the start of the simulation .* a dead point of the actuators"):
        fp.simulate(robot, at, drive="force", force=[0.0], duration=0.1, step=1e-3, method="rk4")
