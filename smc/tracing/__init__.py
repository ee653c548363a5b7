"""Runs of programs over shapes: what they send, found out without data."""
