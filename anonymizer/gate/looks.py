"""All looks at a release beside its original, for the gate and for releases that others made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.alignment import align
from anonymizer.gate.finding import Finding
from anonymizer.gate.gaps import singling_out
from anonymizer.gate.images import PLACE, Withheld, images
from anonymizer.gate.kept import among, believed_rows, kept_rows
from anonymizer.gate.mentions import mentions
from anonymizer.gate.names import inspect_names
from anonymizer.gate.order import order_reveals
from anonymizer.gate.pairs import inspect_pairs
from anonymizer.gate.relations import dense_codes, determines, determines_both_ways
from anonymizer.gate.traces import CODED, GIVEN_OUT, find_in_headers, find_reencoded, looks_like_an_identifier
from anonymizer.gate.views import EMPTY, ColumnView, View
from anonymizer.hierarchies.hierarchy import GAP, text_of
from anonymizer.tables.encoding import Codes, encode
from anonymizer.tables.parquet import plain
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

MAX_ROWS: Final = 50_000
"""Rows that are drawn of a larger table to look for relations; equality is looked at in all rows."""

_GROUPS: Final = 100


def inspect(
    original: Table,
    released: Table,
    *,
    origin: Int | None = None,
    kept: Collection[str] = (),
    added: Collection[str] = (),
    treated: Collection[str] = (),
    ordered: bool = False,
) -> tuple[Finding, ...]:
    """Look at a release for what leaves by side doors.

    Args:
        original: with roles.
        released: as it was read back.
        origin: where each released row stood in the original, shape (m,); None if that is not known. It is
        then
            found by the cells, and a column that was only renamed, scaled or shifted is a finding as well.
        kept: columns that are released as they are, cell by cell.
        added: columns that a step adds and the original lacks.
        treated: columns that a step was put on, though it may have changed no value.
        ordered: the order of the original is kept on purpose.

    Returns:
        The findings; empty if there is none.
    """
    altered = tuple(_of_kept(original, released, origin, kept, treated))
    same = set(kept) - {one.column for one in altered}
    pair = _Pair.of(original, released, origin, same)
    found = [*of_columns(original, released, added), *altered]
    if origin is None and (pair.origin >= 0).sum() < min(_MATCHED, len(released) // 2):
        found.append(
            Finding(
                "unmatched",
                None,
                "Few released rows could be matched with the original by their cells, so that copies of "
                "withheld columns may go unseen.",
                "If duetto anonymize made it, its gate has known all rows; else ask for the specification.",
            )
        )
    found += _of_traces(pair)
    found += _of_names(pair)
    found += images(pair.released, pair.list_withheld(), original.roles, pair.kept)
    if origin is None:
        found += _find_renamed(pair)
    if not ordered:
        found += _of_order(pair)
    return tuple(dict.fromkeys(found))


_FEW: Final = 20
_MATCHED: Final = 50


@dataclass(frozen=True, slots=True)
class _Pair:
    """The rows of a release that are looked at, and the same rows of the original.

    Attributes:
        table: the original.
        rows: of the release, that are looked at.
        origin: of these rows, -1 where it is not known.
        released: the released columns, for the rows of known origin.
        everything: the released columns, for all rows looked at.
        before: the columns of the original, for the rows of known origin.
        kept: of each released column which of its cells are those of the original, for the rows of known
            origin; of a new column none.
    """

    table: Table
    rows: Int = field(repr=False)
    origin: Int = field(repr=False)
    released: list[ColumnView]
    everything: list[ColumnView]
    before: dict[str, ColumnView]
    kept: dict[str, Bool] = field(repr=False)

    @classmethod
    def of(cls, original: Table, released: Table, origin: Int | None, same: Collection[str]) -> _Pair:
        whole = align(original, released) if origin is None else origin
        rows = np.arange(len(released), dtype=np.int64)
        if len(rows) > MAX_ROWS:
            rows = Randomness(None).sample(len(rows), MAX_ROWS)
        part = released.take(rows) if len(rows) < len(released) else released
        stood = whole[rows]
        known = np.flatnonzero(stood >= 0)
        before = _take(original, stood[known])
        # the texts that are those of the original, and read alike, need not be read again
        alike = {
            name
            for name in same
            if origin is not None and len(known) == len(rows) and _reads_alike(original, released, name)
        }
        everything = [before[name] if name in alike else ColumnView.of(part, name) for name in part.names]
        matched = part if len(known) == len(rows) else part.take(known)
        after = everything if matched is part else [ColumnView.of(matched, name) for name in matched.names]
        nothing = np.zeros(len(known), dtype=np.bool_)
        stay = {
            column.name: kept_rows(column, before[column.name]) if column.name in before else nothing
            for column in after
        }
        return cls(original, rows, stood, after, everything, before, stay)

    def believe(self, column: ColumnView) -> Bool:
        """The rows in which a released column has its cells still, and one sees it."""
        return believed_rows(column, self.kept[column.name])

    def list_withheld(self) -> list[Withheld]:
        """Identifiers, columns changed or taken out, and the row number."""
        roles = self.table.roles
        found = []
        after = {column.name: column for column in self.released}
        for name, column in self.before.items():
            identifying = name in roles.identifiers
            guarded = name in roles.quasi_identifiers or name in roles.sensitive
            if identifying or (not self.kept[name].all() if name in self.kept else guarded):
                words = f"the identifier {name}" if identifying else f"{name}, which is not released as it is"
                views = [view for view in column.views() if view.ordered or not view.words]
                empty = (
                    column.gaps | np.array([*(value == GAP for value in column.values), True])[column.codes]
                )
                if not identifying and _is_hidden(empty, after.get(name)):
                    views.append(View(name, EMPTY, empty.astype(np.int64), ordered=False))
                found.append(Withheld(name, words, tuple(views), identifying, empty))
        stood = self.origin[self.origin >= 0]
        places = ColumnView(PLACE, np.unique(stood).tolist(), dense_codes(stood), None, None)
        nowhere = np.zeros(len(stood), dtype=np.bool_)
        return [*found, Withheld(PLACE, f"{PLACE} of the original", (places.plain,), True, nowhere)]


def _reads_alike(one: Table, other: Table, name: str) -> bool:
    """Whether equal texts of a column mean the same in two tables; not said of other types."""
    return (
        one.column(name).dtype == other.column(name).dtype == nw.String
        and one.dialect == other.dialect
        and one.numbers_in.get(name) == other.numbers_in.get(name)
        and one.schema.of(name) == other.schema.of(name)
    )


def _take(table: Table, rows: Int) -> dict[str, ColumnView]:
    """The columns of some rows; those of all of them, in another order, are read once for many releases."""
    if len(rows) == len(table) and (np.bincount(rows, minlength=len(table)) == 1).all():
        return {name: ColumnView.of(table, name).permuted(rows) for name in table.names}
    some = table.take(rows)
    return {name: ColumnView.of(some, name) for name in some.names}


def _is_hidden(empty: NDArray[np.bool_], after: ColumnView | None) -> bool:
    """Whether a column has empty cells, and as it is released does not tell which."""
    if empty.all() or not empty.any():
        return False
    return after is None or not determines(dense_codes(after.codes + 1), empty.astype(np.int64))


def of_columns(original: Table, released: Table, added: Collection[str]) -> Iterator[Finding]:
    """Identifiers that are released, and columns that the original lacks and no step adds."""
    for name in released.names:
        if name in original.roles.identifiers:
            yield Finding("identifier", name, f"The identifier {name} is in the release.", "Take it out.")
        elif name not in original.names and name not in added:
            yield Finding(
                "new-column",
                name,
                f"Column {name} is in the release, not in the original, and no step adds it.",
                "Drop it, or make it before the release and give it a role.",
            )


def _of_kept(
    original: Table, released: Table, origin: Int | None, kept: Collection[str], treated: Collection[str]
) -> Iterator[Finding]:
    if origin is None:
        return
    for name in kept:
        wrong = int(differing(original, released, origin, name).sum())
        if not wrong:
            continue
        if name in treated and _says_the_same(original, released, origin, name):
            yield Finding(
                "unchanged",
                name,
                f"What a step has put on column {name} is gone after rounding: all of its values are those "
                f"of the original, {wrong:,} of them written in another way.",
                "Take a larger scale of the noise, or `digits` enough for it; or leave the column out of the "
                "step.",
            )
            continue
        yield Finding(
            "altered",
            name,
            f"Column {name} is to be released as it is, and {wrong:,} of its cells are others than those "
            "of the original.",
            "Report this as a defect, and release nothing of it.",
        )


def _says_the_same(original: Table, released: Table, origin: Int, name: str) -> bool:
    one, other = ColumnView.of(original, name), ColumnView.of(released, name)
    forms = None if one.forms is None else one.forms[origin]
    return bool(kept_rows(other, replace(one, codes=one.codes[origin], forms=forms, kept=[])).all())


def differing(original: Table, released: Table, origin: Int, name: str) -> NDArray[np.bool_]:
    """Of each released row whether its cell differs from the original's, shape (m,).

    Texts are compared as texts, even if they read as numbers: `1.50` is not `1.5`. Of other types the texts
    are compared that CSV has for them.
    """
    first, second = original.column(name), released.column(name)
    if (
        first.dtype == second.dtype == nw.String
        and first.implementation.is_polars()
        and second.implementation.is_polars()
    ):
        return np.asarray(second.to_native().ne_missing(first.to_native()[origin]).to_numpy(), dtype=np.bool_)
    if not (isinstance(first.dtype, nw.String) and isinstance(second.dtype, nw.String)):
        first, second = original.series(name), released.series(name)
    before, after = _encode(first), _encode(second)
    places = {text_of(value): place for place, value in enumerate(before.values.tolist())}
    if isinstance(second.dtype, nw.String) and not isinstance(
        first.dtype, nw.String | nw.Categorical | nw.Enum
    ):
        places |= {text: place for place, text in enumerate(_as_written(first, before))}
    found = np.array([*(places.get(text_of(value), -2) for value in after.values.tolist()), -1])
    return np.asarray(found[after.codes] != before.codes[origin])


def _as_written(series: nw.Series[Any], codes: Codes) -> list[str]:
    """The values of a column that is not of texts as CSV writes them, such as dates and truth values."""
    if series.dtype.is_nested() or not len(codes.values):
        return [text_of(value) for value in codes.values.tolist()]
    places = np.empty(len(codes.values), dtype=np.int64)
    there = np.flatnonzero(codes.codes >= 0)
    places[codes.codes[there]] = there
    some = plain(series[places.tolist()].to_polars().to_frame())
    return [line.strip('"') for line in some.write_csv(include_header=False).splitlines()]


def _encode(series: nw.Series[Any]) -> Codes:
    if series.dtype.is_nested():
        series = nw.new_series(
            series.name,
            [None if cell is None else str(cell) for cell in series.to_list()],
            nw.String,
            backend=series.implementation,
        )
    gaps = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
    if series.dtype.is_float():
        gaps = gaps | np.asarray(series.is_nan().fill_null(value=True).to_numpy(), dtype=np.bool_)
    found = encode(series.filter(~gaps) if gaps.any() else series)
    codes = np.full(len(gaps), -1, dtype=np.int64)
    codes[~gaps] = found.codes
    return Codes(found.values, codes)


def _of_traces(pair: _Pair) -> Iterator[Finding]:
    roles = pair.table.roles
    stay = {
        column.name: among(column, pair.believe(column))
        for column in pair.released
        if column.name in pair.before
    }
    for column in pair.everything:
        part = stay.get(column.name, column)
        left = looks_like_an_identifier(part)
        words = looks_like_an_identifier(column) or left
        known = column.name in roles.sensitive and "numbers" in str(words) and GIVEN_OUT not in str(words)
        known |= column.name in (*roles.identifiers, *roles.quasi_identifiers)
        known |= CODED in str(words) and CODED not in str(
            left
        )  # what a method draws or averages has many digits
        if words is not None and (not known or "look like" in words):
            yield Finding(
                "identifying",
                column.name,
                f"Values of column {column.name} {words}.",
                f"Name {column.name} among the identifiers, which takes it out, or the quasi-identifiers.",
            )
    gaps = singling_out([column for column in pair.everything if column.name not in roles.identifiers])
    if gaps is not None:
        yield gaps
    identifiers = [ColumnView.of(pair.table, name) for name in roles.identifiers]
    others = [column for column in pair.everything if column.name not in roles.identifiers]
    yield from find_reencoded(others, identifiers)
    yield from find_in_headers(others, identifiers)
    yield from mentions(
        [column for column in pair.released if column.name not in roles.identifiers],
        [pair.before[name] for name in roles.identifiers],
        roles.quasi_identifiers,
    )


def _of_names(pair: _Pair) -> Iterator[Finding]:
    """Columns of names and of what finds persons; if no row is known, as the release has them."""
    released, before = pair.released, pair.before
    whole: Table | None = pair.table
    if not (pair.origin >= 0).any():
        whole = None
        released, before = pair.everything, {column.name: column for column in pair.everything}
    roles = pair.table.roles
    others = [column for column in released if column.name not in roles.identifiers]
    found = [*inspect_names(others, before, roles, whole, pair.kept if whole is not None else {})]
    yield from found
    if whole is not None:
        yield from inspect_pairs(before, pair.kept, roles, {str(one.column) for one in found}, whole)


def _find_renamed(pair: _Pair) -> Iterator[Finding]:
    """Columns that were changed so that the change can be undone."""
    for column in pair.released:
        changed = ~pair.kept[column.name]
        if not changed.any() or column.name not in pair.before:
            continue
        before, after = among(pair.before[column.name], changed), among(column, changed)
        shift = _shift(before, after)
        renamed = determines_both_ways(after.plain.codes, before.plain.codes)
        if shift is None and not renamed:
            continue
        how = "by the same difference in every row" if shift is not None else "one by one"
        yield Finding(
            "renamed",
            column.name,
            f"The values of column {column.name} were replaced {how}: who knows some of them undoes it.",
            f"Generalize {column.name} or drop it; a shift or a renaming protects nobody.",
        )


def _shift(one: ColumnView, other: ColumnView) -> float | None:
    """The difference of two columns of numbers or dates, if it is the same in every row and not zero."""
    for ours, theirs in ((one.numbers, other.numbers), (one.days, other.days)):
        both = (one.codes >= 0) & (other.codes >= 0)
        if ours is None or theirs is None or len(ours) < 2 or both.sum() < _FEW:
            continue
        gaps = theirs[other.codes[both]] - ours[one.codes[both]]
        middle = float(np.median(gaps))
        scale = 1e-9 * max(1.0, float(np.abs(ours).max()))
        if middle and (np.abs(gaps - middle) <= scale).mean() >= 0.9:
            return middle
    return None


def _of_order(pair: _Pair) -> Iterator[Finding]:
    groups = {one.name: one.codes for one in pair.everything if len(one.values) <= _GROUPS}
    order = order_reveals(pair.origin, groups)
    if order is not None:
        yield Finding(
            "order",
            None,
            f"The rows have the order of the original, {order}: who has a list of the people in that order "
            "reads off who is who.",
            "Shuffle them, as duetto anonymize does without --keep-order.",
        )
