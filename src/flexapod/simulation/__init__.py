"""Simulation of robots under forces and controllers, in platform coordinates, without drift."""
