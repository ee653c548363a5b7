"""Invented texts with marks; see README.md."""
