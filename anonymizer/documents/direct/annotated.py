"""Documents in which people have marked identifiers, read from two CSV files.

    documents.csv   doc_id, text                                        a document each
    mentions.csv    doc_id, start, end, entity_type, identifier_type    a mention each

A column `form` of the first may say the kind of text. More columns may follow. Offsets count characters
from 0, the end not included; entity_type is one of `KINDS`,
identifier_type is DIRECT, QUASI or NO_MASK. These are columns of the Text Anonymization Benchmark (Pilan et
al. 2022). Where one mention lies within another, the outer one counts.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast

from anonymizer.documents.direct.found import KINDS, Kind
from anonymizer.documents.texts.text import Document, Span
from anonymizer.errors import FileError, TableError
from commons.errors import near

Identifier = Literal["DIRECT", "QUASI", "NO_MASK"]
IDENTIFIERS: Final[tuple[Identifier, ...]] = ("DIRECT", "QUASI", "NO_MASK")
"""What leads to the person alone, what does so together with others, and what need not be masked."""

_DOCUMENTS: Final = ("doc_id", "text")
_MENTIONS: Final = ("doc_id", "start", "end", "entity_type", "identifier_type")
_LONGEST: Final = 1 << 27
"""Characters of one field; csv has a limit of 131,072, which long documents exceed."""


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """Characters that name or describe something.

    Attributes:
        start: its first character.
        end: the character after its last one.
        kind: its type.
        identifier: whether it has to be masked, and why.
    """

    start: int
    end: int
    kind: Kind
    identifier: Identifier

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end

    @property
    def masked(self) -> bool:
        """Whether it has to be masked."""
        return self.identifier != "NO_MASK"


@dataclass(frozen=True, slots=True)
class Annotated:
    """A document and its mentions.

    Attributes:
        document: it.
        mentions: in their order; of nested ones all.
        form: the kind of text, such as "news"; "" if the table does not say it.
    """

    document: Document
    mentions: tuple[Mention, ...] = field(repr=False)
    form: str = ""


def read_annotated(documents: Path, mentions: Path, split: str | None = None) -> tuple[Annotated, ...]:
    """Read both files.

    Args:
        documents: the texts.
        mentions: their marks.
        split: only documents with this word in a column `split`; None for all.

    Raises:
        FileError: a file cannot be read as CSV in UTF-8.
        TableError: a column lacks, a document is there twice or empty, a mention is of no document, lies
            beyond its text, has an unknown type, or crosses another one; with the line.
    """
    texts: dict[str, str] = {}
    forms: dict[str, str] = {}
    left_out: set[str] = set()
    for line, row in _rows(documents, (*_DOCUMENTS, *(("split",) if split is not None else ()))):
        name = row["doc_id"]
        if name in texts or name in left_out:
            raise TableError(
                f"{documents}, line {line}: document {name!r} is there twice.", "Remove one of them."
            )
        if not row["text"].strip():
            raise TableError(
                f"{documents}, line {line}: document {name!r} is empty.", "Give its text, or remove it."
            )
        if split is None or row["split"] == split:
            texts[name], forms[name] = row["text"], row.get("form", "")
        else:
            left_out.add(name)
    if not texts:
        where = "" if split is None else f" with {split!r} in the column split"
        raise TableError(f"{documents} has no document{where}.", "Check the file and the split.")
    marked: dict[str, list[tuple[int, Mention]]] = defaultdict(list)
    for line, row in _rows(mentions, _MENTIONS):
        if row["doc_id"] in left_out:
            continue
        if row["doc_id"] not in texts:
            raise TableError(
                f"{mentions}, line {line}: {row['doc_id']!r} is not a document of {documents}.",
                "Add the document, or remove the mention.",
            )
        marked[row["doc_id"]].append(
            (line, _mention(row, f"{mentions}, line {line}", len(texts[row["doc_id"]])))
        )
    _check_nesting(marked, mentions)
    return tuple(
        Annotated(Document(name, text), tuple(sorted({one for _, one in marked[name]})), forms[name])
        for name, text in texts.items()
    )


def outermost(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Mentions without those that lie within others."""
    kept: list[Mention] = []
    for one in sorted(mentions, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def _rows(path: Path, columns: Iterable[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    before = csv.field_size_limit(_LONGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            lacking = [name for name in columns if name not in (reader.fieldnames or ())]
            if lacking:
                raise TableError(
                    f"{path} lacks the column {lacking[0]}.", "It is described in docs/documents.md."
                )
            for row in reader:
                if None in row or None in row.values():
                    raise TableError(
                        f"{path}, line {reader.line_num}: the row has not as many fields as the header.",
                        "Put fields with commas or line breaks in quotes.",
                    )
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise FileError(f"{path} cannot be read: {problem}.", "Give a CSV file in UTF-8.") from None
    finally:
        csv.field_size_limit(before)


def _mention(row: Mapping[str, str], place: str, length: int) -> Mention:
    if not all(row[key].isascii() and row[key].isdigit() and len(row[key]) < 12 for key in ("start", "end")):
        raise TableError(f"{place}: start and end are not whole numbers.", "Count characters from 0.")
    start, end = int(row["start"]), int(row["end"])
    if not start < end <= length:
        raise TableError(
            f"{place}: characters {start} to {end} are not in the text, which has {length:,}.",
            "Count characters, not bytes, from 0; the end is the character after the last one.",
        )
    for column, known in (("entity_type", KINDS), ("identifier_type", IDENTIFIERS)):
        if row[column] not in known:
            raise TableError(f"{place}: {row[column]!r} is not an {column}.", near(row[column], known))
    return Mention(start, end, cast(Kind, row["entity_type"]), cast(Identifier, row["identifier_type"]))


def _check_nesting(marked: Mapping[str, list[tuple[int, Mention]]], path: Path) -> None:
    for name, mentions in marked.items():
        open_ones: list[Mention] = []
        for line, one in sorted(mentions, key=lambda pair: (pair[1].start, -pair[1].end)):
            while open_ones and open_ones[-1].end <= one.start:
                open_ones.pop()
            above = open_ones[-1] if open_ones else None
            if above is not None and (one.end > above.end or (one.span == above.span and one != above)):
                raise TableError(
                    f"{path}, line {line}: characters {one.start} to {one.end} of {name!r} overlap"
                    f" another mention ({above.start} to {above.end}).",
                    "A mention may lie within another one, but neither cross it nor have its very place.",
                )
            open_ones.append(one)
