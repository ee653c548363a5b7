"""Survival: when an event comes to rows that are followed for some time."""
