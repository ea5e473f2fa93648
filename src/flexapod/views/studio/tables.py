"""HTML of the numbers panel. Every name from a robot file is escaped: a file cannot write into the page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.plots.time_figures import largest
from flexapod.views.scene.colours import colour
from flexapod.views.studio.numbers import Numbers
from flexapod.views.studio.vibration import Modes

if TYPE_CHECKING:
    import xarray as xr

DIGITS = 6
"""Significant digits of displayed forces and actuator positions."""

UNKNOWN = "forces and limits are not known"

UNSTABLE = (
    "A negative number is no frequency: the mode does not vibrate, it grows by itself from any disturbance, and the number is "
    "minus its growth rate over 2 pi."
)

STYLE = """<style>
.fp{font:13px/1.35 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;margin:.2em .55em .5em;color:#1f2933;white-space:normal;
overflow-wrap:anywhere}
.fp table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
.fp th{font-weight:600;text-align:right;padding:.1em .3em;border-bottom:1px solid #cbd2d9;color:#52606d;font-size:12px}
.fp td{text-align:right;padding:.1em .3em;white-space:nowrap}
.fp th:first-child,.fp td:first-child{text-align:left}
.fp th,.fp td{overflow-wrap:normal}
.fp .facts td:first-child{white-space:normal}
.fp .good{background:#e6f4ee;border-left:4px solid #009E73;padding:.3em .5em;margin:.15em 0 .45em}
.fp .bad{background:#fdeaea;border-left:4px solid #d51e1e;padding:.3em .5em;margin:.15em 0 .45em;color:#8f1414;white-space:normal}
.fp .note{background:#eef2f7;border-left:4px solid #0072B2;padding:.3em .5em;margin:.15em 0 .45em;white-space:normal}
.fp .dot{display:inline-block;width:.65em;height:.65em;border-radius:50%;margin-right:.35em}
.fp .bar{display:inline-block;width:64px;height:7px;background:#e4e7eb;border-radius:4px;position:relative;vertical-align:middle}
.fp .bar i{position:absolute;top:-2px;width:3px;height:11px;border-radius:2px}
.fp .facts td{padding-top:.15em} .fp .muted{color:#7b8794;font-size:12px} .fp .red{color:#c81e1e;font-weight:600}
.fp .delta{color:#52606d;font-size:12px} .fp tr.lit td{background:#fff3c4;font-weight:600}
</style>"""


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownMoment:
    """A moment of a motion: time [s], what is played, power of each actuator [W], largest deformation [m] where there is one."""

    time: float
    title: str
    power: NDArray[np.float64]
    deformation: float | None = None


def numbers_html(
    robot: fp.Robot, shown: Numbers, kept: Numbers | None = None, moment: ShownMoment | None = None, selected: int | None = None
) -> str:
    """The numbers of a pose or of a moment of a motion, and those of the kept variant beside them with differences in percent.

    Args:
        selected: index of the leg whose rows light up.

    Checked by: tests/studio/test_studio_tables.py.
    """
    head = ""
    if moment is not None:
        head = f"<div id='moment'><b>t = {moment.time:.3f} s</b> of {escape(moment.title)}</div>"
    body = head + verdict(shown) + _actuators(robot, shown, kept, moment, selected) + _facts(robot, shown, kept)
    if moment is not None and moment.deformation is not None:
        body += f"<div>largest deformation {number(1e3 * moment.deformation, 4)} mm</div>"
    return f"{STYLE}<div class='fp' id='numbers' data-robot='{escape(shown.origin.robot)}'>{body}</div>"


def verdict(shown: Numbers) -> str:
    """One line: within limits, or what is wrong, with leg and reason, or why that is not known."""
    if shown.good:
        return "<div class='good' id='verdict'>within all limits</div>"
    if shown.unknown:
        return f"<div class='note' id='verdict'><b>{UNKNOWN}</b><br>{escape(shown.unknown)}</div>"
    lines = "<br>".join(escape(problem.text) for problem in shown.problems[:4])
    more = f"<br>and {len(shown.problems) - 4} more" if len(shown.problems) > 4 else ""
    word = "limit exceeded" if shown.taken else "out of reach"
    return f"<div class='bad' id='verdict'><b>{word}</b><br>{lines}{more}</div>"


def _actuators(robot: fp.Robot, shown: Numbers, kept: Numbers | None, moment: ShownMoment | None, selected: int | None) -> str:
    units = set(robot.actuator_units)
    mixed = len(units) > 1
    unit = "m" if units == {"m"} else "deg" if units == {"rad"} else ""
    force = "N" if units == {"m"} else "N m" if units == {"rad"} else ""
    word = "torque" if units == {"rad"} else "force"
    stroke = "<th>stroke</th>" if kept is None else ""  # the strip has it; here the kept variant takes its room
    head = f"<tr><th>actuator</th><th>position{_in(unit)}</th>{stroke}<th>{word}{_in(force)}</th>"
    head += "<th>power [W]</th>" if moment is not None else ""
    head += f"<th>kept{_in(force)}</th><th>change</th></tr>" if kept is not None else "</tr>"
    rows = []
    legs = actuator_legs(robot)
    for k, name in enumerate(robot.actuators):
        angle = robot.actuator_units[k] == "rad"
        q = np.degrees(shown.actuator[k]) if angle else shown.actuator[k]
        own = f" {'deg' if angle else 'm'}" if mixed else ""
        push = f" {'N m' if angle else 'N'}" if mixed else ""
        low, high = shown.stroke[k]
        out = not (low - 1e-9 <= shown.actuator[k] <= high + 1e-9) and np.isfinite(shown.actuator[k])
        cells = [
            f"<td>{dot(legs[k])}{escape(name)}</td>",
            f"<td id='position-{k}'{' class=red' if out else ''}>{number(round(float(q), 9) + 0.0, 6)}{own}</td>",
            f"<td>{_bar(float(shown.actuator[k]), float(low), float(high))}</td>" if kept is None else "",
            f"<td id='force-{k}'>{number(float(shown.force[k]) + 0.0, DIGITS)}{push}</td>",
        ]
        if moment is not None:
            cells.append(f"<td id='power-{k}'>{number(round(float(moment.power[k]), 9) + 0.0, 5)}</td>")
        if kept is not None:
            cells.append(f"<td id='kept-force-{k}'>{number(float(kept.force[k]) + 0.0, DIGITS)}{push}</td>")
            cells.append(f"<td id='change-{k}' class='delta'>{percent(float(shown.force[k]), float(kept.force[k]))}</td>")
        lit = " class='lit'" if legs[k] == selected else ""
        rows.append(f"<tr{lit} data-leg='{legs[k]}'>{''.join(cells)}</tr>")
    return f"<table>{head}{''.join(rows)}</table>"


def peak_text(robot: fp.Robot, force: NDArray[np.float64]) -> str:
    """The largest force and torque along a motion, with units: `force 274.2 N`, `force 3 N and torque 2 N m`.

    Args:
        force: (n, actuators) [N, N m].
    """
    peaks: dict[str, float] = {}
    for unit, column in zip(robot.actuator_units, np.abs(force).T, strict=True):
        peaks[unit] = max(peaks.get(unit, 0.0), float(np.nanmax(column)) if np.any(np.isfinite(column)) else 0.0)
    words = {"m": ("force", "N"), "rad": ("torque", "N m")}
    return " and ".join(f"{words[unit][0]} {number(peak, 5)} {words[unit][1]}" for unit, peak in peaks.items())


def percent(now: float, before: float) -> str:
    """The change against the kept variant: `+12.5 %`; empty where there is nothing to compare with."""
    if not np.isfinite([now, before]).all() or abs(before) < 1e-9 * max(abs(now), 1e-3):
        return ""
    return f"{100.0 * (now - before) / abs(before):+.1f} %"


def actuator_legs(robot: fp.Robot) -> list[int]:
    """Index of the leg of each actuator."""
    return [k for k, leg in enumerate(robot.legs) for link in leg.links if link.actuated]


def dot(leg: int) -> str:
    """A dot in the colour of a leg."""
    return f"<span class='dot' style='background:{colour(leg)}'></span>"


def _in(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def _bar(value: float, low: float, high: float) -> str:
    """Bar of an actuator's place in its stroke."""
    if not np.all(np.isfinite([value, low, high])) or high <= low:
        return "<span class='muted'>none</span>" if np.isfinite(value) else ""
    part = (value - low) / (high - low)
    shade = "#d51e1e" if not 0.0 <= part <= 1.0 else "#0072B2"
    return f"<span class='bar'><i style='left:{100 * min(max(part, 0.0), 1.0) * 0.96:.1f}%;background:{shade}'></i></span>"


def _facts(robot: fp.Robot, shown: Numbers, kept: Numbers | None) -> str:
    p = shown.state.position
    rotation = np.degrees(fp.motions.rotation_rotvec(shown.state.rotation @ robot.home.rotation.T))
    rows = [
        ("condition number", "condition", shown.condition, None if kept is None else kept.condition),
        ("platform singularity: distance (0: singular)", "type-2", shown.type_2, None if kept is None else kept.type_2),
    ]
    known = shown.type_1[np.isfinite(shown.type_1)]
    if len(known):
        worst = largest(-shown.type_1)
        other = None if kept is None else float(np.nanmin(kept.type_1)) if np.any(np.isfinite(kept.type_1)) else np.nan
        rows.append((f"leg singularity: distance, leg {robot.legs[worst].name}", "type-1", float(shown.type_1[worst]), other))
    body = "".join(
        f"<tr><td>{escape(text)}</td><td id='{key}'>{number(value, 4)}</td>"
        + (f"<td>{number(other, 4)}</td><td class='delta'>{percent(value, other)}</td>" if other is not None else "")
        + "</tr>"
        for text, key, value, other in rows
    )
    place, angles = (", ".join(f"{x:.{n}g}" for x in np.round(v, 9) + 0.0) for v, n in ((p, 4), (rotation, 3)))
    where = f"platform at ({place}) m, rotated by ({angles}) deg"
    return f"<table class='facts' style='margin-top:.45em'>{body}</table><div class='muted'>{where}</div>"


def frequencies_html(found: Modes | str, kept: Modes | None = None, note: str = "", count: int = 6) -> str:
    """Natural frequencies with damping, those of the kept variant beside them; or why there are none."""
    if isinstance(found, str):
        return f"{STYLE}<div class='fp muted' id='frequencies'>{escape(found)}</div>"
    head = (
        "<tr><th>mode</th><th>frequency [Hz]</th><th>damping [%]</th>"
        + ("<th>kept [Hz]</th><th>change</th>" if kept else "")
        + "</tr>"
    )
    rows = ""
    for k in range(min(count, len(found.frequency))):
        red = "" if found.stable[k] else " class='red'"
        cells = f"<td id='frequency-{k}'{red}>{number(float(found.frequency[k]), 5)}</td>"
        cells += f"<td>{number(100 * float(found.damping[k]), 3)}</td>" if found.stable[k] else "<td class='red'>unstable</td>"
        if kept is not None:
            cells += f"<td>{number(float(kept.frequency[k]), 5)}</td>"
            cells += f"<td class='delta'>{percent(float(found.frequency[k]), float(kept.frequency[k]))}</td>"
        rows += f"<tr><td>{k + 1}</td>{cells}</tr>"
    why = ""
    if not np.all(found.stable[:count]):
        why = f"<div class='red' id='unstable'>{escape(UNSTABLE)}</div>"
    label = f"<div class='muted'>{escape(note)}</div><div class='muted' id='frequencies-of'>{escape(found.origin.text)}</div>"
    return f"{STYLE}<div class='fp' id='frequencies'><table>{head}{rows}</table>{why}{label}</div>"


def residual_html(robot: str, variant: str, found: list[tuple[str, xr.Dataset]]) -> str:
    """Table of the vibration that shapers leave after a standard move: peak, and reduction with exact and wrong frequencies [%].

    Checked by: tests/studio/test_studio_tables.py.
    """
    exact = found[0][1]
    head = "".join(f"<th>{escape(words)}</th>" for words, _ in found)
    rows = ""
    for name in exact.way.values:
        cells = "".join(f"<td>{100 * float(one.reduction.sel(way=name)):.1f} %</td>" for _, one in found)
        rows += f"<tr><td>{escape(str(name))}</td><td>{number(1e3 * float(exact.peak.sel(way=name)), 3)} mm</td>{cells}</tr>"
    lead = f"<b>residual vibration</b> of {escape(robot)} ({escape(variant)}) from home, peak and reduction by input shapers"
    table = f"<table><tr><th>way</th><th>peak</th>{head}</tr>{rows}</table>"
    return f"{STYLE}<div class='fp' id='residual'>{lead}{table}</div>"
