"""Rigid dynamics by virtual power: legs projected to their closing joints, then to the platform (Khalil and co-workers)."""
