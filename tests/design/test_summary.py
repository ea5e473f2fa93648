"""Pareto fronts and running statistics against plain definitions."""

import json

import numpy as np
import pytest

from flexapod.design.summary import Summary, block_summary, pareto

ROUNDING = 1e-12
"""Sums in another order."""


def by_definition(costs: np.ndarray) -> list[int]:
    lower = [np.all(costs <= row, axis=1) & np.any(costs < row, axis=1) for row in costs]
    return [i for i, dominators in enumerate(lower) if not dominators.any()]


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
@pytest.mark.parametrize("levels", [4, 1000])
def test_front_is_what_nothing_dominates(objectives: int, levels: int) -> None:
    costs = np.random.default_rng(objectives).integers(0, levels, (300, objectives)).astype(float)  # few levels: many ties
    assert pareto(costs).tolist() == by_definition(costs)


def test_blocks_merge_to_the_whole() -> None:
    random = np.random.default_rng(5)
    x, values = random.random((900, 2)), random.normal(size=(900, 3))
    texts = ["too short" if i % 7 == 0 else "" for i in range(900)]
    signs = np.array([1.0, -1.0, 1.0])
    total = Summary(signs=signs, width=6)
    for start in range(0, 900, 250):
        part = slice(start, start + 250)
        total.add(block_summary(start, x[part], values[part], texts[part], signs))
        again = Summary(signs=signs, width=6)
        again.restore(json.loads(json.dumps(total.state())))
        assert again.state() == total.state()
    good = np.flatnonzero([t == "" for t in texts])
    assert total.designs == 900
    assert total.reasons == {"too short": 900 - len(good)}
    assert total.mean == pytest.approx(values[good].mean(axis=0), abs=ROUNDING)
    assert total.square == pytest.approx(((values[good] - values[good].mean(axis=0)) ** 2).sum(axis=0), rel=ROUNDING)
    assert total.lowest_at == [int(good[i]) for i in values[good].argmin(axis=0)]
    assert total.front[:, 0].astype(int).tolist() == [int(good[i]) for i in by_definition(values[good] * signs)]
