"""The rotation forms of the robot file as 3 x 3 matrices (parent from child), and their checks. Plain Python floats."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flexapod.description.problem_report import Reporter
from flexapod.description.problems import nearest
from flexapod.description.schema import Rotation
from flexapod.description.translate import is_euler, rotation_names

Vector = Sequence[float]
Matrix = tuple[tuple[float, float, float], ...]

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
TOLERANCE = 1e-6
_PARALLEL = 1e-9
"""Sine of the angle below which two directions count as parallel."""


def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> tuple[float, float, float]:
    """Vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a: Vector) -> tuple[float, float, float]:
    """The vector with length 1; a zero vector stays zero."""
    largest = max(map(abs, a))
    if largest == 0.0:
        return (0.0, 0.0, 0.0)
    x, y, z = (v / largest for v in a)  # first scaled, so that tiny and huge vectors neither vanish nor overflow
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


def is_zero(a: Vector) -> bool:
    """Whether a direction is (almost) the zero vector, and so none."""
    return max(map(abs, a)) < 1e-12


def parallel(a: Vector, b: Vector) -> bool:
    """Whether two directions are parallel or opposite."""
    return math.sqrt(dot(*[cross(unit(a), unit(b))] * 2)) < _PARALLEL


def apply(R: Matrix, a: Vector) -> tuple[float, float, float]:
    """R a."""
    return (dot(R[0], a), dot(R[1], a), dot(R[2], a))


def compose(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = tuple(zip(*B, strict=True))
    return tuple((dot(r, columns[0]), dot(r, columns[1]), dot(r, columns[2])) for r in A)


def about(axis: Vector, angle: float) -> Matrix:
    """Rotation about an axis (Rodrigues)."""
    x, y, z = unit(axis)
    c, s = math.cos(angle), math.sin(angle)
    t = 1.0 - c
    return (
        (c + t * x * x, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, c + t * y * y, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, c + t * z * z),
    )


def _of_quaternion(quat_wxyz: Sequence[float]) -> Matrix:
    length = math.sqrt(sum(v * v for v in quat_wxyz))
    if length == 0.0:
        return IDENTITY
    w, x, y, z = (v / length for v in quat_wxyz)
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def form_of(rotation: Rotation) -> list[str]:
    """The forms in which a rotation is given; a right one has exactly one."""
    forms = [name for name in ("matrix", "quat_wxyz") if getattr(rotation, name) is not None]
    if rotation.axis is not None or rotation.angle is not None:
        forms.append("axis")
    if rotation.toward_x is not None or rotation.toward_z is not None:
        forms.append("toward")
    return forms + list(rotation.model_extra or {})


def rotation_matrix(rotation: Rotation | None) -> Matrix:
    """Parent-from-child matrix of a checked rotation; no rotation is the identity."""
    if rotation is None:
        return IDENTITY
    if rotation.matrix is not None:
        return tuple((row[0], row[1], row[2]) for row in rotation.matrix)
    if rotation.quat_wxyz is not None:
        return _of_quaternion(rotation.quat_wxyz)
    if rotation.axis is not None:
        return about(rotation.axis, rotation.angle or 0.0)
    if rotation.toward_x is not None and rotation.toward_z is not None:
        z = unit(rotation.toward_z)
        y = unit(cross(z, unit(rotation.toward_x)))
        x = cross(y, z)
        return tuple(zip(x, y, z, strict=True))
    R = IDENTITY
    for sequence, angles in (rotation.model_extra or {}).items():
        for letter, angle in zip(sequence, angles, strict=True):
            elementary = about(IDENTITY["xyz".index(letter.lower())], angle)
            # Upper case: about the rotated axes. Lower case: about the fixed ones.
            R = compose(R, elementary) if letter.isupper() else compose(elementary, R)
    return R


def check_rotation(rotation: Rotation | None, report: Reporter) -> bool:
    """Whether a rotation is given in exactly one right form; what is wrong is reported."""
    if rotation is None:
        return True
    forms = form_of(rotation)
    wrong = [name for name in rotation.model_extra or {} if not is_euler(name)]
    for name in wrong:
        mixed = set(name) <= set("xyzXYZ") and not (name.isupper() or name.islower())
        twice = set(name.lower()) <= set("xyz") and len(name) <= 3 and not mixed
        hint = "Use capitals (rotated axes) or small letters (fixed axes), not both." if mixed else ""
        hint = "Name a different axis for neighbouring rotations." if twice else hint
        report.error((name,), "unknown key", hint or nearest(name, rotation_names()))
    if wrong:
        return False
    if len(forms) != 1:
        what = f"is given in {len(forms)} forms ({', '.join(forms)})" if forms else "says nothing"
        report.error((), what, "Give exactly one of matrix, quat_wxyz, axis and angle, toward_x and toward_z, or XYZ.")
        return False
    checks = {
        "matrix": _check_matrix,
        "quat_wxyz": _check_quaternion,
        "axis": _check_axis,
        "toward": _check_toward,
    }
    return checks.get(forms[0], _check_euler)(rotation, report)


def _check_matrix(rotation: Rotation, report: Reporter) -> bool:
    R = rotation_matrix(rotation)
    for i in range(3):
        for j in range(i, 3):
            if abs(dot(R[i], R[j]) - (i == j)) > TOLERANCE:
                what = f"rows {i + 1} and {j + 1} are not at right angles" if i != j else f"row {i + 1} has not length 1"
                report.error(("matrix",), what, "Write at least 7 digits, or use another form.")
                return False
    if dot(cross(R[0], R[1]), R[2]) < 0:
        report.error(("matrix",), "is a reflection (left-handed)", "Change the sign of one row.")
        return False
    return True


def _check_quaternion(rotation: Rotation, report: Reporter) -> bool:
    norm = math.sqrt(sum(v * v for v in rotation.quat_wxyz or ()))
    if abs(norm - 1.0) > TOLERANCE:
        report.error(("quat_wxyz",), f"must have norm 1, has {norm:.9g}", "Divide it by its norm.")
        return False
    return True


def _check_axis(rotation: Rotation, report: Reporter) -> bool:
    if rotation.axis is None or rotation.angle is None:
        missing = "axis" if rotation.axis is None else "angle"
        report.error((missing,), "is missing", "Give axis and angle together.")
        return False
    if is_zero(rotation.axis):
        report.error(("axis",), "is zero, so it has no direction", "Write e.g. [0, 0, 1].")
        return False
    return True


def _check_toward(rotation: Rotation, report: Reporter) -> bool:
    if rotation.toward_x is None or rotation.toward_z is None:
        missing = "toward_x" if rotation.toward_x is None else "toward_z"
        report.error((missing,), "is missing", "Give toward_x and toward_z together.")
        return False
    if is_zero(rotation.toward_x) or is_zero(rotation.toward_z) or parallel(rotation.toward_x, rotation.toward_z):
        report.error((), "toward_x and toward_z must be two different directions", "Choose toward_x across toward_z.")
        return False
    return True


def _check_euler(rotation: Rotation, report: Reporter) -> bool:
    ((name, angles),) = (rotation.model_extra or {}).items()
    if len(angles) != len(name):
        report.error((name,), f"must have {len(name)} angles, has {len(angles)}", "One angle for each letter.")
        return False
    return True
