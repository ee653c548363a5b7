"""Comparison of shared numbers, and what is chosen by it: the larger, the least, the best of each."""
