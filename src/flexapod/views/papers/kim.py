"""Kim, Ryu 2002, HexaSlide: Figs. 7-11 and the comparison of calculation times."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.papers.items import BOUNDED, OPEN, Item, Paper, checked, judged, relative_difference
from flexapod.views.papers.shared_items import Printed, diagonal, parameter_item
from flexapod.views.plots.time_figures import PlotPanel, time_figure
from flexapod.views.reports.html import HtmlTable

if TYPE_CHECKING:
    import xarray as xr


EQUAL = 1e-9
"""Difference between derivations that counts as none: rounding is near 1e-13."""

SMALL = 0.1
"""Share of the total force that is called a small influence."""

FORCE = [PlotPanel(variable="force", label="force")]
OTHERS = {"virtual work": "virtual_work", "virtual power": "virtual_power", "minimal": "minimal"}
SAMPLES = 121


def kim() -> Paper:
    """Figures 7 to 11 and the timing."""
    robot = fp.load("hexaslide")
    slow, fast = (fp.motions.kim_circle(rpm=rpm, samples=SAMPLES) for rpm in (20.0, 60.0))
    parts = {rpm: fp.inverse_dynamics(robot, m, contributions="alone") for rpm, m in ((20, slow), (60, fast))}
    items = [
        _parameters(robot),
        *_compared(robot, fp.motions.kim_circle(samples=SAMPLES), "Fig. 7", "circle of 100 mm at 40 rpm, no friction"),
        *_compared(
            robot, fp.motions.kim_constant_acceleration(samples=SAMPLES), "Fig. 8", "constant acceleration, Eq. (33), no friction"
        ),
        *_inertia(robot, {20: slow, 60: fast}, parts),
        _friction(robot, slow, parts[20]),
        _timing(robot, slow),
    ]
    return Paper(key="kim", source=robot.source, robot=robot.name, items=items, readings=READINGS, errata=ERRATA, missing=MISSING)


def _parameters(robot: fp.Robot) -> Item:
    """Appendix A.1; ends of the rails from start, direction and length."""
    legs = [leg.name for leg in robot.legs]
    start, axis, ball = (
        np.array([robot.parameter(f"legs.{leg}.{key}") for leg in legs]) for key in ("rail.at", "rail.axis", "ball.on")
    )
    length = np.array([robot.parameter(f"legs.{leg}.rail.limits.stroke")[1] for leg in legs])  # type: ignore[index]
    end = start + axis * length[:, None]
    printed: Printed = {
        "l [m]": ((0.0, 0.0, 0.9), "legs.ball.at"), "m [kg]": (10.7673, "platform.mass"), "m_l [kg]": (2.1729, "legs.link.mass"),
        "m_s [kg]": (0.9971, "legs.slider.mass"), "g [m/s²]": ((0.0, 0.0, 9.81), "gravity"),
        "CG' = -GC' [m]": ((0.0, 0.0, 0.007), "platform.com"),
        **diagonal("I'", "platform", (0.1181489, 0.1181488, 0.2258968)),
        **diagonal("I_l'", "legs.link", (0.1402837, 0.1402837, 0.0001087)),
        "c_s [N s/m]": (0.001, "legs.rail.friction.viscous"), "mu_s": (0.2, "legs.rail.friction.normal"),
        "c_u [N m s/rad]": (0.001, "legs.hip.friction.viscous"), "tau_u per force [m]": (0.006, "legs.hip.friction.reaction"),
        "c_p [N m s/rad]": (0.001, "legs.ball.friction.viscous"), "tau_p per force [m]": (0.006, "legs.ball.friction.reaction"),
    }  # fmt: skip
    derived = [
        (f"{name} {k} of six legs [m]", PRINTED_POINTS[f"{name} {k}"], tuple(values[:, "xyz".index(k)]))
        for name, values in (("A_0", start), ("A_1", end), ("CB'", ball)) for k in "xyz" if f"{name} {k}" in PRINTED_POINTS
    ]  # fmt: skip
    return parameter_item(
        robot, "Appendix A.1", printed, derived, "Geometry, masses and friction; the y row of A_1 is lost in print."
    )


PRINTED_POINTS = {
    "A_0 x": (-0.7380, -0.8480, -0.1100, 0.1100, 0.8480, 0.7380),
    "A_0 y": (-0.5531, -0.3625, 0.9157, 0.9157, -0.3625, -0.5531),
    "A_0 z": (0.0,) * 6,
    "A_1 x": (-0.2130, -0.3230, -0.1100, 0.1100, 0.3230, 0.2130),
    "A_1 z": (0.35,) * 6,
    "CB' x": (-0.0515, -0.1615, -0.1100, 0.1100, 0.1615, 0.0515),
    "CB' y": (-0.1567, 0.0337, 0.1229, 0.1229, 0.0337, -0.1567),
    "CB' z": (0.0,) * 6,
}
"""Appendix A.1 [m], legs 1 to 6."""


def _compared(robot: fp.Robot, motion: fp.Motion, where: str, what: str) -> list[Item]:
    """Newton-Euler against other derivations, as the paper sets its equations against DADS; and what the slender link does."""
    ours = fp.inverse_dynamics(robot, motion, friction=False, formulation="newton_euler")
    others: dict[str, Any] = {
        label: fp.inverse_dynamics(robot, motion, friction=False, formulation=name)  # type: ignore[arg-type]
        for label, name in OTHERS.items()
    }
    differences = {label: relative_difference(ours.force.values, other.force.values) for label, other in others.items()}
    worst, largest = max(differences.values()), float(np.abs(ours.force.values).max())
    rows = [[f"Newton-Euler against {label}", f"{value:.1e}"] for label, value in differences.items()]
    return [
        Item(
            where=f"{where} (a)",
            title=f"actuator forces, {what}",
            says="The Newton-Euler equations give almost the same forces as the multibody program DADS.",
            ours=f"Newton-Euler against three other derivations of ours: at most {worst:.1e} of the largest force "
            f"({largest:.2f} N). DADS itself is not available.",
            verdict=checked(worst < EQUAL),
            check="four derivations of ours against each other, not DADS",
            parts=[
                time_figure(ours, FORCE, f"Kim {where} (a): {what}"),
                HtmlTable(head=("comparison", "largest difference [1]"), rows=rows),
            ],
        ),
        _slender(robot, motion, where, what, ours),
    ]


def _slender(robot: fp.Robot, motion: fp.Motion, where: str, what: str, exact: xr.Dataset) -> Item:
    """The paper's cause of the discrepancy: links without spin about their own line (Eq. 19) against exact ones."""
    slender = fp.inverse_dynamics(robot, motion, friction=False, spin="neglected")
    shown = exact.assign(difference=(slender.force - exact.force).assign_attrs(units="N"))
    size, largest = float(np.abs(shown.difference).max()), float(np.abs(exact.force).max())
    return Item(
        where=f"{where} (b)",
        title=f"discrepancy between the paper's equations and exact ones, {what}",
        says="A minor discrepancy between the paper's equations and DADS may be due to the simplified slender link model. It is "
        "plotted, its size is not printed.",
        ours=f"With n.omega = 0 (Eqs. 17-19) the forces change by at most {size:.1e} N of {largest:.1f} N "
        f"({size / largest:.0e}). A larger discrepancy would have another cause.",
        verdict=BOUNDED,
        check=f"our forces with and without spin, {size:.1e} N apart; DADS and the plotted values are not known",
        parts=[
            time_figure(shown, [PlotPanel(variable="difference", label="change of force")], f"Kim {where} (b): spin neglected")
        ],
    )


