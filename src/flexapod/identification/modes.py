r"""`identify_modes`: stiffness, masses and damping of a flexible robot from measured natural frequencies.

.. math:: \min_x\;\Big|\frac{f(p_0 e^{x}) - f_m}{\sigma_f}\Big|^2 + \Big|\frac{x}{s}\Big|^2,\qquad
          \operatorname{cov} = (J^T J + s^{-2})^{-1}

Letters: x logarithms of the parameters over the file's, s their spread before the measurement, J derivative of the scaled
residuals. Singular vectors of J s say which products of parameters the frequencies determine: their spread falls from s to
:math:`s/\sqrt{1+\sigma_i^2}`; what has a small singular value stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.natural_frequencies import natural_frequencies
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

STEP = 1e-4
PASSES = 20
SETTLED = 1e-4
DETERMINED = 1.0
"""Singular value above which the measurement says more about a product of parameters than was known before."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModalIdentification:
    """Parameters from frequencies.

    Args:
        robot: with the estimated numbers.
        names: of the parameters; prior, estimate, sigma: values before and after, standard error after.
        resolution: (parameters,) 1 where the data decide, 0 where the prior does.
        combinations: products of powers of parameters that the data determine, best first, with relative spread before and after.
        measured, before, after: (modes,) frequencies [Hz]; damping likewise where it was measured.
        mac: (modes, modes) modal assurance of measured against computed shapes, where shapes were given.
    """

    robot: Robot
    names: tuple[str, ...]
    prior: Array
    estimate: Array
    sigma: Array
    resolution: Array
    combinations: tuple[tuple[str, float, float], ...]
    measured: Array
    before: Array
    after: Array
    mac: Array | None = None

    def table(self) -> str:
        """Parameters and combinations as text."""
        width = max(len(name) for name in self.names)
        lines = [f"{'parameter':{width}}  {'estimate':>11}  {'sigma':>9}  {'file':>11}  resolution"]
        rows = zip(self.names, self.estimate, self.sigma, self.prior, self.resolution, strict=True)
        lines += [f"{n:{width}}  {e:11.5g}  {s:9.2g}  {p:11.5g}  {r:10.2f}" for n, e, s, p, r in rows]
        lines += [f"determined: {text} (spread {100 * a:.1f} % -> {100 * b:.1f} %)" for text, a, b in self.combinations]
        return "\n".join(lines)


@checked
def identify_modes(
    robot: Robot,
    frequencies: ArrayLike,
    parameters: Sequence[str],
    *,
    state: State | None = None,
    sigma: ArrayLike = 1.0,
    spread: float = 0.2,
    damping: ArrayLike | None = None,
    damping_sigma: float = 0.002,
    shapes: ArrayLike | None = None,
    shape_coordinates: Sequence[str] = (),
    actuators: str | ArrayLike = "locked",
    prestress: bool = False,
) -> ModalIdentification:
    """Fit parameters of a flexible robot to measured natural frequencies.

    Args:
        frequencies: (modes,) measured [Hz], ascending; they belong to the lowest modes, or to those whose `shapes` fit best.
        parameters: dotted paths of positive numbers: ``legs.1.13.flexible.young``, ``legs.1.17.inertial.M``, ...
        state: pose of the measurement; home if left out.
        sigma: [Hz] of the measurement, one number or one per mode.
        spread: relative standard deviation of the file's numbers before the measurement.
        damping: (modes,) measured damping ratios, with `damping_sigma`.
        shapes: (modes, coordinates) measured displacements at `shape_coordinates`, names as `natural_frequencies` has them, any
            scale: modes are then paired by modal assurance.
        actuators, prestress: as for `natural_frequencies`.
        damping_sigma: standard deviation of the damping ratios.
        shape_coordinates: names of the columns of `shapes`.
    Returns:
        `ModalIdentification`: estimated values with standard deviations, and the `robot` that has them.

    Checked by: tests/identification/test_modes.py.
    """
    f = real_array("frequencies", frequencies, np.shape(frequencies))
    if f.ndim != 1 or len(f) == 0 or np.any(np.diff(f) <= 0) or f[0] <= 0:
        raise InputError("frequencies: expected positive numbers in ascending order [Hz]")
    errors = np.broadcast_to(np.asarray(sigma, dtype=np.float64), f.shape)
    if np.any(errors <= 0) or spread <= 0:
        raise InputError("sigma and spread must be above 0")
    p0 = np.array([_positive(robot, path) for path in parameters])
    at = state if state is not None else State.at_home(robot)
    measured = None if shapes is None else _shapes(shapes, len(f), shape_coordinates)

    def computed(x: Array) -> tuple[Array, Array, Array | None]:
        variant = robot.with_parameters({path: float(v) for path, v in zip(parameters, p0 * np.exp(x), strict=True)})
        found = natural_frequencies(variant, at, actuators=actuators, prestress=prestress)
        own, mac = np.arange(len(f)), None
        if measured is not None:
            shape = found["shape"].sel(coordinate=list(shape_coordinates)).values.T
            mac = modal_assurance(measured, shape)
            own = _paired(mac)
        if len(found.frequency.values) < len(f):
            raise InputError(f"frequencies: {robot.name} has {len(found.frequency.values)} modes, {len(f)} were measured")
        scaled = (found.frequency.values[own] - f) / errors
        if damping is not None:
            scaled = np.append(scaled, (found.damping.values[own] - np.asarray(damping)) / damping_sigma)
        return scaled, found.frequency.values[own], None if mac is None else mac[:, own]

    x, J, after, mac = _fitted(computed, len(p0), spread)
    before = computed(np.zeros(len(p0)))[1]
    covariance = np.linalg.inv(J.T @ J + np.eye(len(p0)) / spread**2)
    relative = np.sqrt(np.diag(covariance))
    estimate = p0 * np.exp(x)
    return ModalIdentification(
        robot=robot.with_parameters({path: float(v) for path, v in zip(parameters, estimate, strict=True)}),
        names=tuple(parameters), prior=p0, estimate=estimate, sigma=estimate * relative,
        resolution=1.0 - (relative / spread) ** 2, combinations=_combinations(J, parameters, spread), measured=f,
        before=before, after=after, mac=mac,
    )  # fmt: skip


