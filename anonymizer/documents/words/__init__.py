"""Words that a searcher would use: how rare, how alike, in which combinations, and for which documents."""
