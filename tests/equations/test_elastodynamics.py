"""Beams in legs: DualEMPS against independent reference values, rigid limits, direct after inverse, power balance."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import flexapod as fp
from flexapod.equations.elastodynamics.assembly import independent
from flexapod.equations.elastodynamics.dynamics import elastic_forward_dynamics, elastic_inverse_dynamics, elastic_mass_matrix
from flexapod.kernels import Kernel, compile_kernel
from flexapod.robot.chain import closure
from flexapod.robot.geometry import Pose
from flexapod.robot.mobility import move

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
REFERENCE = json.loads((DATA / "dualemps.json").read_text())
ORDER = ["1.q11", "2.q21", "1.13.u", "1.13.v", "1.13.theta", "2.23.u", "2.23.v", "2.23.theta", "1.16.u", "1.16.v", "1.16.theta"]
"""Coordinates of the reference: sliders, then elastic coordinates of links 13, 23, 16."""

STATES = 1e-8
"""As the reference suggests; agreement is 1e-12."""

FREQUENCIES = 1e-4
"""The reference prints six digits of 14.207 ... 436.197 Hz."""


@cache
def robot() -> fp.Robot:
    return fp.load(DATA / "dualemps.yaml")


@cache
def compiled(which: str) -> tuple[Kernel, np.ndarray]:
    make = {"mass": elastic_mass_matrix, "inverse": elastic_inverse_dynamics, "forward": elastic_forward_dynamics}[which]
    program, values = make(robot()), robot().values
    names = [p.name for p in program.signature.parameters]
    return compile_kernel(program, zeros=robot().zeros & set(names)), np.array([values[n] for n in names])


def jacobian(q: list[np.ndarray], home: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Residuals and derivatives of both loops by all coordinates and the platform twist."""
    parts = [closure(leg, own, home) for leg, own in zip(robot().legs, q, strict=True)]
    rows, first = sum(len(p[0]) for p in parts), len(q[0])
    J, split = np.zeros((rows, first + len(q[1]) + 6)), len(parts[0][0])
    J[:split, :first], J[split:, first:-6] = parts[0][1], parts[1][1]
    J[:split, -6:], J[split:, -6:] = parts[0][2], parts[1][2]
    return np.concatenate([p[0] for p in parts]), J


def state(x: np.ndarray, xd: np.ndarray) -> dict[str, np.ndarray]:
    """Kernel inputs of a state given in the reference's coordinates: loops closed in NumPy."""
    names, home = list(robot().coordinates), robot().home
    flat, given = np.concatenate([leg.home for leg in robot().legs]), np.zeros(len(names) + 6, dtype=bool)
    for name, value in zip(ORDER, x, strict=True):
        flat[names.index(name)], given[names.index(name)] = value, True
    first = len(robot().legs[0].home)
    q = [flat[:first], flat[first:]]
    for _ in range(50):
        r, J = jacobian(q, home)
        if np.linalg.norm(r) < 1e-15:
            break
        step = -np.linalg.pinv(J * ~given, rcond=1e-10) @ r * ~given
        q, home = move(q, home, step)
    _, J = jacobian(q, home)
    rate = np.zeros(len(given))
    for name, value in zip(ORDER, xd, strict=True):
        rate[names.index(name)] = value
    rate -= np.linalg.pinv(J * ~given, rcond=1e-10) @ (J @ rate) * ~given
    elastic = [names.index(n) for n in robot().elastic_names]
    flat = np.concatenate(q)
    return {
        "position": home.position, "rotation": home.rotation, "velocity": rate[-6:-3], "angular_velocity": rate[-3:],
        "elastic": flat[elastic], "elastic_velocity": rate[elastic], "guess": flat,
    }  # fmt: skip


