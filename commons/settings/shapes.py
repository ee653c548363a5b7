"""What a value may look like: how it is read, and what JSON Schema says of it, in one place for each kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from commons.errors import HintedError
from commons.settings.bounds import Between, OneOf, Terms
from commons.settings.marks import Length, Matching, Parse, Read, Wrong
from commons.settings.table import StrictTable
from commons.settings.wording import say

Document = dict[str, Any]

_SHORT: Final = re.compile(
    r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?|[+-]?[0-9]{1,30}/[0-9]{1,30}"
)
"""What is made a fraction of: not an exponent that would fill the memory with digits."""

_POWER: Final = re.compile(r"2\^-([0-9]{1,2})")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
EXACT: Final[Mapping[str, Any]] = {"type": ["number", "string"], "pattern": r"^\s*[+-]?[0-9.]"}
"""JSON Schema of an exact number, as a number or as a text such as `1/2`."""


@dataclass(frozen=True, slots=True)
class At:
    """Where a value stands: under a key of a table.

    Attributes:
        table: the table.
        key: the key.
        said: what is said of anything that is wrong; None for the reader's words.
        in_list: whether it is an entry of the list that stands there.
    """

    table: StrictTable
    key: str
    said: Wrong | None = None
    in_list: bool = False

    @property
    def place(self) -> str:
        """How errors call it."""
        return self.table.wording.entry.format(place=self.table.place, key=self.key)

    def inner(self, value: Any) -> StrictTable:
        """The table that stands there.

        Raises:
            HintedError: of the table's class; something else does.
        """
        if not isinstance(value, Mapping) and self.said is not None:
            raise self.wrong("", "")
        return self.table.inner(value, self.inner_place)

    @property
    def inner_place(self) -> str:
        """How errors call a table that stands there."""
        return self.table.wording.inner.format(place=self.table.place, key=self.key)

    def wrong(self, problem: str, hint: str) -> HintedError:
        """The error for the value, to be raised by the caller."""
        if self.said is not None:
            problem, hint = self.said.problem, self.said.hint
        return self.table.fail(self.key, problem, hint)

    def not_among(self, value: str, known: Sequence[str], hint: str = "") -> HintedError:
        """The error for a text that is not one of some, to be raised by the caller."""
        if self.said is not None:
            return self.wrong("", "")
        return self.table.not_among(self.key, value, known, hint=hint, in_list=self.in_list)

    def not_a(self, kind: type, value: Any) -> HintedError:
        """The error for a value of another type, to be raised by the caller."""
        if self.said is not None:
            return self.wrong("", "")
        return self.table.not_a(kind, self.key, value)


@dataclass(frozen=True, slots=True)
class Shape:
    """What may stand for a key.

    Attributes:
        read: makes the declared value of what stands there, and raises the error of the table where that is
            of another type or outside its bounds.
        schema: the same as JSON Schema.
        is_text: whether it is a text.
    """

    read: Callable[[Any, At], Any]
    schema: Document
    is_text: bool = False


ANYTHING: Final = Shape(lambda value, _: value, {})
"""A value that is taken as it is."""


def flag() -> Shape:
    """True or false."""

    def read(value: Any, at: At) -> bool:
        if not isinstance(value, bool):
            raise at.not_a(bool, value)
        return value

    return Shape(read, {"type": "boolean"})


def text(form: Matching | None, known: OneOf | None, length: Length | None) -> Shape:
    """A text of a form, of some texts, or of so many letters."""
    least, most = (0, None) if length is None else (length.minimum, length.maximum)

    def read(value: Any, at: At) -> str:
        if not isinstance(value, str):
            raise at.not_a(str, value)
        if known is not None and value not in known.names:
            raise at.not_among(value, known.names, known.hint)
        if form is not None and not form.pattern.fullmatch(value):
            raise at.wrong(form.problem, form.hint)
        if most is not None and len(value) > most:
            raise at.wrong(f"is over {most} characters", "Shorten it.")
        if len(value) < least:
            raise at.wrong("is empty", "Fill it in, or leave it out.")
        return value

    schema: Document = {"type": "string"}
    schema |= {} if known is None else {"enum": list(known.names)}
    schema |= {} if form is None else {"pattern": f"^(?:{form.pattern.pattern})$"}
    schema |= {"minLength": least} if least else {}
    return Shape(read, schema | ({} if most is None else {"maxLength": most}), is_text=True)


def path() -> Shape:
    """A path, from the folder of the file."""

    def read(value: Any, at: At) -> Path:
        if not isinstance(value, str) or not value.isprintable():
            raise at.not_a(Path, value)
        return at.table.folder / value

    return Shape(read, {"type": "string"}, is_text=True)


def word(kind: type[Enum], hint: str) -> Shape:
    """A member of an enumeration, by the text that is its value."""
    known = tuple(member.value for member in kind)

    def read(value: Any, at: At) -> Enum:
        if not isinstance(value, str):
            raise at.not_a(str, value)
        if value not in known:
            raise at.not_among(value, known, hint)
        return kind(value)

    return Shape(read, {"type": "string", "enum": [*known]}, is_text=True)


def number(kind: type[int] | type[float], bounds: Between | None) -> Shape:
    """A whole number, or a finite one as Python's floats have them, for which a whole one stands as well."""
    taken = int if kind is int else int | float | Decimal

    def read(value: Any, at: At) -> Any:
        if not isinstance(value, taken) or isinstance(value, bool):
            raise at.not_a(kind, value)
        if not _is_finite(value, kind):
            raise at.not_a(kind, value)
        _check_bounds(value, bounds, at)
        return float(value) if isinstance(value, Decimal) else value

    return Shape(read, {"type": "integer" if kind is int else "number", **_bounds_schema(bounds)})


