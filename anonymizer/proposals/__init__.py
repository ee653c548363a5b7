"""Proposals: from an unknown table to a specification that a person can read, correct and run."""
