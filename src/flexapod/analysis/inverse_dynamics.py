"""`inverse_dynamics`: actuator forces, powers and joint reactions of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.abilities import kind_of, refuse
from flexapod.analysis.arguments import checked
from flexapod.analysis.elastic_drives import carried_inverse_dynamics, drives
from flexapod.analysis.elastic_state import refuse_elastic
from flexapod.analysis.flexible_dynamics import flexible_inverse_dynamics
from flexapod.analysis.inverse_kinematics import followed, platform_inputs
from flexapod.analysis.kernels import RobotKernel, kernel
from flexapod.analysis.loads import platform_wrench
from flexapod.analysis.over_designs import over_designs
from flexapod.analysis.properties import depends_on_loads
from flexapod.analysis.properties import has_friction as has_friction
from flexapod.analysis.results import OnError, check_option, dataset, settle
from flexapod.analysis.sample_blocks import Words, in_blocks, noted, without_bad
from flexapod.equations.minimal.planning import poor_designs
from flexapod.equations.newton_euler.constraint_plan import mark_undetermined
from flexapod.equations.newton_euler.names import reaction_names
from flexapod.equations.newton_euler.shares import SHARE_NAMES
from flexapod.errors import InputError
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
Formulation = Literal["auto", "links", "virtual_power", "virtual_work", "newton_euler", "minimal"]
FORMULATIONS = ("auto", "links", "virtual_power", "virtual_work", "newton_euler", "minimal")


@checked
@over_designs
def inverse_dynamics(
    robot: Robot,
    motion: Motion | State,
    *,
    friction: bool = True,
    reactions: bool = False,
    formulation: Formulation = "auto",
    wrench: Any = None,
    point: str | None = None,
    axes: str = "world",
    legs: Literal["full", "massless"] = "full",
    shares: Literal["frozen", "alone"] | None = None,
    spin: Literal["exact", "neglected"] = "exact",
    elastic: Any = None,
    elastic_velocity: Any = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Actuator forces and powers of a motion; of flexible robots also the elastic accelerations.

    Args:
        robot: any robot.
        motion: a `Motion`, or `State`s (then at zero acceleration: forces to hold).
        friction: friction as in the file; False leaves it out.
        reactions: also joint reactions (by Newton-Euler): exerted by the base-side body on the next one, at the joint
            centre, world axes, actuator force excluded.
        formulation: which derivation gives the forces; they agree to rounding. ``"auto"`` takes the one with the fewest
            operations where its conditions hold: minimal equations, else link axes, else virtual power. Friction depends on
            reactions: it is always solved with Newton-Euler, and added.
        wrench: external load (6,) or (n, 6) [N, N m] on the platform; `point` and `axes` say where and how.
        shares: also the parts of the force due to gravity, inertia of platform, legs and drives, load, and each source of
            friction: ``"frozen"`` with the converged reactions (adds up), ``"alone"`` each source by itself (does not).
        legs: ``"massless"`` leaves out the legs' inertia and weight (Kim & Ryu, section 4.2).
        spin: ``"neglected"`` lets legs between universal and spherical joints turn with n x n' (Kim & Ryu, Eq. 19) instead of
            the angular velocity that the universal joint implies; by Newton-Euler, for six such legs.
        elastic, elastic_velocity: of flexible robots: arrays (N,) or (n, N), or ``"static"``: quasi-static deflection under
            gravity, load and the frame's motion, at rates zero; ``"simulate"``: integrated along the motion from the
            static start; ``"zero"``. Left out: the state's own where it has them, else static.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            the page on many designs.
    Returns:
        Dataset over `time` or `sample`: `force` [N or N m], `power` [W] (.., actuator); with reactions
        `reaction_force`, `reaction_moment` (.., joint, axis), NaN where rigid bodies leave them undetermined, and with
        friction `friction_force`, `friction_moment`; with shares `force_share` (.., share, actuator). Flexible robots:
        `elastic_acceleration`, `elastic`, `elastic_velocity` (.., elastic_coordinate), `joint_force` (.., leg, axis), the force
        of each leg on the platform at its joint, world axes.
    """
    refuse(
        robot, "inverse_dynamics", motion=kind_of(motion), friction=friction, reactions=reactions, formulation=formulation,
        wrench=wrench, point=point, axes=axes, legs=legs, shares=shares, elastic=elastic, elastic_velocity=elastic_velocity,
        spin=spin,
    )  # fmt: skip
    check_option("spin", spin, ("exact", "neglected"))
    check_option("shares", shares, (None, "frozen", "alone"))
    check_option("legs", legs, ("full", "massless"))
    if robot.elastic_names or robot.elastic_legs:
        if legs == "massless":
            from flexapod.analysis.general_verbs import without_leg_mass

            robot = without_leg_mass(robot)
        load = (wrench, point, axes)
        if kind_of(motion) == "platform" and any(spring for _, spring in drives(robot)):
            given = {"wrench": wrench, "point": point, "axes": axes, "friction": friction, "elastic": elastic}
            return carried_inverse_dynamics(robot, motion, {**given, "elastic_velocity": elastic_velocity}, on_error)
        if needs_general(robot, friction, reactions or shares is not None or legs == "massless"):
            from flexapod.analysis.general_verbs import general_inverse_dynamics

            return general_inverse_dynamics(robot, motion, elastic, elastic_velocity, load, friction, reactions, shares, on_error)
        if robot.elastic_legs:
            from flexapod.analysis.leg_dynamics import leg_inverse_dynamics

            return leg_inverse_dynamics(robot, motion, elastic, elastic_velocity, load, friction, on_error)
        return flexible_inverse_dynamics(robot, motion, elastic, elastic_velocity, wrench, point, axes, formulation, on_error)
    refuse_elastic(robot, getattr(motion, "elastic", None))
    check_option("formulation", formulation, FORMULATIONS)
    inputs = platform_inputs(motion)
    inputs["wrench"] = platform_wrench(robot, inputs, wrench, point, axes)
    with_friction = friction and has_friction(robot)
    detailed = reactions or with_friction or shares is not None
    if legs == "massless" and (detailed or formulation not in ("auto", "virtual_power")):
        raise InputError("legs='massless' is a variant of virtual_power without friction and reactions; leave those out")
    variant: dict[str, str] = {} if spin == "exact" else {"spin": spin}
    if variant:
        formulation = _without_spin(formulation, legs)
    chosen = choose(robot, formulation, loaded=wrench is not None) if legs == "full" else "virtual_power"
    if chosen == "virtual_power":
        bound = kernel(robot, "virtual_power", massless_legs=legs == "massless")
    else:
        bound = kernel(robot, PROGRAM[chosen], **({"friction": False, **variant} if chosen == "newton_euler" else {}))
    spare = PROGRAM.get(spare_formulation(robot), "virtual_power") if chosen == "minimal" and formulation == "auto" else None
    details = _details(robot, with_friction, shares, chosen, variant) if detailed else None

    def block(part: dict[str, Any], rows: slice) -> tuple[dict[str, Array], Words]:
        rates, words, guess = followed(robot, part, rows=rows)
        part = {**part, "guess": guess}
        outputs, words = run(bound, part, words, spare, rows)
        found = {"force": outputs["force"]}
        if details is not None:
            found, words = _with_details(details, part, words, outputs["force"], reactions, rows)
        return without_bad({**found, "power": found["force"] * rates}, words), words

    found, words = in_blocks(inputs, block)
    settle("inverse dynamics", robot, words, motion, on_error)
    unit = "N" if set(robot.actuator_units) == {"m"} else "N m" if set(robot.actuator_units) == {"rad"} else "N or N m"
    labels: dict[str, tuple[tuple[str, ...], str]] = {"force": (("actuator",), unit), "power": (("actuator",), "W")}
    if details is not None:
        labels = {**{o.name: (o.dims, o.unit) for o in details.full.signature.outputs}, **labels}
    variables = {name: (labels[name][0], values, labels[name][1]) for name, values in found.items()}
    names = {"joint": reaction_names(robot), "share": SHARE_NAMES} if detailed else None
    attrs = {"formulation": chosen, "friction": int(with_friction)}
    return dataset(robot, variables, motion, words if on_error == "mask" else None, names, attrs)