def _is_finite(value: float | Decimal, kind: type[int] | type[float]) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return kind is int


def exact(bounds: Between | None, terms: Terms | None, *, may_be_power: bool) -> Shape:
    """A non-negative rational, written `"1/2"`, `"0.5"`, 0.5 or 1."""

    def read(value: Any, at: At) -> Fraction:
        power = _POWER.fullmatch(value.strip()) if may_be_power and isinstance(value, str) else None
        found = Fraction(1, 2 ** int(power[1])) if power else _fraction(value, terms, at)
        _check_bounds(found, bounds, at)
        return found

    return Shape(read, {**EXACT, "minimum": 0, **_bounds_schema(bounds)})


def _fraction(value: Any, terms: Terms | None, at: At) -> Fraction:
    try:
        if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
            raise ValueError
        if not _SHORT.fullmatch(str(value).strip()):
            raise ValueError
        found = Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise at.not_a(Fraction, value) from None
    if found < 0:
        raise at.wrong("is negative", "Write 0 or more.")
    if terms is not None and max(found.numerator, found.denominator) > terms.maximum:
        problem = f"has a numerator or denominator above {terms.maximum}"
        raise at.wrong(problem, 'Write it as "0.8" or "4/5".')
    return found


def _check_bounds(value: Any, bounds: Between | None, at: At) -> None:
    low, high = (None, None) if bounds is None else (bounds.minimum, bounds.maximum)
    if (low is not None and value < low) or (high is not None and value > high):
        wording = at.table.wording
        said = wording.below if low is not None and value < low else wording.above
        problem, hint = say(said, minimum=low, maximum=high)
        raise at.wrong(problem, (bounds.hint if bounds else "") or hint)


def _bounds_schema(bounds: Between | None) -> Document:
    ends = () if bounds is None else (("minimum", bounds.minimum), ("maximum", bounds.maximum))
    return {key: end if isinstance(end, int) else float(end) for key, end in ends if end is not None}


