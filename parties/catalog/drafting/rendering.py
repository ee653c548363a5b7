"""The draft of a data set as text for the catalog, with comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

import tomlkit

from commons.tabular.dialect import Writing
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import toml_key
from parties.catalog.drafting.drafting import ColumnDraft, Draft, number
from parties.texts import is_plain

_EPOCH: Final = date(1970, 1, 1)


def text_of(found: Draft, source: Mapping[str, Any]) -> str:
    """The entry of the catalog, with comments.

    Args:
        found: the draft.
        source: the entries that say where the data are, such as `source = "a.csv"`.
    """
    dataset = found.dataset
    shared = _shared(found)
    entries = {**source, **replace(dataset.dialect, writing=shared).entries()}
    for key, names in (("key", found.key), ("person", found.person)):
        if names:
            entries[key] = names[0] if len(names) == 1 else list(names)
    if dataset.population != dataset.name:
        entries["population"] = dataset.population
    lines = [f"# Drafted by duetto data add from {found.rows} rows.", f"[datasets.{toml_key(dataset.name)}]"]
    lines += [f"{key} = {_toml(value)}" for key, value in entries.items()]
    if not found.person and not found.key:
        lines.append('# Each row counts as another person; if not, write person = "COLUMN".')
    elif not found.person:
        lines.append(f"# Each row counts as another person, told apart by {', '.join(found.key)}.")
    if found.doubt:
        lines.append(f"# WARNING: {found.doubt}")
    if found.total:
        lines.append(
            f"# The last row begins with {found.total!r}: leave it out, by footer = {_toml(found.total)}, "
            "if it adds up others."
        )
    for name, reason in found.left_out.items():
        lines.append(f"# Not declared: {name if is_plain(name) else repr(name)}: {reason}.")
    for name, one in found.columns.items():
        lines += ["", f"[{dataset.entry(name)}]", *_column_lines(one, shared)]
    return "\n".join(lines) + "\n"


def _shared(found: Draft) -> Writing:
    """How numbers and dates are written in most columns that leave a choice."""
    kinds = [one.column for one in found.columns.values()]
    numbers = Counter(
        (column.writing.decimal, column.writing.thousands) for column in kinds if column.type == "decimal"
    )
    dates = Counter(column.writing.date_format for column in kinds if column.type == "date")
    decimal = numbers.most_common(1)[0][0][0] if numbers else "."
    thousands = next((gap for point, gap in numbers if point == decimal and gap), "")
    return Writing(decimal, thousands, dates.most_common(1)[0][0] if dates else "")


def _written(way: Writing, beside: Writing) -> dict[str, Any]:
    keys = ("decimal", "thousands", "date_format")
    return {key: getattr(way, key) for key in keys if getattr(way, key) != getattr(beside, key)}


def _column_lines(one: ColumnDraft, shared: Writing) -> list[str]:
    column = one.column
    entries = column_entries(column, shared)
    lines = [f"{key} = {_toml(value)}" for key, value in entries.items()]
    lines += [f"# {one.note}"] if one.note else []
    lines += [f"# Or is {other} meant? Both read all cells." for other in one.others]
    lines += [
        f"# {', '.join(map(_toml, alike))} differ in case only: ignore_case = true makes them one label."
        for alike in one.alike
    ]
    if not column.is_confirmed:
        seen = "labels are from the data" if column.type == "category" else f"the data hold {one.seen}"
        lines.append(f"confirmed = false  # {seen}; confirm what is known without them")
    return lines


def column_entries(column: ColumnDeclaration, shared: Writing) -> dict[str, Any]:
    """The entries of the catalog for a column.

    Args:
        column: what is declared of it.
        shared: how the data set says that numbers and dates are written.
    """
    schema = column.schema
    entries: dict[str, Any] = {"type": column.type}
    if column.type == "decimal":
        entries["scale"] = schema.scale
    if column.type == "category":
        entries["values"] = list(schema.categories)
        entries |= {"ignore_case": True} if column.ignores_case else {}
    elif column.type == "date":
        for key, days in (("lower", schema.lower), ("upper", schema.upper)):
            entries[key] = _EPOCH + timedelta(days or 0)
        entries |= _written(column.writing, replace(shared, decimal=".", thousands=""))
    elif column.type in ("integer", "decimal"):
        for key, held in (("lower", schema.lower), ("upper", schema.upper)):
            value = number(held or 0, schema.scale)
            entries[key] = int(value) if column.type == "integer" else value
        entries |= _own_numbers(column, shared)
    elif column.maximum_length != 200:
        entries["maximum_length"] = column.maximum_length
    if schema.unit and column.type in ("integer", "decimal"):
        entries["unit"] = schema.unit
    said = {key: getattr(column.writing, key) for key in ("prefix", "suffix", "below_limit", "above_limit")}
    entries |= {key: value for key, value in said.items() if value}
    if column.tokens:
        entries["missing_tokens"] = list(column.tokens)
    if column.missing == "drop":
        entries["missing"] = "drop"
    elif column.missing == "impute":
        entries["impute"] = column.imputed
    return entries


def _own_numbers(column: ColumnDeclaration, shared: Writing) -> dict[str, Any]:
    """How a column writes its numbers, where the data set does not say so already."""
    way = column.writing
    same_point = way.decimal == shared.decimal or column.type == "integer"
    if same_point and way.thousands in ("", shared.thousands):
        return {}
    return _written(way, replace(shared, date_format=way.date_format))


def _toml(value: Any) -> str:
    text: str = tomlkit.item(value).as_string()
    return text
