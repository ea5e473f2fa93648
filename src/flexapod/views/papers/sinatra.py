"""Sinatra, Xi, Staicu 2009, hexapod on rails: Figs. 3-8."""

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
"""Difference that counts as equal: the printed geometry is symmetric, rounding is near 1e-13."""

SAMPLES = 121


def sinatra() -> Paper:
    """All figures with results."""
    robot = fp.load("hexapod")
    names = ("vertical-z", "horizontal-x", "rotation-z")
    drive = {name: fp.inverse_dynamics(robot, fp.motions.sinatra_motion(name, samples=SAMPLES)) for name in names}
    items = [
        _parameters(robot),
        *_vertical(robot, drive["vertical-z"]),
        *_horizontal(drive["horizontal-x"]),
        *_rotation(drive["rotation-z"]),
        efficiency(robot),
    ]
    return Paper(key="sinatra", source=robot.source, robot=robot.name, items=items, readings=READINGS, errata=ERRATA)


def _parameters(robot: fp.Robot) -> Item:
    """Eq. (24); tensors about the joint centres, leg axis last."""
    printed = {
        "m1, slider [kg]": (0.1, "legs.slider.mass"), "m2, cross [kg]": (0.05, "legs.cross.mass"),
        "m3, leg [kg]": (0.398, "legs.link.mass"), "mp, platform [kg]": (3.983, "platform.mass"),
        **diagonal("J3 about A3, z along the leg,", "legs.link", (0.0722, 0.0722, 0.0)),
        **diagonal("Jp", "platform", (0.068, 0.068, 0.136)),
        "l3, leg [m]": ((0.0, 0.0, 0.5), "legs.ball.at"),
    }  # fmt: skip
    rails = [robot.parameter(f"legs.{leg}.rail.at") for leg in "ABCDEF"]
    balls = [robot.parameter(f"legs.{leg}.ball.on") for leg in "ABCDEF"]
    derived = [
        ("L0, radius of six rails [m]", (0.6,) * 6, tuple(float(np.linalg.norm(r)) for r in rails)),
        ("l4, platform radius of six joints [m]", (0.3,) * 6, tuple(float(np.linalg.norm(b)) for b in balls)),
    ]
    return parameter_item(robot, "Eq. (24)", printed, derived)


def _figure(drive: xr.Dataset, variable: str, title: str) -> object:
    return time_figure(drive, [PlotPanel(variable=variable, label=variable)], title)


def _vertical(robot: fp.Robot, drive: xr.Dataset) -> list[Item]:
    motion = fp.motions.sinatra_motion("vertical-z", samples=2)
    held = fp.inverse_dynamics(robot, fp.State(position=motion.position, rotation=motion.rotation)).force.values[:, 0]
    f, p = spread(drive.force.values), spread(drive.power.values)
    more = abs(held[1] / held[0])
    return [
        Item(
            where="Fig. 3",
            title="input forces, vertical translation",
            says="All input forces are equal; going towards the base the limbs become more horizontal and the forces grow.",
            ours=f"Equal to {f:.1e}. Holding the last pose takes {more:.3f} times the force of the first; "
            "the forces are negative: the rails point inward and down, and the actuators hold the weight back.",
            verdict=judged(f < EQUAL and more > 1.0),
            check="forces equal, which symmetry demands; static force at the last pose above that at the first",
            parts=[_figure(drive, "force", "Sinatra Fig. 3: forces, vertical translation")],
        ),
        Item(
            where="Fig. 4",
            title="powers, vertical translation",
            says="All powers are equal at every moment.",
            ours=f"Equal to {p:.1e}; the largest is {np.abs(drive.power.values).max():.3f} W.",
            verdict=judged(p < EQUAL, SYMMETRY),
            check="powers equal, which symmetry demands",
            parts=[_figure(drive, "power", "Sinatra Fig. 4: powers, vertical translation")],
        ),
    ]


def _horizontal(drive: xr.Dataset) -> list[Item]:
    items = []
    for where, name in (("Fig. 5", "force"), ("Fig. 6", "power")):
        v = {a: drive[name].sel(actuator=a).values for a in "ABCDEF"}
        same = max(relative_difference(v["A"], v["F"]), relative_difference(v["B"], v["E"]), relative_difference(v["C"], v["D"]))
        unit = drive[name].attrs["units"]
        items.append(
            Item(
                where=where,
                title=f"{name}s, horizontal translation along x",
                says=f"The six {name}s plotted over time; the paper makes no statement beyond the plot.",
                ours=f"Mirror pairs A = F, B = E, C = D to {same:.1e}; "
                f"largest {name} {np.abs(drive[name].values).max():.3f} {unit}.",
                verdict=checked(same < EQUAL),
                check="mirror pairs equal, which symmetry demands",
                parts=[_figure(drive, name, f"Sinatra {where}: {name}s, horizontal translation")],
            )
        )
    return items


def _rotation(drive: xr.Dataset) -> list[Item]:
    inner = slice(1, -1)  # at rest at both ends: no power
    f, p = drive.force, drive.power
    active = p.sel(actuator=list("BDF")).values[inner].min()
    passive = p.sel(actuator=list("ACE")).values[inner].max()
    size = np.abs(f.sel(actuator="B").values)
    rising = {legs: np.all(np.diff(np.abs(f.sel(actuator=list(legs)).values), axis=0) > 0, axis=0) for legs in ("BDF", "ACE")}
    says = "Only B, D, F work actively, with increasing forces and positive absorbed powers."
    return [
        Item(
            where="Fig. 7",
            title="input forces, rotation about z",
            says=says,
            ours=f"|f_B| goes from {size[0]:.3f} N to {size[-1]:.3f} N, |f_A| from {abs(float(f.sel(actuator='A')[0])):.3f} N to "
            f"{abs(float(f.sel(actuator='A')[-1])):.3f} N.",
            verdict=judged(bool(rising["BDF"].all() and not rising["ACE"].any())),
            check="sizes of the forces of B, D, F grow in every step, those of A, C, E in none",
            parts=[_figure(drive, "force", "Sinatra Fig. 7: forces, rotation about z")],
        ),
        Item(
            where="Fig. 8",
            title="powers, rotation about z",
            says=says,
            ours=f"Between the ends the smallest power of B, D, F is {active:+.4f} W, the largest of A, C, E {passive:+.4f} W.",
            verdict=judged(bool(active > 0 and passive < 0)),
            check="signs of the powers between the ends",
            parts=[_figure(drive, "power", "Sinatra Fig. 8: powers, rotation about z")],
        ),
    ]


READINGS = (
    "beta0 = 59.680 deg, beta = 30.474 deg, h = 0.606379 m, l1 = 0.347537 m follow from closing the loop; "
    "gamma occurs in no equation.",
    "Gravity along +z: z points down and the platform hangs; the rail direction points inward, so static forces are negative.",
    "J3 = diag(0.0722, 0, 0.0722) about A3 as printed, larger than any mass distribution inside the leg allows.",
    "Chosen: leg centre of mass at l3/2; slider and cross are point masses at U.",
)
ERRATA = (
    "Eq. (2): a21 contains a_2alpha without the transpose; as printed the loop misses by 0.458 m.",
    "Eq. (20): the brace puts m_k before J as well.",
)
