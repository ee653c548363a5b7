"""The columns of a data set as rows of a form: what a person says of each, and what is shown again.

A field of bounds or labels is named after the type of its column, so that what was typed for one type is not
taken for another. Each row sends back what it showed, so that nobody confirms what they have not seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commons.tabular.cells import above_in, limit_in
from parties.catalog.columns.columns import ColumnDeclaration, differing_in_case
from parties.catalog.drafting.confirming import entries, is_bound, proposal
from parties.catalog.drafting.drafting import Choices, ColumnDraft, Draft
from parties.errors import ConfigError

TYPES: Final = ("integer", "decimal", "category", "date", "text")
"""Types of columns that a form can declare."""

BETWEEN: Final = ";"
"""Between tokens of missing cells in a field."""

READ: Final = "read:"
"""Before the name of a field that says how a file is read: what it said when that was read which is shown."""

_EXAMPLES: Final = {
    "integer": "a whole number, such as 120",
    "decimal": "a number, such as 20.25, without a sign between thousands",
    "date": "a day, such as 2030-12-31",
}
"""What a bound of a type looks like, for somebody who typed something else."""

Fields = Mapping[str, list[str]]
"""A form as it was sent: all values by name."""


@dataclass(frozen=True, slots=True)
class Row:
    """A column in a form.

    Attributes:
        name: of the column.
        draft: what was found of it.
        found: the type that was found without being asked.
        is_kept: whether it is declared.
        values: by name of a field (`lower` and `upper`, or `values`), what stands in it.
        stands: whether the person has confirmed what is proposed.
        missing: what a missing cell holds, as typed.
        shows: what the row shows of the data, which is sent back.
        was_seen: whether the person has seen the row, or has declared the column before.
        news: what has changed since the person saw the row; empty if nothing.
        error: what is wrong with what was typed; empty if nothing.
        wrong: the fields that it is about: `type`, or names of `values`.
    """

    name: str
    draft: ColumnDraft
    found: str
    is_kept: bool
    values: Mapping[str, str]
    stands: bool
    missing: str
    shows: str
    was_seen: bool
    news: str = ""
    error: str = ""
    wrong: tuple[str, ...] = ()

    @property
    def column(self) -> ColumnDeclaration:
        """The column as it would be declared."""
        return self.draft.column

    @property
    def field(self) -> str:
        """The end of the names of its fields of bounds and labels."""
        return f"{self.column.type}:{self.name}"

    @property
    def typed_entries(self) -> dict[str, Any]:
        """The entries of the catalog for bounds or labels that the person has typed."""
        return entries(self.name, self.column.type, self.given)

    @property
    def given(self) -> str:
        """Bounds or labels where the person has typed others than proposed, as `confirming` reads them."""
        typed = ":".join(value.strip() for value in self.values.values())
        return typed if self.values and typed != proposal(self.column) else ""


def choices_in(sent: Fields, mistaken: Iterable[str] = ()) -> Choices:
    """What a form says of columns; nothing, before one was shown.

    Args:
        sent: the form.
        mistaken: columns whose cells cannot be read as was chosen, of which nothing is taken.
    """
    columns = sent.get("column", [])
    read = [name for name in columns if name not in mistaken]
    below, above = ({name: _last(sent, f"{side}:{name}") for name in read} for side in ("below", "above"))
    return Choices(
        types={
            name: _last(sent, f"type:{name}")
            for name in columns
            if name not in mistaken
            and _last(sent, f"type:{name}") in TYPES
            and _last(sent, f"type:{name}") != _last(sent, f"found:{name}")
        },
        tokens={
            name: _tokens(sent, name, below[name], above[name]) for name in read if f"missing:{name}" in sent
        },
        below_limit=below,
        above_limit=above,
        units={
            name: _last(sent, f"unit:{name}")
            for name in columns
            if f"unit:{name}" in sent
            and (f"unit-found:{name}" not in sent or sent[f"unit-found:{name}"] != sent[f"unit:{name}"])
        },
        joined=[name for name in read if f"case:{name}" in sent],
    )


def rows_of(
    found: Draft, sent: Fields, mistaken: Mapping[str, str], is_decoded_anew: bool = False
) -> list[Row]:
    """The rows of a form about a draft.

    Args:
        found: the draft.
        sent: the form as it was sent before, whose entries stay; empty for a first look.
        mistaken: by column, why its type cannot be what was chosen.
        is_decoded_anew: whether the form was sent about another encoding, by which other names may be read:
            a tick that was proposed follows what is proposed now.
    """
    is_shown_before = any(name.startswith("was:") for name in sent)
    rows = []
    for name, one in found.columns.items():
        is_new = is_shown_before and name not in sent["column"]
        row = _row(name, one, sent, mistaken.get(name, ""), is_new=is_new)
        if is_new:
            row = replace(row, news=f"A column that was not there before. {_news('new', one)}")
        elif (
            is_decoded_anew and row.is_kept and not one.is_chosen and _was_chosen(_last(sent, f"was:{name}"))
        ):
            row = replace(row, is_kept=False, news="No longer ticked: it names persons or holds free text.")
        elif not row.is_kept:
            row = replace(row, news="")
        rows.append(row)
    return rows


def decode_anew(sent: Fields, old: str, new: str) -> dict[str, list[str]]:
    """A form about a file that was read in one encoding, as if it had been read in another.

    What stands in it of the file, names of columns as well, becomes what the same bytes are in the other
    one. What the first cannot have come from (a person has typed it) stays.
    """

    def decode(text: str) -> str:
        try:
            return text.encode(old).decode(new)
        except (UnicodeError, LookupError):
            return text

    asked = {"encoding", "name", "file", "edit", "population"}
    return {
        decode(name): list(values)
        if name.removeprefix(READ) in asked
        else [decode(value) for value in values]
        for name, values in sent.items()
    }


def is_shown(column: ColumnDeclaration) -> bool:
    """Whether a form can show a column as it is declared."""
    return column.type in TYPES


def form_of(columns: Iterable[ColumnDeclaration]) -> dict[str, list[str]]:
    """The fields of a form that would declare columns as they are declared."""
    found: dict[str, list[str]] = {"column": [], "keep": []}
    for column in columns:
        if not is_shown(column) or column.constant is not None:
            continue
        found["column"].append(column.name)
        found["keep"].append(column.name)
        found[f"type:{column.name}"] = [column.type]
        found[f"found:{column.name}"] = [""]  # what is declared is chosen, whatever the file looks like
        found[f"missing:{column.name}"] = [_join(column.tokens)]
        found[f"unit:{column.name}"] = [column.schema.unit]
        found[f"below:{column.name}"] = [column.writing.below_limit]
        found[f"above:{column.name}"] = [column.writing.above_limit]
        field = f"{column.type}:{column.name}"
        found |= {f"{part}:{field}": [value] for part, value in _propose(column).items()}
        if column.is_confirmed:
            found[f"stands:{field}"] = ["on"]
        if column.ignores_case:
            found[f"case:{column.name}"] = ["on"]
    return found


def _row(name: str, one: ColumnDraft, sent: Fields, mistake: str, *, is_new: bool) -> Row:
    column = one.column
    field = f"{column.type}:{name}"
    values = {part: _last(sent, f"{part}:{field}", value) for part, value in _propose(column).items()}
    missing, shows = _join(column.tokens), _state_of(one)
    was = _last(sent, f"was:{name}")
    is_known = name in sent.get("column", [])
    row = Row(
        name=name,
        draft=one,
        found=_last(sent, f"found:{name}", column.type) if is_known else column.type,
        is_kept=name in sent.get("keep", [])
        if is_known
        else one.is_chosen and (is_new or "column" not in sent),
        values=_follow(values, was, column),
        stands=f"stands:{field}" in sent,
        missing=missing,
        shows=shows,
        was_seen=bool(was),
    )
    problem, wrong = (mistake, ("type",)) if mistake else _fault(row)
    news = "" if was == shows or (row.given and _parse_state(was)[0] == column.type) else _news(was, one)
    return replace(row, news=news, error=problem, wrong=wrong)


def _follow(values: dict[str, str], was: str, column: ColumnDeclaration) -> dict[str, str]:
    """What was proposed and left as it was follows a proposal that has changed; what was typed stays."""
    return _propose(column) if _parse_state(was) == (column.type, ":".join(values.values())) else values


def _propose(column: ColumnDeclaration) -> dict[str, str]:
    if column.type == "text":
        return {}
    if column.type == "category":
        return {"values": proposal(column)}
    lower, _, upper = proposal(column).partition(":")
    return {"lower": lower, "upper": upper}


def _state_of(one: ColumnDraft) -> str:
    column = one.column
    bounds = "" if column.type == "text" else proposal(column)
    limits = [column.writing.below_limit, column.writing.above_limit]
    shown = [column.type, bounds, one.seen, _join(column.tokens), *limits, "chosen" if one.is_chosen else ""]
    return json.dumps(shown, ensure_ascii=False)  # as it is, so that it can be decoded anew


def _was_chosen(shown: str) -> bool:
    """Whether the tick of a row was proposed, by what it has shown."""
    return shown.endswith(' "chosen"]')


def _parse_state(shown: str) -> tuple[str, str]:
    """Type and proposal that a row has shown; empty ones where a browser sends something else."""
    try:
        kind, bounds, *_ = map(str, json.loads(shown))
    except (ValueError, TypeError):
        return "", ""
    return kind, bounds


def _news(was: str, one: ColumnDraft) -> str:
    if not was:
        return ""
    said = [f"read as {one.column.type}"]
    said += [f"the data hold {one.seen}"] if one.seen else []
    said += [f"missing: {_join(one.column.tokens)}"] if one.column.tokens else []
    return f"Now {', '.join(said)}."


def _fault(row: Row) -> tuple[str, tuple[str, ...]]:
    """What is wrong with the bounds or labels of a row that is kept, and in which fields."""
    if not row.is_kept or not row.given:
        return "", ()
    fields, kind = tuple(row.values), row.column.type
    if kind in _EXAMPLES:
        wrong = [part for part, value in row.values.items() if not is_bound(kind, value)]
        if wrong:
            said = " and ".join(repr(row.values[part]) for part in wrong)
            verb = "are no valid bounds" if len(wrong) > 1 else "is not a valid bound"
            return f"{said} {verb} of type {kind}. Write {_EXAMPLES[kind]}.", tuple(wrong)
    try:
        found = entries(row.name, kind, row.given)
    except ConfigError as error:
        return f"{error.what} {error.hint}", fields
    alike = differing_in_case(found.get("values", ())) if row.column.ignores_case else []
    return (f"{', '.join(alike[0])} differ in case only. Keep one of them.", fields) if alike else ("", ())


def _tokens(sent: Fields, name: str, below: str, above: str) -> list[str]:
    def is_read(one: str) -> bool:
        return bool((below and limit_in(one) is not None) or (above and above_in(one) is not None))

    typed = [one.strip() for one in _last(sent, f"missing:{name}").split(BETWEEN)]
    ticked = sent.get(f"code:{name}", [])
    return [one for one in dict.fromkeys([*typed, *ticked]) if one and not is_read(one)]


def _join(tokens: Iterable[str]) -> str:
    return f"{BETWEEN} ".join(tokens)


def _last(sent: Fields, name: str, default: str = "") -> str:
    values = sent.get(name)
    return values[-1] if values else default
