"""The cross product of robots' geometry is NumPy's to the last bit: structural zeros follow it."""

import numpy as np

from flexapod.robot.geometry import cross


def test_the_bits_are_those_of_numpy() -> None:
    random = np.random.default_rng(3)
    for _ in range(500):
        a, b = random.normal(size=(2, 3)) * 10.0 ** random.uniform(-8, 8, (2, 1))
        a[random.integers(3)] *= random.integers(2)  # zeros among them
        np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
