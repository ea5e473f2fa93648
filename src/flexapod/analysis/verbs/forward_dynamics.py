"""`forward_dynamics`, `mass_matrix`, `gravity_force`, `coriolis_force`, `energy`: accelerations under given forces, and the terms
of the equation of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, check_option, dataset

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State, StateOrMotion
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

Coordinates = Literal["platform", "actuator", "independent"]
COORDINATES = ("platform", "actuator", "independent")


@checked
@over_designs
def forward_dynamics(
    robot: Robot,
    state: State | Motion,
    force: ArrayLike | None,
    *,
    friction: bool = True,
    reactions: bool = False,
    wrench: ArrayLike | None = None,
    point: str | None = None,
    axes: str = "world",
    formulation: Literal["auto", "links", "virtual_power", "minimal", "general"] = "auto",
    elastic: ArrayLike | None = None,
    elastic_velocity: ArrayLike | None = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Acceleration of the platform under actuator forces.

    Args:
        state: poses and twists (a Motion's accelerations are not used).
        force: (actuators,) or (n, actuators) [N or N m].
        friction: friction as in the file, its coupling with reactions and acceleration solved; False leaves it out.
        reactions: also joint reactions, as for `inverse_dynamics`.
        wrench: external load on the platform, as for `inverse_dynamics`.
        elastic, elastic_velocity: of flexible robots, as for `inverse_dynamics`; a State may carry them.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
        formulation: derivation of the equations, as for `inverse_dynamics`; they agree to rounding.
    Returns:
        Dataset with `acceleration` and `angular_acceleration` (.., axis), world axes; of flexible robots also
        `elastic_acceleration` (.., elastic_coordinate).
    Raises:
        SampleError: a leg cannot reach the pose, the pose is singular, or friction does not converge.
    """
    refuse(
        robot, "forward_dynamics", friction=friction, reactions=reactions, wrench=wrench, point=point, axes=axes,
        formulation=formulation, elastic=elastic, elastic_velocity=elastic_velocity,
    )  # fmt: skip
    return answer(  # type: ignore[no-any-return]
        robot,
        "forward_dynamics",
        Request(
            at=state, force=force, friction=friction, reactions=reactions, wrench=wrench, point=point, axes=axes,
            formulation=formulation, elastic=elastic, elastic_velocity=elastic_velocity, on_error=on_error,
        ),
    )  # fmt: skip


@checked
@over_designs
def mass_matrix(
    robot: Robot,
    state: StateOrMotion,
    *,
    coordinates: Coordinates = "platform",
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.DataArray:
    """Mass matrix of the whole robot.

    Args:
        state: poses and twists; of a motion the accelerations are not used.
        coordinates: ``"platform"`` (v, omega in world axes, then elastic; mobility 6 only), ``"actuator"``, or
            ``"independent"`` (the independent components of the platform twist).
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        DataArray (.., coordinate, coordinate_), symmetric [kg, kg m or kg m^2].
    """
    return _term(robot, state, coordinates, on_error, "mass_matrix")


@checked
@over_designs
def gravity_force(
    robot: Robot,
    state: State | Motion,
    *,
    coordinates: Coordinates = "platform",
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.DataArray:
    """Generalized force needed against gravity, (.., coordinate).

    Of masses alone: springs, dampers, friction and force elements are not in it; `inverse_dynamics` has them all.

    Args:
        state: poses and twists; of a motion the accelerations are not used.
        coordinates: ``"platform"`` (v, omega in world axes, then elastic; mobility 6 only), ``"actuator"`` or
            ``"independent"``.
    Returns:
        DataArray (.., coordinate) [N or N m]: the generalized forces that hold the robot at rest against its weight.
    Raises:
        SampleError: a leg cannot reach the pose, or it is singular.
    """
    return _term(robot, state, coordinates, on_error, "gravity_force")


@checked
@over_designs
def coriolis_force(
    robot: Robot,
    state: State | Motion,
    *,
    coordinates: Coordinates = "platform",
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.DataArray:
    """Generalized force needed by velocity terms at zero independent acceleration, (.., coordinate).

    Of masses alone: springs, dampers, friction and force elements are not in it; `inverse_dynamics` has them all.

    Args:
        state: poses and twists; of a motion the accelerations are not used.
        coordinates: ``"platform"`` (v, omega in world axes, then elastic; mobility 6 only), ``"actuator"`` or
            ``"independent"``.
    Returns:
        DataArray (.., coordinate) [N or N m]: Coriolis and centrifugal forces; gravity and friction are left out.
    Raises:
        SampleError: a leg cannot reach the pose, or it is singular.
    """
    return _term(robot, state, coordinates, on_error, "coriolis_force")


def _term(robot: Robot, state: StateOrMotion, coordinates: str, on_error: OnError, which: str) -> xr.DataArray:
    """Mass matrix or generalized force, labelled."""
    check_option("coordinates", coordinates, COORDINATES)
    refuse(robot, which, coordinates=coordinates, on_error=on_error)
    values, names = answer(robot, which, Request(at=state, coordinates=coordinates, on_error=on_error), which)
    dims = ("coordinate", "coordinate_") if which == "mass_matrix" else ("coordinate",)
    unit = "kg, kg m, kg m^2" if which == "mass_matrix" else "N or N m"
    return dataset(robot, {which: (dims, values, unit)}, state)[which].assign_coords({dim: names for dim in dims})


@checked
@over_designs
def energy(robot: Robot, state: State | Motion, *, parameters: Mapping[str, ArrayLike] | None = None) -> xr.Dataset:
    """Kinetic and potential energy [J]; the potential is zero where every body frame origin sits in the world origin.

    Args:
        state: poses and twists; of a motion the accelerations are not used.
    Returns:
        Dataset over `time` or `sample` [J]: `kinetic`, `potential` of weight, springs and deformation together; where there are
        springs, forces between points or flexible bodies also `elastic`, their part of `potential`. (`simulate` has them apart:
        its `potential_energy` is that of the weight alone, beside `elastic_energy`.)

    Checked by: tests/simulation/test_energy_balance.py.
    """
    refuse(robot, "energy")
    return answer(robot, "energy", Request(at=state))  # type: ignore[no-any-return]
