"""A flexible platform: built from the robot file, and its shape moments as values for kernels.

Letters as in `equations.flexible_platform`: S_k, H_k, G_ik are moments of the shapes over the mass; from the papers'
tensors H_k = tr(I_re)/2 1 - I_re^T and G_ik = tr(I_ee)/2 1 - I_ee^T (Briot 2014 Eq. 60).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.description.check_flexible import path_beside
from flexapod.description.problems import RobotFileError
from flexapod.description.read import Description, problem_at
from flexapod.description.schema_flexible import Flexible
from flexapod.errors import FlexapodError, RobotBuildError
from flexapod.robot.geometry import frozen
from flexapod.robot.model import Leg, RigidBody

if TYPE_CHECKING:
    from flexapod.flexible import FlexibleBody, Interface
    from flexapod.flexible.materials import Material

SAME_POINT = 1e-6
"""Distance [m] within which an interface of a flexible body is the joint of the robot."""

NEGLIGIBLE = 1e-14
"""Shapes and moments below this part of the largest that their kind can be are rounding of sums over nodes: structural zeros."""

DIAGONAL = 1e-11
"""Off-diagonal entries of elastic matrices below this part of the geometric mean of their diagonals are rounding of modes."""

UNROLLED = 12
"""Modes up to which kernels have the moments of pairs of modes as straight-line code, without zeros; loops beyond keep the time
of compilation in bounds."""

PAIRS = tuple(a + b for a in "xyz" for b in "xyz")


@dataclass(frozen=True, kw_only=True)
class FlexibleShape:
    """Entries that the shape moments have: axis letters of S, pairs of H and G; `normal`: M_ee, K_ee, D_ee are diagonal;
    `quadratic`: axes along which joints have a quadratic displacement, `stretches`: number of quadratic strains (stiffening)."""

    modes: int
    S: tuple[str, ...]
    H: tuple[str, ...]
    G: tuple[str, ...]
    normal: bool
    quadratic: tuple[str, ...] = ()
    stretches: int = 0


def make_flexible(
    description: Description, joints: Mapping[str, Array], points: Mapping[str, Array] | None = None
) -> FlexibleBody | None:
    """The flexible platform that a robot file describes, with an interface at every joint and named point; None if it is rigid.

    Args:
        joints: leg name -> (3,) joint in the platform frame.
        points: named points of the platform, in its frame.

    Raises:
        RobotFileError: it cannot be made: an invalid file of modes, a plate that cannot be meshed; with file and line.

    Checked by: tests/robot/test_files_of_modes.py.
    """
    from flexapod.flexible.errors import FlexibleBodyError

    spec = description.file.platform.flexible
    if spec is None:
        return None
    try:
        body = damped(made_modal(spec, joints, description.path, points or {}), spec)
        if not len(body.M_ee):
            raise FlexibleBodyError("modes: a flexible platform without modes is rigid; keep one or more, or remove flexible.")
        return body
    except FlexibleBodyError as error:
        key = "file" if spec.type == "modes" else "type"
        hint = "Put a file of `flexapod.flexible.save_modes` there." if spec.type == "modes" else "Change the plate."
        raise RobotFileError([problem_at(description, ("platform", "flexible", key), str(error).rstrip("."), hint)]) from None


def made_modal(
    spec: Flexible, joints: Mapping[str, Array], path: Path | None, points: Mapping[str, Array], root: str | None = None
) -> FlexibleBody:
    """The plate or file of modes that a file's words describe, undamped; a plate has interfaces at joints and points.

    Args:
        root: joint that holds a link; a stiffened plate then moves in its plane too.
    """
    from flexapod import flexible
    from flexapod.flexible.errors import FlexibleBodyError

    if spec.type == "modes":
        beside = path_beside(path, spec.file) if path is not None and spec.file is not None else None
        if beside is None:
            raise RobotBuildError("flexible: a file of modes needs a robot file beside it")
        body = flexible.from_modes(beside)
        body = body.truncated(spec.modes) if spec.modes is not None else body
        if spec.stiffening and not body.stiffened:
            raise FlexibleBodyError(
                "stiffening needs the geometric stiffness of the body, which the file does not hold; save a body that has it "
                "(`flexapod.flexible.FlexibleBody.with_stiffening`), or write stiffening: false"
            )
        body = body.unstiffened() if spec.stiffening is False else body
    elif spec.type == "plate":
        stiff = bool(spec.stiffening)
        body = flexible.plate(**plate_arguments(spec, joints, points), stiffening=stiff, root=root if stiff else None)
    else:
        raise RobotBuildError("platform.flexible: a platform is a plate or a file of modes; beams are for legs")
    return body


def plate_arguments(spec: Flexible, joints: Mapping[str, Array], points: Mapping[str, Array]) -> dict[str, Any]:
    """Arguments of `flexapod.flexible.plate` that a file's words give; joints and named points become interfaces."""
    own = _constants(spec)
    return {
        "outline": np.array(spec.outline),
        "thickness": spec.thickness or 0.0,
        "young": own.young or 0.0,
        "poisson": own.poisson or 0.0,
        "density": own.density or 0.0,
        "theory": spec.theory or "mindlin",
        "modes": spec.modes if spec.modes is not None else 10,
        "method": (spec.reduction.method if spec.reduction is not None else None) or "normal",
        "boundary": spec.reduction.boundary if spec.reduction is not None else "free",
        "interfaces": {**_places(joints), **_places({f"point {name}": p for name, p in points.items()})},
    }


