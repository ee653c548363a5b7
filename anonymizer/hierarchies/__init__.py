"""Generalization hierarchies: what a value may be coarsened to, level by level."""
