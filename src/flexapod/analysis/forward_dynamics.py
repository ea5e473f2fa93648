"""`forward_dynamics`, `mass_matrix`, `gravity_force`, `coriolis_force`, `energy`: what the robot does under given forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.abilities import refuse
from flexapod.analysis.arguments import checked
from flexapod.analysis.elastic_state import is_flexible, refuse_elastic
from flexapod.analysis.flexible_dynamics import flexible_forward_dynamics, flexible_terms, in_coordinates
from flexapod.analysis.flexible_kinematics import flexible_energy
from flexapod.analysis.inverse_dynamics import choose, has_friction, inverse_dynamics, needs_general, run, spare_formulation
from flexapod.analysis.inverse_kinematics import follow, followed, inverse_kinematics, platform_inputs
from flexapod.analysis.kernels import kernel
from flexapod.analysis.linear_solve import inverted
from flexapod.analysis.loads import platform_wrench
from flexapod.analysis.over_designs import over_designs
from flexapod.analysis.properties import depends_on_loads
from flexapod.analysis.results import OnError, check_option, dataset, settle
from flexapod.analysis.sample_blocks import Words, in_blocks, without_bad
from flexapod.analysis.state import State
from flexapod.motions.arrays import real_array
from flexapod.motions.motion import Motion
from flexapod.robot.varied import value_of

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
Coordinates = Literal["platform", "actuator", "independent"]
PROGRAM = {
    "friction": "forward_friction",
    "minimal": "minimal_forward_dynamics",
    "links": "link_forward_dynamics",
    "virtual_power": "forward_dynamics",
}
"""Formulation -> program."""

SINGULAR = "singular (type 2): the actuators do not determine the motion of the platform"
COORDINATES = ("platform", "actuator", "independent")


@checked
@over_designs
def forward_dynamics(
    robot: Robot,
    state: State | Motion,
    force: Any,
    *,
    friction: bool = True,
    reactions: bool = False,
    wrench: Any = None,
    point: str | None = None,
    axes: str = "world",
    formulation: Literal["auto", "links", "virtual_power", "minimal"] = "auto",
    elastic: Any = None,
    elastic_velocity: Any = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, Any] | None = None,
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
            the page on many designs.
    Returns:
        Dataset with `acceleration` and `angular_acceleration` (.., axis), world axes; of flexible robots also
        `elastic_acceleration` (.., elastic_coordinate).
    """
    refuse(
        robot, "forward_dynamics", friction=friction, reactions=reactions, wrench=wrench, point=point, axes=axes,
        formulation=formulation, elastic=elastic, elastic_velocity=elastic_velocity,
    )  # fmt: skip
    load, general = (wrench, point, axes), _needs_general(robot, friction, reactions)
    if general:
        from flexapod.analysis.general_verbs import general_forward_dynamics

        return general_forward_dynamics(robot, state, force, elastic, elastic_velocity, load, friction, reactions, on_error)
    if robot.elastic_legs:
        from flexapod.analysis.leg_dynamics import leg_forward_dynamics

        return leg_forward_dynamics(robot, state, force, elastic, elastic_velocity, load, friction, on_error)
    if is_flexible(robot):
        return flexible_forward_dynamics(
            robot, state, force, elastic, elastic_velocity, wrench, point, axes, formulation, on_error
        )
    refuse_elastic(robot, getattr(state, "elastic", None))
    check_option("formulation", formulation, ("auto", "links", "virtual_power", "minimal"))
    inputs = platform_inputs(state)
    count = len(inputs["position"])
    inputs["wrench"] = platform_wrench(robot, inputs, wrench, point, axes)
    inputs["force"] = _forces(robot, force, count)
    with_friction = friction and has_friction(robot)
    chosen = "friction" if with_friction else choose(robot, formulation, loaded=wrench is not None)
    spare = PROGRAM[spare_formulation(robot)] if chosen == "minimal" and formulation == "auto" else None
    bound = kernel(robot, PROGRAM[chosen])

    def block(part: dict[str, Any], rows: slice) -> tuple[dict[str, Array], Words]:
        part, words = _still_inputs(robot, part, rows)
        found, words = run(bound, part, words, spare, rows)
        return without_bad({name: found[name] for name in ("acceleration", "angular_acceleration")}, words), words

    outputs, words = in_blocks(inputs, block)
    settle("forward dynamics", robot, words, state, on_error)
    variables = {
        "acceleration": (("axis",), outputs["acceleration"], "m/s^2"),
        "angular_acceleration": (("axis",), outputs["angular_acceleration"], "rad/s^2"),
    }
    attrs = {"formulation": "virtual_power" if with_friction else chosen, "friction": int(with_friction)}
    result = dataset(robot, variables, state, words if on_error == "mask" else None, attrs=attrs)
    return result.merge(_reactions(robot, state, inputs, outputs, friction, on_error)) if reactions else result


