r"""Robots with many beam elements in a row: kernels that loop over elements give O(n) numbers, NumPy makes matrices of them.

Each function here has the outputs of the kernel of the same quantity that is written out (`elastic_terms` ...), which would take
minutes to compile. Letters of `equations.elastodynamics.long_terms`; arrays are (n, ...) over samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import evaluated
from flexapod.analysis.model.linear_solve import left_inverse
from flexapod.analysis.model.long_axes import CoordinateAxes, axes, spread
from flexapod.analysis.model.long_places import places
from flexapod.analysis.model.slope_kernels import input_slopes
from flexapod.arrays import Array, Texts
from flexapod.kernels.tape.tangent import SUFFIX
from flexapod.robot.elastic_plan import column_sizes

if TYPE_CHECKING:
    from flexapod.equations.elastodynamics.joint_forces import Friction
    from flexapod.kernels.kernel import Kernel
    from flexapod.robot.robot import Robot

Arrays = dict[str, Array]

NEWTON_STEP, LARGEST_STEP, LIMIT = 1e-9, 0.4, 40
"""As in `equations.elastodynamics.closing`."""
APART = "the loops cannot be closed from here: out of reach, singular, or too far from the start"


def closing_matrix(robot: Robot, found: Arrays, at: CoordinateAxes) -> Array:
    """Closing rows (n, m, z)."""
    end, far = places(robot).rows
    if not len(end):
        return np.zeros((len(at.z), 0, at.z.shape[2]))
    A = np.swapaxes(_work(at, found["rows_end"]) * end.T - _work(at, found["rows_far"]) * far.T, 1, 2)
    if "rows_modes" in found:
        first = 0 if robot.elastic_plan.carrier is not None else 6
        A[:, :, first : first + found["rows_modes"].shape[2]] += found["rows_modes"]
    return np.asarray(A)


def _work(at: CoordinateAxes, wrenches: Array) -> Array:
    """Power of wrenches (n, m, 9) at unit rates; a wrench is force, moment, point."""
    force, moment, point = (np.swapaxes(wrenches[:, :, k : k + 3], 1, 2) for k in (0, 3, 6))
    return at.work(force, moment, point)


def force_column(robot: Robot, found: Arrays, suffix: str = "") -> Array:
    """Forces (n, z) of a kernel."""
    at = places(robot)
    some = next(values for name, values in found.items() if name.startswith("h_") and name.endswith(suffix))
    h = np.zeros((len(some), len(robot.elastic_plan.columns)))
    head = found.get(f"head_force{suffix}")
    if head is not None:
        h[:, : head.shape[1]] = head
    for i in range(len(robot.legs)):
        if at.columns[i]:
            h[:, at.columns[i]] = found[f"h_{i}{suffix}"]
        for k, (_, columns) in enumerate(at.runs[i]):
            h[:, columns.ravel()] = found[f"h_{i}_{k}{suffix}"][:, :, ::-1].transpose(0, 2, 1).reshape(len(h), columns.size)
    return h


def mass_matrix(robot: Robot, found: Arrays, own: CoordinateAxes) -> Array:
    """Mass matrix (n, z, z), loops cut."""
    at, count, size = places(robot), len(own.z), own.z.shape[2]
    F, half = np.zeros((count, 6, size)), np.zeros((count, size, size))
    spread(at, found, "F", F, backward=True)
    for i, leg in enumerate(robot.legs):
        part = slice(robot.elastic_plan.first[i], robot.elastic_plan.first[i] + len(leg.moving))
        leg_ = own.part(part)
        half[:, part, part] = leg_.work(F[:, :3, part], F[:, 3:, part], leg_.p, leg_.rest) * at.before[part, part]
    M = half + np.swapaxes(half, 1, 2)
    diagonal = np.arange(size)
    M[:, diagonal, diagonal] /= 2.0
    for i, leg in enumerate(robot.legs):
        if at.columns[i]:
            M[:, at.columns[i], at.columns[i]] += found[f"rotor_{i}"]
        for k, (run, columns) in enumerate(at.runs[i]):
            blocks = found[f"blocks_{i}_{k}"][:, :, ::-1].transpose(0, 2, 1)
            shape = (len(M), len(run.elements), run.size, run.size)
            M[:, columns[:, :, None], columns[:, None, :]] = blocks.reshape(shape)
        short = [beam for beam in robot.beams.get(leg.name, ()) if beam.links[0] in at.single[i]]
        pairs = [(at.column(i, j), at.column(i, k)) for beam in short for k in beam.links for j in beam.links]
        if pairs:
            rows, columns_ = np.array(pairs).T
            M[:, rows, columns_] = found[f"within_{i}"]
    if "head_mass" in found:
        n = found["head_mass"].shape[1]
        M[:, :n, :n] = found["head_mass"]
    return M


def long_chain_terms(robot: Robot, given: Arrays, reasons: Texts, friction: Friction = False) -> Arrays:
    """Inertia and bias of the legs in numbers, as `elastic_terms` has them."""
    found = evaluated(robot, "long_terms", given, reasons)
    at = axes(robot, given, found)
    result = {"mass": mass_matrix(robot, found, at), "forces": force_column(robot, found)}
    if friction and _sliding_places(robot, friction):
        sliding = evaluated(robot, "long_sliding", given, reasons, friction=friction)
        for name, P in _spread_friction(robot, at, friction, sliding).items():
            result["forces"] -= np.einsum("nzk,nk->nz", P, sliding[name])
    if "drift" in found:
        result |= {"rows": closing_matrix(robot, found, at), "drift": found["drift"]}
    return result


def long_chain_statics(robot: Robot, given: Arrays, reasons: Texts) -> Arrays:
    """Static forces and their derivative, as `elastic_statics`, by running the tangent along every coordinate."""
    still = {name: np.zeros_like(values) if "velocity" in name else values for name, values in given.items()}
    found = evaluated(robot, "long_rows", still, reasons)
    A = closing_matrix(robot, found, axes(robot, given, found))
    tangent, parameters = input_slopes(robot, "long_forces")
    size, count = len(robot.elastic_plan.columns), len(reasons)
    h, K = np.zeros((count, size)), np.zeros((count, size, size))
    for n in range(count):
        inputs = _repeated(tangent, still, n, size)
        batch = tangent.batch({**inputs, **_directions(robot, inputs)}, parameters)
        h[n] = force_column(robot, batch.outputs)[0]
        K[n] = force_column(robot, batch.outputs, SUFFIX).T
    if A.shape[1]:
        h = h + np.einsum("nmz,nm->nz", A, given["multiplier"])
        return {"forces": h, "rows": A, "stiffness": K}
    return {"forces": h, "stiffness": K}


def _repeated(tangent: Kernel, given: Arrays, n: int, count: int) -> Arrays:
    """Inputs of one sample, as often as there are directions."""
    names = [i.name for i in tangent.signature.inputs if not i.name.endswith(SUFFIX)]
    return {name: np.repeat(given[name][n : n + 1], count, axis=0) for name in names}


def _directions(robot: Robot, inputs: Arrays) -> Arrays:
    """Directions `<input>_dot` (z, ...) of the coordinates, one after the other."""
    size, n = len(robot.elastic_plan.columns), inputs["joint_position"].shape[1]
    result = {name + SUFFIX: np.zeros_like(values) for name, values in inputs.items()}
    at = size - n
    result["joint_position_dot"][at:] = np.eye(n)
    if "modes" in inputs:
        N = inputs["modes"].shape[1]
        result["modes_dot"][at - N : at] = np.eye(N)
    if robot.elastic_plan.carrier is None:
        result["position_dot"][:3] = np.eye(3)
        for k in range(3):
            result["rotation_dot"][3 + k] = np.cross(np.eye(3)[k], inputs["rotation"][0], axisa=0, axisb=0, axisc=0)
    return result


def _unit_steps(robot: Robot, columns: list[int]) -> Array:
    """Scales that make steps of some columns of z dimensionless."""
    plan = robot.elastic_plan
    return column_sizes(robot, plan.carrier, plan.first, len(plan.columns))[columns]


def _step(robot: Robot, given: Arrays, reasons: Texts) -> tuple[Array, Arrays, Array]:
    """Newton's step of the bound coordinates, the kernel's outputs, closing rows."""
    found = evaluated(robot, "long_rows", given, reasons)
    A = closing_matrix(robot, found, axes(robot, given, found))
    return -np.einsum("nbm,nm->nb", left_inverse(A[:, :, list(robot.elastic_plan.bound)]), found["residual"]), found, A


def long_chain_closing(robot: Robot, given: Arrays, reasons: Texts) -> Arrays:
    """Residual and rows of the closing loops in numbers, as `elastic_closing` has them."""
    plan, count = robot.elastic_plan, len(reasons)
    bound, free = list(plan.bound), list(plan.independent)
    now = {name: np.array(values) for name, values in given.items()}
    for name in ("joint_velocity", "velocity", "angular_velocity", "modes_velocity"):
        now[name] = np.zeros_like(now[name])
    open_, units = (reasons == "") if bound else np.zeros(count, dtype=bool), _unit_steps(robot, bound)
    for _ in range(LIMIT):
        if not open_.any():
            break
        chosen = np.flatnonzero(open_)
        own = np.full(len(chosen), "", dtype=object)
        step, _, _ = _step(robot, {name: values[chosen] for name, values in now.items()}, own)
        largest = np.abs(step / units).max(axis=1)
        good = np.isfinite(largest) & (own == "")
        part = np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300))
        _move(robot, now, chosen[good], (step * part[:, None])[good], bound)
        open_[chosen[good]] = largest[good] > NEWTON_STEP
        open_[chosen[~good]] = False
        reasons[chosen[~good]] = APART
    reasons[open_] = APART
    done = np.flatnonzero(reasons == "")
    if bound and len(done):
        step, _, _ = _step(robot, {name: values[done] for name, values in now.items()}, np.full(len(done), "", dtype=object))
        _move(robot, now, done, step, bound)
    zd = np.zeros((count, len(plan.columns)))
    zd[:, free] = given["independent_velocity"]
    if bound:
        found = evaluated(robot, "long_rows", now, reasons)
        A = closing_matrix(robot, found, axes(robot, now, found))
        zd[:, bound] = -np.einsum("nbm,nmf,nf->nb", left_inverse(A[:, :, bound]), A[:, :, free], zd[:, free])
    at = zd.shape[1] - now["joint_position"].shape[1]
    now["joint_velocity"] = zd[:, at:]
    if plan.carrier is None:
        now["velocity"], now["angular_velocity"] = zd[:, :3], zd[:, 3:6]
        now["modes_velocity"] = zd[:, 6:at]
    frame = evaluated(robot, "long_rows", now, reasons)
    names = ("platform_position", "platform_rotation", "platform_velocity", "platform_angular_velocity")
    result = {"closed_position": now["joint_position"], "closed_velocity": zd[:, at:], **{name: frame[name] for name in names}}
    for values in result.values():
        values[reasons != ""] = np.nan
    return result


def _move(robot: Robot, now: Arrays, chosen: NDArray[np.intp], step: Array, columns: list[int]) -> None:
    """Move some samples by a step of some columns of z."""
    from scipy.spatial.transform import Rotation

    at = len(robot.elastic_plan.columns) - len(robot.coordinates)
    z = np.zeros((len(chosen), len(robot.elastic_plan.columns)))
    z[:, columns] = step
    now["joint_position"][chosen] += z[:, at:]
    if robot.elastic_plan.carrier is None:
        now["position"][chosen] += z[:, :3]
        now["rotation"][chosen] = Rotation.from_rotvec(z[:, 3:6]).as_matrix() @ now["rotation"][chosen]


def long_chain_point(robot: Robot, given: Arrays, reasons: Texts) -> Arrays:
    """Position and Jacobian of a point of the platform in numbers, as `elastic_point` has them."""
    plan, found = robot.elastic_plan, evaluated(robot, "long_rows", given, reasons)
    at, bound, free = axes(robot, given, found), list(plan.bound), list(plan.independent)
    A = closing_matrix(robot, found, at)
    arm = np.einsum("nij,nj->ni", found["platform_rotation"], given["point"])
    p, w, alpha = found["platform_position"] + arm, found["platform_angular_velocity"], found["platform_angular_acceleration"]
    J = np.swapaxes(at.unit_work(p), 1, 2) * places(robot).platform()
    spin = np.cross(w, arm)
    drift = np.concatenate([found["platform_acceleration"] + np.cross(alpha, arm) + np.cross(w, spin), alpha], axis=1)
    whole = J[:, :, free]
    if bound:
        inverse = left_inverse(A[:, :, bound])
        whole = whole - J[:, :, bound] @ (inverse @ A[:, :, free])
        drift = drift - np.einsum("nib,nbm,nm->ni", J[:, :, bound], inverse, found["drift"])
    return {
        "point_position": p, "point_rotation": found["platform_rotation"],
        "point_velocity": found["platform_velocity"] + spin, "point_angular_velocity": w, "jacobian": whole, "drift": drift,
    }  # fmt: skip


def long_chain_control(robot: Robot, given: Arrays, reasons: Texts) -> Arrays:
    """Determinant of `elastic_control` up to a constant: volume of the rows by the bound coordinates, signed where square."""
    found = evaluated(robot, "long_rows", given, reasons)
    A = closing_matrix(robot, found, axes(robot, given, found))[:, :, list(robot.elastic_plan.bound)]
    if A.shape[1] == A.shape[2]:
        return {"determinant": np.linalg.det(A)}
    return {"determinant": np.sqrt(np.maximum(np.linalg.det(np.swapaxes(A, 1, 2) @ A), 0.0))}


def long_chain_sliding(robot: Robot, given: Arrays, reasons: Texts, friction: Friction) -> Arrays:
    """Friction forces and their slope, as `elastic_sliding`, by running the tangent along every rate."""
    size, count = len(robot.elastic_plan.columns), len(reasons)
    force, slope = np.zeros((count, size)), np.zeros((count, size, size))
    if not _sliding_places(robot, friction):
        return {"friction": force, "slope": slope}
    at = axes(robot, given, evaluated(robot, "long_rows", given, reasons))
    spread = _spread_friction(robot, at, friction, evaluated(robot, "long_sliding", given, reasons, friction=friction))
    tangent, parameters = input_slopes(robot, "long_sliding", friction=friction)
    for n in range(count):
        inputs = _repeated(tangent, given, n, size)
        found = tangent.batch({**inputs, **_rate_directions(robot, inputs)}, parameters).outputs
        for name, P in spread.items():
            force[n] += P[n] @ found[name][0]
            slope[n] += P[n] @ found[name + SUFFIX].T
    return {"friction": -force, "slope": -slope}


def _sliding_places(robot: Robot, friction: Friction) -> list[tuple[int, tuple[int, ...]]]:
    """`sliding_places` of a robot, kept with it."""
    from flexapod.equations.elastodynamics.long_terms import sliding_places

    key = ("sliding places", friction)
    if key not in robot.kept:
        robot.kept[key] = sliding_places(robot, friction)
    found: list[tuple[int, tuple[int, ...]]] = robot.kept[key]
    return found


def _spread_friction(robot: Robot, at: CoordinateAxes, friction: Friction, sliding: Arrays) -> Arrays:
    """Effect of each output of `long_sliding` on the coordinates (n, z, k), by the name of the output."""
    result = {}
    for k, (leg, links) in enumerate(_sliding_places(robot, friction)):
        if links:
            own = np.zeros((*at.z.shape[::2], len(links)))
            own[:, [places(robot).column(leg, link) for link in links], np.arange(len(links))] = 1.0
            result[f"axial_{k}"] = own
        else:
            result[f"cut_{k}"] = _cut_work(robot, at, leg, sliding[f"point_{k}"])
    return result


def _cut_work(robot: Robot, at: CoordinateAxes, leg: int, point: Array) -> Array:
    """(n, z, 6 + modes): work at unit rates of unit forces and moments between the halves of the joint that cuts a leg, at a
    point (n, 3), and of those on the modes of the platform."""
    closing, plan, place = robot.legs[leg].closing, robot.elastic_plan, places(robot)
    count, _, size = at.z.shape
    far = place.platform() if closing.to is None else place.moving(*closing.to)
    result = at.unit_work(point) * (far - place.moving(leg, closing.link))[:, None]
    modes = 0 if closing.to is not None or plan.carrier is not None else size - len(robot.coordinates) - 6
    felt = np.zeros((count, size, modes))
    felt[:, 6 : 6 + modes] = np.eye(modes)
    return np.concatenate([result, felt], axis=2)


def _rate_directions(robot: Robot, inputs: Arrays) -> Arrays:
    """Directions (z, ...) of the rates of the coordinates, one after the other."""
    n = inputs["joint_velocity"].shape[1]
    result = {name + SUFFIX: np.zeros_like(values) for name, values in inputs.items()}
    at = len(robot.elastic_plan.columns) - n
    result["joint_velocity_dot"][at:] = np.eye(n)
    if robot.elastic_plan.carrier is None:
        result["velocity_dot"][:3] = result["angular_velocity_dot"][3:6] = np.eye(3)
    if "modes_velocity" in inputs:
        N = inputs["modes_velocity"].shape[1]
        result["modes_velocity_dot"][at - N : at] = np.eye(N)
    return result


def long_chain_potential(robot: Robot, given: Arrays, reasons: Texts) -> Arrays:
    """Potential energy in numbers, as `elastic_potential` has it."""
    return evaluated(robot, "long_potential", given, reasons)


LONG: dict[str, Callable[..., Arrays]] = {
    "elastic_terms": long_chain_terms, "elastic_statics": long_chain_statics, "elastic_closing": long_chain_closing,
    "elastic_point": long_chain_point, "elastic_control": long_chain_control, "elastic_sliding": long_chain_sliding,
    "elastic_potential": long_chain_potential,
}  # fmt: skip
"""Quantity -> function that evaluates it where `has_looped_elements`."""
