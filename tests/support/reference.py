"""Reference motions and results: CSV files with one column per component."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import flexapod as fp

FOLDER = Path(__file__).parent.parent / "data" / "reference"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.csv")) if not path.stem.endswith("_parts")}
"""Reference files that hold a motion."""

XYZ = "xyz"


class Reference:
    """One file: the motion, and any quantity per leg."""

    def __init__(self, name: str) -> None:
        with open(FILES[name], encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        self.robot = name.split("_")[0]
        self.columns = {key: np.array([float(row[key]) for row in rows]) for key in rows[0] if key != "segment"}
        self.legs = [key.removeprefix("lam_") for key in rows[0] if key.startswith("lam_")]

    def vector(self, name: str) -> np.ndarray:
        return np.stack([self.columns[f"{name}_{k}"] for k in XYZ], axis=1)

    def per_leg(self, name: str) -> np.ndarray:
        return np.stack([self.columns[f"{name}_{leg}"] for leg in self.legs], axis=1)

    def vector_per_leg(self, name: str) -> np.ndarray:
        return np.stack([self.vector(f"{name}_{leg}") for leg in self.legs], axis=1)

    @property
    def motion(self) -> fp.Motion:
        rotation = np.stack([np.stack([self.columns[f"R_{i}{j}"] for j in "123"], 1) for i in "123"], 1)
        return fp.Motion(
            time=self.columns["t"], position=self.vector("p"), rotation=rotation, velocity=self.vector("v"),
            angular_velocity=self.vector("w"), acceleration=self.vector("a"), angular_acceleration=self.vector("alpha"),
        )  # fmt: skip
