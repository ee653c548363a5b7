"""What the cells of a column look like: the declaration that would read all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from commons.tabular.cells import MISSING_TOKENS, above_in, limit_in, lost_by_limits
from commons.tabular.column_names import direct, is_called
from commons.tabular.dialect import ISO, Writing
from commons.tabular.eastern import ERA_YEAR
from commons.tabular.units import bare, prefix_of, suffix_of
from parties.catalog.columns.cells import CONTROL, is_missing
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.hints import TIMES, date_formats, has_short_year, looks_like_code, writings
from parties.texts import is_plain
from smc.analyses.studies.columns import DAYS, Schema

MAX_LABELS: Final = 20
"""A column with more different texts is one of texts, not of labels."""

_CODES: Final = ("identifier", "account", "street", "postcode", "phone", "code")
"""Kinds of columns whose numbers nobody adds up."""
_PERSONAL: Final = ("person",)
"""Kinds, besides those that name persons, whose cells are never labels: the peer would see them."""
_DAYS: Final = ("date", "birth_date")
_WIDE: Final = 10**17
"""Bounds while the real ones are being looked for; they fit 63 bits."""
_LABEL: Final = 40
_PLAIN: Final = Writing()
_MAX_ODD: Final = 3
_ODD_SHARE: Final = 0.05
_WORD_SHARE: Final = 0.25
"""The share of a column that up to `_MAX_ODD` different texts may have which do not fit, and words without
digits."""
_MAX_SCALE: Final = 9
_TOO_LONG: Final = (
    "its numbers have more than 15 digits before the point or 9 after it: round them, or, of codes, say "
    "--type COLUMN=text"
)


@dataclass(frozen=True, slots=True)
class Inference:
    """How a column would be declared.

    Attributes:
        column: with wide bounds where it has numbers or dates.
        others: other ways to read it, such as `date_format = "%m/%d/%Y"`; a person has to say which is meant.
        reason: why it cannot be declared; then `column` is one of texts.
        note: what a person should know.
    """

    column: ColumnDeclaration
    others: tuple[str, ...] = ()
    reason: str = ""
    note: str = ""


def is_code(name: str) -> bool:
    """Whether the name of a column is that of numbers that nobody adds up, such as card numbers."""
    return is_called(name, *_CODES)


def is_personal(name: str) -> bool:
    """Whether a column is called like one of persons, whose cells the peer must not see as labels."""
    return direct(name) is not None or is_called(name, *_PERSONAL)


def infer(
    name: str,
    cells: Mapping[Any, int],
    *,
    likely: Writing = _PLAIN,
    wanted: str = "",
    tokens: Sequence[str] | None = None,
    below_limit: str = "",
    above_limit: str = "",
    ignores_case: bool = False,
) -> Inference:
    """How a column of these cells would be declared.

    Args:
        name: of the column.
        cells: how often each comes.
        likely: what is meant where cells can be read in several ways.
        wanted: the type that a person has chosen; empty leaves it to the cells.
        tokens: what a person says that a missing cell holds; None leaves it to the cells.
        below_limit: what a person says that a cell such as `<0.2` is read as, one of `BELOW_LIMIT`; empty for
            a missing one.
        above_limit: the same of a cell such as `>200`, one of `ABOVE_LIMIT`.
        ignores_case: whether a person says that labels which differ in case only are one.
    """
    held: Counter[Any] = Counter()
    for cell, count in cells.items():
        if cell is not None and not (isinstance(cell, str) and not cell.strip()):
            held[cell.strip() if isinstance(cell, str) else cell] += count
    if tokens is None:
        found = tuple(sorted(cell for cell in held if isinstance(cell, str) and cell in MISSING_TOKENS))
    else:
        found = tuple(dict.fromkeys(tokens))
    there = [cell for cell in held if not is_missing(cell, found)]
    missing = "drop" if sum(held.values()) < sum(cells.values()) or found else "error"
    writing = Writing(missing_tokens=found, below_limit=below_limit, above_limit=above_limit)
    text = ColumnDeclaration(name, "text", Schema("text"), missing, writing)
    odd = _MAX_ODD if tokens is None else 0
    if not there:
        return Inference(text, reason="no cell holds anything")
    if (native := _native(text, there)) is not None:
        return native
    texts = [_text(cell) for cell in there]
    counted = frozenset(_text(cell) for cell in there if not isinstance(cell, str))
    weights = dict(zip(texts, (held[cell] for cell in there), strict=True))
    of_type = {
        "date": lambda: _dates(text, weights, likely, odd, is_wanted=wanted == "date"),
        "integer": lambda: _numbers(text, weights, likely, odd, counted),
        "decimal": lambda: _numbers(text, weights, likely, odd, counted),
        "category": lambda: _labels(text, weights, MAX_LABELS, ignores_case),
    }
    short = (
        "Years of two digits are no dates: write four in the source."
        if all(map(has_short_year, texts))
        else ""
    )
    long = Inference(replace(text, maximum_length=max(200, 2 * max(map(len, texts)))), note=short)
    if wanted in of_type:
        chosen = of_type[wanted]()
        if chosen is not None and (wanted, chosen.column.type) == ("integer", "decimal"):
            chosen = None
        return chosen or Inference(text, reason=f"its cells do not read as {wanted}")
    if wanted:
        return (
            long if wanted == "text" else Inference(text, reason=f"type {wanted} has to be written by hand")
        )
    if is_code(name) or any(map(looks_like_code, weights)):
        return of_type["date"]() or long
    few = 0 if short or is_personal(name) else min(MAX_LABELS, sum(weights.values()) // 2)
    return of_type["date"]() or of_type["integer"]() or _labels(text, weights, few, ignores_case) or long


def _native(text: ColumnDeclaration, cells: Sequence[Any]) -> Inference | None:
    """What the types of cells say, where these are not texts and numbers."""
    if all(isinstance(cell, bool) for cell in cells):
        return Inference(_category(text, ["false", "true"]))
    if any(isinstance(cell, datetime) and cell.tzinfo for cell in cells):
        return Inference(
            text,
            reason="it holds times of a time zone; take the day (in SQL by CAST(x AS date)) if that is meant",
        )
    if all(isinstance(cell, date) for cell in cells):
        has_times = any(isinstance(cell, datetime) and cell.time() != time() for cell in cells)
        return Inference(_date(text, TIMES if has_times else ""))
    if not all(isinstance(cell, str | int | float | Decimal | date) for cell in cells):
        return Inference(text, reason="it holds neither numbers, texts nor dates")
    return None


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return format(Decimal(repr(cell)), "f")
    return format(cell, "f") if isinstance(cell, Decimal) else str(cell)


def _dates(
    text: ColumnDeclaration, weights: Mapping[str, int], likely: Writing, most: int, is_wanted: bool
) -> Inference | None:
    forms, odd = _fitting(weights, date_formats, most)
    if not is_wanted and not is_called(text.name, *_DAYS):
        forms = [form for form in forms if re.search(r"[^%a-zA-Z]", form)]
        if any(one.isascii() for one in weights):  # `S42.11.3` may be a code
            forms = [form for form in forms if ERA_YEAR not in form]
    forms.sort(key=lambda form: form != likely.date_format)
    if not forms:
        return None
    found = _date(text, "" if forms[0] == ISO else forms[0], odd)
    return Inference(found, tuple(f'date_format = "{form}"' for form in forms[1:]))


def _numbers(
    text: ColumnDeclaration,
    weights: Mapping[str, int],
    likely: Writing,
    most: int,
    native: frozenset[str] = frozenset(),
) -> Inference | None:
    """A column of numbers; `native` are those that the source holds as numbers, however texts are written."""
    said = text.writing
    below = {one: limit for one in weights if (limit := limit_in(one)) is not None}
    above = {one: limit for one in weights if (limit := above_in(one)) is not None}
    lost = (*(() if said.below_limit else below), *(() if said.above_limit else above))
    if lost and len(lost) <= min(MAX_LABELS, len(weights) - 1):
        return _of_limits(text, weights, lost, likely, most, native)
    read = (below if said.below_limit else {}) | (above if said.above_limit else {})
    prefix, suffix = prefix_of(weights), suffix_of(weights) or suffix_of(read.values())
    plainer = {one: bare(read.get(one, one), prefix, suffix) for one in weights}

    def ways_of(some: Sequence[str]) -> list[Writing]:
        return writings([plainer[one] for one in some if one not in native]) or [_PLAIN] * (native >= {*some})

    ways, odd = _fitting(weights, ways_of, most)
    ways.sort(key=lambda way: (way.decimal != likely.decimal, way.thousands != likely.thousands))
    if not ways:
        return None
    way = replace(
        ways[0],
        missing_tokens=(*text.tokens, *odd),
        below_limit=said.below_limit if below else "",
        above_limit=said.above_limit if above else "",
        prefix=prefix,
        suffix=suffix,
    )
    plain = [cell if cell in native else way.plain_number(cell) or "" for cell in weights if cell not in odd]
    scale = max(len(cell.partition(".")[2].rstrip("0")) for cell in plain)
    if max(len(cell.partition(".")[0]) for cell in plain) > 15 or scale > _MAX_SCALE:
        return Inference(text, reason=_TOO_LONG)
    kind = "decimal" if any("." in cell for cell in plain) else "integer"
    missing = "drop" if odd else text.missing
    schema = Schema(kind, scale, -_WIDE, _WIDE)
    others = tuple(
        f'decimal = "{other.decimal}"' + (f' and thousands = "{other.thousands}"' if other.thousands else "")
        for other in ways[1:]
    )
    column = replace(text, type=kind, schema=schema, writing=way, missing=missing)
    return Inference(column, others, note=lost_by_limits(way.missing_tokens))


def _without(weights: Mapping[str, int], texts: tuple[str, ...]) -> dict[str, int]:
    return {one: count for one, count in weights.items() if one not in texts}


def _of_limits(
    text: ColumnDeclaration,
    weights: Mapping[str, int],
    limits: tuple[str, ...],
    likely: Writing,
    most: int,
    native: frozenset[str],
) -> Inference | None:
    """Numbers with some beyond a limit, which count as missing until a person says more."""
    tokens = replace(text.writing, missing_tokens=(*text.tokens, *limits))
    lacking = replace(text, writing=tokens, missing="drop")
    return _numbers(lacking, _without(weights, limits), likely, most, native)


def _fitting(weights: Mapping[str, int], forms: Any, most: int) -> tuple[list[Any], tuple[str, ...]]:
    """The forms that all texts have; or all but at most so many rare ones, which are taken for missing."""
    texts = list(weights)
    found = list(forms(texts))
    if found or not most or len(texts) <= _MAX_ODD:
        return found, ()
    odd = [one for one in texts if not forms([one])]
    some = [one for one in texts if one not in odd] if len(odd) <= most else []
    most_odd = _ODD_SHARE if re.search(r"\d", "".join(odd)) else _WORD_SHARE
    if len(some) <= _MAX_ODD or sum(weights[one] for one in odd) > most_odd * sum(weights.values()):
        return [], ()
    if not all(is_plain(one) for one in odd):
        return [], ()
    return list(forms(some)), tuple(odd)


def _labels(
    text: ColumnDeclaration, weights: Mapping[str, int], most: int, ignores_case: bool
) -> Inference | None:
    if not all(len(label) <= _LABEL and is_plain(label) and not CONTROL.search(label) for label in weights):
        return None
    # Of labels that are one, small letters stand for all, so that parties choose alike; else the commonest.
    ordered = sorted(sorted(weights), key=lambda label: (not label.islower(), -weights[label]))
    chosen: dict[str, str] = {}
    for label in ordered:
        chosen.setdefault(label.casefold() if ignores_case else label, label)
    found = _category(replace(text, ignores_case=ignores_case), sorted(chosen.values()))
    return Inference(found) if len(chosen) <= most else None


def _category(text: ColumnDeclaration, labels: list[str]) -> ColumnDeclaration:
    return replace(text, type="category", schema=Schema("category", 0, 0, len(labels) - 1, tuple(labels)))


def _date(text: ColumnDeclaration, form: str, odd: tuple[str, ...] = ()) -> ColumnDeclaration:
    first, last = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))
    writing = Writing(date_format=form, missing_tokens=(*text.tokens, *odd))
    schema = Schema("integer", lower=first, upper=last, unit=DAYS)
    return replace(text, type="date", schema=schema, writing=writing, missing="drop" if odd else text.missing)
