"""Builds the C++ peers against the headers and libraries inside the wheels of `pin` and `mujoco`."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

HERE = Path(__file__).parent
LIMITS = [
    "-w",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
]


def build(folder: Path) -> dict[str, Path]:
    """Executables by name; a peer whose wheel is missing is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    site = Path(sysconfig.get_paths()["purelib"])
    cmeel, built = site / "cmeel.prefix", {}
    base = ["g++", "-std=c++17", "-O3", "-DNDEBUG"]
    if cmeel.is_dir():
        # -march stays at the wheel's own baseline: linking with AVX alignment on one side only is an ABI clash
        lib = ["-L", str(cmeel / "lib"), "-lpinocchio_default", f"-Wl,-rpath,{cmeel / 'lib'}"]
        include = [
            "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
            *LIMITS,
            f"-I{cmeel / 'include'}",
            f"-I{cmeel / 'include/eigen3'}",
        ]
        built["pinocchio"] = _compile([*base, *include], "bench_pinocchio.cpp", folder / "bench_pinocchio", lib)
    mujoco = site / "mujoco"
    library = next(iter(sorted(mujoco.glob("libmujoco.so.*"))), None)
    if library is not None and cmeel.is_dir():
        lib = ["-L", str(mujoco), f"-l:{library.name}", f"-Wl,-rpath,{mujoco}"]
        include = [f"-I{mujoco / 'include'}", f"-I{cmeel / 'include/eigen3'}"]
        built["mujoco"] = _compile([*base, *include], "bench_mujoco.cpp", folder / "bench_mujoco", lib)
    return built


def _compile(command: list[str], source: str, target: Path, libraries: list[str]) -> Path:
    if not target.exists() or target.stat().st_mtime < (HERE / source).stat().st_mtime:
        subprocess.run([*command, str(HERE / source), "-o", str(target), *libraries], check=True)
    return target
