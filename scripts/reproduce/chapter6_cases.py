"""Court cases of the Text Anonymization Benchmark: originals, what annotators mask, and a web about them."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from anonymizer.documents.engines.index import FolderIndex
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.sanitization.sanitizing import searchable
from anonymizer.documents.texts.edits import Edit, apply_edits, join_edits
from anonymizer.documents.texts.text import Document, Word

DOCUMENTS: Final = "documents/tab_echr_documents.csv"
MENTIONS: Final = "documents/tab_echr_mentions.csv"
MASKS: Final = {"none": (), "DIRECT": ("DIRECT",), "DIRECT and QUASI": ("DIRECT", "QUASI")}
"""What is masked by the name of an experiment."""

_FACTS: Final = re.compile(r"^THE FACTS$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A span that an annotator marked: its entity's type and whether it identifies."""

    start: int
    end: int
    entity: str
    identifier: str


@dataclass(frozen=True, slots=True)
class Case:
    """A case.

    Attributes:
        document: the original.
        applicant: the person who must not be found.
        country: that the case is against.
        mentions: in their order.
    """

    document: Document
    applicant: str
    country: str
    mentions: tuple[Mention, ...] = field(repr=False)

    @property
    def article(self) -> str:
        """What stands for news about it: the first section of the original, which names the applicant."""
        return _FACTS.split(self.document.text, maxsplit=1)[0]

    @property
    def article_name(self) -> str:
        """Of the article in the web."""
        return f"news/{self.document.name}"

    def masks(self, identifiers: Collection[str]) -> tuple[Edit, ...]:
        """The spans of these kinds of identifiers as edits of the original."""
        return join_edits(
            Edit(one.start, one.end, "[...]", "direct", one.entity)
            for one in self.mentions
            if one.identifier in identifiers
        )

    def words(self, edits: Sequence[Edit]) -> tuple[Word, ...]:
        """The words that edits leave."""
        return searchable(tagged(apply_edits(self.document.text, edits)), edits)


@cache
def tagged(text: str) -> tuple[Word, ...]:
    """All words of an English text."""
    return tagger_of(text, "en").words(text)


def cases(folder: Path, count: int | None = None) -> tuple[Case, ...]:
    """The cases of the benchmark, or the first of them."""
    csv.field_size_limit(1 << 30)
    marked: dict[str, list[Mention]] = {}
    with (folder / MENTIONS).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            mention = Mention(int(row["start"]), int(row["end"]), row["entity_type"], row["identifier_type"])
            marked.setdefault(row["doc_id"], []).append(mention)
    with (folder / DOCUMENTS).open(newline="", encoding="utf-8") as file:
        found = [
            Case(
                Document(row["doc_id"], row["text"]),
                row["applicant"],
                row["country"],
                tuple(marked[row["doc_id"]]),
            )
            for row in csv.DictReader(file)
        ]
    return tuple(found[:count])


@cache
def web(found: tuple[Case, ...]) -> FolderIndex:
    """D*: an article about each case, among the full cases.

    The full case itself is the document that is searched for, which an attack sets aside: for each case the
    web is its article, the articles about others, and all other cases.
    """
    articles = [(case.article_name, case.article) for case in found]
    return FolderIndex([*articles, *((case.document.name, case.document.text) for case in found)], "the web")
