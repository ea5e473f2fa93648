"""FMUs: a robot as a functional mock-up unit, from our own C99."""
