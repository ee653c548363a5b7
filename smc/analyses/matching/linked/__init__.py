"""Figures about the pairs of a tolerant matching, which stay secret."""
