"""Synthetic tables, of rows that are nobody's."""
