"""Texts of documents: words with their offsets, edits, and what stands in them."""
