"""Statistics over the rows of both parties, or over matched rows, under differential privacy or limits."""
