"""Sessions: what both sides agree on before data moves, and the run of one task over one stream."""
