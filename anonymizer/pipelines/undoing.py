"""Take a step out of the text of a specification and put it back, byte by byte, comments and order untouched.

An undone step stays in the file as comments: a line that says so, then each line of the step behind `MARK`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from anonymizer.errors import SpecError
from anonymizer.pipelines.spec import digest_of, parse
from commons.errors import near

MARK: Final = "#~ "
_BACK: Final = "`duetto anonymize redo` brings it back"
_NAME: Final = r"\"(?:[^\"\\]|\\[\"\\/bfnrt]|\\u[0-9a-f]{4})*\""
_HEAD: Final = re.compile(rf"{MARK}undone (\d+): step ({_NAME}), {_BACK}\r?\n?$")
_STEP: Final = re.compile(r"\s*\[\[\s*(?:steps|\"steps\"|'steps')\s*\]\]")
_OF_STEP: Final = re.compile(r"\s*\[\[?\s*(?:steps|\"steps\"|'steps')\s*\.")


@dataclass(frozen=True, slots=True)
class Edited:
    """A specification with a step taken out or put back.

    Attributes:
        text: the whole of it.
        step: the name of the step.
        first: its first line in the text, from 1.
        last: its last line.
        renamed: other steps that were called by their number and are called otherwise now, old names and new.
    """

    text: str
    step: str
    first: int
    last: int
    renamed: tuple[tuple[str, str], ...] = ()


def undo(text: str, folder: Path, place: str, step: str | None = None) -> Edited:
    """Turn a step into comments.

    Args:
        text: of the specification.
        folder: where files that it names are meant from.
        place: how errors call it.
        step: its name; None is the last one.

    Raises:
        SpecError: the step does not exist, steps are not written as `[[steps]]`, or what is left is not
            a valid specification.
    """
    document = _parse(text, place)
    names = _names(document)
    if not names:
        raise SpecError(f"{place} has no steps to undo.", "Write each below [[steps]].")
    number = len(names) - 1 if step is None else _place(step, names, place)
    lines = _by_newline(text)
    blocks = list(_blocks(lines))
    if len(blocks) != len(names):
        raise SpecError(
            f"{place}: the steps are not written one by one.", "Write each below a line [[steps]] of its own."
        )
    start, end = blocks[number]
    undone = [one.number for one in _find_undone(lines)]
    ending = "\r\n" if lines[start].endswith("\r\n") else "\n"
    count, name = max(undone, default=0) + 1, json.dumps(names[number], ensure_ascii=False)
    head = f"{MARK}undone {count}: step {name}, {_BACK}{ending}"
    held = [MARK + line for line in lines[start:end]]
    found = "".join([*lines[:start], head, *held, *lines[end:]])
    rest = _without(document, number)
    if not rest["steps"]:
        raise SpecError(
            f"{place} has only the step {names[number]!r}.", "Write another first: a release needs a step."
        )
    if digest_of(_parse(found, place)) != digest_of(rest):
        raise SpecError(
            f"{place}: the step {names[number]!r} has no clear beginning or end.",
            "Nothing was changed. Write it below a line [[steps]] of its own, or make it a comment by hand.",
        )
    parse(rest, folder, place)
    left = [*names[:number], *names[number + 1 :]]
    return Edited(found, names[number], start + 1, end + 1, _find_renamed(left, _names(rest)))


def redo(text: str, folder: Path, place: str, step: str | None = None) -> Edited:
    """Put back what `undo` has turned into comments, where it stood.

    Args:
        text: of the specification.
        folder: as `undo`.
        place: as `undo`.
        step: the name that it had; None is what was undone last.

    Raises:
        SpecError: that step was not undone, or the result is not a valid specification.
    """
    document = _parse(text, place)
    lines = _by_newline(text)
    known = {one.step: one for one in sorted(_find_undone(lines), key=lambda one: one.number)}
    if not known:
        raise SpecError(f"{place} has no step that was undone.", "`duetto anonymize undo` takes one out.")
    if step is not None and step not in known:
        raise SpecError(f"{place} has no undone step {step!r}.", near(step, list(known)))
    one = known[step] if step is not None else list(known.values())[-1]
    held = [line.removeprefix(MARK.rstrip()).removeprefix(" ") for line in lines[one.start + 1 : one.end]]
    found = "".join([*lines[: one.start], *held, *lines[one.end :]])
    whole = _parse(found, f"{place} with the step {one.step!r} in it")
    number = sum(1 for first, _ in _blocks(lines) if first < one.start)
    if digest_of(_without(whole, number)) != digest_of(document) or whole == document:
        raise SpecError(
            f"{place}: the comments of the undone step {one.step!r} are not a step any more.",
            f"Nothing was changed. Correct them, or take {MARK!r} away by hand from line {one.start + 2} on.",
        )
    parse(whole, folder, place)
    names = _names(whole)
    left = [*names[:number], *names[number + 1 :]]
    return Edited(found, one.step, one.start + 1, one.end - 1, _find_renamed(_names(document), left))


@dataclass(frozen=True, slots=True)
class _Undone:
    """A step that is comments: which undoing it was, its name, its first line from 0 and the one after it."""

    number: int
    step: str
    start: int
    end: int


def _find_undone(lines: Sequence[str]) -> Iterator[_Undone]:
    for start, line in enumerate(lines):
        found = _HEAD.match(line)
        if found is None:
            continue
        end = start + 1
        while end < len(lines) and lines[end].startswith(MARK.rstrip()) and not _HEAD.match(lines[end]):
            end += 1
        yield _Undone(int(found[1]), str(json.loads(found[2])), start, end)


def _without(document: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """A document without a step."""
    steps = document.get("steps", [])
    return {**document, "steps": [*steps[:number], *steps[number + 1 :]]}


def _by_newline(text: str) -> list[str]:
    """The lines with their ends; no other sign than a newline ends one in TOML."""
    return re.findall(r"[^\n]*\n|[^\n]+$", text)


def _parse(text: str, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as problem:
        raise SpecError(f"{place} is not TOML: {problem}.", "Correct the named place.") from None


def _names(document: Mapping[str, Any]) -> list[str]:
    """What steps are called, as `Spec.pipeline` calls them."""
    steps = document.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(one, Mapping) for one in steps):
        return []
    return [str(one.get("name", f"{at}-{one.get('method', '')}")) for at, one in enumerate(steps, 1)]


def _place(step: str, names: Sequence[str], place: str) -> int:
    if step not in names:
        raise SpecError(f"{place} has no step {step!r}.", near(step, names))
    return names.index(step)


def _find_renamed(before: Sequence[str], after: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((old, new) for old, new in zip(before, after, strict=True) if old != new)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first line of each step, and the one after its last that says something."""
    headers = list(_headers(lines))
    for number, start in enumerate(headers):
        if not _STEP.match(lines[start]):
            continue
        following = (at for at in headers[number + 1 :] if not _OF_STEP.match(lines[at]))
        end = next(following, len(lines))
        while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        yield start, end


def _headers(lines: Sequence[str]) -> Iterator[int]:
    """The lines that begin a table, and not an item of a list or a line of a text."""
    closing, depth = "", 0
    for number, line in enumerate(lines):
        if not closing and not depth and line.lstrip("\ufeff \t").startswith("["):
            yield number
            continue
        closing, depth = _after(line, closing, depth)


_TOKEN: Final = re.compile(r"\"\"\"|'''|\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|#|[\[\]{}]|.", re.DOTALL)


_ENDS: Final = {
    '"""': re.compile(r"(?:\\.|[^\\])*?\"\"\"", re.DOTALL),
    "'''": re.compile(r".*?'''", re.DOTALL),
}


def _after(line: str, closing: str, depth: int) -> tuple[str, int]:
    """Where the end of a line is: in which text of several lines, and in how many brackets."""
    place = 0
    while place < len(line):
        if closing:
            end = _ENDS[closing].match(line, place)
            if end is None:
                return closing, depth
            place, closing = end.end(), ""
            continue
        token = _TOKEN.match(line, place)
        if token is None or token[0] == "#":
            break
        place = token.end()
        if token[0] in ('"""', "'''"):
            closing = token[0]
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
    return closing, depth
