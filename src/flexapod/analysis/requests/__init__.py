"""Requests to verbs and their answers: arguments, abilities, designs, samples, labelled results."""