PROGRAM = {
    "links": "link_inverse_dynamics",
    "virtual_work": "virtual_work",
    "newton_euler": "newton_euler",
    "minimal": "minimal_inverse_dynamics",
}


def needs_general(robot: Robot, friction: bool, more: bool) -> bool:
    """No faster kernel of a flexible robot has what is asked for: reactions, contributions, friction by joint loads, any friction
    of a robot with a flexible platform on closed-form legs, redundant drives.

    Args:
        more: reactions, contributions or massless legs are asked for.
    """
    own, _ = chosen_drives(robot)
    tied = len(own) < len(robot.actuators)
    if robot.elastic_legs:
        return more or tied or (friction and depends_on_loads(robot))
    return more or (friction and has_friction(robot)) or len(robot.actuators) != len(robot.plan.platform_independent)


def _without_spin(formulation: str, legs: str) -> Formulation:
    """The formulation that can neglect the spin of the legs, or why none can."""
    if legs == "massless":
        raise InputError("spin='neglected': massless legs have no inertia that their spin could act on; leave one of both out")
    if formulation not in ("auto", "newton_euler"):
        raise InputError(f"spin='neglected' is a variant of newton_euler, not of {formulation}; leave formulation out")
    return "newton_euler"


def choose(robot: Robot, formulation: str, loaded: bool) -> str:
    """The formulation of a request, the one with the fewest operations for ``"auto"``; the minimal one knows no external load."""
    from flexapod.equations.minimal.conditions import applies

    if formulation not in ("auto", "minimal"):
        return formulation
    if not loaded and applies(robot) is None:
        return "minimal"
    moved = robot.varied is not None and robot.varied.geometry  # the link axes hang on home, where every design has others
    return "links" if robot.no_link_plan is None and not moved else "virtual_power"


