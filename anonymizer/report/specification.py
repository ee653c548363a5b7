"""A specification as a report shows it: whole, but for values that only few rows have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import tomli_w

from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.schema.documents import key_of
from anonymizer.tables.table import Table

MIN_ROWS: Final = 5
"""No value of fewer rows than this is in a report."""
MOST_VALUES: Final = 200
"""So many values of a hierarchy are shown at most."""


def show_specification(document: Mapping[str, Any], original: Table) -> tuple[str, tuple[str, ...]]:
    """The specification as TOML, and what was left out of it.

    Hierarchies and categories list the values of a column. Those that fewer than `MIN_ROWS` rows have, or
    none, are left out, all of them in columns without a role: a report names no cell of a single person.

    Args:
        document: the specification as plain values, hierarchies from files as rows.
        original: that it is for, with roles.

    Returns:
        The text, and a sentence for each list that is not whole.
    """
    left: list[str] = []
    whole = dict(document)
    for section, key in (("hierarchies", "rows"), ("columns", "categories")):
        if section in whole:
            whole[section] = {
                column: _entries(column, given, key, original, left)
                for column, given in whole[section].items()
            }
    return toml_text(whole), tuple(left)


def toml_text(document: Mapping[str, Any]) -> str:
    """A specification as TOML that is short on paper: lists, and rows of hierarchies, on a line each."""
    parts = ["".join(_line(key, one) for key, one in document.items() if not _is_table(one))]
    for key, one in document.items():
        if isinstance(one, list) and _is_table(one):
            parts += [
                f"[[{key_of(key)}]]\n" + "".join(_line(*entry) for entry in step.items()) for step in one
            ]
        elif _is_table(one):
            parts.append(f"[{key_of(key)}]\n" + "".join(_line(*entry) for entry in one.items()))
    return "\n".join(filter(None, parts))


def _is_table(value: Any) -> bool:
    """Whether a value of the document is a table, or a list of such."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, Mapping) for one in value)
    return isinstance(value, Mapping)


def _line(key: str, value: Any) -> str:
    return f"{key_of(key)} = {_inline(value)}\n"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_line(*entry).rstrip("\n") for entry in value.items()) + " }"
    if isinstance(value, list) and any(isinstance(one, list) for one in value):
        return "[\n" + "".join(f"    {_inline(one)},\n" for one in value) + "]"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").removesuffix("\n")


def _entries(
    column: str, given: Mapping[str, Any], key: str, original: Table, left: list[str]
) -> Mapping[str, Any]:
    """What is declared of a column, without rare values; says in `left` how many are missing."""
    if key not in given:
        return given
    common = set(_common(column, original))
    values = [one for one in given[key] if (one[0] if isinstance(one, list) else one) in common]
    values = values[:MOST_VALUES]
    if len(values) < len(given[key]):
        left.append(
            f"{len(given[key]) - len(values):,} of {len(given[key]):,} values of {column} are not shown: "
            f"they are of fewer than {MIN_ROWS} rows, or too many."
        )
    return {**given, key: values}


def _common(column: str, original: Table) -> Iterator[str]:
    roles = original.roles
    if column not in (*roles.quasi_identifiers, *roles.sensitive) or column not in original.names:
        return
    codes = original.codes(column)
    counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.values))
    for value, count in zip(codes.values.tolist(), counts.tolist(), strict=True):
        if count >= MIN_ROWS:
            yield text_of(value)
