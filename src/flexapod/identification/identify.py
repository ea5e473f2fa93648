"""`identify`: masses, inertias and friction of a robot from measured actuator positions and forces, with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import check_option
from flexapod.arrays import Array
from flexapod.calls import check_count, check_finite, check_flag
from flexapod.errors import InputError
from flexapod.identification.bad_data import LOOKED, BadDataError, Suspicion, poorly_excited, suspicions
from flexapod.identification.base_parameters import BaseParameters, base_parameters
from flexapod.identification.delay import find_delay
from flexapod.identification.estimators import METHODS, Estimate, Method, essential
from flexapod.identification.iterations import iterated, loading_robot
from flexapod.identification.linear_model import Legs
from flexapod.identification.measurement import Measurement, measurement
from flexapod.identification.physical_consistency import PRIOR
from flexapod.identification.problem import EstimationProblem, Experiment, Options, experiment
from flexapod.identification.result import Identification, Validation
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    from flexapod.identification.measurement import Data
    from flexapod.robot.robot import Robot

Instrument: TypeAlias = "Data | ActuatorMotion"
Instruments: TypeAlias = "Instrument | list[Instrument] | tuple[Instrument, ...] | None"
"""Instruments of `method="iv"`; the text ``reference`` is no path."""


class KnownPayload(TypedDict, total=False):
    """A known payload: mass [kg], com (3,) [m] in platform axes, inertia (3, 3) about its centre [kg m^2]."""

    mass: float
    com: ArrayLike
    inertia: ArrayLike


@checked(decimate=check_count, cutoff=check_finite, offset=check_flag, backlash=check_flag, drop_outliers=check_flag)
def identify(
    robot: Robot,
    data: Data | list[Data] | tuple[Data, ...],
    *,
    parameters: Sequence[str] | None = None,
    method: Method = "wls",
    legs: Legs = "each",
    friction: bool = True,
    cutoff: float | None = None,
    decimate: int = 1,
    offset: bool = False,
    backlash: bool = False,
    gain: ArrayLike | None = None,
    payload: KnownPayload | list[KnownPayload | None] | tuple[KnownPayload | None, ...] | None = None,
    delay: float | Literal["find"] = 0.0,
    instruments: Instruments = None,
    drop_outliers: bool = False,
    least_speed: float = 0.0,
    physical: bool = False,
    prior: float = PRIOR,
    least: float = 3.0,
    validate: Data | None = None,
    on_bad: Literal["raise", "report"] = "raise",
    base: BaseParameters | None = None,
) -> Identification:
    """Estimate the parameters of a robot.

    Args:
        robot: any robot; with rigid bodies its base parameters are estimated by the regressor. Its own numbers are the prior.
        data: measurement (see `measurement`), or a list of them: actuator positions with forces or currents.
        parameters: dotted paths of the robot file to fit instead, by Gauss-Newton on `inverse_dynamics`; needed for robots with
            flexible bodies, whose deflections follow from the elastic model.
        method: ``"wls"``, ``"ols"``, ``"iv"`` (with `instruments`) or ``"robust"``.
        legs: ``"each"`` leg has its own parameters, or all are ``"alike"``.
        friction: with the friction laws of the file; loads of the joints follow the estimate.
        cutoff: [Hz] of the zero-phase filter of the positions; None uses them as they are.
        decimate: samples that are averaged to one equation, on both sides alike: residuals become uncorrelated in time.
        offset: with a constant offset of every actuator's force.
        backlash: with a gap in every drive between its encoder and the robot [m or rad]: the robot lags by half of it behind the
            encoder's motion. Its effect on the forces is that of the file's numbers; see `flexapod.identification.backlash`.
        gain: of currents to forces [N/A], one number or one per actuator; ``"find"`` estimates them, for which one of several
            measurements carries a known `payload`.
        payload: known payload on the platform, ``{"mass": .., "com": [..]}``, or a list of them (None for no payload).
        delay: [s] by which the force channel lags behind the positions; ``"find"`` searches for it.
        instruments: for ``"iv"``: measurement without the noise of the data, e.g. a simulation of the same motion, or
            ``"reference"`` for the motion that the controller was asked for.
        drop_outliers: leave out samples whose force is a spike.
        least_speed: [m/s or rad/s] of every actuator below which a sample is left out: near rest friction is not that of a law.
        physical: make the estimate physically consistent (cvxpy).
        prior: weight of the file's numbers in that step.
        least: t-ratio from which a parameter counts as essential.
        validate: another measurement, whose forces are predicted with the estimate.
        base: of `base_parameters` for the same `friction` and `legs`, to save the time of finding them again.
        on_bad: ``"raise"`` refuses data that look wrong, ``"report"`` lists the suspicions in the result.
    Returns:
        `Identification`: estimated parameters with standard errors, and the identified robot.
    Raises:
        BadDataError: the data look wrong (units, signs, gaps, saturation); lists every suspicion.

    Checked by: tests/identification/test_identify.py, tests/identification/test_campaigns.py.
    """
    check_option("method", method, METHODS)
    check_option("on_bad", on_bad, ("raise", "report"))
    refuse(
        robot, "identify", parameters=parameters, method=method, legs=legs, gain=gain, payload=payload, delay=delay,
        instruments=instruments, physical=physical, drop_outliers=drop_outliers, least_speed=least_speed, offset=offset,
        base=base, backlash=backlash,
    )  # fmt: skip
    if isinstance(decimate, bool) or int(decimate) != decimate or decimate < 1:
        raise InputError(f"decimate: expected a whole number of at least 1, got {decimate!r}")
    every = [measurement(robot, one) for one in (data if isinstance(data, list | tuple) else [data])]
    options = Options(
        cutoff=cutoff, decimate=int(decimate), offset=offset, backlash=backlash, drop_outliers=drop_outliers,
        least_speed=float(least_speed),
    )  # fmt: skip
    if parameters is not None:
        from flexapod.identification.file_parameters import fit_file_parameters

        return fit_file_parameters(robot, every, parameters, options, friction=friction, least=least, validate=validate)
    options = _with_gain(robot, every, options, gain)
    found = tuple(s for one in every for s in suspicions(robot, one, options))
    if found and on_bad == "raise":
        raise BadDataError(found)
    base = base_parameters(robot, friction=friction, legs=legs) if base is None else base
    if base.model.legs != legs or (bool(base.model.friction) and not friction):
        raise InputError("base: was found with other options `legs` or `friction` than given here")
    if delay == "find":
        delay = find_delay(robot, every[0], options, base)
    options = replace(options, delay=float(delay))
    loaded = payload if isinstance(payload, list | tuple) else [payload] * len(every)
    if len(loaded) != len(every):
        raise InputError(f"payload: expected one per measurement ({len(every)}), got {len(loaded)}")
    others = _instruments(robot, every, instruments)
    experiments = [
        experiment(robot, one, options, payload_parameters(load), other)
        for one, load, other in zip(every, loaded, others, strict=True)
    ]
    problem = EstimationProblem(model=base.model.keeping(base.names), experiments=experiments, options=options, prior=base.values)
    found += _excited(robot, problem)
    if found and on_bad == "raise":
        raise BadDataError(found)
    result, theta = iterated(robot, base, problem, method, physical, prior)
    source = f"identified from {', '.join(one.source for one in every)} by {method}"
    done = _finished(
        robot, base, problem, result, theta, method=method, physical=physical, least=least, suspicions=found, source=source
    )  # fmt: skip
    return done if validate is None else replace(done, validation=_validated(robot, base, options, done, result, validate))


def _excited(robot: Robot, problem: EstimationProblem) -> tuple[Suspicion, ...]:
    """The motion distinguishes everything that is estimated, or the suspicion that it does not."""
    problem.set_loads(robot)
    rows = np.concatenate([Y for Y, _, _ in problem.blocks(LOOKED)])
    return tuple(poorly_excited(rows, problem.names))


def _with_gain(robot: Robot, every: Sequence[Measurement], options: Options, gain: ArrayLike | None) -> Options:
    current = [one.force is None for one in every]
    if gain is None:
        if any(current):
            raise InputError("gain: the data have currents; give gain=[N/A] or gain='find'")
        return options
    if not all(current):
        raise InputError("gain: the data have forces; gains belong to currents only")
    if isinstance(gain, str):
        check_option("gain", gain, ("find",))
        return replace(options, find_gain=True)
    n = len(robot.actuators)
    return replace(options, gain=np.array(np.broadcast_to(np.asarray(gain, dtype=np.float64), (n,))))


def payload_parameters(load: KnownPayload | None) -> Array | None:
    """Ten inertial parameters of a payload: mass [kg], com (3,) [m] in platform axes, inertia (3, 3) about its centre [kg
    m^2]."""
    if load is None:
        return None
    unknown = sorted(set(load) - {"mass", "com", "inertia"})
    if unknown or "mass" not in load:
        raise InputError(f"payload: expected mass, com and inertia, got {', '.join(load) or 'nothing'}")
    m, c = float(load["mass"]), np.asarray(load.get("com", np.zeros(3)), dtype=np.float64)
    I = np.asarray(load.get("inertia", np.zeros((3, 3))), dtype=np.float64) + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def _instruments(robot: Robot, every: Sequence[Measurement], given: Instruments) -> list[Measurement | None]:
    if given is None:
        return [None] * len(every)
    if isinstance(given, str) and given == "reference":
        references = [one.reference for one in every]
        found = [replace(one, position=q, motion=None) for one, q in zip(every, references, strict=True) if q is not None]
        if len(found) < len(every):
            raise InputError("instruments: the data have no reference (columns qr_<actuator>)")
        return list(found)
    listed = list(given) if isinstance(given, list | tuple) else [given]
    result: list[Measurement | None] = []
    for one, other in zip(every, listed, strict=True):
        if isinstance(other, ActuatorMotion):
            other = Measurement(time=other.time, position=other.position, force=np.zeros_like(other.position))
        other = measurement(robot, other)
        if len(other) != len(one):
            raise InputError(f"instruments: {len(other)} samples for {len(one)} of the data; they must be at the same times")
        result.append(other)
    return result


def _finished(
    robot: Robot, base: BaseParameters, problem: EstimationProblem, found: Estimate, theta: Array, *, method: str, physical: bool,
    least: float, suspicions: tuple[Suspicion, ...], source: str,
) -> Identification:  # fmt: skip
    """The result of an estimate, all parameters `theta` that go with it, without validation."""
    count, n = base.rank, len(robot.actuators)
    source += f", {found.rows} equations" + (", physically consistent" if physical else "")
    extra: dict[str, Any] = {}
    for k, name in enumerate(problem.extras):
        own = slice(count + k * n, count + (k + 1) * n)
        extra |= {name: found.beta[own], f"{name}_sigma": found.sigma[own]}
    noise = np.sqrt(np.diag(found.noise))
    beta = base.combination @ theta if physical else found.beta[:count]
    kept = essential(found, least)
    return Identification(
        start=robot, parameter_names=base.model.raw_names, theta=base.model.tie @ theta, names=base.names,
        combinations=tuple(base.text(i) for i in range(count)),
        units=tuple(base.model.units[i] for i in base.kept), estimate=beta, sigma=found.sigma[:count],
        covariance=found.covariance[:count, :count], prior=base.values, noise=noise, condition=found.condition, rows=found.rows,
        method=method, physical=physical, delay=problem.options.delay, essential=tuple(base.names[k] for k in kept if k < count),
        suspicions=suspicions, source=source, residual=residuals(problem, found.beta), **extra,
    )  # fmt: skip


def residuals(problem: EstimationProblem, beta: Array, most: int = 4000) -> Array:
    """(n, actuators) measured less predicted force of about `most` samples."""
    return np.concatenate([y - Y @ beta for Y, y, _ in problem.blocks(most)])


def _validated(
    robot: Robot, base: BaseParameters, options: Options, result: Identification, found: Estimate, validate: Data
) -> Validation:
    one: Experiment = experiment(robot, measurement(robot, validate), options, None, None)
    problem = EstimationProblem(model=base.model.keeping(base.names), experiments=[one], options=options, prior=base.values)
    problem.set_loads(loading_robot(robot, base, result.theta))
    after = found.beta.copy()
    after[: base.rank] = result.estimate
    before = found.beta.copy()
    before[: base.rank] = base.values
    rms = [np.sqrt(np.mean(residuals(problem, beta, 10**9) ** 2, axis=0)) for beta in (after, before)]
    return Validation(rms=rms[0], before=rms[1], noise=result.noise)
