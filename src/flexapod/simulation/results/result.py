"""From the rows of a simulation to a labelled result with its energy balance."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.closed_legs import ClosedLegs
from flexapod.analysis.model.flexible_load import MODAL_UNIT, displacements
from flexapod.analysis.requests.validity import spin_variable
from flexapod.arrays import Array
from flexapod.kernels.kernel import choose_backend
from flexapod.robot.link_plan import LinkPlan
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.observe import observed_at

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.layout import Layout
    from flexapod.simulation.system.setup import Setup


def observed(setup: Setup, states: Array) -> dict[str, Array]:
    """Outputs of the observing kernel at carried vectors (n, size)."""
    return observed_at(setup.layout, setup.values, states)


def result_variables(setup: Setup, rows: Array, variants: list[tuple[float, Setup]] | None, times: Array) -> dict[str, Any]:
    """Variables of a simulation: name -> (dimensions after time, values (n, ...), unit).

    Args:
        rows: (n, width) rows of the compiled simulation.
        variants: (time, setup) from which moment on other numbers hold, where events changed them.
    """
    layout, size = setup.layout, setup.layout.size
    states, place, n = rows[:, :size], layout.places, layout.actuators
    seen = observed(setup, states)
    for time, other in variants or []:
        later = times >= time
        if np.any(later):
            for name, values in observed(other, states[later]).items():
                seen[name][later] = values
    force, acceleration, bending = rows[:, size : size + n], rows[:, size + n : size + n + 6], rows[:, size + n + 6 :]
    unit, force_unit = _units(layout.robot.actuator_units)
    axis, act = ("axis",), ("actuator",)
    found: dict[str, Any] = {
        "position": (axis, states[:, place["p"]], "m"),
        "rotation": (("axis", "body_axis"), seen["rotation"], ""),
        "velocity": (axis, states[:, place["v"]], "m/s"),
        "angular_velocity": (axis, states[:, place["w"]], "rad/s"),
        "acceleration": (axis, acceleration[:, :3], "m/s^2"),
        "angular_acceleration": (axis, acceleration[:, 3:], "rad/s^2"),
        **_elastic(layout, states, seen, bending),
        "actuator_position": (act, seen["actuator_position"], unit),
        "actuator_velocity": (act, seen["actuator_velocity"], f"{unit}/s"),
        "actuator_travel": (act, states[:, place["travel"]], unit),
        "force": (act, force, force_unit),
        "power": (act, force * seen["actuator_velocity"], "W"),
        "joint_position": (("joint",), seen["joint_position"], "m or rad"),
    }
    found |= energy_balance(
        seen["energy"], states[:, place["work"]], states[:, place["external"]][:, 0], states[:, place["dissipated"]][:, 0]
    )
    if "taken" in place:
        found["steps"] = ((), states[:, place["taken"]][:, 0], "")
        found["rejected_steps"] = ((), states[:, place["rejected"]][:, 0], "")
    return found


def _elastic(layout: Layout, states: Array, seen: Mapping[str, Array], second: Array) -> dict[str, Any]:
    """Elastic coordinates of a simulation with the deformation of the platform; of independent actuators their accelerations."""
    robot, place, n = layout.robot, layout.places, layout.elastic
    names, dims = ("elastic", "elastic_velocity", "elastic_acceleration"), ("elastic_coordinate",)
    if not isinstance(layout, IndependentLayout):
        if not n:
            return {}
        values = (states[:, place["e"]], states[:, place["ed"]], second)
        units = (MODAL_UNIT, f"1/s of {MODAL_UNIT}", f"1/s^2 of {MODAL_UNIT}")
        elastic = {name: (dims, value, unit) for name, value, unit in zip(names, values, units, strict=True)}
        return elastic | displacements(robot, values[0])
    found: dict[str, Any] = {"actuator_acceleration": (("actuator",), second[:, n:], "m/s^2 or rad/s^2")}
    if not n:
        return found
    values = (seen["elastic"], seen["elastic_velocity"], second[:, :n])
    units = ("m or rad", "m/s or rad/s", "1/s^2 of the coordinate")
    if robot.platform_modes:
        found |= displacements(robot, values[0][:, : len(robot.platform_modes)])
    found |= {name: (dims, value, unit) for name, value, unit in zip(names, values, units, strict=True)}
    return found | spin_variable(robot, closed_states(layout, states, seen))


def closed_states(layout: Layout, states: Array, seen: Mapping[str, Array]) -> ClosedLegs:
    """Closed states of carried vectors (n, size)."""
    robot, place = layout.robot, layout.places
    modes = len(robot.elastic_names) - len(robot.elastic_indices)
    return ClosedLegs(
        joint_position=seen["joint_position"], joint_velocity=seen["joint_velocity"], position=states[:, place["p"]],
        rotation=seen["rotation"], velocity=states[:, place["v"]], angular_velocity=states[:, place["w"]],
        modes=states[:, place["modes"]], modes_velocity=seen["elastic_velocity"][:, :modes],
    )  # fmt: skip


def energy_balance(energy: Array, work: Array, external: Array, dissipated: Array) -> dict[str, Any]:
    r"""Entries of the energy balance, each of its own source, and its residual.

    .. math:: r(t) = \Delta(T + U + E) - W_{supplied} - W_{external} + Q

    T, U, E from positions and rates; W and Q integrated beside the motion.

    Args:
        energy: (n, 3) kinetic, potential, elastic.
        work: (n, actuators) supplied by the actuators; external: (n,); dissipated: (n,).
    """
    total = energy.sum(axis=1)
    supplied = work.sum(axis=1)
    left = (total - total[0]) - supplied - external + dissipated
    names = ("kinetic_energy", "potential_energy", "elastic_energy")
    found: dict[str, Any] = {name: ((), energy[:, k], "J") for k, name in enumerate(names)}
    found["supplied_work"] = (("actuator",), work, "J")
    found["external_work"] = ((), external, "J")
    found["dissipated_energy"] = ((), dissipated, "J")
    found["energy_residual"] = ((), left, "J")
    return found


def _units(units: tuple[str, ...]) -> tuple[str, str]:
    if set(units) == {"m"}:
        return "m", "N"
    return ("rad", "N m") if set(units) == {"rad"} else ("m or rad", "N or N m")


def provenance(setup: Setup, options: Mapping[str, object]) -> dict[str, Any]:
    """Origin of a result: robot with a hash of its numbers, versions, options."""
    import json

    robot, versions = setup.layout.robot, _versions()
    return {
        "robot": robot.name,
        "robot_hash": _fingerprint(robot),
        "equations": _equations(setup.layout),
        "method": str(options.get("method", "")),
        "flexapod": versions["flexapod"],
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
        "backend": choose_backend(),
        "options": json.dumps(dict(options), default=repr),
    }


def _equations(layout: Layout) -> str:
    if isinstance(layout, IndependentLayout):
        return "independent_coordinates"
    if layout.fast is None:
        return "virtual_power"
    return "links" if isinstance(layout.fast, LinkPlan) else "minimal"


@functools.lru_cache(maxsize=32)
def _fingerprint(robot: Robot) -> str:
    """Hash of a robot's structure and numbers; kept, because flexible bodies have thousands."""
    import hashlib
    import json

    text = json.dumps([robot.structure, sorted(robot.values.items())])
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    """Versions of what computes; reading them is slow."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("flexapod", "numpy", "casadi"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def labelled(setup: Setup, variables: Mapping[str, Variable], times: Array, attrs: Mapping[str, object]) -> xr.Dataset:
    """The result as a Dataset over time."""
    import types

    from flexapod.analysis.requests.results import dataset

    at = types.SimpleNamespace(time=times)
    return dataset(setup.layout.robot, variables, at, attrs=attrs)


def with_reactions(result: xr.Dataset, found: xr.Dataset) -> xr.Dataset:
    """A result with the joint reactions of inverse dynamics, over joints of their own: joints that close legs have no coordinate.

    Checked by: tests/simulation/test_simulate.py.
    """
    names = [name for name in found.data_vars if str(name).startswith("reaction")]
    return result.assign({name: found[name].rename(joint="reaction_joint") for name in names})