def in_reference(found: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias in the reference's coordinates."""
    free, names = independent(robot()), robot().elastic_names
    S = np.zeros((11, len(free)))
    S[:2] = found["actuator_map"]
    for j, name in enumerate(ORDER[2:]):
        S[2 + j, free.index(6 + names.index(name))] = 1.0
    back, offset = np.linalg.inv(S), np.append(found["actuator_bias"], np.zeros(9))
    M = back.T @ found["mass_matrix"] @ back
    return M, back.T @ found["bias"] - M @ offset


def evaluate(which: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    kernel, values = compiled(which)
    return kernel(parameters=values, **{i.name: inputs[i.name] for i in kernel.signature.inputs})


def share(found: np.ndarray, expected: list[float] | np.ndarray) -> float:
    expected = np.array(expected)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def test_mass_matrix_at_rest() -> None:
    M, _ = in_reference(evaluate("mass", state(np.zeros(11), np.zeros(11))))
    assert share(M, REFERENCE["mass_matrix_q0"]) < STATES
    assert np.abs(M - M.T).max() < 1e-14 * np.abs(M).max()


@pytest.mark.parametrize("case", range(len(REFERENCE["states"])))
def test_states(case: int) -> None:
    """Mass matrix, inverse and direct model, passive joints of the reference states."""
    s = REFERENCE["states"][case]
    inputs = state(np.array(s["x"]), np.array(s["xdot"]))
    M, _ = in_reference(evaluate("mass", inputs))
    assert share(M, s["mass_matrix"]) < STATES
    q12, q22, _ = s["passive_q12_q22_q25"]
    names = list(robot().coordinates)
    assert abs(inputs["guess"][names.index("1.q12")] - q12) < 1e-12
    assert abs(inputs["guess"][names.index("2.q22")] - q22) < 1e-12
    order = [robot().elastic_names.index(n) for n in ORDER[2:]]
    drive = evaluate("inverse", {**inputs, "actuator_acceleration": np.array(s["qa_ddot"])})
    assert share(drive["force"], s["nofriction"]["tau"]) < STATES
    assert share(drive["elastic_acceleration"][order], s["nofriction"]["qe_ddot"]) < STATES
    moved = evaluate("forward", {**inputs, "force": np.array(s["nofriction"]["forward_tau"])})
    assert share(moved["actuator_acceleration"], s["nofriction"]["forward_qa_ddot"]) < STATES
    assert share(moved["elastic_acceleration"][order], s["nofriction"]["forward_qe_ddot"]) < STATES


def test_natural_frequencies_with_locked_sliders() -> None:
    M, _ = in_reference(evaluate("mass", state(np.zeros(11), np.zeros(11))))
    K = np.zeros((9, 9))
    for beam in [e for found in robot().beams.values() for e in found]:
        leg = next(name for name, found in robot().beams.items() if beam in found)
        first = ORDER.index(f"{leg}.{beam.name.removesuffix('.beam1')}.u") - 2
        K[first : first + 3, first : first + 3] = beam.body.K_ee
    found = np.sqrt(scipy.linalg.eigh(K, M[2:, 2:], eigvals_only=True))[:6] / (2 * np.pi)
    assert np.allclose(found, REFERENCE["frequencies_hz_locked_actuators_q11_q21_0"]["one_element_as_printed"], rtol=FREQUENCIES)


def test_direct_after_inverse_is_the_identity() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        x = np.append(random.uniform(-0.05, 0.05, 2), random.uniform(-1, 1, 9) * np.tile([1e-5, 3e-3, 1e-2], 3))
        inputs = state(x, random.uniform(-0.5, 0.5, 11) * np.append([1, 1], np.tile([0.01, 1, 3], 3)))
        wanted = random.uniform(-2, 2, 2)
        drive = evaluate("inverse", {**inputs, "actuator_acceleration": wanted})
        moved = evaluate("forward", {**inputs, "force": drive["force"]})
        assert np.allclose(moved["actuator_acceleration"], wanted, atol=1e-9)
        scale = np.abs(drive["elastic_acceleration"]).max()
        assert np.abs(moved["elastic_acceleration"] - drive["elastic_acceleration"]).max() < 1e-9 * scale


def test_dynamics_verbs_refuse_beams_by_name() -> None:
    """Rigid equations would lose the beams' mass in silence."""
    home = fp.State(position=robot().home.position, rotation=robot().home.rotation)
    for verb in (fp.inverse_dynamics, fp.mass_matrix, fp.energy):
        with pytest.raises(fp.InputError, match="flexible legs"):
            verb(robot(), home)
    with pytest.raises(fp.InputError, match="flexible legs"):
        fp.forward_dynamics(robot(), home, np.zeros(2))
