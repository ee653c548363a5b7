"""The names that documents leave under."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from anonymizer.documents.folders.folder import Source
from anonymizer.errors import FileError
from anonymizer.tables.randomness import Randomness


def released_names(
    sources: Sequence[Source], *, keep: bool = False, seed: int | None = None
) -> Mapping[str, str]:
    """For each document the name of its file in the release.

    File names hold names of people, numbers of cases, dates. So documents are numbered, document-0001.txt and
    so on, without folders, and in an order drawn at random: the alphabetical one would tell who is who
    to somebody who has the list. Which number is which document stays at home.

    Args:
        sources: the documents.
        keep: keep names and folders instead; only endings follow the format that is written. The gate then
            looks for terms in them.
        seed: makes the order of the numbers repeatable, for trials.

    Raises:
        FileError: two documents would have one name, in a file system that knows no case.
    """
    if keep:
        names = {one.name: _keep_name(one) for one in sources}
        _distinct(names)
        return names
    order = Randomness(seed, "order of the documents").permutation(len(sources)).tolist()
    width = max(4, len(str(len(sources))))
    return {
        one.name: f"document-{place + 1:0{width}}{one.opened.ending}"
        for one, place in zip(sources, order, strict=True)
    }


def _keep_name(source: Source) -> str:
    path = PurePosixPath(source.name)
    if source.opened.ending in source.form.endings:
        return source.name
    return str(path.with_suffix(source.opened.ending))


def _distinct(names: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for name, released in names.items():
        key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", released).casefold())
        if key in seen:
            raise FileError(
                f"{seen[key]} and {name} would both be released as {released}.",
                "Rename one of them, or let all be numbered.",
            )
        seen[key] = name
