"""Figures: one module per subject; `figures.py` beside this folder has them for Python."""
