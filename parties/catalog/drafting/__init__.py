"""Entries for the catalog: what a source looks like, as a draft that a person completes and confirms."""
