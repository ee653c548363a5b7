"""Columns that a job derives from those of the catalogs: groups of a number, differences of dates."""
