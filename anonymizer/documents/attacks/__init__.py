"""Attacks on documents: searches with their words, and what a text that was found says of the person."""
