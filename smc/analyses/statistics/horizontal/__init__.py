"""Statistics over the rows of both sides, of columns that both have."""
