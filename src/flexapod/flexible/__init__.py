"""Flexible bodies: one data type, and where its numbers come from (plates, beams, modal files, matrices).

Names are loaded on first use; `import flexapod.flexible` itself needs neither SciPy nor scikit-fem. The stub `__init__.pyi` lists
them. No module has the name of a function that is listed there: the import of the one would hide the other.
"""

from flexapod.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
