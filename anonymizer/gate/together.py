"""What is left of a release and those before it to somebody who has all of them.

The attacker is taken to know the quasi-identifiers of all releases together, whatever the specification of
the last one calls them; and each promise is looked at once more with an attacker who knows just the columns
that it speaks of, since one who knows more may be alone with a person anyway, and then hides what was lost.
What cannot be measured is stated as `Unmeasured`, and never as a figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from anonymizer.errors import list_names
from anonymizer.gate.finding import Finding
from anonymizer.hierarchies.hierarchy import ANY, text_of
from anonymizer.hierarchies.prefix import PrefixHierarchy
from anonymizer.releases.guarantee import Guarantee
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.intersection import Intersection, Left, intersect
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

OF_VALUES: Final = frozenset(
    {"distinct-l-diversity", "entropy-l-diversity", "recursive-cl-diversity", "anatomy"}
)
"""Promises that do not hold of fewer than l values."""

Why = Literal["file", "keys", "columns", "drawn", "labels"]
"""Why something was not measured: the files are not as they were; there is no quasi-identifier by which
somebody could be looked for; this table lacks a column that was a quasi-identifier; cells were drawn at
random, or are means and the like; labels do not say whom they stand for, by the hierarchies given here."""

_LONGEST: Final = 64
_TOGETHER: Final = (
    "Release the same classes again or coarser ones; withdraw a release that never left the house "
    "(`duetto anonymize releases`); or accept it with a reason."
)


@dataclass(frozen=True, slots=True)
class HeldRelease:
    """A release that an attacker has.

    Attributes:
        name: for people.
        record: its number in the ledger; None for the one that is being made.
        table: the main one.
        keys: its quasi-identifiers, as its own specification had them.
        promises: that it was made with.
        extra: further tables by a word.
        persons: as `ReleasedRows.persons`.
        blurred: the columns whose cells were drawn at random, or stand for others than their persons.
    """

    name: str
    record: int | None
    table: Table = field(repr=False)
    keys: tuple[str, ...]
    promises: tuple[Guarantee, ...] = field(repr=False)
    extra: Mapping[str, Table] = field(default_factory=dict, repr=False)
    persons: Any = field(default=None, repr=False)
    blurred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Something of a release that no figure stands for.

    Attributes:
        record: the number of the release in the ledger; None for the one that is being made.
        why: see `Why`.
        columns: that it is about.
        text: a sentence for people.
    """

    record: int | None
    why: Why
    columns: tuple[str, ...]
    text: str

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values, for the manifest: without the path of another release."""
        return {"record": self.record, "why": self.why, "columns": list(self.columns)}


@dataclass(frozen=True, slots=True)
class ReleasesTogether:
    """Several releases of one table together.

    Attributes:
        held: the releases, the one that is being made first.
        views: what is left for each attacker that was looked at, and the places of the releases in `held`
            that this is about, in the same order.
        unmeasured: what no figure stands for.
    """

    held: tuple[HeldRelease, ...] = field(repr=False)
    views: tuple[tuple[tuple[int, ...], Intersection], ...] = field(repr=False)
    unmeasured: tuple[Unmeasured, ...] = ()

    @property
    def worst(self) -> Intersection | None:
        """Of each release what is left at worst, whichever attacker it is; None if nothing was measured."""
        found = [self._lefts(place) for place in range(len(self.held))]
        lefts = tuple(_worst(one) for one in found if one)
        if not lefts:
            return None
        return Intersection(min(view.looked for _, view in self.views), self.views[0][1].persons, lefts)

    def findings(self) -> Iterator[Finding]:
        """Where less is left of a release than it promises, or has promised, and than it has alone."""
        for place, one in enumerate(self.held):
            for promise in one.promises:
                yield from _find_shortfall(one.name, self._lefts(place), promise)

    def _lefts(self, place: int) -> list[Left]:
        return [view.left[places.index(place)] for places, view in self.views if place in places]


def measure_together(
    original: Table, held: Sequence[HeldRelease], seed: int | None = None
) -> ReleasesTogether:
    """Look for the persons of a table in releases of it.

    Args:
        original: with roles and hierarchies.
        held: two or more releases, the one that is being made first.
        seed: of the persons that are looked for, where all would be too many.
    """
    named = dict.fromkeys(name for one in held for name in one.keys)
    keys = tuple(name for name in named if name in original.names and name != original.roles.person)
    unmeasured = [*_of_columns(original, held), *_of_chance(held, keys)]
    sensitive = dict.fromkeys(
        (*original.roles.sensitive, *(p.columns[-1] for one in held for p in one.promises if _of_values(p)))
    )
    views = []
    for number, known in enumerate(_attackers(held, keys)):
        roles = replace(
            original.roles,
            identifiers=(),
            quasi_identifiers=known,
            sensitive=tuple(n for n in sensitive if n in original.names and n not in known),
        )
        places, rows = [], []
        for place, one in enumerate(held):
            usable = tuple(name for name in known if name in one.table.names and name not in one.blurred)
            if usable:
                own = replace(roles, quasi_identifiers=usable)
                places.append(place)
                rows.append(ReleasedRows.of(one.name, one.table, own, one.extra, one.persons, one.blurred))
            elif not number:
                unmeasured.append(_without_keys(one))
        if len(rows) < 2:
            continue
        base = _read_masks(replace(original, roles=roles).convert(known), rows)
        found = intersect(base, rows, Randomness(seed, f"releases together {number}"))
        if not number:
            unmeasured += [
                _of_labels(held[place], unread)
                for place, unread in zip(places, found.unread, strict=True)
                if unread
            ]
        views.append((tuple(places), found))
    return ReleasesTogether(tuple(held), tuple(views), tuple(unmeasured))


def _attackers(held: Sequence[HeldRelease], keys: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What attackers know: all quasi-identifiers, first, and those of each promise."""
    found = dict.fromkeys([keys] if keys else [])
    for one in held:
        for promise in one.promises:
            if promise.kind == "k-anonymity" or _of_values(promise):
                columns = promise.columns[:-1] if _of_values(promise) else promise.columns
                known = set(columns) & set(keys) or set(one.keys)
                found[tuple(name for name in keys if name in known)] = None
    return [known for known in found if known]


