"""Calls of `flexapod.motions` that cannot work: wrong names of arguments, and motions that are none or have no samples."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexapod as fp

FUNCTIONS = {name: f for name in dir(fp.motions) if inspect.isfunction(f := getattr(fp.motions, name)) and name[0] != "_"}


def empty() -> fp.Motion:
    """A platform motion without samples."""
    zero = np.zeros((0, 3))
    return fp.Motion(
        time=np.zeros(0), position=zero, rotation=np.zeros((0, 3, 3)), velocity=zero, angular_velocity=zero,
        acceleration=zero, angular_acceleration=zero,
    )  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_names_of_arguments_are_refused_as_verbs_do(name: str) -> None:
    assert len(FUNCTIONS) > 40
    with pytest.raises(fp.InputError, match=name if name != "named_motion" else "name"):
        FUNCTIONS[name](colour=1)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(fp.InputError, match=r"^circle: missing a required argument: 'center'; it takes \(\*, center, radius, "):
        fp.motions.circle()  # type: ignore[call-arg]


COMBINED: dict[str, Callable[[Any], object]] = {
    "resample": lambda motion: fp.motions.resample(motion, samples=3),
    "slowed": lambda motion: fp.motions.slowed(motion, 2.0),
    "reverse": fp.motions.reverse,
    "offset": lambda motion: fp.motions.offset(motion, translation=[0, 0, 1]),
    "shifted": lambda motion: fp.motions.shifted(motion, 1.0),
    "concatenate": fp.motions.concatenate,
}


@pytest.mark.parametrize("verb", COMBINED)
def test_motions_that_are_none_or_have_no_samples(verb: str) -> None:
    with pytest.raises(fp.InputError, match=f"^{verb}: expected a Motion or an ActuatorMotion, got list"):
        COMBINED[verb]([1, 2])
    with pytest.raises(fp.InputError, match=f"^{verb}: the motion has no samples"):
        COMBINED[verb](empty())


def test_a_simulation_needs_samples() -> None:
    with pytest.raises(fp.InputError, match=r"^motion: has no samples; give one or more"):
        fp.simulate(fp.load("five-bar"), empty())