def damped(body: FlexibleBody, spec: Flexible) -> FlexibleBody:
    """The body with the damping that the file's words give, if any."""
    if spec.rayleigh is not None:
        return body.with_rayleigh(mass=spec.rayleigh.mass, stiffness=spec.rayleigh.stiffness)
    if spec.loss_factor is not None:
        return body.with_loss_factor(spec.loss_factor)
    return body.with_damping(spec.damping) if spec.damping is not None else body


def _constants(spec: Flexible) -> Flexible | Material:
    """Young's modulus, Poisson's ratio and density of a plate: those of its material, or those that the file gives."""
    from flexapod.flexible import materials

    try:
        return spec if spec.material is None else materials.material(spec.material)
    except FlexapodError as error:
        raise RobotBuildError(f"material: {error}") from error


def _places(points: Mapping[str, Array]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(float(x) for x in p) for name, p in points.items()}


def rigid_part(body: FlexibleBody, points: Mapping[str, Array], flexible: Flexible | None) -> RigidBody:
    """The undeformed body as a rigid one, about the same frame origin."""
    return RigidBody(
        name="platform",
        mass=float(body.mass),
        first_moment=frozen(body.MS_r),
        inertia=frozen(body.I_rr),
        points=dict(points),
        body_axes=frozen(np.eye(3)),
        flexible=flexible,
    )


def joint_shapes(body: FlexibleBody, legs: Sequence[Leg]) -> dict[str, Array]:
    """Displacement shapes (3, N) at each leg's joint: interfaces are matched by position.

    Raises:
        RobotBuildError: a leg has several joints on the platform, or none.
    """
    for leg in legs:
        if sum(closing.to is None for closing in leg.closings) != 1:
            why = f"leg {leg.name}: a flexible platform takes one joint of every leg"
            raise RobotBuildError(f"{why}; with more, make it a body of a leg and write `platform: {{body: leg.body}}`")
    return {leg.name: _clean(np.asarray(_interface(body, leg).Phi_d)) for leg in legs}


def joint_displacements(names: Sequence[str], shapes: Mapping[str, Array], curving: Mapping[str, Array], modes: Array) -> Array:
    """Displacement (n, legs, 3) of the joints of legs, platform axes, for modes (n, N)."""
    result = np.einsum("lik,nk->nli", np.array([shapes[name] for name in names]), modes)
    if curving:
        result = result + np.einsum("laij,ni,nj->nla", np.array([curving[name] for name in names]), modes, modes) / 2.0
    return np.asarray(result)


