"""Counts, sums, means and histograms over the rows of both parties, under differential privacy."""
