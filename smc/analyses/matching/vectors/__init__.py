"""Which rows lie close together, by their features."""
