"""Motions by name, and the package's names."""

import subprocess
import sys

import numpy as np
import pytest
from motion_checks import same

import flexapod.motions
from flexapod.errors import InputError
from flexapod.motions import ActuatorMotion, Motion, describe_motion, motion_names, named_motion, one_minus_cos, quintic

NEEDED = {
    "through-poses": {"positions": [(0, 0, 0), (0, 0, 0.1)]},
    "actuator-polygon": {"corners": [(0.0, 0.0), (0.1, 0.2)]},
}


@pytest.mark.parametrize("name", motion_names())
def test_every_name_gives_a_motion(name: str) -> None:
    motion = named_motion(name, **NEEDED.get(name, {}))
    assert isinstance(motion, Motion | ActuatorMotion)
    assert motion.formula is not None
    assert describe_motion(name).startswith(f"{name}: ")
    assert "coordinate" not in describe_motion(name).replace("coordinates", "")


def test_cosine_z_is_one_minus_cos() -> None:
    ours = named_motion("cosine-z", start=(0, 0, 0.9, 0, 0, 0), amplitude=-0.15, omega=2.0, duration=3.0, samples=61)
    same(ours, one_minus_cos((0, 0, 0.9, 0, 0, 0), (0, 0, -0.15, 0, 0, 0), 2.0, 3.0, 61), 0.0)


@pytest.mark.parametrize(("sequence", "place"), [("XYZ", 5), ("zyx", 3), ("YZX", 4)])
def test_rotation_z_turns_about_z_in_any_sequence(sequence: str, place: int) -> None:
    amplitude = np.zeros(6)
    amplitude[place] = 0.2
    ours = named_motion("rotation-z", amplitude=0.2, sequence=sequence)
    same(ours, one_minus_cos((0,) * 6, amplitude, 2 * np.pi / 3, 3.0, 301, sequence), 0.0)
    assert not ours.angular_velocity[:, :2].any()  # type: ignore[union-attr]


def test_circle_by_another_rate() -> None:
    assert named_motion("circle", speed=0.1).time[-1] == pytest.approx(2 * np.pi * 0.05 / 0.1)
    assert named_motion("circle", law=quintic(2.0)).time[-1] == 2.0


def test_description() -> None:
    text = describe_motion("through-poses").splitlines()
    assert text[0] == "through-poses: from pose to pose, at rest at each"
    assert text[1] == "  positions: has to be given"
    assert "  durations: 1.0" in text


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("cosin-z", {}, "no motion is called 'cosin-z'; did you mean 'cosine-z'?"),
        ("circle", {"radiu": 1.0}, "circle: there is no option 'radiu'; did you mean 'radius'?"),
        ("cosine-z", {"coordinate": "x"}, "cosine-z: there is no option 'coordinate'; known are "
         "start, amplitude, omega, duration, samples, sequence"),
        ("through-poses", {}, "through-poses: the option 'positions' has to be given"),
        ("rotation-y", {"sequence": "ZXZ"}, "sequence: 'ZXZ' has no angle about y"),
    ],
)  # fmt: skip
def test_errors(name: str, options: dict, text: str) -> None:
    with pytest.raises(InputError) as error:
        named_motion(name, **options)
    assert str(error.value) == text


def test_every_exported_name_exists() -> None:
    for name in flexapod.motions.__all__:
        assert getattr(flexapod.motions, name) is not None
        assert not isinstance(getattr(flexapod.motions, name), type(sys)), f"{name} is a module"
    with pytest.raises(AttributeError, match=r"^module 'flexapod.motions' has no attribute 'nothing'$"):
        _ = flexapod.motions.nothing


def test_import_is_light() -> None:
    code = "import sys, flexapod.motions; sys.exit(any(m in sys.modules for m in ('scipy', 'pandas', 'pyarrow')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
