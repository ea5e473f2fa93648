"""Flexible bodies: one data type, and where its numbers come from (plates, beams, modal files, matrices).

Everything is imported when it is first used; `import flexapod.flexible` itself needs neither SciPy nor scikit-fem. No module has
the name of a function that is exported here: the import of the one would hide the other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flexapod.flexible.beams import beam as beam
    from flexapod.flexible.body import FlexibleBody as FlexibleBody
    from flexapod.flexible.body import Interface as Interface
    from flexapod.flexible.errors import FlexibleBodyError as FlexibleBodyError
    from flexapod.flexible.materials import MATERIALS as MATERIALS
    from flexapod.flexible.materials import Material as Material
    from flexapod.flexible.materials import material as material
    from flexapod.flexible.matrices import from_matrices as from_matrices
    from flexapod.flexible.mesh_convergence import Convergence as Convergence
    from flexapod.flexible.mesh_convergence import plate_convergence as plate_convergence
    from flexapod.flexible.modal_file import from_modes as from_modes
    from flexapod.flexible.modal_file import save_modes as save_modes
    from flexapod.flexible.plates import plate as plate
    from flexapod.flexible.polygon import regular_outline as regular_outline
    from flexapod.flexible.section import Section as Section
    from flexapod.flexible.shape_integrals import Nodes as Nodes

_HOMES = {
    "FlexibleBody": "body",
    "FlexibleBodyError": "errors",
    "Interface": "body",
    "MATERIALS": "materials",
    "Material": "materials",
    "Nodes": "shape_integrals",
    "Section": "section",
    "Convergence": "mesh_convergence",
    "beam": "beams",
    "from_matrices": "matrices",
    "from_modes": "modal_file",
    "material": "materials",
    "plate": "plates",
    "plate_convergence": "mesh_convergence",
    "regular_outline": "polygon",
    "save_modes": "modal_file",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(_HOMES)
