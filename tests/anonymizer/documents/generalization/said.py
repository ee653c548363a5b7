"""Words for tests without a tagger, and what a generalizer makes of a text."""

from __future__ import annotations

import re

from anonymizer.documents.texts.text import Word


def words_of(text, pattern=r"\w+(?:[-/.,’']\w+)*|\S", **tags):
    """Words of a text: numbers, capital ones as names, others as nouns; `tags` are for single ones."""
    found = []
    for match in re.finditer(pattern, text):
        one = match.group()
        tag = "number" if one[0].isdigit() else "name" if one[0].isupper() else "noun"
        if not any(map(str.isalnum, one)):
            tag = "symbol"
        found.append(Word(one, one.lower(), tags.get(one, tag), *match.span()))
    return tuple(found)


def steps(generalizer, text, word, language="en", words=None):
    """The characters that are replaced and the steps, for the first word of a text that reads so."""
    words = words or words_of(text)
    at = next(index for index, one in enumerate(words) if one.text == word)
    found = generalizer.steps(words, at, language)
    if found is None:
        return None
    assert found.first <= at < found.end
    return text[words[found.first].start : words[found.end - 1].end], list(found.texts)
