"""Measures: what is said of a release, each with what it needs, what it costs and how it is shown."""
