"""Conditions on the classes of a release: the privacy models, and which rows belong together."""
