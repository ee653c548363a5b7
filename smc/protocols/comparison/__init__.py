"""Comparison protocols: delta = (x >= y) from forms of x and y."""
