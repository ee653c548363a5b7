"""Rows of a declared data set: loaded, checked, surveyed for faults, and described."""
