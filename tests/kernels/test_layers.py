"""A map in layers gives what the function gives, and its loops hold nothing but plain arithmetic."""

from __future__ import annotations

import casadi as ca
import numpy as np

from flexapod.kernels.kernel import build_kernel
from flexapod.kernels.tape.layers import PLAIN, map_in_layers
from flexapod.kernels.tape.program import Program
