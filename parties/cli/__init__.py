"""The command `duetto`."""
