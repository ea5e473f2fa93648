"""The names of `flexapod.flexible`, each with its home."""

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
