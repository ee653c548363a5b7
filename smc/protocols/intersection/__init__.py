"""The intersection of two sets of keys, one protocol per file."""
