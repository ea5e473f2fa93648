"""Static deflection: reference values, equilibrium in other kernels, loads, quasi-static motion, messages."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model import flexible_tangent
from flexapod.analysis.model.flexible_tangent import tangent_of
from support.flexible_robots import REFERENCE, at_home, off, plate_robot, reference_robot, rigid, stiffened

REFERENCE_TOLERANCE = 1e-11
"""Relative: Newton ends at rounding; the reference is printed with 16 digits."""
LINEAR = 1e-3
"""Relative: deflections of a small load are linear up to its square."""
REST = 1e-8
"""Elastic acceleration [1/s^2] left at equilibrium, where terms of 1e3 cancel."""
RESIDUAL = 1e-10
"""Left of the equilibrium [N], where forces of 1e3 N cancel; found 2e-13."""
PRINTED = 0.01
"""Forces [N] written with two decimals."""
ALONE = 1e-14
"""Elastic coordinates of 5e-2 and less, in a batch of their own."""

SAME = 1e-13
"""Of the largest entry: two orders of the same sums; found 1e-16."""


def test_reference_equilibrium() -> None:
    robot = reference_robot("plate")
    found = fp.static_deflection(robot, at_home(robot))
    expected = REFERENCE["static_equilibrium"]
    assert off(found.force, expected["static_Gamma"]) < REFERENCE_TOLERANCE
    assert off(found.elastic, expected["static_qe"]) < REFERENCE_TOLERANCE
    assert float(found.residual) < RESIDUAL


def test_equilibrium_needs_the_deflection() -> None:
    """The plate robot holds with 1918 N at most; undeformed it would need 9660 N and still accelerate."""
    robot = reference_robot("plate")
    state = at_home(robot)
    held = fp.inverse_dynamics(robot, state)
    assert held.attrs["elastic"] == "static"
    assert float(np.abs(held.force).max()) == pytest.approx(1918.49, abs=PRINTED)
    assert float(np.abs(held.elastic_acceleration).max()) < REST
    undeformed = fp.inverse_dynamics(robot, state, elastic="zero")
    assert float(np.abs(undeformed.force).max()) == pytest.approx(9659.72, abs=PRINTED)
    assert float(np.abs(undeformed.elastic_acceleration).max()) > 100.0


def test_load_at_a_point_bends_the_platform() -> None:
    """In equilibrium by the inverse model too; a small load bends in proportion; a load on the frame is another load."""
    robot = plate_robot()
    state = at_home(robot)
    load = np.array([20.0, -10.0, -100.0, 5.0, 3.0, 2.0])
    found = fp.static_deflection(robot, state, wrench=load, point="tool")
    held = fp.inverse_dynamics(robot, state, elastic=found.elastic.values, wrench=load, point="tool")
    assert float(np.abs(held.elastic_acceleration).max()) < REST
    assert off(held.force, found.force) < REFERENCE_TOLERANCE
    bare = fp.static_deflection(robot, state).elastic
    small = fp.static_deflection(robot, state, wrench=load / 1e3, point="tool").elastic - bare
    double = fp.static_deflection(robot, state, wrench=load / 5e2, point="tool").elastic - bare
    assert off(double, 2 * small) < LINEAR
    on_frame = fp.static_deflection(robot, state, wrench=load)
    assert off(on_frame.elastic, found.elastic) > LINEAR, "the frame is not the material at its origin"
    bent = fp.deformation(robot, at_home(robot, elastic=found.elastic.values)).displacement
    assert float((bent - fp.deformation(robot, state).displacement)[2]) < -1e-5, "the tool goes where it is pressed"


def test_batches_and_rows_agree() -> None:
    robot = plate_robot()
    poses = robot.home.position + np.random.default_rng(1).uniform(-0.08, 0.08, (5, 3))
    together = fp.static_deflection(robot, fp.State(position=poses))
    for k, pose in enumerate(poses):
        alone = fp.static_deflection(robot, fp.State(position=pose))
        np.testing.assert_allclose(alone.elastic, together.elastic[k], rtol=0, atol=ALONE)
        np.testing.assert_allclose(alone.force, together.force[k], rtol=REFERENCE_TOLERANCE)


def test_quasi_static_along_a_motion() -> None:
    """With e = static and e' = 0, the elastic accelerations vanish while the frame moves."""
    robot = plate_robot()
    random = np.random.default_rng(2)
    motion = fp.Motion(
        time=np.arange(4.0),
        position=np.tile(robot.home.position, (4, 1)),
        rotation=np.tile(robot.home.rotation, (4, 1, 1)),
        velocity=random.normal(size=(4, 3)) * 0.5,
        angular_velocity=random.normal(size=(4, 3)),
        acceleration=random.normal(size=(4, 3)) * 5,
        angular_acceleration=random.normal(size=(4, 3)) * 5,
    )
    found = fp.inverse_dynamics(robot, motion)
    assert float(np.abs(found.elastic_acceleration).max()) < REST
    still = fp.static_deflection(robot, at_home(robot))
    assert float(np.abs(found.elastic - still.elastic).max()) > 1e-3, "the frame's acceleration bends the platform"