def _needs_general(robot: Robot, friction: bool, reactions: bool) -> bool:
    """As `needs_general`; of rigid robots reactions without inverse dynamics, and friction by loads of redundant drives."""
    if robot.elastic_names or robot.elastic_legs:
        return needs_general(robot, friction, reactions)
    extra = len(robot.actuators) - len(robot.plan.platform_independent)
    return (reactions and extra < 0) or (extra > 0 and friction and depends_on_loads(robot))


def _reactions(
    robot: Robot, state: State | Motion, inputs: dict[str, Any], outputs: dict[str, Array], friction: bool, on_error: OnError
) -> xr.Dataset:
    """Joint reactions at the accelerations that were found."""
    time = getattr(state, "time", None)
    known = {k: inputs[k] for k in ("position", "rotation", "velocity", "angular_velocity")}
    moving = Motion(time=np.arange(float(len(inputs["position"]))) if time is None else time, **known, **outputs)
    found = inverse_dynamics(robot, moving, friction=friction, reactions=True, wrench=inputs["wrench"], on_error=on_error)
    wanted = found[[name for name in found.data_vars if str(name).startswith(("reaction_", "friction_"))]]
    if time is not None:
        return wanted
    return wanted.isel(time=0, drop=True) if getattr(state, "single", False) else wanted.rename(time="sample").drop_vars("sample")


def state_inputs(robot: Robot, state: State | Motion) -> tuple[dict[str, Any], NDArray[Any]]:
    """Kernel inputs of states, accelerations left out, with joint coordinates; and the reason per bad sample."""
    inputs = platform_inputs(state)
    inputs, words = _still_inputs(robot, inputs, slice(0, len(inputs["position"])))
    return inputs, np.full(len(inputs["position"]), "", dtype=object) if words is None else words


def _still_inputs(robot: Robot, inputs: dict[str, Any], rows: slice) -> tuple[dict[str, Any], Words]:
    """Inputs of a block of states, with joint coordinates; and the reasons."""
    zero = np.broadcast_to(np.zeros(3), inputs["position"].shape)
    still = {**inputs, "acceleration": zero, "angular_acceleration": zero}
    _, words, guess = followed(robot, still, accelerations=False, rows=rows)
    return {**inputs, "guess": guess}, words


def _forces(robot: Robot, force: Any, count: int) -> Array:
    n = len(robot.actuators)
    array = np.asarray(force)
    given = real_array("force", array, (n,) if array.ndim == 1 else (count, n))
    return np.array(np.broadcast_to(given, (count, n)))


def _platform_terms(robot: Robot, state: State | Motion, on_error: OnError) -> tuple[dict[str, Array], NDArray[Any]]:
    bound = kernel(robot, "mass_matrix")

    def block(part: dict[str, Any], rows: slice) -> tuple[dict[str, Array], Words]:
        part, words = _still_inputs(robot, part, rows)
        return run(bound, part, words, rows=rows)

    outputs, words = in_blocks(platform_inputs(state), block)
    settle("mass matrix", robot, words, state, on_error)
    return outputs, words.astype(object)


def _in_coordinates(
    robot: Robot, state: Any, terms: dict[str, Array], coordinates: str, words: NDArray[Any], on_error: OnError
) -> tuple[Array, list[str]]:
    """Twist per unit rate of the chosen coordinates (n, 6, k), and their names."""
    N = terms["basis"]
    if coordinates == "platform":
        return N, ["vx", "vy", "vz", "wx", "wy", "wz"]
    if coordinates == "independent":
        names = ["vx", "vy", "vz", "wx", "wy", "wz"]
        return N, [names[i] for i in robot.plan.platform_independent]
    A = np.einsum("nai,nij->naj", terms["jacobian"], N)
    T = N @ inverted(A)
    words[~np.isfinite(T).all(axis=(1, 2)) & (words == "")] = SINGULAR
    settle("actuator coordinates", robot, words.astype(str), state, on_error)
    return T, list(robot.actuators)


