"""What job files say of statistics, and the local rows that queries are about."""
