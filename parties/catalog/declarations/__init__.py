"""What `catalog.toml` declares of data sets, and whether a source has changed since."""
