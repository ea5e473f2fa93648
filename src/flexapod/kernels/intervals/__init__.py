"""Interval backend: bounds of a kernel's outputs over boxes of its inputs."""