def _inertia(robot: fp.Robot, motions: dict[int, fp.Motion], parts: dict[int, xr.Dataset]) -> list[Item]:
    ratio, items = {}, []
    for rpm, motion in motions.items():
        whole = fp.inverse_dynamics(robot, motion, friction=False)
        link = parts[rpm].force_contribution.sel(contribution="leg_inertia", drop=True).assign_attrs(units="N")
        ratio[rpm] = float(np.abs(link).max() / np.abs(whole.force).max())
        shown = whole.assign(link=link)
        panels = [PlotPanel(variable="force", label="total force"), PlotPanel(variable="link", label="by link inertia")]
        where = "Fig. 9" if rpm == 20 else "Fig. 10"
        figure = time_figure(shown, panels, f"Kim {where}: total force and link inertia, {rpm} rpm")
        items.append((where, rpm, figure, float(np.abs(link).max()), float(np.abs(whole.force).max())))
    grows = judged(ratio[60] > ratio[20])
    return [
        Item(
            where=where,
            title=f"total force and force due to link inertia, {rpm} rpm",
            says="The higher the speed, the more significant the link inertia; it must be included at higher speeds.",
            ours=f"Link inertia takes up to {link:.2f} N of {total:.2f} N ({100 * ratio[rpm]:.1f} %); "
            f"the fraction grows from {100 * ratio[20]:.1f} % at 20 rpm to {100 * ratio[60]:.1f} % at 60 rpm.",
            verdict=grows,
            check="largest force by link inertia, as a part of the total, at 60 rpm above that at 20 rpm",
            parts=[figure],
        )
        for where, rpm, figure, link, total in items
    ]