@checked
@over_designs
def mass_matrix(
    robot: Robot,
    state: State | Motion,
    *,
    coordinates: Coordinates = "platform",
    on_error: OnError = "raise",
    parameters: Mapping[str, Any] | None = None,
) -> xr.DataArray:
    """Mass matrix of the whole robot.

    Args:
        coordinates: ``"platform"`` (v, omega in world axes, then elastic; mobility 6 only), ``"actuator"``, or
            ``"independent"`` (the independent components of the platform twist).
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            the page on many designs.
    Returns:
        DataArray (.., coordinate, coordinate_).
    """
    check_option("coordinates", coordinates, COORDINATES)
    refuse(robot, "mass_matrix", coordinates=coordinates, on_error=on_error)
    if robot.elastic_legs:
        return _of_legs(robot, state, coordinates, on_error, "mass_matrix")
    if is_flexible(robot):
        return _flexible(robot, state, coordinates, on_error, "mass_matrix")
    terms, words = _platform_terms(robot, state, on_error)
    T, names = _in_coordinates(robot, state, terms, coordinates, words, on_error)
    M = np.einsum("nij,nik,nkl->njl", T, terms["mass_matrix"], T)
    return _labelled(robot, state, M, names, ("coordinate", "coordinate_"), "mass_matrix", words, on_error)


@checked
@over_designs
def gravity_force(
    robot: Robot,
    state: State | Motion,
    *,
    coordinates: Coordinates = "platform",
    on_error: OnError = "raise",
    parameters: Mapping[str, Any] | None = None,
) -> xr.DataArray:
    """Generalized force needed against gravity, (.., coordinate)."""
    return _bias(robot, state, coordinates, on_error, "gravity_force")


@checked
@over_designs
def coriolis_force(
    robot: Robot,
    state: State | Motion,
    *,
    coordinates: Coordinates = "platform",
    on_error: OnError = "raise",
    parameters: Mapping[str, Any] | None = None,
) -> xr.DataArray:
    """Generalized force needed by velocity terms at zero independent acceleration, (.., coordinate)."""
    return _bias(robot, state, coordinates, on_error, "coriolis_force")


def _flexible(robot: Robot, state: Any, coordinates: str, on_error: OnError, which: str) -> xr.DataArray:
    """Mass matrix or generalized force of a flexible robot."""
    terms, words, _ = flexible_terms(robot, state, on_error)
    T, names = in_coordinates(robot, terms, coordinates)
    words[~np.isfinite(T).all(axis=(1, 2)) & (words == "")] = SINGULAR
    settle("actuator coordinates", robot, words.astype(str), state, on_error)
    if which == "mass_matrix":
        M = np.einsum("nij,nik,nkl->njl", T, terms[which], T)
        return _labelled(robot, state, M, names, ("coordinate", "coordinate_"), which, words, on_error)
    return _labelled(robot, state, np.einsum("nij,ni->nj", T, terms[which]), names, ("coordinate",), which, words, on_error)


def _of_legs(robot: Robot, state: Any, coordinates: str, on_error: OnError, which: str) -> xr.DataArray:
    """Mass matrix or generalized force of a robot with flexible legs."""
    from flexapod.analysis.leg_dynamics import leg_matrix

    values, names = leg_matrix(robot, state, coordinates, on_error, which)
    dims = ("coordinate", "coordinate_") if which == "mass_matrix" else ("coordinate",)
    return _labelled(robot, state, values, names, dims, which, np.full(len(values), "", dtype=object), on_error)


