"""Stiffer and stiffer beams: forces approach those of the same robot with rigid links, in proportion to the compliance."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from beam_robots import DATA, STEP, robot, sizes
from mass_points import cut
from multipliers import ClosedState, Multipliers
from package_models import evaluate, inputs_of

import flexapod as fp
from flexapod.description.schema_flexible import Flexible

YOUNG = {
    "planar-3-rrr": ("legs.proximal.flexible.young", "legs.distal.flexible.young"),
    "tripteron-flexible": ("legs.proximal.flexible.young", "legs.distal.flexible.young"),
    "gough-stewart-beams": ("legs.rod.flexible.young",),
}
FACTORS = (1e2, 1e4, 1e6)
RIGID = 1e-9
"""Both rigid models agree; forces of the platform's acceleration as the multipliers find it."""

PROPORTION = 0.02
"""How far a hundredth of the compliance may miss a hundredth of the error, relative; found 1e-3."""

ROUNDING = 1e-12
"""Of the largest force."""

LAST = 1e-8
"""Error at 1e6 times the stiffness, of the largest force; found 2e-9 for the slender 3-RRR."""


@cache
def frozen(name: str) -> fp.Robot:
    """The robot with rigid bars of the same mass instead of beams."""
    words = (DATA / f"{name}.yaml").read_text()
    specs = {
        link.body.flexible.model_dump_json(): link.body.flexible
        for leg in robot(name).legs
        for link in leg.links
        if link.body is not None and link.body.flexible is not None
    }
    blocks = re.findall(r"flexible: \{type: beam.*?\}, young: [^}]*\}", words)
    assert len(blocks) == len(specs)
    for block, spec in zip(blocks, specs.values(), strict=True):
        words = words.replace(block, bar(spec, robot(name).planar, in_table="body: rod" in words))
    path = Path(robot(name).description.path or "").with_suffix("")
    return _loaded(words, path.name)


def bar(spec: Flexible, planar: bool, in_table: bool) -> str:
    """A straight bar along x with the beam's mass: a line; spatial: with inertia about it, Timoshenko's with the section's."""
    assert spec.section is not None
    c, L, rho = cut(spec.section), float(spec.length or 0), float(spec.density or 0)
    m = rho * c.area * L
    across = float(spec.theory == "timoshenko")
    sections = rho * L * np.array([c.iy + c.iz, across * c.iy, across * c.iz]) * (not planar)
    inertia = sections + m * L**2 / 12 * np.array([0, 1, 1])
    if not in_table:
        return f"mass: {m!r}, com: [{L / 2!r}, 0, 0], inertia: {{diagonal: {inertia.tolist()}}}"
    xx, yy, zz = (inertia + m * L**2 / 4 * np.array([0, 1, 1])).tolist()
    return f"inertial: {{M: {m!r}, MX: {m * L / 2!r}, XX: {xx!r}, YY: {yy!r}, ZZ: {zz!r}}}"


def _loaded(words: str, name: str) -> fp.Robot:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}-rigid.yaml"
        file.write_text(words)
        return fp.load(file)


@cache
def rigid_case(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Actuator steps, rates and accelerations of a random state, and the package's rigid forces there."""
    m, random = Multipliers(frozen(name)), np.random.default_rng(3)
    n = len(m.driven)
    steps, rates, wanted = (
        m.actuator_steps(random.uniform(-1, 1, 6) * STEP),
        random.uniform(-0.5, 0.5, n),
        random.uniform(-2, 2, n),
    )
    none = np.zeros(0)
    s = m.closed_state(steps, none, rates, none, none)
    a = m.inverse(s, wanted)
    motion = fp.Motion(
        time=[0.0], position=s.p[:1], rotation=s.R[:1], velocity=s.v[None, :3], angular_velocity=(s.R[0] @ s.v[3:6])[None],
        acceleration=a.platform[None], angular_acceleration=a.angular[None],
    )  # fmt: skip
    force = fp.inverse_dynamics(frozen(name), motion).force.values[0]
    assert np.abs(force - a.force).max() < RIGID * np.abs(force).max()
    return steps, rates, wanted, force


def deformed(name: str, m: Multipliers, e: np.ndarray) -> ClosedState:
    steps, rates, _, _ = rigid_case(name)
    return m.closed_state(steps, e, rates, 0 * e, sizes(name))


@pytest.mark.parametrize("name", YOUNG)
def test_rigid_limit(name: str) -> None:
    _, _, wanted, rigid = rigid_case(name)
    errors = []
    for factor in FACTORS:
        stiff = robot(name).with_parameters({p: float(robot(name).parameter(p)) * factor for p in YOUNG[name]})  # type: ignore[arg-type]
        m = Multipliers(stiff)
        none = np.zeros(m.maximal.count)
        # e exactly as it is meant: at a stiffness of 1e14 N/m the last digits that closing the loops leaves are forces
        e = m.static_elastic(deformed(name, m, none), wanted)
        given = inputs_of(name, replace(deformed(name, m, e), e=e))
        found = evaluate(name, "inverse", {**given, "actuator_acceleration": wanted}, stiff)
        errors.append(np.abs(found["force"] - rigid).max() / np.abs(rigid).max())
    assert errors[-1] < LAST
    for soft, stiffer in pairwise(errors):
        assert abs(stiffer - soft / 100) < PROPORTION * soft / 100 + ROUNDING
