"""A reader of WordNet's own files, as Debian's package wordnet-base installs them.

Reference: the manual pages wndb(5WN) and morphy(7WN) of WordNet 3.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from anonymizer.errors import FileError

PLACES: Final = (Path("/usr/share/wordnet"), Path("/usr/local/share/wordnet"))
"""Where packages install it."""

Part = Literal["noun", "verb"]
_PARTS: Final[tuple[Part, ...]] = ("noun", "verb")
_LARGEST: Final = 256 * 2**20
_DEEPEST: Final = 40
"""Longer chains of hypernyms than any of WordNet's, which has 19."""


@dataclass(frozen=True, slots=True)
class Synset:
    """Words of one meaning.

    Attributes:
        words: in the order of WordNet, with blanks.
        hypernyms: where the meanings above it stand in the file.
        instance: whether it is a thing with a name of its own, so that what is above it is its class.
    """

    words: tuple[str, ...]
    hypernyms: tuple[int, ...]
    instance: bool


class WordNet:
    """Nouns and verbs with their meanings, the most frequent one first.

    Args:
        folder: with data.noun, index.noun, data.verb and index.verb.

    Raises:
        FileError: a file is missing, cannot be read, or is not of WordNet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = {part: self._file(f"data.{part}") for part in _PARTS}
        self._first = {part: self._index(part) for part in _PARTS}

    def first(self, lemma: str, part: Part) -> int | None:
        """Where the most frequent meaning of a word in its basic form stands; None if it is not known."""
        return self._first[part].get(lemma.lower().replace(" ", "_"))

    def synset(self, at: int, part: Part) -> Synset:
        """The meaning that stands at a place.

        Raises:
            FileError: none does.
        """
        data = self._data[part]
        line = data[at : data.find(b"\n", at)].decode("latin-1")
        try:
            fields = line.partition(" | ")[0].split()
            if int(fields[0]) != at:
                raise ValueError
            count = int(fields[3], 16)
            words = tuple(word.replace("_", " ") for word in fields[4 : 4 + 2 * count : 2])
            pointers = fields[5 + 2 * count :]
            above = [
                (pointers[one], int(pointers[one + 1]))
                for one in range(0, 4 * int(fields[4 + 2 * count]), 4)
                if pointers[one] in {"@", "@i"}
            ]
        except (ValueError, IndexError):
            raise self._file_error(f"data.{part}") from None
        return Synset(words, tuple(place for _, place in above), any(kind == "@i" for kind, _ in above))

    def above(self, at: int, part: Part) -> Iterator[Synset]:
        """The meanings above one, by the first hypernym of each, up to the top; never the same one again."""
        seen = {at}
        for _ in range(_DEEPEST):
            hypernyms = self.synset(at, part).hypernyms
            if not hypernyms or hypernyms[0] in seen:
                return
            at = hypernyms[0]
            seen.add(at)
            yield self.synset(at, part)

    def _index(self, part: Part) -> dict[str, int]:
        found: dict[str, int] = {}
        try:
            for line in self._file(f"index.{part}").decode("latin-1").splitlines():
                if line.startswith(" "):  # the licence
                    continue
                fields = line.split()
                # lemma pos synset_cnt p_cnt [pointers...] sense_cnt tagsense_cnt offsets...
                found[fields[0]] = int(fields[6 + int(fields[3])])
        except (ValueError, IndexError):
            raise self._file_error(f"index.{part}") from None
        if not found:
            raise self._file_error(f"index.{part}")
        return found

    def _file(self, name: str) -> bytes:
        path = self._folder / name
        try:
            if path.stat().st_size > _LARGEST:
                raise self._file_error(name)
            return path.read_bytes()
        except OSError as problem:
            raise FileError(
                f"WordNet's file {path} cannot be read: {type(problem).__name__}.",
                "Name the folder of its files, or install them: apt-get install wordnet-base.",
            ) from None

    def _file_error(self, name: str) -> FileError:
        return FileError(
            f"{self._folder / name} is not one of WordNet's files, or is broken.",
            "Name the folder with the files of WordNet 3: apt-get install wordnet-base.",
        )
