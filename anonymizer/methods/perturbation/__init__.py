"""Cells that change: noise, swapping, microaggregation, random categories."""
