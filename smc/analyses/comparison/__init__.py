"""The analysis `comparison`: columns or single values of the two sides, in any of the 216 types."""
