"""Design: studies over many variants, optimisation, sensitivities, tolerances, calibration."""
