"""Formats of documents: their texts with offsets, and the texts put back."""
