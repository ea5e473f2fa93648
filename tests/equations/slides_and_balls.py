"""A robot of P-S-R legs, made from the file of `3-rsr`."""

from pathlib import Path

import flexapod as fp

SLIDE = "shoulder: {type: prismatic, from: base, to: lower, at: [0.2, 0.02, 0], axis: [0, 0, 1], actuated: true, start: 0.128}"
BALL = "ball: {type: spherical, from: lower, to: upper, at: [0, 0, 0], rotation: {Y: 60 deg}}"


def slides_and_balls(folder: Path) -> fp.Robot:
    """The 3-RSR with vertical slides for its cranks, beside the planes of the hinges, which lean against their rods."""
    text = fp.catalogue()["3-rsr"].read_text(encoding="utf-8")
    lines = [SLIDE if "shoulder:" in x else BALL if "ball:" in x else x.strip() for x in text.splitlines()]
    made = [" " * (len(old) - len(old.lstrip())) + new for old, new in zip(text.splitlines(), lines, strict=True)]
    path = folder / "3-psr.yaml"
    path.write_text("\n".join(made).replace("axis: [0, 1, 0], axis_on", "axis: [0.1, 0.99498743710662, 0], axis_on"))
    return fp.load(path)
