"""The reader: a dataclass and a table make a value, and the same dataclass makes a JSON Schema."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from commons.errors import HintedError
from commons.settings import shapes
from commons.settings.bounds import Between, OneOf, Terms
from commons.settings.marks import (
    Given,
    Inline,
    Item,
    Key,
    Length,
    Matching,
    Parse,
    Powers,
    Read,
    Repeated,
    Single,
    UnfitError,
    Unread,
    Variants,
    Wrong,
)
from commons.settings.shapes import At, Document, Shape, check_length, length_schema
from commons.settings.table import StrictTable
from commons.settings.wording import say

T = TypeVar("T")
M = TypeVar("M")

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SEQUENCES: Final[Mapping[Any, Callable[[Any], Any]]] = {
    tuple: tuple,
    list: list,
    Sequence: tuple,
    frozenset: frozenset,
}


def read_declared(kind: type[T], table: StrictTable, **given: Any) -> T:
    """Read a table.

    Args:
        kind: a dataclass that declares it.
        table: as it was parsed.
        given: values of fields that do not stand in it; what has no field is left out.

    Raises:
        HintedError: of the table's class; a key is unknown or missing, or its value impossible.
    """
    unread = {each.name for each in fields_of(kind) if not each.key}
    values = _values(kind, table, {name: one for name, one in given.items() if name in unread})
    table.close()
    return _make(kind, values, table)


def schema_of(kind: type[Any], title: str) -> Document:
    """The JSON Schema (draft 2020-12) of a file that a dataclass declares.

    Args:
        kind: the dataclass.
        title: for people.
    """
    return {"$schema": DIALECT, "title": title, **Tables(kind).schema}


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables that a dataclass declares, or each one of several.

    Attributes:
        kind: the dataclass, or the several with what chooses among them.
    """

    kind: type[Any] | Variants

    def of(self, table: StrictTable, **given: Any) -> Any:
        """The value of the dataclass; arguments and errors as of `read_declared`."""
        if not isinstance(self.kind, Variants):
            return read_declared(self.kind, table, **given)
        table.variant = self.kind.choose(table)
        return read_declared(self.kind.kinds[table.variant], table, **given)

    @property
    def schema(self) -> Document:
        """An object with the keys of the fields and no other, or one of several kinds."""
        if not isinstance(self.kind, Variants):
            found, needed = self.empty(), list[str]()
            for each in fields_of(self.kind):
                each.describe(found["properties"], needed)
            return found | ({"required": needed} if needed else {})
        several = []
        for word, kind in self.kind.kinds.items():
            one = Tables(kind).schema
            if self.kind.key:
                one["properties"] = {**one["properties"], self.kind.key: {"const": word}}
                if word not in self.kind.without:
                    one["required"] = [self.kind.key, *one.get("required", ())]
            several.append(one)
        return {"anyOf": several}

    @staticmethod
    def empty() -> Document:
        """An object without keys, to which they are added."""
        return {"type": "object", "properties": {}, "additionalProperties": False}

    def alone(self) -> Shape:
        """One such table."""
        return Shape(lambda value, at: self.of(at.inner(value)), self.schema)

    def list_of(self, item: str, length: Length) -> Shape:
        """A list of them; a field `number` of the dataclass has the place of each from 1."""

        def read(value: Any, at: At) -> tuple[Any, ...]:
            wording = at.table.wording
            if not isinstance(value, list | tuple):
                raise at.wrong(*say(wording.tables, key=at.key))
            check_length(value, length, at)
            holes = {"place": at.table.place, "key": at.key, "word": item or at.key}
            places = [wording.item.format(number=n + 1, index=n, **holes) for n in range(len(value))]
            tables = [at.table.inner(one, place) for one, place in zip(value, places, strict=True)]
            return tuple(self.of(table, number=number) for number, table in enumerate(tables, 1))

        return Shape(read, {"type": "array", "items": self.schema, **length_schema(length)})

    def table_of(self, item: str, form: Matching | None, length: Length) -> Shape:
        """A table of them by name, which a field `name` of the dataclass has."""

        def read(value: Any, at: At) -> dict[str, Any]:
            found = {}
            holes = {"place": at.table.place, "key": at.key, "word": item or at.key}
            for name, one in at.inner(value).table.items():
                table = at.table.inner(one, at.table.wording.named.format(name=name, **holes))
                if form is not None and not form.pattern.fullmatch(name):
                    raise table.fail("its name", form.problem, form.hint)
                found[name] = self.of(table, name=name)
            if not found and length.minimum:
                raise at.wrong("is empty", f"Declare each as [{at.key}.NAME].")
            return found

        return Shape(read, {"type": "object", "additionalProperties": self.schema})


