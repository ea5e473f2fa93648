"""Briot, Khalil 2014, Figs. 7-14: both reference trajectories, simulated with the actuators' motion given.

Accelerations are those of point P along the local y axis of frame 17, low-pass filtered at 100 Hz, as measured in the paper.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.papers.items import DIFFERS, OPEN, Item, checked, judged
from flexapod.views.plots.time_figures import PlotPanel, spectra, time_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr



STEP, THINNED = 5e-4, 4
"""Step [s], and every so many samples are kept after filtering. The forces need 2 ms only, but samples so far apart
would fold the modes at 436 and 576 Hz into what lies below 100 Hz."""

TIMED_STEP = 2e-3
"""Step of the timed simulation [s]: forces are within 2e-5 of those of a tenth of it (benchmarks/flexible_legs.py)."""

LOW_PASS, ORDER = 100.0, 4
"""Cut-off [Hz] of the paper, and order of the Butterworth filter, run forwards and backwards (chosen)."""

STROKE, REST = 0.25, 2.8
"""Stroke of the sliders and side of the square [m]; when the first edge ends [s]."""

RESTS = ((2.8, 7.0), (8.8, 13.0), (14.8, 19.0), (20.8, 25.0))
"""Intervals in which the sliders are at rest [s]."""

SAME, BALANCE = 1e-9, 1e-9
"""Forces of the simulation and of the inverse model, of the largest; energy that it may lose or win, of what was exchanged. Both
are rounding, 1e-13 and less."""

SLOW, COULOMB = 0.01, 25.0
"""Share of the largest rate that counts as very low; Coulomb friction of a slider [N]."""

LITTLE = 1e-9
"""Share of the friction of Table 2 that is left in the simulation without friction."""

SLOWEST = 5.0
"""Lines of the spectrum start here [Hz]: what is slower is the rest of a decay, no vibration."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperSimulation:
    """A simulated trajectory.

    Args:
        result: result of `flexapod.simulate`.
        tip: (n, 3) position of point P, world axes [m].
        local_y: (n,) its acceleration along local y, filtered [m/s^2].
        inverse: forces by the inverse model at the same states differ by this, of the largest.
        balance: energy left over, of what was exchanged.
    """

    result: xr.Dataset
    tip: Array
    local_y: Array
    inverse: float
    balance: float

    @property
    def holds(self) -> bool:
        """Whether our own checks of the simulation hold."""
        return "stopped" not in self.result.attrs and self.inverse < SAME and self.balance < BALANCE

    @property
    def checks(self) -> str:
        """Our own checks of the simulation, as text."""
        return f"the inverse model gives these forces to {self.inverse:.0e}, energy balances to {self.balance:.0e}"


def simulated(robot: fp.Robot, motion: fp.ActuatorMotion, step: float = STEP, duration: float | None = None) -> PaperSimulation:
    """Simulate, measure point P as the paper does, and check the simulation."""
    result = fp.simulate(robot, motion, drive="actuators", step=step, output_step=STEP, duration=duration, progress=False)
    at: Any = fp.ActuatorMotion(
        time=result.time.values, **{k: result[f"actuator_{k}"].values for k in ("position", "velocity", "acceleration")}
    )
    elastic = {"elastic": result.elastic.values, "elastic_velocity": result.elastic_velocity.values}
    tip = fp.point_motion(robot, at, "1.17.tip", elastic_acceleration=result.elastic_acceleration.values, **elastic)
    local = np.einsum("tji,tj->ti", tip.rotation.values, tip.acceleration.values)
    again = fp.inverse_dynamics(robot, at, **elastic).force.values
    supplied = np.abs(result.supplied_work).sum("actuator")
    exchanged = float(np.abs(result.kinetic_energy).max() + np.abs(result.dissipated_energy).max() + supplied.max())
    kept = slice(None, None, THINNED)
    return PaperSimulation(
        result=result.isel(time=kept),
        tip=tip.position.values[kept],
        local_y=low_pass(result.time.values, local[:, 1])[kept],
        inverse=float(np.abs(again - result.force.values).max() / np.abs(again).max()),
        balance=float(np.abs(result.energy_residual).max()) / exchanged,
    )


def low_pass(times: Array, values: Array) -> Array:
    """Values without what is faster than 100 Hz, phase kept."""
    from scipy.signal import butter, filtfilt

    b, a = butter(ORDER, LOW_PASS, fs=1.0 / (times[1] - times[0]))
    return np.asarray(filtfilt(b, a, values))


def frictionless(robot: fp.Robot) -> fp.Robot:
    """The robot with next to no friction in its passive joints; not none, so that it shares the compiled steps."""
    kept = (".speed", ".11.", ".21.")
    passive = [path for path in robot.parameters if ".friction." in path and not any(word in path for word in kept)]
    return robot.with_parameters({path: LITTLE * float(robot.parameter(path)) for path in passive})  # type: ignore[arg-type]


def remaining(found: PaperSimulation, rest: tuple[float, float]) -> float:
    """Range of the acceleration in the second half second of a rest, of that in the first."""
    t = found.result.time.values - rest[0]
    first, second = (np.ptp(found.local_y[(t >= low) & (t < low + 0.5)]) for low in (0.0, 0.5))
    return float(second / first)


