"""What people see: pictures, the demo, later the command line, reports and the studio. Uses the public verbs only."""
