"""What both sides state to each other before they compute: row counts, bounds, texts."""
