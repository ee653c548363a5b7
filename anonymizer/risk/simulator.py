"""The attack simulator: an attacker who knows a record and how the release was made looks for it.

For each original record, the candidates are the released rows that it may have become: with high confidence
(C^H) or at all (C^H and C^L). If the true row is among those of high confidence, C = C^H; if it is among the
others, C = C^H and C^L; if it is in neither, or was not released, the attack fails and the risk is 0. If a
part alpha of the rows was sampled, |C| counts for |C| / alpha, unless the record is an outlier, which is
when its candidates are not more than T' = k alpha.

Where persons have several rows, |C| counts the persons of the candidates, and shares of sensitive values are
of candidate rows. So is the share of the person's own rows, which is the chance of who picks a row.

The risk against the re-identifying adversary is 1 / n_q, n_q being the least |C|; against the revealing one
1 / n_s, n_s being the least number of different sensitive values in C; the probabilistic variant is the share
of the true sensitive value in C.

Reference: thesis, Definitions 4.1 to 4.5, Algorithm 2, sections 4.2.1 to 4.2.3; errata 14 and 15.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.risk.candidates import Candidates, exactly
from anonymizer.tables.encoding import Codes
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Packed = NDArray[np.uint64]

_BLOCK_BYTES: Final = 1 << 24
_WORD: Final = 64
MAX_PAIRS: Final = 500_000_000
"""Of original and released values of a column; each takes some bytes."""


@runtime_checkable
class Simulatable(Protocol):
    """A method that the attack simulator knows, f_sim in the thesis (Definition 4.2)."""

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """What the values that an attacker thinks of may become, with high and with low confidence.

        Args:
            column: a quasi-identifier.
            candidates: for each original value, what it may be before this method.

        Returns:
            What it may be after it; `candidates` itself where the method leaves the column alone.

        Reference: thesis, sections 4.2.2 and 4.2.3.
        """


class CellsKept:
    """What makes a method `Simulatable` after which the cells that are left are what they were."""

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """As in `Simulatable`: the same as before."""
        del column
        return candidates


class Simulated(Protocol):
    """What the simulator asks of a method or a pipeline that has made a release."""

    origin_: Int | None

    @property
    def unsimulated(self) -> tuple[str, ...]:
        """The words of the steps that it does not know; without any, the method is `Simulatable`."""
        ...


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the attacker finds, record by record; n is the number of original records.

    Attributes:
        released: whether a row of the release stems from the record, shape (n,).
        found: whether the true row is among the candidates, shape (n,).
        confident: whether it is among those of high confidence, shape (n,).
        outlier: whether sampling does not protect the record, shape (n,).
        candidates: |C| in persons, divided by alpha where that is due, shape (n,); 0 where the attack fails.
        kinds: number of different values in C of each sensitive column, shape (n,); 0 where it fails.
        shares: share of the true value in C, of each sensitive column, shape (n,); 0 where it fails.
        own: share of the person's own rows in C, counted in rows, shape (n,); 0 where it fails. More than
            1 / |C| for a person with more rows than the others; None where no person has several.
    """

    released: Bool = field(repr=False)
    found: Bool = field(repr=False)
    confident: Bool = field(repr=False)
    outlier: Bool = field(repr=False)
    candidates: Float = field(repr=False)
    kinds: Mapping[str, Int] = field(repr=False)
    shares: Mapping[str, Float] = field(repr=False)
    own: Float | None = field(default=None, repr=False)

    @property
    def risks(self) -> Float:
        """Risk of each record against the re-identifying adversary, shape (n,)."""
        return _inverse(self.candidates)

    @property
    def n_q(self) -> float:
        """The least number of candidates of a record that is found; infinite if none is."""
        return float(self.candidates[self.found].min(initial=np.inf))

    @property
    def risk(self) -> float:
        """1 / n_q: the worst case over all records; 0 if none is found."""
        return 1 / self.n_q

    def n_s(self, column: str) -> float:
        """The least number of kinds of a sensitive column among the candidates of a record that is found.

        Records all of whose candidates miss a value tell nothing, and do not count; infinite without others.
        """
        kinds = self.kinds[column][self.found].astype(np.float64)
        return float(kinds[kinds > 0].min(initial=np.inf))

    def revealing_risk(self, column: str, *, probabilistic: bool = False) -> float:
        """The worst case against the revealing adversary.

        Args:
            column: a sensitive column.
            probabilistic: the largest share of a true value, instead of 1 / n_s.
        """
        if not self.found.any():
            return 0.0
        return float(self.shares[column].max()) if probabilistic else 1 / self.n_s(column)


