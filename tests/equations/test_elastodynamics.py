"""Beams in legs: DualEMPS against independent reference values, rigid limits, direct after inverse, power balance."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import flexapod as fp
from flexapod.equations.elastodynamics.closing import elastic_closing
from flexapod.equations.elastodynamics.dynamics import elastic_forward_dynamics, elastic_inverse_dynamics, elastic_mass_matrix
from flexapod.kernels.kernel import Kernel
from support.plain import compile_kernel

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
REFERENCE = json.loads((DATA / "dualemps.json").read_text())
ORDER = ["1.q11", "2.q21", "1.13.u", "1.13.v", "1.13.theta", "2.23.u", "2.23.v", "2.23.theta", "1.16.u", "1.16.v", "1.16.theta"]
"""Coordinates of the reference: sliders, then elastic coordinates of links 13, 23, 16."""

STATES = 1e-8
"""As the reference suggests; agreement is 1e-12."""

FREQUENCIES = 1e-4
"""The reference prints six digits of 14.207 ... 436.197 Hz."""
SYMMETRIC = 1e-14
"""Of the largest entry: rounding of sums."""
PASSIVE = 1e-13
"""Angles [rad] of passive joints, closed by Newton's method; found 7e-16."""
IDENTITY = 1e-11
"""Accelerations of 1 m/s^2, and elastic ones of the largest, over two solves; found 3e-15."""


@cache
def robot() -> fp.Robot:
    return fp.load(DATA / "dualemps.yaml")


@cache
def compiled(which: str) -> tuple[Kernel, np.ndarray]:
    make = {
        "mass": elastic_mass_matrix, "inverse": elastic_inverse_dynamics, "forward": elastic_forward_dynamics,
        "closing": elastic_closing,
    }[which.removesuffix("+")]  # fmt: skip
    program, values = make(robot(), friction=True) if which.endswith("+") else make(robot()), robot().values
    names = [p.name for p in program.signature.parameters]
    return compile_kernel(program, zeros=robot().zeros & set(names)), np.array([values[n] for n in names])


def arranged(values: np.ndarray | list[float]) -> np.ndarray:
    """Numbers in the reference's order as the robot orders its independent coordinates."""
    short = [name.split(".", 1)[1] if name.count(".") > 1 else name.split(".")[0] for name in ORDER]
    return np.array([np.asarray(values)[short.index(name)] for name in robot().independent])


def state(x: np.ndarray, xd: np.ndarray) -> dict[str, np.ndarray]:
    """Closed joint coordinates and rates of a state given in the reference's coordinates."""
    start = np.concatenate([leg.home for leg in robot().legs])
    for name, value in zip(ORDER, x, strict=True):
        start[robot().coordinates.index(name)] = value
    found = evaluate("closing", {"joint_position": start, "independent_velocity": arranged(xd)})
    return {"joint_position": found["closed_position"], "joint_velocity": found["closed_velocity"]}


def in_reference(found: np.ndarray) -> np.ndarray:
    """Entries of independent coordinates (last axes) in the reference's order."""
    order = [int(k) for k in np.argsort(arranged(np.arange(11.0)))]
    return found[np.ix_(*[order] * found.ndim)]


def evaluate(which: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    kernel, values = compiled(which)
    return kernel(parameters=values, **{i.name: inputs[i.name] for i in kernel.signature.inputs})


def share(found: np.ndarray, expected: list[float] | np.ndarray) -> float:
    expected = np.array(expected)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def test_mass_matrix_at_rest() -> None:
    M = in_reference(evaluate("mass", state(np.zeros(11), np.zeros(11)))["mass_matrix"])
    assert share(M, REFERENCE["mass_matrix_q0"]) < STATES
    assert np.abs(M - M.T).max() < SYMMETRIC * np.abs(M).max()


@pytest.mark.parametrize("case", range(len(REFERENCE["states"])))
def test_states(case: int) -> None:
    """Mass matrix, inverse and direct model, passive joints of the reference states."""
    s = REFERENCE["states"][case]
    inputs = state(np.array(s["x"]), np.array(s["xdot"]))
    M = in_reference(evaluate("mass", inputs)["mass_matrix"])
    assert share(M, s["mass_matrix"]) < STATES
    q12, q22, _ = s["passive_q12_q22_q25"]
    names = list(robot().coordinates)
    assert abs(inputs["joint_position"][names.index("1.q12")] - q12) < PASSIVE
    assert abs(inputs["joint_position"][names.index("2.q22")] - q22) < PASSIVE
    drive = evaluate("inverse", {**inputs, "actuator_acceleration": np.array(s["qa_ddot"])})
    assert share(drive["force"], s["nofriction"]["tau"]) < STATES
    assert share(in_reference(drive["independent_acceleration"])[2:], s["nofriction"]["qe_ddot"]) < STATES
    moved = evaluate("forward", {**inputs, "force": np.array(s["nofriction"]["forward_tau"])})
    assert share(moved["actuator_acceleration"], s["nofriction"]["forward_qa_ddot"]) < STATES
    assert share(in_reference(moved["independent_acceleration"])[2:], s["nofriction"]["forward_qe_ddot"]) < STATES


def test_natural_frequencies_with_locked_sliders() -> None:
    M = in_reference(evaluate("mass", state(np.zeros(11), np.zeros(11)))["mass_matrix"])
    K = np.zeros((9, 9))
    for beam in [e for found in robot().beams.values() for e in found]:
        leg = next(name for name, found in robot().beams.items() if beam in found)
        first = ORDER.index(f"{leg}.{beam.name.removesuffix('.beam1')}.u") - 2
        K[first : first + 3, first : first + 3] = beam.body.K_ee
    found = np.sqrt(scipy.linalg.eigh(K, M[2:, 2:], eigvals_only=True))[:6] / (2 * np.pi)
    printed = REFERENCE["frequencies_hz_locked_actuators_q11_q21_0"]["one_element_as_printed"]
    assert np.allclose(found, printed, rtol=FREQUENCIES, atol=0)


def test_direct_after_inverse_is_the_identity() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        x = np.append(random.uniform(-0.05, 0.05, 2), random.uniform(-1, 1, 9) * np.tile([1e-5, 3e-3, 1e-2], 3))
        inputs = state(x, random.uniform(-0.5, 0.5, 11) * np.append([1, 1], np.tile([0.01, 1, 3], 3)))
        wanted = random.uniform(-2, 2, 2)
        drive = evaluate("inverse", {**inputs, "actuator_acceleration": wanted})
        moved = evaluate("forward", {**inputs, "force": drive["force"]})
        assert np.allclose(moved["actuator_acceleration"], wanted, rtol=0, atol=IDENTITY)
        scale = np.abs(drive["independent_acceleration"]).max()
        assert np.abs(moved["independent_acceleration"] - drive["independent_acceleration"]).max() < IDENTITY * scale
