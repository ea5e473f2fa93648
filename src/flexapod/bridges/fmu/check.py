"""Check of an FMU by a real importer: FMPy checks its description, loads its binary and takes steps with it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flexapod.errors import FlexapodError, InputError

STEPS = 10
"""Communication steps of the co-simulation that is tried."""


class FmuError(FlexapodError):
    """An FMU that an importer refuses."""


def importer() -> Any:
    """The package FMPy."""
    try:
        return importlib.import_module("fmpy")
    except ImportError as error:
        raise InputError("check: FMUs are checked by the package fmpy; install it with `pip install 'flexapod[fmu]'`") from error


def check_fmu(path: Path, step: float) -> None:
    """Let FMPy validate an FMU and take some steps of it from its start; its findings are one message.

    Checked by: tests/bridges/test_fmu.py.
    """
    fmpy = importer()
    problems = [str(problem) for problem in importlib.import_module("fmpy.validation").validate_fmu(str(path))]
    if problems:
        raise FmuError(f"{path}: FMPy finds {len(problems)} problems: {'; '.join(problems)[:500]}")
    try:
        fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=STEPS * step, step_size=step, output_interval=step)
    except Exception as error:  # another program may raise anything
        raise FmuError(f"{path}: FMPy cannot take steps with it: {error}") from error
