"""The kinds of queries: what is added up for each, and what follows from the sums."""
