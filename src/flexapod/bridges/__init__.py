"""Bridges: the model where other programs can use it, and what other programs know of a robot brought in."""
