"""What every measure is, and how what it has found is presented."""