def spare_formulation(robot: Robot) -> str:
    """The formulation that takes over where the minimal equations have no result."""
    return "links" if robot.varied is None or not robot.varied.geometry else "virtual_power"


def run(
    bound: RobotKernel, inputs: dict[str, Any], words: Words, spare: str | None = None, rows: slice | None = None
) -> tuple[dict[str, Array], Words]:
    """Outputs of a kernel; reasons of samples that fail are added to `words`.

    Args:
        spare: quantity whose kernel takes over the samples that fail: the minimal equations have limits of their own at
            poses that are harmless otherwise (a leg level with its base joint, a rod in the platform's plane).
        rows: which samples of a verb these are; all where left out.
    """
    batch = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs}, rows=rows)
    varied = spare is not None and bound.robot.varied is not None
    if spare is None or not (varied or batch.status.any()):
        return batch.outputs, noted(bound.signature, batch.status, words)
    bad = batch.status != 0
    if varied:
        bad |= poor_designs(bound.robot, rows if rows is not None else slice(None))
    failed = np.flatnonzero(bad if words is None else bad & (words == ""))
    if len(failed):
        other = kernel(bound.robot, spare)
        part = {i.name: np.ascontiguousarray(inputs[i.name][failed]) for i in other.signature.inputs}
        again = other.batch(part, rows=failed + (0 if rows is None else rows.start))
        for name, values in batch.outputs.items():
            values[failed] = again.outputs[name]
        batch.status[failed] = 0
        status = np.zeros_like(batch.status)
        status[failed] = again.status
        words = noted(other.signature, status, words)
    return batch.outputs, noted(bound.signature, batch.status, words)


def note(bound: RobotKernel, status: NDArray[np.int32], words: NDArray[Any]) -> None:
    """Add the reasons of a kernel's bad samples to the samples that have none yet."""
    for i in np.flatnonzero(status):
        if words[i] == "":
            words[i] = bound.signature.status(int(status[i])).text


@dataclass(frozen=True, kw_only=True)
class Details:
    """Kernels of reactions, contributions and friction: with all of it, and without friction.

    Args:
        replaces: the smooth forces are those of the same equations, so that the full ones take their place.
    """

    robot: Robot
    full: RobotKernel
    smooth: RobotKernel | None
    replaces: bool


def _details(robot: Robot, with_friction: bool, shares: str | None, chosen: str, variant: dict[str, str]) -> Details:
    options = variant if shares is None else {**variant, "shares": shares}
    return Details(
        robot=robot,
        full=kernel(robot, "newton_euler", friction=with_friction, **options),
        smooth=kernel(robot, "newton_euler", friction=False, **variant) if with_friction else None,
        replaces=chosen == "newton_euler",
    )


def _with_details(
    details: Details, inputs: dict[str, Any], words: Words, force: Array, reactions: bool, rows: slice
) -> tuple[dict[str, Array], Words]:
    """Forces with friction, reactions and shares on request, from the Newton-Euler kernel."""
    bound = details.full
    batch = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs}, rows=rows)
    words = noted(bound.signature, batch.status, words)
    if details.smooth is not None:
        smooth, words = run(details.smooth, inputs, words, rows=rows)
        force = batch.outputs["force"] if details.replaces else force + (batch.outputs["force"] - smooth["force"])
    outputs = mark_undetermined(details.robot, batch.outputs)
    wanted = [o.name for o in bound.signature.outputs if o.name == "force_share" or (reactions and o.name != "force")]
    return {"force": force, **{name: outputs[name] for name in wanted}}, words
