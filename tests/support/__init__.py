"""Independent evaluations and robots that several test folders share."""
