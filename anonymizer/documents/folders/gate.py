"""The gate of documents: written where nobody looks, read back, looked at, and only then put in place.

As for tables, nothing of what a step says is believed: the files are read back from their bytes, and a
release that has a finding is not there at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from anonymizer.documents.folders.folder import Source
from anonymizer.documents.formats.registry import format_of
from anonymizer.documents.texts.edits import Edit, apply_edits
from anonymizer.documents.texts.standing import still_standing
from anonymizer.documents.texts.terms import Terms
from anonymizer.errors import FileError
from anonymizer.gate.finding import Finding
from anonymizer.gate.gate import Gate, Page, Passed
from anonymizer.gate.staging import staging
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.manifest import Manifest

MANIFEST: Final = "manifest.json"
"""The name of the manifest in the folder of a release."""

_DEFECT: Final = "Report this as a defect, and release nothing of it."


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A document that is to leave.

    Attributes:
        source: the original.
        edits: of its text, without overlaps, in their order.
        released: its name in the release, of `released_names`.
        terms: words and phrases that must not be in it: its risk words and direct identifiers. Those that a
            person wants to keep may be among them.
        kept: texts that a person keeps in it; what stands in one of them may stand.
    """

    source: Source
    edits: tuple[Edit, ...] = ()
    released: str = ""
    terms: frozenset[str] = field(default=frozenset(), repr=False)
    kept: frozenset[str] = field(default=frozenset(), repr=False)


Recheck = Callable[[Outgoing, str], Iterable[Finding]]
"""Looks at a document and the text as it was read back, such as by attacking it once more."""


def no_recheck(outgoing: Outgoing, text: str) -> Iterable[Finding]:  # noqa: ARG001
    """Looks at nothing more."""
    return ()


