"""Division by public and by secret numbers."""
