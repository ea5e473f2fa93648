"""Results of simulations: labelled variables with the energy balance, dense output, files, checkpoints."""
