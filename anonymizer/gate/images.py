"""Released columns that tell what the release withholds.

Withheld are the identifiers, the columns that were changed or taken out on purpose, and the place of a row
in the original. A released column tells one of them if it is a renaming of it, has its order, or decides
it, beyond chance (`relations`); where its cells are empty counts as a column too. One that a quasi-identifier
decides is known to whoever knows that, and has to count in the classes. Columns that are released as they
are need no look: their copies tell no more than they do. Neither does one quasi-identifier that tells
another, since both count in the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import list_names
from anonymizer.gate.finding import Finding
from anonymizer.gate.gaps import fewest, patterns, with_gaps
from anonymizer.gate.kept import believed_rows
from anonymizer.gate.relations import (
    determines,
    determines_both_ways,
    follows,
    in_line,
    join_codes,
    pair_codes,
    rises,
)
from anonymizer.gate.views import EMPTY, ColumnView, View
from anonymizer.tables.roles import Roles

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

PLACE: Final = "the row number"
MAX_PAIRS: Final = 400
"""Pairs of columns that are looked at for one withheld column."""

_RARE: Final = 100

_SAME: Final = "is a renaming of"
_ORDER: Final = "has the order of"
_DECIDES: Final = "decides"


@dataclass(frozen=True, slots=True)
class Withheld:
    """What a release does not hold, read for the rows of the release.

    Attributes:
        name: the column, or `PLACE`.
        words: how people call it.
        views: its readings.
        identifying: whether it singles out persons: an identifier or the row number.
        empty: in which rows it holds nothing, shape (n,).
    """

    name: str
    words: str
    views: tuple[View, ...] = field(repr=False)
    identifying: bool
    empty: Bool = field(repr=False)


def images(
    columns: Sequence[ColumnView], withheld: Sequence[Withheld], roles: Roles, kept: Mapping[str, Bool]
) -> Iterator[Finding]:
    """Look for released columns that tell what is withheld; the first relation of each pair is reported.

    Args:
        columns: that are released, read for the rows whose place in the original is known.
        withheld: for the same rows.
        roles: of the original's columns.
        kept: of each released column which of its cells are those of the original, shape (n,).
    """
    fresh = frozenset(name for name, stay in kept.items() if not stay.all())
    read = {column.name: tuple(column.views()) for column in columns}
    for secret in withheld:
        found = set()
        for column in columns:
            if not _counts(column, secret, roles, fresh):
                continue
            reason = _relation(read[column.name], secret, exact=column.name in roles.sensitive)
            if reason is not None:
                found.add(column.name)
                words, relation, of = reason
                goal = f"{of} {secret.words}" if of else secret.words
                yield Finding(
                    "image",
                    column.name,
                    f"{_describe(words, column.name)} {relation} {goal}.",
                    _hint(column.name, secret),
                )
        others = [one for one in columns if one.name not in found and _counts(one, secret, roles, fresh)]
        yield from _pairs([read[one.name][0] for one in others], secret)
        yield from _of_patterns([one for one in columns if one.name not in found], secret, roles)
        if secret.name in roles.quasi_identifiers:
            own = read[secret.name][0] if secret.name in read else None
            free = [one for one in others if one.name not in roles.sensitive]
            told = [_still(read[one.name][0], believed_rows(one, kept[one.name])) for one in free]
            for one in others:
                gaps = [view for view in read[one.name] if view.words == EMPTY]
                told += [_there(view, secret) for view in gaps] if one.name in roles.sensitive else gaps
            yield from _find_determined(told, own, secret)


def _still(view: View, rows: Bool) -> View:
    """The cells that stay; of a column of which few do, nothing can be said."""
    return view if rows.all() else replace(view, codes=np.where(rows, view.codes, -1))


def _there(gaps: View, secret: Withheld) -> View:
    """The empty cells of a sensitive column as far as they tell more than that nothing is known of a person.

    Few may be empty anyhow, as a diagnosis is rare; and where the secret is empty too, a form was not filled.
    """
    codes = np.where(secret.empty, -1, gaps.codes)
    empty, full = int((codes == 1).sum()), int((codes == 0).sum())
    return replace(gaps, codes=codes if min(empty, full) * _RARE >= len(codes) else np.full_like(codes, -1))


def _of_patterns(columns: Sequence[ColumnView], secret: Withheld, roles: Roles) -> Iterator[Finding]:
    """What the empty cells of several columns tell together; quasi-identifiers count in the classes."""
    quasi = roles.quasi_identifiers if secret.name in roles.quasi_identifiers else ()
    gapped = with_gaps([one for one in columns if one.name != secret.name and one.name not in quasi])
    if len(gapped) < 2:
        return
    for relation, holds in _TOGETHER.items():
        if holds(secret, patterns(gapped)):
            names = [one.name for one in fewest(gapped, partial(holds, secret))]
            yield Finding(
                "image",
                None,
                f"The pattern of the empty cells of {list_names(names)} {relation} {secret.words}.",
                "Name one of them among the identifiers, which takes it out, or fill its empty cells.",
                together=tuple(names),
            )
            return


def _has_order(secret: Withheld, codes: Int) -> bool:
    """Whether patterns have the order of a secret in as much detail as it takes to be one."""
    view = View("", "", codes)
    if secret.name == PLACE and not _narrow(view):
        return False
    return any(other.ordered and follows(codes, other.codes) for other in secret.views)


def _tells(secret: Withheld, codes: Int) -> bool:
    """Whether patterns decide a secret; the row number has too many values to be decided beyond chance."""
    return secret.name != PLACE and determines(codes, secret.views[0].codes)


_TOGETHER: Final[Mapping[str, Callable[[Withheld, Int], bool]]] = {
    "has the order of": _has_order,
    "decides": _tells,
}


def _find_determined(plain: Sequence[View], own: View | None, secret: Withheld) -> Iterator[Finding]:
    """Columns that who knows a quasi-identifier knows too: the town of a postcode, the decade of an age.

    Args:
        plain: the cells that are released as they are.
        own: the quasi-identifier as it is released; what this decides tells nothing more.
        secret: the quasi-identifier.
    """
    for view in plain:
        if own is not None and determines(own.codes, view.codes):
            continue
        if determines(secret.views[0].codes, view.codes):
            yield Finding(
                "image",
                view.column,
                f"{_describe(view.words, view.column)} is decided by {secret.words}: who knows {secret.name} "
                "of a person knows it too, and finds the person among fewer rows than k says.",
                _hint(view.column, secret),
            )


def _describe(words: str, name: str) -> str:
    """A reading of a column at the beginning of a sentence."""
    return f"{words[0].upper()}{words[1:]} column {name}" if words else f"Column {name}"


def _counts(column: ColumnView, secret: Withheld, roles: Roles, fresh: Collection[str]) -> bool:
    """Whether a column can tell a secret more than it should."""
    if column.name == secret.name:
        return False
    if secret.name == PLACE:
        return column.name in fresh or column.is_text or column.whole is not None
    return not {column.name, secret.name} <= set(roles.quasi_identifiers)


def _relation(views: Sequence[View], secret: Withheld, *, exact: bool) -> tuple[str, str, str] | None:
    """What of a column tells a secret, how, and what of the secret.

    Args:
        views: of the column that is released.
        secret: that is not.
        exact: leave out that it decides the secret, as a diagnosis may decide a sex, and that both are empty.
    """
    place = secret.name == PLACE
    for view in views:
        for other in secret.views:
            if place and not _narrow(view):
                continue
            if exact and view.words == other.words == EMPTY:
                continue
            if not place and determines_both_ways(view.codes, other.codes):
                return view.words, _SAME, other.words
            if view.ordered and other.ordered and follows(view.codes, other.codes):
                return view.words, _ORDER, other.words
    if not exact and not place and determines(views[0].codes, secret.views[0].codes):
        return "", _DECIDES, ""
    return None


def _narrow(view: View) -> bool:
    """Whether a value leaves two rows or fewer in the mean."""
    return 2 * (int(view.codes.max(initial=-1)) + 1) >= len(view.codes)


def _pairs(plain: Sequence[View], secret: Withheld) -> Iterator[Finding]:
    """Two columns that tell together what neither tells alone: an identifier cut in two."""
    goal = secret.views[0]
    leading = [
        view for view in plain if view.ordered and any(rises(view.codes, s.codes) for s in secret.views)
    ]
    tried = ((one, other) for one in leading for other in plain if other is not one)
    for one, other in islice(tried, MAX_PAIRS):
        both = join_codes(one.codes, other.codes)
        view = View(one.column, "", both)
        if secret.name == PLACE and not _narrow(view):
            continue
        if other.ordered and any(_in_line(both, s.codes) for s in secret.views if s.ordered):
            yield _of_pair(one, other, _ORDER, secret)
            return
    if secret.name == PLACE:
        return
    unordered = ((one, other) for place, one in enumerate(plain) for other in plain[place + 1 :])
    for one, other in islice(unordered, MAX_PAIRS):
        if _may_join(one.codes, other.codes, goal.codes) and determines_both_ways(
            join_codes(one.codes, other.codes), goal.codes
        ):
            yield _of_pair(one, other, _SAME, secret)
            return


def _in_line(one: Int, other: Int) -> bool:
    one, other = pair_codes(one, other)
    if not len(one) or 2 * (int(one.max()) + 1) < int(other.max()) + 1:
        return False
    return in_line(one, other) or in_line(one, int(other.max()) - other)


def _may_join(one: Int, other: Int, goal: Int) -> bool:
    """Whether two columns could be the halves of a third by the numbers of their values."""
    first, second, third = (int(codes.max(initial=-1)) + 1 for codes in (one, other, goal))
    return max(first, second) < third <= first * second and third * 2 <= len(goal)


def _of_pair(one: View, other: View, relation: str, secret: Withheld) -> Finding:
    verb = {_SAME: "are together a renaming of", _ORDER: "have together the order of"}[relation]
    return Finding(
        "image",
        one.column,
        f"Columns {one.column} and {other.column} {verb} {secret.words}.",
        "Name one of them among the identifiers, which takes it out.",
    )


def _hint(column: str, secret: Withheld) -> str:
    if secret.identifying:
        return f"Name {column} among the identifiers, which takes it out."
    return (
        f"Name {column} among the quasi-identifiers, so that steps protect it too, or among the identifiers, "
        "which takes it out."
    )
