"""User interfaces: command line, pictures, reports, demo and studio. They use the public verbs only."""
