"""flexapod: kinematics, dynamics, simulation and design of parallel robots, rigid and flexible."""