def simulate_attack(
    original: Table,
    release: Table,
    method: Simulated,
    *,
    rate: float = 1.0,
    k: int = 2,
    records: Int | None = None,
) -> Simulation:
    """Attack every original record, or some.

    Args:
        original: with roles; the release was made of it.
        release: what `method` made of it, as it is published.
        method: the fitted method or pipeline.
        rate: alpha, the part of the rows that was sampled, in (0, 1].
        k: candidates before sampling from which on a record is no outlier.
        records: places of the records to attack, where all take too long; None is all.

    Raises:
        TableError: the original has no quasi-identifiers; the release is not of it, or its rows are of
            nobody; or a step is not known to the simulator.
    """
    columns = original.roles.quasi_identifiers
    if not columns:
        raise TableError("The table has no quasi-identifiers.", "Declare what an attacker may know.")
    if method.unsimulated or not isinstance(method, Simulatable):
        raise TableError(
            f"The attack simulator does not know what {', '.join(method.unsimulated)} makes of a table.",
            "Give the method a `simulate`; without it nothing can be said of the risk of the release.",
        )
    if method.origin_ is None:
        raise TableError(
            "The rows of the release stem from no rows of the original.",
            "Measure such a table by its distance to the original: nothing is said of its risk here.",
        )
    if len(method.origin_) != len(release):
        raise TableError(
            f"The release has {len(release):,} rows; what the method made last has {len(method.origin_):,}.",
            "Give the table that it made last.",
        )
    true_row = np.full(len(original), -1, dtype=np.int64)
    true_row[method.origin_] = np.arange(len(release))
    became = {column: true_row[original.missing(column) & (true_row >= 0)] for column in columns}
    if records is not None:
        original, true_row = original.take(records), true_row[records]
    matched = [_Matched.of(original, release, column, method, became[column]) for column in columns]
    cells = np.stack([one.codes for one in matched], axis=1)
    profiles, profile = np.unique(cells, axis=0, return_inverse=True)
    profile = profile.reshape(-1)

    released = true_row >= 0
    confident, found = released.copy(), released.copy()
    for one in matched:
        confident &= one.high[one.codes, one.cells[true_row]]
        found &= one.low[one.codes, one.cells[true_row]]

    counts, numbers = (np.zeros((2, len(profiles)), dtype=np.int64) for _ in range(2))
    sensitive = [name for name in original.roles.sensitive if name in release.names]
    kinds = {name: np.zeros((2, len(profiles)), dtype=np.int64) for name in sensitive}
    share_rows = {name: original.codes(name) for name in sensitive}
    same = {name: np.zeros((2, len(original)), dtype=np.int64) for name in sensitive}
    masks = {name: _value_masks(release, name, share_rows[name]) for name in sensitive}
    by_profile = np.argsort(profile, kind="stable")
    starts = np.searchsorted(profile[by_profile], np.arange(len(profiles) + 1))
    persons = None if release.persons is None or not release.persons.repeat else _RowsBy.of(release.persons)
    own_rows = np.zeros((2, len(original)), dtype=np.int64)
    for confidence in range(2):
        packed = [one.pack(high=not confidence) for one in matched]
        for block in _blocks(len(profiles), len(release)):
            # a bit for each released row; the row stays a candidate while it is one in every column
            hits = packed[0][profiles[block, 0]]
            for place in range(1, len(columns)):
                hits = hits & packed[place][profiles[block, place]]
            rows_of = np.bitwise_count(hits).sum(axis=1)
            numbers[confidence, block] = rows_of
            rows = by_profile[starts[block.start] : starts[block.stop]]
            counts[confidence, block] = rows_of
            if persons is not None:
                some = rows[released[rows]]
                places, who = profile[some] - block.start, persons.places[true_row[some]]
                counts[confidence, block], own_rows[confidence, some] = persons.count(hits, places, who)
            for name, values in masks.items():
                _count_values(
                    hits,
                    values,
                    kinds[name][confidence, block],
                    same[name][confidence],
                    rows,
                    profile[rows] - block.start,
                    share_rows[name].codes[rows],
                )
    choice = np.where(confident, 0, 1)
    candidates, hit_rows = (one[choice, profile].astype(np.float64) for one in (counts, numbers))
    outlier = counts[1, profile] <= k * rate
    weighted = np.where(outlier, candidates, candidates / rate)
    return Simulation(
        released=released,
        found=found,
        confident=confident,
        outlier=outlier,
        candidates=np.where(found, weighted, 0.0),
        kinds={n: np.where(found, v[choice, profile], 0) for n, v in kinds.items()},
        shares={
            n: np.where(found, v[choice, np.arange(len(original))] * _inverse(hit_rows), 0.0)
            for n, v in same.items()
        },
        own=None
        if persons is None
        else np.where(found, own_rows[choice, np.arange(len(original))] * _inverse(hit_rows), 0.0)
        * np.where(outlier, 1.0, rate),
    )


