"""Staicu 2009, 3-3 Stewart platform: Figs. 3-6."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import flexapod as fp
from flexapod.views.papers.items import SYMMETRY, Item, Paper, checked, judged, relative_difference, spread
from flexapod.views.papers.shared_items import diagonal, efficiency, parameter_item
from flexapod.views.plots.time_figures import PlotPanel, time_figure

if TYPE_CHECKING:
    import xarray as xr

EQUAL = 1e-9
"""Difference of forces that count as equal: symmetry is exact, rounding is near 1e-14."""

SAMPLES = 121


def staicu() -> Paper:
    """All figures with results."""
    robot = fp.load("stewart-3-3")
    force = {name: fp.inverse_dynamics(robot, fp.motions.staicu_motion(name, samples=SAMPLES)) for name in MOTIONS}
    return Paper(
        key="staicu",
        source=robot.source,
        robot=robot.name,
        items=[
            _parameters(robot),
            _vertical(robot, force["vertical-z"]),
            *_horizontal(force["horizontal-x"]),
            _rotation(robot, force["rotation-z"]),
            efficiency(robot),
        ],
        readings=READINGS,
        errata=ERRATA,
    )


MOTIONS = ("vertical-z", "horizontal-x", "rotation-z")
FORCE = [PlotPanel(variable="force", label="force")]


def _parameters(robot: fp.Robot) -> Item:
    """Section 3; tensors about the joint centres, leg axis last."""
    about = [robot.parameter(f"legs.piston.inertia.{k}{k}") for k in "xyz"]
    com = robot.parameter("legs.piston.com")
    lever = 10.0 * com[2] ** 2  # type: ignore[index]
    hips = [robot.parameter(f"legs.{leg}.hip.at") for leg in "ABCDEF"]
    balls = [robot.parameter(f"legs.{leg}.ball.on") for leg in "ABCDEF"]
    printed = {
        "m1, cross [kg]": (1.5, "legs.cross.mass"), "m2, cylinder [kg]": (15.0, "legs.cylinder.mass"),
        "m3, piston [kg]": (10.0, "legs.piston.mass"), "mp, platform [kg]": (50.0, "platform.mass"),
        **diagonal("J1", "legs.cross", (0.2, 0.1, 0.1)),
        **diagonal("J2, z along the leg,", "legs.cylinder", (15.0, 15.0, 5.0)),
        **diagonal("Jp", "platform", (40.0, 40.0, 80.0)),
        "gravity [m/s²]": ((0.0, 0.0, -9.81), "gravity"),
    }  # fmt: skip
    derived = [
        ("J3 about A3, x, y, z along the leg [kg m²]", (30.0, 30.0, 5.0), (about[0] + lever, about[1] + lever, about[2])),  # type: ignore[operator]
        ("l0, base radius of six joints [m]", (2.5,) * 6, tuple(float(np.linalg.norm(h)) for h in hips)),
        ("l4, platform radius of six joints [m]", (2.5,) * 6, tuple(float(np.linalg.norm(b)) for b in balls)),
        ("l1 + l3 at the start [m]", 2.5 / np.cos(np.pi / 3), robot.parameter("legs.slide.zero")),
        ("h = l0 tan 60° [m]", 2.5 * np.tan(np.pi / 3), robot.home.position[2]),
    ]
    return parameter_item(robot, "Section 3", printed, derived)


def _vertical(robot: fp.Robot, drive: xr.Dataset) -> Item:
    f = drive.force.values
    motion = fp.motions.staicu_motion("vertical-z", samples=3)
    held = fp.inverse_dynamics(robot, fp.State(position=motion.position, rotation=motion.rotation)).force.values[:, 0]
    equal, more = spread(f), held[1] / held[0]
    return Item(
        where="Fig. 3",
        title="forces of the six actuators, vertical translation",
        says="All input forces are equal at every moment; they grow where the platform goes towards the base.",
        ours=f"Largest difference between the six forces {equal:.1e} of the largest force ({np.abs(f).max():.1f} N). "
        f"Holding the lowest pose takes {more:.3f} times the force at the start.",
        verdict=judged(equal < EQUAL and more > 1.0),
        check="forces equal, which symmetry demands; static force at the lowest pose above that at the start",
        parts=[time_figure(drive, FORCE, "Staicu Fig. 3: vertical translation")],
    )


def _horizontal(drive: xr.Dataset) -> list[Item]:
    f = {name: drive.force.sel(actuator=name).values for name in "ABCDEF"}
    items = []
    for where, pair in (("Fig. 4", "AF"), ("Fig. 5", "BE")):
        names = [*pair, "C", "D"]
        same = max(relative_difference(f[pair[0]], f[pair[1]]), relative_difference(f["C"], f["D"]))
        shown = drive.sel(actuator=names)
        items.append(
            Item(
                where=where,
                title=f"forces of actuators {', '.join(names)}, horizontal translation along x",
                says=f"Forces of {pair[0]} and {pair[1]} in comparison with those of C and D; no statement beyond the plot.",
                ours=f"{pair[0]} = {pair[1]} and C = D by symmetry about x, to {same:.1e}; at t = 1.5 s "
                f"{pair[0]} needs {f[pair[0]][SAMPLES // 2]:.2f} N, C {f['C'][SAMPLES // 2]:.2f} N.",
                verdict=checked(same < EQUAL),
                check="mirror pairs equal, which symmetry demands",
                parts=[time_figure(shown, FORCE, f"Staicu {where}: horizontal translation", order="ABCDEF")],
            )
        )
    return items


def _rotation(robot: fp.Robot, drive: xr.Dataset) -> Item:
    f = drive.force
    back = fp.motions.one_minus_cos((*robot.home.position, 0, 0, 0), (0, 0, 0, 0, 0, -np.pi / 12), 2 * np.pi / 3, 3.0, SAMPLES)
    other = fp.inverse_dynamics(robot, back).force
    thirds = max(spread(f.sel(actuator=list(names)).values) for names in ("ACE", "BDF"))
    mirrored = relative_difference(f.sel(actuator="A").values, other.sel(actuator="B").values)
    return Item(
        where="Fig. 6",
        title="forces of the six actuators, rotation about z",
        says="Anti-symmetrical distribution: A, C, E against B, D, F.",
        ours=f"A = C = E and B = D = F to {thirds:.1e}. Anti-symmetry is exact as f_A(+angle) = f_B(-angle): to {mirrored:.1e}.",
        verdict=judged(thirds < EQUAL and mirrored < EQUAL, SYMMETRY),
        check="three-fold and mirror symmetry of the forces, which any model of this robot has",
        parts=[time_figure(drive, FORCE, "Staicu Fig. 6: rotation about z")],
    )


READINGS = (
    "World-from-platform rotation is Rx(a1) Ry(a2) Rz(a3); the paper's R = R3 R2 R1 is its transpose.",
    "Platform joints at angle alpha1 + alpha3 and radius 2.5 m; the legs are 5 m long at the start.",
    "First universal axis horizontal, at angle alpha1 + alpha2; the second is fixed to the leg.",
    "Tensors J_k are about the joint centres A_k, not the centres of mass.",
    "Gravity along -z (Eq. 21), although the text puts the platform below the base.",
    "Chosen: cylinder centre of mass 0.75 m from U; the cross has its centre of mass at U; platform inertia about G.",
)
ERRATA = (
    "Eq. (17): the last two lines are the same; the second must be the Coriolis term.",
    "Eq. (19): its Coriolis term runs along u3, but the prismatic axis is u2.",
    "Eq. (7): a^T should be R^T.",
)
