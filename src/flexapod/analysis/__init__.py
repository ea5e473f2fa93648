"""The verbs on `Robot` and arrays, returning labelled results."""
