r"""Criteria: numbers by which designs are judged, each with its unit, its kernel and its verb.

Over the poses or samples of a motion (axis 1 below), per design (axis 0):

.. math:: \max_{t,i} |\Gamma_i|,\quad \max_i \sqrt{\overline{\Gamma_i^2}},\quad \max_t \kappa(J),\quad
          k_{\min} = 1/\lambda_{\max}(C_{vv}),\quad C = (J^T \mathrm{diag}(k) J)^{-1},\quad
          \omega_{\min}^2 = \lambda_{\min}(M^{-1} J^T \mathrm{diag}(k) J)

Letters: Gamma actuator forces, J actuator rates per twist, k stiffness of the actuators, C compliance, M mass matrix.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.design.variables import number
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
Outputs = Mapping[str, Array]


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A number per design.

    Args:
        name: of its column.
        unit: of the number.
        better: ``"low"`` or ``"high"``: what Pareto fronts prefer.
        function: of a robot, instead of a name of the vocabulary; evaluated on a robot built per design.
        kind: the name in the vocabulary; left out: `name`.
        options: ``stiffness`` of the actuators [N/m or N m/rad], ``load`` (6,) [N, N m] on the platform.
    """

    name: str
    unit: str = ""
    better: str = "low"
    function: Callable[[Robot], float] | None = None
    kind: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How a criterion of the vocabulary is computed: unit, preferred end, kernels, options needed, reduction."""

    unit: str
    better: str
    kernels: tuple[str, ...]
    reduce: Callable[[Outputs, Mapping[str, Any]], Array]
    needs: tuple[str, ...] = ()
    doc: str = ""


def _rms(o: Outputs, _: Any) -> Array:
    return np.asarray(np.sqrt((o["force"] ** 2).mean(axis=1)).max(axis=1))


def _peak(name: str) -> Callable[[Outputs, Any], Array]:
    return lambda o, _: np.asarray(np.abs(o[name]).max(axis=(1, 2)))


def _power(o: Outputs, _: Any) -> Array:
    return np.asarray(np.abs(o["force"] * o["actuator_velocity"]).max(axis=(1, 2)))


def _stroke(o: Outputs, _: Any) -> Array:
    q = o["actuator_position"]
    return np.asarray((q.max(axis=1) - q.min(axis=1)).max(axis=1))


def _scaled(o: Outputs, options: Mapping[str, Any]) -> Array:
    """J (n, m, a, 6) with dimensionless columns; prismatic rows over the characteristic length."""
    length = options["length"]
    rows = np.where(np.asarray(options["angular"]), 1.0, 1.0 / length)
    return np.asarray(o["jacobian"] * np.array([length] * 3 + [1.0] * 3) * rows[:, None])


def _condition(o: Outputs, options: Mapping[str, Any]) -> Array:
    s = np.linalg.svd(_scaled(o, options), compute_uv=False)
    with np.errstate(divide="ignore"):
        return np.asarray((s[..., 0] / s[..., -1]).max(axis=1))


def _distance(o: Outputs, options: Mapping[str, Any]) -> Array:
    J = o["jacobian"] * np.array([options["length"]] * 3 + [1.0] * 3)
    J = J / np.linalg.norm(J, axis=-1, keepdims=True)
    return np.asarray(np.linalg.svd(J, compute_uv=False)[..., -1].min(axis=1))


def _stiff(o: Outputs, options: Mapping[str, Any]) -> Array:
    """J^T k J (n, m, 6, 6)."""
    J = o["jacobian"]
    return np.asarray(np.swapaxes(J, -1, -2) @ (J * options["stiffness"]))


def _inverse(K: Array) -> Array:
    """Inverses; NaN where singular."""
    bad: NDArray[np.bool_] = np.asarray(np.logical_not(np.linalg.cond(K) < 1e15))
    return np.asarray(np.where(bad[..., None, None], np.nan, np.linalg.inv(np.where(bad[..., None, None], np.eye(6), K))))


def _stiffness(o: Outputs, options: Mapping[str, Any]) -> Array:
    C = _inverse(_stiff(o, options))[..., :3, :3]
    bad: NDArray[np.bool_] = np.asarray(np.logical_not(np.isfinite(C).all(axis=(-1, -2))))
    yields = np.linalg.eigvalsh(np.where(bad[..., None, None], np.eye(3), C))[..., -1]
    return np.asarray(np.where(bad, 0.0, 1.0 / yields).min(axis=1))


def _deflection(o: Outputs, options: Mapping[str, Any]) -> Array:
    moved = _inverse(_stiff(o, options)) @ np.asarray(options["load"], dtype=np.float64)
    return np.asarray(np.linalg.norm(moved[..., :3], axis=-1).max(axis=1))


def _frequency(o: Outputs, options: Mapping[str, Any]) -> Array:
    L = np.linalg.cholesky(o["mass_matrix"])
    A = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, _stiff(o, options)), -1, -2))
    lowest = np.linalg.eigvalsh((A + np.swapaxes(A, -1, -2)) / 2)[..., 0]
    return np.asarray((np.sqrt(np.maximum(lowest, 0.0)) / (2 * np.pi)).min(axis=1))


FORCE = "N or N m"
RULES: dict[str, Rule] = {
    "peak_force": Rule(unit=FORCE, better="low", kernels=("forces",), reduce=_peak("force"), doc="largest actuator force"),
    "rms_force": Rule(unit=FORCE, better="low", kernels=("forces",), reduce=_rms, doc="RMS over the motion, largest actuator"),
    "peak_power": Rule(unit="W", better="low", kernels=("forces", "rates"), reduce=_power, doc="largest |force x rate|"),
    "peak_speed": Rule(unit="m/s or rad/s", better="low", kernels=("rates",), reduce=_peak("actuator_velocity"), doc="rate"),
    "stroke": Rule(unit="m or rad", better="low", kernels=("rates",), reduce=_stroke, doc="largest travel of an actuator"),
    "longest": Rule(
        unit="m or rad", better="low", kernels=("rates",), doc="largest actuator coordinate",
        reduce=lambda o, _: np.asarray(o["actuator_position"].max(axis=(1, 2))),
    ),
    "shortest": Rule(
        unit="m or rad", better="high", kernels=("rates",), doc="smallest actuator coordinate",
        reduce=lambda o, _: np.asarray(o["actuator_position"].min(axis=(1, 2))),
    ),
    "worst_condition": Rule(unit="1", better="low", kernels=("jacobian",), reduce=_condition, doc="condition number"),
    "singularity_distance": Rule(unit="1", better="high", kernels=("jacobian",), reduce=_distance, doc="type 2, at most 1"),
    "stiffness": Rule(
        unit="N/m", better="high", kernels=("jacobian",), reduce=_stiffness, needs=("stiffness",), doc="smallest, of translation"
    ),
    "deflection": Rule(
        unit="m", better="low", kernels=("jacobian",), reduce=_deflection, needs=("stiffness", "load"), doc="under a load"
    ),
    "lowest_frequency": Rule(
        unit="Hz", better="high", kernels=("mass",), reduce=_frequency, needs=("stiffness",), doc="on actuator springs"
    ),
    "peak_reaction": Rule(
        unit="N", better="low", kernels=("reactions",), doc="largest joint force",
        reduce=lambda o, _: np.asarray(np.linalg.norm(o["reaction_force"], axis=-1).max(axis=(1, 2))),
    ),
    "mass": Rule(unit="kg", better="low", kernels=("masses",), reduce=lambda o, _: o["total_mass"], doc="of all bodies"),
}  # fmt: skip
"""The vocabulary."""


def make_criteria(criteria: Any) -> tuple[Criterion, ...]:
    """The criteria of a request: names of the vocabulary, `Criterion`s, or mappings with their fields (from YAML).

    Checked by: tests/design/test_design_requests.py.
    """
    given = [criteria] if isinstance(criteria, str | Criterion | Mapping) else criteria
    if not isinstance(given, Sequence) or not given:
        raise InputError("criteria: give one or more of: " + ", ".join(RULES))
    found = tuple(_criterion(c) for c in given)
    names = [c.name for c in found]
    double = [n for n in names if names.count(n) > 1]
    if double:
        raise InputError(f"criteria: {double[0]!r} is given twice; give one of them another name")
    return found


def _criterion(given: Any) -> Criterion:
    if isinstance(given, str):
        given = Criterion(name=given)
    elif isinstance(given, Mapping):
        fields = {k: v for k, v in given.items() if k in ("name", "kind", "better", "unit")}
        rest = {k: v for k, v in given.items() if k not in fields}
        wrong = [str(k) for k in rest if k not in ("stiffness", "load")]
        if wrong or "name" not in fields:
            what = f"there is no field {wrong[0]!r}" if wrong else "a mapping needs a name"
            raise InputError(f"criteria: {what}; fields are name, kind, better, unit, stiffness, load")
        given = Criterion(**fields, options=rest)
    if not isinstance(given, Criterion):
        raise InputError(f"criteria: expected a name, a Criterion or a mapping, got {type(given).__name__}")
    if given.better not in ("low", "high"):
        raise InputError(f"criteria: {given.name}: better is 'low' or 'high', not {given.better!r}")
    if given.function is not None:
        return given
    kind = given.kind or given.name
    if kind not in RULES:
        near = difflib.get_close_matches(kind, list(RULES), n=1)
        hint = f"did you mean {near[0]!r}? There are" if near else "there are"
        raise InputError(f"criteria: there is no criterion {kind!r}; {hint}: {', '.join(RULES)}")
    rule = RULES[kind]
    missing = [name for name in rule.needs if name not in given.options]
    if missing:
        raise InputError(
            f"criteria: {given.name} needs {missing[0]!r}: Criterion(name={kind!r}, options={{{missing[0]!r}: ...}})"
        )
    extra = [name for name in given.options if name not in rule.needs]
    if extra:
        raise InputError(f"criteria: {given.name} has no option {extra[0]!r}")
    options = dict(given.options)
    if "stiffness" in options:
        options["stiffness"] = number(f"criteria: {given.name}: stiffness", options["stiffness"])
    if "load" in options and np.shape(options["load"]) != (6,):
        raise InputError(f"criteria: {given.name}: load: expected six numbers (force, moment), got {options['load']!r}")
    better = given.better if given.better != "low" else rule.better
    return Criterion(name=given.name, unit=given.unit or rule.unit, better=better, kind=kind, options=options)
