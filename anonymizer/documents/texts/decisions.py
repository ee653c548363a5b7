"""What the person who reviews decided: characters that stay, and characters that become others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from anonymizer.documents.texts.text import Document, Span
from anonymizer.errors import TableError


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about some characters of a document.

    Attributes:
        document: its name.
        span: of the original text; None where a word is given.
        why: the reason.
        text: what is written instead; None keeps the characters as they are.
        word: every place where it stands is meant; "" where a span is given.
    """

    document: str
    span: Span | None
    why: str
    text: str | None = field(default=None, repr=False)
    word: str = field(default="", repr=False)

    @property
    def keeps(self) -> bool:
        """Whether the characters stay."""
        return self.text is None

    @property
    def key(self) -> str:
        """The section of a specification that it is written in."""
        return "keep" if self.keeps else "hide"


@dataclass(frozen=True, slots=True)
class Place:
    """A decision at one place.

    Attributes:
        decision: it.
        span: of the original text.
    """

    decision: Decision
    span: Span


def places(decisions: Iterable[Decision], documents: Sequence[Document]) -> dict[str, tuple[Place, ...]]:
    """The places of decisions, by document and in their order.

    Raises:
        TableError: a decision is about a document, characters or a word that is not there, or two are about
            the same characters.
    """
    texts = {one.name: one.text for one in documents}
    found: dict[str, list[Place]] = {name: [] for name in texts}
    for one in decisions:
        if one.document not in texts:
            raise TableError(
                f"[[{one.key}]] is about {one.document!r}, which is not among the documents.",
                "Write its path below the folder, such as 2025/report.txt.",
            )
        found[one.document] += [Place(one, span) for span in _spans(one, texts[one.document])]
    ordered = {name: tuple(sorted(those, key=lambda each: each.span)) for name, those in found.items()}
    for name, those in ordered.items():
        for one_, other in pairwise(those):
            if other.span[0] < one_.span[1]:
                raise TableError(
                    f"[[{one_.decision.key}]] and [[{other.decision.key}]] of {name} are both about "
                    f"character {other.span[0]:,}.",
                    "Decide once about each character.",
                )
    return ordered


def _spans(one: Decision, text: str) -> Iterator[Span]:
    if one.span is not None:
        if one.span[1] > len(text):
            raise TableError(
                f"[[{one.key}]] of {one.document} ends at character {one.span[1]:,}; the text has "
                f"{len(text):,}.",
                "Copy start and end from the report.",
            )
        yield one.span
        return
    spans = [found.span() for found in re.finditer(re.escape(one.word), text)]
    if not spans:
        raise TableError(
            f"The word of a [[{one.key}]] does not stand in {one.document}.",
            "Write it as the document does, or give start and end.",
        )
    yield from spans
