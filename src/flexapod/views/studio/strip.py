"""The strip below the view: stroke and force of every actuator against their limits, conditioning, frequency, age of each number.

Its HTML is written into a hidden element; the page's script keeps a copy at the bottom of the window (page.js).
"""

from __future__ import annotations

from html import escape
from textwrap import shorten

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.plots.time_figures import actuator_limits
from flexapod.views.scene.colours import FAULT, PULL, PUSH, colour
from flexapod.views.studio.numbers import Numbers
from flexapod.views.studio.tables import UNKNOWN, ShownMoment, actuator_legs
from flexapod.views.studio.vibration import Modes

REASON = 60
"""Letters of a reason that the strip has room for."""
BAR = "display:inline-block;position:relative;width:9px;height:32px;background:#e4e7eb;border-radius:2px;margin-right:2px"


def strip_html(
    robot: fp.Robot,
    shown: Numbers,
    modes: Modes | None,
    asked: bool,
    moment: ShownMoment | None = None,
    selected: int | None = None,
) -> str:
    """Content of the strip.

    Args:
        modes: frequencies that are known; those of another robot, variant or pose are marked.
        asked: new ones are being computed.
        selected: index of the leg whose bars light up.

    Checked by: tests/studio/test_studio_tables.py.
    """
    legs, force_limit = actuator_legs(robot), np.array(actuator_limits(robot, "force")[1])
    largest = float(np.nanmax(np.abs(shown.force))) if np.any(np.isfinite(shown.force)) else 1.0
    bars = "".join(
        _actuator(robot, shown, k, shade=colour(leg), limit=float(force_limit[k]), largest=largest, lit=leg == selected)
        for k, leg in enumerate(legs)
    )
    word, shade, reason = _verdict(shown)
    first = f"<br><span style='font-size:11px'>{escape(shorten(reason, REASON, placeholder=' ...'))}</span>" if reason else ""
    when = f"t = {moment.time:.3f} s" if moment is not None else "at rest"
    facts = [
        f"<div class='strip-verdict' style='border-left:4px solid {shade};padding-left:7px;min-width:128px'>"
        f"<b>{word}</b>{first}</div>",
        f"<div style='white-space:nowrap' class='strip-bars' title='left: place in the stroke; right: force'>{bars}</div>",
        _fact("condition", number(shown.condition, 4), shown.origin.made if np.isfinite(shown.condition) else None),
        _fact("singularity distance", number(shown.type_2, 3), shown.origin.made if np.isfinite(shown.type_2) else None),
        _frequency(shown, modes, asked),
        f"<div style='margin-left:auto;text-align:right;color:#52606d;white-space:nowrap'><b class='strip-robot'>"
        f"{escape(shown.origin.robot)}</b>, {escape(shown.origin.variant[:40])}<br>{when}</div>",
    ]
    return f"<div id='strip-source' hidden>{''.join(facts)}</div>"


def _verdict(shown: Numbers) -> tuple[str, str, str]:
    """Words, colour and reason: within limits, beyond them, or not known."""
    if shown.unknown:
        return UNKNOWN, "#0072B2", ""
    if shown.good:
        return "within all limits", "#009E73", ""
    return "limit exceeded" if shown.taken else "out of reach", FAULT, shown.problems[0].text


def _actuator(robot: fp.Robot, shown: Numbers, k: int, *, shade: str, limit: float, largest: float, lit: bool) -> str:
    """Two bars: place in the stroke, and force from its middle, against its limit or the largest of all actuators."""
    name, unit, q, force = robot.actuators[k], robot.actuator_units[k], float(shown.actuator[k]), float(shown.force[k])
    low, high = float(shown.stroke[k][0]), float(shown.stroke[k][1])
    place, out = "", False
    if np.isfinite([q, low, high]).all() and high > low:
        part = (q - low) / (high - low)
        out = not -1e-9 <= part <= 1 + 1e-9
        bottom = 100 * min(max(part, 0.0), 1.0) * 0.91
        fill = FAULT if out else shade
        place = f"<i style='position:absolute;left:0;right:0;bottom:{bottom:.0f}%;height:9%;background:{fill}'></i>"
    top = limit if np.isfinite(limit) else largest
    size = min(abs(force) / top, 1.0) if np.isfinite(force) and top > 0 else 0.0
    over = np.isfinite(limit) and abs(force) > limit * (1 + 1e-9)
    edge = "border-top:2px solid #52606d;border-bottom:2px solid #52606d;" if np.isfinite(limit) else ""
    fill = FAULT if over else PUSH if force > 0 else PULL
    side = "bottom:50%" if force > 0 else "top:50%"
    push = f"<i style='position:absolute;left:1px;right:1px;{side};height:{50 * size:.0f}%;background:{fill}'></i>"
    reported = f"{name}: {number(float(np.degrees(q)) if unit == 'rad' else q, 5)} {'deg' if unit == 'rad' else 'm'}, "
    reported += f"{number(force, 5)} {'N m' if unit == 'rad' else 'N'}" + (
        f" of {number(limit, 4)}" if np.isfinite(limit) else ""
    )
    return (
        f"<span title='{escape(reported)}' style='display:inline-block;text-align:center;margin-right:7px;line-height:1"
        f"{';outline:2px solid #f0b429;outline-offset:2px' if lit else ''}'>"
        f"<span style='{BAR}'>{place}</span><span style='{BAR};{edge}box-sizing:border-box'>{push}</span><br>"
        f"<span style='font-size:10px'>{escape(name[:6])}</span></span>"
    )


def _fact(label: str, value: str, made: float | None, note: str = "") -> str:
    """A number with its label, its age (None: there is no number) and a note."""
    muted = "color:#7b8794;font-size:11px"
    age = "" if made is None else f"<span style='{muted}' data-made='{made:.2f}'></span>"
    return (
        f"<div style='white-space:nowrap'><span style='{muted}'>{label}</span><br><b>{value}</b> "
        f"{age}<span style='{muted}'>{note}</span></div>"
    )


def _frequency(shown: Numbers, modes: Modes | None, asked: bool) -> str:
    """The lowest frequency that is known of this robot and variant; of another pose it says so."""
    if modes is None and not asked:
        return _fact("lowest frequency", "none", shown.origin.made)
    if modes is None or modes.origin.robot != shown.origin.robot or modes.origin.variant != shown.origin.variant:
        return _fact("lowest frequency", "...", None, "computing")
    lowest = f"{number(float(modes.frequency[0]), 4)} Hz" if modes.stable[0] else "unstable"
    note = "" if modes.origin.pose == shown.origin.pose else ", of another pose"
    note = ", stiffness assumed" + note if modes.assumed else note
    return _fact("lowest frequency", lowest, modes.origin.made, note)
