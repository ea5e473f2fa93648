"""Inverse and forward dynamics of rigid robots whose legs follow from the platform: kernels of the papers' formulations.

Blocks of samples run one compiled kernel: the minimal equations where they apply, else those in link axes, else virtual power;
friction, reactions and contributions come from Newton-Euler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.contributions import without_leg_mass
from flexapod.analysis.model.elastic_coordinates import refuse_elastic
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.requests.loads import forces, platform_wrench
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.requests.results import check_option, dataset, force_unit, raise_failed
from flexapod.analysis.requests.sample_blocks import Room, SampleReasons, in_blocks, room_for, with_kernel_reasons, without_bad
from flexapod.analysis.verbs.inverse_kinematics import joint_rates_of_block, platform_inputs
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.equations.minimal.planning import applies, ill_conditioned_designs
from flexapod.equations.newton_euler.constraint_plan import mark_undetermined
from flexapod.equations.newton_euler.force_parts import CONTRIBUTION_NAMES
from flexapod.equations.newton_euler.reactions import reaction_names
from flexapod.errors import InputError
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import State
    from flexapod.robot.robot import Robot

FORMULATIONS = ("auto", "links", "virtual_power", "virtual_work", "newton_euler", "minimal")
INVERSE = {
    "links": "link_inverse_dynamics",
    "virtual_power": "virtual_power",
    "virtual_work": "virtual_work",
    "newton_euler": "newton_euler",
    "minimal": "minimal_inverse_dynamics",
}
FORWARD = {
    "friction": "forward_friction",
    "minimal": "minimal_forward_dynamics",
    "links": "link_forward_dynamics",
    "virtual_power": "forward_dynamics",
}
"""Formulation -> program."""


def rigid_inverse_dynamics(robot: Robot, request: Request) -> xr.Dataset:
    """Actuator forces and powers, with the optional results; see `inverse_dynamics`.

    Checked by: tests/equations/test_formulations_agree.py, tests/analysis/test_fast_paths.py.
    """
    refuse_elastic(robot, getattr(request.at, "elastic", None))
    check_option("formulation", request.formulation, FORMULATIONS)
    motion = as_platform(robot, request.at)
    inputs = platform_inputs(motion)
    inputs["wrench"] = platform_wrench(robot, inputs, *request.load)
    with_friction = request.friction and has_friction(robot)
    detailed = request.reactions or with_friction or request.contributions is not None
    variant: dict[str, str] = {} if request.spin == "exact" else {"spin": request.spin}
    massless = request.legs == "massless"
    formulation = _of_variant(request, detailed)
    if massless and detailed:
        robot = without_leg_mass(robot)
    chosen = usual_formulation(robot, formulation, loaded=request.wrench is not None)
    options: dict[str, dict[str, Any]] = {
        "virtual_power": {"massless_legs": massless}, "newton_euler": {"friction": False, **variant},
    }  # fmt: skip
    bound = kernel(robot, INVERSE[chosen], **options.get(chosen, {}))
    other = INVERSE[fallback_formulation(robot)] if chosen == "minimal" and formulation == "auto" else None
    plainly = with_friction and not request.reactions and request.contributions is None and not variant
    added = kernel(robot, "friction_force") if plainly else None
    details = _details(robot, with_friction, request.contributions, chosen, variant) if detailed and not plainly else None

    def block(part: dict[str, Array], rows: slice, room: Room) -> tuple[dict[str, Array], SampleReasons]:
        rates, reasons, guess = joint_rates_of_block(robot, part, rows=rows)
        part = {**part, "guess": guess}
        outputs, reasons = evaluate_kernel(bound, part, reasons, other, rows, room_for(bound.signature, room))
        found = {"force": outputs["force"]}
        if added is not None:
            taken, reasons = evaluate_kernel(added, part, reasons, rows=rows)
            found["force"] += taken["force"]
        if details is not None:
            found, reasons = _with_details(details, part, reasons, outputs["force"], request.reactions, rows)
        return without_bad({**found, "power": np.multiply(found["force"], rates, out=room.get("power"))}, reasons), reasons

    found, reasons = in_blocks(inputs, block)
    raise_failed("inverse dynamics", robot, reasons, motion, request.on_error)
    labels: dict[str, tuple[tuple[str, ...], str]] = {
        "force": (("actuator",), force_unit(robot)), "power": (("actuator",), "W"),
    }  # fmt: skip
    if details is not None:
        labels = {**{o.name: (o.dims, o.unit) for o in details.full.signature.outputs}, **labels}
    variables = {name: (labels[name][0], values, labels[name][1]) for name, values in found.items()}
    names = {"joint": reaction_names(robot), "contribution": CONTRIBUTION_NAMES} if detailed else None
    attrs = {"formulation": chosen, "friction": int(with_friction)}
    return dataset(robot, variables, motion, reasons if request.on_error == "mask" else None, names, attrs)


def _of_variant(request: Request, detailed: bool) -> str:
    """The formulation that has massless legs or neglected spin, or why none has."""
    massless = request.legs == "massless"
    if request.spin != "exact":
        if massless:
            raise InputError("spin='neglected': massless legs have no inertia on which spin could act; leave one of both out")
        if request.formulation not in ("auto", "newton_euler"):
            text = f"spin='neglected' is a variant of newton_euler, not of {request.formulation}; leave formulation out"
            raise InputError(text)
        return "newton_euler"
    if massless and not detailed:
        if request.formulation not in ("auto", "virtual_power"):
            text = f"legs='massless' is a variant of virtual_power, not of {request.formulation}; leave formulation out"
            raise InputError(text)
        return "virtual_power"
    return request.formulation


def usual_formulation(robot: Robot, formulation: str, loaded: bool) -> str:
    """The formulation of a request, the one with the fewest operations for ``"auto"``; the minimal one knows no external load."""
    if formulation not in ("auto", "minimal"):
        return formulation
    if not loaded and applies(robot) is None:
        return "minimal"
    return "links" if robot.no_link_plan is None and fallback_formulation(robot) == "links" else "virtual_power"


def fallback_formulation(robot: Robot) -> str:
    """The formulation that takes over where the minimal equations have no result; link axes depend on home, which differs
    between designs."""
    return "links" if robot.varied is None or not robot.varied.geometry else "virtual_power"


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


def _details(robot: Robot, with_friction: bool, contributions: str | None, chosen: str, variant: dict[str, str]) -> Details:
    options = variant if contributions is None else {**variant, "contributions": contributions}
    return Details(
        robot=robot,
        full=kernel(robot, "newton_euler", friction=with_friction, **options),
        smooth=kernel(robot, "newton_euler", friction=False, **variant) if with_friction else None,
        replaces=chosen == "newton_euler",
    )


def _with_details(
    details: Details, inputs: dict[str, Array], reasons: SampleReasons, force: Array, reactions: bool, rows: slice
) -> tuple[dict[str, Array], SampleReasons]:
    """Forces with friction, reactions and contributions on request, from the Newton-Euler kernel."""
    bound = details.full
    given = {i.name: inputs[i.name] for i in bound.signature.inputs}
    batch = bound.batch(given, rows=rows)
    reasons = with_kernel_reasons(bound.signature, batch.status, reasons, given)
    if details.smooth is not None:
        smooth, reasons = evaluate_kernel(details.smooth, inputs, reasons, rows=rows)
        force = batch.outputs["force"] if details.replaces else force + (batch.outputs["force"] - smooth["force"])
    outputs = mark_undetermined(details.robot, batch.outputs)
    wanted = [o.name for o in bound.signature.outputs if o.name == "force_contribution" or (reactions and o.name != "force")]
    return {"force": force, **{name: outputs[name] for name in wanted}}, reasons


def rigid_forward_dynamics(robot: Robot, request: Request) -> xr.Dataset:
    """Accelerations of the platform under forces; see `forward_dynamics`."""
    state = request.at
    refuse_elastic(robot, getattr(state, "elastic", None))
    check_option("formulation", request.formulation, ("auto", "links", "virtual_power", "minimal"))
    inputs = platform_inputs(state)
    inputs["wrench"] = platform_wrench(robot, inputs, *request.load)
    inputs["force"] = forces(robot, request.force, len(inputs["position"]))
    with_friction = request.friction and has_friction(robot)
    chosen = "friction" if with_friction else usual_formulation(robot, request.formulation, loaded=request.wrench is not None)
    other = FORWARD[fallback_formulation(robot)] if chosen == "minimal" and request.formulation == "auto" else None
    bound = kernel(robot, FORWARD[chosen])

    def block(part: dict[str, Array], rows: slice, room: Room) -> tuple[dict[str, Array], SampleReasons]:
        part, reasons = still_inputs(robot, part, rows)
        found, reasons = evaluate_kernel(bound, part, reasons, other, rows, room_for(bound.signature, room))
        return without_bad({name: found[name] for name in ("acceleration", "angular_acceleration")}, reasons), reasons

    outputs, reasons = in_blocks(inputs, block)
    raise_failed("forward dynamics", robot, reasons, state, request.on_error)
    variables = {
        "acceleration": (("axis",), outputs["acceleration"], "m/s^2"),
        "angular_acceleration": (("axis",), outputs["angular_acceleration"], "rad/s^2"),
    }
    attrs = {"formulation": "virtual_power" if with_friction else chosen, "friction": int(with_friction)}
    result = dataset(robot, variables, state, reasons if request.on_error == "mask" else None, attrs=attrs)
    return result.merge(_reactions(robot, request, inputs, outputs)) if request.reactions else result


def _reactions(robot: Robot, request: Request, inputs: dict[str, Array], outputs: dict[str, Array]) -> xr.Dataset:
    """Joint reactions at the accelerations that were found."""
    time = getattr(request.at, "time", None)
    known = {k: inputs[k] for k in ("position", "rotation", "velocity", "angular_velocity")}
    moving = Motion(time=np.arange(float(len(inputs["position"]))) if time is None else time, **known, **outputs)
    own = replace(request, at=moving, formulation="auto", wrench=inputs["wrench"], point=None, axes="world")
    found = rigid_inverse_dynamics(robot, own)
    wanted = found[[name for name in found.data_vars if str(name).startswith(("reaction_", "friction_"))]]
    if time is not None:
        return wanted
    single = getattr(request.at, "single", False)
    return wanted.isel(time=0, drop=True) if single else wanted.rename(time="sample").drop_vars("sample")


def state_inputs(robot: Robot, state: Motion | State) -> tuple[dict[str, Any], NDArray[Any]]:
    """Kernel inputs of states, accelerations left out, with joint coordinates; and the reason per bad sample."""
    inputs = platform_inputs(state)
    inputs, reasons = still_inputs(robot, inputs, slice(0, len(inputs["position"])))
    return inputs, np.full(len(inputs["position"]), "", dtype=object) if reasons is None else reasons


def still_inputs(robot: Robot, inputs: dict[str, Array], rows: slice) -> tuple[dict[str, Any], SampleReasons]:
    """Inputs of a block of states, with joint coordinates; and the reasons."""
    zero = np.broadcast_to(np.zeros(3), inputs["position"].shape)
    still = {**inputs, "acceleration": zero, "angular_acceleration": zero}
    _, reasons, guess = joint_rates_of_block(robot, still, accelerations=False, rows=rows)
    return {**inputs, "guess": guess}, reasons


def evaluate_kernel(
    bound: RobotKernel,
    inputs: dict[str, Array],
    reasons: SampleReasons,
    other: str | None = None,
    rows: slice | None = None,
    out: Room | None = None,
) -> tuple[dict[str, Array], SampleReasons]:
    """Outputs of a kernel; reasons of samples that fail are added to `reasons`.

    Args:
        other: quantity whose kernel takes over the samples that fail: the minimal equations have limits of their own at
            poses that are harmless otherwise (a leg level with its base joint, a rod in the platform's plane).
        rows: which samples of a verb these are; all where left out.
        out: arrays to write to; new ones if not given.
    """
    given = {i.name: inputs[i.name] for i in bound.signature.inputs}
    batch = bound.batch(given, rows=rows, out=out)
    varied = other is not None and bound.robot.varied is not None
    if other is None or not (varied or batch.status.any()):
        return batch.outputs, with_kernel_reasons(bound.signature, batch.status, reasons, given)
    bad = batch.status != 0
    if varied:
        bad |= ill_conditioned_designs(bound.robot, rows if rows is not None else slice(None))
    failed = np.flatnonzero(bad if reasons is None else bad & (reasons == ""))
    if len(failed):
        second = kernel(bound.robot, other)
        part = {i.name: np.ascontiguousarray(inputs[i.name][failed]) for i in second.signature.inputs}
        again = second.batch(part, rows=failed + (0 if rows is None else rows.start))
        for name, values in batch.outputs.items():
            values[failed] = again.outputs[name]
        batch.status[failed] = 0
        status = np.zeros_like(batch.status)
        status[failed] = again.status
        reasons = with_kernel_reasons(second.signature, status, reasons, inputs)
    return batch.outputs, with_kernel_reasons(bound.signature, batch.status, reasons, given)


def note(bound: RobotKernel, status: NDArray[np.int32], reasons: Reasons, inputs: Mapping[str, ArrayLike]) -> None:
    """Add the reasons of a kernel's bad samples to the samples that have none yet."""
    reasons[:] = with_kernel_reasons(bound.signature, status, reasons, inputs)