def joint_curving(body: FlexibleBody, legs: Sequence[Leg]) -> dict[str, Array]:
    """Matrices (3, N, N) of the quadratic displacement at each leg's joint; empty for a body without stiffening.

    Raises:
        RobotBuildError: a leg that ends in another joint than a spherical one: its moments would stiffen the body too.
    """
    if not body.stiffened:
        return {}
    result = {}
    for leg in legs:
        if leg.closing.type != "spherical":
            raise RobotBuildError(
                f"stiffening of the flexible platform: leg {leg.name} ends in a {leg.closing.type} joint, whose moments would "
                "stiffen the platform as well; end the leg in a spherical joint, or write stiffening: false"
            )
        result[leg.name] = _clean(np.asarray(_interface(body, leg).Q))
    return result


def joint_rotations(body: FlexibleBody, legs: Sequence[Leg]) -> dict[str, Array]:
    """Rotation shapes (3, N) at the joints that pass moments: all but spherical ones."""
    result = {}
    for leg in legs:
        if leg.closing.type == "spherical":
            continue
        rotations = _interface(body, leg).Phi_r
        if rotations is None:
            raise RobotBuildError(
                f"the flexible platform has no rotations at the {leg.closing.type} joint of leg {leg.name}; "
                "give its modes Phi_r there, or end the leg in a spherical joint"
            )
        result[leg.name] = _clean(np.asarray(rotations))
    return result


def _interface(body: FlexibleBody, leg: Leg) -> Interface:
    """The interface of a flexible platform at a leg's joint."""
    p = leg.closing.on_platform.position
    found = [i for i in body.interfaces.values() if float(np.linalg.norm(i.r0 - p)) < SAME_POINT]
    if found:
        return found[0]
    away = [float(np.linalg.norm(i.r0 - p)) for i in body.interfaces.values()]
    rest = f"the nearest is {min(away):.3g} m away" if away else "it has none at all; save its modes with interfaces there"
    raise RobotBuildError(
        f"the flexible platform has no interface at the joint of leg {leg.name} ({np.round(p, 6).tolist()} m); {rest}"
    )


def moments(body: FlexibleBody) -> tuple[Array, Array, Array]:
    """S (N, 3), H (N, 3, 3), G (N, N, 3, 3)."""
    eye = np.eye(3)
    H = np.trace(body.I_re, axis1=1, axis2=2)[:, None, None] / 2 * eye - np.swapaxes(body.I_re, 1, 2)
    G = np.trace(body.I_ee, axis1=2, axis2=3)[..., None, None] / 2 * eye - np.swapaxes(body.I_ee, 2, 3)
    modal = np.sqrt(np.abs(np.diag(body.M_ee)))  # per coordinate: displacements and angles have scales of their own
    first, second = np.sqrt(body.mass) * modal, np.sqrt(np.trace(body.I_rr)) * modal  # bounds by Cauchy-Schwarz
    if body.T_ee is not None:
        G = G + body.T_ee
    pairs = np.outer(modal, modal)[:, :, None, None]
    return _small(np.asarray(body.MS_de).T, first[:, None]), _small(H, second[:, None, None]), _small(G, pairs)


def _clean(values: Array) -> Array:
    """Values of one unit without rounding: those below a part of the largest are zero."""
    return np.where(np.abs(values) <= NEGLIGIBLE * np.abs(values).max(initial=0.0), 0.0, values)


def _small(values: Array, scale: Array) -> Array:
    """Values without rounding, each against the scale of its own coordinates."""
    return np.where(np.abs(values) <= NEGLIGIBLE * scale, 0.0, values)


def _clean_matrix(matrix: Array) -> Array:
    """An elastic matrix without rounding, each entry against the geometric mean of its diagonals: units may be mixed."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    return _small(matrix, np.outer(size, size))


def _diagonal(matrix: Array) -> bool:
    """A matrix of normal modes: diagonal up to rounding."""
    scale = np.sqrt(np.abs(np.outer(np.diag(matrix), np.diag(matrix))))
    return bool(np.all(np.abs(matrix - np.diag(np.diag(matrix))) <= DIAGONAL * scale))


def shape_of(body: FlexibleBody, shapes: Mapping[str, Array]) -> tuple[FlexibleShape, tuple[str, ...]]:
    """Structure of a body's moments, and the axes along which its joints move."""
    letters = tuple(a for i, a in enumerate("xyz") if any(np.any(Phi[i]) for Phi in shapes.values()))
    return moment_shape(body), letters