def _fitted(
    computed: Callable[[Array], tuple[Array, Array, Array | None]], count: int, spread: float
) -> tuple[Array, Array, Array, Array | None]:
    """Gauss-Newton with halved steps; x, J, frequencies and assurance at the end."""
    x = np.zeros(count)
    r, after, mac = computed(x)
    cost = float(r @ r + x @ x / spread**2)
    for _ in range(PASSES):
        J = np.column_stack([(computed(x + STEP * e)[0] - r) / STEP for e in np.eye(count)])
        step = -np.linalg.solve(J.T @ J + np.eye(count) / spread**2, J.T @ r + x / spread**2)
        for _ in range(8):
            new, f, m = computed(x + step)
            lower = float(new @ new + (x + step) @ (x + step) / spread**2)
            if lower <= cost * (1 + 1e-12):
                break
            step = step / 2
        x, r, after, mac = x + step, new, f, m
        done = abs(cost - lower) <= SETTLED * max(cost, 1e-12) or np.max(np.abs(step)) < SETTLED
        cost = lower
        if done:
            return x, J, after, mac
    raise FlexapodError("identify_modes: no convergence; check that frequencies and modes belong together, or reduce the spread")


def modal_assurance(a: Array, b: Array) -> Array:
    """(m, k) modal assurance criterion |a.b|^2 / (a.a)(b.b) of shapes (m, c) and (k, c): 1 for equal, 0 for orthogonal ones."""
    cross = np.abs(a @ b.T) ** 2
    return np.asarray(cross / np.maximum(np.outer(np.sum(a**2, axis=1), np.sum(b**2, axis=1)), 1e-300))


def _paired(mac: Array) -> NDArray[np.intp]:
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(-mac)[1])


def _shapes(shapes: ArrayLike, modes: int, coordinates: Sequence[str]) -> Array:
    if not coordinates:
        raise InputError("shapes: say at which coordinates they were measured")
    return real_array("shapes", shapes, (modes, len(coordinates)))


def _positive(robot: Robot, path: str) -> float:
    value = robot.parameter(path)
    if isinstance(value, tuple) or value <= 0:
        raise InputError(f"parameters: '{path}' must be one positive number, is {value}")
    return float(value)


def _combinations(J: Array, names: Sequence[str], spread: float) -> tuple[tuple[str, float, float], ...]:
    """Products of powers that the data determine, by the singular vectors of J."""
    _, s, V = np.linalg.svd(J * spread, full_matrices=False)
    result = []
    for size, row in zip(s, V, strict=True):
        if size > DETERMINED:
            row = row * np.sign(row[np.argmax(np.abs(row))])
            parts = [f"{names[k]}^{row[k]:+.2f}" for k in np.argsort(-np.abs(row)) if abs(row[k]) > 0.1]
            result.append((" ".join(parts), spread, float(spread / np.sqrt(1 + size**2))))
    return tuple(result)


def modes_of_response(frequency: ArrayLike, response: ArrayLike, count: int) -> tuple[Array, Array]:
    r"""Natural frequencies [Hz] and damping ratios of the highest peaks of a frequency response.

    .. math:: H(\omega) \approx \frac{b_0 + b_1 i\omega}{\omega_0^2-\omega^2+2 i\zeta\omega_0\omega}

    fitted by linear least squares to the samples around each peak, where its size is above half.

    Args:
        frequency: (n,) [Hz]; response: (n,) complex; count: of modes.

    Checked by: tests/identification/test_modes.py.
    """
    from scipy.signal import find_peaks

    f, H = np.asarray(frequency, dtype=np.float64), np.asarray(response, dtype=np.complex128)
    peaks, _ = find_peaks(np.abs(H))
    if len(peaks) < count:
        raise InputError(f"response: {len(peaks)} peaks, {count} requested; lower count, or measure a wider frequency range")
    chosen = np.sort(peaks[np.argsort(-np.abs(H[peaks]))[:count]])
    found = []
    for k in chosen:
        low, high = k, k
        while low > 0 and abs(H[low - 1]) > abs(H[k]) / 2 and low > k - 40:
            low -= 1
        while high < len(f) - 1 and abs(H[high + 1]) > abs(H[k]) / 2 and high < k + 40:
            high += 1
        low, high = min(low, k - 2) if k >= 2 else 0, max(high, k + 2)
        w, h = 2 * np.pi * f[low : high + 1], H[low : high + 1]
        scale = 2 * np.pi * f[k]
        columns = np.column_stack([h, 1j * w / scale * h, -np.ones_like(h), -1j * w / scale])
        right = (w / scale) ** 2 * h
        A, y = np.vstack([columns.real, columns.imag]), np.concatenate([right.real, right.imag])
        a0, a1, *_ = np.linalg.lstsq(A, y, rcond=None)[0]
        omega = np.sqrt(max(a0, 1e-300))
        found.append((omega * scale / (2 * np.pi), a1 / (2 * omega)))
    return np.array([x for x, _ in found]), np.array([z for _, z in found])
