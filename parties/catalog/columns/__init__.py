"""Declared columns: types, dialects, and how cells become numbers or texts, one by one and all at once."""
