"""What a verb is asked for and how it answers: arguments, abilities, designs, samples, labelled results."""
