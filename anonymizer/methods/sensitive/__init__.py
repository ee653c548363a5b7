"""Sensitive columns apart from the others: in a table of their own, or drawn anew."""