_ADD_VALUE: Final = "Add {key} = ..."
_ADD_TABLE: Final = "Add a table [{key}] with keys below."
_ADD_TABLES: Final = "Add tables, each below its own [[{key}]]."


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a declaration.

    Attributes:
        name: of the field.
        section: the table within this one that it stands in; "" for this one.
        key: in the table; "" where it does not stand there.
        shape: what may stand there; None for `Given`, `Inline` and `Unread`.
        mark: `Given`, `Inline`, `Unread` or `Wrong`; None for nothing of it.
        inner: the declaration of an `Inline`.
        is_needed: whether the key has to be there.
        default: for people; None where there is none to be said.
        meaning: the text of the docstring.
    """

    name: str
    section: str
    key: str
    shape: Shape | None
    mark: Any
    inner: type[Any] | None
    is_needed: bool
    default: Any
    meaning: str

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that it knows."""
        if self.inner is not None:
            return tuple(key for each in fields_of(self.inner) for key in each.keys)
        return (self.section or self.key,) if self.key else ()

    @property
    def hint(self) -> str:
        """How to write the key where it is missing."""
        schema = {} if self.shape is None else self.shape.schema
        if schema.get("type") == "object":
            return _ADD_TABLE
        return _ADD_TABLES if schema.get("items", {}).get("type") == "object" else _ADD_VALUE

    def describe(self, properties: Document, needed: list[str]) -> None:
        """Add its keys to a JSON Schema."""
        if self.inner is not None:
            inner = Tables(self.inner).schema
            properties |= inner["properties"]
            needed += [] if self.mark.when or self.mark.parser else inner.get("required", [])
        elif self.shape is not None:
            said = {"description": self.meaning} if self.meaning else {}
            default = str(self.default) if isinstance(self.default, Path) else self.default
            usual = {} if default is None else {"default": default}
            if self.section:
                within = properties.setdefault(self.section, Tables.empty())
                needed += [self.section] if self.is_needed and self.section not in needed else []
                properties, needed = within["properties"], within.setdefault("required", [])
            properties[self.key] = {**self.shape.schema, **said, **usual}
            if self.is_needed:
                needed.append(self.key)


def fields_of(kind: Any) -> tuple[Field, ...]:
    """The fields of a declaration, with what may stand there."""
    return _fields(kind)


@cache
def _fields(kind: Any) -> tuple[Field, ...]:
    hints, meanings = get_type_hints(kind, include_extras=True), _meanings(kind)
    return tuple(
        _field(each, hints[each.name], meanings.get(each.name, ""))
        for each in dataclasses.fields(kind)
        if each.init
    )


def _field(each: dataclasses.Field[Any], hint: Any, meaning: str) -> Field:
    bare, marks = _unwrap(hint)
    needed = each.default is MISSING and each.default_factory is MISSING
    aside = mark_of(marks, Given) or mark_of(marks, Unread) or mark_of(marks, Inline)
    if aside is not None:
        inner = bare if isinstance(aside, Inline) else None
        return Field(each.name, "", "", None, aside, inner, needed, None, meaning)
    key = mark_of(marks, Key)
    section, _, own = (key.name if key else each.name).rpartition(".")
    plain = each.default if isinstance(each.default, str | int | float) and each.default != "" else None
    default = plain.value if isinstance(plain, Enum) else plain
    shape, said = shape_of(hint), mark_of(marks, Wrong)
    usual = each.default if isinstance(each.default, Path) else default
    return Field(each.name, section, own, shape, said, None, needed, usual, meaning)


