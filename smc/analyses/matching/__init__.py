"""Private matching: which rows of both sides belong together, by keys, similar records or near vectors."""
