"""Pictures of the docs that show results: surfaces and slices of workspaces, assembly modes, flexible models.

    python tools/make_docs_pictures.py           # those whose numbers are no longer those of docs/_static/pictures.txt
    make pictures                                 # these, the gallery, the studio

docs/_static/pictures.txt has a fingerprint of the numbers of each picture, rounded, and of its title;
tests/docs/test_docs_pictures.py compares it with what the package computes now. one-model.svg is drawn by hand.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.linalg import eigh

import flexapod as fp

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "_static"
NOTES = FOLDER / "pictures.txt"
DIGITS = 3
"""Significant digits of numbers in a fingerprint: more are not seen."""
WIDTH, HEIGHT = 1000, 600

BEAM = """
flexapod: 1
name: spinning-beam
source: picture of the docs
gravity: [0, 0, 0]
plane: xy
home: {position: [1, 0, 0]}
platform: {body: "1.tip"}
legs:
  each:
    "1":
      table:
        - {body: hub, mu: 1, sigma: 0, inertial: {ZZ: 0.1}}
        - {body: arm, sigma: 2, flexible: {type: beam, length: 1, elements: 4, stiffening: SWITCH, young: 70e9, density: 2700,
           section: {shape: rectangle, width: 0.01, height: 0.02}}}
        - {body: tip, sigma: 2, d: 1}
"""
EI, MASS = 70e9 * 0.02 * 0.01**3 / 12, 2700 * 2e-4

Made = tuple[Any, list[Any]]
"""A figure, and the numbers that it shows."""


def solid() -> Made:
    """Surface of a workspace."""
    found = fp.workspace_solid(fp.load("bench-6ups"))
    figure = fp.figures.solid_figure(found, "Constant-orientation workspace of bench-6ups")
    return figure, [found.volume, found.vertices.min(axis=0), found.vertices.max(axis=0)]


def paving() -> Made:
    """Proven boxes of a slice."""
    found = fp.pave(fp.load("bench-6ups"), {"z": 4.4}, undecided=0.05, cut=False)
    return fp.figures.paving_figure(found, "Proven slice of bench-6ups at z = 4.4 m"), [found.volume_low, found.volume_high]


def poses() -> Made:
    """The platform in all poses of the same leg lengths."""
    robot = fp.load("gough-stewart")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    found = fp.assembly_modes(robot, fp.inverse_kinematics(robot, home).actuator_position.values)
    return fp.figures.poses_figure(robot, found), [np.sort(np.linalg.norm(found.position.values, axis=1))]


def ritz(spin: float) -> float:
    """First angular frequency of the spinning beam in the plane of rotation, by Ritz's method."""
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = (x + 1) / 2, w / 2
    shapes = [np.polynomial.Polynomial.basis(k + 2) for k in range(8)]
    f, d, dd = (np.array([p.deriv(n)(x) if n else p(x) for p in shapes]) for n in range(3))
    M = MASS * (f * w) @ f.T
    K = EI * (dd * w) @ dd.T + (d * w * MASS * spin**2 * (1 - x**2) / 2) @ d.T - spin**2 * M
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[0]))


def spinning_beam() -> Made:
    """First frequency of a spinning beam, linear and stiffened, against Ritz's method."""
    import plotly.graph_objects as go

    first, spin = ritz(0.0), np.linspace(0, 3, 13)
    found = {"Ritz (continuous beam)": np.array([ritz(s * first) for s in spin]) / first}
    none = np.zeros((len(spin), 1))
    motion = fp.ActuatorMotion(time=spin, position=none, velocity=first * spin[:, None], acceleration=none)
    for name in ("stiffening: true", "stiffening: false (papers)"):
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            file = Path(folder) / "beam.yaml"
            file.write_text(BEAM.replace("SWITCH", name.split()[1]))
            warnings.simplefilter("ignore", fp.ValidityWarning)
            result = fp.moving_frequencies(fp.load(file), motion)
        found[name] = np.where(result.stable.values, 2 * np.pi * result.frequency.values[:, 0] / first, np.nan)
    styles = [{"color": "#222", "width": 3}, {"color": "#0072B2", "width": 3, "dash": "dash"}, {"color": "#D55E00", "width": 3}]
    curves = zip(found.items(), styles, strict=True)
    figure = go.Figure([go.Scatter(x=spin, y=y, name=name, mode="lines", line=line) for (name, y), line in curves])
    figure.update_layout(template="plotly_white", legend={"x": 0.03, "y": 0.05})
    figure.update_xaxes(title="spin / first frequency at rest")
    figure.update_yaxes(title="first frequency in the plane / that at rest", rangemode="tozero")
    return figure, list(found.values())


def reduced_legs() -> Made:
    """Error of DualEMPS with eight elements per beam, reduced up to 600 Hz, over frequency and poses."""
    q = np.array([[0.0, 0.0], [0.05, -0.05], [0.1, 0.1]])
    motion = fp.ActuatorMotion(time=[0.0, 1.0, 2.0], position=q, velocity=0 * q, acceleration=0 * q)
    found = fp.reduce_legs(fp.load(ROOT / "tests/data/elastodynamics/dualemps-8.yaml"), motion, limit=600.0)
    figure = fp.figures.reduction_figure(found, "DualEMPS, eight elements per beam: 72 coordinates reduced to 13")
    return figure, [found.error.values.max(axis=-1)]


PICTURES: dict[str, Callable[[], Made]] = {
    "space-solid.png": solid,
    "space-paving.png": paving,
    "space-poses.png": poses,
    "flexible-models.svg": spinning_beam,
    "reduced-legs.svg": reduced_legs,
}


def fingerprint(made: Made) -> str:
    """Twelve digits that change with the numbers of a picture and with its title."""
    figure, numbers = made
    rounded = [f"{x:.{DIGITS}g}" for part in numbers for x in np.ravel(np.asarray(part, dtype=float)) + 0.0]
    return hashlib.sha256(f"{figure.layout.title.text} {rounded}".encode()).hexdigest()[:12]


def known() -> dict[str, str]:
    """Fingerprints of the pictures as they are."""
    lines = NOTES.read_text(encoding="utf-8").splitlines() if NOTES.is_file() else []
    return dict(line.split() for line in lines)


def main() -> None:
    """Draw what is out of date."""
    notes = known()
    for name, make in PICTURES.items():
        made = make()
        now = fingerprint(made)
        if notes.get(name) == now and (FOLDER / name).is_file() and "--again" not in sys.argv:
            print(f"docs/_static/{name} is up to date")
            continue
        fp.figures.save_figure(made[0].update_layout(width=WIDTH, height=HEIGHT), FOLDER / name)
        notes[name] = now
        NOTES.write_text("".join(f"{key} {notes[key]}\n" for key in PICTURES if key in notes), encoding="utf-8")
        print(f"docs/_static/{name}: {(FOLDER / name).stat().st_size} bytes")


if __name__ == "__main__":
    main()
