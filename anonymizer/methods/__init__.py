"""Methods: each takes a table and gives a release."""
