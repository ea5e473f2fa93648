"""flexapod: kinematics, dynamics, simulation and design of parallel robots, rigid and flexible.

Names are loaded on first use, so that importing the package costs little. The stub `__init__.pyi` lists them.
"""

from flexapod.lazy_names import lazy_names

__version__ = "0.1.0"
__all__, __getattr__, __dir__ = lazy_names(__name__)
