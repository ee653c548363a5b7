"""Measures of risk."""
