"""What a field of a declaration says of its key besides its type, in `Annotated`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from commons.settings.table import StrictTable


@dataclass(frozen=True, slots=True)
class Powers:
    """An exact number that may be written as a negative power of two, such as `2^-30`."""


@dataclass(frozen=True, slots=True)
class Matching:
    """A text, or each text of a list, or each name of a table, of a form.

    Attributes:
        pattern: of the whole of it.
        problem: what is wrong with another, after the key.
        hint: what to write.
    """

    pattern: re.Pattern[str]
    problem: str
    hint: str


@dataclass(frozen=True, slots=True)
class Length:
    """How many letters a text, or entries a list or table has.

    Attributes:
        minimum: the least.
        maximum: the most; None for any number.
    """

    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Repeated:
    """A list that may name something twice; others may not."""


@dataclass(frozen=True, slots=True)
class Single:
    """A list that may be written as its only text."""


@dataclass(frozen=True, slots=True)
class Read:
    """A value that a function makes, which names the place in its errors.

    Attributes:
        parser: of the value and its place.
        schema: what JSON Schema says of it.
    """

    parser: Callable[[Any, str], Any]
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parse:
    """A text of which a function makes a value; its errors are completed by the place.

    Attributes:
        parser: of the text.
        schema: what JSON Schema says of it.
    """

    parser: Callable[[str], Any]
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a field that is not called like it, or stands in a section, such as `party.name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """How errors call one of several tables, such as `peer` for `duetto.toml, peer 1`."""

    name: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is said of any value that does not fit, in place of the reader's words.

    Attributes:
        problem: after the key.
        hint: what to write.
        entry: the same of an entry of a table, before its name; "" for the reader's words.
    """

    problem: str
    hint: str
    entry: str = ""


@dataclass(frozen=True, slots=True)
class Inline:
    """A declaration whose keys stand in the same table.

    Attributes:
        when: the key without which it is not there, though its other keys may be; "" for none.
        parser: reads it, in place of the reader.
    """

    when: str = ""
    parser: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A truth value that is not written: whether a key is there."""

    key: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A field that does not stand in the file: the program gives it."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Tables that follow one of several declarations.

    Attributes:
        kinds: the declarations, by the word that chooses one.
        choose: finds the word for a table, and raises what it says of a table that has none.
        key: under which the word stands; "" where other keys choose.
        without: the words of tables that may lack the key.
    """

    kinds: Mapping[str, type[Any]]
    choose: Callable[[StrictTable], str]
    key: str = ""
    without: Collection[str] = ()

    @classmethod
    def by_word(cls, key: str, kinds: Mapping[str, type[Any]], default: str = "") -> Self:
        """Those that a word under a key chooses."""

        def choose(table: StrictTable) -> str:
            if not table.has(key):
                if default:
                    return default
                raise table.missing(key)
            word = table.raw(key)
            if not isinstance(word, str):
                raise table.not_a(str, key, word)
            if word not in kinds:
                raise table.not_among(key, word, tuple(kinds))
            return word

        return cls(kinds, choose, key, (default,))


class UnfitError(ValueError):
    """What a declaration raises as it is made where its fields do not fit each other.

    Args:
        key: that is named.
        problem: what is wrong, after the key.
        hint: how to fix it.
        within: the table in which the key stands, as `pools 1`; "" for the one that is made.
    """

    def __init__(self, key: str, problem: str, hint: str, within: str = "") -> None:
        super().__init__(f"{key} {problem}")
        self.key = key
        self.problem = problem
        self.hint = hint
        self.within = within