def local_accelerations(simulations: dict[str, PaperSimulation]) -> xr.Dataset:
    """Acceleration of point P along local y, of several simulations at the same times."""
    import xarray as xr

    times = next(iter(simulations.values())).result.time.values
    values = np.column_stack([found.local_y for found in simulations.values()]).astype(np.float32)
    return xr.Dataset(
        {"acceleration": (("time", "simulation"), values, {"units": "m/s^2"})},
        coords={"time": times, "simulation": list(simulations)},
    )


def dominating_frequency(found: PaperSimulation, rest: tuple[float, float]) -> float:
    """Frequency of the strongest line in a rest [Hz]."""
    data = local_accelerations({"": found}).sel(time=slice(*rest))
    frequency, ((_, amplitude),) = spectra(data, "acceleration")
    above = frequency > SLOWEST
    return float(frequency[above][np.argmax(amplitude[above])])


def torques(found: PaperSimulation, actuator: int, where: str) -> Item:
    """Figs. 10 and 11: force of a slider along the square."""
    force = found.result.force.values[:, actuator]
    rate = np.abs(found.result.actuator_velocity.values[:, actuator])
    jumps = np.abs(np.diff(force))
    k = int(np.argmax(jumps))
    slow = float(min(rate[k], rate[k + 1]) / rate.max())
    holds = slow < SLOW and jumps[k] > COULOMB / 2
    return Item(
        where=f"{where} (a)",
        title=f"force of actuator {actuator + 1}, square",
        says="Where an actuator is very slow, the predicted force is noisy, mainly because Coulomb friction is modelled by the "
        "sign of the rate. Model and measurement correlate (curves known as pictures only).",
        ours=f"Between {force.min():.1f} N and {force.max():.1f} N. The largest jump between two samples, {jumps[k]:.1f} N at "
        f"{found.result.time.values[k]:.2f} s, is where the rate is {100 * slow:.2g} % of its largest; {found.checks}.",
        verdict=judged(bool(holds and found.holds)),
        check="rate of the slider at the largest jump of its force; the correlation with measured curves was not checked",
        parts=[_force_figure(found, actuator, f"Briot {where}: actuator {actuator + 1}, square")],
    )


def _force_figure(found: PaperSimulation, actuator: int, title: str) -> go.Figure:
    """Force, and what is left of it without the friction of the slider, which the paper added to Adams by hand."""
    import xarray as xr

    rate = found.result.actuator_velocity.values[:, actuator]
    force = found.result.force.values[:, actuator]
    without = force - COULOMB * np.sign(rate) - 250.0 * rate
    lines = np.column_stack([force, without]).astype(np.float32)
    data = xr.Dataset(
        {"force": (("time", "part"), lines, {"units": "N"})},
        coords={"time": found.result.time.values, "part": ["with friction", "friction of the slider taken off"]},
    )
    return time_figure(data, [PlotPanel(variable="force", label="force")], title, "force,")


def circle_items(found: PaperSimulation) -> list[Item]:
    """Figs. 12 to 14: acceleration of P and forces along the circle."""
    data = local_accelerations({"": found})
    radius = np.hypot(found.tip[:, 0] - 0.28, found.tip[:, 2] - 0.90)
    says = "Model and measurement correlate very well (curves known as pictures only)."
    items = [
        Item(
            where="Fig. 12",
            title="acceleration of point P along local y, circle",
            says=says,
            ours=f"Up to {np.abs(found.local_y).max():.2f} m/s², from the start at full speed; the bent tip leaves the circle "
            f"by up to {1e3 * np.abs(radius - 0.1).max():.2f} mm; {found.checks}.",
            verdict=checked(found.holds),
            check="forces by the inverse model, energy balance; measured curves are pictures",
            parts=[
                time_figure(data, [PlotPanel(variable="acceleration", label="acceleration")], "Briot Fig. 12: point P, local y")
            ],
        )
    ]
    for k, where in enumerate(("Fig. 13", "Fig. 14")):
        force = found.result.force.values[:, k]
        items.append(
            Item(
                where=where,
                title=f"force of actuator {k + 1}, circle",
                says=says,
                ours=f"Between {force.min():.1f} N and {force.max():.1f} N; {found.checks}.",
                verdict=checked(found.holds),
                check="forces by the inverse model, energy balance; measured curves are pictures",
                parts=[_force_figure(found, k, f"Briot {where}: actuator {k + 1}, circle")],
            )
        )
    return items


def timing(robot: fp.Robot) -> Item:
    """Wall time of the simulation of the square, beside the paper's."""
    motion = fp.motions.dualemps_square(side=STROKE)
    start = time.perf_counter()
    result = fp.simulate(robot, motion, drive="actuators", step=TIMED_STEP, output_step=0.01, progress=False)
    seconds, length = time.perf_counter() - start, float(result.time[-1])
    return Item(
        where="Section 5",
        title=f"time to simulate the square, {length:g} s of motion",
        says="Adams takes several hours, the paper's model 6 min 05 s (Pentium 4, 2.7 GHz).",
        ours=f"{seconds:.2f} s for this page with steps of 2 ms and 100 samples per second, forces and energies included, "
        f"compilation not: {length / seconds:.0f} times faster than real time.",
        verdict=OPEN if "stopped" not in result.attrs else DIFFERS,
        check="time on this machine; the paper's machine and solver are others",
    )
