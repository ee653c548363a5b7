"""Comparison protocols of the literature, to be measured against; the planner takes them by name only."""
