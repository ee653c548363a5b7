"""Rows of two tables brought together in secret."""
