"""Flexible robots of the catalogue against maximal coordinates with multipliers: forces and elastic accelerations.

The oracle has linear beams, so `stiffening` is switched off (tests/elastodynamics/test_rotating_beam.py has what it adds), and
bodies of mass points, so a platform of generic modes replaces the plate of the 6-UPS, whose nodes have inertia of their own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from beam_robots import model, random_state
from package_models import elastic_part, evaluate, inputs_of

import flexapod as fp

AGREEMENT = 1e-9
"""Of the largest entry, as in test_formulations.py."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("planar-3-rrr-flexible", marks=pytest.mark.full),
        pytest.param("delta-flexible", marks=pytest.mark.full),
        pytest.param("gough-stewart-flexible-legs", marks=pytest.mark.full),
    ],
)
def test_inverse_model(name: str, tmp_path: Path) -> None:
    text = fp.catalogue()[name].read_text(encoding="utf-8")
    assert "type: beam, length" in text
    plate = "type: plate" in text
    if plate:
        head, tail = text[: text.index("platform:\n")], text[text.index("legs:\n") :]
        text = f"{head}platform: {{mass: 73, inertia: {{diagonal: [3.8, 3.8, 7.6]}}}}\n{tail}"
    (tmp_path / f"{name}.yaml").write_text(
        text.replace("type: beam, length", "type: beam, stiffening: false, length"), encoding="utf-8"
    )
    name = str(tmp_path / name) + "+platform" * plate  # beam_robots finds files beside its own by path
    m = model(name)
    s, wanted = random_state(name, 1)
    expected = m.inverse(s, wanted)
    found = evaluate(name, "inverse", {**inputs_of(name, s), "actuator_acceleration": wanted})
    for mine, theirs in (
        (found["force"], expected.force),
        (elastic_part(name, found["coordinate_acceleration"]), expected.elastic),
    ):
        assert np.abs(mine - theirs).max() < AGREEMENT * np.abs(theirs).max()
