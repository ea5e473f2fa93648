"""`export_fmu`: a robot as an FMU 2.0 or 3.0, model exchange and co-simulation, with sources and a binary of this platform."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flexapod.analysis.model.model_names import identifier
from flexapod.analysis.requests.arguments import check_start
from flexapod.bridges.fmu.check import check_fmu, importer
from flexapod.bridges.fmu.description import build_description, description
from flexapod.bridges.fmu.sources import model_files, model_header, shared_files
from flexapod.calls import check_flag, check_path, checked
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.bridges.fmu.model_kernels import Plant
    from flexapod.motions.motion import ActuatorMotion
    from flexapod.robot.robot import Robot

Version = Literal["2.0", "3.0"]
STEP = 1e-3
"""Inner step of co-simulation where none is given [s]."""
FLAGS = ("-std=c99", "-fPIC", "-fvisibility=hidden")
DATE = (1980, 1, 1, 0, 0, 0)
"""Date of the files inside, so that equal robots give equal FMUs."""
LONG = 2_000_000
"""Characters of a source beyond which optimising takes many minutes: such kernels are compiled as they are."""


class CompilerError(FlexapodError):
    """The C compiler is missing or cannot compile the sources."""


@checked(
    path=check_path, start=check_start, wrench=check_flag, watch=check_flag, general=check_flag, binary=check_flag,
    check=check_flag,
)  # fmt: skip
def export_fmu(
    robot: Robot,
    path: str | os.PathLike[str],
    quantity: str = "forward_dynamics",
    *,
    version: Version = "3.0",
    start: State | ActuatorMotion | None = None,
    step: float | None = None,
    method: str | None = None,
    wrench: bool = False,
    friction: bool | str = True,
    watch: bool = True,
    general: bool = False,
    binary: bool = True,
    check: bool = False,
    **options: object,
) -> Path:
    """Write a robot as a functional mock-up unit.

    Args:
        robot: any robot, flexible ones included.
        path: of the FMU, e.g. ``hexapod.fmu``; an FMU there is replaced, anything else is refused.
        quantity: ``"forward_dynamics"``: actuator forces in; pose, twist, elastic coordinates are states, actuators and
            accelerations outputs. Any other name that `kernel` knows, e.g. ``"inverse_dynamics"``: a block without states.
        version: of FMI, ``"2.0"`` or ``"3.0"``; each is for model exchange and for co-simulation.
        start: state at the start (a start value of every state can be set by the importer too); home at rest if left out, with
            flexible bodies in their static deflection.
        step: longest inner step of co-simulation [s], 1e-3 if left out; a communication step is cut into equal parts of about
            this length.
        method: of co-simulation: ``"rk4"``, ``"implicit"`` or ``"radau"``, as in `simulate`. Left out: as in `stepper`.
        wrench: also a load on the platform as input, at its origin, world axes.
        friction: as for `simulate`; of a block True or False.
        watch: ends of strokes are events: model exchange has an indicator for each and asks to end, co-simulation stops.
        general: every number of the robot is a tunable parameter; otherwise those are left out that are zero by structure or
            that the fast equations take as equal (bodies of legs are axisymmetric), which makes it four times faster.
        binary: compile for this platform with the C compiler `cc` (or that of the variable CC); False: sources only.
        check: FMPy (``flexapod[fmu]``) validates the FMU and takes ten steps with it; `FmuError` says what it finds.
        options: of the block, as for `kernel`; it takes none of start, step, method, wrench, watch and general.
    Returns:
        The path of the FMU.

    Inputs are held over a communication step. Nothing of Python is needed where the FMU runs.

    Source: FMI 2.0.4 and 3.0.1, fmi-standard.org. Checked by: tests/bridges/test_fmu.py.
    """
    from flexapod.analysis.requests.results import check_option

    check_option("version", version, ("2.0", "3.0"))
    target = _target(path)
    if check:
        importer()
        if not binary:
            raise InputError("check: an FMU without a binary cannot run; leave out binary=False, or check")
    plant = make_plant(
        robot, quantity, start=start, step=step, method=method, wrench=wrench, friction=friction, watch=watch, general=general,
        options=options,
    )  # fmt: skip
    written = write_fmu(plant, target, version, identifier(target.stem, "model"), binary)
    if check:
        check_fmu(written, plant.step)
    return written


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix != ".fmu":
        raise InputError(f"export_fmu: {target} must end in .fmu")
    if target.is_dir():
        raise InputError(f"export_fmu: {target} is a folder; give the path of a file that can be written")
    if not target.parent.is_dir():
        raise InputError(f"export_fmu: the folder {target.parent} does not exist")
    if target.exists() and not _is_fmu(target):
        raise InputError(f"export_fmu: {target} exists and is not an FMU; it is not replaced")
    return target


def _is_fmu(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "modelDescription.xml" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def make_plant(robot: Robot, quantity: str, *, start: State | ActuatorMotion | None, step: float | None, method: str | None,
               wrench: bool, friction: bool | str, watch: bool, general: bool, options: dict[str, object]) -> Plant:  # fmt: skip
    """The plant of a quantity; refuses options that have no meaning for it."""
    if step is not None and not 0 < step < math.inf:
        raise InputError(f"step: expected a time above 0 s, got {step!r}")
    if quantity != "forward_dynamics":
        from flexapod.bridges.fmu.block import block_plant

        given = {"start": start is not None, "step": step is not None, "method": method is not None, "wrench": wrench,
                 "watch": not watch, "general": general}  # fmt: skip
        for name in (name for name, has in given.items() if has):
            raise InputError(f"{name}: a block without states ({quantity}) does not take it; leave it out")
        if friction not in (True, False):
            raise InputError(f"friction: a block without states ({quantity}) takes True or False, got {friction!r}")
        return block_plant(robot, quantity, options if friction else {**options, "friction": False})
    if options:
        raise InputError(f"export_fmu: forward_dynamics does not take {', '.join(options)}")
    from flexapod.analysis.requests.abilities import refuse
    from flexapod.analysis.requests.results import check_option
    from flexapod.simulation.stepper import home_start, step_methods
    from flexapod.simulation.system.setup import in_independent

    refuse(robot, "export_fmu", method=method, wrench=wrench)
    known = step_methods(robot)
    if in_independent(robot, "force", method or known[0], friction):
        from flexapod.bridges.fmu.flexible_legs import leg_plant as plant
    else:
        from flexapod.bridges.fmu.rigid import rigid_plant as plant
    check_option("method", method or known[0], known)
    first = start if start is not None else home_start(robot)
    return plant(
        robot, first, wrench=wrench, friction=friction, method=method or known[0], step=step or STEP, watch=watch, general=general
    )


def write_fmu(plant: Plant, target: Path, version: Version, identifier: str, binary: bool) -> Path:
    """Write the archive, whole or not at all."""
    sources = {**shared_files(plant, version), **model_files(plant)}
    plain = {**sources, "model.h": model_header(plant, "")}
    digest = hashlib.sha256("".join(f"{k}\n{v}" for k, v in sorted(plain.items())).encode())
    digest.update(description(plant, version, "", identifier, ()).encode())
    token = digest.hexdigest()[:32]
    token = f"{{{token[:8]}-{token[8:12]}-{token[12:16]}-{token[16:20]}-{token[20:]}}}"
    sources["model.h"] = model_header(plant, token)
    compiled = sorted(name for name in sources if name.endswith(".c"))
    files: dict[str, bytes] = {f"sources/{name}": text.encode() for name, text in sources.items()}
    files["modelDescription.xml"] = description(plant, version, token, identifier, compiled).encode()
    if version == "3.0":
        files["sources/buildDescription.xml"] = build_description(identifier, compiled).encode()
    if binary:
        folder, suffix = binary_place(version)
        files[f"binaries/{folder}/{identifier}{suffix}"] = compile_sources(sources, compiled)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in sorted(files.items()):
                entry = zipfile.ZipInfo(name, DATE)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def binary_place(version: str) -> tuple[str, str]:
    """Folder and suffix of a binary of this platform."""
    system = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}[sys.platform]
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    if version == "3.0":
        return f"{machine}-{system[0]}", system[1]
    return {"linux": "linux64", "darwin": "darwin64", "windows": "win64"}[system[0]], system[1]


def compile_sources(sources: dict[str, str], names: list[str]) -> bytes:
    """The shared library of some sources."""
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        text = f"export_fmu: there is no C compiler {compiler!r}; install one, or write sources only with binary=False"
        raise CompilerError(text)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        # derivatives are long and rarely used: optimising them takes a minute and gains little
        plain = {name for name in names if name.startswith("tangent") or len(sources[name]) > LONG}
        parts = [[f"-O{0 if name in plain else 2}", "-c", name] for name in names]
        objects = [f"{Path(name).stem}.o" for name in names]
        for own in [*parts, ["-shared", *objects, "-o", "model.bin", "-lm"]]:
            done = subprocess.run([compiler, *FLAGS, *own], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise CompilerError(f"export_fmu: {compiler} cannot compile the sources: {done.stderr.strip()[:500]}")
        return (Path(folder) / "model.bin").read_bytes()
