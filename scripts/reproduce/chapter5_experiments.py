"""The experiments of chapter 5 on two windows of the same users: risks and usefulness of every setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from chapter5_printed import FACTOR_NOISES, KS, NOISES, RANKS, Figures
from numpy.typing import NDArray
from sklearn.base import clone

from anonymizer.models.clustering import KMember
from anonymizer.models.method import Method
from anonymizer.models.noise import Noise
from anonymizer.series.attacks import linked, partners
from anonymizer.series.log import Log
from anonymizer.series.matrix import Matrix, Window, matrices
from anonymizer.series.recombined import Recombined
from anonymizer.series.released import cells_of
from anonymizer.series.usefulness import predictable, usefulness
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]

SHOP: Final = "shop_log.csv.gz"
WEB: Final = "msweb_visits.csv"
USERS: Final = 200
ACTIVE: Final = 500
"""The users of an experiment are drawn of so many who have the most events."""

SHARE: Final = 0.15
"""Predicted items have so large a part of the users at least, and lack so many."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two windows of the same users, row by row.

    Attributes:
        one: M_t1.
        other: M_t2.
    """

    one: Matrix
    other: Matrix

    @classmethod
    def of(cls, log: Log, windows: Sequence[Window]) -> Pair:
        """The users of both windows."""
        one, other = matrices(log, windows)
        places = partners(one.users, other.users)
        both = np.flatnonzero(places >= 0)
        return cls(one.taken(both), other.taken(places[both]))

    def taken(self, rows: Int) -> Pair:
        """Some users."""
        return Pair(self.one.taken(rows), self.other.taken(rows))


@dataclass(frozen=True, slots=True)
class Source:
    """A log of the experiments.

    Attributes:
        name: for headings.
        pairs: with observation times that grow; the last is that of the experiments.
        windows: what these times are.
    """

    name: str
    pairs: tuple[Pair, ...] = field(repr=False)
    windows: tuple[str, ...]

    @classmethod
    def shop(cls, path: Path) -> Source:
        """Households by categories of products, in equally long windows from weeks 1 and 27 on."""
        frame = pd.read_csv(path, dtype={"household_id": str}).dropna(subset=["product_category"])
        log = Log.of(Table.of(frame), user="household_id", time="week", item="product_category")
        weeks = (8, 13, 26)
        pairs = [Pair.of(log, [Window(1, 1 + long), Window(27, 27 + long)]) for long in weeks]
        return cls("retail", tuple(pairs), tuple(f"{long} weeks" for long in weeks))

    @classmethod
    def web(cls, path: Path) -> Source:
        """Users by areas; the file has no times, and every second visit of a user is in the second window."""
        frame = pd.read_csv(path, dtype=str)
        frame["user"] = frame["split"] + frame["user_id"]
        frame["visit"] = frame.groupby("user").cumcount()
        frame["half"] = frame["visit"] % 2
        visits = (6, 10, 40)
        pairs = []
        for most in visits:
            log = Log.of(Table.of(frame[frame["visit"] < most]), user="user", time="half", item="area_id")
            pairs.append(Pair.of(log, [Window(0, 1), Window(1, 2)]))
        return cls("web", tuple(pairs), tuple(f"{most // 2} visits" for most in visits))


def drawn(source: Source, seed: int, users: int = USERS) -> tuple[tuple[Pair, ...], Float]:
    """Users who are in all windows, and the cells of the others in the first window of the experiments."""
    whole = source.pairs[-1]
    shared = set(whole.one.users)
    for pair in source.pairs:
        shared &= set(pair.one.users)
    events = np.asarray(whole.one.cells.sum(axis=1) + whole.other.cells.sum(axis=1)).ravel()
    order = [row for row in np.argsort(-events, kind="stable").tolist() if whole.one.users[row] in shared]
    chosen = [order[place] for place in Randomness(seed, "users").sample(min(ACTIVE, len(order)), users)]
    names = [whole.one.users[row] for row in chosen]
    pairs = []
    for pair in source.pairs:
        places = {user: row for row, user in enumerate(pair.one.users)}
        pairs.append(pair.taken(np.array([places[name] for name in names])))
    rest = np.setdiff1d(np.arange(len(whole.one)), chosen)
    return tuple(pairs), whole.one.taken(rest).cells.toarray()


def experiment(
    source: Source,
    seed: int,
    *,
    ks: Sequence[int] = KS,
    ranks: Sequence[int] = RANKS,
    noises: Sequence[float] = NOISES,
    factor_noises: Sequence[float] = FACTOR_NOISES,
    users: int = USERS,
) -> Figures:
    """All figures for one draw of users, by table, row and column."""
    pairs, rest = drawn(source, seed, users)
    alike = np.arange(users)
    found: Figures = {}
    for number, pair in enumerate(pairs, 1):
        risk = linked(pair.one.cells, pair.other.cells, alike, name="original", seed=seed).risk
        found["5.2", f"{number}", "linkage"] = risk
    pair = pairs[-1]
    cells = pair.one.cells.toarray()
    items = predictable(cells, rest, seed=seed, share=SHARE)

    def tried(
        tables: tuple[str, str], row: float, columns: tuple[str, str], method: Method, uti: str
    ) -> None:
        one, other = (
            _released(method, matrix, seed + 1000 * number)
            for number, matrix in enumerate((pair.one, pair.other))
        )
        attack = linked(cells, one, alike, name="re-identification", seed=seed)
        found[tables[0], f"{row:g}", columns[0]] = attack.by_k
        found[tables[1], f"{row:g}", columns[1]] = linked(one, other, alike, name="linkage", seed=seed).by_k
        if uti:
            table, at = uti.split()
            found[table, at, "Uti"] = usefulness(cells, one, rest, items).ratio

    both = ("re-identification", "linkage")
    for rank in ranks:
        tried(("5.3", "5.3"), rank, both, Recombined(rank=rank, random_state=seed), "")
    for k in ks:
        tried(("5.4", "5.4"), k, both, KMember(k=k, random_state=seed), f"5.10 {k}")
    for noise in noises:
        method = Noise(scales=noise, digits=3, random_state=seed)
        tried(("5.5", "5.5"), noise, both, method, f"5.11 {noise:g}")
    for rank in ranks:
        column = (f"r = {rank}", f"r = {rank}")
        for k in ks:
            steps: tuple[tuple[str, Method], ...] = (("k", KMember(k=k, random_state=seed)),)
            method_ = Recombined(rank=rank, random_state=seed, steps=steps)
            tried(("5.6", "5.7"), k, column, method_, f"5.12 {rank}" if k == 2 else "")
        for noise in factor_noises:
            steps = (("noise", Noise(scales=noise, digits=9, random_state=seed + 1)),)
            method_ = Recombined(rank=rank, random_state=seed, steps=steps)
            table = {0.10: "5.13", 0.15: "5.14"}.get(noise, "")
            tried(("5.8", "5.9"), noise, column, method_, f"{table} {rank}" if table else "")
    return found


def _released(method: Method, matrix: Matrix, seed: int) -> Float:
    """The released cells, rows as in the matrix; another window has other random numbers."""
    fresh_method = clone(method)
    steps = [step for _, step in getattr(fresh_method, "steps", ())]
    for each in (fresh_method, *steps):
        each.set_params(random_state=seed)
    fresh = fresh_method.release(matrix.table())
    if fresh.origin is None:
        raise ValueError(f"{method.word} has lost the users")
    cells = np.empty(matrix.cells.shape)
    cells[fresh.origin] = cells_of(fresh, matrix.items)
    return cells
