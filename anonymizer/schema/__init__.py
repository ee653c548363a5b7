"""What the columns of a table may hold, declared before the data are looked at."""
