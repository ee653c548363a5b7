"""What two institutions come for: comparison and joint statistics, each with a reference."""
