"""Orders of rows: known to one party, or to neither."""