def day() -> Shape:
    """A date, or the text of one; editors have dates of TOML as texts."""

    def read(value: Any, at: At) -> date:
        if isinstance(value, str) and _DAY.fullmatch(value):
            try:
                return date.fromisoformat(value)
            except ValueError:
                pass
        if not isinstance(value, date) or isinstance(value, datetime):
            raise at.not_a(date, value)
        return value

    return Shape(read, {"type": "string", "format": "date"})


def listing(
    inner: Shape,
    made: Callable[[Sequence[Any]], Any],
    length: Length,
    *,
    may_repeat: bool,
    may_be_single: bool,
) -> Shape:
    """A list of values of one kind, each once unless they may repeat; or one text alone."""

    def read(value: Any, at: At) -> Any:
        given = [value] if may_be_single and isinstance(value, str) else value
        texts = not inner.is_text or (
            isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)
        )
        if not isinstance(given, list | tuple) or not texts:
            raise at.not_a(list, value)
        check_length(given, length, at)
        within = replace(at, in_list=True)
        found = [inner.read(one, within) for one in given]
        if not may_repeat and any(one in found[:place] for place, one in enumerate(found)):
            raise at.table.fail(at.key, *at.table.wording.repeated)
        return made(found)

    schema = {"type": "array", "items": inner.schema, **length_schema(length)}
    schema |= {} if may_repeat else {"uniqueItems": True}
    return Shape(read, {"anyOf": [inner.schema, schema]} if may_be_single else schema)


def check_length(value: Sized, length: Length, at: At) -> None:
    """Check how many entries there are.

    Raises:
        HintedError: of the table's class; there are too few or too many.
    """
    if len(value) < length.minimum or (length.maximum is not None and len(value) > length.maximum):
        if length.maximum is None:
            raise at.wrong("is empty", f"Write {length.minimum} or more.")
        raise at.wrong(*say(at.table.wording.length, minimum=length.minimum, maximum=length.maximum))


def length_schema(length: Length) -> Document:
    """The length of a list as JSON Schema says it."""
    found = {"minItems": length.minimum} if length.minimum else {}
    return found if length.maximum is None else {**found, "maxItems": length.maximum}


def by_name(inner: Shape, form: Matching | None) -> Shape:
    """A table whose keys are names, with values of one kind."""

    def read_one(name: str, value: Any, within: StrictTable, at: At) -> Any:
        try:
            if form is not None and not form.pattern.fullmatch(name):
                raise at.table.fail(at.key, form.problem, form.hint)
            return inner.read(value, At(within, name))
        except HintedError:
            if at.said is None or not at.said.entry:
                raise
            raise at.table.fail(at.key, f"{at.said.entry} {name!r}", at.said.hint) from None

    def read(value: Any, at: At) -> dict[str, Any]:
        within = at.inner(value)
        return {name: read_one(name, one, within, at) for name, one in within.table.items()}

    names = {} if form is None else {"propertyNames": {"pattern": f"^(?:{form.pattern.pattern})$"}}
    return Shape(read, {"type": "object", "additionalProperties": inner.schema, **names})


def parse_by(mark: Read | Parse) -> Shape:
    """What a function makes of a value."""

    def read(value: Any, at: At) -> Any:
        if isinstance(mark, Read):
            return mark.parser(value, at.inner_place if isinstance(value, Mapping) else at.place)
        if not isinstance(value, str):
            raise at.not_a(str, value)
        try:
            return mark.parser(value)
        except HintedError as problem:
            raise at.table.error(f"{at.place}: {problem.what}", problem.hint) from None

    return Shape(read, dict(mark.schema))


def keys_schema(keys: Iterable[str], needed: Iterable[str] = (), **said: Document) -> Document:
    """JSON Schema of a table of which only the keys are known.

    Args:
        keys: all of them.
        needed: those that have to be there.
        said: what is known of some values.
    """
    properties = {key: said.get(key, {}) for key in dict.fromkeys((*keys, *said))}
    found: Document = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": [*needed]} if needed else {})