def _bias(robot: Robot, state: Any, coordinates: str, on_error: OnError, which: str) -> xr.DataArray:
    check_option("coordinates", coordinates, COORDINATES)
    refuse(robot, which, coordinates=coordinates, on_error=on_error)
    if robot.elastic_legs or (is_flexible(robot) and (which, coordinates) == ("coriolis_force", "actuator")):
        return _of_legs(robot, state, coordinates, on_error, which)
    if is_flexible(robot):
        return _flexible(robot, state, coordinates, on_error, which)
    terms, words = _platform_terms(robot, state, on_error)
    T, names = _in_coordinates(robot, state, terms, coordinates, words, on_error)
    force = terms[which]
    if which == "coriolis_force":
        if coordinates == "actuator":  # acceleration of the platform at zero actuator acceleration enters as well
            force = _actuator_bias(robot, state, terms, T)
        else:
            force = force + np.einsum("nij,nj->ni", terms["mass_matrix"], terms["beta"])
    return _labelled(robot, state, np.einsum("nij,ni->nj", T, force), names, ("coordinate",), which, words, on_error)


def _actuator_bias(robot: Robot, state: Any, terms: dict[str, Array], T: Array) -> Array:
    """Velocity force with the actuators at zero acceleration: platform acceleration found from the second-order closing."""
    inputs = platform_inputs(state)
    zero = np.zeros_like(inputs["velocity"])
    beta = terms["beta"]
    bound = kernel(robot, "inverse_kinematics", detail="actuators")
    _, _, guess = follow(robot, {**inputs, "acceleration": zero, "angular_acceleration": zero}, accelerations=False)
    given = {
        **inputs,
        "acceleration": np.ascontiguousarray(beta[:, :3]),
        "angular_acceleration": np.ascontiguousarray(beta[:, 3:]),
        "guess": guess,
    }
    qdd = bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs["actuator_acceleration"]
    acceleration = beta - np.einsum("nij,nj->ni", T, qdd)
    return np.asarray(terms["coriolis_force"] + np.einsum("nij,nj->ni", terms["mass_matrix"], acceleration))


def _labelled(
    robot: Robot,
    state: Any,
    values: Array,
    names: list[str],
    dims: tuple[str, ...],
    name: str,
    words: NDArray[Any],
    on_error: OnError,
) -> xr.DataArray:
    unit = "kg, kg m, kg m^2" if name == "mass_matrix" else "N or N m"
    result = dataset(robot, {name: (dims, values, unit)}, state)[name]
    return result.assign_coords({dim: names for dim in dims})


@checked
@over_designs
def energy(robot: Robot, state: State | Motion, *, parameters: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Kinetic and potential energy [J]; the potential is zero where every body frame origin sits in the world origin."""
    refuse(robot, "energy")
    if robot.elastic_legs:
        from flexapod.analysis.leg_dynamics import leg_energy

        return leg_energy(robot, state)
    if is_flexible(robot):
        return flexible_energy(robot, state)
    terms, _ = _platform_terms(robot, state, "raise")
    inputs = platform_inputs(state)
    twist = np.concatenate([inputs["velocity"], inputs["angular_velocity"]], axis=1)
    kinetic = np.einsum("ni,nij,nj->n", twist, terms["mass_matrix"], twist) / 2.0
    poses = State(position=inputs["position"], rotation=inputs["rotation"])
    found = inverse_kinematics(robot, poses, joints=False, bodies=True)
    potential = np.zeros(len(kinetic))
    gravity = _vector(robot, "gravity")
    for k, (mass, moment) in enumerate(_body_moments(robot)):
        p, R = found.body_position.values[:, k], found.body_rotation.values[:, k]
        potential -= np.sum((np.multiply(np.transpose(mass), p.T).T + (R @ moment[..., None])[..., 0]) * gravity, axis=-1)
    return dataset(robot, {"kinetic": ((), kinetic, "J"), "potential": ((), potential, "J")}, state)


def _vector(robot: Robot, name: str) -> Array:
    """Three numbers of the robot (3,), or (n, 3) where they vary."""
    return np.stack(np.broadcast_arrays(*(value_of(robot, f"{name}.{i}") for i in "xyz")), axis=-1)


def _body_moments(robot: Robot) -> Iterator[tuple[float | Array, Array]]:
    """Mass and first moment of every body about its origin, in the axes of the file; of the designs where they vary."""
    names = ["platform", *(f"legs.{leg.name}.{k.coordinate}.body" for leg in robot.legs for k in leg.links if k.body)]
    for name, body in zip(names, robot.bodies_by_name.values(), strict=True):
        yield value_of(robot, f"{name}.mass"), _vector(robot, f"{name}.first_moment") @ body.body_axes
