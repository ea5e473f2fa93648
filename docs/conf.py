"""Sphinx configuration: MyST Markdown, furo, offline MathML, pages generated from the schema and the paper tables."""

import sys
from pathlib import Path

import flexapod

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "flexapod"
author = "the flexapod developers"
copyright = "2026, the flexapod developers"
version = release = flexapod.__version__

extensions = ["myst_parser", "mathml", "generated", "notebooks"]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
nitpicky = True

myst_enable_extensions = ["amsmath", "attrs_inline", "deflist", "dollarmath", "html_image"]
myst_heading_anchors = 3
math_numfig = False
math_eqref_format = "Eq. ({number})"

html_theme = "furo"
html_title = "flexapod"
html_static_path = ["_static"]
html_css_files = ["flexapod.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
