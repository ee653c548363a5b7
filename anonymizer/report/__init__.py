"""The report: one page for people."""
