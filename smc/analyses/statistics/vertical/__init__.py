"""Statistics over matched rows, of columns of which each side has its own."""
