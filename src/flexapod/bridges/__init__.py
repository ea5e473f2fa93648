"""Bridges: the model exported to other programs, and models of other programs imported."""
