"""Identification: the numbers of a real robot from measured actuator positions and forces, with error bars."""
