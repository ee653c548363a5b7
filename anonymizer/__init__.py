"""The anonymizer: from a table to a release, with its risk and its utility. It stands alone."""
