"""Write docs/gallery: one page per robot of the catalogue, made from its file, with a picture.

    python tools/make_gallery.py            # pages and pictures (needs Chromium)
    python tools/make_gallery.py --pages    # pages only; a picture that is out of date is reported

tests/docs/test_gallery.py checks that the pages say what the robots say, and that the pictures show them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.scene.framing import framed

sys.path.insert(0, str(Path(__file__).parent))
from published_numbers import PUBLISHED

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
SIZE = (720, 500)
THUMBNAIL, FILLED = 0.93, 0.95
"""Part of the rendered picture that the robot fills at most, and of the stored one, into which it is cut: of its width or its
height, so that rods are as thick as they can be."""
FINER = 2
"""Pixels of the rendered picture per one of the stored one, along a side."""
PAPERS = {"Staicu": "staicu-2009", "Sinatra": "sinatra-2009", "Kim": "kim-2002", "Long": "long-2014", "Briot": "briot-2014"}
MOST_NAMES = 12
"""Coordinates of a leg that are all named; beams of several elements have dozens."""

LIMITS = ("stroke", "speed", "force", "power")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def text_of(value: Any) -> str:
    """A number or vector with six digits."""
    if isinstance(value, int | float):
        return f"{value:.6g}"
    return "(" + ", ".join(f"{float(v):.6g}" for v in value) + ")"


def legs(robot: fp.Robot) -> str:
    """Legs that are alike in one row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for leg, *rest in robot.loops.rows:
        kind, chain, closed = rest
        if len(names := chain.split(" - ")) > MOST_NAMES:
            chain = " - ".join([*names[:6], "...", *names[-2:]])
        alike.setdefault((kind, chain, closed), []).append(leg)
    rows = [[", ".join(who), *facts] for facts, who in alike.items()]
    return table(["legs", "kind", "chain", "closed by"], rows)