def test_too_soft_a_platform_is_named() -> None:
    robot = stiffened(plate_robot(), 1e-3)
    with pytest.raises(fp.FlexapodError, match=r"static deflection of .*: no static deflection found"):
        fp.static_deflection(robot, at_home(robot))


def test_messages() -> None:
    robot = plate_robot()
    with pytest.raises(fp.InputError, match="static deflection: gough-stewart is rigid; load a flexible robot"):
        fp.static_deflection(rigid(), at_home(rigid()))
    with pytest.raises(fp.InputError, match=r"has no point 'tip' \(points: tool\)"):
        fp.static_deflection(robot, at_home(robot), wrench=np.ones(6), point="tip")
    other = reference_robot("generic")
    with pytest.raises(fp.InputError, match="has no mode shapes at"):
        fp.static_deflection(other, at_home(other), wrench=np.ones(6), point="tool")


def _robot_on_plate(modes: int, method: str = "normal") -> fp.Robot:
    """`gough-stewart` on a hexagonal plate; the interface deflections of craig-bampton are no normal modes."""
    bare = rigid()
    at = {leg.name: tuple(leg.closing.on_platform.position) for leg in bare.legs}
    body = fp.flexible.plate(
        outline=fp.flexible.regular_outline(6, 0.5), thickness=0.015, young=2e11, poisson=0.3, density=7500.0, modes=modes,
        interfaces=at, method=method, damping=0.4,
    )  # fmt: skip
    return bare.with_flexible_body("platform", body)


@pytest.mark.parametrize("method", ["normal", "craig-bampton"])
def test_many_modes_have_the_tangent_of_the_kernel(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frame and legs in a kernel and the modes in matrix products give what one kernel gives, loads at a point included."""
    robot = _robot_on_plate(3, method)
    n, N, random = 3, len(robot.elastic_names), np.random.default_rng(0)
    given = {
        "position": np.tile(robot.home.position, (n, 1)) + 0.01 * random.standard_normal((n, 3)),
        "rotation": np.tile(robot.home.rotation, (n, 1, 1)),
        "elastic": 1e-3 * random.standard_normal((n, N)),
        "point_shape": random.standard_normal((n, 3, N)),
        "point_rotation": random.standard_normal((n, 3, N)),
    }
    sizes = {"force": 6, "wrench": 6, "point_wrench": 6, "point_position": 3}
    given |= {name: 10.0 * random.standard_normal((n, size)) for name, size in sizes.items()}
    monkeypatch.setattr(flexible_tangent, "UNROLLED", 1)
    many = tangent_of(robot)
    assert isinstance(many, flexible_tangent.ModesTangent)
    for load in (1.0, 0.0):
        found = many.batch({**given, "point_wrench": load * given["point_wrench"]}).outputs
        expected = fp.kernel(robot, "flexible_tangent").batch({**given, "point_wrench": load * given["point_wrench"]}).outputs
        for name, values in expected.items():
            assert off(found[name], values) < SAME, name


def test_static_deflection_of_many_modes_is_an_equilibrium() -> None:
    robot = _robot_on_plate(14)
    state = at_home(robot)
    held = fp.inverse_dynamics(robot, state)
    assert held.attrs["elastic"] == "static"
    assert float(np.abs(held.elastic_acceleration).max()) < REST
    found = fp.static_deflection(robot, state)
    assert off(held.force, found.force) < REFERENCE_TOLERANCE
    assert float(found.residual) < RESIDUAL
