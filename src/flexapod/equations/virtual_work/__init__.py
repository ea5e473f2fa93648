"""Staicu's and Sinatra's recursive matrix method: inverse dynamics by the principle of virtual work, in body axes."""

from flexapod.equations.virtual_work.inverse_dynamics import virtual_work

__all__ = ["virtual_work"]
