"""Which rows are about the same person, by records that resemble each other."""
