r"""Inverse dynamics of a platform motion through elastic drives: the springs deflect quasi-statically along the motion.

An actuator with stiffness moves its link through a spring, q = motor + s. The platform's motion fixes q; the links give s without
its acceleration, the motor gives the force:

.. math:: k\,s + d\,\dot s = -\tau(q, \dot q, \ddot q),\qquad \Gamma = I_m(\ddot q - \ddot s) + \tau

tau is what the links demand of the drives, rotors left out. The rates of s are those along the motion (a spline through its
samples; zero for a State). Exact for rigid links and d = 0. Neglected: the transient of the damper (time constant d/k) and the
vibration of other elastic coordinates, which are static or simulated as asked. The motion must be smooth to its fourth
derivative.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.leg_dynamics import Variables, labelled, no_reasons
from flexapod.analysis.requests.results import force_unit
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import Motion
from flexapod.robot.robot import build_robot

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.description.read import Description
    from flexapod.robot.model import Link
    from flexapod.robot.robot import Robot

SMOOTH = 7
"""Degree of the spline whose second derivative is taken: four continuous derivatives remain."""
FEWEST = SMOOTH + 1


def drives(robot: Robot) -> list[tuple[Link, Link | None]]:
    """Motor link of each actuator, and the spring link that it drives through, if any."""
    found: list[tuple[Link, Link | None]] = []
    for leg in robot.legs:
        for i, link in enumerate(leg.links):
            behind = [k for k in leg.links[i + 1 :] if k.elastic and k.joint == link.joint and k.parent == i]
            if link.actuated:
                found.append((link, behind[0] if behind else None))
    return found


@lru_cache(maxsize=32)
def rigid_drives(robot: Robot) -> Robot:
    """The robot with its drives rigid and without rotors: their forces are those that the links need."""
    return build_robot(_without_springs(robot.description), home=robot.home)


def _without_springs(description: Description) -> Description:
    """The description with actuators that have neither spring nor rotor nor friction of their own."""
    off = {"stiffness": None, "damping": None, "inertia": 0.0, "friction": None}
    legs = {}
    for name, leg in description.legs.items():
        joints = {k: j.model_copy(update=off) if j.actuated and j.stiffness else j for k, j in leg.joints.items()}
        row_off = {"stiffness": None, "damping": None, "IA": 0.0, "friction": None}
        table = [row.model_copy(update=row_off) if row.mu == 1 and row.stiffness else row for row in leg.table]
        legs[name] = leg.model_copy(update={"joints": joints, "table": table})
    return replace(description, legs=legs)


def carried_inverse_dynamics(robot: Robot, request: Request) -> xr.Dataset:
    """Forces, powers and springs of a platform motion; see `inverse_dynamics` and the module.

    Checked by: tests/analysis/test_elastic_drives.py.
    """
    from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

    links, motion, on_error = rigid_drives(robot), request.at, request.on_error
    names = ("wrench", "point", "axes", "friction", "elastic", "elastic_velocity")
    given = {name: request.options[name] for name in names if request.options[name] is not None}
    if not links.elastic_names:
        for key in ("elastic", "elastic_velocity"):
            if not isinstance(given.pop(key, "static"), str):
                raise InputError(f"{key}: the platform's motion determines the drive springs of {robot.name}; leave it out")
    found = inverse_dynamics(links, motion, on_error=on_error, **given)
    moved = inverse_kinematics(links, motion, on_error=on_error)
    tau, v, a = (np.atleast_2d(x.values) for x in (found.force, moved.actuator_velocity, moved.actuator_acceleration))
    pairs = drives(robot)
    rotor = np.array([motor.inertia for motor, _ in pairs])
    s, sd, sdd = _springs(motion, tau, pairs)
    force = rotor * (a - sdd) + tau
    variables: Variables = {
        "force": (("actuator",), force, force_unit(robot)),
        "power": (("actuator",), force * (v - sd), "W"),
    }
    unit = "of the coordinate"
    units = {"elastic": "m or rad", "elastic_velocity": f"1/s {unit}", "elastic_acceleration": f"1/s^2 {unit}"}
    for (key, unit), own in zip(units.items(), (s, sd, sdd), strict=True):
        variables[key] = (("elastic_coordinate",), _named(robot, links, found, key, own), unit)
    reasons = np.atleast_1d(found.reason.values).astype(object) if "reason" in found else no_reasons(motion)
    attributes = {"friction": found.attrs.get("friction", 0), "elastic": "carried along the motion"}
    result = labelled(robot, motion, variables, reasons, on_error).assign_attrs(attributes)
    return result.merge(_reactions(robot, request, result)) if request.reactions else result


def _reactions(robot: Robot, request: Request, found: xr.Dataset) -> xr.Dataset:
    """Joint reactions under the forces that were found, at the springs' deflections and rates."""
    from flexapod.analysis.model.general_verbs import general_forward_dynamics

    names = ("position", "rotation", "velocity", "angular_velocity")
    elastic = {name: found[name].values for name in ("elastic", "elastic_velocity")}
    state = State(**{name: getattr(request.at, name) for name in names}, **elastic)
    own = replace(request, at=state, force=found.force.values, elastic=None, elastic_velocity=None)
    under = general_forward_dynamics(robot, own)
    wanted = under[[name for name in under.data_vars if str(name).startswith(("reaction_", "friction_"))]]
    return wanted.rename(sample="time").assign_coords(time=found.time) if "time" in found.coords else wanted


def _springs(motion: StateOrMotion, tau: Array, pairs: list[tuple[Link, Link | None]]) -> tuple[Array, Array, Array]:
    """Deflections of the drives' springs and their rates (n, actuators), zero for rigid drives."""
    soft = [i for i, (_, spring) in enumerate(pairs) if spring is not None]
    k = np.array([spring.stiffness for _, spring in pairs if spring is not None])
    d = np.array([spring.damping for _, spring in pairs if spring is not None])
    s, sd, sdd = (np.zeros_like(tau) for _ in range(3))
    load = tau[:, soft]
    s[:, soft] = -load / k
    if not isinstance(motion, Motion):
        return s, sd, sdd
    if len(motion) < FEWEST:
        raise InputError(
            f"motion: has {len(motion)} samples, and the rates of the drive springs need at least {FEWEST}; use more samples"
        )
    from scipy.interpolate import make_interp_spline

    good = np.isfinite(load).all(axis=1)
    if np.any(d):  # the damper's part by the rate without it
        rate = make_interp_spline(motion.time[good], s[good][:, soft], k=SMOOTH).derivative(1)(motion.time)
        s[:, soft] = -(load + d * rate) / k
    path = make_interp_spline(motion.time[good], s[good][:, soft], k=SMOOTH)
    sd[:, soft], sdd[:, soft] = path.derivative(1)(motion.time), path.derivative(2)(motion.time)
    return s, sd, sdd


def _named(robot: Robot, links: Robot, found: xr.Dataset, key: str, own: Array) -> Array:
    """Elastic coordinates in the robot's order: springs of drives, and those of other bodies as the links have them."""
    springs = iter(own[:, [i for i, (_, spring) in enumerate(drives(robot)) if spring is not None]].T)
    elastic = [link for leg in robot.legs for link in leg.links if link.elastic]
    others = iter(np.atleast_2d(found[key].values).T) if links.elastic_names else iter(())
    at_drives = {id(spring) for _, spring in drives(robot) if spring is not None}
    modes = len(robot.elastic_names) - len(elastic)
    columns = [next(others) for _ in range(modes)] + [next(springs if id(k) in at_drives else others) for k in elastic]
    return np.stack(columns, axis=1)