@dataclass(frozen=True, slots=True)
class DocumentGate:
    """Lets documents out, or says why not.

    Attributes:
        accept: findings that are right.
        recheck: a further look at each document.
        terms: words and phrases that must not be in any document, such as known names.
    """

    accept: tuple[Acceptance, ...] = ()
    recheck: Recheck = no_recheck
    terms: frozenset[str] = field(default=frozenset(), repr=False)

    def write(
        self,
        documents: Sequence[Outgoing],
        folder: Path,
        manifest: Manifest,
        *,
        inputs: Sequence[Path] = (),
        private: Mapping[Path, Page] | None = None,
    ) -> Passed:
        """Write a release: a folder with all documents and `manifest.json`, and pages that stay at home.

        The folder appears in one step, when all looks are done and all pages stand.

        Args:
            documents: all of them.
            folder: of the release; not there yet, or empty.
            manifest: what is said of it; files, rows, order and accepted findings are filled in.
            inputs: files and folders that the release was made of, which it must not lie in.
            private: pages by path, such as which document got which name; nobody else may read them.

        Raises:
            GateError: there is a finding that is not accepted. Nothing was written.
            FileError: the folder or a page lies in the wrong place, or cannot be written; nothing was.
        """
        pages = private or {}
        outside(folder, inputs, tuple(pages))
        names = [one.released for one in documents]
        if not names or len({name.casefold() for name in names}) < len(names) or MANIFEST in names:
            raise FileError("The documents of a release have no names, or not different ones.", _DEFECT)
        kept = all(_stem(one.released) == _stem(one.source.name) for one in documents)
        with staging() as staged:
            place = staged.folder(folder)
            for one in documents:
                target = place / one.released
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(one.source.opened.apply_edits(one.edits))
            manifest = replace(
                manifest,
                files={one.released: _digest((place / one.released).read_bytes()) for one in documents},
                rows=len(documents),
                order="kept" if kept else "shuffled",
                accepted=self.accept,
            )
            (place / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
            Gate(accept=self.accept).judge(self.findings(documents, place, manifest))
            for path, page in pages.items():
                staged.place(path, private=True).write_text(page(manifest), encoding="utf-8")
            staged.publish()
        return Passed(manifest, (*(folder / name for name in names), folder / MANIFEST, *pages))

    def findings(self, documents: Sequence[Outgoing], place: Path, manifest: Manifest) -> Iterator[Finding]:
        """All findings about files in a staging folder."""
        if not any(one.edits for one in documents):
            yield Finding(
                "unchanged",
                None,
                "No document was changed.",
                "Check names, web and recognizers; accept the finding if the documents need nothing.",
            )
        everywhere = Terms(self.terms | {term for one in documents for term in one.terms})
        shared = Terms(self.terms)
        for one in documents:
            yield from self._of_document(one, (place / one.released).read_bytes(), shared)
            inside = everywhere.in_name(one.released)
            if inside:
                yield Finding(
                    "name",
                    one.source.name,
                    f"The name that {one.source.name} is released under holds a word that must be gone.",
                    "Let the documents be numbered.",
                    (f"{one.released} holds {_quote(inside)}: leave out --keep-names, or rename the file.",),
                )
        for text in dict.fromkeys(one.why for one in manifest.accepted):
            words = dict.fromkeys(text[slice(*one.span)] for one in everywhere.standing(text))
            if words:
                yield Finding(
                    "manifest",
                    None,
                    "A reason, which the manifest would say, holds a word that must be gone from a document.",
                    "Give the reason without the word.",
                    (f"The reason {_quote([text])} holds {_quote(words)}: give it without.",),
                )

    def _of_document(self, one: Outgoing, data: bytes, shared: Terms) -> Iterator[Finding]:
        name = one.source.name
        form = format_of(one.released)
        expected = apply_edits(one.source.opened.text, one.edits)
        try:
            again = form.open(one.released, data)
        except FileError as problem:
            if not expected.strip():
                yield Finding("empty", name, f"Nothing of {name} is left.", "Take it out of the folder.")
            else:
                yield Finding("altered", name, f"{name} cannot be read back: {problem.what}", _DEFECT)
            return
        if _solid(again.text) != _solid(expected):
            yield Finding("altered", name, f"{name} read back is not the original with its edits.", _DEFECT)
        if again.dropped or again.apply_edits(()) != data:
            yield Finding("container", name, f"The file of {name} holds something beside its text.", _DEFECT)
        terms = (Terms(one.terms), shared)
        standing = still_standing(again.text, one.edits, terms, one.kept)
        if standing:
            lines = {again.text.count("\n", 0, each.span[0]) + 1 for each in standing}
            words = list(dict.fromkeys(again.text[slice(*each.span)] for each in standing))
            yield Finding(
                "term",
                name,
                f"A word that must be gone stands in {name} as it would leave, {_places(sorted(lines))}.",
                "Hide it there too, keep it by a decision, or take it out of the text of a [[hide]].",
                tuple(_decision(one, word) for word in words),
            )
        elif any(still_standing(text, one.edits, terms, one.kept) for text in form.strings(data)):
            yield Finding(
                "container",
                name,
                f"A word that must be gone stands in the file of {name} beside its text.",
                _DEFECT,
            )
        yield from self.recheck(one, again.text)


def outside(folder: Path, inputs: Sequence[Path], pages: Sequence[Path]) -> None:
    """Refuse places where a release would be among its own originals, or confidential pages in a release."""
    target = folder.resolve()
    for path in inputs:
        if target.is_relative_to(path.resolve()):
            raise FileError(f"{folder} is {path}, or lies in it.", "Name a folder outside of what is read.")
        if path.resolve().is_relative_to(target):
            raise FileError(f"{path} lies in {folder}.", "Name a folder outside of what is read.")
    for path in pages:
        if path.resolve().is_relative_to(target):
            raise FileError(f"{path} would lie in the release, which is to leave.", "Put it elsewhere.")
        if any(path.resolve().is_relative_to(one.resolve()) for one in inputs):
            raise FileError(f"{path} would lie in what is read.", "Put it elsewhere.")


def _stem(name: str) -> str:
    return str(PurePosixPath(name).with_suffix(""))


def _decision(one: Outgoing, word: str) -> str:
    """How to decide about a word that must be gone and stands in a document."""
    said = [edit.text for edit in one.edits if edit.cause == "person" and word in edit.text]
    name = one.source.name
    if said or word not in one.source.opened.text:
        return f"A text that a [[hide]] writes into {name} holds {_quote([word])}: write another text there."
    return deciding(name, word)


def deciding(document: str, word: str) -> str:
    """What to write into a specification in order to hide or to keep a word of a document."""
    name, quoted = (json.dumps(one, ensure_ascii=False) for one in (document, word))
    return (
        f"{quoted} in {document}: add one of these to the specification (--spec), and say why.\n"
        f'[[hide]]\ndocument = {name}\nword = {quoted}\nwhy = "it must not leave"\n\n'
        f'[[keep]]\ndocument = {name}\nword = {quoted}\nwhy = "it may leave"'
    )


def _quote(words: Iterable[str]) -> str:
    return ", ".join(json.dumps(one, ensure_ascii=False) for one in words)


def _places(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:5]))
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"


def _solid(text: str) -> str:
    """A text without its blanks, in which layouts differ."""
    return "".join(text.split())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def checked_release(folder: Path) -> Manifest:
    """The manifest of a folder of documents, checked against the files that are there.

    Raises:
        FileError: it is missing or not a manifest, or a file is missing, too many, or was changed.
    """
    hint = "Take the folder as it was written, whole."
    try:
        manifest = Manifest.from_json((folder / MANIFEST).read_text(encoding="utf-8"))
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
        wrong = there.symmetric_difference({*manifest.files, MANIFEST}) or {
            name for name, digest in manifest.files.items() if _digest((folder / name).read_bytes()) != digest
        }
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(f"{folder} cannot be read as a release: {type(problem).__name__}.", hint) from None
    if wrong:
        raise FileError(f"{min(wrong)} in {folder} is not as the manifest says.", hint)
    return manifest
