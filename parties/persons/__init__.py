"""Persons with keys: who may do what at home, and what they have signed."""
