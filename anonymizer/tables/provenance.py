"""What released cells were made of, as a value that travels with the table.

Of each column it says which columns of the original decide its cells, by the cell of the same row or by those
of all rows, and through whose noise; the same of its gaps, its hierarchy and its domain. Each step says by
`Method.provenance` what it makes of that, and `anonymizer.releases.claims` grants or refuses promises by it
alone. It comes from declarations and parameters, never from cells, so that it may be published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, Self

from anonymizer.errors import list_names
from anonymizer.schema.columns import Schema

Rows = Literal["own", "all"]

COUNT: Final = "\0rows"
"""In place of a column: which rows there are, and how many. No column of a file has this name."""

_NAMES: Final = {COUNT: "the number of rows"}


@dataclass(frozen=True, slots=True)
class SourceCells:
    """Cells of the original on which something depends.

    Attributes:
        column: of the original, or `COUNT`.
        rows: "own" if the cell of the same row counts only, "all" if those of other rows count too.
        noise: the mechanisms that lie between, by their marks; empty if it depends on the cells themselves.
    """

    column: str
    rows: Rows
    noise: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dependence:
    """All cells of the original on which something depends; `|` joins two.

    Attributes:
        sources: each once.
    """

    sources: frozenset[SourceCells] = frozenset()

    @classmethod
    def on(cls, columns: Iterable[str], rows: Rows) -> Self:
        """On the cells of some columns themselves."""
        return cls(frozenset(SourceCells(column, rows) for column in columns))

    def __or__(self, other: Dependence) -> Dependence:
        # wide tables share one object for all columns that are recoded together
        if self.sources <= other.sources:
            return other
        return self if other.sources <= self.sources else Dependence(self.sources | other.sources)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the original."""
        return frozenset(one.column for one in self.sources)

    def spread(self) -> Dependence:
        """What depends on this in any row."""
        if all(one.rows == "all" for one in self.sources):
            return self
        return Dependence(frozenset(replace(one, rows="all") for one in self.sources))

    def behind(self, mark: str) -> Dependence:
        """What a mechanism makes of it whose noise accounts for the cells of the same row only.

        Args:
            mark: of the mechanism.
        """
        return Dependence(
            frozenset(
                replace(one, noise=one.noise | {mark}) if one.rows == "own" else one for one in self.sources
            )
        )

    def around(self, mark: str, columns: Iterable[str]) -> Dependence:
        """The part that depends on some columns in another way than through a mechanism.

        Args:
            mark: of the mechanism.
            columns: of the original.
        """
        kept = frozenset(columns)
        return Dependence(
            frozenset(one for one in self.sources if one.column in kept and mark not in one.noise)
        )

    def plain(self, rows: Rows) -> frozenset[str]:
        """The columns whose cells decide it without any noise, by these rows."""
        return frozenset(one.column for one in self.sources if one.rows == rows and not one.noise)

    def describe(self, name: str = "") -> str:
        """The same for people, such as "all rows, by income; own row, noise".

        Args:
            name: of the column that depends, which goes without saying.
        """
        said = []
        for rows, noisy, columns in _by_kind(self.sources):
            others = [_NAMES.get(one, one) for one in columns if one != name]
            by = f", by {list_names(others)}" if others else ""
            said.append(f"{'all rows' if rows == 'all' else 'own row'}{by}{', noise' * noisy}")
        return "; ".join(said) or "no cell"


NOTHING: Final = Dependence()