@dataclass(frozen=True, slots=True)
class _Matched:
    """One quasi-identifier: which original values may have become which released ones.

    A missing cell may have become whatever such cells have become in this release, which no method says
    beforehand: there are no more candidates then than an attacker is left with, and the risk is no smaller.

    Attributes:
        codes: of the original rows, shape (n,); the last one is that of a missing cell.
        cells: of the released rows, shape (m,).
        high: shape (u, v).
        low: the same with low confidence as well.
    """

    codes: Int
    cells: Int
    high: Bool
    low: Bool

    @classmethod
    def of(cls, original: Table, release: Table, column: str, method: Simulatable, became: Int) -> _Matched:
        """Ask the method.

        Args:
            original: the records to attack.
            release: as it is published.
            column: a quasi-identifier.
            method: that made the release.
            became: the released rows of all records whose cell is missing.
        """
        release.require(column)
        before, after = original.codes(column), release.codes(column)
        numeric = original.is_numeric(column)
        pairs = len(before.values) * max(len(after.values), 0 if numeric else len(before.values))
        if pairs > MAX_PAIRS:
            raise TableError(
                f"Column {column!r} has {len(before.values):,} different values, and {len(after.values):,} "
                f"when released; the attack simulator compares {MAX_PAIRS:,} pairs of them at most.",
                "Generalize it before, or have fewer records attacked.",
            )
        sets = method.simulate(column, exactly(before.values, numeric=numeric))
        high, low = sets.holds(after.values)
        gap = np.zeros((1, len(after.values) + 1), dtype=np.bool_)
        gap[0, after.codes[became]] = True
        kept = np.zeros((len(before.values), 1), dtype=np.bool_)
        codes = np.where(before.codes < 0, len(before.values), before.codes)
        return cls(codes, after.codes, *(np.vstack((np.hstack((one, kept)), gap)) for one in (high, low)))

    def pack(self, *, high: bool) -> Packed:
        """A bit for each released row, shape (u, words)."""
        member = self.high if high else self.low
        blocks = _blocks(len(member), 8 * len(self.cells))
        return np.concatenate([_pack(member[block][:, self.cells]) for block in blocks])


def _pack(member: Bool) -> Packed:
    rows, columns = member.shape
    # whole words: the bits beyond the last row are 0, and so count nowhere
    padded = np.zeros((rows, -(-columns // _WORD) * _WORD), dtype=np.bool_)
    padded[:, :columns] = member
    return np.packbits(padded, axis=1).view(np.uint64)


@dataclass(frozen=True, slots=True)
class _RowsBy:
    """The released rows, person by person.

    Attributes:
        order: the rows, those of a person behind one another, shape (m,).
        starts: where in that order those of each person begin, shape (p,).
        places: of each row the place of its person in `starts`, shape (m,).
    """

    order: Int
    starts: Int
    places: Int

    @classmethod
    def of(cls, persons: PersonRows) -> _RowsBy:
        order = np.argsort(persons.codes, kind="stable")
        starts = np.flatnonzero(np.diff(persons.codes[order], prepend=-1))
        places = np.unique(persons.codes, return_inverse=True)[1].reshape(-1)
        return cls(order, starts, places)

    def count(self, hits: Packed, profiles: Int, who: Int) -> tuple[Int, Int]:
        """Different persons among the rows of each profile, and how many rows are of some persons.

        Args:
            hits: a bit for each row, by profile.
            profiles: of some persons the profile, shape (q,).
            who: their places in `starts`, shape (q,).

        Returns:
            Shapes (profiles,) and (q,).
        """
        found = np.empty(len(hits), dtype=np.int64)
        own = np.empty(len(who), dtype=np.int64)
        size = max(1, _BLOCK_BYTES // max(1, len(self.order)))
        for first in range(0, len(hits), size):
            bits = np.unpackbits(hits[first : first + size].view(np.uint8), axis=1)[:, self.order]
            rows = np.add.reduceat(bits, self.starts, axis=1, dtype=np.int32)
            found[first : first + size] = (rows > 0).sum(axis=1)
            here = np.flatnonzero((profiles >= first) & (profiles < first + size))
            own[here] = rows[profiles[here] - first, who[here]]
        return found, own


def _blocks(count: int, rows: int) -> Iterator[slice]:
    size = max(1, _BLOCK_BYTES // max(1, rows // 8))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def _value_masks(release: Table, column: str, original: Codes) -> Sequence[tuple[int, Packed]]:
    """Of each released value of a sensitive column its original code or -1, and a bit for each row."""
    after = release.codes(column)
    places: dict[Any, int] = {value: place for place, value in enumerate(original.values.tolist())}
    return [
        (places.get(value, -1), _pack((after.codes == code)[None, :])[0])
        for code, value in enumerate(after.values.tolist())
    ]


def _count_values(
    hits: Packed,
    values: Sequence[tuple[int, Packed]],
    kinds: Int,
    same: Int,
    rows: Int,
    places: Int,
    truth: Int,
) -> None:
    """Count kinds of sensitive values in each profile's candidates, and those equal to each row's own."""
    for code, mask in values:
        counted = np.bitwise_count(hits & mask).sum(axis=1)
        kinds += counted > 0
        own = (truth == code) & (truth >= 0)
        same[rows[own]] = counted[places[own]]


def _inverse(numbers: Float) -> Float:
    return np.divide(1.0, numbers, out=np.zeros_like(numbers), where=numbers > 0)