def _of_values(promise: Guarantee) -> bool:
    return promise.kind in OF_VALUES and bool(promise.columns)


def _of_columns(original: Table, held: Sequence[HeldRelease]) -> Iterator[Unmeasured]:
    for one in held:
        if gone := tuple(name for name in one.keys if name not in original.names):
            yield Unmeasured(
                one.record,
                "columns",
                gone,
                f"Who is looked for by {list_names(gone)} in {one.name} cannot be measured: this table has "
                "no such column.",
            )


def _of_chance(held: Sequence[HeldRelease], keys: tuple[str, ...]) -> Iterator[Unmeasured]:
    """Columns drawn at random, by which an attacker who takes them for nearly right still finds something."""
    for one in held:
        others = {name for other in held if other is not one for name in other.table.names}
        drawn = tuple(name for name in one.blurred if name in keys or name in others)
        if drawn:
            yield Unmeasured(
                one.record,
                "drawn",
                drawn,
                f"The cells of {list_names(drawn)} in {one.name} were drawn at random, or stand for others "
                "than their persons, as means do: nobody was looked for by them there. Who takes them for "
                "nearly right may be left with fewer people.",
            )


def _without_keys(one: HeldRelease) -> Unmeasured:
    return Unmeasured(
        one.record,
        "keys",
        (),
        f"{one.name[:1].upper()}{one.name[1:]} was not measured together with the other releases: it has no "
        "quasi-identifier whose cells were not drawn at random, so that nobody can be looked for in it.",
    )


def _of_labels(one: HeldRelease, unread: Mapping[str, int]) -> Unmeasured:
    return Unmeasured(
        one.record,
        "labels",
        tuple(unread),
        f"{max(unread.values()):,} rows of {one.name} hold in {list_names(list(unread))} what does not say "
        "whom of this table it stands for by the hierarchies of this specification. It was taken for "
        "anybody's; who knows better may be left with fewer people.",
    )


def _read_masks(original: Table, releases: Sequence[ReleasedRows]) -> Table:
    """The table with hierarchies for masked codes (`890**`), whose labels say by themselves what they are."""
    found = {}
    for name in original.roles.quasi_identifiers:
        tables = [one.table for one in releases if name in one.table.names]
        if name in original.hierarchies or not any(_holds_masks(table, name) for table in tables):
            continue
        longest = max((len(text_of(v)) for v in original.codes(name).values.tolist()), default=0)
        if 0 < longest <= _LONGEST:
            found[name] = PrefixHierarchy(longest)
    return replace(original, hierarchies={**original.hierarchies, **found}) if found else original


def _holds_masks(table: Table, name: str) -> bool:
    texts = map(text_of, table.codes(name).values.tolist())
    return any(text.endswith(ANY) and text != ANY for text in texts)


def _find_shortfall(name: str, lefts: Sequence[Left], promise: Guarantee) -> Iterator[Finding]:
    k, l = int(promise.number("k")), promise.number("l")  # noqa: E741 - the name of the field
    if promise.kind == "k-anonymity":
        short = [one.k for one in lefts if one.k is not None and one.k < min(k, one.k_alone or k)]
        if short:
            yield Finding(
                "together",
                None,
                f"k = {k} is promised of {name}; who has the other releases of this table is left with "
                f"{min(short)} candidates for a person.",
                _TOGETHER,
            )
    if _of_values(promise):
        column = promise.columns[-1]
        values = [(one.l.get(column), one.l_alone.get(column, l)) for one in lefts]
        less = [least for least, alone in values if least is not None and least < min(l, alone)]
        if less:
            yield Finding(
                "together",
                column,
                f"{promise.kind} with l = {l:g} is promised of {name}; who has the other releases of this "
                f"table is left with {min(less)} values of {column} for a person.",
                _TOGETHER,
            )


def _worst(lefts: Sequence[Left]) -> Left:
    """One release as the strongest of several attackers sees it."""
    return Left(
        lefts[0].name,
        max(one.persons for one in lefts),
        min((one.k for one in lefts if one.k is not None), default=None),
        min((one.k_alone for one in lefts if one.k_alone is not None), default=None),
        _each(min, [one.l for one in lefts]),
        _each(min, [one.l_alone for one in lefts]),
        _each(max, [one.certain for one in lefts]),
        _each(max, [one.certain_alone for one in lefts]),
    )


def _each(choose: Any, found: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for one in found for name in one)
    return {name: choose(one[name] for one in found if name in one) for name in names}
