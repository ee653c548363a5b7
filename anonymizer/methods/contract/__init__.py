"""What every method is, by whoever wrote it."""
