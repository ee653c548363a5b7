"""Bounds and labels that a person stands for, written into the text of a catalog; all else stays as it is."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from commons.errors import near
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.drafting.drafting import number
from parties.errors import ConfigError

_EPOCH: Final = date(1970, 1, 1)
_THOUSANDS: Final = 3
"""Digits behind a sign that may stand between thousands."""


def proposal(column: ColumnDeclaration) -> str:
    """What a column declares, as a person would type it: `0:120`, or its labels with commas between them.

    A label with a comma or quotation marks stands in quotation marks, as in a CSV file.
    """
    schema = column.schema
    if column.type == "category":
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(schema.categories)
        return line.getvalue()
    bounds = (schema.lower or 0, schema.upper or 0)
    if column.type == "date":
        return ":".join(str(_EPOCH + timedelta(days)) for days in bounds)
    return ":".join(number(held, schema.scale) for held in bounds)


def confirm(text: str, name: str, given: Mapping[str, str], columns: Sequence[str]) -> str:
    """A catalog in which a person stands for bounds and labels of a data set.

    Args:
        text: of the catalog.
        name: of the data set.
        given: by column, bounds as `0:120` or labels as `no,yes`, which replace those of the catalog.
        columns: whose bounds and labels are confirmed as they stand.

    Raises:
        ConfigError: the data set or a column is not there, or what is given does not fit its type.
    """
    try:
        document: Any = tomlkit.parse(text)
    except TOMLKitError as problem:
        raise ConfigError(f"The catalog is not valid TOML: {problem}.", "Correct the line.") from None
    declared = document.get("datasets", {}).get(name)
    if declared is None:
        known = list(document.get("datasets", {}))
        raise ConfigError(f"The catalog has no data set {name!r}.", near(name, known))
    for column in dict.fromkeys([*given, *columns]):
        table = declared["columns"].get(column)
        if table is None:
            raise ConfigError(
                f"Data set {name!r} declares no column {column!r}.", near(column, list(declared["columns"]))
            )
        if column in given:
            for key, value in entries(column, str(table["type"]), given[column]).items():
                table[key] = value
        table.pop("confirmed", None)
    return str(tomlkit.dumps(document))


def entries(column: str, kind: str, given: str) -> dict[str, Any]:
    """The entries of the catalog for bounds or labels as a person types them.

    Args:
        column: its name.
        kind: its type.
        given: such as `0:120` or `no,yes`.

    Raises:
        ConfigError: they do not fit the type.
    """
    if kind == "category":
        return {"values": _labels(column, given)}
    lower, colon, upper = given.partition(":")
    if kind == "decimal":
        lower, upper = map(_to_point, (lower, upper))
    try:
        if not colon:
            raise ValueError
        found = {"lower": _READ[kind](lower.strip()), "upper": _READ[kind](upper.strip())}
        if found["lower"] > found["upper"]:
            raise ConfigError(
                f"The bounds of column {column!r} are reversed: {lower.strip()} is above {upper.strip()}.",
                f"Write the lowest value first: {upper.strip()} to {lower.strip()}.",
            )
        return {key: str(value) if kind == "decimal" else value for key, value in found.items()}
    except KeyError:
        raise ConfigError(
            f"Column {column!r} is of type {kind!r}, which has neither bounds nor labels.", "Leave it out."
        ) from None
    except ValueError:
        form = {"integer": "0:120", "decimal": "0.5:20.25", "date": "1900-01-01:2030-12-31"}[kind]
        raise ConfigError(
            f"{given!r} does not give bounds of column {column!r}, whose type is {kind!r}.",
            f"Write {column}={form}, say.",
        ) from None


def _labels(column: str, given: str) -> list[str]:
    try:
        rows = [*csv.reader([given], skipinitialspace=True, strict=True)]
    except csv.Error:
        raise ConfigError(
            f"The quotation marks in the labels of column {column!r} do not close.",
            'Put a label with a comma in quotation marks, and double those in it: no,"yes, once".',
        ) from None
    return [label.strip() for label in rows[0]] if rows and rows[0] else [""]


def is_bound(kind: str, text: str) -> bool:
    """Whether a text is a bound of a column of a type, as a person types it."""
    try:
        _READ[kind](_to_point(text.strip()) if kind == "decimal" else text.strip())
    except ValueError:
        return False
    return True


def _to_point(text: str) -> str:
    """A bound with a decimal comma as one with a point; `1,000` may be a thousand, and stays as it is."""
    found = re.fullmatch(r"(\s*[+-]?)([0-9]+),([0-9]+)(\s*)", text)
    is_clear = found is not None and (len(found[3]) != _THOUSANDS or not int(found[2]))
    return f"{found[1]}{found[2]}.{found[3]}{found[4]}" if found is not None and is_clear else text


def _decimal(text: str) -> Decimal:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?", text):
        raise ValueError
    return Decimal(text)


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "integer": int,
    "decimal": _decimal,
    "date": date.fromisoformat,
}
"""How bounds are read, by the type of the column."""
