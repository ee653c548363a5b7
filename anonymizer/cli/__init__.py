"""The commands anonymize, risk and search; their modules are light and import the rest when they run."""
