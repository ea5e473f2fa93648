"""Plans: designs by index, whatever the blocks; strata of the Latin hypercube."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.design.plans import DesignPlan, permuted
from flexapod.design.variables import make_axes


@pytest.fixture(scope="module")
def axes() -> tuple:
    return make_axes(fp.load("stewart-3-3"), {"platform.mass": (20, 100), "legs.piston.mass": (5.0, 8.0, 10.0)})


@pytest.mark.parametrize("count", [1, 2, 7, 64, 1000, 4097])
def test_permutation_is_one(count: int) -> None:
    found = permuted(np.arange(count), count, 3, 1)
    assert np.array_equal(np.sort(found), np.arange(count))
    if count > 100:
        assert not np.array_equal(found, permuted(np.arange(count), count, 4, 1))
        assert abs(np.corrcoef(found, np.arange(count))[0, 1]) < 0.15


def test_latin_hypercube_has_one_design_per_stratum(axes: tuple) -> None:
    plan = DesignPlan(axes, "latin", 500, 1)
    x = np.concatenate([plan.designs(k, 64) for k in range(8)])
    strata = np.floor((x[:, 0] - 20) / 80 * 500).astype(int)
    assert np.array_equal(np.sort(strata), np.arange(500))
    assert set(x[:, 1]) == {5.0, 8.0, 10.0}


def test_sobol_blocks_are_parts_of_the_whole(axes: tuple) -> None:
    plan = DesignPlan(axes, "sobol", 256, 9)
    assert np.array_equal(np.concatenate([plan.designs(k, 64) for k in range(4)]), plan.designs(0, 256))


def test_grid_counts_and_corners(axes: tuple) -> None:
    plan = DesignPlan(axes, "grid", {"platform.mass": 5}, 1)
    x = plan.designs(0, 100)
    assert len(x) == plan.count == 15
    assert x[0].tolist() == [20.0, 5.0]
    assert x[-1].tolist() == [100.0, 10.0]


def test_table_is_kept(axes: tuple) -> None:
    plan = DesignPlan(axes, {"legs.piston.mass": [5.0, 8.0], "platform.mass": [30.0, 40.0]}, None, 1)
    assert plan.designs(0, 10).tolist() == [[30.0, 5.0], [40.0, 8.0]]
