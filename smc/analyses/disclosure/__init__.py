"""The one way out of a run: limits that both parties set, and the opening of every result."""
