"""Languages: what splits a text into tagged words, English, Japanese, German and French."""
