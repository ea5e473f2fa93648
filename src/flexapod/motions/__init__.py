"""Motions of the platform or the actuators over time.

Names are loaded on first use, so that importing this package costs nothing; the stub `__init__.pyi` lists them.
"""

from flexapod.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
