"""Releases as values: what leaves, what is guaranteed of it, and the gate before it."""
