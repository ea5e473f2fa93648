"""Values never compile: variants share kernels; losing a structural zero costs at most one compilation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.kernels import make_program
from flexapod.kernels.cache import forget
from flexapod.kernels.kernel import compilations
from support.plain import compile_kernel
from support.robots import drawn_motion, possible_motion, robot_named, run

SAME = 1e-13
"""Of the largest entry: the general kernel multiplies by zeros, the specialised one leaves them out."""

VALUES = [
    ("stewart-3-3", {"platform.mass": 61.0, "legs.cylinder.mass": 11.0, "legs.C.piston.mass": 7.5}),
    ("stewart-3-3", {"legs.slide.zero": 4.2, "legs.A.slide.zero": 4.9}),
    ("stewart-3-3", {"legs.A.hip.at": [2.4, 0, 0], "legs.B.ball.on": [1.3, 2.1, 0]}),
    ("stewart-3-3", {"home.position": [0, 0, 4.1]}),
    ("hexapod", {"legs.link.mass": 0.5, "legs.ball.at": [0, 0, 0.52]}),
    ("hexapod", {"legs.rail.zero": 0.3}),
    ("hexaslide", {"platform.mass": 12.0, "legs.rail.friction.viscous": 0.01}),
    ("gough-stewart", {"legs.3.IA": 30.0, "legs.2.1.d": 0.25}),
    ("hexa", {"legs.elbow.at": [0.26, 0, 0]}),
    ("delta", {"legs.wrist.at": [0, 0, 0.82], "legs.elbow.at": [0.31, 0, 0]}),
    ("tripteron", {"legs.elbow.at": [0, 0.42, 0]}),
    ("planar-4-prr", {"legs.pin.at": [0.52, 0, 0]}),
    ("five-bar", {"legs.proximal.mass": 0.5, "legs.left.tool.mass": 0.4}),
    ("dualemps-topology", {"legs.1.q17.inertial.M": 0.2, "legs.2.q22.start": 1.9}),
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """An empty cache, so that every compilation counts."""
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path))
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    forget()
    yield
    forget()


def solve(robot, detail="joints"):
    bound = fp.kernel(robot, "inverse_kinematics", detail=detail)
    state = {name: values[:1] for name, values in drawn_motion(robot, 1, seed=0).items()}
    state |= {"position": robot.home.position[None], "rotation": robot.home.rotation[None]}
    outputs, status = run(bound, state)
    assert np.all(status == 0)
    return bound, outputs


@pytest.mark.parametrize(("name", "changes"), VALUES, ids=lambda x: x if isinstance(x, str) else ",".join(x))
def test_values_compile_nothing(name: str, changes: dict[str, object]) -> None:
    robot = robot_named(name)
    bound, _ = solve(robot, "actuators")
    before = compilations()
    variant = robot.with_parameters(changes)
    other, _ = solve(variant, "actuators")
    assert compilations() == before
    assert other.compiled is bound.compiled
    assert variant.structure == robot.structure
    assert not np.array_equal(list(robot.values.values()), list(variant.values.values()))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("stewart-3-3", {"legs.A.ball.on": [1.25, 2.165, 0.1]}),
        ("stewart-3-3", {"legs.A.hip.at": [2.5, 0.1, 0.2]}),
        ("hexapod", {"legs.B.ball.on": [0.127, 0.272, 0.05]}),
        ("delta", {"legs.1.shoulder.at": [0.2, 0.01, 0.02]}),
        ("tripteron", {"legs.X.pin.at": [0.01, 0.4, 0]}),
    ],
)
def test_a_lost_zero_compiles_once(name: str, changes: dict[str, object]) -> None:
    robot = robot_named(name)
    bound, _ = solve(robot)
    before = compilations()
    variant = robot.with_parameters(changes)
    lost = [key for key in robot.zeros if variant.values[key] != 0.0]
    assert lost
    other, _ = solve(variant)
    assert compilations() == before + 1
    assert bound.compiled.zeros
    assert not other.compiled.zeros
    path, value = next(iter(changes.items()))
    third = variant.with_parameters({path: [1.001 * x for x in value]})
    solve(third)
    solve(robot)
    solve(variant)
    assert compilations() == before + 1


@pytest.mark.parametrize("name", ["stewart-3-3", "hexa", "delta", "five-bar", "tripteron", "planar-4-prr"])
def test_specialised_and_general_kernels_agree(name: str) -> None:
    robot = robot_named(name)
    special = fp.kernel(robot, "inverse_kinematics", detail="joints")
    general = compile_kernel(make_program(robot, "inverse_kinematics", {"detail": "joints"}), backend="numpy")
    assert special.compiled.zeros
    assert special.operations.total < general.operations.total
    motion = possible_motion(robot, 50, seed=4)
    ours, _ = run(special, motion)
    parameters = np.array([robot.values[p.name] for p in general.signature.parameters])
    guess = np.tile(np.concatenate([leg.home for leg in robot.legs]), (50, 1))
    given = {"guess": guess, **motion}
    theirs = general.batch({i.name: np.ascontiguousarray(given[i.name]) for i in general.signature.inputs}, parameters).outputs
    for key, values in theirs.items():
        if not key.startswith("constraint"):
            assert np.abs(ours[key] - values).max() <= SAME * max(1.0, np.abs(values).max()), key


def test_robots_of_equal_structure_share_a_kernel() -> None:
    """Two files that differ in numbers only; their names do not matter."""
    robot = robot_named("stewart-3-3")
    renamed = robot.with_parameters({"platform.mass": 51.0})
    assert fp.kernel(robot, "inverse_kinematics").compiled is fp.kernel(renamed, "inverse_kinematics").compiled
    assert robot_named("hexapod").structure != robot_named("hexaslide").structure


def test_the_branch_of_a_leg_is_structure_and_said_to_be(tmp_path) -> None:
    """Not every change of a file is a value: another branch compiles, and README and theory page say so."""
    robot = fp.load("hexa")
    solve(robot, "actuators")
    before = compilations()
    other = tmp_path / "other.yaml"
    other.write_text(fp.catalogue()["hexa"].read_text(encoding="utf-8").replace("branch: -1", "branch: 1"), encoding="utf-8")
    solve(fp.load(other), "actuators")
    assert compilations() > before
    root = Path(__file__).parents[2]
    for page in ("README.md", "docs/theory/kernels.md"):
        text = (root / page).read_text(encoding="utf-8")
        text = text.replace("a length never compiles anything. Everything else is structure", "")
        assert "never compiles anything." not in text
        assert re.search(r"branch`? of a leg", text), page
