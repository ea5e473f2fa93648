"""Tables and figures of the papers, computed by the public verbs; one paper per file."""
