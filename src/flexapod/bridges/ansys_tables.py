"""Materials, sections, real constants and key options of an Ansys archive, from its commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flexapod.bridges.fe_files import FeFileError
from flexapod.flexible.errors import FlexibleBodyError

DIRECTIONS = (("EX", "EY", "EZ"), ("GXY", "GYZ", "GXZ"), ("NUXY", "NUYZ", "NUXZ"), ("PRXY", "PRYZ", "PRXZ"))
"""Properties that are equal in an isotropic material."""
ELASTIC = ("ANEL", "ELAS", "ELASTIC", "HYPER")
"""Tables (TB) that replace EX and NUXY."""
PER_LINE = 6
"""Real constants of a line R or RMORE."""


@dataclass(kw_only=True, eq=False)
class Tables:
    """Data of the commands of the file, by number: materials by property, sections (kind, shape, numbers, offset), real
    constants.

    controls: what SECCONTROLS adds to sections; replaced: materials whose elasticity is in a table; keys: by type and option.
    """

    materials: dict[int, dict[str, float]] = field(default_factory=dict)
    sections: dict[int, tuple[str, str, list[float], str]] = field(default_factory=dict)
    controls: dict[int, list[float]] = field(default_factory=dict)
    reals: dict[int, list[float]] = field(default_factory=dict)
    replaced: dict[int, str] = field(default_factory=dict)
    keys: dict[tuple[int, int], int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


def read_tables(path: Path) -> Tables:
    """Materials, sections, real constants and key options from the commands of an archive."""
    tables, section, real, waiting = Tables(), 0, 0, 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        words = [word.strip() for word in line.split(",")]
        name = words[0].upper()
        if waiting:  # lines of a SECBLOCK: one layer each
            waiting -= 1
            tables.sections[section][2].extend(_numbers(words if "," in line else line.split()))
            continue
        if re.fullmatch(r"[A-Z]+", name):
            tables.names.add(name)
        if name in ("MPDATA", "MP"):
            _material(path, tables, words)
        elif name == "SECTYPE":
            section = int(words[1])
            tables.sections[section] = (words[2].upper(), words[3].upper() if len(words) > 3 else "", [], "")
        elif name == "SECOFFSET":
            kind, shape, numbers, _ = tables.sections[section]
            tables.sections[section] = (kind, shape, numbers, words[1].upper())
        elif name == "SECDATA":
            tables.sections[section][2].extend(_numbers(words[1:]))
        elif name == "SECBLOCK":
            waiting = int(words[1])
        elif name in ("SECCONTROL", "SECCONTROLS"):
            tables.controls[section] = _numbers(words[1:])
        elif name == "R":
            real = int(words[1])
            tables.reals[real] = _numbers(words[2:])
        elif name == "RMORE":
            before = tables.reals[real]
            tables.reals[real] = [*before, *[0.0] * (-len(before) % PER_LINE), *_numbers(words[1:])]
        elif name == "TB" and words[1].upper() in ELASTIC:
            tables.replaced[int(words[2])] = words[1].upper()
        elif name in ("KEYOP", "KEYOPT"):
            tables.keys[int(words[1]), int(words[2])] = int(float(words[3] or 0))
    return tables


def _numbers(words: Sequence[str]) -> list[float]:
    """Numbers between commas; an empty place is zero, empty places at the end are none."""
    filled = max((k + 1 for k, word in enumerate(words) if word), default=0)
    return [float(word or 0.0) for word in words[:filled]]


def _material(path: Path, tables: Tables, words: list[str]) -> None:
    """A line MP,label,number,value or MPDATA,(R5.0, count,)label,number,first,values."""
    if words[0].upper() == "MPDATA":
        words = words[2:] if words[1].upper().startswith("R") else words
        label, number, values = words[1].upper(), int(words[2]), [float(v) for v in words[4:] if v]
    else:
        label, number, values = words[1].upper(), int(words[2]), [float(v) for v in words[3:] if v]
    if len(set(values)) > 1:
        raise FeFileError(f"{path}: {label} of material {number} changes with temperature; write its value at one temperature")
    tables.materials.setdefault(number, {})[label] = values[0] if values else 0.0


def isotropic(tables: Tables, number: int) -> tuple[float, float, float, float]:
    """Young's modulus, Poisson's ratio, shear modulus and density of a material.

    Checked by: tests/bridges/test_ansys_mesh.py.
    """
    found = tables.materials.get(number, {})
    if number in tables.replaced:
        raise FlexibleBodyError(f"Material {number} has a table TB,{tables.replaced[number]}; only EX and NUXY are supported.")
    if "EX" not in found:
        raise FlexibleBodyError(f"Material {number} has no EX.")
    for names in DIRECTIONS:
        given = {name: found[name] for name in names if name in found}
        if len(set(given.values())) > 1:
            what = ", ".join(f"{name} = {value:g}" for name, value in given.items())
            raise FlexibleBodyError(f"Material {number} depends on the direction ({what}); only isotropic ones are supported.")
    young, nu = found["EX"], found.get("NUXY", found.get("PRXY"))
    if nu is None and "GXY" in found:
        nu = young / (2 * found["GXY"]) - 1
    if nu is None:
        raise FlexibleBodyError("Its material has neither NUXY nor PRXY.")
    if young <= 0.0 or not -1.0 < nu <= 0.5:
        raise FlexibleBodyError(f"Material {number} has EX = {young:g} and NUXY = {nu:g}; expected EX > 0 and -1 < NUXY <= 0.5.")
    return young, nu, found.get("GXY", young / (2 * (1 + nu))), found.get("DENS", 0.0)
