"""Helpers of the FMU tests: an importer's loop by FMPy, in both versions."""

import ctypes
import shutil
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave

CLASSES = {("2.0", "me"): FMU2Model, ("2.0", "cs"): FMU2Slave, ("3.0", "me"): FMU3Model, ("3.0", "cs"): FMU3Slave}


class Importer:
    """An instance of an FMU, initialised, with names instead of value references."""

    def __init__(self, path: Path, kind: str, start: dict[str, float] | None = None) -> None:
        self.description = fmpy.read_model_description(str(path))
        self.folder = fmpy.extract(str(path))
        self.version = self.description.fmiVersion
        part = self.description.coSimulation if kind == "cs" else self.description.modelExchange
        self.fmu = CLASSES[self.version, kind](
            guid=self.description.guid, unzipDirectory=self.folder, modelIdentifier=part.modelIdentifier, instanceName="i"
        )
        self.fmu.instantiate()
        self.kind = kind
        self.vr = {v.name: v.valueReference for v in self.description.modelVariables}
        self.states = [v.derivative for v in self.description.modelVariables if v.derivative is not None]
        self.derivatives = [v for v in self.description.modelVariables if v.derivative is not None]
        if self.version == "2.0":
            self.fmu.setupExperiment(startTime=0.0)
        for name, value in (start or {}).items():
            self.set(name, value)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, names: Any, values: Any) -> None:
        names, values = ([names], [values]) if isinstance(names, str) else (names, values)
        setter = self.fmu.setReal if self.version == "2.0" else self.fmu.setFloat64
        setter([self.vr[n] for n in names], [float(v) for v in values])

    def get(self, names: Any) -> Any:
        single = isinstance(names, str)
        getter = self.fmu.getReal if self.version == "2.0" else self.fmu.getFloat64
        found = np.array(getter([self.vr[n] for n in ([names] if single else names)]))
        return found[0] if single else found

    def continuous(self) -> None:
        if self.version == "2.0":
            self.fmu.enterContinuousTimeMode()
        else:
            self.fmu.enterContinuousTimeMode()

    def set_states(self, x: Any) -> None:
        x = np.ascontiguousarray(x, dtype=float)
        pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        self.fmu.setContinuousStates(pointer, len(x))

    def rates(self) -> Any:
        dx = np.zeros(len(self.derivatives))
        pointer = dx.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        (self.fmu.getDerivatives if self.version == "2.0" else self.fmu.getContinuousStateDerivatives)(pointer, len(dx))
        return dx

    def directional(self, unknowns: list[int], knowns: list[int], seed: Any) -> Any:
        if self.version == "2.0":
            return np.array(self.fmu.getDirectionalDerivative(unknowns, knowns, list(seed)))
        return np.array(self.fmu.getDirectionalDerivative(unknowns, knowns, list(seed)))

    def close(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)
