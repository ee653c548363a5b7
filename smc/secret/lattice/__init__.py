"""Products with many rows or columns of one party by lattice encryption."""
