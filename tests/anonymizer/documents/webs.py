"""A small web in memory, and documents with words for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from anonymizer.documents.engines.engine import EngineError, Hit
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.texts.text import Word


@dataclass
class Web:
    """Finds texts that hold all keywords as whole words, those with most occurrences first."""

    texts: dict[str, str]
    asked: list[tuple[str, ...]] = field(default_factory=list)
    fails: frozenset[str] = frozenset()
    name: str = "a web in memory"
    leaks: bool = False

    def search(self, keywords, limit=10):
        self.asked.append(keywords)
        if self.fails & set(keywords):
            raise EngineError("The web in memory is down.", "Try again.")
        found = []
        for name, text in self.texts.items():
            counts = [len(re.findall(rf"(?<!\w){re.escape(one)}(?!\w)", text, re.I)) for one in keywords]
            if all(counts):
                found.append((-sum(counts), name))
        return tuple(Hit(name, self.texts[name]) for _, name in sorted(found)[:limit])


def read(text):
    return tagger_of(text, "en").words(text)


def words(*lemmas, tag="noun"):
    """Words of one kind, one after another."""
    found, at = [], 0
    for one in lemmas:
        found.append(Word(one, one.lower(), tag, at, at + len(one)))
        at += len(one) + 1
    return tuple(found)
