"""Generalization: what is said in place of a word, less exactly."""
