"""`inverse_dynamics`: actuator forces, powers and joint reactions of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import kind_of, refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, check_option
from flexapod.calls import renamed

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot

Formulation = Literal["auto", "links", "virtual_power", "virtual_work", "newton_euler", "minimal", "general"]


@renamed(shares="contributions")
@checked
@over_designs
def inverse_dynamics(
    robot: Robot,
    motion: Motion | ActuatorMotion | State,
    *,
    friction: bool = True,
    reactions: bool = False,
    formulation: Formulation = "auto",
    wrench: ArrayLike | None = None,
    point: str | None = None,
    axes: str = "world",
    legs: Literal["full", "massless"] = "full",
    contributions: Literal["frozen", "alone"] | None = None,
    spin: Literal["exact", "neglected"] = "exact",
    weights: ArrayLike | None = None,
    preload: ArrayLike | None = None,
    elastic: ArrayLike | None = None,
    elastic_velocity: ArrayLike | None = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Actuator forces and powers of a motion; of flexible robots also the elastic accelerations.

    Args:
        robot: any robot.
        motion: a `Motion`, an `ActuatorMotion`, or `State`s (then at zero acceleration: forces to hold).
        friction: friction as in the file; False leaves it out.
        reactions: also joint reactions (by Newton-Euler): exerted by the base-side body on the next one, at the joint
            centre, world axes, actuator force excluded.
        formulation: ``"auto"``, ``"minimal"``, ``"links"`` (link axes), ``"virtual_power"``, ``"virtual_work"``,
            ``"newton_euler"`` or ``"general"``: which derivation gives the forces; they agree to rounding. ``"auto"`` takes the
            one with the fewest operations where its conditions hold: minimal equations, else link axes, else virtual power.
            Friction depends on reactions: it is always solved with Newton-Euler, and added. ``"general"``: the model that
            applies to every robot.
        wrench: external load (6,) or (n, 6) [N, N m] on the platform; `point` and `axes` say where and how.
        contributions: also the parts of the force due to gravity, inertia of platform, legs and drives, load, and each source of
            friction: ``"frozen"`` with the converged reactions (adds up), ``"alone"`` each source by itself (does not).
        legs: ``"massless"`` leaves out the legs' inertia and weight (Kim & Ryu, section 4.2).
        spin: ``"neglected"`` lets legs between universal and spherical joints turn with n x n' (Kim & Ryu, Eq. 19) instead of
            the angular velocity that the universal joint implies; by Newton-Euler, for six such legs.
        weights, preload: of robots with more actuators than the motion needs: among the forces that give it, those with the least
            sum of weight times squared distance from `preload` (actuators,) or (n, actuators); left out: ones, and zero. The
            part of a preload that moves nothing stays inside the robot. An actuator of weight ``inf`` is idle: its force is its
            preload, zero where there is none, and the others do its work.
        elastic, elastic_velocity: of flexible robots: arrays (N,) or (n, N), or ``"static"``: quasi-static deflection under
            gravity, load and the frame's motion, at rates zero; ``"simulate"``: integrated along the motion from the
            static start; ``"zero"``. Left out: the state's own where it has them, else static.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset over `time` or `sample`: `force` [N or N m], `power` [W] (.., actuator); with reactions
        `reaction_force`, `reaction_moment` (.., joint, axis), NaN where rigid bodies leave them undetermined, and with
        friction `friction_force`, `friction_moment`; with contributions `force_contribution` (.., contribution, actuator).
        Flexible robots: `elastic_acceleration`, `elastic`, `elastic_velocity` (.., elastic_coordinate), `joint_force` (.., leg,
        axis), the force of each leg on the platform at its joint, world axes.
    Raises:
        SampleError: a leg cannot reach a pose, the pose is singular, or the robot cannot follow the motion.
    """
    refuse(
        robot, "inverse_dynamics", motion=kind_of(motion), friction=friction, reactions=reactions, formulation=formulation,
        wrench=wrench, point=point, axes=axes, legs=legs, contributions=contributions, elastic=elastic,
        elastic_velocity=elastic_velocity, spin=spin, weights=weights, preload=preload,
    )  # fmt: skip
    check_option("spin", spin, ("exact", "neglected"))
    check_option("contributions", contributions, (None, "frozen", "alone"))
    check_option("legs", legs, ("full", "massless"))
    return answer(  # type: ignore[no-any-return]
        robot,
        "inverse_dynamics",
        Request(
            at=motion, friction=friction, reactions=reactions, formulation=formulation, wrench=wrench, point=point, axes=axes,
            legs=legs, contributions=contributions, spin=spin, weights=weights, preload=preload, elastic=elastic,
            elastic_velocity=elastic_velocity, on_error=on_error,
        ),
    )  # fmt: skip
