"""Products of shared numbers with each other and with numbers that one party has."""
