"""Languages: what splits a text into tagged words, English and Japanese."""
