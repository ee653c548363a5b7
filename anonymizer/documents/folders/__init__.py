"""Folders of documents: read whole, named, continued after an interruption, and checked before they leave."""
