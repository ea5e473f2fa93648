"""Readable texts of a tape: Python, C, C++, MATLAB, Markdown and LaTeX, from one listing."""
