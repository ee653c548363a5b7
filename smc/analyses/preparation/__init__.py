"""Correlated randomness made ahead of time, for comparisons later."""
