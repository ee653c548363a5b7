"""Measures of utility."""