def moment_shape(body: FlexibleBody) -> FlexibleShape:
    """Structure of a body's moments."""
    S, H, G = moments(body)
    Q = [np.asarray(point.Q) for point in body.interfaces.values() if point.Q is not None]
    return FlexibleShape(
        modes=len(S),
        S=tuple(a for i, a in enumerate("xyz") if np.any(S[:, i])),
        H=tuple(p for p in PAIRS if np.any(H[:, "xyz".index(p[0]), "xyz".index(p[1])])),
        G=tuple(p for p in PAIRS if np.any(G[:, :, "xyz".index(p[0]), "xyz".index(p[1])])),
        normal=all(_diagonal(np.asarray(matrix)) for matrix in (body.M_ee, body.K_ee, body.D_ee)),
        quadratic=tuple(a for i, a in enumerate("xyz") if any(np.any(each[i]) for each in Q)),
        stretches=0 if body.stretch is None else len(body.stretch),
    )


def flexible_values(
    body: FlexibleBody, shapes: Mapping[str, Array], rotations: Mapping[str, Array], curving: Mapping[str, Array]
) -> dict[str, float]:
    """The numbers of a flexible platform by name, as kernels read them."""
    shape, letters = shape_of(body, shapes)
    values = moment_values("platform", body)
    for k in range(shape.modes):
        for leg, Phi in shapes.items():
            values.update({f"legs.{leg}.Phi.{k}.{a}": float(Phi["xyz".index(a), k]) for a in letters})
        for leg, Phi in rotations.items():
            values.update({f"legs.{leg}.Phi_r.{k}.{a}": float(Phi[i, k]) for i, a in enumerate("xyz")})
        for leg, Q in curving.items():
            for a in shape.quadratic:
                values.update({f"legs.{leg}.Q.{a}.{i}.{k}": float(Q["xyz".index(a), i, k]) for i in range(k + 1)})
    return values


def moment_values(prefix: str, body: FlexibleBody) -> dict[str, float]:
    """Moments and elastic matrices of a flexible body below a prefix."""
    shape, (S, H, G) = moment_shape(body), moments(body)
    values: dict[str, float] = {}
    for k in range(shape.modes):
        values.update({f"{prefix}.flex.S.{k}.{a}": float(S[k, "xyz".index(a)]) for a in shape.S})
        for p in shape.H:
            values[f"{prefix}.flex.H.{k}.{p}"] = float(H[k, "xyz".index(p[0]), "xyz".index(p[1])])
        for p in shape.G:
            pair = G[:, k, "xyz".index(p[0]), "xyz".index(p[1])]
            values.update({f"{prefix}.flex.G.{p}.{i}.{k}": float(pair[i]) for i in range(shape.modes)})
        for name, matrix in (("M", body.M_ee), ("K", body.K_ee), ("D", body.D_ee)):
            tidy = np.diag(np.diag(matrix)) if shape.normal else _clean_matrix(np.asarray(matrix))
            values.update({f"{prefix}.flex.{name}.{i}.{k}": float(tidy[i, k]) for i in range(k + 1)})
        for r, A in enumerate(() if body.stretch is None else body.stretch):
            values.update({f"{prefix}.flex.A.{r}.{i}.{k}": float(A[i, k]) for i in range(k + 1)})
    return values


def structural_zeros(values: Mapping[str, float]) -> frozenset[str]:
    """Names of values that are zero by structure; what belongs to many modes is read in rows and stays a number."""
    many = f"platform.flex.M.{UNROLLED}.{UNROLLED}" in values
    rows, inside = ("platform.flex.",) if many else ("platform.flex.A.",), (".Q.", ".Phi.") if many else (".Q.",)
    zeros = (name for name, value in values.items() if value == 0.0)
    return frozenset(name for name in zeros if not name.startswith(rows) and not any(part in name for part in inside))
