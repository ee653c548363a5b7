"""A folder of documents, read whole before anything is made of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from anonymizer.documents.formats.format import Format, Opened
from anonymizer.documents.formats.registry import format_of
from anonymizer.documents.texts.text import Document
from anonymizer.errors import FileError

_SAID: Final = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read.

    Attributes:
        files: at most so many.
        bytes: of each file at most.
        total: bytes of all files together at most.
    """

    files: int = 20_000
    bytes: int = 64 << 20
    total: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the folder.

    Attributes:
        document: its name below the folder, and its text.
        opened: it as its format reads it.
        form: its format.
        digest: SHA-256 of its bytes, in hexadecimal.
    """

    document: Document
    opened: Opened = field(repr=False)
    form: Format = field(repr=False)
    digest: str

    @property
    def name(self) -> str:
        """Its path below the folder, with "/" between the parts."""
        return self.document.name


@dataclass(frozen=True, slots=True)
class Folder:
    """What was read.

    Attributes:
        sources: the files, by name.
        skipped: what was not read, a sentence each.
    """

    sources: tuple[Source, ...]
    skipped: tuple[str, ...] = ()

    @property
    def documents(self) -> tuple[Document, ...]:
        """Their texts."""
        return tuple(one.document for one in self.sources)


def read(path: Path, *, encoding: str = "", limits: Limits | None = None) -> Folder:
    """Read all documents of a folder and the folders in it, or one document.

    Links are not followed and hidden files are not read; both are said.

    Args:
        path: of the folder, or of a file.
        encoding: of texts and pages that are not UTF-8 and do not say what they are.
        limits: how much is read.

    Raises:
        FileError: there is nothing to read, or it is more than `limits`, or some files cannot be read: of an
            unknown kind, broken, empty, encrypted, with names that are not texts. All of these are named.
    """
    limits = limits or Limits()
    skipped: list[str] = []
    try:
        single = path.is_file()
        places = [(path.name, path)] if single else sorted(_files(path, path, skipped))
    except OSError as problem:
        raise FileError(f"{path} cannot be read: {problem.strerror}.", "Check the path.") from None
    if not places:
        raise FileError(
            f"{path} holds no documents.", "Name a folder with .txt, .md, .html, .docx or .pdf files."
        )
    if len(places) > limits.files:
        raise FileError(
            f"{path} holds {len(places):,} files; {limits.files:,} can be read.",
            "Split it into several folders.",
        )
    sources, problems, left = [], [], limits.total
    for name, place in places:
        try:
            form = format_of(_plain(name), encoding)
            data = _bytes(name, place, limits.bytes)
            left -= len(data)
            if left < 0:
                raise FileError(
                    f"{path} holds more than {limits.total:,} bytes.", "Split it into several folders."
                )
            opened = form.open(name, data)
        except FileError as problem:
            if left < 0:
                raise
            problems.append(problem)
            continue
        digest = hashlib.sha256(data).hexdigest()
        sources.append(Source(Document(name, opened.text, opened.tables), opened, form, digest))
    if len(problems) == 1:
        raise problems[0]
    if problems:
        more = len(problems) - _SAID
        lines = [f"- {one}" for one in problems[:_SAID]] + ([f"- and {more:,} more"] if more > 0 else [])
        raise FileError(
            f"{len(problems):,} files cannot be read:\n" + "\n".join(lines),
            "Correct each as it says, or take it out of the folder.",
        )
    return Folder(tuple(sources), tuple(skipped))


def _files(top: Path, folder: Path, skipped: list[str]) -> Iterator[tuple[str, Path]]:
    """The files below a folder that are to be read, with their names."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda one: one.name)
    for entry in found:
        place = Path(entry.path)
        name = place.relative_to(top).as_posix()
        if entry.is_symlink():
            skipped.append(f"{_escape(name)} is a link, which is not followed.")
        elif entry.name.startswith("."):
            skipped.append(f"{_escape(name)} is hidden, and was not read.")
        elif entry.is_dir(follow_symlinks=False):
            yield from _files(top, place, skipped)
        else:
            yield name, place


def _plain(name: str) -> str:
    """A name that can be said.

    Raises:
        FileError: it is not UTF-8, or holds control or invisible characters.
    """
    if not name.isprintable():
        raise FileError(
            f"The name {_escape(name)} holds characters that cannot be printed.",
            "Rename the file or its folder.",
        )
    return name


def _escape(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _bytes(name: str, place: Path, most: int) -> bytes:
    """The bytes of a regular file; what has become a link since it was listed is not followed."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileError(f"{name} is not a regular file.", "Take it out of the folder.")
            data = file.read(most + 1)
    except OSError as problem:
        raise FileError(f"{name} cannot be read: {problem.strerror}.", "Check the file.") from None
    if len(data) > most:
        raise FileError(f"{name} is larger than {most:,} bytes.", "Split it into several files.")
    return data