@lru_cache(maxsize=16)
def _by_kind(sources: frozenset[SourceCells]) -> list[tuple[Rows, bool, list[str]]]:
    """The columns in order, by rows and by whether there is noise; those of all rows not once more as own."""
    found: list[tuple[Rows, bool, list[str]]] = []
    for noisy in (False, True):
        some = [one for one in sources if bool(one.noise) is noisy]
        every = {one.column for one in some if one.rows == "all"}
        own = {one.column for one in some if one.rows == "own"} - every
        found += [("all", noisy, sorted(every)), ("own", noisy, sorted(own))]
    return [one for one in found if one[2]]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a column was made of.

    Attributes:
        cells: what its cells depend on.
        gaps: what decides which of them are empty.
        hierarchy: what its hierarchy was built of; nothing if it is written down.
        domain: what decides which values there can be; nothing if they are declared.
    """

    cells: Dependence = NOTHING
    gaps: Dependence = NOTHING
    hierarchy: Dependence = NOTHING
    domain: Dependence = NOTHING

    @property
    def content(self) -> Dependence:
        """What who reads the column reads: its cells and its gaps."""
        return self.cells | self.gaps

    def recode(self, cells: Dependence, gaps: Dependence) -> Provenance:
        """With other cells; a domain that is not declared is what these cells make it."""
        domain = cells.spread() if self.domain.sources else NOTHING
        return replace(self, cells=cells, gaps=gaps, domain=domain)


@dataclass(frozen=True, slots=True)
class TableProvenance:
    """What a table was made of.

    Attributes:
        columns: of each column; those of further tables of a release among them.
        rows: what decides which rows there are.
    """

    columns: Mapping[str, Provenance] = field(default_factory=dict)
    rows: Dependence = NOTHING

    @classmethod
    def of(cls, names: Iterable[str], schema: Schema, learned: Mapping[str, Iterable[str]]) -> Self:
        """That of an original.

        Args:
            names: of its columns.
            schema: what is declared of them.
            learned: of hierarchies that were built of the table the columns that were looked at.
        """
        found = {}
        for name in names:
            own = Dependence.on((name,), "own")
            domain = NOTHING if schema.of(name).has_domain else own.spread()
            found[name] = Provenance(own, own, Dependence.on(learned.get(name, ()), "all"), domain)
        return cls(found)

    def __getitem__(self, name: str) -> Provenance:
        """That of a column; of one that nobody knows all columns, since nothing is said of it."""
        found = self.columns.get(name)
        return self._anything if found is None else found

    @property
    def _anything(self) -> Provenance:
        everything = self.rows
        for one in self.columns.values():
            everything |= one.content | one.hierarchy
        everything = everything.spread()
        return Provenance(everything, everything, NOTHING, everything)

    def content(self, *names: str) -> Dependence:
        """What who reads some columns reads."""
        return _join(self[name].content for name in names)

    def gaps(self, *names: str) -> Dependence:
        """What decides which cells of some columns are empty."""
        return _join(self[name].gaps for name in names)

    def hierarchies(self, *names: str) -> Dependence:
        """What the hierarchies of some columns were built of."""
        return _join(self[name].hierarchy for name in names)

    def recode(self, cells: Mapping[str, Dependence], *, gaps: Literal["stay", "none"]) -> TableProvenance:
        """With other cells in some columns, which may be new ones.

        Args:
            cells: what they depend on now, by column.
            gaps: "stay" if the same cells are empty as before, "none" if none is.
        """
        fresh = {}
        for name, one in cells.items():
            left = self[name].gaps if gaps == "stay" else NOTHING
            before = self.columns.get(name, Provenance(domain=one))
            fresh[name] = before.recode(one, left)
        return replace(self, columns={**self.columns, **fresh})

    def with_rows(self, by: Dependence) -> TableProvenance:
        """With rows that something more decides about."""
        return replace(self, rows=self.rows | by)

    def among(self, names: Iterable[str]) -> TableProvenance:
        """Of some columns only, also of those of which nothing is said."""
        return replace(self, columns={name: self[name] for name in names})

    def beside(self, further: Mapping[str, Provenance]) -> TableProvenance:
        """With the columns of further tables; one of a name that is here too depends on what both do."""
        joined = dict(self.columns)
        for name, one in further.items():
            here = self.columns.get(name, Provenance())
            joined[name] = replace(here, cells=here.cells | one.cells, gaps=here.gaps | one.gaps)
        return replace(self, columns=joined)

    def afresh(self) -> TableProvenance:
        """As if the table were an original with these hierarchies and domains."""
        own = {name: Dependence.on((name,), "own") for name in self.columns}
        return TableProvenance(
            {n: replace(one, cells=own[n], gaps=own[n]) for n, one in self.columns.items()}
        )

    def parts(self) -> Iterator[tuple[str, Dependence]]:
        """What can be seen of a table: the content of each column by its name, and the rows by `COUNT`."""
        yield from ((name, one.content) for name, one in self.columns.items())
        yield COUNT, self.rows

    @property
    def is_by_rows(self) -> bool:
        """Whether what stands in a row depends on this row alone, and so whether it is there."""
        distinct = {id(part.sources): part for _, part in self.parts()}.values()
        return not any(one.rows == "all" for part in distinct for one in part.sources)

    def mark(self, word: str) -> str:
        """A beginning of marks for a mechanism that none has which lies behind this table."""
        distinct = {id(part.sources): part for _, part in self.parts()}.values()
        used = {mark for part in distinct for one in part.sources for mark in one.noise}
        number = 1
        while any(mark.startswith(f"{word} {number}") for mark in used):
            number += 1
        return f"{word} {number}"

    def describe(self) -> dict[str, str]:
        """Of each column a sentence for people; see `Dependence.describe`."""
        return {name: one.content.describe(name) for name, one in self.columns.items()}


def _join(parts: Iterable[Dependence]) -> Dependence:
    return Dependence(frozenset().union(*(one.sources for one in parts)))