def _values(kind: type[Any], table: StrictTable, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the fields that stand in a table, and those that are given."""
    fields = fields_of(kind)
    table.expect(key for each in fields for key in each.keys)
    sections = {each.section: _section(each.section, table, fields) for each in fields}
    values = dict(given)
    for each in sorted(fields, key=lambda one: one.inner is None):  # others may go by what stands inline
        if each.name in given:
            continue
        match each.mark:
            case Unread():
                pass
            case Given(key):
                values[each.name] = key in table.table
            case Inline(when, parser):
                if not when or when in table.table:
                    values[each.name] = parser(table) if parser else _inline(each.inner, table)
            case said:
                within = sections[each.section]
                if each.key in within.table and each.shape is not None:
                    at = At(within, each.key, said)
                    values[each.name] = each.shape.read(within.table[each.key], at)
                elif each.is_needed:
                    whole = not each.section or each.section in table.table
                    missed = within.missing(each.key, each.hint) if whole else None
                    raise missed or table.missing(each.section, _ADD_TABLE)
                elif isinstance(each.default, Path):
                    values[each.name] = table.folder / each.default
    for within in sections.values():
        if within is not table:
            within.close()
    return values


def _section(name: str, table: StrictTable, fields: Sequence[Field]) -> StrictTable:
    """A table within another whose keys are fields of the same declaration; empty if it is not there."""
    if not name:
        return table
    within = At(table, name).inner(table.table.get(name, {}))
    within.expect(each.key for each in fields if each.section == name)
    return within


def _inline(kind: type[Any] | None, table: StrictTable) -> Any:
    return None if kind is None else _make(kind, _values(kind, table, {}), table)


def _make(kind: type[T], values: Mapping[str, Any], table: StrictTable) -> T:
    try:
        return kind(**values)
    except UnfitError as problem:
        within = table.inner({}, f"{table.place}, {problem.within}") if problem.within else table
        raise within.fail(problem.key, problem.problem, problem.hint) from None
    except HintedError as problem:
        if problem.what.startswith(table.place):
            raise
        raise type(problem)(f"{table.place}: {problem.what}", problem.hint) from None


def mark_of(marks: Sequence[Any], kind: type[M]) -> M | None:
    """The mark of a kind among some."""
    return next((mark for mark in marks if isinstance(mark, kind)), None)


def _unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without `None` and annotations, and the marks in these."""
    if get_origin(hint) is Annotated:
        kind, marks = _unwrap(get_args(hint)[0])
        return kind, (*get_args(hint)[1:], *marks)
    if get_origin(hint) in (Union, UnionType):
        others = [one for one in get_args(hint) if one is not NoneType]
        return _unwrap(others[0]) if len(others) == 1 else (hint, ())
    return hint, ()


def shape_of(hint: Any, outer: tuple[Any, ...] = ()) -> Shape:
    """What may stand for a value of an annotated type.

    Args:
        hint: the type.
        outer: marks of the list that it stands in.
    """
    kind, marks = _unwrap(hint)
    marks = (*marks, *outer)
    parse = mark_of(marks, Read) or mark_of(marks, Parse)
    if parse is not None:
        return shapes.parse_by(parse)
    origin, inner = get_origin(kind), get_args(kind)
    tables = _tables_of(inner[-1 if origin is Mapping else 0] if inner else kind, marks)
    if tables is not None:
        item, length = mark_of(marks, Item) or Item(""), mark_of(marks, Length) or Length()
        if origin is Mapping:
            return tables.table_of(item.name, mark_of(marks, Matching), length)
        return tables.list_of(item.name, length) if origin in _SEQUENCES else tables.alone()
    if origin is Mapping:
        return shapes.by_name(shape_of(inner[1]), mark_of(marks, Matching))
    return _listing(origin, inner[0], marks) if origin in _SEQUENCES else _single(kind, marks)


def _listing(origin: Any, inner: Any, marks: Sequence[Any]) -> Shape:
    passed = tuple(mark for mark in marks if isinstance(mark, Between | Matching | OneOf | Terms))
    length = mark_of(marks, Length) or Length()
    may_repeat, may_be_single = (mark_of(marks, one) is not None for one in (Repeated, Single))
    return shapes.listing(
        shape_of(inner, passed),
        _SEQUENCES[origin],
        length,
        may_repeat=may_repeat,
        may_be_single=may_be_single,
    )


def _tables_of(kind: Any, marks: Sequence[Any]) -> Tables | None:
    variants = mark_of(marks, Variants)
    if variants is not None:
        return Tables(variants)
    bare = _unwrap(kind)[0]
    return Tables(bare) if dataclasses.is_dataclass(bare) and isinstance(bare, type) else None


def _single(kind: Any, marks: Sequence[Any]) -> Shape:
    known, bounds = mark_of(marks, OneOf), mark_of(marks, Between)
    if get_origin(kind) is Literal:
        return shapes.text(None, OneOf(get_args(kind)), None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return shapes.word(kind, known.hint if known else "")
    makers: Mapping[Any, Callable[[], Shape]] = {
        Any: lambda: shapes.ANYTHING,
        str: lambda: shapes.text(mark_of(marks, Matching), known, mark_of(marks, Length)),
        Path: shapes.path,
        bool: shapes.flag,
        int: lambda: shapes.number(int, bounds),
        float: lambda: shapes.number(float, bounds),
        Fraction: lambda: shapes.exact(
            bounds, mark_of(marks, Terms), may_be_power=mark_of(marks, Powers) is not None
        ),
        date: shapes.day,
    }
    return makers[kind]()


def _meanings(kind: type[Any]) -> dict[str, str]:
    """What the docstring says of each field, below `Attributes:`."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        text = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        section = re.search(r"^Attributes:\n((?:[ \t].*\n?|\n)+)", text, re.MULTILINE)
        if section:
            entries = re.findall(r"^    (\w+): ((?:.*\n?)(?:^        .*\n?)*)", section[1], re.MULTILINE)
            found |= {name: " ".join(meaning.split()) for name, meaning in entries}
    return found
