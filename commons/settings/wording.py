"""What is said of settings that are wrong, and how their places are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

Said = tuple[str, str]
"""What is wrong, and how to fix it."""

_KINDS: Final[Mapping[type, Said]] = {
    str: ("has to be text", "Put it in quotation marks."),
    Path: ("is not a path", "Write one in quotation marks, without control characters."),
    int: ("has to be an integer", "Write it without quotation marks or point."),
    float: ("has to be a number", "Write it without quotation marks."),
    bool: ("has to be true or false", "Write it without quotation marks."),
    date: ("is not a date", "Write it as 1990-12-31."),
    Fraction: ("is not a number of at most 30 digits", 'Write it as "1/2" or "0.5".'),
    list: ("has to be a list of texts", 'Write it as ["a", "b"].'),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of errors such as `duetto.toml, limits: sessions is above 64`; packages may use others.

    Attributes:
        inner: how the table under a key of another is called.
        item: how an entry of a list of tables is called, its `number` counted from 1 and its `index` from 0.
        named: how a table of a table of tables is called.
        entry: how the value of a key is called.
        table: of something else where a table has to be.
        tables: of something else where a list of tables has to be, after the key.
        unknown: of a key that does not exist, in a table of some `variant`; `near` says what it may mean.
        missing: of a key that has to be there; `meant` says what may be meant to be it.
        kinds: of a value of another type than these, after the key.
        kind: the sentence of that.
        words: how types are called in it.
        below: of a number that is too small, after the key.
        above: of one that is too large.
        length: of a list that is too short or too long, after the key.
        repeated: of a list with an entry twice, after the key.
        choice: of a text that is not among those that there are.
        listed: the same of an entry of a list.
    """

    inner: str = "{place}, {key}"
    item: str = "{place}, {word} {number}"
    named: str = "{place}, {word} {name}"
    entry: str = "{place}: {key}"
    table: Said = ("{place} has to be a table.", "Write it as [name] with keys below.")
    tables: Said = ("has to be a list of tables", "Write each below its own [[{key}]].")
    unknown: Said = ("{place}: {key!r} is not a known key.", "{near}")
    missing: Said = ("{place}: {key} is missing.", "{meant}")
    kinds: Mapping[type, Said] = field(default_factory=lambda: _KINDS)
    kind: str = "{place}: {key} {problem}."
    words: Mapping[type, str] = field(default_factory=dict)
    below: Said = ("is below {minimum}", "Write {minimum} or more.")
    above: Said = ("is above {maximum}", "Write {maximum} or less.")
    length: Said = ("has not {minimum} to {maximum} entries", "Write {minimum} to {maximum}.")
    repeated: Said = ("names something twice", "Remove the repetition.")
    choice: Said = ("{place}: {key} is {value!r}.", "{near}")
    listed: Said = ("{place}: {key} holds {value!r}.", "{near}")

    def not_a(self, kind: type, place: str, key: str, value: Any) -> Said:
        """What is said of a value of another type."""
        problem, hint = self.kinds[kind]
        wanted, found = (self.words.get(one, one.__name__) for one in (kind, type(value)))
        holes = {"place": place, "key": key, "value": value, "wanted": wanted, "found": found}
        return self.kind.format(problem=problem.format(**holes), **holes), hint


def say(said: Said, **holes: Any) -> Said:
    """Both sentences with their holes filled."""
    return said[0].format(**holes), said[1].format(**holes)


SETTINGS: Final = Wording()
