"""Quasi-identifiers replaced by labels until rows are alike: k-anonymity and what builds on it."""