def _friction(robot: fp.Robot, motion: fp.Motion, parts: xr.Dataset) -> Item:
    sources = {
        "sliders": "friction_prismatic",
        "universal joints": "friction_universal",
        "spherical joints": "friction_spherical",
    }
    shown = parts.assign(
        {key: parts.force_contribution.sel(contribution=name, drop=True).assign_attrs(units="N") for key, name in sources.items()}
    )
    total = float(np.abs(fp.inverse_dynamics(robot, motion, friction=False).force).max())
    size = {key: float(np.abs(shown[key]).max()) for key in sources}
    joints = max(size["universal joints"], size["spherical joints"])
    text = ", ".join(f"{key} {value:.3f} N" for key, value in size.items())
    return Item(
        where="Fig. 11",
        title="additional forces due to friction, 20 rpm",
        says="Friction of universal and spherical joints has little influence on the total force, caused by small coefficients.",
        ours=f"Largest additional force: {text}, of {total:.2f} N in total; the joints reach {100 * joints / total:.1f} % of it.",
        verdict=judged(joints < SMALL * total and joints < size["sliders"]),
        check="friction of the joints below a tenth of the total force and below that of the sliders",
        parts=[
            time_figure(
                shown, [PlotPanel(variable=key, label=key) for key in sources], "Kim Fig. 11: friction of one source alone"
            )
        ],
    )


def _timing(robot: fp.Robot, motion: fp.Motion) -> Item:
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    given: dict[str, Any] = {name: np.ascontiguousarray(np.repeat(getattr(motion, name), 10, axis=0)) for name in names}
    given["wrench"] = np.zeros((len(given["position"]), 6))
    times, counts = {}, {}
    for label, massless in (("with", False), ("without", True)):
        kernel = fp.kernel(robot, "virtual_power", massless_legs=massless)
        own = {i.name: given[i.name] for i in kernel.signature.inputs}
        times[label], counts[label] = _best(partial(kernel.batch, own), len(given["wrench"])), kernel.operations.total
    steps = 601
    rows = [
        [label, seconds, f"{times[label] * steps * 1e6:.0f} us", str(counts[label])]
        for label, seconds in (("with", "16.59 s"), ("without", "8.52 s"))
    ]
    ratio, paper = times["with"] / times["without"], 16.59 / 8.52
    return Item(
        where="Section 4.2",
        title="calculation time with and without link inertia, 3 s of motion in steps of 5 ms",
        says=f"16.59 s with and 8.52 s without link inertia (MATLAB, Pentium III): a factor of {paper:.2f}.",
        ours=f"Virtual power, one thread: a factor of {ratio:.2f} in time, "
        f"{counts['with'] / counts['without']:.2f} in operations. "
        "Other machine, other language: only the factor can be set beside the paper's.",
        verdict=OPEN,
        check="another machine and language; only the factors are set side by side",
        parts=[HtmlTable(head=("link inertia", "paper", "here, 601 steps", "operations per step"), rows=rows)],
    )


def _best(evaluate: Callable[[], object], samples: int, seconds: float = 0.2) -> float:
    """Best seconds per sample over short batches."""
    evaluate()
    best, stop = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < stop:
        start = time.perf_counter()
        evaluate()
        best = min(best, time.perf_counter() - start)
    return float(best / samples)


READINGS = (
    "The y row of the rail ends is lost in print: (-0.2500, -0.0595, 0.3095, 0.3095, -0.0595, -0.2500) by "
    "three-fold symmetry; z row 0.35.",
    "GC' = (0, 0, -0.007) runs from G to C, so the centre of mass is at (0, 0, +0.007) from C.",
    "Chosen: first universal axis horizontal, perpendicular to the rail; circle around (0, 0, 0.93) from (r, 0).",
    "Chosen: the constant-acceleration motion starts at (0, 0, 0.80); from 0.93 it leaves the rails.",
    "Chosen: guide normal force |u.N| + |v.N|; the printed (u - v)^T N depends on the signs of u and v.",
    "Friction moments depend on reactions, which depend on friction moments: the coupling is solved to convergence.",
)
MISSING = (
    "Curves of DADS in Figs. 7 and 8: the program and its results are not available; what its discrepancy may come from is "
    "judged by leaving out the spin of the links ourselves.",
)
ERRATA = (
    "Eq. (33): the last entry -0.0 is -0.1; entries 4-6 are Euler angle accelerations.",
    "Eq. (28): l/2 before m_l (I + n n^T) n'' must be l/4, as in Eq. (29).",
    "Eq. (23): sign of f_u. Eq. (29): garbled lambda'' term.",
    "'M_A only along n' holds only where the first universal axis is normal to n.",
)
