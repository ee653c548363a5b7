"""Small-sum privacy: large counts of a release are answered well, small ones badly on purpose."""
