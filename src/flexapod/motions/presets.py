"""Motions by name, for the command line and for quick trials: `named_motion("cosine-z", amplitude=0.1)`.

Each preset is a function with defaults; its options are the function's arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.calls import by_name
from flexapod.errors import InputError, did_you_mean
from flexapod.motions import papers
from flexapod.motions.actuator_paths import actuator_polygon, joint_square
from flexapod.motions.argument_checks import finite_array, number
from flexapod.motions.coordinates import constant_acceleration_motion, harmonic_motion, one_minus_cos
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.motions.paths import circle, line
from flexapod.motions.pose_path import through_poses
from flexapod.motions.rotations import check_sequence

HOME = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Start of the presets where none is given: position [m] and angles [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Preset:
    """A motion by name: the function that makes it, values it is called with unless given otherwise, one line of text."""

    name: str
    build: Callable[..., Motion | ActuatorMotion]
    defaults: dict[str, Any]
    doc: str

    def options(self) -> dict[str, Any]:
        """Every option with its default; `inspect.Parameter.empty` where one has to be given."""
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: self.defaults.get(p.name, p.default) for p in parameters if p.name != "coordinate"}


def _single_cosine(
    *, coordinate: str, start: ArrayLike = HOME, amplitude: float, omega: float = 2 * np.pi / 3, duration: float = 3.0,
    samples: int = 301, sequence: str = "XYZ",
) -> Motion:  # fmt: skip
    """start + amplitude (1 - cos(omega t)) in one coordinate: x, y, z, or an angle about X, Y, Z."""
    change = np.zeros(6)
    if coordinate in "xyz":
        change["xyz".index(coordinate)] = number("amplitude", amplitude)
    elif coordinate in check_sequence(sequence).upper():
        change[3 + sequence.upper().index(coordinate)] = number("amplitude", amplitude)
    else:
        raise InputError(f"sequence: {sequence!r} has no angle about {coordinate.lower()}")
    return one_minus_cos(finite_array("start", start, (6,)), change, omega, duration, samples, sequence)


def _presets() -> dict[str, Preset]:
    result: dict[str, Preset] = {}

    def add(name: str, doc: str, build: Callable[..., Motion | ActuatorMotion], **defaults: object) -> None:
        result[name] = Preset(name=name, build=build, defaults=defaults, doc=doc)

    back = "there and back by a cosine (Staicu Eq. 6)"
    for axis in "xyz":
        add(f"cosine-{axis}", f"along {axis}, {back}", partial(_single_cosine, coordinate=axis), amplitude=0.05)
    for axis in "xyz":
        rotation = partial(_single_cosine, coordinate=axis.upper())
        add(f"rotation-{axis}", f"about {axis}, {back}", rotation, amplitude=np.pi / 36)
    zero, up, rise = (0.0, 0.0, 0.0), (0.0, 0.0, 0.05), (0.0, 0.0, 0.05, 0.0, 0.0, 0.0)
    add("circle", "circle in a plane by speed, rpm or time law", circle, center=zero, radius=0.05, rpm=20.0)
    add("line", "straight line with a rotation, rest to rest", line, start=zero, end=up, duration=1.0)
    add("through-poses", "from pose to pose, at rest at each", through_poses, durations=1.0, rests=0.5)
    sine = "sine in any of the six coordinates"
    add("harmonic", sine, harmonic_motion, center=HOME, amplitude=rise, omega=2 * np.pi, duration=2.0)
    constant = "constant acceleration, reversed at half time (Kim Eq. 33)"
    add("constant-acceleration", constant, constant_acceleration_motion, start=HOME, acceleration=rise, duration=2.0)
    corners = "from corner to corner in actuator coordinates"
    add("actuator-polygon", corners, actuator_polygon, durations=1.0, rests=0.5)
    add("joint-square", "square of two actuator coordinates (Briot section 5)", joint_square, side=0.1)
    add("staicu", "test motions of the 3-3 Stewart platform (Staicu section 4)", papers.staicu_motion)
    add("sinatra", "test motions of the hexapod (Sinatra section 4)", papers.sinatra_motion)
    add("kim-circle", "circle of the HexaSlide (Kim Fig. 7)", papers.kim_circle)
    kim = "constant acceleration of the HexaSlide (Kim Eq. 33)"
    add("kim-constant-acceleration", kim, papers.kim_constant_acceleration)
    add("dualemps-square", "square in joint space of DualEMPS (Briot Fig. 7)", papers.dualemps_square)
    add("dualemps-circle", "circle of DualEMPS in slider coordinates (Briot Fig. 8)", papers.dualemps_circle)
    return result


PRESETS = _presets()
"""Every named motion."""


@by_name
def motion_names() -> dict[str, str]:
    """The named motions, each with one line of text."""
    return {name: preset.doc for name, preset in PRESETS.items()}


def _preset(name: str) -> Preset:
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS, f"known are {', '.join(PRESETS)}")
        raise InputError(f"no motion is called {name!r}; {hint}")
    return PRESETS[name]


@by_name
def describe_motion(name: str) -> str:
    """Description of a named motion and its options with their defaults, as text.

    Args:
        name: a key of `motion_names`.
    """
    preset = _preset(name)
    rows = [f"{name}: {preset.doc}"]
    for option, default in preset.options().items():
        rows.append(f"  {option}: " + ("has to be given" if default is inspect.Parameter.empty else repr(default)))
    return "\n".join(rows)


@by_name
def named_motion(name: str, **options: object) -> Motion | ActuatorMotion:
    """A motion by name; options replace the defaults that `describe_motion` shows.

    A rate given for the circle (speed, rpm or law) replaces the default one. Checked by: tests/motions/test_named_motions.py.

    Args:
        name: a key of `motion_names`.
        options: of that motion.
    """
    preset = _preset(name)
    known = list(preset.options())
    for option in options:
        if option not in known and option not in getattr(preset.build, "former", ()):
            hint = did_you_mean(option, known, f"known are {', '.join(known)}")
            raise InputError(f"{name}: there is no option {option!r}; {hint}")
    defaults = dict(preset.defaults)
    if name == "circle" and {"speed", "law"} & set(options):
        defaults.pop("rpm")
    arguments = defaults | options
    for option, default in preset.options().items():
        if default is inspect.Parameter.empty and option not in arguments:
            raise InputError(f"{name}: the option {option!r} has to be given")
    return preset.build(**arguments)
