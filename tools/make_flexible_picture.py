"""Write docs/_static/flexible-models.svg: first frequency of a spinning beam, linear and stiffened, against Ritz's method; and
docs/_static/reduced-legs.svg: error of DualEMPS with eight elements per beam, reduced up to 600 Hz, over frequency and poses.

Run from the project's folder: python tools/make_flexible_picture.py
"""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from scipy.linalg import eigh

import flexapod as fp

ROBOT = """
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
STYLE = {"Ritz (continuous beam)": "#222", "stiffening: true": "#1f77b4", "stiffening: false (papers)": "#d62728"}


def ritz(spin: float) -> float:
    """First angular frequency in the plane of rotation."""
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = (x + 1) / 2, w / 2
    shapes = [np.polynomial.Polynomial.basis(k + 2) for k in range(8)]
    f, d, dd = (np.array([p.deriv(n)(x) if n else p(x) for p in shapes]) for n in range(3))
    M = MASS * (f * w) @ f.T
    K = EI * (dd * w) @ dd.T + (d * w * MASS * spin**2 * (1 - x**2) / 2) @ d.T - spin**2 * M
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[0]))


def curves() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Spin and frequencies, of the first frequency at rest."""
    first, spin = ritz(0.0), np.linspace(0, 3, 13)
    found = {"Ritz (continuous beam)": np.array([ritz(s * first) for s in spin]) / first}
    none = np.zeros((len(spin), 1))
    motion = fp.ActuatorMotion(time=spin, position=none, velocity=first * spin[:, None], acceleration=none)
    for name in list(STYLE)[1:]:
        file = Path(mkdtemp()) / "beam.yaml"
        file.write_text(ROBOT.replace("SWITCH", name.split()[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fp.ValidityWarning)
            result = fp.moving_frequencies(fp.load(file), motion)
        found[name] = np.where(result.stable.values, 2 * np.pi * result.frequency.values[:, 0] / first, np.nan)
    return spin, found


def svg(spin: np.ndarray, found: dict[str, np.ndarray]) -> str:
    """The picture: 640 x 360, axes, one curve each, a legend."""
    left, bottom, width, height, top = 60, 310, 540, 280, 1.6

    def at(x: float, y: float) -> str:
        return f"{left + width * x / 3:.1f},{bottom - height * y / top:.1f}"

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" font-family="sans-serif" font-size="13">']
    out.append('<rect width="640" height="360" fill="white"/>')
    out.append(f'<path d="M{at(0, top)} L{at(0, 0)} L{at(3, 0)}" fill="none" stroke="#888"/>')
    for x in range(4):
        out.append(f'<text x="{left + width * x / 3:.0f}" y="{bottom + 18}" text-anchor="middle">{x}</text>')
    for y in (0.0, 0.5, 1.0, 1.5):
        out.append(f'<text x="{left - 8}" y="{bottom - height * y / top + 4:.0f}" text-anchor="end">{y:g}</text>')
    out.append(f'<text x="{left + width / 2:.0f}" y="{bottom + 38}" text-anchor="middle">spin / first frequency at rest</text>')
    out.append(f'<text x="{left + 6}" y="24">first frequency in the plane / that at rest</text>')
    for k, (name, values) in enumerate(found.items()):
        points = " ".join(at(x, y) for x, y in zip(spin, values, strict=True) if np.isfinite(y))
        dash = ' stroke-dasharray="6 4"' if k == 1 else ""
        out.append(f'<polyline points="{points}" fill="none" stroke="{STYLE[name]}" stroke-width="{3 - k % 2}"{dash}/>')
        out.append(f'<text x="{left + 14}" y="{bottom - 60 + 18 * k}" fill="{STYLE[name]}">{name}</text>')
    return "\n".join([*out, "</svg>\n"])


def reduced_legs(path: str) -> None:
    """The picture of a reduction."""
    q = np.array([[0.0, 0.0], [0.05, -0.05], [0.1, 0.1]])
    motion = fp.ActuatorMotion(time=[0.0, 1.0, 2.0], position=q, velocity=0 * q, acceleration=0 * q)
    found = fp.reduce_legs(fp.load("tests/data/elastodynamics/dualemps-8.yaml"), motion, limit=600.0)
    figure = fp.figures.reduction_figure(found, "DualEMPS, eight elements per beam: 72 coordinates reduced to 13")
    fp.figures.save_figure(figure.update_layout(width=800), path)


if __name__ == "__main__":
    reduced_legs("docs/_static/reduced-legs.svg")
    Path("docs/_static/flexible-models.svg").write_text(svg(*curves()))
