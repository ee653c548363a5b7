"""Documents: words that lead a searcher to the person are found by attacking first, and then sanitized."""