def parts(robot: fp.Robot) -> str:
    """Bodies that are alike in one row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in robot.bodies.rows:
        rest = [re.sub(r"-?\d[\d.]*e-(1[3-9]|[2-9]\d)", "0", cell) for cell in cells]  # roundings of finite elements
        short = name.split(".", 1)[-1]
        alike.setdefault((short, *rest), []).append(name)
    rows = [[f"{facts[0]}", str(len(names)), *facts[1:]] for facts, names in alike.items()]
    return table(["body", "count", "mass [kg]", "centre of mass [m]", "Ixx Iyy Izz about origin [kg m²]"], rows)


def limits(robot: fp.Robot) -> str:
    """Limits of the actuators that the file gives, alike in one line."""
    driven = [link for leg in robot.legs for link in leg.links if link.actuated]
    found: dict[str, list[str]] = {}
    for name, unit, link in zip(robot.actuators, robot.actuator_units, driven, strict=True):
        units = {"stroke": unit, "speed": f"{unit}/s", "force": "N" if unit == "m" else "N m", "power": "W"}
        label = [f"{key} {text_of(getattr(link.limits, key))} {units[key]}" for key in LIMITS if getattr(link.limits, key, None)]
        if label:
            found.setdefault(", ".join(label), []).append(name)
    return "; ".join(f"{', '.join(names)}: {label}" for label, names in found.items()) or "none in the file"


def computed(robot: fp.Robot) -> list[str]:
    """What comes out at home: conditioning and holding forces; nothing for legs with beams, or for a base that floats."""
    if robot.floats or any(link.elastic for leg in robot.legs for link in leg.links):
        return []
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    condition = float(fp.conditioning(robot, home).condition_number)
    still = fp.static_deflection(robot, home) if robot.elastic_names else fp.inverse_dynamics(robot, home)
    largest = np.abs(still.force.values).max()
    force = [float(f"{x:.10g}") if abs(x) > 1e-9 * largest else 0.0 for x in still.force.values]  # a tie is cut alike everywhere
    unit = still.force.attrs.get("units", "N")
    lines = [f"- condition number of the Jacobian at home: {condition:.3g}"]
    if any(force):
        lines.append(f"- forces that hold it at home [{unit}]: {', '.join(f'{x:.4g}' for x in force)}")
    if robot.elastic_names:
        lines.append(f"- elastic coordinates: {len(robot.elastic_names)}")
    return lines


def published(robot: fp.Robot) -> str:
    """Printed results beside ours."""
    rows = []
    for entry in PUBLISHED[robot.name]:
        ours = entry.ours(robot)
        digits = len(entry.printed.replace(".", "").lstrip("0"))
        rows.append([entry.what, entry.where, f"{entry.printed} {entry.unit}", f"{ours:#.{max(digits, 4)}g} {entry.unit}"])
    return table(["number", "where", "printed", "computed here"], rows)


def page(robot: fp.Robot) -> str:
    """The page of a robot."""
    name = robot.name
    paper = next((key for word, key in PAPERS.items() if robot.source.startswith(word)), None)
    notes = [f"- {note}" for note in robot.description.file.notes]
    facts = [
        f"- {robot.mobility}; {len(robot.actuators)} actuators ({', '.join(robot.actuators)})",
        f"- gravity {text_of(robot.gravity)} m/s², home at {text_of(robot.home.position)} m",
        f"- limits: {limits(robot)}",
        *computed(robot),
    ]
    where = ""
    if paper:
        title = (GALLERY.parent / "papers" / f"{paper}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        where = f" Its equations, one by one, and our readings: [{title}](../papers/{paper}.md)."
    blocks = [
        f"# {name}", f"{robot.title}.", f"![{name}, drawn from its robot file](pictures/{name}.png)",
        f"<!-- picture {fingerprint(robot)} -->", f"Source of the numbers: {robot.source}.{where}",
        f"```text\nflexapod show {name}\nflexapod report {name} --out {name}.html\n```", "## What it is", "\n".join(facts),
        legs(robot), "## Parts", parts(robot),
    ]  # fmt: skip
    if name in PUBLISHED:
        blocks += ["## Published results", published(robot)]
    if notes:
        blocks += ["## Notes of the file", "\n".join(notes)]
    return "\n\n".join(blocks) + "\n"


def figure(robot: fp.Robot) -> Any:
    """The picture, without title."""
    drawn = fp.figures.robot_figure(robot)
    drawn.update_layout(title=None, showlegend=False, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    drawn.update_scenes(**{f"{axis}axis": {"visible": False} for axis in "xyz"})  # a thumbnail shows the robot
    return drawn if robot.description.file.plane is not None else framed(drawn, THUMBNAIL)


def fingerprint(robot: fp.Robot) -> str:
    """Twelve digits that change with what the picture shows: all points in it, whatever lines join them, and how it is cut."""
    points = np.vstack([np.column_stack([np.array(trace[axis], dtype=float) for axis in "xyz"]) for trace in figure(robot).data])
    shown = np.unique(np.round(points, 4) + 0.0, axis=0).tolist()
    return hashlib.sha256(json.dumps([shown, SIZE, FILLED]).encode()).hexdigest()[:12]


def draw(robot: fp.Robot, path: Path) -> None:
    """A small PNG."""
    from PIL import Image

    figure(robot).write_image(path, width=SIZE[0], height=SIZE[1], scale=FINER)
    with Image.open(path) as image:
        fitted(image.convert("RGB")).quantize(64).save(path, optimize=True)


def fitted(image: Any) -> Any:
    """What is drawn on white, cut out, scaled to the size of a picture and put into its middle."""
    from PIL import Image, ImageChops

    white = Image.new("RGB", image.size, "white")
    drawn = image.crop(ImageChops.difference(image, white).convert("L").point(lambda x: 255 * (x > 8)).getbbox())
    scale = FILLED * min(SIZE[0] / drawn.size[0], SIZE[1] / drawn.size[1])
    small = drawn.resize((round(scale * drawn.size[0]), round(scale * drawn.size[1])), Image.Resampling.LANCZOS)
    found = Image.new("RGB", SIZE, "white")
    found.paste(small, ((SIZE[0] - small.size[0]) // 2, (SIZE[1] - small.size[1]) // 2))
    return found


def drawn_fingerprint(path: Path) -> str:
    """The fingerprint that the last drawing left in the page."""
    found = re.search(r"<!-- picture (\w+) -->", path.read_text(encoding="utf-8")) if path.is_file() else None
    return found[1] if found else ""


def index() -> str:
    """The overview of all robots."""
    rows = []
    for name in fp.catalogue():
        robot = fp.load(name)
        picture = f'[<img src="pictures/{name}.png" alt="{name}" width="180">]({name}.md)'
        rows.append([picture, f"[{name}]({name}.md)", robot.title, str(robot.mobility.rank), str(len(robot.actuators))])
    head = ["", "robot", "what it is", "mobility", "actuators"]
    label = "Every robot of the catalogue, from its file: `python tools/make_gallery.py` writes these pages."
    tree = "```{toctree}\n:hidden:\n\n" + "\n".join(fp.catalogue()) + "\n```"
    return f"# Gallery\n\n{label}\n\n{table(head, rows)}\n\n{tree}\n"


def main() -> None:
    """Write the gallery."""
    parser = argparse.ArgumentParser(description="write docs/gallery from the robot files")
    parser.add_argument("--pages", action="store_true", help="leave the pictures alone")
    pages_only = parser.parse_args().pages
    (GALLERY / "pictures").mkdir(parents=True, exist_ok=True)
    for name in fp.catalogue():
        robot = fp.load(name)
        target, picture = GALLERY / f"{name}.md", GALLERY / "pictures" / f"{name}.png"
        if drawn_fingerprint(target) != fingerprint(robot) or not picture.is_file():
            if not pages_only:
                draw(robot, picture)
            elif picture.is_file():  # the page would say that the picture shows this robot
                print(f"{name}: the picture is out of date; run without --pages")
                continue
            else:
                print(f"{name}: has no picture yet; run without --pages")
        target.write_text(page(robot), encoding="utf-8")
        print(f"docs/gallery/{name}.md")
    (GALLERY / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
