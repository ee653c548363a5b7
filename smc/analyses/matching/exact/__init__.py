"""Which rows of both sides have the same key."""
