"""Numbers with fractions that neither party sees, with stated ranges; matrices of them that are inverted."""
